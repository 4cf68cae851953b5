//! A field of the edit form: the accepted input and the resulting JSON.

use crate::tui::edit::words;
use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::domain::json::Member;
use crate::domain::{IDENTITY_KEYS, RawJson, json};
use crate::schema::Property;

/// Characters from which a string is edited as several lines, where Enter breaks the line.
const ONE_LINE: usize = 200;

#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub key: String,
    pub raw_key: String,
    /// The proposed value, indented; `None` if the proposal lacks the key.
    pub proposed: Option<String>,
    /// The value in the draft; `None` if the draft lacks the key.
    pub value: Option<String>,
    pub kind: Kind,
    pub rule: Option<Property>,
    /// Why the typed text is not a value of this kind.
    pub wrong: Option<&'static str>,
    /// Indices of dropped elements of the proposed list.
    pub dropped: BTreeSet<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    /// Typed as a literal and kept as typed.
    Number,
    Choice(Vec<String>),
    List,
    Json,
}

impl Field {
    pub(crate) fn new(
        key: &str,
        proposed: Option<&Member<'_>>,
        draft: Option<&Member<'_>>,
        rule: Option<&Property>,
    ) -> Self {
        let either = proposed.or(draft);
        let raw_key = either.map_or_else(|| json::encode(key), |member| member.raw_key.to_owned());
        let mut field = Self {
            key: key.to_owned(),
            raw_key,
            proposed: proposed.map(|member| member.value.to_owned()),
            value: draft.map(|member| member.value.to_owned()),
            kind: Kind::Json,
            rule: rule.cloned(),
            wrong: None,
            dropped: BTreeSet::new(),
        };
        field.kind = field.natural();
        field
    }

    /// Returns the kind that the schema gives, or else the value.
    pub(crate) fn natural(&mut self) -> Kind {
        let value = self.value.as_deref().or(self.proposed.as_deref());
        let ruled = self.rule.as_ref().and_then(|rule| by_rule(rule, value));
        let kind = ruled.unwrap_or_else(|| by_value(value));
        match (kind, &self.proposed, &self.value) {
            (Kind::List, Some(old), Some(new)) => match dropped(old, new) {
                Some(dropped) => {
                    self.dropped = dropped;
                    Kind::List
                }
                None => Kind::Json,
            },
            (Kind::List, ..) => Kind::Json,
            (kind, ..) => kind,
        }
    }

    /// Returns true for keys that identify the action's owner.
    pub(crate) fn is_locked(&self) -> bool {
        IDENTITY_KEYS.contains(&self.key.as_str())
    }

    pub(crate) fn is_changed(&self) -> bool {
        match (&self.proposed, &self.value) {
            (Some(old), Some(new)) => old != new && json::compact(old) != json::compact(new),
            (old, new) => old.is_some() != new.is_some(),
        }
    }

    pub(crate) fn text(&self) -> String {
        match (&self.value, &self.kind) {
            (None, _) => String::new(),
            (Some(value), Kind::Text) if value.starts_with('"') => json::decode(value).text.into_owned(),
            (Some(value), Kind::Text) if value == "null" => String::new(),
            (Some(value), Kind::Json) => json::pretty(value),
            (Some(value), _) => value.clone(),
        }
    }

    /// Takes the text of its input field. A value equivalent to the proposed one becomes the proposed one.
    pub(crate) fn type_in(&mut self, text: &str) {
        if self.is_locked() {
            return;
        }
        self.wrong = None;
        if text.is_empty() && self.proposed.is_none() {
            self.value = None;
            return;
        }
        let proposed = self.proposed.as_deref();
        let same = proposed.filter(|old| match self.kind {
            Kind::Text if old.starts_with('"') => json::decode(old).text == text,
            Kind::Text => *old == "null" && text.is_empty(),
            _ => json::compact(old) == json::compact(text),
        });
        if let Some(same) = same {
            self.value = Some(same.to_owned());
            return;
        }
        self.value = Some(match self.kind {
            Kind::Text => json::encode(text),
            _ => text.to_owned(),
        });
        let may_be_null = self.rule.as_ref().is_some_and(|rule| rule.allows("null"));
        self.wrong = match self.kind {
            Kind::Number if !(json::is_number(text) || may_be_null && text == "null") => {
                Some(words::NOT_A_NUMBER)
            }
            Kind::Json | Kind::List if !is_value(text) => Some(words::NOT_JSON),
            _ => None,
        };
    }

    pub(crate) fn takes(&self, c: char) -> bool {
        self.kind != Kind::Number || c.is_ascii_digit() || "+-.eEnul".contains(c)
    }

    pub(crate) fn cycle(&mut self, forward: bool) {
        let Kind::Choice(choices) = &self.kind else { return };
        let at = self.choice();
        let next = match (at, forward) {
            (None, true) => 0,
            (None, false) => choices.len().saturating_sub(1),
            (Some(at), true) => (at + 1) % choices.len().max(1),
            (Some(at), false) => (at + choices.len().saturating_sub(1)) % choices.len().max(1),
        };
        self.pick(next);
    }

