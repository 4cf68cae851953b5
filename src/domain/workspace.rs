const NAME_MAX: usize = 128;

/// Checks a workspace's name. The error states the rule.
pub fn check_name(name: &str) -> Result<(), &'static str> {
    let is_name = !name.trim().is_empty()
        && name.chars().count() <= NAME_MAX
        && !name.chars().any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'));
    let what = "the name of a workspace has 1 to 128 characters, not only blanks, and no control characters or line breaks";
    if is_name { Ok(()) } else { Err(what) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_bounded_without_control_characters() {
        for name in ["default", "550e8400-e29b-41d4-a716-446655440000", "büro 7/ä", &"ü".repeat(128)] {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
        for name in
            ["", " ", "a\u{0}b", "a\nb", "a\u{7f}", "a\u{85}b", "a\u{2028}b", "\u{1b}[2J", &"a".repeat(129)]
        {
            assert!(check_name(name).is_err(), "{name:?}");
        }
    }
}
