//! Adds and removes groups in the `hooks` of a settings file and keeps all other bytes.

use std::ops::Range;

use crate::agent::client_files::elements;
use crate::domain::json;

#[derive(Debug)]
pub(super) enum SpliceError {
    /// The named value is not an object or list.
    Shape(String),
    /// A group mixes placet's command with others.
    Shared,
}

/// Returns the settings with `wanted` as placet's only groups in `hooks`.`event`. Removes a list that becomes empty.
pub(super) fn groups(
    text: &str,
    event: &str,
    wanted: &[String],
    ours: impl Fn(&str) -> Result<bool, SpliceError>,
) -> Result<String, SpliceError> {
    let style = Style::of(text);
    let hooks = value(text, "hooks")?;
    let events = hooks.clone().and_then(|span| text.get(span)).unwrap_or("{}");
    let list = value(events, event).map_err(|_| SpliceError::Shape("hooks".to_owned()))?;
    let groups = list.and_then(|span| events.get(span)).unwrap_or("[]");
    let changed = in_list(groups, wanted, ours, &style)
        .ok_or_else(|| SpliceError::Shape(format!("hooks.{event}")))??;
    if changed == groups {
        return Ok(text.to_owned());
    }
    let events = match changed.as_str() {
        "[]" => without(events, event),
        changed => with(events, event, changed, &style, 1),
    };
    match events.as_str() {
        "{}" => Ok(without(text, "hooks")),
        events => Ok(with(text, "hooks", events, &style, 0)),
    }
}

struct Style {
    indent: String,
    line_break: &'static str,
}

impl Style {
    /// Takes the first indentation in the file, by default two spaces.
    fn of(text: &str) -> Self {
        let blank = |line: &str| line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect::<String>();
        let indent = text.lines().map(blank).find(|blank| !blank.is_empty());
        let line_break = if text.contains("\r\n") { "\r\n" } else { "\n" };
        Self { indent: indent.unwrap_or_else(|| "  ".to_owned()), line_break }
    }

    fn line(&self, level: usize) -> String {
        format!("{}{}", self.line_break, self.indent.repeat(level))
    }

    fn lay_out(&self, value: &str, level: usize) -> String {
        let mut out = String::new();
        for (nth, line) in json::pretty(value).lines().enumerate() {
            let text = line.trim_start_matches(' ');
            // `pretty` indents by two spaces.
            let deep = (line.len() - text.len()) / 2;
            if nth > 0 {
                out.push_str(&self.line(level + deep));
            }
            out.push_str(text);
        }
        out
    }
}

/// Returns the position of the value of `key`. Fails if `object` is not an object or has the key twice.
fn value(object: &str, key: &str) -> Result<Option<Range<usize>>, SpliceError> {
    let shape = |what: &str| SpliceError::Shape(what.to_owned());
    let members = json::members(object).ok_or_else(|| shape("the file"))?;
    let mut found = members.into_iter().filter(|member| member.key.text == key);
    let first = found.next().map(|member| member.span);
    if found.next().is_some() {
        return Err(shape(&format!("a second {key}")));
    }
    Ok(first)
}

/// Replaces placet's groups in the list with `wanted`, or appends it. Other groups keep their positions, because Codex
/// trusts hooks by position. `None` if the text is not a list.
fn in_list(
    list: &str,
    wanted: &[String],
    ours: impl Fn(&str) -> Result<bool, SpliceError>,
    style: &Style,
) -> Option<Result<String, SpliceError>> {
    let mut text = list.to_owned();
    let mut wanted = wanted.iter();
    let mut nth = 0;
    loop {
        let spans = elements(&text, &(0..text.len()))?;
        let Some(span) = spans.get(nth).cloned() else { break };
        let one = text.get(span.clone())?;
        match ours(one) {
            Err(error) => return Some(Err(error)),
            Ok(false) => nth += 1,
            Ok(true) => match wanted.next() {
                Some(group) => {
                    if json::compact(one) != json::compact(group) {
                        text.replace_range(span, &style.lay_out(group, 3));
                    }
                    nth += 1;
                }
                None => text = cut(&text, &spans, nth, "[]"),
            },
        }
    }
    for group in wanted {
        let laid_out = style.lay_out(group, 3);
        text = appended(&text, elements(&text, &(0..text.len()))?.last(), &laid_out, style, 3);
    }
    Some(Ok(text))
}

/// Returns the object with `value` under `key`. `level` is the object's depth.
fn with(object: &str, key: &str, value: &str, style: &Style, level: usize) -> String {
    let members = json::members(object).unwrap_or_default();
    let mut text = object.to_owned();
    if let Some(member) = members.iter().find(|member| member.key.text == key) {
        text.replace_range(member.span.clone(), value);
        return text;
    }
    let member = format!("{}: {value}", json::encode(key));
    appended(object, members.last().map(|member| member.span.clone()).as_ref(), &member, style, level + 1)
}

fn without(object: &str, key: &str) -> String {
    let members = json::members(object).unwrap_or_default();
    let Some(nth) = members.iter().position(|member| member.key.text == key) else {
        return object.to_owned();
    };
    let whole = |member: &json::Member<'_>| {
        let before = object.get(..member.span.start).and_then(|text| text.rfind(member.raw_key));
        before.unwrap_or(member.span.start)..member.span.end
    };
    let spans: Vec<_> = members.iter().map(whole).collect();
    cut(object, &spans, nth, "{}")
}

/// Returns the text without part `nth` of `spans`, its comma and its whitespace.
fn cut(text: &str, spans: &[Range<usize>], nth: usize, empty: &str) -> String {
    let end_before = nth.checked_sub(1).and_then(|before| spans.get(before)).map(|span| span.end);
    let (this, next) = (spans.get(nth), spans.get(nth + 1));
    let gone = match (end_before, this, next) {
        (Some(end), Some(this), _) => end..this.end,
        (None, Some(this), Some(next)) => this.start..next.start,
        _ => return outside(text, empty),
    };
    let mut text = text.to_owned();
    text.replace_range(gone, "");
    text
}

/// Replaces the object or list by `empty` and keeps the whitespace around it.
fn outside(text: &str, empty: &str) -> String {
    let inner = text.trim();
    let (before, after) = text.split_once(inner).unwrap_or(("", ""));
    format!("{before}{empty}{after}")
}

fn appended(text: &str, last: Option<&Range<usize>>, part: &str, style: &Style, level: usize) -> String {
    let line = style.line(level);
    if let Some(last) = last {
        let mut text = text.to_owned();
        text.insert_str(last.end, &format!(",{line}{part}"));
        return text;
    }
    let (open, close) = if text.trim_start().starts_with('[') { ('[', ']') } else { ('{', '}') };
    let full = format!("{open}{line}{part}{}{close}", style.line(level.saturating_sub(1)));
    outside(text, &full)
}
