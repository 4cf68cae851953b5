//! Digests of everything a reviewer agrees to besides the input.
//!
//! The **record** is all immutable parts of a proposal. The **policy** is the configuration of its tool: the schema,
//! the executor, the number of approvals. The **terms** are both. An approval names the terms that were shown, which
//! are checked again before a run.

use super::store::NewAction;
use crate::config::{Executor, Retry, ToolConfig};
use crate::domain::{BatchId, Digest, Effect, PendingAction, RawJson, Timestamp, Untrusted};

/// Digests where and how a tool runs, whether it may be retried, and its schema. Excludes time limits, which do not
/// change the effect, and everything outside the configuration, such as the program at a path.
pub(crate) fn policy(tool: &ToolConfig, schema: Option<&str>) -> Digest {
    let retry = match tool.retry {
        Retry::Safe => "safe",
        Retry::Manual => "manual",
    };
    let mut fields = vec![schema, Some(retry)];
    match &tool.executor {
        Executor::Pull => fields.push(Some("pull")),
        Executor::Http { url } => fields.extend([Some("http"), Some(url)]),
        Executor::Command { argv, env } => {
            fields.push(Some("command"));
            fields.extend(argv.iter().map(|word| Some(word.as_str())));
            fields.push(None);
            fields.extend(env.iter().flat_map(|(name, value)| [Some(name.as_str()), Some(value.as_str())]));
        }
    }
    Digest::of_fields("placet-policy/v1", fields)
}

pub(crate) fn by_people(policy: Digest, needed: &[u64]) -> Digest {
    let fields: Vec<String> =
        std::iter::once(policy.to_string()).chain(needed.iter().map(u64::to_string)).collect();
    Digest::of_fields("placet-approvals/v1", fields.iter().map(|field| Some(field.as_str())))
}

const RECORD: &str = "placet-record/v1";

/// Digests the immutable parts of a stored action.
pub(crate) fn record(action: &PendingAction, proposer: &str) -> Digest {
    let row = &action.row;
    let (created, expires) = (time(row.created_at), row.expires_at.map(time));
    let digest = action.digest().to_string();
    let fields = [
        Some(row.id.as_raw()),
        raw(row.workspace.as_ref()),
        row.batch.as_ref().map(BatchId::as_raw),
        raw(row.checkpoint.as_ref()),
        raw(row.mission.as_ref()),
        raw(row.session.as_ref()),
        raw(row.run.as_ref()),
        raw(action.tool_call.as_ref()),
        raw(row.agent.as_ref()),
        raw(action.requested_by.as_ref()),
        Some(proposer),
        Some(row.tool.as_raw()),
        Some(row.title.as_raw()),
        raw(action.summary.as_ref()),
        Some(row.risk.as_raw()),
        row.effect.as_ref().map(Effect::as_raw),
        Some(&created),
        expires.as_deref(),
        action.preview.as_ref().map(RawJson::as_str),
        Some(&digest),
        action.before.as_ref().map(RawJson::as_str),
    ];
    Digest::of_fields(RECORD, fields)
}

fn raw(text: Option<&Untrusted>) -> Option<&str> {
    text.map(Untrusted::as_raw)
}

fn time(time: Timestamp) -> String {
    time.as_millis().to_string()
}

/// Equal to [`record`] of the action once it is stored.
pub(crate) fn record_of(new: &NewAction, created_at: Timestamp) -> Digest {
    let (created, expires) = (time(created_at), new.expires_at.map(time));
    let digest = new.digest.to_string();
    let fields = [
        Some(new.id.as_str()),
        Some(&new.workspace),
        new.batch.as_deref(),
        new.checkpoint.as_deref(),
        new.mission.as_deref(),
        new.session.as_deref(),
        new.run.as_deref(),
        new.tool_call.as_deref(),
        new.agent.as_deref(),
        new.requested_by.as_deref(),
        Some(&new.proposer),
        Some(&new.tool),
        Some(&new.title),
        new.summary.as_deref(),
        Some(new.risk.as_raw()),
        new.effect.as_ref().map(Effect::as_raw),
        Some(&created),
        expires.as_deref(),
        new.preview.as_ref().map(RawJson::as_str),
        Some(&digest),
        new.before.as_ref().map(RawJson::as_str),
    ];
    Digest::of_fields(RECORD, fields)
}

pub(crate) fn terms(record: Digest, policy: Digest) -> Digest {
    let (record, policy) = (record.to_string(), policy.to_string());
    Digest::of_fields("placet-terms/v1", [Some(record.as_str()), Some(policy.as_str())])
}
