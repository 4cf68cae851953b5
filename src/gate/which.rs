//! Some of all tools, by rules about their names.

use crate::domain::matches;

/// Some of all tools, also of those that nobody has named yet: the first rule that fits a tool says whether it is one of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Which {
    pub(crate) rules: Vec<(Rule, bool)>,
    /// Tools that no rule fits.
    pub(crate) others: bool,
}

/// Which tools a rule is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Rule {
    OneOf(Vec<String>),
    /// A pattern.
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

    /// No tool at all is one of them.
    pub(crate) fn is_empty(&self) -> bool {
        !self.others && self.rules.iter().all(|(_, is)| !is)
    }
}
