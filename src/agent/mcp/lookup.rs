//! Requests of placet's own, by which it learns what it must know of a server before it holds a call. A client of MCP 2026-07-28 may
//! call a tool in a process that has shown it neither the server's name nor its tools.

use std::time::{Duration, Instant};

use super::line::{self, Message, RequestId};

/// Limit for all questions together. Then the call is gated as it is known.
const LIMIT: Duration = Duration::from_secs(5);
/// Most pages of tools that are asked for.
const PAGES: u8 = 20;

/// The questions that held calls wait for.
#[derive(Debug)]
pub(super) struct Lookup {
    /// The id of the request that has no answer yet.
    pub(super) request: Option<RequestId>,
    /// The client's id of the first held call.
    pub(super) like: RequestId,
    meta: String,
    until: Instant,
    cursor: Option<String>,
    pages: u8,
    has_list: bool,
    has_discovered: bool,
}

impl Lookup {
    /// Prepares the questions for a held call. They name its client. With `has_discovered`, the name is not asked for again.
    pub(super) fn of(call: &Message<'_>, like: RequestId, has_discovered: bool, now: Instant) -> Self {
        let meta = ["protocolVersion", "clientInfo", "clientCapabilities"].into_iter().filter_map(|key| {
            call.meta(key).map(|value| format!(r#""io.modelcontextprotocol/{key}":{value}"#))
        });
        let meta = meta.collect::<Vec<_>>().join(",");
        let until = now + LIMIT;
        Self { request: None, like, meta, until, cursor: None, pages: 0, has_list: false, has_discovered }
    }

    pub(super) fn is_late(&self, now: Instant) -> bool {
        now >= self.until
    }

    /// The next request, without the beginning up to its id; `None` if no other is needed.
    pub(super) fn next(&mut self, needs_list: bool, needs_name: bool) -> Option<String> {
        let meta = &self.meta;
        if needs_list && !self.has_list {
            self.pages += 1;
            let cursor =
                self.cursor.take().map(|cursor| format!(r#""cursor":{cursor},"#)).unwrap_or_default();
            return Some(format!(r#""method":"tools/list","params":{{{cursor}"_meta":{{{meta}}}}}}}"#));
        }
        (needs_name && !std::mem::replace(&mut self.has_discovered, true))
            .then(|| format!(r#""method":"server/discover","params":{{"_meta":{{{meta}}}}}}}"#))
    }

    /// Takes the answer to the last request.
    pub(super) fn answered(&mut self, answer: &Message<'_>) {
        self.request = None;
        let next = answer.raw("result").and_then(|result| line::member(result, "nextCursor"));
        self.cursor = next.filter(|next| next.starts_with('"') && self.pages < PAGES).map(str::to_owned);
        self.has_list = self.pages > 0 && self.cursor.is_none();
    }
}
