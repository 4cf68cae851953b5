//! The short fields of an input, for the columns of a list.

use super::definition::{Definition, bounded, inner, showing, text_of};
use super::money::{self, Money};
use super::said::{cut, say};
use super::telling::{self, is_identity};
use crate::domain::RawJson;
use crate::domain::json::{self, Member};

/// Most fields of a brief, and the most characters of a text and bytes of another value in it.
const FIELDS: usize = 8;
const MEMBERS: usize = 100;
const TEXT: usize = 120;
const VALUE: usize = 120;
/// Templates with a computed value say more than the fields.
const COMPUTED: [&str; 3] = ["{#", "{^", "{+"];
/// Names of a record or a place, after those of recipients.
const PLACES: [&str; 9] =
    ["account", "account_id", "path", "file_path", "file", "repo", "repository", "url", "issue_id"];

/// A value of a row, for its column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    pub key: String,
    /// As people read it: an amount in units of its currency, a text without quotes.
    pub text: String,
    /// The JSON value. Different values may have one text.
    raw: String,
    pub is_number: bool,
    /// The currency of an amount, as in the input.
    pub unit: Option<String>,
}

impl Cell {
    /// Whether the brief may have cut it, so that equal cells may come from different values.
    pub fn may_be_cut(&self) -> bool {
        self.text.chars().count() >= TEXT
    }
}

impl Definition {
    /// Returns the short fields of an input: those of the title, money, recipient, place, then the others. `None` if
    /// the title is not made from fields alone, or a field of it is long.
    pub fn brief(&self, tool: &str, title: &str, input: &str) -> Option<RawJson> {
        let template = self.title.as_deref().unwrap_or_default();
        let parts = self.parts(tool, input);
        if COMPUTED.iter().any(|hole| template.contains(hole)) || bounded(&text_of(&parts)) != title {
            return None;
        }
        let members = json::members(inner(input)).filter(|members| members.len() <= MEMBERS)?;
        let first: Vec<String> = parts.into_iter().filter_map(|part| part.key).collect();
        let amounts = money::amounts(&members);
        let ranked = |it: &Member<'_>| rank(tool, &first, &amounts, &it.key.text);
        let mut fields = short_fields(&members);
        fields.sort_by(|(one, _), (other, _)| {
            (ranked(one), &one.key.text).cmp(&(ranked(other), &other.key.text))
        });
        let is_kept = |key: &String| fields.iter().any(|(member, _)| member.key.text == key.as_str());
        if fields.is_empty() || !first.iter().all(is_kept) {
            return None;
        }
        fields.truncate(FIELDS.max(first.len()));
        Some(object(&fields))
    }
}

type Field<'a> = (&'a Member<'a>, String);

/// Returns the fields with values that fit into a row. Of duplicate keys the last counts.
fn short_fields<'a>(members: &'a [Member<'a>]) -> Vec<Field<'a>> {
    let is_last = |(nth, it): &(usize, &Member<'_>)| {
        members.iter().skip(nth + 1).all(|other| other.key.text != it.key.text)
    };
    let last = members.iter().enumerate().filter(is_last);
    last.filter_map(|(_, it)| Some((it, short(it)?))).collect()
}

fn object(fields: &[Field<'_>]) -> RawJson {
    let field = |(member, value): &Field<'_>| format!("{}:{value}", json::encode(&member.key.text));
    RawJson::scanned(&format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(",")))
}

fn rank(tool: &str, first: &[String], amounts: &[Money], key: &str) -> (usize, usize) {
    let place = |names: &[&str]| names.iter().position(|name| key.eq_ignore_ascii_case(name));
    if let Some(nth) = first.iter().position(|name| name == key) {
        return (0, nth);
    }
    let currency = |it: &Money| it.currency.as_ref().is_some_and(|(name, _)| name == key);
    if amounts.iter().any(|it| it.key == key || currency(it)) {
        return (1, usize::from(amounts.iter().any(currency)));
    }
    if let Some(nth) = place(&telling::RECIPIENTS) {
        return (2, nth);
    }
    if let Some(nth) = place(&PLACES) {
        return (3, nth);
    }
    let shown = showing(tool).and_then(|it| it.fields.iter().position(|field| field.key == key));
    shown.map_or((5, 0), |nth| (4, nth))
}

/// Returns a value that fits into a row; a long text is cut.
fn short(member: &Member<'_>) -> Option<String> {
    let value = member.value;
    if is_identity(&member.key.text) || value.starts_with('{') || member.key.text.len() > TEXT {
        return None;
    }
    if value.starts_with('"') {
        let text = json::decode(value).text;
        let is_short = text.chars().count() <= TEXT;
        return Some(if is_short { value.to_owned() } else { json::encode(&cut(&text, TEXT)) });
    }
    let is_plain = json::elements(value).is_none_or(|all| !all.iter().any(|it| it.starts_with(['{', '['])));
    (value.len() <= VALUE && is_plain).then(|| value.to_owned())
}

/// Returns the brief of another server, cut to our limits.
pub fn limited_brief(brief: &RawJson) -> Option<RawJson> {
    let members = brief.members().filter(|members| members.len() <= FIELDS * 2)?;
    Some(short_fields(&members)).filter(|fields| !fields.is_empty()).map(|fields| object(&fields))
}

/// Returns a brief with the values of an edited input.
pub fn edited_brief(brief: &RawJson, edited: &RawJson) -> RawJson {
    let now = json::members(inner(edited.as_str())).unwrap_or_default();
    let now = short_fields(&now);
    let keys = brief.members().unwrap_or_default();
    let fields = keys.iter().filter_map(|key| now.iter().find(|(it, _)| it.key.text == key.key.text));
    object(&fields.cloned().collect::<Vec<_>>())
}

/// Returns the cells of a brief, in its order. The currency of an amount is its unit and has no cell.
pub fn cells(brief: &RawJson) -> Vec<Cell> {
    let members = brief.members().unwrap_or_default();
    let amounts = money::amounts(&members);
    let is_unit = |key: &str| {
        amounts.iter().any(|it| it.currency.as_ref().is_some_and(|(name, _)| name == key) && it.key != key)
    };
    let cell = |member: &Member<'_>| {
        let key = member.key.text.as_ref();
        if is_unit(key) {
            return None;
        }
        let cell = match amounts.iter().find(|it| it.key == key) {
            Some(money) => Cell {
                key: key.to_owned(),
                text: money.number.clone(),
                raw: member.value.to_owned(),
                is_number: money.decimal.is_some(),
                unit: money.currency.as_ref().map(|(_, code)| code.clone()),
            },
            None => Cell {
                key: key.to_owned(),
                text: say(member.value).unwrap_or_default(),
                raw: member.value.to_owned(),
                is_number: member.value.starts_with(|c: char| c == '-' || c.is_ascii_digit()),
                unit: None,
            },
        };
        Some(cell)
    };
    members.iter().filter_map(cell).collect()
}

