//! What a source knows around an action: its run, its earlier steps, its facts. All of it is theirs.

use crate::domain::{Fact, FactValue, Passage, json};
use crate::inbox::Problem;
use crate::text::{self, Shown};

use super::context::moment;
use super::fields::readable;
use super::{Kind, Writer};

/// Longest name that keeps a column beside its value.
const COLUMN: usize = 18;
/// So many facts of a passage are shown; nobody reads more, and a run may have taken any number of steps.
const MOST: usize = 1_000;
/// A text of more bytes is laid out as it is scrolled to.
const LONG: usize = 2_000;

/// Below what the action itself says. Empty where the source knows no more than that.
pub(super) fn passages(
    writer: &mut Writer,
    told: Option<&Result<Vec<Passage>, Problem>>,
    zone: &jiff::tz::TimeZone,
) {
    let passages = match told {
        None => {
            writer.blank();
            return writer.ours(Kind::Dim, "asking its source what else it knows…");
        }
        Some(Err(problem)) => {
            writer.blank();
            let what = format!("What else its source knows cannot be read: it {}", problem.what);
            writer.ours(Kind::Warn, what);
            if let Some(why) = &problem.why {
                writer.wrapped(Kind::Plain, 2, &text::line(why));
            }
            return;
        }
        Some(Ok(passages)) => passages,
    };
    for passage in passages {
        writer.blank();
        writer.ours(Kind::Key, passage.title);
        let name = |fact: &Fact| text::line(&fact.name).width();
        let longest = passage.facts.iter().take(MOST).map(name).filter(|width| *width <= COLUMN).max();
        let column = longest.unwrap_or_default() + 2;
        for one in passage.facts.iter().take(MOST) {
            fact(writer, column, one, zone);
        }
        if passage.facts.len() > MOST {
            writer.ours(Kind::Dim, format!("and {} more", passage.facts.len() - MOST));
        }
    }
}

/// `name  value  2026-11-21 14:22:31 UTC` where that fits, else the value below its name.
fn fact(writer: &mut Writer, column: usize, fact: &Fact, zone: &jiff::tz::TimeZone) {
    let name = text::line(&fact.name);
    let at = fact.at.map_or_else(Shown::default, |at| Shown::ours(format!("  {}", moment(at, zone))));
    let value = match &fact.value {
        FactValue::Id(id) => Some(text::identifier(id)),
        FactValue::Text(value) => one_line(value.as_raw()),
        FactValue::Json(value) => {
            let text = readable(value.as_str());
            if text.starts_with(['{', '[']) { one_line(&json::compact(&text)) } else { one_line(&text) }
        }
    };
    let room = writer.width.saturating_sub(column + at.width());
    if let Some(value) = value.filter(|value| name.width() + 2 <= column && value.width() <= room) {
        let gap = Shown::ours(" ".repeat(column - name.width()));
        return writer.push(vec![
            (Kind::Dim, name),
            (Kind::Plain, gap),
            (Kind::Plain, value),
            (Kind::Dim, at),
        ]);
    }
    writer.wrapped(Kind::Dim, 0, &name.followed_by(at));
    match &fact.value {
        FactValue::Id(id) => writer.wrapped(Kind::Plain, 2, &text::identifier(id)),
        FactValue::Text(value) => writer.long(Kind::Plain, 2, value.as_raw()),
        FactValue::Json(value) => {
            let text = readable(value.as_str());
            if text.starts_with(['{', '[']) {
                writer.json(2, json::pretty(&text));
            } else {
                writer.long(Kind::Plain, 2, text);
            }
        }
    }
}

fn one_line(text: &str) -> Option<Shown> {
    let short = text.len() <= LONG && !text.contains('\n');
    short.then(|| text::blank(text).unwrap_or_else(|| text::part(text)))
}
