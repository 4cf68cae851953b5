//! Editing by fields: `edit FIELD=VALUE` keeps a draft on the action; only approving stages it.

use crate::domain::json::Member;
use crate::domain::{Edits, RawJson, Timestamp, json, merge};
use crate::text;
use crate::tui::core::msg::Intent;
use crate::tui::preview::page::made::Cached;

use super::decide::may_decide;
use super::session::Session;
use super::{browse, sentences};

/// Columns of a value before it is cut.
const LONGEST: usize = 60;

pub(crate) fn edit(session: &mut Session, rest: &str, at: Timestamp) {
    let Some((field, value)) = rest.split_once('=') else { return fields(session, rest) };
    if !may_decide(session, at) {
        return;
    }
    match changed(session, field.trim(), value.trim()) {
        Ok(text) => {
            session.give(Intent::Draft(Some(text)));
            match session.heard() {
                Some(why) => session.say(&why),
                None => kept(session, field.trim()),
            }
        }
        Err(why) => session.say(&why),
    }
}

fn kept(session: &mut Session, field: &str) {
    let Some(key) = browse::here(&session.model) else { return };
    let shown = text::line(&field.into()).plain();
    let value =
        session.model.edit.drafted.get(&key).and_then(|edits| edits.as_json().member(field).map(short));
    session.say(&match value {
        Some(value) => {
            format!("Edited, not staged yet: {shown} becomes {value}. approve stages it, revert drops it.")
        }
        None => format!("{shown} is as it was proposed."),
    });
}

fn cached(session: &Session) -> Result<&Cached, &'static str> {
    let key = browse::here(&session.model).ok_or("Nothing is chosen to edit.")?;
    let cached = session.model.preview.cached(&key);
    cached.map(AsRef::as_ref).ok_or("Its content is not here yet. Say show first.")
}

/// What the input would be with the edits that were made before.
fn drafted(session: &Session) -> Result<RawJson, String> {
    let cached = cached(session)?;
    let draft = browse::here(&session.model).and_then(|key| session.model.edit.texts.get(&key));
    match draft.filter(|draft| draft.of == cached.digest) {
        Some(draft) => RawJson::parse(draft.text.clone())
            .map_err(|error| format!("The edit that was begun is no JSON: {error}. revert drops it.")),
        None => Ok(cached.action.input.clone()),
    }
}

/// The whole text with one field changed; its type is kept.
fn changed(session: &Session, field: &str, value: &str) -> Result<String, String> {
    let input = drafted(session)?;
    let members = input.members().ok_or("This input is not a list of fields; it cannot be edited here.")?;
    let Some(old) = members.iter().find(|member| member.key.text == field) else {
        let names = names(&members);
        return Err(format!("There is no such field. Fields: {names}."));
    };
    let new = typed(old.value, value)?;
    let edits = RawJson::parse(format!("{{{}:{new}}}", old.raw_key)).map_err(|error| error.to_string());
    let edits = edits.and_then(|object| Edits::new(object).map_err(|error| error.to_string()));
    let merged = edits.and_then(|edits| merge(&input, &edits).map_err(|error| error.to_string()));
    let merged = merged.map_err(|why| {
        sentences::sentence(&format!("not edited: {}", text::line(&why.as_str().into()).plain()))
    })?;
    Ok(json::pretty(merged.as_str()))
}

/// A text stays a text, whatever is typed; everything else must be of the same type.
fn typed(old: &str, value: &str) -> Result<String, String> {
    if kind(old) == "text" {
        return serde_json::to_string(value).map_err(|error| error.to_string());
    }
    // Strictly: our own reader lets through what agents send, and `many` is a number to it.
    let new = serde_json::from_str::<&serde_json::value::RawValue>(value).ok().map(|it| it.get().to_owned());
    match new {
        Some(new) if kind(&new) == kind(old) || kind(old) == "empty" => Ok(new),
        Some(_) | None => Err(match kind(old) {
            "empty" => "Not edited: the field is empty, so write its value as JSON, a text in double quotes."
                .to_owned(),
            kind => format!("Not edited: the value must be a {kind}, as JSON."),
        }),
    }
}

fn kind(value: &str) -> &'static str {
    match value.trim().bytes().next() {
        Some(b'"') => "text",
        Some(b'{') => "group of fields",
        Some(b'[') => "list",
        Some(b't' | b'f') => "true or false",
        Some(b'n') | None => "empty",
        Some(_) => "number",
    }
}

fn short(value: &str) -> String {
    let compact = json::compact(value);
    let shown = text::line(&compact.as_str().into());
    if shown.width() <= LONGEST {
        return shown.plain();
    }
    let cut = shown.cut(LONGEST).plain();
    format!("{} (cut)", cut.strip_suffix('…').unwrap_or(&cut))
}

fn names(members: &[Member<'_>]) -> String {
    let names: Vec<String> =
        members.iter().map(|it| text::line(&it.key.text.as_ref().into()).plain()).collect();
    names.join(", ")
}

/// `edit` alone: what there is to edit.
fn fields(session: &mut Session, rest: &str) {
    if !rest.is_empty() {
        return session
            .say("Not edited. Say edit, the field, an equals sign and the new value: edit title=New title.");
    }
    let said = drafted(session).and_then(|input| {
        let members =
            input.members().ok_or("This input is not a list of fields; it cannot be edited here.")?;
        let field = |it: &Member<'_>| {
            let name = text::line(&it.key.text.as_ref().into()).plain();
            format!("{name}, {}: {}", kind(it.value), short(it.value))
        };
        Ok(members.iter().map(field).collect::<Vec<_>>())
    });
    match said {
        Err(why) => session.say(&why),
        Ok(fields) => {
            for field in fields {
                session.say(&field);
            }
            session.say("To change one: edit FIELD=VALUE. The rest of the line is the value.");
        }
    }
}

pub(crate) fn revert(session: &mut Session) {
    let had = browse::here(&session.model).is_some_and(|key| session.model.edit.texts.contains_key(&key));
    if !had {
        return session.say("There are no edits of this action to drop.");
    }
    session.give(Intent::Draft(None));
    session.say_heard();
    let staged = browse::here(&session.model)
        .and_then(|key| session.model.decide.draft.get(&key))
        .is_some_and(|staged| staged.decision.edits().is_some());
    session.say(if staged {
        "The edits are dropped. What is staged still has them: approve stages it without, clear takes it back."
    } else {
        "The edits are dropped."
    });
}
