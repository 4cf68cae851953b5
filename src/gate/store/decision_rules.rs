//! The rules of a decision: whether it may be made on this action. Pure, and called inside the deciding transaction.

use super::approvals::{self, Approval};
use super::{Actor, Refused, Ruling, Stored, Verdict};
use crate::domain::subject::is_same_subject;
use crate::domain::{Digest, Edits, RawJson, Row, Status, Timestamp, Untrusted, merge};
use crate::gate::tool::Tools;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Judged {
    Approve(Approval),
    Reject,
}

pub(crate) fn within(stored: &Stored, by: &Actor) -> Result<(), Refused> {
    let workspace = stored.action.row.workspace.as_ref().map_or("", Untrusted::as_raw);
    if workspace == by.workspace { Ok(()) } else { Err(Refused::Foreign) }
}

pub(crate) fn is_proposer(stored: &Stored, by: &Actor) -> bool {
    is_same_subject(&stored.proposer, &by.subject)
}

pub(crate) fn settled(row: &Row) -> Refused {
    Refused::State {
        status: row.status.clone(),
        by: row.resolved_by.as_ref().map(|by| by.as_raw().to_owned()),
        at: row.resolved_at,
    }
}

pub(crate) fn judge(
    stored: &Stored,
    ruling: &Ruling,
    by: &Actor,
    tools: &Tools,
    now: Timestamp,
) -> Result<Judged, Refused> {
    within(stored, by)?;
    if is_proposer(stored, by) {
        return Err(Refused::Own);
    }
    let row = &stored.action.row;
    if !row.status.is_pending() {
        return Err(settled(row));
    }
    if let Some(at) = row.expires_at.filter(|&at| at <= now) {
        return Err(Refused::State { status: Status::Expired, by: None, at: Some(at) });
    }
    expect(
        ruling.expected_digest.as_deref(),
        stored.action.digest(),
        "the proposed input is not the one you saw; read it again",
    )?;
    match &ruling.verdict {
        Verdict::Reject => Ok(Judged::Reject),
        Verdict::Approve { edits } => approve(stored, ruling, edits.as_ref(), tools).map(Judged::Approve),
    }
}

fn approve(
    stored: &Stored,
    ruling: &Ruling,
    edits: Option<&RawJson>,
    tools: &Tools,
) -> Result<Approval, Refused> {
    let tool = stored.action.row.tool.as_raw();
    if tools.is_denied(tool) {
        let denied = "this tool is denied by policy since it was proposed; reject it";
        return Err(Refused::Invalid(denied.to_owned()));
    }
    let input = &stored.action.input;
    let edited = edits.cloned().zip(merged(input, edits)?);
    let effective = edited.as_ref().map_or(input, |(_, merged)| merged);
    let digest = stored.action.digest_of(effective.as_str());
    match &ruling.judged {
        _ if tools.schema_text(tool).is_none() => {}
        Some(judged) if judged.input == digest => judged.fits.clone().map_err(Refused::Invalid)?,
        _ => return Err(Refused::Changed("the schema judged another input than this one; read it again")),
    }
    expect(
        ruling.expected_effective_digest.as_deref(),
        digest,
        "the input after your edits is not the one you saw; read it again",
    )?;
    let terms = stored.action.terms.ok_or_else(|| Refused::Invalid("this action has no terms".to_owned()))?;
    expect(
        ruling.expected_terms.as_deref(),
        terms,
        "its expiry, risk, effect, preview, schema or executor is not the one you saw; read it again",
    )?;
    Ok(Approval { edited, digest, terms, policy: tools.policy(tool, &stored.action.row.risk) })
}

pub(crate) fn merged(input: &RawJson, edits: Option<&RawJson>) -> Result<Option<RawJson>, Refused> {
    let Some(edits) = edits else { return Ok(None) };
    let merged = Edits::new(edits.clone()).and_then(|edits| merge(input, &edits));
    merged.map(Some).map_err(|error| Refused::Invalid(format!("userEdits: {error}")))
}

fn expect(expected: Option<&str>, actual: Digest, changed: &'static str) -> Result<(), Refused> {
    let Some(text) = expected else { return Ok(()) };
    match Digest::parse(text) {
        None => Err(Refused::Invalid("a digest is \"sha256:\" and 64 lower-case hex digits".to_owned())),
        Some(digest) if digest == actual => Ok(()),
        Some(_) => Err(Refused::Changed(changed)),
    }
}

pub(crate) fn not_as_approved(stored: &Stored, tools: &Tools) -> Option<&'static str> {
    let action = &stored.action;
    if tools.is_denied(action.row.tool.as_raw()) {
        return Some("policy denies this tool since the approval; it was not run");
    }
    let effective = action.effective_input.as_ref().unwrap_or(&action.input);
    let bytes = action.row.digest == Some(action.digest())
        && stored.effective_digest == Some(action.digest_of(effective.as_str()));
    if !bytes {
        return Some("the stored input is not the one that was approved; it was not run");
    }
    let needed = tools.approvals(action.row.tool.as_raw(), &action.row.risk);
    let enough =
        |effective| action.terms.is_some_and(|terms| approvals::are_enough(stored, effective, terms, needed));
    if !stored.effective_digest.is_some_and(enough) {
        return Some("fewer people approved it than must by now; it was not run. Propose it again");
    }
    let approved = stored.approved_terms.as_deref();
    let terms = approved.is_some() && approved == action.terms.map(|terms| terms.to_string()).as_deref();
    let changed = "the tool's executor, schema or number of approvals, or the action itself, changed after the approval; it was not run. \
                   Propose it again";
    (!terms).then_some(changed)
}

pub(crate) fn settle(stored: &Stored, by: &Actor) -> Result<(), Refused> {
    within(stored, by)?;
    if is_proposer(stored, by) {
        return Err(Refused::Own);
    }
    if stored.action.row.status != Status::Unknown {
        return Err(settled(&stored.action.row));
    }
    Ok(())
}
