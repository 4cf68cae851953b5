//! Tokens: of each only the hash, never the token.

use serde_json::json;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection, SqlitePool};

use super::audit::{Note, bump, note};
use super::writer::Tx;
use crate::contract::absent::without_nulls;
use crate::contract::time;
use crate::domain::Timestamp;
use crate::gate::audit;
use crate::gate::store::{KeptToken, Refused, StoreError};
use crate::gate::token::{Scope, Token};

pub(super) async fn add(tx: &mut Tx, token: &Token, hash: &[u8]) -> Result<(), StoreError> {
    let now = tx.now.as_millis();
    sqlx::query(
        "INSERT INTO tokens (id, hash, subject, workspace, scopes, created_at, expires_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )
    .bind(&token.id)
    .bind(hash)
    .bind(&token.subject)
    .bind(&token.workspace)
    .bind(Scope::write(&token.scopes))
    .bind(now)
    .bind(token.expires_at.map(Timestamp::as_millis))
    .execute(tx.conn())
    .await?;
    let head = bump(tx, &token.workspace, 0).await?;
    // Its hash is no secret: the token has 244 random bits.
    let issued = without_nulls(json!({
        "token": token.id,
        "subject": token.subject,
        "scopes": Scope::write(&token.scopes),
        "hash": audit::hex(hash),
        "expiresAt": token.expires_at.map(time::write),
    }));
    note(tx, &head, Note { action: None, kind: "token-issued", who: None }, &issued).await
}

pub(super) async fn revoke(tx: &mut Tx, id: &str) -> Result<(), StoreError> {
    let now = tx.now.as_millis();
    let revoked =
        "UPDATE tokens SET revoked_at = ?1 WHERE id = ?2 AND revoked_at IS NULL RETURNING workspace";
    let workspace: Option<String> =
        sqlx::query_scalar(revoked).bind(now).bind(id).fetch_optional(tx.conn()).await?;
    let workspace = workspace.ok_or(Refused::Missing)?;
    let head = bump(tx, &workspace, 0).await?;
    note(tx, &head, Note { action: None, kind: "token-revoked", who: None }, &json!({"token": id})).await
}

pub(super) async fn by_hash(
    pool: &SqlitePool,
    hash: &[u8],
    now: Timestamp,
) -> Result<Option<Token>, StoreError> {
    let live = "SELECT * FROM tokens WHERE hash = ?1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?2)";
    let found = sqlx::query(live).bind(hash).bind(now.as_millis()).fetch_optional(pool).await?;
    found.as_ref().map(token).transpose()
}

pub(super) async fn all(pool: &SqlitePool) -> Result<Vec<Token>, StoreError> {
    let mut conn = pool.acquire().await?;
    Ok(kept(&mut conn).await?.into_iter().map(|(token, _)| token).collect())
}

/// Every token as it is written, oldest first.
pub(super) async fn kept(conn: &mut SqliteConnection) -> Result<Vec<(Token, KeptToken)>, StoreError> {
    let found = sqlx::query("SELECT * FROM tokens ORDER BY created_at, id").fetch_all(conn).await?;
    let kept = |found: &SqliteRow| {
        Ok((token(found)?, KeptToken { hash: found.try_get("hash")?, scopes: found.try_get("scopes")? }))
    };
    found.iter().map(kept).collect()
}

fn token(found: &SqliteRow) -> Result<Token, StoreError> {
    let time =
        |column: &str| found.try_get::<Option<i64>, _>(column).map(|at| at.map(Timestamp::from_millis));
    Ok(Token {
        id: found.try_get("id")?,
        subject: found.try_get("subject")?,
        workspace: found.try_get("workspace")?,
        scopes: Scope::read(found.try_get("scopes")?),
        created_at: Timestamp::from_millis(found.try_get("created_at")?),
        revoked_at: time("revoked_at")?,
        expires_at: time("expires_at")?,
    })
}
