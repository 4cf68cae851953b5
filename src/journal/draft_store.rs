//! Saves and restores the desk of a run (its draft and unfinished texts), and the seen content, which all desks share.

use sqlx::{QueryBuilder, Sqlite, Transaction};

use std::sync::Arc;

use super::beside::kept_filters;
use super::state::{EditText, Journal, JournalError, Restored, Write};
use super::{shape, snooze};
use crate::clock;
use crate::domain::{ActionKey, Change, DecisionKind, Digest, Draft, Seen, Staged, Step};

type Tx = Transaction<'static, Sqlite>;
type ChangeRow = (i64, String, String, Option<String>, Option<String>);

impl Journal {
    /// Takes over the desk of a run that has ended, or creates an empty one, and returns all that is stored.
    ///
    /// Sets `self.desk` only after a complete read, because saving a step deletes the stored later steps.
    pub async fn restore(&self) -> Result<Restored, JournalError> {
        let desk = match self.desk.get() {
            Some(desk) => *desk,
            None => *self.adopted.get_or_try_init(|| self.adopt()).await?,
        };
        let mut restored = self.read_desk(desk).await?;
        restored.snoozes = self.snoozes().await?;
        restored.learned = self.learned();
        restored.filters = kept_filters(&self.path);
        restored.is_shared = self.is_shared().await?;
        self.desk.get_or_init(|| async { desk }).await;
        Ok(restored)
    }

    async fn is_shared(&self) -> Result<bool, JournalError> {
        let owners = sqlx::query_scalar::<_, String>("SELECT owner FROM desk").fetch_all(self.read());
        let owners = self.done(owners).await?;
        Ok(owners.iter().any(|owner| *owner != self.owner.id && self.owner.is_alive(owner)))
    }

    async fn read_desk(&self, desk: i64) -> Result<Restored, JournalError> {
        let position = sqlx::query_scalar::<_, i64>("SELECT position FROM desk WHERE id = $1").bind(desk);
        let position = self.done(position.fetch_one(self.read())).await?;
        let changes =
            "SELECT step, source, action, before, after FROM change WHERE desk = $1 ORDER BY step, nth";
        let changes = sqlx::query_as::<_, ChangeRow>(changes).bind(desk).fetch_all(self.read());
        let changes = self.done(changes).await?;
        let mut restored = Restored {
            draft: Draft::restore(self.steps(changes)?, usize::try_from(position).unwrap_or_default()),
            ..Restored::default()
        };
        let texts =
            self.texts("SELECT source, action, text, of FROM edit_text WHERE desk = $1", desk).await?;
        for (source, action, text, of) in texts {
            let of = self.digest(&of)?;
            restored.edit_texts.insert(shape::key(source, action), EditText { text, of });
        }
        let reasons = "SELECT source, action, decision, text FROM reason_text WHERE desk = $1";
        let reasons = self.texts(reasons, desk).await?;
        for (source, action, word, text) in reasons {
            let says =
                DecisionKind::of_record(&word).ok_or_else(|| self.damaged("a reason is unreadable"))?;
            restored.reason_texts.insert((shape::key(source, action), says), text);
        }
        let seen = self.texts("SELECT source, action, digest, seen FROM seen WHERE $1 > 0", desk).await?;
        for (source, action, digest, word) in seen {
            let seen = shape::read_seen(&word).ok_or_else(|| self.damaged("what was seen is unreadable"))?;
            restored.seen.note(&shape::key(source, action), self.digest(&digest)?, seen);
        }
        Ok(restored)
    }

    async fn texts(
        &self,
        sql: &'static str,
        desk: i64,
    ) -> Result<Vec<(String, String, String, String)>, JournalError> {
        self.done(sqlx::query_as(sql).bind(desk).fetch_all(self.read())).await
    }

    /// Saves all the writes in one transaction, which is on disk when this returns.
    pub async fn save(&self, writes: &[Write]) -> Result<(), JournalError> {
        // Other writes need no desk. Creating one would keep `restore` from taking over an abandoned desk.
        let on_desk = writes.iter().any(|write| !write.is_about_looking());
        let desk = if on_desk { *self.desk.get_or_try_init(|| self.new_desk()).await? } else { 0 };
        let mut tx = self.begin_write().await?;
        for write in writes {
            let written = match write {
                Write::Step { position, step } => put_step(&mut tx, desk, *position, step).await,
                Write::Position(position) => put_position(&mut tx, desk, *position).await,
                Write::Settle(keys) => settle(&mut tx, desk, keys).await,
                Write::Seen { key, digest, seen } => put_seen(&mut tx, key, digest, *seen).await,
                Write::Looked { key, digest, millis } => put_dwell(&mut tx, key, digest, *millis).await,
                Write::ReasonText { key, says, text } => {
                    put_reason(&mut tx, desk, key, *says, text.as_deref()).await
                }
                Write::EditText { key, text } => put_text(&mut tx, desk, key, text.as_ref()).await,
                Write::Snooze { key, snooze } => snooze::put(&mut tx, key, snooze.as_ref()).await,
            };
            written.map_err(|error| self.failed(error))?;
        }
        self.commit(tx).await
    }

