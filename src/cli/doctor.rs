//! `placet doctor`: checks this machine and each source, and gives advice.

use std::time::Duration;

use clap::Args as ClapArgs;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use serde_json::{Value, json};

use crate::config::{SourceConfig, TokenFrom};
use crate::domain::{Check, Untrusted, Verdict};
use crate::sources;

use super::args::Completed;
use super::exit::{Exit, Usage};
use super::output;

/// Check this machine and every source, and say what to fix
#[derive(Debug, ClapArgs)]
pub struct DoctorArgs {
    /// Only this source
    #[arg(long, value_name = "NAME", add = Completed::Sources)]
    pub source: Option<String>,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

const LIMIT: Duration = Duration::from_secs(30);
/// Limit for asking a source its clock; no retry.
const CLOCK_LIMIT: Duration = Duration::from_secs(5);
/// Difference between clocks above which a note is shown, because expiry uses this computer's clock.
const CLOCKS_APART: Duration = Duration::from_mins(2);

/// Check results, printed as they come, or all at the end as JSON.
#[derive(Debug)]
pub struct Findings {
    json: bool,
    sections: Vec<Section>,
}

#[derive(Debug)]
struct Section {
    source: Option<SourceLabel>,
    checks: Vec<Check>,
}

#[derive(Clone, Debug)]
struct SourceLabel {
    name: String,
    kind: &'static str,
    url: String,
}

impl Findings {
    pub const fn new(args: &DoctorArgs) -> Self {
        Self { json: args.json, sections: Vec::new() }
    }

    pub fn here(&mut self, checks: Vec<Check>) -> anyhow::Result<()> {
        self.add(Section { source: None, checks })
    }

    fn add(&mut self, section: Section) -> anyhow::Result<()> {
        if !self.json {
            section.text().iter().try_for_each(|line| output::line(line))?;
        }
        self.sections.push(section);
        Ok(())
    }

    fn count(&self, verdict: Verdict) -> usize {
        let checks = self.sections.iter().flat_map(|section| &section.checks);
        checks.filter(|check| check.verdict == verdict).count()
    }

    /// Prints the last line, or the JSON. Notes do not count as failures.
    pub fn end(&self) -> anyhow::Result<Exit> {
        let (bad, warn) = (self.count(Verdict::Bad), self.count(Verdict::Warn));
        if self.json {
            let checks: Vec<_> = self.sections.iter().flat_map(Section::json).collect();
            let placet = env!("CARGO_PKG_VERSION");
            output::versioned(&json!({"placet": placet, "bad": bad, "warn": warn, "checks": checks}))?;
        } else {
            output::line(&match (bad, warn) {
                (0, 0) => "all is well".to_owned(),
                (0, warn) => format!("all works; {warn} to know"),
                (bad, 0) => format!("{bad} wrong"),
                (bad, warn) => format!("{bad} wrong, {warn} to know"),
            })?;
        }
        Ok(if bad > 0 { Exit::Failed } else { Exit::Done })
    }
}

impl Section {
    fn text(&self) -> Vec<String> {
        let head = self.source.as_ref().map_or_else(
            || "this machine".to_owned(),
            |place| format!("{} ({}, {})", place.name, place.kind, place.url),
        );
        let mut lines = vec![head];
        for check in &self.checks {
            let mark = match check.verdict {
                Verdict::Good => "ok",
                Verdict::Warn => "note",
                Verdict::Bad => "WRONG",
            };
            // An error may contain line breaks or bytes of a file.
            let mut found = check.found.lines().map(|line| output::shown(&Untrusted::from(line)));
            let first = found.next().unwrap_or_default();
            lines.push(format!("  {mark:5}  {:14} {first}", check.what));
            lines.extend(found.map(|line| format!("{:24}{line}", "")));
            if let Some(said) = check.said.as_ref().filter(|said| !said.is_empty()) {
                lines.push(format!("{:24}it said: {}", "", output::shown(said)));
            }
            if !check.advice.is_empty() {
                lines.push(format!("{:24}do: {}", "", check.advice));
            }
        }
        lines
    }

