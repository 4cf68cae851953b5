//! Digests of everything a reviewer agrees to besides the input.
//!
//! The **record** is all immutable parts of a proposal. The **policy** is the configuration of its tool: the schema,
//! the executor, the number of approvals. The **terms** are both. An approval names the terms that were shown, which
//! are checked again before a run.

use super::store::action_fields::{Proposed, bound};
use crate::config::{Executor, Retry, ToolConfig};
use crate::domain::Digest;

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

/// Digests the immutable parts of an action.
pub(crate) fn record(proposed: Proposed<'_>) -> Digest {
    let fields = bound(proposed);
    Digest::of_fields("placet-record/v1", fields.iter().map(Option::as_deref))
}

pub(crate) fn terms(record: Digest, policy: Digest) -> Digest {
    let (record, policy) = (record.to_string(), policy.to_string());
    Digest::of_fields("placet-terms/v1", [Some(record.as_str()), Some(policy.as_str())])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        ActionId, BatchId, Effect, PendingAction, RawJson, Revision, Risk, Row, Timestamp, Untrusted,
    };
    use crate::gate::store::Origin;

    fn digests(origin: &Origin) -> [String; 2] {
        let text = |text: &str| Some(Untrusted::from(text));
        let row = Row {
            workspace: text("w"),
            batch: Some(BatchId::new("batch")),
            checkpoint: text("checkpoint"),
            mission: text("mission"),
            session: text("session"),
            run: text("run"),
            agent: text("agent"),
            risk: Risk::High,
            effect: Some(Effect::External),
            created_at: Timestamp::from_millis(1_776_794_531_420),
            expires_at: Some(Timestamp::from_millis(1_776_794_531_421)),
            revision: Revision(7),
            ..Row::new(ActionId::new("id"), "tool".into(), "title".into())
        };
        let input = RawJson::parse(r#"{"n":1.10}"#).unwrap();
        let action = PendingAction {
            tool_call: text("call"),
            requested_by: text("asker"),
            summary: text(""),
            before: Some(RawJson::parse(r#"{"n":1}"#).unwrap()),
            ..PendingAction::new(row, input.clone(), input)
        };
        let record = record(Proposed { action: &action, proposer: "proposer", origin });
        let policy = Digest::of_fields("placet-policy/v1", [None, Some("manual"), Some("pull")]);
        [record, terms(record, policy)].map(|digest| digest.to_string())
    }

    /// Computed independently, with Python's hashlib. Approvals that were given name these digests.
    #[test]
    fn record_and_terms_digest_the_published_fields_in_order() {
        let origin = Origin { callback: Some("hook".to_owned()), traceparent: Some("00-1".to_owned()) };

        assert_eq!(digests(&origin), digests(&Origin::default()), "the origin is in no digest");
        assert_eq!(
            digests(&origin),
            [
                "sha256:dd6ade2d422f3275a7a4383cd023c7e99bb21b4035cd8507bdf3fee305a21aa1",
                "sha256:1ad9fe3502b45cda073ee6521d65db8100ca6035d9ff9b6c18e4de8f6ae206ea",
            ]
        );
    }
}
