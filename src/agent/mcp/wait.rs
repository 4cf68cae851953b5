//! How long a call waits for its human before it is parked.

use std::time::Duration;

/// How long a call waits for its human before the client reads that it waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wait {
    /// As long as the client does.
    #[default]
    Auto,
    /// Until somebody decides.
    Never,
    /// So long.
    For(Duration),
}

/// Codex 0.169.0 gives up after 300 s, with progress or without.
const CODEX: Duration = Duration::from_mins(4);
/// Gemini CLI 0.61.0 gives up after 600 s, with progress or without.
const GEMINI: Duration = Duration::from_mins(9);
/// Clients of the TypeScript SDK (1.32.2) give up after 60 s unless they take progress.
const WITHOUT_PROGRESS: Duration = Duration::from_secs(45);

impl Wait {
    /// For a call of the client that calls itself `client`. Other clients wait as long as they read of progress.
    pub(super) fn limit(self, client: &str, takes_progress: bool) -> Duration {
        match self {
            Self::For(limit) => limit,
            Self::Never => Duration::MAX,
            Self::Auto if client.contains("codex") => CODEX,
            Self::Auto if client.contains("gemini") => GEMINI,
            Self::Auto if takes_progress => Duration::MAX,
            Self::Auto => WITHOUT_PROGRESS,
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
        assert_eq!(Wait::For(CODEX).limit("claude-code", true), CODEX);
        assert_eq!(Wait::Never.limit("codex-mcp-client", false), Duration::MAX);
    }
}