    /// The source is null for this machine. The other side's message is unchanged.
    fn json(&self) -> impl Iterator<Item = Value> {
        let source = self.source.as_ref();
        self.checks.iter().map(move |check| {
            let mut told = json!({
                "source": source.map(|source| &source.name),
                "kind": source.map(|source| source.kind),
                "url": source.map(|source| &source.url),
                "what": check.what,
                "verdict": match check.verdict {
                    Verdict::Good => "good",
                    Verdict::Warn => "warn",
                    Verdict::Bad => "bad",
                },
                "found": check.found,
            });
            let said = check.said.as_ref().map(Untrusted::as_raw);
            let advice: &str = &check.advice;
            let advice = Some(advice).filter(|advice| !advice.is_empty());
            for (name, text) in [("said", said), ("advice", advice)] {
                if let (Some(text), Some(told)) = (text, told.as_object_mut()) {
                    told.insert(name.to_owned(), text.into());
                }
            }
            told
        })
    }
}

pub fn chosen(all: Vec<SourceConfig>, args: &DoctorArgs) -> Result<Vec<SourceConfig>, Usage> {
    let Some(name) = &args.source else { return Ok(all) };
    let chosen: Vec<_> = all.into_iter().filter(|source| source.name.as_str() == name).collect();
    if chosen.is_empty() { Err(Usage(format!("no source is called {name:?}"))) } else { Ok(chosen) }
}

/// Checks all sources concurrently and prints each as it answers. Only reads.
pub async fn run(findings: &mut Findings, configs: &[SourceConfig]) -> anyhow::Result<()> {
    let looks = configs.iter().map(|config| async move {
        let place =
            SourceLabel { name: config.name.to_string(), kind: config.kind.word(), url: config.url.clone() };
        Section { source: Some(place), checks: look(config).await }
    });
    let mut looks: FuturesUnordered<_> = looks.collect();
    while let Some(section) = looks.next().await {
        findings.add(section)?;
    }
    Ok(())
}

async fn look(config: &SourceConfig) -> Vec<Check> {
    let source = match sources::open_to_look(config) {
        Ok(source) => source,
        Err(error) => {
            return vec![Check::bad("set-up", error.to_string(), "correct it in the configuration")];
        }
    };
    if let Some(wrong) = token(config.token.clone()).await {
        return vec![wrong];
    }
    let clock = tokio::time::timeout(CLOCK_LIMIT, sources::clock(config));
    let (mut checks, clock) = tokio::join!(source.check(LIMIT), clock);
    checks.extend(clock.ok().flatten().and_then(apart));
    checks
}

async fn token(from: Option<TokenFrom>) -> Option<Check> {
    let from = from?;
    let read = tokio::task::spawn_blocking(move || from.read().map(drop).map_err(|error| error.to_string()));
    let advice = "check token_env, token_file or token_command of this source";
    match tokio::time::timeout(LIMIT, read).await {
        Ok(Ok(Ok(()))) => None,
        Ok(Ok(Err(error))) => Some(Check::bad("token", format!("cannot be read: {error}"), advice)),
        Ok(Err(error)) => Some(Check::bad("token", format!("cannot be read: {error}"), advice)),
        Err(_) => Some(Check::bad("token", format!("not there within {} s", LIMIT.as_secs()), advice)),
    }
}

/// Returns a note if the clock of the source, which is `ahead` by these milliseconds, differs too much.
fn apart(ahead: i64) -> Option<Check> {
    let by = Duration::from_millis(ahead.unsigned_abs());
    let way = if ahead > 0 { "ahead of" } else { "behind" };
    let words =
        format!("its clock is {} min {way} this computer's, by which expiry is judged", by.as_secs() / 60);
    (by > CLOCKS_APART).then(|| Check::warn("clock", words, "set both clocks by the network (NTP)"))
}

#[cfg(test)]
mod tests;
