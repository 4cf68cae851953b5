//! `approve`, `reject`, `take-back` and `withdraw` of one action.

use std::slice;

use axum::extract::{Path, State};
use axum::response::Response;

use super::propose::is_longer;
use super::reply::{answer, body, full_response, payload};
use super::sent::MaybeSent;
use crate::contract::batch::{Approve, Reject};
use crate::domain::Via;
use crate::gate::auth::Caller;
use crate::gate::error::{ApiError, INVALID};
use crate::gate::state::Gate;
use crate::gate::store::{Keyed, KeyedReply, Ruling, Stored, Verdict};

pub(super) const REASON_MAX: usize = 16_384;

pub(crate) async fn approve(
    State(gate): State<Gate>,
    caller: Caller,
    Path(id): Path<String>,
    MaybeSent { body: approve, key }: MaybeSent<Approve>,
) -> Result<Response, ApiError> {
    let edits = approve.user_edits.as_ref().map(|edits| payload("userEdits", edits)).transpose()?;
    let ruling = Ruling {
        id,
        verdict: Verdict::Approve { edits },
        expected_digest: approve.expected_digest,
        expected_effective_digest: approve.expected_effective_digest,
        expected_terms: approve.expected_terms,
        reason: reason(approve.reason)?,
        via: via(approve.via.as_deref())?,
        judged: None,
    };
    decide(&gate, &caller, ruling, key).await
}

pub(crate) async fn reject(
    State(gate): State<Gate>,
    caller: Caller,
    Path(id): Path<String>,
    MaybeSent { body: reject, key }: MaybeSent<Reject>,
) -> Result<Response, ApiError> {
    let ruling = Ruling {
        id,
        verdict: Verdict::Reject,
        expected_digest: reject.expected_digest,
        expected_effective_digest: None,
        expected_terms: None,
        reason: reason(reject.reason)?,
        via: via(reject.via.as_deref())?,
        judged: None,
    };
    decide(&gate, &caller, ruling, key).await
}

/// Returns after the commit. Does not wait for an approved action to run.
async fn decide(
    gate: &Gate,
    caller: &Caller,
    mut ruling: Ruling,
    key: Option<Keyed>,
) -> Result<Response, ApiError> {
    gate.judge_all(&caller.actor(), slice::from_mut(&mut ruling)).await?;
    let body = |stored: &Stored| body(&stored.action);
    let key = key.map(|key| KeyedReply { key, write: body });
    answer(gate.store().decide(ruling, caller.actor(), key).await?, body)
}

/// Withdraws the caller's approval while more approvals are missing.
pub(crate) async fn take_back(
    State(gate): State<Gate>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let stored = gate.store().take_back(id, caller.actor()).await?;
    full_response(&stored.action)
}

pub(crate) async fn withdraw(
    State(gate): State<Gate>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let stored = gate.store().withdraw(id, caller.actor()).await?;
    full_response(&stored.action)
}

pub(super) fn via(word: Option<&str>) -> Result<Via, ApiError> {
    let unknown = || ApiError::new(INVALID, "via is screen, plain, shell or http");
    word.map_or(Ok(Via::default()), |word| Via::parse(word).ok_or_else(unknown))
}

pub(super) fn reason(reason: Option<String>) -> Result<Option<String>, ApiError> {
    match reason.filter(|reason| !reason.trim().is_empty()) {
        Some(long) if is_longer(&long, REASON_MAX) => {
            Err(ApiError::new(INVALID, format!("the reason is longer than {REASON_MAX} characters")))
        }
        Some(odd) if odd.contains('\0') => {
            Err(ApiError::new(INVALID, "the reason holds U+0000, which is not kept; leave it out"))
        }
        reason => Ok(reason),
    }
}
