//! How much harm a write can do, and of what kind it is.

use super::Untrusted;

/// How much harm an approved action could do.
///
/// A word this version does not know is kept as it came and ranks as high: an unknown risk is not a small one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub enum Risk {
    Low,
    #[default]
    Medium,
    High,
    Critical,
    Other(Untrusted),
}

impl Risk {
    pub fn parse(word: &str) -> Self {
        match word {
            "low" => Self::Low,
            "medium" => Self::Medium,
            "high" => Self::High,
            "critical" => Self::Critical,
            other => Self::Other(Untrusted::from(other)),
        }
    }

    /// The word for the door to the screen: it may be foreign.
    pub fn word(&self) -> Untrusted {
        Untrusted::from(self.as_raw())
    }

    /// The word on the wire and in storage.
    pub fn as_raw(&self) -> &str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
            Self::Other(word) => word.as_raw(),
        }
    }

    /// Order of harm: 0 low, 1 medium, 2 high and unknown words, 3 critical.
    pub const fn rank(&self) -> u8 {
        match self {
            Self::Low => 0,
            Self::Medium => 1,
            Self::High | Self::Other(_) => 2,
            Self::Critical => 3,
        }
    }

    /// High, critical or unknown: approving it asks for more than a key press.
    pub const fn is_high(&self) -> bool {
        self.rank() >= 2
    }
}

/// What kind of write a tool does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Changes nothing. The gate does not hold reads.
    Read,
    /// Writes inside the workspace.
    Write,
    /// Writes to a third party.
    External,
    /// Removes or overwrites something.
    Destructive,
    Other(Untrusted),
}

impl Effect {
    pub fn parse(word: &str) -> Self {
        match word {
            "read" => Self::Read,
            "write" => Self::Write,
            "external" => Self::External,
            "destructive" => Self::Destructive,
            other => Self::Other(Untrusted::from(other)),
        }
    }

    /// The word for the door to the screen: it may be foreign.
    pub fn word(&self) -> Untrusted {
        Untrusted::from(self.as_raw())
    }

    /// The word on the wire and in storage.
    pub fn as_raw(&self) -> &str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::External => "external",
            Self::Destructive => "destructive",
            Self::Other(word) => word.as_raw(),
        }
    }

    /// Order of reach: 0 read, 1 write, 2 external and unknown words, 3 destructive.
    pub const fn rank(&self) -> u8 {
        match self {
            Self::Read => 0,
            Self::Write => 1,
            Self::External | Self::Other(_) => 2,
            Self::Destructive => 3,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_risk_ranks_as_high() {
        assert_eq!(Risk::parse("spicy").rank(), Risk::High.rank());
        assert_eq!(Risk::parse("spicy").as_raw(), "spicy");
    }
}
