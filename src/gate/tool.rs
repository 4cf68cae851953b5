//! What the gate knows of each tool: its configuration over the built-in definition.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use crate::config::{ConfigError, Executor, GateConfig, Retry, ToolConfig};
use crate::contract::tool::{self, Definition};
use crate::domain::{Digest, Effect, Risk};
use crate::gate::terms;
use crate::net::post::Targets;
use crate::program;
use crate::schema::Schema;

/// The configured tools. Every other tool is medium risk, run by the agent, and asks a human after a crash.
#[derive(Debug)]
pub(crate) struct Tools {
    configured: BTreeMap<String, ToolConfig>,
    denied: BTreeSet<String>,
    schemas: BTreeMap<String, Schema>,
    targets: Targets,
    default: ToolConfig,
    approval_ttl: Duration,
    /// What each configuration comes to; compared before anything runs.
    policies: BTreeMap<String, Digest>,
}

impl Tools {
    /// Looks whether everything that the tools need is there. A mistake names its line.
    pub(crate) fn open(config: &GateConfig) -> Result<Self, ConfigError> {
        let targets = Targets::new(&config.allow_targets)
            .map_err(|what| config.error(format!("gate.allow_targets: {what}")))?;
        let mut schemas = BTreeMap::new();
        for (name, tool) in &config.tools {
            let wrong = |what: String| config.mistake(name, &what);
            runnable(tool, &targets).map_err(wrong)?;
            if let Some(path) = &tool.schema {
                schemas.insert(name.clone(), schema_in(path).map_err(wrong)?);
            }
        }
        let policy = |(name, tool): (&String, &ToolConfig)| {
            (name.clone(), terms::policy(tool, schemas.get(name).map(Schema::text)))
        };
        Ok(Self {
            configured: config.tools.clone(),
            denied: config.denied.clone(),
            policies: config.tools.iter().map(policy).collect(),
            schemas,
            targets,
            default: ToolConfig::default(),
            approval_ttl: config.approval_ttl,
        })
    }

    /// None is configured: enough to read what is stored.
    pub(crate) fn none() -> Self {
        Self {
            configured: BTreeMap::new(),
            denied: BTreeSet::new(),
            policies: BTreeMap::new(),
            schemas: BTreeMap::new(),
            targets: Targets::none_listed(),
            default: ToolConfig::default(),
            approval_ttl: Duration::MAX,
        }
    }

    /// Whether the tool takes this input; every input does where no schema is configured. The message names up to three places as
    /// JSON pointers.
    pub(crate) fn check(&self, tool: &str, input: &str) -> Result<(), String> {
        self.schemas.get(tool).map_or(Ok(()), |schema| schema.check(input))
    }

    /// The exact text of the tool's schema.
    pub(crate) fn schema_text(&self, tool: &str) -> Option<&str> {
        self.schemas.get(tool).map(Schema::text)
    }

    /// Where the gate may send what was approved.
    pub(crate) fn targets(&self) -> &Targets {
        &self.targets
    }

    /// Policy says that this tool never runs.
    pub(crate) fn is_denied(&self, name: &str) -> bool {
        self.denied.contains(name)
    }

    pub(crate) fn get(&self, name: &str) -> &ToolConfig {
        self.configured.get(name).unwrap_or(&self.default)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&String, &ToolConfig)> {
        self.configured.iter()
    }

    /// What the tool's configuration comes to, to be compared before anything runs.
    pub(crate) fn policy(&self, name: &str) -> Digest {
        self.policies.get(name).copied().unwrap_or_else(|| terms::policy(&self.default, None))
    }

    /// Tools whose approved actions the gate takes itself: to run them, or because they are denied by now and must not wait for ever.
    pub(crate) fn taken_here(&self) -> Vec<String> {
        let run = self.names(|tool| tool.executor != Executor::Pull);
        run.into_iter().chain(self.denied.iter().cloned()).collect()
    }

