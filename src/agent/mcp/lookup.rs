//! Asks a server for its tools and name before a call is decided. A client of MCP 2026-07-28 may call a tool in a
//! process that has seen neither.

use std::time::{Duration, Instant};

use super::line::{self, Message, RequestId};

/// Time limit for all questions. Afterwards the call is gated without the answers.
const LIMIT: Duration = Duration::from_secs(5);
/// Maximum number of pages of tools.
const PAGES: u8 = 20;

#[derive(Debug)]
pub(super) struct Lookup {
    pub(super) request: Option<RequestId>,
    /// The id of the first held call.
    pub(super) like: RequestId,
    meta: String,
    until: Instant,
    cursor: Option<String>,
    pages: u8,
    has_list: bool,
    has_discovered: bool,
}

impl Lookup {
    /// Prepares the questions for a held call, with its client's name. With `has_discovered` the server is not asked
    /// for its name.
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

    /// Returns the next request without its beginning up to the id, `None` if no more are needed.
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

    pub(super) fn answered(&mut self, answer: &Message<'_>) {
        self.request = None;
        let next = answer.raw("result").and_then(|result| line::member(result, "nextCursor"));
        self.cursor = next.filter(|next| next.starts_with('"') && self.pages < PAGES).map(str::to_owned);
        self.has_list = self.pages > 0 && self.cursor.is_none();
    }
}
