//! `placet show ID`: actions in full.

use clap::Args as ClapArgs;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::contract::absent::without_nulls;
use crate::contract::{time, tool};
use crate::domain::{ActionId, ActionKey, Outcome, PendingAction, RawJson, Status, Untrusted, json};
use crate::inbox::{Inbox, SentHere};
use crate::text::{self, People};

use super::args::{Completed, id};
use super::context::{self, PassageJson};
use super::exit::Exit;
use super::find::{SearchedId, find, sent_here};
use super::list::people_of;
use super::output::{self, PersonJson, problem};
use super::report;

/// Print actions in full
#[derive(Debug, ClapArgs)]
pub struct ShowArgs {
    /// The action's id or any unique beginning of it; several are shown one after another
    #[arg(required = true, value_parser = id, add = Completed::Ids)]
    pub id: Vec<String>,
    /// Its source, when several know the id
    #[arg(long, value_name = "NAME", add = Completed::Sources)]
    pub source: Option<String>,
    /// Only the proposed input, byte for byte as its source sent it, for jq; one line each for several
    #[arg(long, conflicts_with = "json")]
    pub raw: bool,
    /// One JSON object a line for each action
    #[arg(long)]
    pub json: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShowJson<'a> {
    source: &'a str,
    /// Computed from the bytes of `toolInput`; `decide --from` takes it as `digest`.
    digest: String,
    /// As the source sent it, byte for byte.
    action: &'a RawValue,
    /// Notes on deciding it; empty unless it is pending.
    before_deciding: Vec<String>,
    context: Vec<PassageJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_problem: Option<String>,
    /// Names of its deciders at the source.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    people: Vec<PersonJson<'a>>,
}

/// Prints actions, one after another. A missing one is reported and does not hide the others. Returns the worst exit
/// code.
pub async fn run(inbox: &Inbox, args: &ShowArgs) -> anyhow::Result<Exit> {
    let sought = |id| SearchedId { id, source: args.source.as_deref(), may_begin: true };
    let sought: Vec<_> = args.id.iter().map(|id| sought(id)).collect();
    let mut exit = Exit::Done;
    for (nth, found) in find(inbox, &sought).await?.into_iter().enumerate() {
        match found {
            Ok((key, action)) if args.raw => raw(&key, &action, sought.len() > 1)?,
            Ok((key, action)) => {
                if nth > 0 && !args.json {
                    output::line("")?;
                }
                one(inbox, &key, &action, args.json).await?;
            }
            Err(not_found) => {
                let Some(one) = sought.get(nth) else { continue };
                let id = not_found.gone.as_ref().map_or_else(|| ActionId::new(one.id), |key| key.id.clone());
                let known = sent_here(inbox, one.source, &id).await?;
                let is_shown = known.is_some() && !args.raw;
                if let Some((key, sent)) = known.filter(|_| !args.raw) {
                    from_journal(&key, &sent, args.json)?;
                }
                if !is_shown || not_found.gone.is_none() {
                    output::complain(&problem(&not_found.problem));
                    exit = if exit == Exit::Failed { exit } else { not_found.exit };
                }
            }
        }
    }
    Ok(exit)
}

/// Prints the journal's record of an action that its source does not have.
fn from_journal(key: &ActionKey, sent: &[SentHere], json: bool) -> anyhow::Result<()> {
    let Some(SentHere { sent: last, .. }) = sent.last() else { return Ok(()) };
    if json {
        return output::versioned(&json!({
            "source": key.source.as_str(),
            "digest": last.digest.to_string(),
            "action": null,
            "beforeDeciding": [],
            "context": [],
            "sentHere": sent.iter().map(sent_json).collect::<Vec<_>>(),
        }));
    }
    field("id", Some(key.id.untrusted()))?;
    field("title", Some(&last.title))?;
    field("tool", Some(&last.tool))?;
    output::line(&format!("{:<12}{} does not have it now", "status", key.source))?;
    field("risk", Some(&last.risk.word()))?;
    output::line(&format!("{:<12}{}", "digest", last.digest))?;
    for (nth, here) in sent.iter().enumerate() {
        output::line(&format!("{:<12}{}", if nth == 0 { "sent here" } else { "" }, sent_text(here)))?;
    }
    if let Some(input) = &last.input {
        output::line("")?;
        behind_gutter(input)?;
    }
    Ok(())
}

