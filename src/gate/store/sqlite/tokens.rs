//! Tokens: of each only the hash, never the token.

use sqlx::SqlitePool;

use super::writer::Tx;
use crate::domain::Timestamp;
use crate::gate::auth::{Scope, Token, TokenInfo};
use crate::gate::store::{Refused, StoreError};

type Found = (String, String, String, String, i64, Option<i64>);

pub(super) async fn add(tx: &mut Tx, token: &Token, hash: &[u8]) -> Result<(), StoreError> {
    let now = tx.now.as_millis();
    sqlx::query(
        "INSERT INTO tokens (id, hash, subject, workspace, scopes, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )
    .bind(&token.id)
    .bind(hash)
    .bind(&token.subject)
    .bind(&token.workspace)
    .bind(Scope::write(&token.scopes))
    .bind(now)
    .execute(tx.conn())
    .await?;
    Ok(())
}

pub(super) async fn revoke(tx: &mut Tx, id: &str) -> Result<(), StoreError> {
    let now = tx.now.as_millis();
    let gone = sqlx::query("UPDATE tokens SET revoked_at = ?1 WHERE id = ?2 AND revoked_at IS NULL")
        .bind(now)
        .bind(id)
        .execute(tx.conn())
        .await?;
    if gone.rows_affected() == 1 { Ok(()) } else { Err(Refused::Missing.into()) }
}

pub(super) async fn by_hash(pool: &SqlitePool, hash: &[u8]) -> Result<Option<Token>, StoreError> {
    let found: Option<(String, String, String, String)> = sqlx::query_as(
        "SELECT id, subject, workspace, scopes FROM tokens WHERE hash = ?1 AND revoked_at IS NULL",
    )
    .bind(hash)
    .fetch_optional(pool)
    .await?;
    Ok(found.map(|(id, subject, workspace, scopes)| Token {
        id,
        subject,
        workspace,
        scopes: Scope::read(&scopes),
    }))
}

pub(super) async fn all(pool: &SqlitePool) -> Result<Vec<TokenInfo>, StoreError> {
    let found: Vec<Found> = sqlx::query_as(
        "SELECT id, subject, workspace, scopes, created_at, revoked_at FROM tokens ORDER BY created_at, id",
    )
    .fetch_all(pool)
    .await?;
    let info = |(id, subject, workspace, scopes, created, revoked): Found| TokenInfo {
        id,
        subject,
        workspace,
        scopes: Scope::read(&scopes),
        created_at: Timestamp::from_millis(created),
        revoked_at: revoked.map(Timestamp::from_millis),
    };
    Ok(found.into_iter().map(info).collect())
}