    /// Selects the next choice that begins with this character.
    pub(crate) fn jump(&mut self, c: char) {
        let Kind::Choice(choices) = &self.kind else { return };
        let begins = |choice: &String| {
            json::decode(choice).text.chars().next().is_some_and(|first| first.eq_ignore_ascii_case(&c))
        };
        let after = self.choice().map_or(0, |at| at + 1);
        let order = (after..choices.len()).chain(0..after.min(choices.len()));
        if let Some(next) = order.into_iter().find(|nth| choices.get(*nth).is_some_and(begins)) {
            self.pick(next);
        }
    }

    pub(crate) fn choice(&self) -> Option<usize> {
        let (Kind::Choice(choices), Some(value)) = (&self.kind, &self.value) else { return None };
        let value = json::compact(value);
        choices.iter().position(|choice| *choice == value)
    }

    fn pick(&mut self, nth: usize) {
        let Kind::Choice(choices) = &self.kind else { return };
        let Some(choice) = choices.get(nth) else { return };
        let same = self.proposed.as_ref().filter(|old| json::compact(old) == *choice);
        self.value = Some(same.unwrap_or(choice).clone());
        self.wrong = None;
    }

    pub(crate) fn elements(&self) -> Vec<&str> {
        let list = self.proposed.as_deref().filter(|_| self.kind == Kind::List);
        list.and_then(json::elements).unwrap_or_default()
    }

    /// Drops or restores an element of the proposed list. The value becomes the whole new list.
    pub(crate) fn toggle(&mut self, element: usize) {
        if self.is_locked() || element >= self.elements().len() {
            return;
        }
        if !self.dropped.remove(&element) {
            self.dropped.insert(element);
        }
        let kept = self.elements();
        let kept =
            kept.iter().enumerate().filter(|(nth, _)| !self.dropped.contains(nth)).map(|(_, one)| *one);
        let list = json::pretty(&format!("[{}]", kept.collect::<Vec<_>>().join(",")));
        self.value = if self.dropped.is_empty() { self.proposed.clone() } else { Some(list) };
    }

    pub(crate) fn back(&mut self) {
        self.value.clone_from(&self.proposed);
        self.wrong = None;
        self.dropped.clear();
        self.kind = self.natural();
    }

    /// Returns true if Enter breaks the line in this field.
    pub(crate) fn has_lines(&self, text: &[String]) -> bool {
        matches!(self.kind, Kind::Text | Kind::Json)
            && (text.len() > 1 || text.iter().map(|line| line.chars().count()).sum::<usize>() > ONE_LINE)
    }
}

/// Returns true for strict JSON values, without the bare words that the lenient reader accepts from some backends.
fn is_value(text: &str) -> bool {
    let text = text.trim();
    let plain = text.starts_with(['{', '[', '"']) || matches!(text, "null" | "true" | "false");
    RawJson::parse(text).is_ok() && (plain || json::is_number(text))
}

fn by_rule(rule: &Property, value: Option<&str>) -> Option<Kind> {
    let container = value.is_some_and(|value| value.starts_with(['{', '[']));
    let nulls = rule.allows("null").then(|| "null".to_owned());
    if !rule.choices.is_empty() {
        let more = nulls.filter(|null| !rule.choices.contains(null));
        return Some(Kind::Choice(rule.choices.iter().cloned().chain(more).collect()));
    }
    let mut plain = rule.types.iter().filter(|it| *it != "null");
    let (only, None) = (plain.next()?, plain.next()) else { return None };
    match only.as_str() {
        // A string that does not decode losslessly is edited as JSON.
        "string" if value.is_some_and(|value| json::decode(value).lossy) => None,
        "string" if !container => Some(Kind::Text),
        "integer" | "number" if !container => Some(Kind::Number),
        "boolean" => {
            Some(Kind::Choice(["true", "false"].into_iter().map(str::to_owned).chain(nulls).collect()))
        }
        _ => None,
    }
}

fn by_value(value: Option<&str>) -> Kind {
    match value.and_then(|value| value.chars().next()) {
        Some('"') if value.is_some_and(|value| !json::decode(value).lossy) => Kind::Text,
        Some('t' | 'f') => Kind::Choice(vec!["true".to_owned(), "false".to_owned()]),
        Some('[') if value.and_then(json::elements).is_some_and(|list| !list.is_empty()) => Kind::List,
        Some(_) if value.is_some_and(json::is_number) => Kind::Number,
        _ => Kind::Json,
    }
}

/// Returns the indices missing from the new list; `None` if it is not the old list with elements left out.
fn dropped(old: &str, new: &str) -> Option<BTreeSet<usize>> {
    let new = json::elements(new)?;
    let mut rest = new.iter().map(|one| json::compact(one)).peekable();
    let mut dropped = BTreeSet::new();
    for (nth, one) in json::elements(old)?.iter().enumerate() {
        if rest.next_if_eq(&json::compact(one)).is_none() {
            dropped.insert(nth);
        }
    }
    rest.next().is_none().then_some(dropped)
}

pub(crate) fn element_title(element: &str) -> Cow<'_, str> {
    let members = json::members(element).unwrap_or_default();
    let named = ["title", "name", "subject", "summary", "path", "id"].iter().find_map(|name| {
        members.iter().find(|member| member.key.text == *name && member.value.starts_with('"'))
    });
    match named {
        Some(member) => json::decode(member.value).text,
        None if element.starts_with('"') => json::decode(element).text,
        None => Cow::Owned(json::compact(element)),
    }
}
