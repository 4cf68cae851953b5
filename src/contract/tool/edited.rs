//! The title of an action with the new values of its edits.

use super::definition::{Definition, bounded, definition, inner, text_of};
use super::said::cut;
use super::telling::{self, Part};
use crate::domain::{Edits, FieldChange, RawJson, Row, Untrusted, changes, json, merge};

/// Characters of a value in a title.
const IN_TITLE: usize = 24;
/// Characters of a word or value that no edit changes.
const UNCHANGED: usize = 60;
/// A longer input is not titled again. Bytes.
const LONGEST: usize = 64 << 10;

impl Definition {
    /// Returns `Refund 129.90 → 129.00 EUR to pim`. A change without a place in the title follows it: `priority 2 → 1`.
    pub fn edited(&self, tool: &Untrusted, title: &Untrusted, input: &RawJson, edits: &Edits) -> Untrusted {
        let parts = |input: &RawJson| self.parts(tool.as_raw(), input.as_str());
        let old = if input.as_str().len() <= LONGEST { parts(input) } else { Vec::new() };
        let rest = title.as_raw().strip_prefix(&bounded(&text_of(&old)));
        let rest = rest.filter(|rest| rest.is_empty() || rest.starts_with(" · "));
        let new = rest.and_then(|_| Some(parts(&merge(input, edits).ok()?)));
        let new = new.filter(|new| is_same_shape(&old, new));
        let pairs = || old.iter().zip(new.iter().flatten());
        let part = |(old, new): (&Part, &Part)| match &old.key {
            _ if old.text != new.text => arrow(&old.text, &new.text, IN_TITLE),
            Some(_) => cut(&bounded(&old.text), UNCHANGED),
            None => old.text.clone(),
        };
        let placed: String = pairs().map(part).chain(rest.map(str::to_owned)).collect();
        let mut text = if new.is_some() { placed } else { title.as_raw().to_owned() };
        let is_wrapped = inner(input.as_str()) != input.as_str();
        for change in changes(input, edits) {
            let is_of = |part: &Part| {
                part.key.as_ref().is_some_and(|key| {
                    let rest = change.path.strip_prefix(&format!("{}.{key}", change.key));
                    *key == change.key
                        || is_wrapped && rest.is_some_and(|it| it.is_empty() || it.starts_with(['.', '[']))
                })
            };
            if !pairs().any(|(old, new)| old != new && is_of(new)) {
                text = format!("{text}  {}", told(&change, IN_TITLE));
            }
        }
        Untrusted::from(text)
    }
}

/// The same words around values of the same fields.
fn is_same_shape(old: &[Part], new: &[Part]) -> bool {
    let same = |(old, new): (&Part, &Part)| old.key == new.key && (old.key.is_some() || old == new);
    old.len() == new.len() && old.iter().zip(new).all(same)
}

/// `priority 2 → 1`, `to dropped bo`, `note added x`, with at most so many characters of each value.
pub fn told(change: &FieldChange, most: usize) -> String {
    let value = |value: &str| cut(&quoted(&element(value)), most);
    match (&change.old, &change.new) {
        (Some(old), Some(new)) if element(old) == element(new) => format!("{} {old} → {new}", change.path),
        (Some(old), Some(new)) => format!("{} {}", change.path, arrow(&element(old), &element(new), most)),
        (Some(old), None) => format!("{} dropped {}", change.path, value(old)),
        (None, new) => format!("{} added {}", change.path, value(new.as_deref().unwrap_or_default())),
    }
}

/// Cuts two long values where they differ, so that they do not look the same.
fn arrow(old: &str, new: &str, most: usize) -> String {
    let (old, new) = (quoted(old), quoted(new));
    let same = old.chars().zip(new.chars()).take_while(|(old, new)| old == new).count();
    let is_long = old.chars().count().max(new.chars().count()) > most;
    let skipped = if is_long && same > most / 2 { same - most / 3 } else { 0 };
    let from = |text: &str| {
        let rest: String = text.chars().skip(skipped).collect();
        cut(&if skipped > 0 { format!("…{rest}") } else { rest }, most)
    };
    format!("{} → {}", from(&old), from(&new))
}

