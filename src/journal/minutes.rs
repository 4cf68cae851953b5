//! Saves the per-minute figures across restarts. They are only counts, without actions or reviewers.

use sqlx::{Row as _, Sqlite, SqlitePool, Transaction};

use super::state::{Journal, JournalError};
use crate::domain::{Flow, KeptMinute, KeptQueue, Minute, Queue, SourceName};

/// The number of minutes kept; the next write deletes older ones.
const KEPT: i64 = 48 * 60;

/// Two runs may each have seen only a part of the same minute, so the greater count wins.
const PUT_QUEUE: &str = "INSERT INTO minute_queue
    (source, minute, kind, queue, arrived, approved, edited, rejected, gone, executed, failed, unknown, pending)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
    ON CONFLICT DO UPDATE SET arrived = MAX(arrived, excluded.arrived), approved = MAX(approved, excluded.approved),
    edited = MAX(edited, excluded.edited), rejected = MAX(rejected, excluded.rejected), gone = MAX(gone, excluded.gone),
    executed = MAX(executed, excluded.executed), failed = MAX(failed, excluded.failed),
    unknown = MAX(unknown, excluded.unknown), pending = excluded.pending";

impl Journal {
    /// Saves the minutes in one transaction and merges them with stored ones.
    pub async fn keep_minutes(&self, minutes: &[KeptMinute]) -> Result<(), JournalError> {
        let Some(newest) = minutes.iter().map(|minute| minute.minute).max() else { return Ok(()) };
        let mut tx = self.begin_write().await?;
        for minute in minutes {
            self.done(put(&mut tx, minute)).await?;
        }
        let old = sqlx::query("DELETE FROM minute WHERE minute <= $1").bind(newest.number() - KEPT);
        self.done(old.execute(&mut *tx)).await?;
        self.commit(tx).await
    }

    /// Returns the stored minutes from `since` on, in order, which reach back 48 hours at most.
    pub async fn kept_minutes(&self, since: Minute) -> Result<Vec<KeptMinute>, JournalError> {
        self.done(read(self.read(), since)).await
    }
}

async fn read(pool: &SqlitePool, since: Minute) -> sqlx::Result<Vec<KeptMinute>> {
    let sql = "SELECT source, minute, watched FROM minute WHERE minute >= $1 ORDER BY minute, source";
    let minute = |(source, minute, watched): (String, i64, _)| KeptMinute {
        source: SourceName::new(source),
        minute: Minute::new(minute),
        watched,
        queues: Vec::new(),
    };
    let found = sqlx::query_as(sql).bind(since.number()).fetch_all(pool).await?;
    let mut minutes: Vec<_> = found.into_iter().map(minute).collect();
    let sql = "SELECT * FROM minute_queue WHERE minute >= $1 ORDER BY minute, source, kind, queue";
    for row in &sqlx::query(sql).bind(since.number()).fetch_all(pool).await? {
        let (source, minute): (String, i64) = (row.try_get("source")?, row.try_get("minute")?);
        let of = |kept: &KeptMinute| (kept.minute.number(), kept.source.as_str()).cmp(&(minute, &source));
        if let Ok(nth) = minutes.binary_search_by(of)
            && let Some(kept) = minutes.get_mut(nth)
        {
            kept.queues.push(queue(row)?);
        }
    }
    Ok(minutes)
}

async fn put(tx: &mut Transaction<'static, Sqlite>, kept: &KeptMinute) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO minute (source, minute, watched) VALUES ($1, $2, $3)
         ON CONFLICT DO UPDATE SET watched = MAX(watched, excluded.watched)",
    )
    .bind(kept.source.as_str())
    .bind(kept.minute.number())
    .bind(kept.watched)
    .execute(&mut **tx)
    .await?;
    for of in &kept.queues {
        let (kind, name) = words(&of.queue);
        let flow = &of.flow;
        let mut put = sqlx::query(PUT_QUEUE)
            .bind(kept.source.as_str())
            .bind(kept.minute.number())
            .bind(kind)
            .bind(name);
        for count in [
            flow.arrived,
            flow.approved,
            flow.edited,
            flow.rejected,
            flow.left,
            flow.executed,
            flow.failed,
            flow.unknown,
            of.pending,
        ] {
            put = put.bind(i64::try_from(count).unwrap_or(i64::MAX));
        }
        put.execute(&mut **tx).await?;
    }
    Ok(())
}

fn words(queue: &Queue) -> (&'static str, &str) {
    match queue {
        Queue::Agent(name) => ("agent", name.as_raw()),
        Queue::Tool(name) => ("tool", name.as_raw()),
        Queue::Rest => ("rest", ""),
    }
}

fn queue(row: &sqlx::sqlite::SqliteRow) -> Result<KeptQueue, sqlx::Error> {
    let count = |column: &str| -> Result<u64, sqlx::Error> {
        Ok(row.try_get::<i64, _>(column)?.try_into().unwrap_or_default())
    };
    let name: String = row.try_get("queue")?;
    let queue = match row.try_get::<String, _>("kind")?.as_str() {
        "agent" => Queue::Agent(name.into()),
        "tool" => Queue::Tool(name.into()),
        _ => Queue::Rest,
    };
    let flow = Flow::of(|name| count(if name == "left" { "gone" } else { name }))?;
    Ok(KeptQueue { queue, flow, pending: count("pending")? })
}
