//! What a reviewer agrees to besides the bytes of the input, as digests that can be compared.
//!
//! The **record** is everything of a proposal that never changes. The **policy** is what the gate's configuration makes of its
//! tool: the schema and the executor. The **terms** are both. An approval names the terms that were on screen, they are
//! kept with it, and compared once more before anything runs.

use super::store::NewAction;
use crate::config::{Executor, Retry, ToolConfig};
use crate::domain::{BatchId, Digest, Effect, PendingAction, RawJson, Timestamp, Untrusted};

/// Where and how a tool runs, how often it may, and what its input must satisfy. Not part of it: time limits, which change nothing
/// about what lands; and what is beyond the configuration, as the program behind a path or the service behind a name.
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

/// Everything of a stored action that never changes, the digest of its bytes included.
pub(crate) fn record(action: &PendingAction, proposer: &str) -> Digest {
    let row = &action.row;
    let text = |field: &'_ Option<Untrusted>| field.as_ref().map(|text| text.as_raw().to_owned());
    let time = |time: Timestamp| time.as_millis().to_string();
    let fields = [
        Some(row.id.as_raw().to_owned()),
        text(&row.workspace),
        row.batch.as_ref().map(|batch| BatchId::as_raw(batch).to_owned()),
        text(&row.checkpoint),
        text(&row.mission),
        text(&row.session),
        text(&row.run),
        text(&action.tool_call),
        text(&row.agent),
        text(&action.requested_by),
        Some(proposer.to_owned()),
        Some(row.tool.as_raw().to_owned()),
        Some(row.title.as_raw().to_owned()),
        text(&action.summary),
        Some(row.risk.as_raw().to_owned()),
        row.effect.as_ref().map(|effect| Effect::as_raw(effect).to_owned()),
        Some(time(row.created_at)),
        row.expires_at.map(time),
        action.preview.as_ref().map(|preview| RawJson::as_str(preview).to_owned()),
        Some(action.digest().to_string()),
    ];
    over(&fields, action.before.as_ref())
}

/// The record of what is about to be stored: the same, field by field, as it will read afterwards.
pub(crate) fn record_of(new: &NewAction, created_at: Timestamp) -> Digest {
    let time = |time: Timestamp| time.as_millis().to_string();
    let fields = [
        Some(new.id.clone()),
        Some(new.workspace.clone()),
        new.batch.clone(),
        new.checkpoint.clone(),
        new.mission.clone(),
        new.session.clone(),
        new.run.clone(),
        new.tool_call.clone(),
        new.agent.clone(),
        new.requested_by.clone(),
        Some(new.proposer.clone()),
        Some(new.tool.clone()),
        Some(new.title.clone()),
        new.summary.clone(),
        Some(new.risk.as_raw().to_owned()),
        new.effect.as_ref().map(|effect| effect.as_raw().to_owned()),
        Some(time(created_at)),
        new.expires_at.map(time),
        new.preview.as_ref().map(|preview| preview.as_str().to_owned()),
        Some(new.digest.to_string()),
    ];
    over(&fields, new.before.as_ref())
}

/// Without a state before, the record is that of earlier versions, bit for bit: approvals from then still hold.
fn over(fields: &[Option<String>; 20], before: Option<&RawJson>) -> Digest {
    let fields = fields.iter().map(Option::as_deref);
    match before {
        None => Digest::of_fields("placet-record/v1", fields),
        Some(before) => Digest::of_fields("placet-record/v2", fields.chain([Some(before.as_str())])),
    }
}

pub(crate) fn terms(record: Digest, policy: Digest) -> Digest {
    let (record, policy) = (record.to_string(), policy.to_string());
    Digest::of_fields("placet-terms/v1", [Some(record.as_str()), Some(policy.as_str())])
}