/// A text that could be taken for two values, or for none, has quotes.
fn quoted(text: &str) -> String {
    let is_plain = text.trim() == text && !text.is_empty() && !text.contains('→');
    if is_plain { text.to_owned() } else { json::encode(text) }
}

/// Returns a string's meaning, the telling fields of an object, or JSON.
fn element(value: &str) -> String {
    let telling = json::members(value).map(|_| text_of(&telling::title("", value)));
    match telling.filter(|text| !text.is_empty()) {
        Some(text) => text,
        None if value.starts_with('"') => json::decode(value).text.into_owned(),
        None => json::compact(value),
    }
}

/// Returns the title of an action with the edits at the places of their fields. Every screen and command uses it.
pub fn edited_title(row: &Row, input: &RawJson, edits: &Edits) -> Untrusted {
    definition(row.tool.as_raw()).edited(&row.tool, &row.title, input, edits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ActionId;

    fn shown(tool: &str, title: Option<&str>, input: &str, edits: &str) -> String {
        let (tool, input) = (Untrusted::from(tool), RawJson::parse(input).unwrap());
        let made = || definition(tool.as_raw()).title(tool.as_raw(), input.as_str()).into();
        let title = title.map_or_else(made, Untrusted::from);
        let row = Row::new(ActionId::new("1"), tool, title);
        let edits = Edits::new(RawJson::parse(edits).unwrap()).unwrap();
        edited_title(&row, &input, &edits).as_raw().to_owned()
    }

    #[test]
    fn edit_is_drawn_at_the_place_of_its_field() {
        let refund = r#"{"amount":129.90,"currency":"EUR","customer":"pim","order_id":"129.90"}"#;
        for (tool, input, edits, title) in [
            ("refund_payment", refund, r#"{"amount":129.00}"#, "Refund 129.90 → 129.00 EUR to pim"),
            ("refund_payment", refund, r#"{"currency":"129.0"}"#, "Refund 129.90 EUR → 129.0 to pim"),
            (
                "refund_payment",
                refund,
                r#"{"currency":"USD","amount":1}"#,
                "Refund 129.90 → 1 EUR → USD to pim",
            ),
            (
                "refund_payment",
                refund,
                r#"{"order_id":"7"}"#,
                "Refund 129.90 EUR to pim  order_id 129.90 → 7",
            ),
            (
                "refund_payment",
                refund,
                r#"{"customer":null}"#,
                "Refund 129.90 EUR to pim  customer pim → null",
            ),
            (
                "refund_payment",
                refund,
                r#"{"customer":null,"amount":5}"#,
                "Refund 129.90 EUR to pim  customer pim → null  amount 129.90 → 5",
            ),
            (
                "t",
                r#"{"title":"Audit export v2: run","priority":2}"#,
                r#"{"priority":1}"#,
                "t Audit export v2: run  priority 2 → 1",
            ),
            (
                "t",
                r#"{"to":["ann","bo"],"subject":"bo"}"#,
                r#"{"to":["bo"]}"#,
                "t bo · to ann and 1 more → bo",
            ),
        ] {
            assert_eq!(shown(tool, None, input, edits), title, "{input} {edits}");
        }
    }

    #[test]
    fn edit_of_a_nested_or_new_field_names_it() {
        let cents = r#"{"to":"pim","cents":12990}"#;
        let save = r#"{"recommendations":[{"title":"Ship"},{"title":"Fix"}]}"#;
        for (tool, input, edits, title) in [
            ("t", r#"{"a":1,"b":1}"#, r#"{"b":2}"#, "t a=1 b=1 → 2"),
            ("t", r#"{"title":"x"}"#, r#"{"new":"x"}"#, "t x  new added x"),
            ("t", cents, r#"{"cents":12900}"#, "t 129.90 → 129.00 to pim"),
            (
                "save_recommendations",
                save,
                r#"{"recommendations":[{"title":"Fix"}]}"#,
                "Save recommendations (2 → 1): Ship → Fix",
            ),
            (
                "save_recommendations",
                save,
                r#"{"recommendations":[{"title":"Ship"},{"title":"Wait"}]}"#,
                "Save recommendations (2): Ship  recommendations[1].title Fix → Wait",
            ),
            ("t", r#"{"in":{"title":"a","n":1}}"#, r#"{"in":{"title":"b","n":1}}"#, "t a → b"),
            ("t", r#"{"in":{"title":"a","n":1}}"#, r#"{"in":{"title":"a","n":2}}"#, "t a  in.n 1 → 2"),
            ("t", r#"{"in":{"title":"a","n":1}}"#, r#"{"in":{"title":"b","n":2}}"#, "t a → b  in.n 1 → 2"),
            ("t", r#"{"n":1,"title":"a"}"#, r#"{"n":"1"}"#, r#"t a  n 1 → "1""#),
            ("t", r#"{"title":"a → b"}"#, r#"{"title":"c"}"#, r#"t "a → b" → c"#),
            ("t", r#"{"title":"名前"}"#, r#"{"title":"名"}"#, "t 名前 → 名"),
        ] {
            assert_eq!(shown(tool, None, input, edits), title, "{input} {edits}");
        }
    }

    #[test]
    fn edit_of_every_demo_field_parses_back() {
        let queue = include_str!("../../../assets/demo/queue.json");
        let mut checked = 0;
        for action in json::elements(queue.trim()).unwrap() {
            let action = RawJson::parse(action).unwrap();
            let tool = element(action.member("toolName").unwrap());
            let input = action.member("toolInput").unwrap();
            let title = definition(&tool).title(&tool, input);
            for member in json::members(input).unwrap() {
                let (key, old) = (member.key.text.as_ref(), element(member.value));
                let is_short = old.chars().count() <= IN_TITLE && title.chars().count() <= UNCHANGED;
                if member.value.starts_with(['{', '[']) || !is_short {
                    continue;
                }
                let edited = shown(&tool, None, input, &format!(r#"{{"{key}":"Z9"}}"#));
                let parsed = edited.replacen(" → Z9", "", 1);
                assert!(parsed == title || parsed == format!("{title}  {key} {old}"), "{title}: {edited}");
                let before = edited.split_once(" → Z9").unwrap().0;
                assert!(before.ends_with(&old), "{edited}: the value of {key} was {old}");
                checked += 1;
            }
        }
        assert!(checked > 50, "{checked}");
    }

    #[test]
    fn long_values_are_cut_where_they_differ() {
        let text = "The quick brown fox jumps over the lazy ";
        let title =
            shown("t", None, &format!(r#"{{"title":"{text}dog"}}"#), &format!(r#"{{"title":"{text}cat"}}"#));
        assert_eq!(title, "t …he lazy dog → …he lazy cat");
    }

    #[test]
    fn edit_follows_a_title_of_another_maker() {
        let title = shown("t", Some("Set priority 2 on 2 issues"), r#"{"priority":2}"#, r#"{"priority":1}"#);
        assert_eq!(title, "Set priority 2 on 2 issues  priority 2 → 1");
        let title = shown("t", Some("t a=9 b=1"), r#"{"a":1,"b":1}"#, r#"{"a":2}"#);
        assert_eq!(title, "t a=9 b=1  a 1 → 2", "the title does not name the input");
        let title = shown("t", Some("t a=1 · saga (step)"), r#"{"a":1}"#, r#"{"a":2}"#);
        assert_eq!(title, "t a=1 → 2 · saga (step)");
    }
}