    /// Creates an empty desk, for a run that saves without having restored.
    async fn new_desk(&self) -> Result<i64, JournalError> {
        let mut tx = self.begin_write().await?;
        let id = self.done(self.insert_desk(&mut tx)).await?;
        self.commit(tx).await?;
        Ok(id)
    }

    async fn insert_desk(&self, tx: &mut Tx) -> sqlx::Result<i64> {
        sqlx::query_scalar("INSERT INTO desk (owner, used_at) VALUES ($1, $2) RETURNING id")
            .bind(&self.owner.id)
            .bind(clock::now().as_millis())
            .fetch_one(&mut **tx)
            .await
    }

    /// Takes over the most recently used desk of an ended run, preferably one with work on it, or creates a desk.
    /// The write lock keeps two runs from taking over the same desk.
    async fn adopt(&self) -> Result<i64, JournalError> {
        let mut tx = self.begin_write().await?;
        let sql = "SELECT id, owner FROM desk ORDER BY EXISTS (SELECT 1 FROM change WHERE desk = id)
                   OR EXISTS (SELECT 1 FROM edit_text WHERE desk = id)
                   OR EXISTS (SELECT 1 FROM reason_text WHERE desk = id) DESC, used_at DESC";
        let desks = self.done(sqlx::query_as::<_, (i64, String)>(sql).fetch_all(&mut *tx)).await?;
        let free = desks.into_iter().find(|(_, owner)| !self.owner.is_alive(owner));
        let sql = "UPDATE desk SET owner = $1, used_at = $2 WHERE id = $3 RETURNING id";
        let id = match free {
            Some((id, _)) => {
                let query =
                    sqlx::query_scalar(sql).bind(&self.owner.id).bind(clock::now().as_millis()).bind(id);
                self.done(query.fetch_one(&mut *tx)).await?
            }
            None => self.done(self.insert_desk(&mut tx)).await?,
        };
        self.commit(tx).await?;
        Ok(id)
    }

    fn steps(&self, rows: Vec<ChangeRow>) -> Result<Vec<Step>, JournalError> {
        let mut steps: Vec<(i64, Vec<Change>)> = Vec::new();
        for (number, source, action, before, after) in rows {
            let key = shape::key(source, action);
            let (before, after) =
                (self.staged(&key, before)?.map(Arc::new), self.staged(&key, after)?.map(Arc::new));
            let change = Change { key, before, after };
            match steps.last_mut().filter(|(last, _)| *last == number) {
                Some((_, changes)) => changes.push(change),
                None => steps.push((number, vec![change])),
            }
        }
        Ok(steps.into_iter().map(|(_, changes)| Step { changes: Arc::new(changes) }).collect())
    }

    fn staged(&self, key: &ActionKey, text: Option<String>) -> Result<Option<Staged>, JournalError> {
        let read = |text: String| {
            shape::read_staged(key, &text).ok_or_else(|| self.damaged("a staged decision is unreadable"))
        };
        text.map(read).transpose()
    }

    pub(super) fn digest(&self, text: &str) -> Result<Digest, JournalError> {
        Digest::parse(text).ok_or_else(|| self.damaged("a digest is unreadable"))
    }
}

/// Rows per INSERT: one statement per row would be many times slower for a step of 100,000 changes.
const AT_ONCE: usize = 200;

/// Stores what was seen. If the digest changed, resets the time on screen.
async fn put_seen(tx: &mut Tx, key: &ActionKey, digest: &Digest, seen: Seen) -> sqlx::Result<()> {
    sqlx::query(
        "INSERT INTO seen (source, action, digest, seen) VALUES ($1, $2, $3, $4)
         ON CONFLICT (source, action) DO UPDATE SET seen = excluded.seen, digest = excluded.digest,
             dwell_ms = CASE WHEN digest = excluded.digest THEN dwell_ms ELSE 0 END",
    )
    .bind(key.source.as_str())
    .bind(key.id.as_raw())
    .bind(digest.to_string())
    .bind(shape::write_seen(seen))
    .execute(&mut **tx)
    .await
    .map(drop)
}

/// Adds to the stored time, because several inboxes may show the same content.
async fn put_dwell(tx: &mut Tx, key: &ActionKey, digest: &Digest, millis: i64) -> sqlx::Result<()> {
    sqlx::query("UPDATE seen SET dwell_ms = dwell_ms + $1 WHERE source = $2 AND action = $3 AND digest = $4")
        .bind(millis)
        .bind(key.source.as_str())
        .bind(key.id.as_raw())
        .bind(digest.to_string())
        .execute(&mut **tx)
        .await
        .map(drop)
}

