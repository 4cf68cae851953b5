//! `--dry-run`: the very same freeze, and what it would send, with every digest; nothing is sent, nothing is written down.

use serde::Serialize;

use crate::cli::exit::Exit;
use crate::cli::find::NotFound;
use crate::cli::output::{self, problem};
use crate::cli::report;
use crate::contract::tool::{self, Reversible};
use crate::domain::{
    ActionKey, BatchId, Binding, Capabilities, Decision, Item, Refusal, Submission, Untrusted,
};
use crate::inbox::{outcome_words, settled_as};
use crate::text;

use super::plan::Plan;

/// What freezing everything came to.
pub(super) struct DryRun {
    /// What can be sent; all of it only when nothing is refused.
    pub(super) submission: Option<Submission>,
    pub(super) refused: Vec<(Option<ActionKey>, Refusal)>,
    pub(super) missing: Vec<NotFound>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DryJson<'a> {
    dry_run: bool,
    /// `false`: something is refused or missing, so that the whole would be refused.
    would_send: bool,
    batches: Vec<BatchJson<'a>>,
    skipped: Vec<SkippedJson<'a>>,
    refused: Vec<RefusedJson<'a>>,
    /// Ids that no source gave, in words.
    missing: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BatchJson<'a> {
    source: &'a str,
    batch: Option<&'a str>,
    items: Vec<DecisionJson<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DecisionJson<'a> {
    id: &'a str,
    tool: &'a str,
    title: &'a str,
    decision: &'static str,
    reason: Option<&'a str>,
    /// Of the content that is decided.
    digest: String,
    /// Of what would run: the content with the edits.
    effective_digest: String,
    terms: Option<String>,
    binding: &'static str,
    /// `null`: it is not known whether what approving does can be undone.
    r#final: Option<bool>,
    /// What else goes with it, in words.
    to_know: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SkippedJson<'a> {
    source: &'a str,
    id: &'a str,
    status: Option<&'a str>,
    resolved_by: Option<&'a str>,
}

#[derive(Serialize)]
struct RefusedJson<'a> {
    source: Option<&'a str>,
    id: Option<&'a str>,
    why: String,
}

/// Prints it. Ends as the command without `--dry-run` would, but for what only sending can tell.
pub(super) fn print(
    plan: &Plan,
    rehearsal: &DryRun,
    can: impl Fn(&ActionKey) -> Capabilities,
    json: bool,
) -> anyhow::Result<Exit> {
    let refuses = !rehearsal.refused.is_empty() || !rehearsal.missing.is_empty();
    if json {
        as_json(plan, rehearsal, &can, !refuses && rehearsal.submission.is_some())?;
    } else {
        as_text(plan, rehearsal, &can, refuses)?;
    }
    Ok(exit(rehearsal, !plan.settled.is_empty()))
}

/// In the order of the command without `--dry-run`: it looks for everything before it freezes anything.
fn exit(rehearsal: &DryRun, skips: bool) -> Exit {
    let worst = rehearsal.missing.iter().map(|missing| missing.exit);
    match worst.max_by_key(|exit| exit.code()) {
        Some(exit) => exit,
        None if !rehearsal.refused.is_empty() => Exit::Failed,
        None if skips => Exit::Skipped,
        None => Exit::Done,
    }
}

fn decisions(rehearsal: &DryRun) -> impl Iterator<Item = (ActionKey, Option<&BatchId>, &Item)> {
    let batches = rehearsal.submission.iter().flat_map(Submission::batches);
    batches.flat_map(|batch| {
        let key = |item: &Item| ActionKey { source: batch.source().clone(), id: item.id.clone() };
        batch.items().iter().map(move |item| (key(item), batch.batch(), item))
    })
}

fn as_json(
    plan: &Plan,
    rehearsal: &DryRun,
    can: &impl Fn(&ActionKey) -> Capabilities,
    would_send: bool,
) -> anyhow::Result<()> {
    let batches = rehearsal.submission.iter().flat_map(Submission::batches).map(|batch| BatchJson {
        source: batch.source().as_str(),
        batch: batch.batch().map(BatchId::as_raw),
        items: batch
            .items()
            .iter()
            .map(|item| {
                let key = ActionKey { source: batch.source().clone(), id: item.id.clone() };
                decision_json(item, can(&key))
            })
            .collect(),
    });
    let skipped = plan.settled.iter().map(|line| SkippedJson {
        source: line.key.source.as_str(),
        id: line.key.id.as_raw(),
        status: settled_as(&line.outcome),
        resolved_by: outcome_words(&line.outcome).2.map(Untrusted::as_raw),
    });
    let refused = rehearsal.refused.iter().map(|(key, refusal)| RefusedJson {
        source: key.as_ref().map(|key| key.source.as_str()),
        id: key.as_ref().map(|key| key.id.as_raw()),
        why: refusal.to_string(),
    });
    output::versioned(&DryJson {
        dry_run: true,
        would_send,
        batches: batches.collect(),
        skipped: skipped.collect(),
        refused: refused.collect(),
        missing: rehearsal.missing.iter().map(|missing| problem(&missing.problem)).collect(),
    })
}

