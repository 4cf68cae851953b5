use std::time::Duration;

/// Maximum bytes of a reply. A larger one is refused, not cut.
pub const REPLY_MAX: usize = 64 << 20;
/// A request. `path` starts with `/` and includes the query, encoded with [`crate::net::url`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    pub path: String,
    /// JSON to POST; `None` sends a GET.
    pub body: Option<String>,
    pub key: Option<String>,
    /// Time limit for the whole exchange.
    pub limit: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    pub status: u16,
    /// Bytes that are not UTF-8 become U+001A and two hex digits. JSON forbids that character, so the damage is
    /// noticed.
    pub text: String,
    pub retry_after: Option<Duration>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    /// Not connected, so nothing was sent.
    #[error("{0}")]
    NotSent(String),
    #[error("{0}")]
    Lost(String),
    /// The request arrived, but the reply exceeds [`REPLY_MAX`].
    #[error("the reply is larger than {} MiB", REPLY_MAX >> 20)]
    TooLarge,
    /// The request arrived, but the reply has an unexpected encoding.
    #[error("{0}")]
    Form(String),
    #[error("{0}")]
    Token(String),
}
