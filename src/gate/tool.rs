//! The gate's tools: their configuration over the built-in definitions.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;

use crate::config::{ConfigError, Executor, GateConfig, Retry, RiskApprovals, ToolConfig};
use crate::contract::tool::{self, Definition};
use crate::domain::{ByTool, Digest, Effect, Risk, is_pattern, matches};
use crate::gate::policies::{EVERY_OTHER, Policies};
use crate::gate::terms;
use crate::gate::which::{Rule, Which};
use crate::net::post::Targets;
use crate::program;
use crate::schema::Schema;

/// The configured tools. Others have medium risk, are run by the agent, and ask a person after a crash.
#[derive(Debug)]
pub(crate) struct Tools {
    configured: ByTool<Configured>,
    /// Names and patterns.
    denied: BTreeSet<String>,
    targets: Targets,
    default: ToolConfig,
    approval_ttl: Duration,
    by_risk: RiskApprovals,
    most_approvals: u64,
}

/// Serializes the inputs of one schema, so that slow ones do not delay other tools.
pub(crate) type Queue = Arc<Mutex<()>>;

/// One `[gate.tools]` table.
#[derive(Debug)]
struct Configured {
    config: ToolConfig,
    schema: Option<Schema>,
    /// For proposals and for decisions.
    queues: [Queue; 2],
    /// The policy without the number of approvals.
    policy: Digest,
}

impl Tools {
    /// Checks that everything the tools need exists. An error names its line in the configuration.
    pub(crate) fn open(config: &GateConfig) -> Result<Self, ConfigError> {
        let targets = Targets::new(&config.allow_targets)
            .map_err(|what| config.error(format!("gate.allow_targets: {what}")))?;
        let configured = config.tools.iter().map(|(name, tool)| {
            let wrong = |what: String| config.mistake(name, &what);
            runnable(tool, &targets).map_err(wrong)?;
            let schema = tool.schema.as_deref().map(schema_in).transpose().map_err(wrong)?;
            let policy = terms::policy(tool, schema.as_ref().map(Schema::text));
            let queues = Default::default();
            Ok((name.clone(), Configured { config: tool.clone(), schema, queues, policy }))
        });
        Ok(Self {
            configured: configured.collect::<Result<_, _>>()?,
            denied: config.denied.clone(),
            targets,
            default: ToolConfig::default(),
            approval_ttl: config.approval_ttl,
            by_risk: config.approvals,
            most_approvals: {
                let of_tools = config.tools.values().map(|tool| tool.approvals);
                of_tools.chain(config.approvals.each()).max().unwrap_or(1)
            },
        })
    }

    /// No tools configured; enough to read stored actions.
    pub(crate) fn none() -> Self {
        Self {
            configured: ByTool::default(),
            denied: BTreeSet::new(),
            targets: Targets::none_listed(),
            default: ToolConfig::default(),
            approval_ttl: Duration::MAX,
            by_risk: RiskApprovals::default(),
            most_approvals: 1,
        }
    }

    #[cfg(test)]
    pub(crate) fn asking(by_risk: RiskApprovals) -> Self {
        let most_approvals = by_risk.each().into_iter().max().unwrap_or(1);
        Self { by_risk, most_approvals, ..Self::none() }
    }

    /// Passes every input without a schema. The error names up to three places as JSON pointers.
    pub(crate) fn check(&self, tool: &str, input: &str) -> Result<(), String> {
        self.schema(tool).map_or(Ok(()), |schema| schema.check(input))
    }

