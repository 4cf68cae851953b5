//! Edits by field: `edit FIELD=VALUE` keeps a draft of the action. Only approving stages it.

use crate::domain::json::Member;
use crate::domain::{Edits, RawJson, Timestamp, json, merge};
use crate::text;
use crate::tui::chrome;
use crate::tui::core::msg::Intent;
use crate::tui::plain::words;
use crate::tui::preview::page::made::Cached;

use super::decide::may_decide;
use super::session::Session;
use super::{browse, sentences};

/// Longest value that is read out in full. Columns.
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
        Some(value) => words::edited(&shown, &value),
        None => words::as_proposed(&shown),
    });
}

fn cached(session: &Session) -> Result<&Cached, &'static str> {
    let key = browse::here(&session.model).ok_or(words::NOTHING_TO_EDIT)?;
    let cached = session.model.preview.cached(&key);
    cached.map(AsRef::as_ref).ok_or(words::CONTENT_NOT_HERE)
}

fn drafted(session: &Session) -> Result<RawJson, String> {
    let cached = cached(session)?;
    let draft = browse::here(&session.model).and_then(|key| session.model.edit.texts.get(&key));
    match draft.filter(|draft| draft.of == cached.digest) {
        Some(draft) => RawJson::parse(draft.text.clone()).map_err(|error| words::edit_is_broken(&error)),
        None => Ok(cached.action.input.clone()),
    }
}

/// Returns the whole input with one field changed; the field keeps its type.
fn changed(session: &Session, field: &str, value: &str) -> Result<String, String> {
    let input = drafted(session)?;
    let members = input.members().ok_or(words::NOT_FIELDS)?;
    let Some(old) = members.iter().find(|member| member.key.text == field) else {
        let names = names(&members);
        return Err(words::no_such_field(&names));
    };
    let new = typed(old.value, value)?;
    let edits = RawJson::parse(format!("{{{}:{new}}}", old.raw_key)).map_err(|error| error.to_string());
    let edits = edits.and_then(|object| Edits::new(object).map_err(|error| error.to_string()));
    let merged = edits.and_then(|edits| merge(&input, &edits).map_err(|error| error.to_string()));
    let merged = merged.map_err(|why| {
        sentences::sentence(&chrome::words::not_edited(&text::line(&why.as_str().into()).plain()))
    })?;
    Ok(json::pretty(merged.as_str()))
}

/// Parses a typed value. A text field takes anything; other fields require a value of their type.
fn typed(old: &str, value: &str) -> Result<String, String> {
    if kind(old) == "text" {
        return serde_json::to_string(value).map_err(|error| error.to_string());
    }
    // Strict JSON: the lenient reader for agents' inputs takes bare words as numbers.
    let new = serde_json::from_str::<&serde_json::value::RawValue>(value).ok().map(|it| it.get().to_owned());
    match new {
        Some(new) if kind(&new) == kind(old) || kind(old) == "empty" => Ok(new),
        Some(_) | None => Err(match kind(old) {
            "empty" => words::FIELD_IS_EMPTY.to_owned(),
            kind => words::wrong_kind(kind),
        }),
    }
}

fn kind(value: &str) -> &'static str {
    match value.trim().bytes().next() {
        Some(b'"') => "text",
        Some(b'{') => words::GROUP_OF_FIELDS,
        Some(b'[') => "list",
        Some(b't' | b'f') => words::TRUE_OR_FALSE,
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

fn fields(session: &mut Session, rest: &str) {
    if !rest.is_empty() {
        return session.say(words::SAY_EDIT);
    }
    let said = drafted(session).and_then(|input| {
        let members = input.members().ok_or(words::NOT_FIELDS)?;
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
            session.say(words::EDIT_HELP);
        }
    }
}

pub(crate) fn revert(session: &mut Session) {
    let had = browse::here(&session.model).is_some_and(|key| session.model.edit.texts.contains_key(&key));
    if !had {
        return session.say(words::NO_EDITS);
    }
    session.give(Intent::Draft(None));
    session.say_heard();
    let staged = browse::here(&session.model)
        .and_then(|key| session.model.decide.draft.get(&key))
        .is_some_and(|staged| staged.decision.edits().is_some());
    session.say(if staged { words::EDITS_DROPPED_STAGED } else { words::EDITS_DROPPED });
}
