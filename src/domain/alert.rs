//! Kinds of alerts.

/// Ordered by severity, most severe first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AlertKind {
    /// The source is unreachable, refuses the token, or its data is stale.
    Down,
    /// A run in the last hour differed from its approval.
    RanOther,
    /// An approved action failed in the window.
    Failed,
    Unknown,
    /// A high-risk action waits longer than its target.
    HighRisk,
    Expiring,
    /// An approved action lapses soon, because no agent claimed it.
    Lapsing,
    OverTarget,
    /// A queue grew for the configured minutes.
    Growing,
    /// Missions wait for decisions, one of them longer than the target.
    Blocked,
}

impl AlertKind {
    pub const ALL: [Self; 10] = [
        Self::Down,
        Self::RanOther,
        Self::Failed,
        Self::Unknown,
        Self::HighRisk,
        Self::Expiring,
        Self::Lapsing,
        Self::OverTarget,
        Self::Growing,
        Self::Blocked,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Down => "source-down",
            Self::RanOther => "ran-other",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
            Self::HighRisk => "high-risk",
            Self::Expiring => "expiring",
            Self::Lapsing => "lapsing",
            Self::OverTarget => "over-target",
            Self::Growing => "growing",
            Self::Blocked => "blocked",
        }
    }
}
