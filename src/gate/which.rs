//! A set of tools, defined by rules on their names.

use crate::domain::matches;

/// The first rule that matches a tool decides whether it is in the set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Which {
    pub(crate) rules: Vec<(Rule, bool)>,
    /// Whether the set includes tools that no rule matches.
    pub(crate) others: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Rule {
    OneOf(Vec<String>),
    Like(String),
}

impl Which {
    #[cfg(test)]
    pub(crate) fn only(tool: &str) -> Self {
        Self { rules: vec![(Rule::OneOf(vec![tool.to_owned()]), true)], others: false }
    }

    pub(crate) fn has(&self, tool: &str) -> bool {
        let fits = |rule: &Rule| match rule {
            Rule::OneOf(names) => names.iter().any(|name| name == tool),
            Rule::Like(pattern) => matches(pattern, tool),
        };
        self.rules.iter().find(|(rule, _)| fits(rule)).map_or(self.others, |(_, is)| *is)
    }

    pub(crate) fn is_empty(&self) -> bool {
        !self.others && self.rules.iter().all(|(_, is)| !is)
    }
}
