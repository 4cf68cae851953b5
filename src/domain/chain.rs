//! Records that are chained by hashes, so that what is changed afterwards is found.
//!
//! A record's hash is SHA-256 over a label, the record's fields in an order that its format fixes, and the hash of the record
//! before it last (absent before the first). Numbers are decimal, moments in milliseconds since 1970. Each has its length in front
//! (unsigned 64-bit, big-endian); each after the label begins with one byte, which is counted: 1, or 0 and nothing behind it for
//! what is absent, so that absent is not empty. The chain shows what somebody changed who could not also change a head that was kept
//! elsewhere before.

use super::Digest;

/// How far a chain goes: the number and the hash of its newest record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    pub number: u64,
    /// `None`: no record has a hash yet.
    pub hash: Option<String>,
}

/// What does not fit about one record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Misfit {
    /// The number that is not there before it.
    pub missing: Option<u64>,
    /// Its hash is not that of its fields behind the record before it.
    pub changed: bool,
}

/// The hash of a record that follows the one with the hash `before`.
pub fn link<'a>(
    label: &str,
    fields: impl IntoIterator<Item = Option<&'a str>>,
    before: Option<&'a str>,
) -> Digest {
    Digest::of_fields(label, fields.into_iter().chain([before]))
}

impl Chain {
    /// Goes on to the next record, by its number, its hash and the hash that it should have behind the one before. One changed record is
    /// one misfit: what follows is held against the hash that it has.
    pub fn take(&mut self, number: u64, hash: &str, expected: impl FnOnce(Option<&str>) -> String) -> Misfit {
        let next = self.number.saturating_add(1);
        let changed = expected(self.hash.as_deref()) != hash;
        *self = Self { number, hash: Some(hash.to_owned()) };
        Misfit { missing: (number != next).then_some(next), changed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_and_missing_records_are_told_once_each() {
        let expected = |number: u64| {
            move |before: Option<&str>| link("x", [Some(number.to_string().as_str())], before).to_string()
        };
        let first = expected(1)(None);
        let third = expected(3)(Some("changed"));
        let mut chain = Chain::default();

        assert_eq!(chain.take(1, &first, expected(1)), Misfit::default());
        assert_eq!(chain.take(2, "changed", expected(2)), Misfit { missing: None, changed: true });
        assert_eq!(chain.take(3, &third, expected(3)), Misfit::default());
        let fifth = expected(5)(Some(third.as_str()));
        assert_eq!(chain.take(5, &fifth, expected(5)), Misfit { missing: Some(4), changed: false });
        assert_eq!(chain, Chain { number: 5, hash: Some(fifth) });
    }
}