    /// Reports schemas that cannot judge every input.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let schemas = self.configured.iter().filter_map(|(name, tool)| Some((name, tool.schema.as_ref()?)));
        let warning = |name: &str, at: &String| {
            format!(
                "gate.tools.{name}: branches of the schema's {at} overlap and contain themselves; deep inputs are refused there. \
                 Tell the branches apart, such as by a required key with a const"
            )
        };
        schemas
            .flat_map(|(name, schema)| schema.overlapping().iter().map(move |at| warning(name, at)))
            .collect()
    }

    pub(crate) fn have_schemas(&self) -> bool {
        self.configured.iter().any(|(_, tool)| tool.schema.is_some())
    }

    /// Returns `None` without a schema. Tools of one pattern share queues.
    pub(crate) fn queues(&self, tool: &str) -> Option<&[Queue; 2]> {
        self.configured.get(tool).filter(|it| it.schema.is_some()).map(|it| &it.queues)
    }

    pub(crate) fn schema_text(&self, tool: &str) -> Option<&str> {
        self.schema(tool).map(Schema::text)
    }

    fn schema(&self, tool: &str) -> Option<&Schema> {
        self.configured.get(tool)?.schema.as_ref()
    }

    pub(crate) fn targets(&self) -> &Targets {
        &self.targets
    }

    pub(crate) fn is_denied(&self, name: &str) -> bool {
        self.denied.iter().any(|denied| matches(denied, name))
    }

    pub(crate) fn get(&self, name: &str) -> &ToolConfig {
        self.configured.get(name).map_or(&self.default, |tool| &tool.config)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&String, &ToolConfig)> {
        self.configured.iter().map(|(name, tool)| (name, &tool.config))
    }

    pub(crate) fn approvals(&self, name: &str, risk: &Risk) -> u64 {
        self.get(name).approvals.max(self.by_risk.of(risk))
    }

    pub(crate) const fn most_approvals(&self) -> u64 {
        self.most_approvals
    }

    /// Compared again before a run.
    pub(crate) fn policy(&self, name: &str, risk: &Risk) -> Digest {
        let policy =
            self.configured.get(name).map_or_else(|| terms::policy(&self.default, None), |tool| tool.policy);
        terms::by_people(policy, &[self.approvals(name, risk)])
    }

    pub(crate) fn policies(&self) -> Policies {
        let policy = |policy: Digest, tool: &ToolConfig| {
            let needed = self.by_risk.each().map(|needed| needed.max(tool.approvals));
            terms::by_people(policy, &needed).to_string()
        };
        let others = policy(terms::policy(&self.default, None), &self.default);
        let mut tools = BTreeMap::from([(EVERY_OTHER.to_owned(), others)]);
        let configured = self.configured.iter();
        tools.extend(configured.map(|(name, tool)| (name.clone(), policy(tool.policy, &tool.config))));
        Policies { tools, denied: self.denied.clone() }
    }

    /// Tools whose approved actions the gate claims: to run them, or to end those that are denied.
    pub(crate) fn taken_here(&self) -> Which {
        self.which(true, |tool| tool.executor != Executor::Pull)
    }

    pub(crate) fn approval_ttl(&self, name: &str) -> Duration {
        self.ttl(self.get(name))
    }

    fn ttl(&self, tool: &ToolConfig) -> Duration {
        tool.approval_ttl.unwrap_or(self.approval_ttl)
    }

    /// Tools whose approved actions agents claim, by how long an approval waits.
    pub(crate) fn taken_by_agents(&self) -> Vec<(Which, Duration)> {
        let ttls = self.iter().map(|(_, tool)| self.ttl(tool)).chain([self.approval_ttl]);
        let ttls: BTreeSet<Duration> = ttls.collect();
        let theirs = |tool: &ToolConfig, ttl| tool.executor == Executor::Pull && self.ttl(tool) == ttl;
        ttls.into_iter().map(|ttl| (self.which(false, |tool| theirs(tool, ttl)), ttl)).collect()
    }

    /// Tools that may be run twice.
    pub(crate) fn safe(&self) -> Which {
        self.which(false, |tool| tool.retry == Retry::Safe)
    }

    /// Whether denied tools are included depends on `denied`.
    fn which(&self, denied: bool, keep: impl Fn(&ToolConfig) -> bool) -> Which {
        let (patterns, names): (Vec<_>, Vec<_>) =
            self.denied.iter().cloned().partition(|name| is_pattern(name));
        let mut rules = vec![(Rule::OneOf(names), denied)];
        rules.extend(patterns.into_iter().map(|pattern| (Rule::Like(pattern), denied)));
        let (kept, others): (Vec<_>, Vec<_>) = self.iter().partition(|(_, tool)| keep(tool));
        let names = |tools: Vec<(&String, _)>| tools.into_iter().map(|(name, _)| name.clone()).collect();
        rules.extend([(Rule::OneOf(names(kept)), true), (Rule::OneOf(names(others)), false)]);
        let patterns = self.configured.patterns();
        rules.extend(patterns.map(|(name, tool)| (Rule::Like(name.clone()), keep(&tool.config))));
        rules.retain(|(rule, _)| !matches!(rule, Rule::OneOf(names) if names.is_empty()));
        Which { rules, others: keep(&self.default) }
    }

    /// Configured values take precedence over built-in ones.
    pub(crate) fn definition(&self, name: &str) -> Definition {
        let (mine, known) = (self.get(name), tool::definition(name));
        Definition {
            risk: mine.risk.clone().unwrap_or_else(|| known.risk.clone()),
            effect: mine.effect.clone().or_else(|| known.effect.clone()),
            title: mine.title.clone().or_else(|| known.title.clone()),
            approving: known.approving.clone(),
            preview: mine.preview.clone().or_else(|| known.preview.clone()),
            identity: known.identity.clone(),
        }
    }
}

