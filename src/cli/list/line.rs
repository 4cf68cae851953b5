//! `placet list --line`: counts for a status bar.

use std::time::Duration;

use futures_util::future::join_all;

use crate::cli::{Exit, output};
use crate::domain::{Entry, SourceName, Timestamp};
use crate::inbox::{Inbox, Rows};

use super::Wanted;

/// A status bar is drawn again soon; what is silent for so long is named.
const PATIENCE: Duration = Duration::from_secs(3);

/// Asks every source once and prints one line.
pub(super) async fn print(
    inbox: &Inbox,
    sources: &[SourceName],
    wanted: &mut Wanted,
) -> anyhow::Result<Exit> {
    let (mut entries, mut silent) = (Vec::new(), Vec::new());
    for (source, synced) in
        join_all(sources.iter().map(|source| super::synced(inbox, source, PATIENCE))).await
    {
        match synced {
            Ok(synced) => {
                let (Rows::All(rows) | Rows::Changes { entries: rows, .. }) = synced.rows;
                entries.extend(rows.into_iter().filter(|it| it.row.status.is_pending() && wanted.holds(it)));
            }
            Err(_) => silent.push(source.as_str()),
        }
    }
    let reached = silent.len() < sources.len();
    output::line(&line(reached.then_some(entries.as_slice()), &silent, wanted.now()))?;
    Ok(if reached { Exit::Done } else { Exit::Unreachable })
}

/// `141 pending, 4 high, oldest 3h12m; team does not answer`. Without entries nobody answered.
fn line(entries: Option<&[Entry]>, silent: &[&str], now: Timestamp) -> String {
    let silent = match silent {
        [] => String::new(),
        [one] => format!("{one} does not answer"),
        several => format!("{} do not answer", several.join(", ")),
    };
    let Some(entries) = entries else { return silent };
    let mut parts = vec![format!("{} pending", entries.len())];
    let high = entries.iter().filter(|entry| entry.row.risk.is_high()).count();
    if high > 0 {
        parts.push(format!("{high} high"));
    }
    if let Some(oldest) = entries.iter().map(|entry| entry.row.created_at).min() {
        parts.push(format!("oldest {}", output::age(now.since(oldest))));
    }
    let counts = parts.join(", ");
    if silent.is_empty() { counts } else { format!("{counts}; {silent}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{ActionId, ActionKey, Capabilities, Risk, Row};

    fn entry(risk: &str, minutes_ago: i64) -> Entry {
        let id = ActionId::new("1");
        let row = Row {
            risk: Risk::parse(risk),
            created_at: Timestamp::from_millis(1_000_000_000 - minutes_ago * 60_000),
            ..Row::new(id.clone(), "t".into(), "T".into())
        };
        Entry { key: ActionKey { source: SourceName::new("s"), id }, can: Capabilities::PLAIN, row }
    }

    #[test]
    fn a_status_bar_gets_one_line_that_says_who_is_silent() {
        let now = Timestamp::from_millis(1_000_000_000);
        let entries = [entry("low", 3), entry("critical", 192), entry("odd", 1)];

        assert_eq!(line(Some(&entries), &[], now), "3 pending, 2 high, oldest 3h12m");
        assert_eq!(line(Some(&[]), &["team"], now), "0 pending; team does not answer");
        assert_eq!(line(None, &["team", "shop"], now), "team, shop do not answer");
    }
}
