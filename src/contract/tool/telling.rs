//! Finds the fields that identify a call: common fields by their common names.

use super::money::{self, Money};
use super::said::{cut, said, say};
use crate::domain::IDENTITY_KEYS;
use crate::domain::json::{self, Member};

const LABELS: [&str; 9] =
    ["title", "subject", "name", "summary", "path", "file_path", "file", "query", "command"];
pub(super) const RECIPIENTS: [&str; 8] =
    ["to", "recipient", "recipients", "email", "customer", "customer_email", "user", "assignee"];
/// Characters after which a label is cut if other parts follow.
const LABEL: usize = 60;
/// Maximum plain fields in a title; `SHORT` limits lists and objects in them, in bytes.
const PLAIN: usize = 4;
const SHORT: usize = 40;

/// A run of a title. `key` is the field whose value it shows; `None` for the words around it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) text: String,
    pub(super) key: Option<String>,
}

impl Part {
    pub(super) fn words(text: impl Into<String>) -> Self {
        Self { text: text.into(), key: None }
    }

    pub(super) fn value(key: impl Into<String>, text: impl Into<String>) -> Self {
        Self { text: text.into(), key: Some(key.into()) }
    }
}

pub(super) fn title(tool: &str, input: &str) -> Vec<Part> {
    let telling = joined(input);
    let parts = if telling.is_empty() { plain(input) } else { telling };
    let between = Part::words(if tool.is_empty() || parts.is_empty() { "" } else { " " });
    [vec![Part::words(tool), between], parts].concat()
}

pub(super) fn said_fields(input: &str) -> Vec<String> {
    let members = json::members(input).unwrap_or_default();
    let texts =
        [label(&members), recipient(&members), id(&members)].into_iter().flatten().map(|(_, text)| text);
    texts.chain(money::amounts(&members).iter().map(Money::text)).collect()
}

/// `Hello · 129.90 EUR to ada@a.example · id 7`; empty without telling fields.
fn joined(input: &str) -> Vec<Part> {
    let members = json::members(input).unwrap_or_default();
    let mut deed: Vec<Part> = Vec::new();
    if let Some(money) = money::amounts(&members).into_iter().next() {
        deed.push(Part::value(money.key, money.number));
        if let Some((key, code)) = money.currency {
            deed.extend([Part::words(" "), Part::value(key, code)]);
        }
    }
    if let Some((key, recipient)) = recipient(&members) {
        let before = if deed.is_empty() { "to " } else { " to " };
        deed.extend([Part::words(before), Part::value(key, recipient)]);
    }
    let id = id(&members).map(|(key, id)| vec![Part::words(format!("{key} ")), Part::value(key, id)]);
    let label = label(&members).map(|(key, label)| {
        let most = if deed.is_empty() && id.is_none() { usize::MAX } else { LABEL };
        vec![Part::value(key, cut(&label, most))]
    });
    let deed = Some(deed).filter(|deed| !deed.is_empty());
    let all: Vec<Vec<Part>> = [label, deed, id].into_iter().flatten().collect();
    all.join(&Part::words(" · "))
}

/// Returns the first of these names that has a value, and the value. Of duplicate keys the last counts.
fn first<'a>(members: &'a [Member<'a>], names: &[&str]) -> Option<(&'a str, String)> {
    let of = |name: &&str| members.iter().rev().find(|member| member.key.text.eq_ignore_ascii_case(name));
    names.iter().find_map(|name| of(name).and_then(|member| Some((&*member.key.text, say(member.value)?))))
}

fn label<'a>(members: &'a [Member<'a>]) -> Option<(&'a str, String)> {
    first(members, &LABELS)
}

fn recipient<'a>(members: &'a [Member<'a>]) -> Option<(&'a str, String)> {
    first(members, &RECIPIENTS)
}

/// Returns a field called id, by its whole name or its ending.
fn id<'a>(members: &'a [Member<'a>]) -> Option<(&'a str, String)> {
    let whole = |name: &str| ["id", "number", "key", "slug"].contains(&name);
    let is_id = |name: &str| whole(name) || name.ends_with("_id") || name.ends_with("Id");
    let ids = || members.iter().filter(|member| is_id(&member.key.text) && !is_identity(&member.key.text));
    let found = ids().find(|member| whole(&member.key.text)).or_else(|| ids().next())?;
    Some((found.key.text.as_ref(), say(found.value)?))
}

/// The field says whose action it is, which tells no call from another.
pub(super) fn is_identity(key: &str) -> bool {
    let plain = |key: &str| key.replace(['_', '-'], "").to_ascii_lowercase();
    IDENTITY_KEYS.iter().any(|known| plain(known) == plain(key))
}

