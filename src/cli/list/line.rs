//! `placet list --line`: counts for a status bar.

use std::time::Duration;

use futures_util::future::join_all;

use crate::cli::exit::Exit;
use crate::cli::output;
use crate::domain::time::span;
use crate::domain::{Entry, Outstanding, SourceName, Timestamp};
use crate::inbox::Inbox;

use super::Wanted;

/// Longest wait for a source; later ones are named as silent.
const PATIENCE: Duration = Duration::from_secs(3);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Waiting {
    pending: u64,
    high: u64,
    oldest: Option<Timestamp>,
}

impl Waiting {
    fn of(entries: &[Entry]) -> Self {
        Self {
            pending: entries.len() as u64,
            high: entries.iter().filter(|entry| entry.row.risk.is_high()).count() as u64,
            oldest: entries.iter().map(|entry| entry.row.created_at).min(),
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            pending: self.pending.saturating_add(other.pending),
            high: self.high.saturating_add(other.high),
            oldest: self.oldest.into_iter().chain(other.oldest).min(),
        }
    }
}

/// Asks every source once and prints one line. Reads lists only for sources without counts of their own, or with a
/// filter.
pub(super) async fn print(
    inbox: &Inbox,
    sources: &[SourceName],
    wanted: &mut Wanted,
) -> anyhow::Result<Exit> {
    let (mut all, mut silent) = (None, Vec::new());
    let whole = wanted.is_empty();
    for (source, answer) in join_all(sources.iter().map(|source| ask(inbox, source, whole))).await {
        let waiting = match answer {
            Some(Answer::Counted(counted)) => {
                Waiting { pending: counted.pending, high: counted.high, oldest: counted.oldest }
            }
            Some(Answer::Listed(entries)) => Waiting::of(
                &entries
                    .into_iter()
                    .filter(|it| it.row.status.is_pending() && wanted.holds(it))
                    .collect::<Vec<_>>(),
            ),
            None => {
                silent.push(source.as_str());
                continue;
            }
        };
        all = Some(all.unwrap_or_default()).map(|all: Waiting| all.and(waiting));
    }
    output::line(&line(all, &silent, wanted.now()))?;
    Ok(if all.is_some() { Exit::Done } else { Exit::Unreachable })
}

enum Answer {
    Counted(Outstanding),
    Listed(Vec<Entry>),
}

/// Returns `None` if the source did not answer, or with an error.
async fn ask<'a>(inbox: &Inbox, source: &'a SourceName, whole: bool) -> (&'a SourceName, Option<Answer>) {
    let asking = async {
        let counted = if whole { inbox.outstanding(source).await } else { Ok(None) };
        if let Some(counted) = counted.ok()? {
            return Some(Answer::Counted(counted));
        }
        Some(Answer::Listed(inbox.sync(source, None).await.ok()?.rows.into_entries()))
    };
    (source, tokio::time::timeout(PATIENCE, asking).await.unwrap_or_default())
}

/// Formats `141 pending, 4 high, oldest 3 h 12; team does not answer`. `waiting` is `None` if no source answered.
fn line(waiting: Option<Waiting>, silent: &[&str], now: Timestamp) -> String {
    let silent = match silent {
        [] => String::new(),
        [one] => format!("{one} does not answer"),
        several => format!("{} do not answer", several.join(", ")),
    };
    let Some(Waiting { pending, high, oldest }) = waiting else { return silent };
    let mut parts = vec![format!("{pending} pending")];
    if high > 0 {
        parts.push(format!("{high} high"));
    }
    if let Some(oldest) = oldest {
        parts.push(format!("oldest {}", span(now.since(oldest))));
    }
    let counts = parts.join(", ");
    if silent.is_empty() { counts } else { format!("{counts}; {silent}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{ActionId, ActionKey, Risk, Row};

    fn entry(risk: &str, minutes_ago: i64) -> Entry {
        let id = ActionId::new("1");
        let row = Row {
            risk: Risk::parse(risk),
            created_at: Timestamp::from_millis(1_000_000_000 - minutes_ago * 60_000),
            ..Row::new(id.clone(), "t".into(), "T".into())
        };
        Entry { key: ActionKey { source: SourceName::new("s"), id }, row }
    }

    #[test]
    fn status_bar_line_names_silent_sources() {
        let now = Timestamp::from_millis(1_000_000_000);
        let entries = [entry("low", 3), entry("critical", 192), entry("odd", 1)];

        let listed = Waiting::of(&entries);

        assert_eq!(line(Some(listed), &[], now), "3 pending, 2 high, oldest 3 h 12");
        let counted = Waiting { pending: 7, high: 1, oldest: Some(Timestamp::from_millis(0)) };
        assert_eq!(line(Some(counted.and(listed)), &[], now), "10 pending, 3 high, oldest 11 d");
        assert_eq!(line(Some(Waiting::default()), &["team"], now), "0 pending; team does not answer");
        assert_eq!(line(None, &["team", "shop"], now), "team, shop do not answer");
    }
}
