//! Stores snoozes. They belong to no desk, so every inbox on this machine has them from its next start on.

use std::collections::HashMap;

use sqlx::{Sqlite, Transaction};

use super::shape;
use super::state::{Journal, JournalError, Snooze};
use crate::domain::{ActionKey, Timestamp};

type Kept = (String, String, i64, String, Option<String>);

impl Journal {
    /// Returns all stored snoozes, including expired ones.
    pub async fn snoozes(&self) -> Result<HashMap<ActionKey, Snooze>, JournalError> {
        let rows = sqlx::query_as::<_, Kept>("SELECT source, action, until, label, terms FROM snooze");
        let rows = self.done(rows.fetch_all(self.read())).await?;
        let snooze = |(source, action, until, label, terms): Kept| {
            let terms = terms.map(|terms| self.digest(&terms)).transpose()?;
            let snooze = Snooze { until: Timestamp::from_millis(until), label: self.digest(&label)?, terms };
            Ok((shape::key(source, action), snooze))
        };
        rows.into_iter().map(snooze).collect()
    }
}

pub(super) async fn put(
    tx: &mut Transaction<'static, Sqlite>,
    key: &ActionKey,
    snooze: Option<&Snooze>,
) -> sqlx::Result<()> {
    let put = match snooze {
        Some(snooze) => sqlx::query(
            "INSERT INTO snooze (source, action, until, label, terms) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (source, action) DO UPDATE SET until = excluded.until, label = excluded.label,
             terms = excluded.terms",
        )
        .bind(key.source.as_str())
        .bind(key.id.as_raw())
        .bind(snooze.until.as_millis())
        .bind(snooze.label.to_string())
        .bind(snooze.terms.map(|terms| terms.to_string())),
        None => sqlx::query("DELETE FROM snooze WHERE source = $1 AND action = $2")
            .bind(key.source.as_str())
            .bind(key.id.as_raw()),
    };
    put.execute(&mut **tx).await.map(drop)
}
