//! The addresses of a backend: which to try first, and when to try the next.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use super::exchange::{Ask, HttpError, Reply};
use super::quiet::Quiet;

/// A request cancelled after this long counts as a failure of its address.
const GIVEN_UP: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct Address {
    pub(super) client: reqwest::Client,
    pub(super) base: String,
    pub(super) quiet: Quiet,
}

/// At least one address. All lead to one backend with one memory of idempotency keys.
#[derive(Debug)]
pub(super) struct Addresses {
    one: Arc<Address>,
    more: Vec<Arc<Address>>,
    first: AtomicUsize,
}

impl Addresses {
    pub(super) const fn new(one: Arc<Address>, more: Vec<Arc<Address>>) -> Self {
        Self { one, more, first: AtomicUsize::new(0) }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<Address>> {
        std::iter::once(&self.one).chain(&self.more)
    }

    pub(super) const fn count(&self) -> usize {
        self.more.len() + 1
    }

    pub(super) fn first(&self) -> usize {
        self.first.load(Ordering::Relaxed)
    }

    pub(super) fn at(&self, nth: usize) -> &Address {
        nth.checked_sub(1).and_then(|nth| self.more.get(nth)).unwrap_or(&self.one)
    }

    pub(super) const fn after(&self, nth: usize) -> usize {
        (nth + 1) % self.count()
    }

    pub(super) fn answered(&self, nth: usize) {
        self.first.store(nth, Ordering::Relaxed);
    }

    /// Moves on to the next address, unless a concurrent request already did.
    pub(super) fn failed(&self, nth: usize) {
        let next = self.after(nth);
        let moved = self.first.compare_exchange(nth, next, Ordering::Relaxed, Ordering::Relaxed);
        if moved.is_ok() && next != nth {
            tracing::info!(failed = self.at(nth).base, next = self.at(next).base, "another address is asked");
        }
    }

    /// Tracks a request. If it is dropped later than `GIVEN_UP` without [`Trying::ended`], the address has failed.
    pub(super) fn trying(&self, nth: usize) -> Trying<'_> {
        Trying { addresses: self, nth, since: Instant::now(), is_over: false }
    }
}

pub(super) struct Trying<'a> {
    addresses: &'a Addresses,
    nth: usize,
    since: Instant,
    is_over: bool,
}

impl Trying<'_> {
    pub(super) fn ended(mut self, end: &Result<Reply, HttpError>) {
        self.is_over = true;
        match end {
            _ if is_away(end) => self.addresses.failed(self.nth),
            Ok(_) => self.addresses.answered(self.nth),
            Err(_) => {}
        }
    }
}

impl Drop for Trying<'_> {
    fn drop(&mut self) {
        if !self.is_over && self.since.elapsed() >= GIVEN_UP {
            self.addresses.failed(self.nth);
        }
    }
}

/// Whether the backend did not answer: no reply, one from a stopping server, or one from a proxy that did not reach it.
const fn is_away(end: &Result<Reply, HttpError>) -> bool {
    match end {
        Ok(reply) => matches!(reply.status, 502..=504),
        Err(error) => matches!(error, HttpError::NotSent(_) | HttpError::Lost(_)),
    }
}

/// Reads and writes with a key continue at the next address; the backend executes a key once. Other writes continue
/// only while it is certain that nothing was done. Once a write may have arrived, only an answer about the action
/// itself settles it, not a refusal of the second attempt.
#[derive(Debug)]
pub(super) struct Round {
    writes: bool,
    has_key: bool,
    untouched: fn(&Reply) -> bool,
    may_have_arrived: bool,
    tried: Vec<String>,
}

impl Round {
    pub(super) fn new(ask: &Ask, untouched: fn(&Reply) -> bool) -> Self {
        let (writes, has_key) = (ask.body.is_some(), ask.key.is_some());
        Self { writes, has_key, untouched, may_have_arrived: false, tried: Vec::new() }
    }

