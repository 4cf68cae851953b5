//! Subjects of tokens: equality of spellings, and validation.

use icu_properties::CodePointSetData;
use icu_properties::props::{DefaultIgnorableCodePoint, EnumeratedProperty as _, GeneralCategory};
use unicode_normalization::UnicodeNormalization as _;
use unicode_security::mixed_script::AugmentedScriptSet;

use super::Untrusted;

/// Whether both name the same person or program, by [`folded`].
pub fn is_same_subject(one: &str, other: &str) -> bool {
    one == other || folded(one) == folded(other)
}

pub fn is_same(one: &Untrusted, other: &Untrusted) -> bool {
    is_same_subject(one.as_raw(), other.as_raw())
}

/// Returns the same text for all spellings of a subject that look alike: NFKC, case folded, without invisible
/// characters, trimmed.
pub fn folded(name: &str) -> String {
    if name.is_ascii() && !name.contains(is_unseen) {
        return name.trim().to_ascii_lowercase();
    }
    // A step can undo another: `ſ` is an `s` only after NFKC, and `ẞ` has two capitals only after lowercasing. After
    // two rounds the text is stable.
    let round = |text: &str| -> String {
        let seen = text.nfkc().filter(|c| c.is_whitespace() || !is_unseen(*c));
        seen.flat_map(char::to_lowercase).flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
    };
    round(&round(name)).nfkc().collect::<String>().trim().to_owned()
}

/// Refuses subjects that can be mistaken for others. The error continues words such as "the subject".
pub fn check(name: &str) -> Result<(), String> {
    if let Some(unseen) = name.chars().find(|c| is_unseen(*c)) {
        return Err(format!("holds U+{:04X}, which cannot be seen", u32::from(unseen)));
    }
    if !name.is_ascii() && mixes_scripts(name) {
        return Err("mixes scripts, so it can look like another one; write it in one script, or in Latin \
                    with Chinese, Japanese or Korean"
            .to_owned());
    }
    Ok(())
}

fn is_unseen(c: char) -> bool {
    use GeneralCategory as G;
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    let category = GeneralCategory::for_char(c);
    matches!(category, G::Control | G::Format | G::LineSeparator | G::ParagraphSeparator)
        || matches!(category, G::PrivateUse | G::Unassigned)
        || CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(c)
}

/// Whether a text violates the highly restrictive profile of UTS 39 (section 5.2): several scripts, except Latin with
/// Japanese, Chinese or Korean. Other characters than that profile's identifiers are allowed, such as `@`.
fn mixes_scripts(name: &str) -> bool {
    let latin = AugmentedScriptSet::for_char('a');
    let (mut all, mut others) = (AugmentedScriptSet::default(), AugmentedScriptSet::default());
    for c in name.nfkc() {
        let of = AugmentedScriptSet::for_char(c);
        all.intersect_with(of);
        let mut with_latin = of;
        with_latin.intersect_with(latin);
        if with_latin.is_empty() {
            others.intersect_with(of);
        }
    }
    all.is_empty() && !(others.jpan || others.hanb || others.kore)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_spellings_are_one_subject() {
        for (one, other) in [
            ("solo", "Solo "),
            ("solo", "\tSOLO\n"),
            ("straße", "STRASSE"),
            ("straße", "STRAẞE"),
            ("ΟΔΟΣ", "οδος"),
            ("kim", "ｋｉｍ"),
            ("kim", "𝐤𝒊𝗆"),
            ("kim", "\u{212a}im"),
            ("kim", "\u{a0}kim\u{3000}"),
            ("soſo", "SOSO"),
            ("josé", "jose\u{301}"),
            ("Å", "a\u{30a}"),
            ("ﬁona", "FIONA"),
            ("ŉa", "\u{2bc}NA"),
            ("ᾳ", "ΑΙ"),
            ("kim", "k\u{200b}im"),
            ("kim", "k\u{ad}i\u{202e}m\u{7}"),
        ] {
            assert!(is_same_subject(one, other), "{one:?} {other:?}");
        }
        for (one, other) in
            [("solo", "so lo"), ("solo", "solo2"), ("ı", "i1"), ("kim", "кim"), ("jose", "josé")]
        {
            assert!(!is_same_subject(one, other), "{one:?} {other:?}");
        }
    }

    #[test]
    fn folding_is_stable_for_every_character() {
        for c in '\0'..=char::MAX {
            let text = c.to_string();
            let others: [String; 4] =
                [text.to_uppercase(), text.to_lowercase(), text.nfkc().collect(), text.nfd().collect()];
            for other in others.iter().filter(|other| **other != text) {
                let once = folded(&text);
                assert_eq!(folded(other), once, "{c:?} as {other:?}");
                assert_eq!(folded(&once), once, "{c:?} twice");
            }
        }
    }

    #[test]
    fn a_confusable_subject_is_refused() {
        for name in [
            "kim",
            "kim@example.com",
            "CN=Kim Example,OU=People|x",
            "Zoë",
            "Ольга К.",
            "王小明",
            "kim山田さん",
            "レビュー agent-2",
            "김kim",
            "ㄅ王 Wang",
            "מירי-3",
            "किम१",
            "ｋｉｍ",
        ] {
            assert_eq!(check(name), Ok(()), "{name}");
        }
        for (name, why) in [
            ("k\u{200b}im", "holds U+200B"),
            ("kim\u{0}", "holds U+0000"),
            ("kim\u{85}", "holds U+0085"),
            ("k\u{ad}im", "holds U+00AD"),
            ("kim\u{fe0f}", "holds U+FE0F"),
            ("\u{202e}mik", "holds U+202E"),
            ("kim\u{3164}", "holds U+3164"),
            ("kim\u{e0061}", "holds U+E0061"),
            ("kim\u{2028}", "holds U+2028"),
            ("кim", "mixes"),
            ("kim.аdmin", "mixes"),
            ("kΙm", "mixes"),
            ("김ким", "mixes"),
            ("ひ김", "mixes"),
            ("kim٣", "mixes"),
            ("ᏦIM", "mixes"),
            ("kim\u{2800}", "mixes"),
            ("kim ольга", "mixes"),
        ] {
            assert!(check(name).is_err_and(|it| it.starts_with(why)), "{name:?}: {:?}", check(name));
        }
    }
}
