//! The text of a notice: counts and names of sources. It contains no text from agents or backends.

use std::collections::BTreeSet;

use serde_json::json;

use crate::config::{NotifyOn, NotifyRule, Targets};
use crate::contract::time;
use crate::domain::{AlertKind, SourceName, Timestamp};
use crate::inbox::figures::{Board, words};

use super::level::{self, Levels, Topic};

/// Maximum number of events in a line of text.
const NAMED: usize = 5;
/// Version of the JSON. Grows when a member changes its meaning.
const VERSION: u32 = 1;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// [`NotifyRule::number`].
    pub rule: usize,
    pub at: Timestamp,
    /// Most serious first, at least one.
    pub told: Vec<CurrentEvent>,
    /// Actions that the rule covers; `high` and `oldest` are of these.
    pub pending: u64,
    pub high: u64,
    pub oldest: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CurrentEvent {
    pub on: NotifyOn,
    /// `None` for the whole inbox.
    pub source: Option<SourceName>,
    pub in_queue: bool,
    /// Actions or missions; minutes for `growing` and `source-down`.
    pub count: u64,
    /// `28 over 1 h`; empty for the first action.
    pub words: String,
}

pub(super) fn of(
    rule: &NotifyRule,
    owed: &BTreeSet<Topic>,
    levels: &Levels,
    board: &Board,
    targets: &Targets,
) -> Notice {
    let sum = level::sum(rule, board);
    let told = owed.iter().filter(|topic| levels.contains_key(topic)).map(|topic| {
        let count = level::count(rule, topic, board, targets);
        let words = match topic.0 {
            NotifyOn::First => String::new(),
            // A rule for a queue reports high risk at once, without the `high_risk` limit of time.
            NotifyOn::Alert(AlertKind::HighRisk) if rule.queue.is_some() => {
                format!("{count} high")
            }
            NotifyOn::Alert(kind) => words::alert(kind, count, targets),
        };
        CurrentEvent { on: topic.0, source: topic.1.clone(), in_queue: rule.queue.is_some(), count, words }
    });
    let told = told.collect();
    Notice { rule: rule.number, at: board.at, told, pending: sum.pending, high: sum.high, oldest: sum.oldest }
}

impl Notice {
    /// Returns a line without a line break: `placet: 28 over 1 h (praxiom); 141 pending, 4 high, oldest 3 h 12`.
    pub fn text(&self) -> String {
        let said = self.told.iter().filter(|told| !told.words.is_empty());
        let mut parts: Vec<_> = said.clone().take(NAMED).map(CurrentEvent::text).collect();
        match said.count().saturating_sub(NAMED) {
            0 => {}
            more => parts.push(format!("and {more} more")),
        }
        let mut stands = vec![format!("{} pending", self.pending)];
        if self.high > 0 {
            stands.push(format!("{} high", self.high));
        }
        if let Some(oldest) = self.oldest {
            stands.push(format!("oldest {}", words::age(oldest, self.at)));
        }
        let stands = stands.join(", ");
        if parts.is_empty() {
            format!("placet: {stands}")
        } else {
            format!("placet: {}; {stands}", parts.join(", "))
        }
    }

    /// Returns a line of JSON without a line break, for a webhook's body or a command's standard input.
    pub fn json(&self) -> String {
        let mut told = self.told.iter().map(|told| {
            let source = told.source.as_ref().map(SourceName::as_str);
            (told.on.name(), source, told.count)
        });
        let (kind, source, count) = told.next().unwrap_or_default();
        let mut json = json!({
            "version": VERSION,
            "type": "placet.alert",
            "at": time::write(self.at),
            "kind": kind,
            "source": source,
            "count": count,
            "pending": self.pending,
            "highRisk": self.high,
            "oldestSeconds": self.oldest.map(|oldest| self.at.since(oldest).max(0) / 1_000),
        });
        let also = told.map(|(kind, source, count)| json!({"kind": kind, "source": source, "count": count}));
        let also: Vec<_> = also.collect();
        if let Some(json) = json.as_object_mut().filter(|_| !also.is_empty()) {
            json.insert("also".to_owned(), also.into());
        }
        json.to_string()
    }
}

impl Notice {
    /// Returns a message for an incoming webhook of Slack. `link` is the operator's.
    ///
    /// Slack reads `&`, `<` and `>` as markup and wants exactly these three escaped:
    /// <https://docs.slack.dev/messaging/formatting-message-text/>, "Escaping text".
    pub fn slack(&self, link: Option<&str>) -> String {
        let link = link.map(|link| format!(" · <{}>", escaped(link))).unwrap_or_default();
        let text = format!("{}\nnotify rule {}{link}", escaped(&self.text()), self.rule);
        // Keeps asterisks and underscores literal, and fetches no previews.
        json!({ "text": text, "mrkdwn": false, "unfurl_links": false, "unfurl_media": false }).to_string()
    }
}

/// Escapes a text for Slack, in one line.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            letter if letter.is_control() => escaped.push(' '),
            letter => escaped.push(letter),
        }
    }
    escaped
}

impl CurrentEvent {
    fn text(&self) -> String {
        let of = if self.in_queue { "a queue of " } else { "" };
        match &self.source {
            Some(source) => format!("{} ({of}{source})", self.words),
            None => self.words.clone(),
        }
    }
}
