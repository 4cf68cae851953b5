//! What a lead should look at, by name.

/// The gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AlertKind {
    /// The source cannot be reached, refuses the token, or its data is old.
    Down,
    /// Something else ran than what was approved, in the last hour.
    RanOther,
    /// Failed after it was approved, in the window.
    Failed,
    Unknown,
    /// High-risk, and waiting for longer than high risks may.
    HighRisk,
    /// Pending, and expires soon.
    Expiring,
    /// Approved, and no agent claims it: it lapses soon.
    Lapsing,
    OverTarget,
    /// More comes than goes, for so many minutes.
    Growing,
    /// Missions that cannot go on until somebody decides, one of them for longer than the target.
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

    /// In configuration and JSON.
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
