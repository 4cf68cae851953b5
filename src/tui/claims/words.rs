//! Texts of claims.

pub(crate) const YOU: &str = "you";
pub(crate) const NOT_KEPT: &str = "this source keeps no claims: nobody else would see it";
pub(crate) const ONLY_PENDING: &str = "only what waits for a decision can be claimed";
pub(crate) const CLAIMED: &str = "Claimed. Anyone can still decide";
pub(crate) const ENDED: &str = "no longer claimed";
pub(crate) const NOT_CLAIMED: &str = "it could not be claimed: ";
pub(crate) const OTHERS_ARE_ON_IT: &str = "what is left here is claimed by others";

sentences! {
    theirs(who: &str, since: &str) => "{who} has been on it for {since}; you can decide it all the same";
    note(who: &str, since: &str) => "{who} has been on it for {since}";
}

/// Formats a duration in milliseconds: `2 min`.
pub(crate) fn since(millis: i64) -> String {
    match millis.max(0) / 60_000 {
        0 => "<1 min".to_owned(),
        minutes @ 1..60 => format!("{minutes} min"),
        minutes => format!("{} h", minutes / 60),
    }
}
