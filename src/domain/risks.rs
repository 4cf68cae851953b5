//! Risks of tools from the reviewer's configuration.

use super::{Risk, Untrusted};

/// Risks by tool. They only raise the risk that the source reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Risks(Vec<(Pattern, Risk)>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Pattern {
    Exact(String),
    /// Written with a `*` at the end.
    Start(String),
}

impl Risks {
    /// Takes names of tools, or prefixes with a `*` at the end.
    pub fn new(given: impl IntoIterator<Item = (String, Risk)>) -> Self {
        let pattern = |(name, risk): (String, Risk)| match name.strip_suffix('*') {
            Some(start) => (Pattern::Start(start.to_owned()), risk),
            None => (Pattern::Exact(name), risk),
        };
        Self(given.into_iter().map(pattern).collect())
    }

    pub fn raised(&self, tool: &Untrusted, own: Risk) -> Risk {
        let tool = tool.as_raw();
        let meant = |(pattern, _): &&(Pattern, Risk)| match pattern {
            Pattern::Exact(name) => tool == name,
            Pattern::Start(start) => tool.starts_with(start.as_str()),
        };
        let known = self.0.iter().filter(meant).map(|(_, risk)| risk);
        known.fold(own, |most, risk| if risk.rank() > most.rank() { risk.clone() } else { most })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configured_risk_raises_and_never_lowers() {
        let risks = Risks::new([
            ("refund".to_owned(), Risk::High),
            ("delete_*".to_owned(), Risk::Critical),
            ("delete_draft".to_owned(), Risk::Low),
        ]);
        let raised = |tool: &str, own| risks.raised(&tool.into(), own);

        assert_eq!(raised("refund", Risk::Medium), Risk::High);
        assert_eq!(raised("refund", Risk::Critical), Risk::Critical);
        assert_eq!(raised("refunds", Risk::Medium), Risk::Medium);
        assert_eq!(raised("delete_draft", Risk::Medium), Risk::Critical);
        assert_eq!(raised("refund", Risk::parse("spicy")), Risk::parse("spicy"));
    }
}
