use std::time::Duration;

use crate::agent::clients::CLIENTS;

/// The wait for a decision before a call is parked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wait {
    /// Slightly less than the client's own time limit.
    #[default]
    Auto,
    Never,
    For(Duration),
}

/// Clients of the TypeScript SDK (1.32.2) give up after 60 s without progress.
const WITHOUT_PROGRESS: Duration = Duration::from_secs(45);

impl Wait {
    /// Returns the wait for a call of `client`, by the name that it gives itself. Clients that are not in the table wait
    /// as long as they receive progress.
    pub(super) fn limit(self, client: &str, takes_progress: bool) -> Duration {
        match self {
            Self::For(limit) => limit,
            Self::Never => Duration::MAX,
            Self::Auto => {
                let known = CLIENTS.into_iter().find(|known| client.contains(known.word));
                let others = if takes_progress { Duration::MAX } else { WITHOUT_PROGRESS };
                known.and_then(|known| known.patience).unwrap_or(others)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_is_answered_before_it_gives_up() {
        let auto = |client, progress| Wait::Auto.limit(client, progress).as_secs();

        assert_eq!(auto("codex-mcp-client", true), 240);
        assert_eq!(auto("gemini-cli-mcp-client", true), 540);
        assert_eq!(auto("mcp", false), 45);
        for patient in ["claude-code", "opencode"] {
            assert_eq!(Wait::Auto.limit(patient, true), Duration::MAX);
        }
        assert_eq!(Wait::For(WITHOUT_PROGRESS).limit("claude-code", true), WITHOUT_PROGRESS);
        assert_eq!(Wait::Never.limit("codex-mcp-client", false), Duration::MAX);
    }
}
