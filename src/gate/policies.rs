//! Tool policies that gates on one database compare: digests, never the configuration itself.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::domain::{ByTool, Timestamp, matches};

/// Tools without a policy of their own.
pub(super) const EVERY_OTHER: &str = "*";
/// Maximum number of tools named in a message.
const NAMED: usize = 5;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Policies {
    /// Digests by name or pattern.
    pub(super) tools: BTreeMap<String, String>,
    /// Names and patterns.
    pub(super) denied: BTreeSet<String>,
}

impl Policies {
    fn differing(&self, other: &Self) -> Vec<String> {
        let (mine, theirs) = (self.by_tool(), other.by_tool());
        let both = [self, other].into_iter();
        let names: BTreeSet<&String> = both.flat_map(|one| one.tools.keys().chain(&one.denied)).collect();
        let differ = |name: &&String| self.of(&mine, name) != other.of(&theirs, name);
        names.into_iter().filter(differ).cloned().collect()
    }

    fn by_tool(&self) -> ByTool<&str> {
        self.tools.iter().map(|(name, digest)| (name.clone(), digest.as_str())).collect()
    }

    /// Returns `None` if it is denied.
    fn of<'a>(&self, tools: &ByTool<&'a str>, name: &str) -> Option<&'a str> {
        let is_denied = self.denied.iter().any(|denied| matches(denied, name));
        (!is_denied).then(|| tools.get(name).copied().unwrap_or_default())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Registered {
    /// Unique per start.
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) started_at: Timestamp,
    pub(crate) policies: Policies,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Disagreement {
    pub(crate) id: String,
    pub(crate) gate: String,
    pub(crate) tools: Vec<String>,
    /// Name of the gate that started first.
    older: String,
}

impl Disagreement {
    /// Returns `None` if the gates agree.
    pub(crate) fn between(me: &Registered, other: &Registered) -> Option<Self> {
        let tools = me.policies.differing(&other.policies);
        let is_older = (other.started_at, &other.id) < (me.started_at, &me.id);
        let older = if is_older { &other.name } else { &me.name };
        let (id, gate, older) = (other.id.clone(), other.name.clone(), older.clone());
        (!tools.is_empty()).then_some(Self { id, gate, tools, older })
    }

    pub(crate) fn message(&self) -> String {
        let named = self.tools.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
        let more = self.tools.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!(
            "the gate {} has other settings for {named}{more}, so what one of the two approves the other may not run; \
             give both the same [gate.tools] and the same denied, and restart the older, {}",
            self.gate, self.older
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policies(tools: &[(&str, &str)], denied: &[&str]) -> Policies {
        let tools = tools.iter().map(|(name, digest)| ((*name).to_owned(), (*digest).to_owned()));
        Policies { tools: tools.collect(), denied: denied.iter().map(|name| (*name).to_owned()).collect() }
    }

    fn gate(name: &str, started: i64, policies: Policies) -> Registered {
        let started_at = Timestamp::from_millis(started);
        Registered { id: format!("id of {name}"), name: name.to_owned(), started_at, policies }
    }

    #[test]
    fn policies_are_compared_by_effect() {
        let usual = policies(&[("*", "0"), ("fs.*", "1")], &[]);
        for (other, differing) in [
            (policies(&[("*", "0"), ("fs.*", "1")], &[]), vec![]),
            (policies(&[("*", "0"), ("fs.*", "1"), ("fs.read", "1"), ("mail", "0")], &[]), vec![]),
            (policies(&[("*", "0"), ("fs.*", "1"), ("fs.read", "0")], &[]), vec!["fs.read"]),
            (policies(&[("*", "0")], &[]), vec!["fs.*"]),
            (policies(&[("*", "2"), ("fs.*", "1")], &[]), vec!["*"]),
            (policies(&[("*", "0"), ("fs.*", "1")], &["fs.write", "x"]), vec!["fs.write", "x"]),
            (policies(&[("*", "0"), ("fs.*", "1")], &["f*"]), vec!["f*", "fs.*"]),
        ] {
            assert_eq!(usual.differing(&other), differing, "{other:?}");
            assert_eq!(other.differing(&usual), differing, "{other:?}");
        }
    }

    #[test]
    fn both_gates_name_the_same_older_one() {
        let tools: Vec<(String, &str)> = (0..7).map(|nth| (format!("t{nth}"), "1")).collect();
        let tools: Vec<_> = tools.iter().map(|(name, digest)| (name.as_str(), *digest)).collect();
        let old = gate("a:1", 5, policies(&tools, &[]));
        let new = gate("b:2", 6, policies(&[], &[]));

        let [at_old, at_new] =
            [(&old, &new), (&new, &old)].map(|(me, other)| Disagreement::between(me, other).unwrap());

        assert!(
            at_old
                .message()
                .starts_with("the gate b:2 has other settings for t0, t1, t2, t3, t4 and 2 more,")
        );
        assert!(at_new.message().starts_with("the gate a:1 has"));
        for message in [at_old.message(), at_new.message()] {
            assert!(message.ends_with("and restart the older, a:1"), "{message}");
        }
        assert_eq!(Disagreement::between(&old, &gate("c", 0, old.policies.clone())), None);
    }
}
