//! Actions as agents-api writes them, read tolerantly: PHP's `[]` for `{}`, nulls, and dates that are any text.

use crate::config::AgentsApi as Settings;
use crate::contract::action::Unreadable;
use crate::contract::fields::Fields;
use crate::contract::{pointer, tool};
use crate::domain::{
    ActionId, BatchId, Digest, Effect, PendingAction, RawJson, Risk, Row, Status, Timestamp, Untrusted, json,
};

/// Where hosts put the session: agents-api by custom, then Data Machine.
const SESSIONS: [&str; 2] = ["/metadata/session_id", "/metadata/datamachine/context/session_id"];

/// The actions of a list as they stand. PHP writes a list that something was taken out of as an object.
pub(super) fn listed(text: &str) -> Option<Vec<&str>> {
    if let Some(found) = json::items(text, "actions") {
        return Some(found.items);
    }
    let numbered = json::members(Fields::of(text)?.raw("actions")?)?;
    Some(numbered.into_iter().map(|member| member.value).collect())
}

/// The one action of an answer, or what stands in its place where nobody knows it; `None` when this is no such answer.
pub(super) fn one(text: &str) -> Option<&str> {
    let members = json::members(text)?;
    members.into_iter().rev().find(|member| member.key.text == "action").map(|member| member.value)
}

/// The id of what may or may not be an action.
pub(super) fn id(text: &str) -> Option<ActionId> {
    let id = Fields::until_broken(text)?.text("actionId").filter(|id| !id.is_empty())?;
    Some(ActionId::new(id.as_raw()))
}

/// Reads one action; `settings` say where this host keeps the tool and the session.
pub(super) fn action(text: &str, settings: &Settings) -> Result<PendingAction, Unreadable> {
    let unreadable = |what| Unreadable::under(id(text), what, text.into());
    let broken = if text.trim_start().starts_with('{') { "it is no valid JSON" } else { "it is no object" };
    let fields = Fields::of(text).ok_or_else(|| unreadable(broken))?;
    let id = id(text).ok_or_else(|| unreadable("it has no action_id"))?;
    let kind = fields.text("kind").ok_or_else(|| unreadable("it has no kind"))?;
    let input = input(&fields).ok_or_else(|| unreadable("it has no apply_input"))?;
    let word = fields.text("status").ok_or_else(|| unreadable("it has no status"))?;
    let error = fields.text_or_json("resolutionError").filter(|error| !is_nothing(error.as_raw()));
    let status = status(word.as_raw(), error.is_some());
    let found = |pointers: &[&str]| pointers.iter().find_map(|pointer| text_at(text, pointer));
    let named = settings.tool_pointer.as_deref().and_then(|pointer| text_at(text, pointer));
    let session = match &settings.session_pointer {
        Some(pointer) => found(&[pointer.as_str()]),
        None => found(&SESSIONS),
    };
    let result = fields.json("resolutionResult").filter(|_| !status.is_pending());
    let resolved_at = moment(&fields, "resolvedAt");
    let executed_at = resolved_at.filter(|_| matches!(status, Status::Executed | Status::Failed));
    let known = tool::definition(kind.as_raw());
    let title = match fields.text("summary").filter(|title| !title.is_empty()) {
        Some(words) => known.title_beside(kind.as_raw(), input.as_str(), words.as_raw()),
        None => known.title(kind.as_raw(), input.as_str()),
    };
    let title = known.with_preview(title, input.as_str(), fields.raw("preview"));
    let row = Row {
        batch: Some(batch(&kind, session.as_ref())),
        workspace: workspace(&fields),
        run: found(&["/metadata/run_id"]),
        agent: fields.text("agent"),
        risk: risk(&effect(text)),
        effect: Some(effect(text)),
        status,
        created_at: moment(&fields, "createdAt").unwrap_or_default(),
        expires_at: fields.expiry("expiresAt"),
        resolved_at,
        resolved_by: fields.text("resolver").filter(|who| !who.is_empty()),
        session,
        ..Row::new(id, named.unwrap_or(kind), title.into())
    };
    let raw = RawJson::parse(text).map_err(|_| unreadable("it is no valid JSON"))?;
    Ok(PendingAction {
        preview: fields.json("preview").filter(|preview| !is_nothing(preview.as_str())),
        summary: fields.text("summary"),
        requested_by: fields.text("creator"),
        tool_call: found(&["/metadata/tool_call_id"]),
        result: result.filter(|result| !is_nothing(result.as_str())),
        error,
        executed_at,
        terms: Some(terms(&fields)),
        ..PendingAction::new(row, input, raw)
    })
}

