//! The errors of a source.

use std::time::Duration;

use crate::domain::Untrusted;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// There was no connection, so nothing was sent.
    #[error("cannot be reached")]
    NotSent { why: Untrusted },
    /// No answer. The request may have arrived.
    #[error("gave no usable answer")]
    Unreachable { why: Untrusted },
    /// An unintelligible answer. The request may have taken effect.
    #[error("sent an answer that placet does not understand")]
    Protocol { why: Untrusted },
    #[error("asks for a valid token")]
    Unauthorized,
    #[error("does not allow this with this token")]
    Forbidden { why: Untrusted },
    #[error("asks to wait{}", wait(*.retry_after))]
    RateLimited { retry_after: Option<Duration> },
    /// A refusal with a reason. The request had no effect.
    #[error("refused the request")]
    Refused { why: Untrusted },
    #[error("cannot be asked: {0}")]
    Token(String),
}

impl SourceError {
    /// Returns whether the request may have taken effect.
    pub const fn lost_sight(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Protocol { .. })
    }

    /// Returns whether further requests would fail the same way. A refusal concerns only its own request.
    pub const fn stops_the_rest(&self) -> bool {
        !matches!(self, Self::Refused { .. })
    }

    /// Returns whether there was no answer, so that a retry may help.
    pub const fn is_away(&self) -> bool {
        matches!(self, Self::NotSent { .. } | Self::Unreachable { .. })
    }

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