fn sent_text(SentHere { at, reviewer, sent }: &SentHere) -> String {
    let decision = sent.decision.kind();
    let by = reviewer.as_deref().map(|by| format!(" by {}", output::name(&by.into())));
    let edits = if sent.decision.edits().is_some() { " with edits" } else { "" };
    let became = report::became(&sent.answer(), edits, sent.followed.as_ref());
    let (at, word) = (output::moment(*at), decision.without_edits().word());
    format!("{at}, {word}{}: {became}", by.unwrap_or_default())
}

fn sent_json(SentHere { at, reviewer, sent }: &SentHere) -> Value {
    let outcome = sent.outcome.as_ref();
    without_nulls(json!({
        "at": time::write(*at),
        "reviewer": reviewer,
        "decision": sent.decision.kind().without_edits().word(),
        "reason": sent.decision.said(),
        "outcome": sent.outcome_word(),
        "why": outcome.and_then(Outcome::why).map(Untrusted::as_raw),
        "resolvedBy": outcome.and_then(Outcome::by).map(Untrusted::as_raw),
        "status": sent.followed.as_ref().map(|seen| seen.status.as_raw()),
    }))
}

/// Writes the bytes unchanged to a pipe. On a terminal, prints them made safe to show.
fn raw(key: &ActionKey, action: &PendingAction, several: bool) -> anyhow::Result<()> {
    if let Some(stand_in) = &action.row.unreadable {
        let id = output::identifier(key.id.untrusted());
        output::complain(&format!("{id} cannot be read: {}; its bytes, as a JSON string", stand_in.what));
    }
    let input = action.input.as_str();
    if output::is_looked_at() {
        for line in text::lines(input) {
            output::line(&line.plain())?;
        }
        return Ok(());
    }
    output::bytes(input.as_bytes())?;
    if several {
        output::bytes(b"\n")?;
    }
    Ok(())
}

async fn one(inbox: &Inbox, key: &ActionKey, action: &PendingAction, json: bool) -> anyhow::Result<()> {
    let context = inbox.context(key, &[]).await;
    let pending = action.row.status.is_pending();
    let told = if pending { action.row.can.told() } else { Vec::new() };
    let mut told: Vec<String> = told.into_iter().map(|(_, words)| words.into_owned()).collect();
    let flags = text::Flags::of(action).reasons();
    if pending && !flags.is_empty() {
        told.push(format!("look twice: {}", flags.join(", ")));
    }
    let is_of_somebody = action.row.deciders().next().is_some();
    let people = if is_of_somebody { people_of(inbox, &key.source).await } else { None }.unwrap_or_default();
    if json {
        let raw: Box<RawValue> = serde_json::from_str(action.raw.as_str().trim())?;
        return output::versioned(&ShowJson {
            source: key.source.as_str(),
            digest: action.digest().to_string(),
            action: &raw,
            before_deciding: told,
            context: context::json(context.as_deref().unwrap_or_default())?,
            context_problem: context.as_ref().err().map(problem),
            people: PersonJson::all(&people, action.row.deciders()),
        });
    }
    text_form(key, action, &told, &people)?;
    context::text_form(&context)
}

fn field(name: &str, value: Option<&Untrusted>) -> std::io::Result<()> {
    let Some(value) = value else { return Ok(()) };
    let shown = match name {
        "agent" => output::name(value),
        "id" | "tool" | "mission" | "batch" | "workspace" => output::identifier(value),
        _ => output::shown(value),
    };
    output::line(&format!("{name:<12}{shown}"))
}

fn approvals(action: &PendingAction, people: &People) -> anyhow::Result<()> {
    let Some(approvals) = &action.row.approvals else { return Ok(()) };
    output::line(&format!("{:<12}{} of {}", "approvals", approvals.given(), approvals.needed))?;
    for approval in &action.approvals {
        let what = if approval.edits.is_some() { "with these edits:" } else { "as proposed" };
        let (by, at) = (people.called(&approval.by, usize::MAX).plain(), output::moment(approval.at));
        output::line(&format!("{:<12}{by}, {at}, {what}", ""))?;
        if let Some(edits) = &approval.edits {
            behind_gutter(edits.as_json())?;
        }
    }
    Ok(())
}

