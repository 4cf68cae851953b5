//! The addresses of one backend: which of them is asked first, and when a request goes on with the next.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use super::exchange::{Ask, HttpError, Reply};
use super::quiet::Quiet;

/// Whoever gave a request up after so long gave up its address.
const GIVEN_UP: Duration = Duration::from_secs(5);

/// One of them.
#[derive(Debug)]
pub(super) struct Address {
    pub(super) client: reqwest::Client,
    /// Without a trailing slash.
    pub(super) base: String,
    pub(super) quiet: Quiet,
}

/// All of them; one at least. They lead to one backend, which remembers a key whichever way it came.
#[derive(Debug)]
pub(super) struct Addresses {
    one: Arc<Address>,
    more: Vec<Arc<Address>>,
    /// The one that answered last, or the one after that which failed last.
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

    /// The number of the one that is asked first.
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

    /// Unless somebody else moved on already.
    pub(super) fn failed(&self, nth: usize) {
        let next = self.after(nth);
        let moved = self.first.compare_exchange(nth, next, Ordering::Relaxed, Ordering::Relaxed);
        if moved.is_ok() && next != nth {
            tracing::info!(failed = self.at(nth).base, next = self.at(next).base, "another address is asked");
        }
    }

    /// What is dropped before it says how it ended was given up, and an address that hangs is not asked first again.
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

/// No answer of the backend: there is none, or it comes from one that is stopping, or from a proxy that did not reach it.
const fn is_away(end: &Result<Reply, HttpError>) -> bool {
    match end {
        Ok(reply) => matches!(reply.status, 502..=504),
        Err(error) => matches!(error, HttpError::NotSent(_) | HttpError::Lost(_)),
    }
}

/// One request on its way round the addresses.
///
/// What only reads goes on with the next. So does what carries a key: the backend does it once, however often it comes. Any other
/// request goes on only while it is sure that nothing was done. Once a write may have arrived, only an answer about the action
/// itself tells what became of it: a refusal of the second try is none of the first.
#[derive(Debug)]
pub(super) struct Round {
    writes: bool,
    has_key: bool,
    /// An answer which says that nothing was done.
    untouched: fn(&Reply) -> bool,
    may_have_arrived: bool,
    tried: Vec<String>,
}

impl Round {
    pub(super) fn new(ask: &Ask, untouched: fn(&Reply) -> bool) -> Self {
        let (writes, has_key) = (ask.body.is_some(), ask.key.is_some());
        Self { writes, has_key, untouched, may_have_arrived: false, tried: Vec::new() }
    }

    /// Takes the end of one try. `None`: go on with the next address, of which there is one unless this `is_last`.
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

    /// How one try ends: with a status, or without an answer.
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

    /// How many addresses were tried, and the end, in one word.
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
    fn next_address_is_tried_only_where_that_is_safe() {
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
    fn one_address_ends_as_it_answers() {
        for (end, word) in [("503", "503"), ("broken", "lost: broken"), ("refused", "not sent: refused")] {
            assert_eq!(ends(Kind::Keyed, &[end]).1, word);
        }
    }

    #[test]
    fn write_that_may_have_arrived_stays_so() {
        for second in ["refused", "stopping", "401", "404", "412", "429", "500"] {
            for first in ["broken", "502", "503"] {
                let (_, end) = ends(Kind::Keyed, &[first, second]);
                assert!(end.starts_with("lost: 0: "), "{end} after {first} and {second}");
            }
        }
        assert_eq!(ends(Kind::Keyed, &["broken", "200"]).1, "200");
        assert_eq!(ends(Kind::Keyed, &["broken", "409"]).1, "409");
        assert_eq!(ends(Kind::Keyed, &["refused", "412"]).1, "412", "only one arrived");
        assert_eq!(ends(Kind::Read, &["broken", "401"]).1, "401", "nothing could be done by it");
        assert_eq!(ends(Kind::Keyed, &["broken", "no token"]).1, "lost: 0: broken; 1: no token");
    }

    #[test]
    fn failed_round_names_all_that_were_tried() {
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
    fn first_is_the_one_that_answered_last() {
        let addresses = addresses(3);
        let ends = |nth: usize, word: &str| addresses.trying(nth).ended(&end(word));

        ends(2, "404");
        assert_eq!(addresses.first(), 2);
        ends(2, "broken");
        ends(2, "broken");
        assert_eq!(addresses.first(), 0, "two requests that failed together move on once");
        ends(0, "503");
        assert_eq!(addresses.first(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn address_that_was_given_up_is_not_first_again() {
        let addresses = addresses(2);

        drop(addresses.trying(0));
        assert_eq!(addresses.first(), 0, "somebody looked away");
        let trying = addresses.trying(0);
        tokio::time::advance(GIVEN_UP).await;
        drop(trying);

        assert_eq!(addresses.first(), 1);
    }
}