#[cfg(test)]
mod tests {
    use crate::contract::tool::{cells, definition};
    use crate::domain::RawJson;

    fn brief(tool: &str, input: &str) -> Option<String> {
        let known = definition(tool);
        let made = known.brief(tool, &known.title(tool, input), input);
        made.map(|brief| brief.as_str().to_owned())
    }

    #[test]
    fn brief_has_the_fields_in_the_order_of_columns() {
        for (tool, input, want) in [
            (
                "refund_payment",
                r#"{"order_id":"7","reason":"x","currency":"EUR","amount":5.10,"customer":"ilka"}"#,
                r#"{"amount":5.10,"currency":"EUR","customer":"ilka","order_id":"7","reason":"x"}"#,
            ),
            ("act", r#"{"z":1,"b":true,"to":"ann","cents":5}"#, r#"{"cents":5,"to":"ann","b":true,"z":1}"#),
            ("act", r#"{"workspace_id":"w","machine":"lathe-2"}"#, r#"{"machine":"lathe-2"}"#),
            ("act", r#"{"payload":{"b":1,"a":2}}"#, r#"{"b":1,"a":2}"#),
            ("act", r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
        ] {
            assert_eq!(brief(tool, input).as_deref(), Some(want), "{tool} {input}");
        }
        let long = brief("act", &format!(r#"{{"subject":"{}"}}"#, "x".repeat(300))).unwrap();
        assert!(long.ends_with(r#"x…"}"#) && long.chars().count() < 150, "{long}");
    }

    #[test]
    fn title_that_says_more_than_the_fields_has_no_brief() {
        for (tool, input) in [
            ("save_recommendations", r#"{"recommendations":[{"title":"Ship"}]}"#),
            ("act", r#"{"in":{"title":"a"},"n":1}"#),
            ("act", "[1]"),
            ("act", "{}"),
        ] {
            assert_eq!(brief(tool, input), None, "{tool} {input}");
        }
        let input = r#"{"machine":"lathe-2"}"#;
        assert_eq!(definition("act").brief("act", "Scrap the lathe", input), None);
    }

    #[test]
    fn amount_is_a_cell_with_its_currency() {
        let brief = r#"{"amount_cents":12990,"currency":"EUR","to":["ann","bo"],"n":1.50,"text":"1"}"#;
        let cells = cells(&RawJson::parse(brief).unwrap());
        let told: Vec<_> = cells
            .iter()
            .map(|it| (it.key.as_str(), it.text.as_str(), it.is_number, it.unit.as_deref()))
            .collect();
        assert_eq!(
            told,
            [
                ("amount_cents", "129.90", true, Some("EUR")),
                ("to", "ann and 1 more", false, None),
                ("n", "1.50", true, None),
                ("text", "1", false, None),
            ]
        );
    }
}
