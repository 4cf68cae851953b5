//! Digests of everything a reviewer agrees to besides the input.
//!
//! The **record** is all immutable parts of a proposal (`store/action_fields.rs`). The **policy** is the configuration of its tool: the schema,
//! the executor, the number of approvals. The **terms** are both. An approval names the terms that were shown, which
//! are checked again before a run.

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

pub(crate) fn terms(record: Digest, policy: Digest) -> Digest {
    let (record, policy) = (record.to_string(), policy.to_string());
    Digest::of_fields("placet-terms/v1", [Some(record.as_str()), Some(policy.as_str())])
}