    /// Takes the result of an attempt. `None` means: try the next address. `is_last`: no address is left.
    pub(super) fn takes(
        &mut self,
        base: &str,
        end: Result<Reply, HttpError>,
        is_last: bool,
    ) -> Option<Result<Reply, HttpError>> {
        let nothing_done = match &end {
            Ok(reply) => (self.untouched)(reply),
            Err(error) => matches!(error, HttpError::NotSent(_) | HttpError::Token(_)),
        };
        let may_go_on = !self.writes || self.has_key || nothing_done;
        let is_away = is_away(&end);
        if self.tried.is_empty() && (!is_away || is_last || !may_go_on) {
            return Some(end);
        }
        let tells = |reply: &Reply| !self.writes || matches!(reply.status, 200..=299 | 409);
        match &end {
            Ok(reply) if !is_away && (!self.may_have_arrived || tells(reply)) => return Some(end),
            Err(_) if !is_away && !self.may_have_arrived => return Some(end),
            Ok(reply) => self.tried.push(format!("{base}: HTTP {}", reply.status)),
            Err(error) => self.tried.push(format!("{base}: {error}")),
        }
        self.may_have_arrived |= is_away && !nothing_done;
        if is_away && !is_last && may_go_on {
            return None;
        }
        let tried = self.tried.join("; ");
        Some(Err(if self.may_have_arrived { HttpError::Lost(tried) } else { HttpError::NotSent(tried) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(word: &str) -> Result<Reply, HttpError> {
        let status = match word {
            "refused" => return Err(HttpError::NotSent(word.to_owned())),
            "broken" => return Err(HttpError::Lost(word.to_owned())),
            "no token" => return Err(HttpError::Token(word.to_owned())),
            "stopping" => 503,
            status => status.parse().unwrap(),
        };
        Ok(Reply { status, text: word.to_owned(), retry_after: None })
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Kind {
        Read,
        Keyed,
        Bare,
    }

    fn ends(kind: Kind, ends: &[&str]) -> (usize, String) {
        let body = (kind != Kind::Read).then(String::new);
        let key = (kind == Kind::Keyed).then(String::new);
        let ask = Ask { path: String::new(), body, key, limit: Duration::ZERO };
        let mut round = Round::new(&ask, |reply| reply.text == "stopping");
        for (nth, word) in ends.iter().enumerate() {
            if let Some(end) = round.takes(&nth.to_string(), end(word), nth + 1 == ends.len()) {
                let word = match end {
                    Ok(reply) => reply.status.to_string(),
                    Err(HttpError::NotSent(why)) => format!("not sent: {why}"),
                    Err(HttpError::Lost(why)) => format!("lost: {why}"),
                    Err(error) => error.to_string(),
                };
                return (nth + 1, word);
            }
        }
        panic!("the last try is the end")
    }

    #[test]
    fn the_next_address_is_tried_only_if_safe() {
        for (kind, first, tries) in [
            (Kind::Read, "refused", 2),
            (Kind::Read, "broken", 2),
            (Kind::Read, "502", 2),
            (Kind::Read, "504", 2),
            (Kind::Read, "500", 1),
            (Kind::Read, "429", 1),
            (Kind::Read, "401", 1),
            (Kind::Keyed, "refused", 2),
            (Kind::Keyed, "broken", 2),
            (Kind::Keyed, "503", 2),
            (Kind::Keyed, "412", 1),
            (Kind::Bare, "refused", 2),
            (Kind::Bare, "stopping", 2),
            (Kind::Bare, "503", 1),
            (Kind::Bare, "broken", 1),
        ] {
            assert_eq!(ends(kind, &[first, "200"]).0, tries, "{kind:?} after {first}");
        }
    }

    #[test]
    fn a_single_address_returns_its_answer() {
        for (end, word) in [("503", "503"), ("broken", "lost: broken"), ("refused", "not sent: refused")] {
            assert_eq!(ends(Kind::Keyed, &[end]).1, word);
        }
    }

    #[test]
    fn a_write_that_may_have_arrived_stays_unsettled() {
        for second in ["refused", "stopping", "401", "404", "412", "429", "500"] {
            for first in ["broken", "502", "503"] {
                let (_, end) = ends(Kind::Keyed, &[first, second]);
                assert!(end.starts_with("lost: 0: "), "{end} after {first} and {second}");
            }
        }
        assert_eq!(ends(Kind::Keyed, &["broken", "200"]).1, "200");
        assert_eq!(ends(Kind::Keyed, &["broken", "409"]).1, "409");
        assert_eq!(ends(Kind::Keyed, &["refused", "412"]).1, "412", "only one request arrived");
        assert_eq!(ends(Kind::Read, &["broken", "401"]).1, "401", "reads change nothing");
        assert_eq!(ends(Kind::Keyed, &["broken", "no token"]).1, "lost: 0: broken; 1: no token");
    }

    #[test]
    fn a_failed_round_names_all_tried_addresses() {
        assert_eq!(
            ends(Kind::Keyed, &["refused", "stopping", "refused"]).1,
            "not sent: 0: refused; 1: HTTP 503; 2: refused",
        );
        assert_eq!(ends(Kind::Bare, &["refused", "broken", "200"]).1, "lost: 0: refused; 1: broken");
    }

    fn addresses(count: usize) -> Addresses {
        let address = |nth: usize| {
            let client = crate::net::http::build(|builder| builder).unwrap();
            let (base, quiet) = (nth.to_string(), Quiet::default());
            Arc::new(Address { client, base, quiet })
        };
        Addresses::new(address(0), (1..count).map(address).collect())
    }

    #[test]
    fn the_address_that_answered_last_is_first() {
        let addresses = addresses(3);
        let ends = |nth: usize, word: &str| addresses.trying(nth).ended(&end(word));

        ends(2, "404");
        assert_eq!(addresses.first(), 2);
        ends(2, "broken");
        ends(2, "broken");
        assert_eq!(addresses.first(), 0, "concurrent failures move on once");
        ends(0, "503");
        assert_eq!(addresses.first(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_that_was_given_up_is_not_first() {
        let addresses = addresses(2);

        drop(addresses.trying(0));
        assert_eq!(addresses.first(), 0, "a short request was cancelled");
        let trying = addresses.trying(0);
        tokio::time::advance(GIVEN_UP).await;
        drop(trying);

        assert_eq!(addresses.first(), 1);
    }
}
