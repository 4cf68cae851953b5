//! Reads tokens. Only the hash of a token is stored.

use super::{Sql, Statement};
use crate::domain::Timestamp;
use crate::gate::store::rows::{proxied as person, token};
use crate::gate::store::{KeptToken, StoreError};
use crate::gate::token::{Scope, Token};

/// The newest request counts, even if two gates write at once.
const PUT_PROXIED: &str = "INSERT INTO proxied (workspace, subject, name, groups, scopes, seen_at) \
     VALUES ($1, $2, $3, $4, $5, $6) \
     ON CONFLICT (workspace, subject) DO UPDATE SET name = excluded.name, groups = excluded.groups, \
     scopes = excluded.scopes, seen_at = excluded.seen_at WHERE proxied.seen_at <= excluded.seen_at";

pub(in crate::gate::store) async fn by_hash<S: Sql>(
    conn: &mut S,
    hash: &[u8],
) -> Result<Option<Token>, StoreError> {
    let live = Statement::new("SELECT * FROM tokens WHERE hash = $1 AND revoked_at IS NULL").bind(hash);
    let found = conn.fetch_optional(live).await?;
    Ok(found.map(|row| token(&row)).transpose()?.map(|(token, _)| token))
}

pub(in crate::gate::store) async fn all<S: Sql>(conn: &mut S) -> Result<Vec<Token>, StoreError> {
    Ok(kept(conn).await?.into_iter().map(|(token, _)| token).collect())
}

pub(in crate::gate::store) async fn kept<S: Sql>(
    conn: &mut S,
) -> Result<Vec<(Token, KeptToken)>, StoreError> {
    let found = conn.fetch_all(Statement::new("SELECT * FROM tokens ORDER BY created_at, id")).await?;
    found.iter().map(|row| token(row)).collect()
}

pub(in crate::gate::store) async fn proxied<S: Sql>(
    conn: &mut S,
    workspace: &str,
) -> Result<Vec<Token>, StoreError> {
    let found = Statement::new("SELECT * FROM proxied WHERE workspace = $1 ORDER BY subject").bind(workspace);
    conn.fetch_all(found).await?.iter().map(|row| person(row)).collect()
}

pub(super) async fn put_proxied<S: Sql>(
    conn: &mut S,
    person: &Token,
    at: Timestamp,
) -> Result<(), StoreError> {
    let put = Statement::new(PUT_PROXIED)
        .bind(&person.workspace)
        .bind(&person.subject)
        .bind(person.name.as_deref())
        .bind(person.groups.join("\n"))
        .bind(Scope::write(&person.scopes))
        .bind(at.as_millis());
    conn.execute(put).await?;
    Ok(())
}
