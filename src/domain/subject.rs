//! Subjects of tokens: when two of them name one person or program.

use super::Untrusted;

/// Do both name the same person or program? Blanks around a name and upper and lower case make no other one of it.
pub fn is_same_subject(one: &str, other: &str) -> bool {
    one == other || folded(one) == folded(other)
}

/// The same of names as a source spells them.
pub fn is_same(one: &Untrusted, other: &Untrusted) -> bool {
    is_same_subject(one.as_raw(), other.as_raw())
}

/// The same for every spelling of a subject.
pub fn folded(name: &str) -> String {
    // Upper case first: it makes one of letters that have several lower forms.
    name.trim().chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_and_case_make_no_other_subject() {
        for (one, other) in [("solo", "Solo "), ("solo", "\tSOLO\n"), ("straße", "STRASSE"), ("ΟΔΟΣ", "οδος")]
        {
            assert!(is_same_subject(one, other), "{one:?} {other:?}");
        }
        for (one, other) in [("solo", "so lo"), ("solo", "solo2"), ("ı", "i1")] {
            assert!(!is_same_subject(one, other), "{one:?} {other:?}");
        }
    }
}
