use std::time::Duration;

/// The wait for a decision before a call is parked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wait {
    /// Slightly less than the client's own time limit.
    #[default]
    Auto,
    /// Never park.
    Never,
    For(Duration),
}

/// Codex 0.169.0 gives up after 300 s, even with progress.
const CODEX: Duration = Duration::from_mins(4);
/// Gemini CLI 0.61.0 gives up after 600 s, even with progress.
const GEMINI: Duration = Duration::from_mins(9);
/// Clients of the TypeScript SDK (1.32.2) give up after 60 s without progress.
const WITHOUT_PROGRESS: Duration = Duration::from_secs(45);

impl Wait {
    /// Returns the wait for a call of `client`. Clients not listed here wait as long as they receive progress.
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
