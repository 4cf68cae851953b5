//! `--dry-run`: freezes the decisions and prints what would be sent, with every digest. Sends and records nothing.

use serde_json::{Value, json};

use crate::cli::exit::Exit;
use crate::cli::find::NotFound;
use crate::cli::output::{self, problem};
use crate::cli::report;
use crate::contract::tool::{self, Reversible};
use crate::domain::{
    ActionKey, BatchId, Binding, Capabilities, Decision, DecisionKind, Item, Refusal, Status, Submission,
    Untrusted,
};
use crate::text;

use super::plan::Plan;

pub(super) struct DryRun {
    /// The decisions that can be sent; all of them if `refused` and `missing` are empty.
    pub(super) submission: Option<Submission>,
    pub(super) refused: Vec<(Option<ActionKey>, Refusal)>,
    pub(super) missing: Vec<NotFound>,
}

/// Prints the dry run. Returns the exit code of the command without `--dry-run`, as far as it is known before
/// sending.
pub(super) fn print(plan: &Plan, rehearsal: &DryRun, json: bool) -> anyhow::Result<Exit> {
    let refuses = !rehearsal.refused.is_empty() || !rehearsal.missing.is_empty();
    if json {
        output::versioned(&as_json(plan, rehearsal, !refuses && rehearsal.submission.is_some()))?;
    } else {
        as_text(plan, rehearsal, refuses)?;
    }
    Ok(exit(rehearsal, !plan.settled.is_empty()))
}

/// Missing actions come first, because the command looks for all actions before it freezes any.
fn exit(rehearsal: &DryRun, skips: bool) -> Exit {
    let worst = rehearsal.missing.iter().map(|missing| missing.exit);
    match worst.max_by_key(|exit| exit.code()) {
        Some(exit) => exit,
        None if !rehearsal.refused.is_empty() => Exit::Failed,
        None if skips => Exit::Skipped,
        None => Exit::Done,
    }
}

pub(super) fn decisions(
    submission: Option<&Submission>,
) -> impl Iterator<Item = (ActionKey, Option<&BatchId>, &Item)> {
    let batches = submission.into_iter().flat_map(Submission::batches);
    batches.flat_map(|batch| {
        let key = |item: &Item| ActionKey { source: batch.source().clone(), id: item.id.clone() };
        batch.items().iter().map(move |item| (key(item), batch.batch(), item))
    })
}

fn as_json(plan: &Plan, rehearsal: &DryRun, would_send: bool) -> Value {
    let batches = rehearsal.submission.iter().flat_map(Submission::batches).map(|batch| {
        let item = |item: &Item| {
            let key = ActionKey { source: batch.source().clone(), id: item.id.clone() };
            decision_json(item, plan.can(&key), &plan.to_know(&key, item))
        };
        json!({
            "source": batch.source().as_str(),
            "batch": batch.batch().map(BatchId::as_raw),
            "items": batch.items().iter().map(item).collect::<Vec<_>>(),
        })
    });
    let skipped = plan.settled.iter().map(|line| {
        json!({
            "source": line.key.source.as_str(),
            "id": line.key.id.as_raw(),
            "status": line.outcome.settled_as().map(Status::as_raw),
            "resolvedBy": line.outcome.by().map(Untrusted::as_raw),
        })
    });
    let refused = rehearsal.refused.iter().map(|(key, refusal)| {
        json!({
            "source": key.as_ref().map(|key| key.source.as_str()),
            "id": key.as_ref().map(|key| key.id.as_raw()),
            "why": refusal.to_string(),
        })
    });
    let missing = rehearsal.missing.iter().map(|missing| problem(&missing.problem));
    json!({
        "dryRun": true,
        "wouldSend": would_send,
        "batches": batches.collect::<Vec<_>>(),
        "skipped": skipped.collect::<Vec<_>>(),
        "refused": refused.collect::<Vec<_>>(),
        "missing": missing.collect::<Vec<_>>(),
    })
}

fn decision_json(item: &Item, can: Capabilities, to_know: &[String]) -> Value {
    json!({
        "id": item.id.as_raw(),
        "tool": item.tool.as_raw(),
        "title": item.title.as_raw(),
        "decision": item.kind().word(),
        "reason": item.decision.said(),
        "digest": item.digest.to_string(),
        "effectiveDigest": item.effective.to_string(),
        "terms": item.terms.map(|terms| terms.to_string()),
        "binding": match can.binding {
            Binding::Source => "source",
            Binding::FreshRead => "fresh_read",
            Binding::ReadOnly => "read_only",
        },
        "final": is_final(item),
        "toKnow": to_know,
    })
}

fn is_final(item: &Item) -> Option<bool> {
    match item.kind() {
        kind if kind.approves() => Some(matches!(reversible(item)?, Reversible::No)),
        kind => Some(kind.rejects()),
    }
}

fn reversible(item: &Item) -> Option<Reversible> {
    tool::showing(item.tool.as_raw()).and_then(|showing| showing.reversible.clone())
}

