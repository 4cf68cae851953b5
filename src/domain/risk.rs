//! Risk and effect of a write.

use super::Untrusted;

/// Potential harm of an action. An unknown word is kept and ranks as high.
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

    pub fn word(&self) -> Untrusted {
        Untrusted::from(self.as_raw())
    }

    pub fn as_raw(&self) -> &str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
            Self::Other(word) => word.as_raw(),
        }
    }

    /// 0 low, 1 medium, 2 high and unknown words, 3 critical.
    pub const fn rank(&self) -> u8 {
        match self {
            Self::Low => 0,
            Self::Medium => 1,
            Self::High | Self::Other(_) => 2,
            Self::Critical => 3,
        }
    }

    /// High, critical or unknown: approval needs more than a key press.
    pub const fn is_high(&self) -> bool {
        Self::is_high_rank(self.rank())
    }

    pub const fn is_high_rank(rank: u8) -> bool {
        rank >= 2
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Changes nothing. The gate does not hold reads.
    Read,
    Write,
    External,
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

    pub fn word(&self) -> Untrusted {
        Untrusted::from(self.as_raw())
    }

    pub fn as_raw(&self) -> &str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::External => "external",
            Self::Destructive => "destructive",
            Self::Other(word) => word.as_raw(),
        }
    }

    /// 0 read, 1 write, 2 external and unknown words, 3 destructive.
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