/// What runs. `apply_input` may be any JSON, a null too; only leaving it out is none.
fn input(fields: &Fields<'_>) -> Option<RawJson> {
    let is_there = fields.names().any(|name| name == "apply_input");
    fields.json("applyInput").or_else(|| is_there.then(RawJson::null))
}

/// agents-api runs what it accepts inside of the request that accepts it: accepted is executed, unless an error stands beside it.
fn status(word: &str, has_error: bool) -> Status {
    match word {
        "accepted" if has_error => Status::Failed,
        "accepted" => Status::Executed,
        "applying" => Status::Running,
        other => Status::parse(other),
    }
}

/// What PHP writes for something that is not there.
pub(super) fn is_nothing(json: &str) -> bool {
    matches!(json, "[]" | "{}" | "\"\"" | "" | "null" | "false")
}

fn text_at(text: &str, pointer: &str) -> Option<Untrusted> {
    let raw = pointer::find(text, pointer).filter(|raw| !raw.starts_with(['{', '[']) && !is_nothing(raw))?;
    Some(Untrusted::from(json::decode(raw).text.into_owned()))
}

/// All of a kind within a session, decided each by itself.
fn batch(kind: &Untrusted, session: Option<&Untrusted>) -> BatchId {
    match session {
        Some(session) => BatchId::new(format!("{}:{}", session.as_raw(), kind.as_raw())),
        None => BatchId::new(kind.as_raw()),
    }
}

/// `site:1`; none where PHP wrote `[]` or null.
fn workspace(fields: &Fields<'_>) -> Option<Untrusted> {
    let inner = Fields::of(fields.raw("workspace")?)?;
    let id = inner.text("workspaceId")?;
    let kind = inner.text("workspaceType").filter(|kind| !kind.is_empty());
    Some(kind.map_or_else(|| id.clone(), |kind| format!("{}:{}", kind.as_raw(), id.as_raw()).into()))
}

/// What nobody said anything of may destroy.
fn effect(text: &str) -> Effect {
    text_at(text, "/metadata/effect").map_or(Effect::Destructive, |word| Effect::parse(word.as_raw()))
}

fn risk(effect: &Effect) -> Risk {
    match effect {
        Effect::Read => Risk::Low,
        Effect::Write => Risk::Medium,
        Effect::External | Effect::Destructive | Effect::Other(_) => Risk::High,
    }
}

/// A moment; `None` for other texts, which agents-api accepts, and for 0.
fn moment(fields: &Fields<'_>, name: &str) -> Option<Timestamp> {
    fields.time(name).filter(|at| at.as_millis() != 0)
}

/// What else was agreed to. Settling changes none of it.
fn terms(fields: &Fields<'_>) -> Digest {
    let names = ["kind", "summary", "preview", "agent", "creator", "createdAt", "expiresAt", "metadata"];
    Digest::of_fields("agents-api", names.map(|name| fields.raw(name)))
}

/// A date that nobody understood: it is shown as it came.
pub(super) fn odd_date(text: &str, name: &str) -> Option<Untrusted> {
    let fields = Fields::of(text)?;
    fields.text_or_json(name).filter(|date| !date.is_empty() && moment(&fields, name).is_none())
}