async fn put_step(tx: &mut Tx, desk: i64, position: usize, step: &Step) -> sqlx::Result<()> {
    let number = i64::try_from(position.saturating_sub(1)).unwrap_or(i64::MAX);
    sqlx::query("DELETE FROM change WHERE desk = $1 AND step >= $2")
        .bind(desk)
        .bind(number)
        .execute(&mut **tx)
        .await?;
    // The changes of a batch decision share one `Arc`, which is serialized only once.
    let mut last: (Option<Arc<Staged>>, String) = (None, String::new());
    let mut written = |staged: &Option<Arc<Staged>>| {
        let staged = staged.as_ref()?;
        if !last.0.as_ref().is_some_and(|last| Arc::ptr_eq(last, staged)) {
            last = (Some(Arc::clone(staged)), shape::write_staged(staged));
        }
        Some(last.1.clone())
    };
    let mut nth = 0_i64;
    for changes in step.changes.chunks(AT_ONCE) {
        let mut insert = QueryBuilder::new("INSERT INTO change ");
        insert.push_values(changes, |mut row, change| {
            row.push_bind(desk)
                .push_bind(number)
                .push_bind(nth)
                .push_bind(change.key.source.as_str())
                .push_bind(change.key.id.as_raw())
                .push_bind(written(&change.before))
                .push_bind(written(&change.after));
            nth += 1;
        });
        // Only a full chunk has a statement that is used again.
        insert.build().persistent(changes.len() == AT_ONCE).execute(&mut **tx).await?;
    }
    put_position(tx, desk, position).await
}

async fn put_position(tx: &mut Tx, desk: i64, position: usize) -> sqlx::Result<()> {
    sqlx::query("UPDATE desk SET position = $1, used_at = $2 WHERE id = $3")
        .bind(i64::try_from(position).unwrap_or(i64::MAX))
        .bind(clock::now().as_millis())
        .bind(desk)
        .execute(&mut **tx)
        .await
        .map(drop)
}

async fn put_text(tx: &mut Tx, desk: i64, key: &ActionKey, text: Option<&EditText>) -> sqlx::Result<()> {
    let query = match text {
        Some(text) => sqlx::query("INSERT OR REPLACE INTO edit_text VALUES ($1, $2, $3, $4, $5)")
            .bind(desk)
            .bind(key.source.as_str())
            .bind(key.id.as_raw())
            .bind(&text.text)
            .bind(text.of.to_string()),
        None => sqlx::query("DELETE FROM edit_text WHERE desk = $1 AND source = $2 AND action = $3")
            .bind(desk)
            .bind(key.source.as_str())
            .bind(key.id.as_raw()),
    };
    query.execute(&mut **tx).await.map(drop)
}

async fn put_reason(
    tx: &mut Tx,
    desk: i64,
    key: &ActionKey,
    says: DecisionKind,
    text: Option<&str>,
) -> sqlx::Result<()> {
    let query = match text {
        Some(_) => sqlx::query("INSERT OR REPLACE INTO reason_text VALUES ($1, $2, $3, $4, $5)"),
        None => sqlx::query(
            "DELETE FROM reason_text WHERE desk = $1 AND source = $2 AND action = $3 AND decision = $4
                AND $5 IS NULL",
        ),
    };
    query
        .bind(desk)
        .bind(key.source.as_str())
        .bind(key.id.as_raw())
        .bind(says.word())
        .bind(text)
        .execute(&mut **tx)
        .await
        .map(drop)
}

fn push_keys(query: &mut QueryBuilder<Sqlite>, keys: &[ActionKey]) {
    query.push("(source, action) IN (").push_values(keys, |mut row, key| {
        row.push_bind(key.source.as_str().to_owned()).push_bind(key.id.as_raw().to_owned());
    });
    query.push(")");
}

/// Mirrors [`Draft::settle`]: deletes the changes of these keys, renumbers the other steps and corrects the position.
async fn settle(tx: &mut Tx, desk: i64, keys: &[ActionKey]) -> sqlx::Result<()> {
    const OF_DESK: [&str; 3] = ["change", "edit_text", "reason_text"];
    for keys in keys.chunks(AT_ONCE) {
        for table in OF_DESK {
            let mut delete = QueryBuilder::new("DELETE FROM ");
            delete.push(table).push(" WHERE desk = ").push_bind(desk).push(" AND ");
            push_keys(&mut delete, keys);
            delete.build().persistent(keys.len() == AT_ONCE).execute(&mut **tx).await?;
        }
        let mut delete = QueryBuilder::new("DELETE FROM seen WHERE ");
        push_keys(&mut delete, keys);
        delete.build().persistent(keys.len() == AT_ONCE).execute(&mut **tx).await?;
    }
    let position: i64 =
        sqlx::query_scalar("SELECT position FROM desk WHERE id = $1").bind(desk).fetch_one(&mut **tx).await?;
    let steps: Vec<i64> =
        sqlx::query_scalar("SELECT DISTINCT step FROM change WHERE desk = $1 ORDER BY step")
            .bind(desk)
            .fetch_all(&mut **tx)
            .await?;
    for (new, &old) in (0_i64..).zip(&steps) {
        if new != old {
            sqlx::query("UPDATE change SET step = $1 WHERE desk = $2 AND step = $3")
                .bind(new)
                .bind(desk)
                .bind(old)
                .execute(&mut **tx)
                .await?;
        }
    }
    put_position(tx, desk, steps.iter().filter(|&&step| step < position).count()).await
}
