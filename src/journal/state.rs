//! Opens the journal and defines its handle, errors and writes.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sqlx::sqlite::SqlitePool;
use tokio::sync::OnceCell;

use crate::domain::{ActionKey, DecisionKind, Digest, Draft, Seen, SeenLog, Step, Timestamp, Via};
use crate::sqlite::{self, Database};

use super::owner::Owner;

/// How often each command was used, by name.
pub type Learned = BTreeMap<String, u8>;

/// The name and text of a saved filter, both on one line and without tabs.
pub type KeptFilter = (String, String);

pub(super) const MIGRATIONS: [&str; 1] = [include_str!("../../assets/migrations/journal/0001_journal.sql")];

/// A handle to the journal. Clones belong to the same run.
#[derive(Clone, Debug)]
pub struct Journal {
    pub(super) database: Database,
    pub(super) path: Arc<Path>,
    pub(super) owner: Arc<Owner>,
    /// The desk of this run, taken at the first use of a draft, so that commands that only submit take none.
    pub(super) desk: Arc<OnceCell<i64>>,
    /// The desk that this run took over, even if reading it failed.
    pub(super) adopted: Arc<OnceCell<i64>>,
    pub(super) login: Option<Arc<str>>,
    pub(super) via: Via,
}

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

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// A new step; `position` is the draft's position after it. Later steps are deleted.
    Step {
        position: usize,
        step: Step,
    },
    /// Undo and redo: the number of steps in effect.
    Position(usize),
    /// Deletes the changes and texts of finished actions, and what was seen of them.
    Settle(Vec<ActionKey>),
    Seen {
        key: ActionKey,
        digest: Digest,
        seen: Seen,
    },
    /// Adds to the time that this content was on screen.
    Looked {
        key: ActionKey,
        digest: Digest,
        millis: i64,
    },
    /// The text typed for a decision of this kind; `None` deletes it.
    ReasonText {
        key: ActionKey,
        says: DecisionKind,
        text: Option<String>,
    },
    /// The text in an edit form; `None` if it is unchanged.
    EditText {
        key: ActionKey,
        text: Option<EditText>,
    },
    /// `None` ends the snooze.
    Snooze {
        key: ActionKey,
        snooze: Option<Snooze>,
    },
}

impl Write {
    /// Returns whether this write belongs to no desk.
    pub const fn is_about_looking(&self) -> bool {
        matches!(self, Self::Seen { .. } | Self::Looked { .. } | Self::Snooze { .. })
    }
}

/// Text from an edit form that was not staged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditText {
    pub text: String,
    /// The digest of the input that was edited.
    pub of: Digest,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Snooze {
    pub until: Timestamp,
    /// The digest of the action's list entry when it was snoozed.
    pub label: Digest,
    /// The terms when they were first known: a gate's configuration may change them without any change in the list.
    pub terms: Option<Digest>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Restored {
    pub draft: Draft,
    pub seen: SeenLog,
    pub edit_texts: HashMap<ActionKey, EditText>,
    /// Hints for commands that were used often enough are no longer shown.
    pub learned: Learned,
    pub filters: Vec<KeptFilter>,
    pub reason_texts: HashMap<(ActionKey, DecisionKind), String>,
    pub snoozes: HashMap<ActionKey, Snooze>,
    /// Another inbox is using this journal. Neither shows what the other has staged.
    pub is_shared: bool,
}

impl Journal {
    /// Opens the journal, or creates it with mode 0600. The lock file of this run goes into the folder `<path>.runs`.
    pub async fn open(path: &Path) -> Result<Self, JournalError> {
        let journal = Self::open_unchecked(path).await?;
        journal.check().await?;
        Ok(journal)
    }

    /// Opens the journal without the integrity check, for short commands that send nothing.
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

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Closes the database after pending work. The desk becomes free when the last clone is dropped.
    pub async fn close(&self) {
        self.database.close().await;
    }

    /// Finds corrupt pages now, and not in the middle of a submission.
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

/// Searches the causes for SQLite's codes of a corrupt file or one that is not a database.
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
