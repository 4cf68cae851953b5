//! Finds the fields that identify a call: common fields by their common names.

use crate::domain::json::{self, Member};

const LABELS: [&str; 9] =
    ["title", "subject", "name", "summary", "path", "file_path", "file", "query", "command"];
const AMOUNTS: [&str; 5] = ["amount", "total", "sum", "price", "value"];
const RECIPIENTS: [&str; 8] =
    ["to", "recipient", "recipients", "email", "customer", "customer_email", "user", "assignee"];
/// Characters after which a label is cut if other parts follow.
const LABEL: usize = 60;
/// Maximum plain fields in a title; `SHORT` limits lists and objects in them, in bytes.
const PLAIN: usize = 4;
const SHORT: usize = 40;

pub(super) fn title(tool: &str, input: &str) -> String {
    let telling = joined(input);
    let parts = if telling.is_empty() { plain(input).join(" ") } else { telling };
    format!("{tool} {parts}").trim_end().to_owned()
}

pub(super) fn parts(input: &str) -> Vec<String> {
    let members = json::members(input).unwrap_or_default();
    let found = [label(&members), amount(&members), recipient(&members), id(&members).map(|(_, id)| id)];
    found.into_iter().flatten().collect()
}

/// `Hello · 129.90 EUR to ada@a.example · id 7`; empty without telling fields.
fn joined(input: &str) -> String {
    let members = json::members(input).unwrap_or_default();
    let recipient = recipient(&members).map(|recipient| format!("to {recipient}"));
    let deed: Vec<String> = [amount(&members), recipient].into_iter().flatten().collect();
    let deed = Some(deed.join(" ")).filter(|deed| !deed.is_empty());
    let id = id(&members).map(|(key, id)| format!("{key} {id}"));
    let label = label(&members).map(|label| {
        let is_long = (deed.is_some() || id.is_some()) && label.chars().count() > LABEL;
        if is_long { label.chars().take(LABEL - 1).chain(['…']).collect() } else { label }
    });
    [label, deed, id].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// Returns the value of the first of these names that has one. Of duplicate keys the last counts.
fn first<'a>(members: &'a [Member<'a>], names: &[&str]) -> Option<&'a str> {
    let of = |name: &&str| members.iter().rev().find(|member| member.key.text.eq_ignore_ascii_case(name));
    names.iter().find_map(|name| of(name).map(|member| member.value).filter(|value| say(value).is_some()))
}

fn label(members: &[Member<'_>]) -> Option<String> {
    say(first(members, &LABELS)?)
}

/// An amount with its currency. A number alone may be anything.
pub(super) fn money(members: &[Member<'_>]) -> Option<(String, String)> {
    say(first(members, &AMOUNTS)?).zip(say(first(members, &["currency"])?))
}

fn amount(members: &[Member<'_>]) -> Option<String> {
    money(members).map(|(amount, currency)| format!("{amount} {currency}"))
}

fn recipient(members: &[Member<'_>]) -> Option<String> {
    say(first(members, &RECIPIENTS)?)
}

/// Returns a field called id, by its whole name or its ending.
fn id<'a>(members: &'a [Member<'a>]) -> Option<(&'a str, String)> {
    let whole = |name: &str| ["id", "number", "key", "slug"].contains(&name);
    let is_id = |name: &str| whole(name) || name.ends_with("_id") || name.ends_with("Id");
    let ids = || members.iter().filter(|member| is_id(&member.key.text));
    let found = ids().find(|member| whole(&member.key.text)).or_else(|| ids().next())?;
    Some((found.key.text.as_ref(), say(found.value)?))
}

/// Returns a value, or the first of a list and the number of others.
fn say(value: &str) -> Option<String> {
    let Some(elements) = json::elements(value) else { return said(value) };
    let (first, rest) = elements.split_first()?;
    let first = said(first)?;
    Some(if rest.is_empty() { first } else { format!("{first} and {} more", rest.len()) })
}

/// The first fields with short values: `machine=lathe-2`, `a.b=deep`.
pub(super) fn plain(input: &str) -> Vec<String> {
    let Some(members) = json::members(input) else {
        let value = json::legible(input);
        let is_short = !matches!(value.as_ref(), "[]" | "null") && value.len() <= SHORT;
        return is_short.then(|| said(&value).unwrap_or_else(|| value.into_owned())).into_iter().collect();
    };
    let mut parts = Vec::new();
    for member in &members {
        match json::members(member.value) {
            Some(inner) => {
                let of = |inner: &Member<'_>| {
                    Some(format!("{}.{}={}", member.key.text, inner.key.text, short(inner.value)?))
                };
                parts.extend(inner.iter().filter_map(of));
            }
            None => parts.extend(short(member.value).map(|value| format!("{}={value}", member.key.text))),
        }
        if parts.len() >= PLAIN {
            break;
        }
    }
    parts.truncate(PLAIN);
    parts
}

fn short(value: &str) -> Option<String> {
    said(value).or_else(|| {
        if value.len() > 4 * SHORT {
            return None;
        }
        let compact = json::compact(&json::legible(value));
        (compact.starts_with('[') && compact.len() > 2 && compact.len() <= SHORT).then_some(compact)
    })
}

/// Returns a decoded string, or a number as written; `None` for containers, null and empty strings.
pub(super) fn said(value: &str) -> Option<String> {
    let plain = !value.starts_with(['{', '[']) && value != "null";
    plain.then(|| json::decode(value).text.into_owned()).filter(|text| !text.trim().is_empty())
}

/// Characters after which a first line is cut, so that the rest of the title stays visible.
const FIRST_LINE: usize = 120;

/// Returns the first line that is neither empty nor a comment, and the number of others: `cd /srv … +2 lines`.
pub(super) fn first_line(text: &str) -> String {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines().find(|line| !line.starts_with('#')).or_else(|| lines().next()).unwrap_or_default();
    let is_long = first.chars().count() > FIRST_LINE;
    let first: String = first.chars().take(FIRST_LINE).collect();
    match (lines().count().saturating_sub(1), is_long) {
        (0, false) => first,
        (0, true) => first + "…",
        (1, _) => first + " … +1 line",
        (more, _) => format!("{first} … +{more} lines"),
    }
}

/// Describes a patch in the format of Codex's `apply_patch`: `update a.rs, add b.rs and 1 more`. `None` if it names no
/// file.
pub(super) fn patched(text: &str) -> Option<String> {
    const HEADS: [(&str, &str); 3] =
        [("*** Update File: ", "update"), ("*** Add File: ", "add"), ("*** Delete File: ", "delete")];
    let file = |line: &str| {
        HEADS.iter().find_map(|(head, deed)| Some(format!("{deed} {}", line.strip_prefix(head)?.trim())))
    };
    let mut files = text.lines().filter_map(file);
    let told: Vec<String> = files.by_ref().take(2).collect();
    match files.count() {
        _ if told.is_empty() => None,
        0 => Some(told.join(", ")),
        more => Some(format!("{} and {more} more", told.join(", "))),
    }
}
