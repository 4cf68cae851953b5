//! Hash chains of records, which reveal later changes.
//!
//! A record's hash is SHA-256 over a label, the record's fields in a fixed order, and the previous hash (absent for the
//! first record). Numbers are decimal, times in milliseconds since 1970. Each part has its length in front (64-bit,
//! big-endian). Each part after the label starts with a byte that is included in the length: 1, or 0 without content if
//! absent, so absent differs from empty. A change stays hidden only if its author could also change the head that was
//! kept elsewhere.

use super::Digest;

/// Number and hash of the newest record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    pub number: u64,
    /// `None` before the first record.
    pub hash: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Misfit {
    pub missing: Option<u64>,
    /// Its hash does not match its fields and the previous hash.
    pub changed: bool,
}

/// Returns the hash of a record after the hash `before`.
pub fn link<'a>(
    label: &str,
    fields: impl IntoIterator<Item = Option<&'a str>>,
    before: Option<&'a str>,
) -> Digest {
    Digest::of_fields(label, fields.into_iter().chain([before]))
}

impl Chain {
    /// Verifies the next record by number, hash and the expected hash after the previous one. A changed record is one
    /// misfit, because the next one is checked against the hash as recorded.
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
    fn each_changed_or_missing_record_is_reported_once() {
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
