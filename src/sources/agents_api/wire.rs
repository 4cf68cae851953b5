//! Actions as agents-api writes them, read tolerantly: PHP's `[]` for `{}`, nulls, and dates that are any text.

use crate::config::AgentsApi as Settings;
use crate::contract::action::Unreadable;
use crate::contract::fields::Fields;
use crate::contract::{pointer, tool};
use crate::domain::{
    ActionId, BatchId, Digest, Effect, PendingAction, RawJson, Risk, Row, Status, Timestamp, Untrusted, json,
};

/// JSON pointers to the session: the custom of agents-api, then Data Machine's.
const SESSIONS: [&str; 2] = ["/metadata/session_id", "/metadata/datamachine/context/session_id"];

/// Returns the raw actions of a list. PHP writes a list with gaps as an object.
pub(super) fn listed(text: &str) -> Option<Vec<&str>> {
    if let Some(found) = json::items(text, "actions") {
        return Some(found.items);
    }
    let numbered = json::members(Fields::of(text)?.raw("actions")?)?;
    Some(numbered.into_iter().map(|member| member.value).collect())
}

/// Returns the raw action of an answer, or its placeholder if the id is unknown; `None` for another answer.
pub(super) fn one(text: &str) -> Option<&str> {
    let members = json::members(text)?;
    members.into_iter().rev().find(|member| member.key.text == "action").map(|member| member.value)
}

/// Returns the id of an item that may not be an action.
pub(super) fn id(text: &str) -> Option<ActionId> {
    let id = Fields::until_broken(text)?.text("actionId").filter(|id| !id.is_empty())?;
    Some(ActionId::new(id.as_raw()))
}

/// Reads an action. `settings` name the members for the tool and the session.
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
        brief: known.brief(kind.as_raw(), &title, input.as_str()),
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

/// Returns the input. `apply_input` may be any JSON, even null, but must be present.
fn input(fields: &Fields<'_>) -> Option<RawJson> {
    let is_there = fields.names().any(|name| name == "apply_input");
    fields.json("applyInput").or_else(|| is_there.then(RawJson::null))
}

/// agents-api runs an accepted call inside the accepting request, so an accepted action has run, and failed if it has
/// an error.
fn status(word: &str, has_error: bool) -> Status {
    match word {
        "accepted" if has_error => Status::Failed,
        "accepted" => Status::Executed,
        "applying" => Status::Running,
        other => Status::parse(other),
    }
}

/// Returns whether this is one of PHP's forms of a missing value.
pub(super) fn is_nothing(json: &str) -> bool {
    matches!(json, "[]" | "{}" | "\"\"" | "" | "null" | "false")
}

fn text_at(text: &str, pointer: &str) -> Option<Untrusted> {
    let raw = pointer::find(text, pointer).filter(|raw| !raw.starts_with(['{', '[']) && !is_nothing(raw))?;
    Some(Untrusted::from(json::decode(raw).text.into_owned()))
}

/// Groups the actions of a kind within a session. Each is decided by itself.
fn batch(kind: &Untrusted, session: Option<&Untrusted>) -> BatchId {
    match session {
        Some(session) => BatchId::new(format!("{}:{}", session.as_raw(), kind.as_raw())),
        None => BatchId::new(kind.as_raw()),
    }
}

/// Returns `site:1`; `None` for PHP's `[]` or null.
fn workspace(fields: &Fields<'_>) -> Option<Untrusted> {
    let inner = Fields::of(fields.raw("workspace")?)?;
    let id = inner.text("workspaceId")?;
    let kind = inner.text("workspaceType").filter(|kind| !kind.is_empty());
    Some(kind.map_or_else(|| id.clone(), |kind| format!("{}:{}", kind.as_raw(), id.as_raw()).into()))
}

/// Unknown effects count as destructive.
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

/// Returns a time; `None` for 0 and for other texts, which agents-api accepts.
fn moment(fields: &Fields<'_>, name: &str) -> Option<Timestamp> {
    fields.time(name).filter(|at| at.as_millis() != 0)
}

/// Digest of the members that a decision is bound to besides the input. Settling does not change them.
fn terms(fields: &Fields<'_>) -> Digest {
    let names = ["kind", "summary", "preview", "agent", "creator", "createdAt", "expiresAt", "metadata"];
    Digest::of_fields("agents-api", names.map(|name| fields.raw(name)))
}

/// Returns a date that cannot be parsed, to be shown unchanged.
pub(super) fn odd_date(text: &str, name: &str) -> Option<Untrusted> {
    let fields = Fields::of(text)?;
    fields.text_or_json(name).filter(|date| !date.is_empty() && moment(&fields, name).is_none())
}
