//! Reads tokens: of each only the hash is kept, never the token.

use super::conn::Conn;
use crate::domain::Timestamp;
use crate::gate::store::rows::token;
use crate::gate::store::{KeptToken, StoreError};
use crate::gate::token::Token;

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
