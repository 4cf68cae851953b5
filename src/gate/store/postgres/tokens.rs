//! Reads tokens: of each only the hash is kept, never the token.

use super::conn::Conn;
use crate::domain::Timestamp;
use crate::gate::store::rows::{proxied as person, token};
use crate::gate::store::{KeptToken, StoreError};
use crate::gate::token::{Scope, Token};

pub(super) async fn by_hash(
    conn: &mut Conn,
    hash: &[u8],
    now: Timestamp,
) -> Result<Option<Token>, StoreError> {
    let live = "SELECT * FROM tokens WHERE hash = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)";
    let found = sqlx::query(live).bind(hash).bind(now.as_millis()).fetch_optional(&mut *conn).await?;
    Ok(found.map(|row| token(&row)).transpose()?.map(|(token, _)| token))
}

pub(super) async fn all(conn: &mut Conn) -> Result<Vec<Token>, StoreError> {
    Ok(kept(conn).await?.into_iter().map(|(token, _)| token).collect())
}

/// Every token as it is written, oldest first.
pub(super) async fn kept(conn: &mut Conn) -> Result<Vec<(Token, KeptToken)>, StoreError> {
    let found = sqlx::query("SELECT * FROM tokens ORDER BY created_at, id").fetch_all(conn).await?;
    found.iter().map(|row| token(row)).collect()
}

/// People whom a proxy named.
pub(super) async fn proxied(conn: &mut Conn, workspace: &str) -> Result<Vec<Token>, StoreError> {
    let found = sqlx::query("SELECT * FROM proxied WHERE workspace = $1 ORDER BY subject").bind(workspace);
    found.fetch_all(conn).await?.iter().map(|row| person(row)).collect()
}

/// The newest counts, also where two gates write at once.
pub(super) async fn put_proxied(conn: &mut Conn, person: &Token, at: Timestamp) -> Result<(), StoreError> {
    let put = "INSERT INTO proxied (workspace, subject, name, groups, scopes, seen_at) \
               VALUES ($1, $2, $3, $4, $5, $6) \
               ON CONFLICT (workspace, subject) DO UPDATE SET name = excluded.name, groups = excluded.groups, \
               scopes = excluded.scopes, seen_at = excluded.seen_at WHERE proxied.seen_at <= excluded.seen_at";
    let put = sqlx::query(put).bind(&person.workspace).bind(&person.subject).bind(&person.name);
    let put = put.bind(person.groups.join("\n")).bind(Scope::write(&person.scopes)).bind(at.as_millis());
    put.execute(conn).await?;
    Ok(())
}