    /// How long an approval of this tool waits for an agent.
    pub(crate) fn approval_ttl(&self, name: &str) -> Duration {
        self.get(name).approval_ttl.unwrap_or(self.approval_ttl)
    }

    /// Tools whose approved actions agents take, by how long an approval waits for one.
    pub(crate) fn taken_by_agents(&self) -> Vec<(Which, Duration)> {
        let own = |(name, tool): (&String, &ToolConfig)| {
            let is_theirs = tool.executor == Executor::Pull && !self.is_denied(name);
            Some((Which::Only(name.clone()), tool.approval_ttl.filter(|_| is_theirs)?))
        };
        let mut taken: Vec<_> = self.iter().filter_map(own).collect();
        let mut others = self.taken_here();
        others.extend(taken.iter().filter_map(|(which, _)| match which {
            Which::Only(name) => Some(name.clone()),
            Which::AllBut(_) => None,
        }));
        taken.push((Which::AllBut(others), self.approval_ttl));
        taken
    }

    /// Tools that may be run twice.
    pub(crate) fn safe(&self) -> Vec<String> {
        self.names(|tool| tool.retry == Retry::Safe)
    }

    fn names(&self, keep: impl Fn(&ToolConfig) -> bool) -> Vec<String> {
        self.iter().filter(|(_, tool)| keep(tool)).map(|(name, _)| name.clone()).collect()
    }

    /// The configuration where it says something, else the built-in definition.
    pub(crate) fn definition(&self, name: &str) -> Definition {
        let (mine, known) = (self.get(name), tool::definition(name));
        Definition {
            risk: mine.risk.clone().unwrap_or_else(|| known.risk.clone()),
            effect: mine.effect.clone().or_else(|| known.effect.clone()),
            title: mine.title.clone().or_else(|| known.title.clone()),
            approving: known.approving.clone(),
            preview: mine.preview.clone().or_else(|| known.preview.clone()),
        }
    }
}

/// Tools by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Which {
    Only(String),
    AllBut(Vec<String>),
}

/// A proposer may raise the risk, never lower it.
pub(crate) fn raised_risk(tool: &Risk, proposed: Option<&str>) -> Risk {
    let proposed = proposed.map(Risk::parse).filter(|proposed| proposed.rank() > tool.rank());
    proposed.unwrap_or_else(|| tool.clone())
}

/// A proposer may raise the effect, never lower it.
pub(crate) fn raised_effect(tool: Option<&Effect>, proposed: Option<&str>) -> Option<Effect> {
    let floor = tool.map(Effect::rank);
    let proposed =
        proposed.map(Effect::parse).filter(|proposed| floor.is_none_or(|floor| proposed.rank() > floor));
    proposed.or_else(|| tool.cloned())
}

/// Whether a tool could be run from here, as far as it can be told without running it. A program is looked for where it will be: at
/// its path, else in the folders of the `PATH` that it is given.
fn runnable(tool: &ToolConfig, targets: &Targets) -> Result<(), String> {
    match &tool.executor {
        Executor::Command { argv, env } => program::check(argv, env.get("PATH").map(OsString::from), "argv"),
        Executor::Http { url } => targets.check(url),
        Executor::Pull => Ok(()),
    }
}

/// Reads and compiles the schema in this file.
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
    fn a_proposer_can_only_raise() {
        assert_eq!(raised_risk(&Risk::High, Some("low")), Risk::High);
        assert_eq!(raised_risk(&Risk::Medium, Some("critical")), Risk::Critical);
        assert_eq!(raised_risk(&Risk::Medium, Some("spicy")).as_raw(), "spicy");
        assert_eq!(raised_effect(Some(&Effect::External), Some("write")), Some(Effect::External));
        assert_eq!(raised_effect(None, Some("destructive")), Some(Effect::Destructive));
        assert_eq!(raised_effect(Some(&Effect::Write), None), Some(Effect::Write));
    }
}