fn status(action: &PendingAction) -> std::io::Result<()> {
    let word = text::status_word(&action.row.status).plain();
    if action.row.status != Status::Unknown {
        return output::line(&format!("{:<12}{word}", "status"));
    }
    output::line(&format!("{:<12}{word}: it ran, and the outcome is unknown", "status"))?;
    let advice = "check the target system, then resolve it in the inbox (t), or POST …/settle";
    output::line(&format!("{:<12}{advice}", ""))?;
    field("error", action.error.as_ref())
}

fn text_form(
    key: &ActionKey,
    action: &PendingAction,
    told: &[String],
    people: &People,
) -> anyhow::Result<()> {
    let row = &action.row;
    let lost = row.status == Status::Unknown;
    field("id", Some(key.id.untrusted()))?;
    let approved = action.approved_edits().filter(|_| row.status.is_pending());
    let title = approved.map(|edits| tool::edited_title(row, &action.input, edits));
    field("title", title.as_ref().or(Some(row.shown_title())))?;
    field("tool", Some(&row.tool))?;
    status(action)?;
    field("risk", Some(&row.risk.word()))?;
    field("batch", row.batch.as_ref().map(crate::domain::BatchId::untrusted))?;
    field("mission", row.mission.as_ref())?;
    field("agent", row.agent.as_ref())?;
    field("workspace", row.workspace.as_ref())?;
    output::line(&format!("{:<12}{}", "created", output::moment(row.created_at)))?;
    if let Some(expires) = row.expires_at {
        output::line(&format!("{:<12}{}", "expires", output::moment(expires)))?;
    }
    if let Some(by) = &row.resolved_by {
        let name = if lost { "approved by" } else { "decided by" };
        let via = row.resolved_via.map_or_else(String::new, |via| format!(" ({})", via.word()));
        output::line(&format!("{name:<12}{}{via}", people.called(by, usize::MAX).plain()))?;
    }
    if let Some(at) = row.resolved_at {
        output::line(&format!("{:<12}{}", "decided", output::moment(at)))?;
    }
    approvals(action, people)?;
    field("reason", action.reason.as_ref())?;
    output::line(&format!("{:<12}{}", "digest", action.digest()))?;
    if let Some(approving) = tool::definition(row.tool.as_raw()).approving.as_deref()
        && row.status.is_pending()
    {
        output::line(&format!("{:<12}{approving}", "approving"))?;
    }
    for (nth, words) in told.iter().enumerate() {
        output::line(&format!("{:<12}{words}", if nth == 0 { "to know" } else { "" }))?;
    }
    doubts(action)?;
    output::line(if lost { "\nwhat ran:" } else { "" })?;
    let effective = action.effective_input.as_ref();
    behind_gutter(effective.unwrap_or(&action.input))?;
    if let Some(before) = &action.before {
        output::line("before, as the agent reports it (not checked):")?;
        behind_gutter(before)?;
    }
    if !lost {
        field("error", action.error.as_ref())?;
    }
    if let Some(result) = &action.result {
        field("result", Some(&json::legible(result.as_str()).as_ref().into()))?;
    }
    field("agent says", action.summary.as_ref())?;
    Ok(())
}

/// Prints JSON with its escapes decoded, for a reader. `--raw` and `--json` have the bytes.
fn behind_gutter(json: &RawJson) -> std::io::Result<()> {
    let text = json::pretty(&json::legible(json.as_str()));
    text::lines(&text).iter().try_for_each(|line| output::line(&format!("│ {}", line.plain())))
}

fn doubts(action: &PendingAction) -> anyhow::Result<()> {
    let keys = json::doubtful_keys(action.input.as_str());
    for (name, found) in [("! twice", keys.duplicates), ("! alike", keys.alike)] {
        if !found.is_empty() {
            let names = text::line(&Untrusted::from(found.join(", ")));
            output::line(&format!("{name:<12}{}", names.plain()))?;
        }
    }
    if let Some(stand_in) = &action.row.unreadable {
        output::line(&format!("{:<12}{}; its bytes:", "! unreadable", stand_in.what))?;
    }
    Ok(())
}
