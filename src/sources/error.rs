//! Why a request did not end well.

use std::time::Duration;

use crate::domain::Untrusted;

/// A request did not end well.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// No connection came about: nothing was sent.
    #[error("cannot be reached")]
    NotSent { why: Untrusted },
    /// No answer; what was sent may or may not have arrived.
    #[error("gave no usable answer")]
    Unreachable { why: Untrusted },
    /// An answer that makes no sense; what was sent may or may not have landed.
    #[error("sent an answer that placet does not understand")]
    Protocol { why: Untrusted },
    #[error("asks for a valid token")]
    Unauthorized,
    #[error("does not allow this with this token")]
    Forbidden { why: Untrusted },
    #[error("asks to wait{}", wait(*.retry_after))]
    RateLimited { retry_after: Option<Duration> },
    /// A refusal with a reason: nothing landed.
    #[error("refused the request")]
    Refused { why: Untrusted },
    #[error("cannot be asked: {0}")]
    Token(String),
}

impl SourceError {
    /// True when what was sent may have landed all the same.
    pub const fn lost_sight(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Protocol { .. })
    }

    /// A request that follows would meet the same. A refusal is about what was in this one.
    pub const fn stops_the_rest(&self) -> bool {
        !matches!(self, Self::Refused { .. })
    }

    /// There was no answer, which may be otherwise in a moment.
    pub const fn is_away(&self) -> bool {
        matches!(self, Self::NotSent { .. } | Self::Unreachable { .. })
    }

    /// What the other side said, where it said something.
    pub const fn why(&self) -> Option<&Untrusted> {
        match self {
            Self::NotSent { why }
            | Self::Unreachable { why }
            | Self::Protocol { why }
            | Self::Forbidden { why }
            | Self::Refused { why } => Some(why),
            Self::Unauthorized | Self::RateLimited { .. } | Self::Token(_) => None,
        }
    }
}

fn wait(retry_after: Option<Duration>) -> String {
    retry_after.map_or_else(String::new, |wait| format!(" for {} s", wait.as_secs()))
}
