//! Writes the approvals of an action.

use super::{Sql, Statement};
use crate::domain::RawJson;
use crate::gate::store::rows::integer;
use crate::gate::store::{KeptApproval, StoreError};

const DROP: &str = "DELETE FROM approvals WHERE seq = $1";
const PUT: &str = "INSERT INTO approvals (seq, revision, subject, at, effective_digest, terms, policy, edits) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";

pub(super) async fn put<S: Sql>(
    conn: &mut S,
    seq: i64,
    approvals: &[KeptApproval],
) -> Result<(), StoreError> {
    conn.execute(Statement::new(DROP).bind(seq)).await?;
    for approval in approvals {
        let put = Statement::new(PUT)
            .bind(seq)
            .bind(integer(approval.revision))
            .bind(&approval.subject)
            .bind(approval.at.as_millis())
            .bind(approval.effective.to_string())
            .bind(approval.terms.to_string())
            .bind(approval.policy.to_string())
            .bind(approval.edits.as_ref().map(RawJson::as_str));
        conn.execute(put).await?;
    }
    Ok(())
}
