//! The journal of one run, how it is opened, and what may go wrong with it.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sqlx::sqlite::SqlitePool;
use tokio::sync::OnceCell;

use crate::domain::{ActionKey, DecisionKind, Digest, Draft, Seen, SeenLog, Step, Timestamp, Via};
use crate::sqlite::{self, Database};

use super::owner::Owner;

/// Names of commands, and how often each was used.
pub type Learned = BTreeMap<String, u8>;

/// The name of a filter that was saved in the inbox, and the filter as it is written. One line each, without tabs.
pub type KeptFilter = (String, String);

pub(super) const MIGRATIONS: [&str; 1] = [include_str!("../../assets/migrations/journal/0001_journal.sql")];

/// The journal of one run. Cloning is cheap: every clone is the same run.
#[derive(Clone, Debug)]
pub struct Journal {
    pub(super) database: Database,
    pub(super) path: Arc<Path>,
    pub(super) owner: Arc<Owner>,
    /// Where this run works. Taken with the first use of a draft, so that a command that only submits keeps nobody from
    /// theirs.
    pub(super) desk: Arc<OnceCell<i64>>,
    /// The desk that this run took over, read or not.
    pub(super) adopted: Arc<OnceCell<i64>>,
    /// Who is logged in, for receipts.
    pub(super) login: Option<Arc<str>>,
    /// How decisions are made in this run, for receipts.
    pub(super) via: Via,
}

/// The journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error(transparent)]
    Open(#[from] sqlite::OpenError),
    #[error(
        "cannot lock a file in {path}: {error}; the state folder must be yours, writable and on a local disk \
         (PLACET_STATE_DIR moves it)"
    )]
    Lock { path: PathBuf, error: std::io::Error },
    #[error("cannot use the journal {path}: {}", sqlite::Words(error))]
    Database { path: PathBuf, error: sqlx::Error },
    #[error(
        "the journal {path} is damaged ({what}); move it away and start again: what was staged in it is lost, and the \
         sources still hold every action"
    )]
    Damaged { path: PathBuf, what: String },
}

/// One thing to remember at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// A new staging step; `position` is the draft's position after it. Steps from there on are gone.
    Step {
        position: usize,
        step: Step,
    },
    /// Undo and redo: so many steps stand now.
    Position(usize),
    /// These actions are settled: decisions, steps, edit texts about them go.
    Settle(Vec<ActionKey>),
    Seen {
        key: ActionKey,
        digest: Digest,
        seen: Seen,
    },
    /// This content was on screen for so long, on top of what is known.
    Looked {
        key: ActionKey,
        digest: Digest,
        millis: i64,
    },
    /// What was typed beside a decision of this kind; `None` when there is none.
    ReasonText {
        key: ActionKey,
        says: DecisionKind,
        text: Option<String>,
    },
    /// The text in an edit form; `None` when it is as proposed.
    EditText {
        key: ActionKey,
        text: Option<EditText>,
    },
    /// Out of sight until a time; `None` when it is back.
    Snooze {
        key: ActionKey,
        snooze: Option<Snooze>,
    },
}

impl Write {
    /// About what is on screen, and not about what anybody did: it lies on no desk.
    pub const fn is_about_looking(&self) -> bool {
        matches!(self, Self::Seen { .. } | Self::Looked { .. } | Self::Snooze { .. })
    }
}

/// What somebody typed into an edit form and did not stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditText {
    pub text: String,
    /// Of the input it was typed over.
    pub of: Digest,
}

/// Out of sight, for whoever works on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Snooze {
    pub until: Timestamp,
    /// Of what the list told of it then.
    pub label: Digest,
    /// Its terms then, as soon as they are known: a gate's configuration may change them, and no list tells of that.
    pub terms: Option<Digest>,
}

/// What a journal knows when the inbox starts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Restored {
    pub draft: Draft,
    pub seen: SeenLog,
    pub edit_texts: HashMap<ActionKey, EditText>,
    /// What newcomers are told no more.
    pub learned: Learned,
    pub filters: Vec<KeptFilter>,
    pub reason_texts: HashMap<(ActionKey, DecisionKind), String>,
    pub snoozes: HashMap<ActionKey, Snooze>,
}

