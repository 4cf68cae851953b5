//! An undocumented event stream. Every event only means that the list must be read again.

use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use tokio::time::{Instant, sleep_until};

use crate::contract::{briefing, pointer};
use crate::domain::{Briefing, json};
use crate::net::http::Http;
use crate::net::sse::{self, Limits, Live};
use crate::sources::EventKind;
use crate::sources::signals::signal;

/// Events within this time become one hint.
const GATHER: Duration = Duration::from_millis(250);
/// Least time between two hints. Each costs a list, and Praxiom counts requests per minute (30 on its smallest plan).
const APART: Duration = Duration::from_secs(5);

/// Returns the signals of the stream at `path`. `count_at` is a JSON pointer to a briefing's count of pending actions.
pub(super) fn signals(
    http: Http,
    path: String,
    limits: Limits,
    count_at: Option<String>,
) -> BoxStream<'static, EventKind> {
    let lives = sse::live(http, path, limits).fuse().boxed();
    let hints = Hints { lives, count_at, waiting: None, last: None };
    stream::unfold(hints, |mut hints| async move { Some((hints.next().await?, hints)) }).boxed()
}

struct Hints {
    lives: BoxStream<'static, Live>,
    count_at: Option<String>,
    /// The next signal, and when to send it.
    waiting: Option<(EventKind, Instant)>,
    last: Option<Instant>,
}

impl Hints {
    async fn next(&mut self) -> Option<EventKind> {
        loop {
            let due = self.waiting.as_ref().map(|(_, due)| *due);
            let live = tokio::select! {
                () = at(due) => None,
                live = self.lives.next() => Some(live),
            };
            match live {
                None => {
                    self.last = Some(Instant::now());
                    return self.waiting.take().map(|(signal, _)| signal);
                }
                // A gathered hint is sent even if the stream ends.
                Some(None) => return self.waiting.take().map(|(signal, _)| signal),
                Some(Some(Live::Event { kind, data, .. })) if kind == "briefing" => self.gather(&data),
                Some(Some(Live::Event { .. } | Live::Ping)) => {}
                Some(Some(other)) => return signal(other),
            }
        }
    }

    fn gather(&mut self, data: &str) {
        let signal = hint(data, self.count_at.as_deref());
        let earliest = self.last.map_or_else(Instant::now, |last| last + APART);
        let due = self.waiting.take().map(|(_, due)| due);
        self.waiting = Some((signal, due.unwrap_or_else(|| earliest.max(Instant::now() + GATHER))));
    }
}

async fn at(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => std::future::pending().await,
    }
}

/// Reads the count, if there is one. Leaves out the revision: compared with a gate's, it would say that nothing is new.
fn hint(data: &str, count_at: Option<&str>) -> EventKind {
    let pending = match count_at {
        Some(place) => pointer::find(data, place).and_then(|raw| json::decode(raw).text.parse().ok()),
        None => briefing::read(data).map(|briefing| briefing.pending),
    };
    match pending {
        Some(pending) => EventKind::Briefing(Briefing { pending, ..Briefing::default() }),
        None => EventKind::Changed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::source::Connection;

    fn told(pending: u64) -> EventKind {
        EventKind::Briefing(Briefing { pending, ..Briefing::default() })
    }

    fn briefing(data: &str) -> Live {
        Live::Event { kind: "briefing".to_owned(), data: data.to_owned(), id: None }
    }

    #[test]
    fn what_cannot_be_read_is_a_hint_all_the_same() {
        assert_eq!(hint(r#"{"counts":{"pending_actions":4}}"#, None), told(4));
        assert_eq!(hint(r#"{"a":[{"open":"4"}],"pending":9}"#, Some("/a/0/open")), told(4));
        for (data, place) in [("what?", None), (r#"{"delta":1}"#, None), (r#"{"pending":9}"#, Some("/a"))] {
            assert_eq!(hint(data, place), EventKind::Changed, "{data}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn burst_is_one_hint_and_the_next_waits() {
        let start = Instant::now();
        let (send, receive) = tokio::sync::mpsc::channel(16);
        let lives = stream::unfold(receive, |mut lives| async move { Some((lives.recv().await?, lives)) });
        let mut hints = Hints { lives: lives.fuse().boxed(), count_at: None, waiting: None, last: None };
        let other = Live::Event { kind: "message".to_owned(), data: "{}".to_owned(), id: None };
        for live in [Live::Up, other, briefing("1"), briefing(r#"{"pending":2}"#)] {
            send.send(live).await.unwrap();
        }

        assert_eq!(hints.next().await, Some(EventKind::Connection(Connection::Live)));
        assert_eq!((hints.next().await, start.elapsed()), (Some(told(2)), GATHER));
        send.send(briefing(r#"{"pending":3}"#)).await.unwrap();
        assert_eq!((hints.next().await, start.elapsed()), (Some(told(3)), GATHER + APART));
        send.send(briefing("{")).await.unwrap();
        drop(send);
        assert_eq!((hints.next().await, hints.next().await), (Some(EventKind::Changed), None));
    }
}
