//! `placet show ID`: one action in full.

use futures_util::future::join_all;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::contract::{time, tool};
use crate::domain::{ActionId, ActionKey, PendingAction, Status, Untrusted, json};
use crate::inbox::{Inbox, Problem};
use crate::text;

use super::args::ShowArgs;
use super::around::{self, PassageJson};
use super::list::chosen;
use super::output;
use super::{Exit, Usage, problem};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShowJson<'a> {
    source: &'a str,
    /// Computed here from the bytes of `toolInput`: what `decide --from` takes as `digest`.
    digest: String,
    /// What the source sent, byte for byte.
    action: &'a RawValue,
    /// What to know before deciding it; empty for what is not pending.
    before_deciding: Vec<String>,
    /// What the source knows around it.
    context: Vec<PassageJson<'a>>,
    /// Why that could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    context_problem: Option<String>,
}

/// Prints one action.
pub async fn show(inbox: &Inbox, args: &ShowArgs) -> anyhow::Result<Exit> {
    let (key, action) = match find(inbox, &args.id, args.source.as_deref()).await? {
        Ok(found) => found,
        Err(not_found) => {
            output::complain(&problem(&not_found.problem));
            return Ok(not_found.exit);
        }
    };
    let context = inbox.context(&key).await;
    let pending = action.row.status.is_pending();
    let told = if pending { inbox.capabilities(&key.source, &action.row).told() } else { Vec::new() };
    let told: Vec<String> = told.into_iter().map(|(_, words)| words.into_owned()).collect();
    if args.json {
        let raw: Box<RawValue> = serde_json::from_str(action.raw.as_str().trim())?;
        output::json(&ShowJson {
            source: key.source.as_str(),
            digest: action.digest().to_string(),
            action: &raw,
            before_deciding: told,
            context: around::json(context.as_deref().unwrap_or_default())?,
            context_problem: context.as_ref().err().map(problem),
        })?;
    } else {
        text_form(&key, &action, &told)?;
        around::text_form(&context)?;
    }
    Ok(Exit::Done)
}

/// No source gave the action.
#[derive(Debug)]
pub(super) struct NotFound {
    pub(super) problem: Problem,
    /// Nobody could be asked, or everybody said no.
    pub(super) exit: Exit,
}

/// The one action of that id, wherever it is.
pub(super) async fn find(
    inbox: &Inbox,
    id: &str,
    source: Option<&str>,
) -> anyhow::Result<Result<(ActionKey, PendingAction), NotFound>> {
    let (mut found, mut last, mut reached) = (Vec::new(), None, false);
    let key = |source| ActionKey { source, id: ActionId::new(id) };
    let keys: Vec<ActionKey> = chosen(inbox, source)?.into_iter().map(key).collect();
    // All at once: none waits for another one.
    let looks = keys.iter().map(|key| async move {
        let mut loaded = inbox.load(std::slice::from_ref(key)).await;
        // A source that lists has answered: it does not have the action.
        let lists =
            loaded.iter().any(|(_, action)| action.is_err()) && inbox.sync(&key.source, None).await.is_ok();
        (loaded.pop(), lists)
    });
    for (loaded, lists) in join_all(looks).await {
        reached |= lists;
        match loaded {
            Some((key, Ok(action))) => found.push((key, action)),
            Some((_, Err(problem))) => last = Some(problem),
            None => {}
        }
    }
    if found.len() > 1 {
        return Err(Usage("several sources know this id; name one with --source".to_owned()).into());
    }
    let nobody = || Problem {
        source: None,
        what: "no source knows this id".to_owned(),
        why: Some(Untrusted::from(id)),
    };
    let exit = if reached { Exit::Failed } else { Exit::Unreachable };
    Ok(found.pop().ok_or_else(|| NotFound { problem: last.unwrap_or_else(nobody), exit }))
}

fn field(name: &str, value: Option<&Untrusted>) -> std::io::Result<()> {
    let Some(value) = value else { return Ok(()) };
    let shown = match name {
        "agent" | "decided by" | "approved by" => output::name(value),
        "id" | "tool" | "mission" | "batch" | "workspace" => output::identifier(value),
        _ => output::shown(value),
    };
    output::line(&format!("{name:<12}{shown}"))
}

fn text_form(key: &ActionKey, action: &PendingAction, told: &[String]) -> anyhow::Result<()> {
    let row = &action.row;
    let lost = row.status == Status::Unknown;
    field("id", Some(key.id.untrusted()))?;
    field("title", Some(&row.title))?;
    field("tool", Some(&row.tool))?;
    if lost {
        output::line(&format!("{:<12}unknown: it ran, and nobody knows whether it landed", "status"))?;
        output::line(&format!(
            "{:<12}look in the target, then say so in the inbox (t), or POST …/settle",
            ""
        ))?;
        field("error", action.error.as_ref())?;
    } else {
        field("status", Some(&row.status.word()))?;
    }
    field("risk", Some(&row.risk.word()))?;
    field("batch", row.batch.as_ref().map(crate::domain::BatchId::untrusted))?;
    field("mission", row.mission.as_ref())?;
    field("agent", row.agent.as_ref())?;
    field("workspace", row.workspace.as_ref())?;
    output::line(&format!("{:<12}{}", "created", time::write(row.created_at)))?;
    if let Some(expires) = row.expires_at {
        output::line(&format!("{:<12}{}", "expires", time::write(expires)))?;
    }
    field(if lost { "approved by" } else { "decided by" }, row.resolved_by.as_ref())?;
    if let Some(at) = row.resolved_at {
        output::line(&format!("{:<12}{}", "decided", time::write(at)))?;
    }
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
    for line in text::lines(&json::pretty(effective.unwrap_or(&action.input).as_str())) {
        output::line(&format!("│ {}", line.plain()))?;
    }
    if !lost {
        field("error", action.error.as_ref())?;
    }
    if let Some(result) = &action.result {
        field("result", Some(&Untrusted::from(result.as_str())))?;
    }
    field("agent says", action.summary.as_ref())?;
    Ok(())
}

/// What a reader could take for something else.
fn doubts(action: &PendingAction) -> anyhow::Result<()> {
    let keys = json::doubtful_keys(action.input.as_str());
    for (name, found) in [("! twice", keys.duplicates), ("! alike", keys.alike)] {
        if !found.is_empty() {
            let names = text::line(&Untrusted::from(found.join(", ")));
            output::line(&format!("{name:<12}{}", names.plain()))?;
        }
    }
    if let Some(stand_in) = action.row.unreadable {
        output::line(&format!("{:<12}{}; its bytes:", "! unreadable", stand_in.what))?;
    }
    Ok(())
}