impl Journal {
    /// Opens the journal, and creates it with mode 0600 when it is missing. The lock of this run goes into a folder beside
    /// it, `<path>.runs`.
    pub async fn open(path: &Path) -> Result<Self, JournalError> {
        let journal = Self::open_unchecked(path).await?;
        journal.check().await?;
        Ok(journal)
    }

    /// The same without reading all of it first: for whoever sends nothing and has no time.
    pub async fn open_unchecked(path: &Path) -> Result<Self, JournalError> {
        let database = match sqlite::open(path, &MIGRATIONS).await {
            Ok(database) => database,
            Err(error) => return Err(not_opened(path, error)),
        };
        let mut runs = path.as_os_str().to_owned();
        runs.push(".runs");
        let runs = PathBuf::from(runs);
        let owner = Owner::announce(&runs).map_err(|error| JournalError::Lock { path: runs, error })?;
        Ok(Self {
            database,
            path: path.into(),
            owner: Arc::new(owner),
            desk: Arc::default(),
            adopted: Arc::default(),
            login: None,
            via: Via::default(),
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Closes the database; waits for what is under way. The desk is free for the next run when the last clone is gone.
    pub async fn close(&self) {
        self.database.close().await;
    }

    /// Torn pages are found now, and not in the middle of a submission.
    async fn check(&self) -> Result<(), JournalError> {
        let asked = sqlx::query_scalar::<_, String>("PRAGMA quick_check(1)").fetch_one(self.read());
        match self.done(asked).await?.as_str() {
            "ok" => Ok(()),
            what => Err(self.damaged(what)),
        }
    }

    pub(super) fn read(&self) -> &SqlitePool {
        &self.database.read
    }

    pub(super) async fn begin_write(&self) -> Result<sqlx::Transaction<'static, sqlx::Sqlite>, JournalError> {
        self.done(self.database.write.begin_with(sqlite::BEGIN)).await
    }

    pub(super) async fn commit(
        &self,
        tx: sqlx::Transaction<'static, sqlx::Sqlite>,
    ) -> Result<(), JournalError> {
        self.done(tx.commit()).await
    }

    /// What the database answers, or why it does not.
    pub(super) fn done<T>(
        &self,
        work: impl Future<Output = sqlx::Result<T>>,
    ) -> impl Future<Output = Result<T, JournalError>> {
        let work = Box::pin(work);
        async move { work.await.map_err(|error| self.failed(error)) }
    }

    pub(super) fn failed(&self, error: sqlx::Error) -> JournalError {
        match damage(&self.path, &error) {
            Some(damaged) => damaged,
            None => JournalError::Database { path: self.path.to_path_buf(), error },
        }
    }

    pub(super) fn damaged(&self, what: &str) -> JournalError {
        JournalError::Damaged { path: self.path.to_path_buf(), what: what.to_owned() }
    }
}

fn not_opened(path: &Path, error: sqlite::OpenError) -> JournalError {
    use sqlite::OpenError as E;
    let damaged = match &error {
        E::Database { error, .. } => damage(path, error),
        _ => None,
    };
    damaged.unwrap_or(JournalError::Open(error))
}

/// SQLite's word for a file that is no database, or no longer one, anywhere among the causes.
fn damage(path: &Path, error: &(dyn std::error::Error + 'static)) -> Option<JournalError> {
    const CORRUPT: i32 = 11;
    const NO_DATABASE: i32 = 26;
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(sqlx::Error::Database(error)) = error.downcast_ref::<sqlx::Error>() {
            let code: Option<i32> = error.code().and_then(|code| code.parse().ok());
            if code.is_some_and(|code| matches!(code & 0xff, CORRUPT | NO_DATABASE)) {
                let what = error.message().to_owned();
                return Some(JournalError::Damaged { path: path.to_owned(), what });
            }
        }
        cause = error.source();
    }
    None
}