/// The first fields with short values: `machine=lathe-2`, `a.b=deep`.
pub(super) fn plain(input: &str) -> Vec<Part> {
    let Some(members) = json::members(input) else {
        let value = json::legible(input);
        let is_short = !matches!(value.as_ref(), "[]" | "null") && value.len() <= SHORT;
        let said = is_short.then(|| said(&value).unwrap_or_else(|| value.into_owned()));
        return said.map(Part::words).into_iter().collect();
    };
    let mut fields: Vec<Vec<Part>> = Vec::new();
    for member in members.iter().filter(|member| !is_identity(&member.key.text)) {
        let key = &member.key.text;
        let field = |name: String, value: &str| {
            Some(vec![Part::words(format!("{name}=")), Part::value(key.as_ref(), short(value)?)])
        };
        match json::members(member.value) {
            Some(inner) => {
                let inner = inner.iter().filter(|inner| !is_identity(&inner.key.text));
                fields.extend(inner.filter_map(|it| field(format!("{key}.{}", it.key.text), it.value)));
            }
            None => fields.extend(field(key.to_string(), member.value)),
        }
        if fields.len() >= PLAIN {
            break;
        }
    }
    fields.truncate(PLAIN);
    fields.join(&Part::words(" "))
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

#[cfg(test)]
mod tests {
    use crate::contract::tool::{TITLE_MAX, definition, leading_amount};
    use crate::domain::RawJson;

    #[test]
    fn title_tells_amounts_and_no_workspace() {
        for (input, want) in [
            (r#"{"to":"ilka","cents":12990}"#, "act 129.90 to ilka"),
            (r#"{"amount":5}"#, "act 5"),
            (r#"{"amount":-5}"#, "act -5"),
            (r#"{"amount":"a lot"}"#, "act amount=a lot"),
            (r#"{"amount_cents":4900,"currency":"JPY"}"#, "act 4900 JPY"),
            (r#"{"fee_cents":1500,"currency":"KWD"}"#, "act 1.500 KWD"),
            (r#"{"priceCents":250,"currency_code":"EUR"}"#, "act 2.50 EUR"),
            (r#"{"cents":1e3}"#, "act 1e3 cents"),
            (r#"{"total":7}"#, "act total=7"),
            (r#"{"total":7,"currency":"EUR"}"#, "act 7 EUR"),
            (r#"{"amount":5,"fee_cents":100,"currency":"EUR"}"#, "act 5 EUR"),
            (r#"{"payload":{"cents":5}}"#, "act 0.05"),
            (r#"{"workspace_id":"w","machine":"l"}"#, "act machine=l"),
            (r#"{"workspaceId":"w","order_id":"7"}"#, "act order_id 7"),
            (r#"{"in":{"workspace_id":"w","n":1},"b":2}"#, "act in.n=1 b=2"),
            (r#"{"session_id":"s"}"#, "act"),
        ] {
            assert_eq!(definition("act").title("act", input), want, "{input}");
        }
    }

    #[test]
    fn amount_in_a_preview_is_marked_as_the_agents() {
        let title = |tool: &str, input: &str, preview: &str| {
            let known = definition(tool);
            known.with_preview(known.title(tool, input), input, Some(preview))
        };
        let input = r#"{"to":"ilka","cents":12990}"#;
        for (tool, input, preview, want) in [
            ("refund", input, r#"{"to":"ilka","EUR":129.9}"#, "refund 129.90 to ilka · agent says 129.9 EUR"),
            (
                "refund",
                r#"{"order":7}"#,
                r#"{"amount":5,"currency":"EUR"}"#,
                "refund order=7 · agent says 5 EUR",
            ),
            ("refund", input, r#"{"RAM":4,"amount":5}"#, "refund 129.90 to ilka"),
            ("refund", input, r#""EUR 5""#, "refund 129.90 to ilka"),
            ("refund", r#"{"amount":1,"currency":"USD"}"#, r#"{"EUR":5}"#, "refund 1 USD"),
            ("create_linear_issue", r#"{"title":"x"}"#, r#"{"EUR":5}"#, "x"),
        ] {
            assert_eq!(title(tool, input, preview), want, "{tool} {input} {preview}");
        }
        let long = title("refund", &format!(r#"{{"title":"{}"}}"#, "x".repeat(300)), r#"{"EUR":5}"#);
        assert!(long.ends_with("… · agent says 5 EUR") && long.chars().count() == TITLE_MAX, "{long}");
    }

    #[test]
    fn amount_that_leads_the_title_is_found() {
        for (tool, input, want) in [
            ("refund_payment", r#"{"currency":"EUR","customer":"a","amount":5}"#, Some("amount")),
            ("refund", r#"{"to":"a","cents":5}"#, Some("cents")),
            ("refund", r#"{"currency":"EUR","to":"a"}"#, None),
            ("pay", r#"{"title":"Rent","amount":5}"#, None),
            ("create_linear_issue", r#"{"team":"x","title":"y"}"#, None),
        ] {
            let input = RawJson::parse(input).unwrap();
            assert_eq!(leading_amount(&tool.into(), &input).as_deref(), want, "{tool}");
        }
    }
}
