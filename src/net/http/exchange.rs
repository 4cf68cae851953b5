//! One request, its answer, and why there is none.

use std::time::Duration;

/// Largest reply that is read, in bytes. A larger one is refused, not cut.
pub const REPLY_MAX: usize = 64 << 20;
/// One request. `path` starts with `/` and holds the query; its parts were encoded with [`crate::net::url`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    pub path: String,
    /// JSON to POST; `None` is a GET.
    pub body: Option<String>,
    /// The header `Idempotency-Key`.
    pub key: Option<String>,
    /// For the whole exchange, from the first byte sent to the last byte read.
    pub limit: Duration,
}

/// Any answer, whatever its status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    pub status: u16,
    /// A byte that is no UTF-8 is replaced by U+001A and its two hex digits. JSON allows no such character anywhere, so that
    /// what held the byte is never taken for whole.
    pub text: String,
    pub retry_after: Option<Duration>,
}

/// There was no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    /// No connection came about: nothing was sent.
    #[error("{0}")]
    NotSent(String),
    /// The request may have arrived.
    #[error("{0}")]
    Lost(String),
    /// The request arrived; the answer is beyond [`REPLY_MAX`].
    #[error("the reply is larger than {} MiB", REPLY_MAX >> 20)]
    TooLarge,
    /// The request arrived; the answer is in a form that was not asked for.
    #[error("{0}")]
    Form(String),
    #[error("{0}")]
    Token(String),
}