fn as_text(plan: &Plan, rehearsal: &DryRun, refuses: bool) -> anyhow::Result<()> {
    let (mut batch, mut n_batches) = (None, 0);
    for (key, of, item) in decisions(rehearsal.submission.as_ref()) {
        let here = (key.source.clone(), of.cloned(), of.is_none().then(|| key.id.clone()));
        if batch.as_ref() != Some(&here) {
            n_batches += 1;
            let name = of.map_or_else(|| "alone".to_owned(), |of| output::identifier(of.untrusted()));
            output::line(&format!("{} {name}: {}", key.source, plan.can(&key).binding.promise()))?;
            batch = Some(here);
        }
        decision_text(&key, item, plan)?;
    }
    for line in &plan.settled {
        let outcome = report::outcome(&line.outcome, "");
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
        "would send {} in {}: {} approve, {} approve with edits, {} reject, {} retry; {} skipped; nothing was sent",
        text::count(if refuses { 0 } else { counts.total() }, "decision"),
        text::count(if refuses { 0 } else { n_batches }, "request"),
        counts.get(DecisionKind::Approve),
        counts.get(DecisionKind::ApproveWithEdits),
        counts.get(DecisionKind::Reject),
        counts.get(DecisionKind::Retry),
        plan.settled.len()
    ))?;
    if refuses {
        output::line("because of what is refused or missing, none of it would be sent")?;
    }
    Ok(())
}

fn decision_text(key: &ActionKey, item: &Item, plan: &Plan) -> anyhow::Result<()> {
    let finality = match (&item.decision, is_final(item)) {
        (Decision::Approve { .. }, Some(true)) => ", cannot be undone",
        (Decision::Reject { .. }, Some(true)) => ", final",
        _ => "",
    };
    output::line(&format!(
        "  {}  {}{finality}  {}",
        output::identifier(key.id.untrusted()),
        item.kind().word().replace('_', " "),
        output::shown(&item.title)
    ))?;
    output::line(&format!("    shown    {}", item.digest))?;
    if item.kind().approves() {
        output::line(&format!("    would run {}", item.effective))?;
    }
    if let Some(said) = item.decision.said() {
        output::line(&format!("    saying   {}", output::shown(&said.into())))?;
    }
    for words in plan.to_know(key, item) {
        output::line(&format!("    to know  {words}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::cli::decide::rehearse;
    use crate::domain::{
        ActionId, Approval, BatchKey, Edits, PendingAction, RawJson, Row, SourceName, Staged, Timestamp,
    };
    use crate::inbox::Problem;

    #[test]
    fn approval_of_other_content_names_the_approvals_it_replaces() {
        let now = Timestamp::from_millis(1_800_000_000_000);
        let key = ActionKey { source: SourceName::new("s"), id: ActionId::new("1") };
        let row = Row { can: Capabilities::PLAIN, ..Row::new(key.id.clone(), "t".into(), "T".into()) };
        let mut action = PendingAction::new(row, RawJson::parse(r#"{"n":1}"#).unwrap(), RawJson::null());
        let to_know = |action: &PendingAction, decision: Decision| {
            let batch = BatchKey::Alone(key.clone());
            let staged = Staged { decision, batch, digest: Some(action.digest()), terms: None, at: now };
            let mut plan = Plan { order: vec![key.clone()], ..Plan::default() };
            plan.draft.stage([(key.clone(), Some(staged))]);
            plan.loaded.insert(key.clone(), action.clone());
            let (submission, refused) = rehearse(&mut plan, &HashMap::new(), now);
            let rehearsal = DryRun { submission, refused, missing: Vec::new() };
            as_json(&plan, &rehearsal, true)["batches"][0]["items"][0]["toKnow"].to_string()
        };
        let plain = to_know(&action, Decision::APPROVE);
        let of = |by: &str, input: &str| {
            let effective = action.digest_of(input);
            Approval { by: by.into(), at: now, effective, edits: None }
        };

        let (ann, bob, same) = (of("ann", r#"{"n":5}"#), of("bob", r#"{"n":5}"#), of("ann", r#"{"n":1}"#));

        action.approvals = vec![ann.clone()];
        let replaces = to_know(&action, Decision::APPROVE);
        assert!(replaces.contains("takes the place of ann's approval, of other content"), "{replaces}");
        assert!(!to_know(&action, Decision::REJECT).contains("place"));
        action.approvals = vec![ann, bob];
        let replaces = to_know(&action, Decision::APPROVE);
        assert!(replaces.contains("takes the place of ann's and bob's approvals"), "{replaces}");
        action.approvals = vec![same];
        assert_eq!(to_know(&action, Decision::APPROVE), plain);
    }

    #[test]
    fn edited_decision_is_titled_with_its_edits() {
        let now = Timestamp::from_millis(1_800_000_000_000);
        let key = ActionKey { source: SourceName::new("s"), id: ActionId::new("1") };
        let can = Capabilities { edit: true, ..Capabilities::PLAIN };
        let row = Row { can, ..Row::new(key.id.clone(), "act".into(), "act n=1".into()) };
        let action = PendingAction::new(row, RawJson::parse(r#"{"n":1}"#).unwrap(), RawJson::null());
        let edits = Edits::new(RawJson::parse(r#"{"n":2}"#).unwrap()).unwrap();
        let decision = Decision::Approve { edits: Some(edits), comment: None };
        let batch = BatchKey::Alone(key.clone());
        let staged = Staged { decision, batch, digest: Some(action.digest()), terms: None, at: now };
        let mut plan = Plan { order: vec![key.clone()], ..Plan::default() };
        plan.draft.stage([(key.clone(), Some(staged))]);
        plan.loaded.insert(key, action);

        let (submission, refused) = rehearse(&mut plan, &HashMap::new(), now);
        let rehearsal = DryRun { submission, refused, missing: Vec::new() };
        assert_eq!(as_json(&plan, &rehearsal, true)["batches"][0]["items"][0]["title"], "act n=1 → 2");
    }

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