fn decision_json(item: &Item, can: Capabilities) -> DecisionJson<'_> {
    DecisionJson {
        id: item.id.as_raw(),
        tool: item.tool.as_raw(),
        title: item.title.as_raw(),
        decision: report::kind(item.kind()),
        reason: item.decision.said(),
        digest: item.digest.to_string(),
        effective_digest: item.effective.to_string(),
        terms: item.terms.map(|terms| terms.to_string()),
        binding: match can.binding {
            Binding::Source => "source",
            Binding::FreshRead => "fresh_read",
            Binding::ReadOnly => "read_only",
        },
        r#final: is_final(item),
        to_know: can.told_of(&item.decision).into_iter().map(std::borrow::Cow::into_owned).collect(),
    }
}

fn is_final(item: &Item) -> Option<bool> {
    match &item.decision {
        Decision::Reject { .. } => Some(true),
        Decision::Retry { .. } => Some(false),
        Decision::Approve { .. } => match reversible(item)? {
            Reversible::No => Some(true),
            Reversible::Yes | Reversible::ByHand(_) => Some(false),
        },
    }
}

fn reversible(item: &Item) -> Option<Reversible> {
    tool::showing(item.tool.as_raw()).and_then(|showing| showing.reversible.clone())
}

fn as_text(
    plan: &Plan,
    rehearsal: &DryRun,
    can: &impl Fn(&ActionKey) -> Capabilities,
    refuses: bool,
) -> anyhow::Result<()> {
    let (mut batch, mut n_batches) = (None, 0);
    for (key, of, item) in decisions(rehearsal) {
        let here = (key.source.clone(), of.cloned(), of.is_none().then(|| key.id.clone()));
        if batch.as_ref() != Some(&here) {
            n_batches += 1;
            let name = of.map_or_else(|| "alone".to_owned(), |of| output::identifier(of.untrusted()));
            output::line(&format!("{} {name}: {}", key.source, can(&key).binding.promise()))?;
            batch = Some(here);
        }
        decision_text(&key, item, can(&key))?;
    }
    for line in &plan.settled {
        let outcome = report::outcome(line.decision, &line.outcome, "");
        output::line(&format!("{}  {outcome}", output::identifier(line.key.id.untrusted())))?;
    }
    for (key, refusal) in &rehearsal.refused {
        let id = key.as_ref().map(|key| format!("{}  ", output::identifier(key.id.untrusted())));
        output::line(&format!("{}refused: {refusal}", id.unwrap_or_default()))?;
    }
    for missing in &rehearsal.missing {
        output::line(&format!("! {}", problem(&missing.problem)))?;
    }
    let counts = plan.draft.counts();
    output::line(&format!(
        "would send {} in {}: {} approve, {} approve with edits, {} reject; {} skipped; nothing was sent",
        text::count(if refuses { 0 } else { counts.total() }, "decision"),
        text::count(if refuses { 0 } else { n_batches }, "request"),
        counts.approve,
        counts.edit,
        counts.reject,
        plan.settled.len()
    ))?;
    if refuses {
        output::line("because of what is refused or missing, none of it would be sent")?;
    }
    Ok(())
}

fn decision_text(key: &ActionKey, item: &Item, can: Capabilities) -> anyhow::Result<()> {
    let finality = match (&item.decision, is_final(item)) {
        (Decision::Approve { .. }, Some(true)) => ", cannot be undone",
        (Decision::Reject { .. }, Some(true)) => ", final",
        _ => "",
    };
    output::line(&format!(
        "  {}  {}{finality}  {}",
        output::identifier(key.id.untrusted()),
        report::kind(item.kind()).replace('_', " "),
        output::shown(&item.title)
    ))?;
    output::line(&format!("    shown    {}", item.digest))?;
    if item.kind().approves() {
        output::line(&format!("    would run {}", item.effective))?;
    }
    if let Some(said) = item.decision.said() {
        output::line(&format!("    saying   {}", output::shown(&said.into())))?;
    }
    for words in can.told_of(&item.decision) {
        output::line(&format!("    to know  {words}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inbox::Problem;

    #[test]
    fn it_ends_as_the_command_itself_would() {
        let missing = |exit| NotFound {
            problem: Problem { source: None, what: "cannot be reached".to_owned(), why: None },
            exit,
            gone: None,
        };
        let of = |refused: usize, missing: Vec<NotFound>| {
            let refused = (0..refused).map(|_| (None, Refusal::Empty)).collect();
            exit(&DryRun { submission: None, refused, missing }, true)
        };

        let both = vec![missing(Exit::Failed), missing(Exit::Unreachable)];
        assert_eq!(of(1, both), Exit::Unreachable, "nothing is frozen before everything is found");
        assert_eq!(of(1, Vec::new()), Exit::Failed);
        assert_eq!(of(0, Vec::new()), Exit::Skipped);
    }
}