/// A proposer may raise the risk, never lower it.
pub(crate) fn raised_risk(tool: &Risk, proposed: Option<&str>) -> Risk {
    let proposed = proposed.map(Risk::parse).filter(|proposed| proposed.rank() > tool.rank());
    proposed.unwrap_or_else(|| tool.clone())
}

pub(crate) fn raised_effect(tool: Option<&Effect>, proposed: Option<&str>) -> Option<Effect> {
    let floor = tool.map(Effect::rank);
    let proposed =
        proposed.map(Effect::parse).filter(|proposed| floor.is_none_or(|floor| proposed.rank() > floor));
    proposed.or_else(|| tool.cloned())
}

/// Checks, without running it, that a tool can run on this machine.
fn runnable(tool: &ToolConfig, targets: &Targets) -> Result<(), String> {
    match &tool.executor {
        Executor::Command { argv, env } => program::check(argv, env.get("PATH").map(OsString::from), "argv"),
        Executor::Http { url } => targets.check(url),
        Executor::Pull => Ok(()),
    }
}

fn schema_in(path: &Path) -> Result<Schema, String> {
    let wrong = |what: String| format!("the schema {} {what}", path.display());
    let text = std::fs::read_to_string(path)
        .map_err(|error| wrong(format!("cannot be read: {}", error.to_string().to_lowercase())))?;
    Schema::parse(text).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policy_covers_the_number_of_approvals() {
        let (none, asking) =
            (Tools::none(), Tools::asking(RiskApprovals { critical: 2, ..RiskApprovals::default() }));

        assert_eq!(asking.policy("t", &Risk::High), none.policy("t", &Risk::High));
        assert_ne!(asking.policy("t", &Risk::Critical), none.policy("t", &Risk::Critical));
        assert_ne!(none.policies(), asking.policies(), "gates that ask for other numbers differ");
    }

    #[test]
    fn proposer_can_only_raise_risk_and_effect() {
        assert_eq!(raised_risk(&Risk::High, Some("low")), Risk::High);
        assert_eq!(raised_risk(&Risk::Medium, Some("critical")), Risk::Critical);
        assert_eq!(raised_risk(&Risk::Medium, Some("spicy")).as_raw(), "spicy");
        assert_eq!(raised_effect(Some(&Effect::External), Some("write")), Some(Effect::External));
        assert_eq!(raised_effect(None, Some("destructive")), Some(Effect::Destructive));
        assert_eq!(raised_effect(Some(&Effect::Write), None), Some(Effect::Write));
    }
}
