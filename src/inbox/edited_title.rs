//! The title of an action with the new values of its edits.

use std::ops::Range;

use crate::contract::tool;
use crate::domain::json::{self, Member};
use crate::domain::{Edits, RawJson, Row, Untrusted, merge};
use crate::text::{self, Shown};

/// One edited field: its key, the value it had, and the new one, each as JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub key: String,
    pub old: Option<String>,
    pub new: String,
}

/// Returns what edits change of an input, field by field.
pub fn changes(input: &RawJson, edits: &Edits) -> Vec<Change> {
    let (old, new) = (input.members().unwrap_or_default(), edits.as_json().members().unwrap_or_default());
    let change = |member: &Member<'_>| {
        let before = old.iter().find(|known| known.key.text == member.key.text);
        Change {
            key: member.key.text.as_ref().to_owned(),
            old: before.map(|known| known.value.trim().to_owned()),
            new: member.value.trim().to_owned(),
        }
    };
    new.iter().map(change).collect()
}

/// Columns of a value in a title.
const IN_TITLE: usize = 24;

/// Stands for a field in a title that is made to find the field's place.
const PROBE: char = '\u{e000}';

/// An input of more bytes is not merged and titled again at each frame.
const LONGEST: usize = 64 << 10;

/// Returns `Refund 129.90 → 129.00 EUR to pim`. A field that the title does not name follows it: `priority 2 → 1`.
pub fn edited_title(row: &Row, input: &RawJson, edits: &Edits) -> Shown {
    let title = row.title.as_raw();
    let value = |text: &str| text::line(&Untrusted::from(text)).cut(IN_TITLE);
    let arrow = |old: &str, new: &str| value(old).followed_by(Shown::ours(" → ")).followed_by(value(new));
    let (mut placed, mut others) = (Vec::new(), Vec::new());
    for change in changes(input, edits) {
        let free = |range: &Range<usize>| {
            placed
                .iter()
                .all(|(known, _): &(Range<usize>, _)| known.end <= range.start || range.end <= known.start)
        };
        match place(row, input, &change).filter(|(range, _)| free(range)) {
            Some(part) => placed.push(part),
            None => others.push(change),
        }
    }
    placed.sort_by_key(|(range, _)| range.start);
    let (mut shown, mut from) = (Shown::default(), 0);
    for (range, new) in placed {
        let (Some(before), Some(old)) = (title.get(from..range.start), title.get(range.clone())) else {
            continue;
        };
        shown = shown.followed_by(text::part(before)).followed_by(arrow(old, &new));
        from = range.end;
    }
    shown = shown.followed_by(text::part(title.get(from..).unwrap_or_default()));
    for change in others {
        let name = Shown::ours("  ").followed_by(value(&change.key)).followed_by(Shown::ours(" "));
        let new = plain(&change.new);
        let new = match &change.old {
            Some(old) => arrow(&plain(old), &new),
            None => Shown::ours("+ ").followed_by(value(&new)),
        };
        shown = shown.followed_by(name).followed_by(new);
    }
    shown
}

/// Finds the part of the title that this field alone makes, and what the new value makes of it. `None` for a title that placet did not
/// make, and where the field has no part or shares it.
fn place(row: &Row, input: &RawJson, change: &Change) -> Option<(Range<usize>, String)> {
    let title = row.title.as_raw();
    let made = |value: &str| {
        let key = serde_json::to_string(&change.key).ok()?;
        let edits = Edits::new(RawJson::parse(format!("{{{key}:{value}}}")).ok()?).ok()?;
        Some(tool::titled(&row.tool, &merge(input, &edits).ok()?))
    };
    let is_long = input.as_str().len() > LONGEST;
    if is_long || change.old.is_none() || title.contains(PROBE) || tool::titled(&row.tool, input) != row.title
    {
        return None;
    }
    let probe = made(&format!("\"{PROBE}\""))?;
    let (before, after) = probe.as_raw().split_once(PROBE)?;
    let part = |title: &str| title.strip_prefix(before)?.strip_suffix(after).map(str::to_owned);
    let old = part(title).filter(|old| !old.is_empty())?;
    let new = part(made(&change.new)?.as_raw()).unwrap_or_else(|| plain(&change.new));
    Some((before.len()..before.len() + old.len(), new))
}

/// A string's meaning; any other value as it was written.
fn plain(value: &str) -> String {
    if value.starts_with('"') { json::decode(value).text.into_owned() } else { value.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ActionId;

    fn shown(tool: &str, title: Option<&str>, input: &str, edits: &str) -> String {
        let (tool, input) = (Untrusted::from(tool), RawJson::parse(input).unwrap());
        let title = title.map_or_else(|| tool::titled(&tool, &input), Untrusted::from);
        let row = Row::new(ActionId::new("1"), tool, title);
        edited_title(&row, &input, &Edits::new(RawJson::parse(edits).unwrap()).unwrap()).plain()
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
            ("t", r#"{"a":1,"b":1}"#, r#"{"b":2}"#, "t a=1 b=1 → 2"),
            ("t", r#"{"title":"x"}"#, r#"{"new":"x"}"#, "t x  new + x"),
        ] {
            assert_eq!(shown(tool, None, input, edits), title, "{input} {edits}");
        }
    }

    #[test]
    fn edit_follows_a_title_of_another_maker() {
        let title = shown("t", Some("Set priority 2 on 2 issues"), r#"{"priority":2}"#, r#"{"priority":1}"#);
        assert_eq!(title, "Set priority 2 on 2 issues  priority 2 → 1");
        let title = shown("t", Some("t a=9 b=1"), r#"{"a":1,"b":1}"#, r#"{"a":2}"#);
        assert_eq!(title, "t a=9 b=1  a 1 → 2", "the title does not name the input");
    }
}
