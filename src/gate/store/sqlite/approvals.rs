//! Whose approvals an action has.

use sqlx::SqliteConnection;

use crate::domain::RawJson;
use crate::gate::store::KeptApproval;
use crate::gate::store::StoreError;
use crate::gate::store::rows::integer;

const DROP: &str = "DELETE FROM approvals WHERE seq = ?1";
const PUT: &str = "INSERT INTO approvals (seq, revision, subject, at, effective_digest, terms, policy, edits) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";

/// These, and no others.
pub(super) async fn put(
    conn: &mut SqliteConnection,
    seq: i64,
    approvals: &[KeptApproval],
) -> Result<(), StoreError> {
    sqlx::query(DROP).bind(seq).execute(&mut *conn).await?;
    for approval in approvals {
        sqlx::query(PUT)
            .bind(seq)
            .bind(integer(approval.revision))
            .bind(&approval.subject)
            .bind(approval.at.as_millis())
            .bind(approval.effective.to_string())
            .bind(approval.terms.to_string())
            .bind(approval.policy.to_string())
            .bind(approval.edits.as_ref().map(RawJson::as_str))
            .execute(&mut *conn)
            .await?;
    }
    Ok(())
}
