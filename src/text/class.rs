//! Classifies characters by Unicode properties. A character unknown to the tables is shown as a token.

use std::borrow::Cow;

use icu_properties::CodePointSetData;
use icu_properties::props::{
    CanonicalCombiningClass, DefaultIgnorableCodePoint, EnumeratedProperty as _, GeneralCategory,
    GraphemeClusterBreak, Script,
};
use unicode_width::UnicodeWidthChar as _;

/// Signs that the display itself draws. In foreign text each is a token.
const OURS: [char; 7] = ['⟦', '⟧', TAB, NO_BREAK, NARROW_NO_BREAK, WIDE, ZERO];
const TAB: char = '⇥';
const NO_BREAK: char = '⍽';
const NARROW_NO_BREAK: char = '⎵';
const WIDE: char = '␣';
const ZERO: char = '⁞';

/// Whether a terminal obeys, hides or reorders the character, or it is easily mistaken for another one.
pub(super) fn is_hidden(c: char) -> bool {
    use GeneralCategory as G;
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    match GeneralCategory::for_char(c) {
        G::Control
        | G::Format
        | G::Unassigned
        | G::PrivateUse
        | G::Surrogate
        | G::LineSeparator
        | G::ParagraphSeparator
        | G::SpaceSeparator
        | G::EnclosingMark => true,
        _ => {
            is_ours(c)
                || is_twin(c)
                || matches!(c, '\u{2800}' | '\u{fffc}' | '\u{335}'..='\u{338}')
                || CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(c)
        }
    }
}

/// Whether the character is never seen as itself: obeyed, without width, reordering, or not in fonts.
pub(super) fn is_unseen(c: char) -> bool {
    use GeneralCategory as G;
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    let category = GeneralCategory::for_char(c);
    matches!(category, G::Control | G::Format | G::Unassigned | G::PrivateUse | G::Surrogate)
        || matches!(category, G::LineSeparator | G::ParagraphSeparator)
        || CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(c)
}

pub(super) fn is_ours(c: char) -> bool {
    OURS.contains(&c)
}

/// Punctuation that looks exactly like `;`, a grave accent or a full stop.
pub(super) const fn is_twin(c: char) -> bool {
    matches!(c, '\u{37e}' | '\u{1fef}' | '\u{2024}')
}

pub(super) fn is_mark(c: char) -> bool {
    !c.is_ascii()
        && matches!(
            GeneralCategory::for_char(c),
            GeneralCategory::NonspacingMark | GeneralCategory::SpacingMark | GeneralCategory::EnclosingMark
        )
}

/// A visible character that joins neither its predecessor nor its successor.
pub(super) fn is_base(c: char) -> bool {
    use GraphemeClusterBreak as G;
    if c.is_ascii() {
        return !c.is_ascii_control();
    }
    let joins = matches!(GraphemeClusterBreak::for_char(c), G::Extend | G::SpacingMark | G::Prepend | G::ZWJ);
    !joins && c.width().is_some_and(|width| width > 0) && !is_hidden(c)
}

/// ZWNJ and ZWJ, which many scripts require.
pub(super) const fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}

/// A sign that joins consonants. A joiner after it shapes the letter before it, such as a Malayalam chillu.
pub(super) fn is_virama(c: char) -> bool {
    CanonicalCombiningClass::for_char(c) == CanonicalCombiningClass::Virama
}

pub(super) fn takes_joiners(c: char) -> bool {
    const SCRIPTS: [Script; 19] = [
        Script::Arabic,
        Script::Syriac,
        Script::Mandaic,
        Script::Nko,
        Script::Mongolian,
        Script::Devanagari,
        Script::Bengali,
        Script::Gurmukhi,
        Script::Gujarati,
        Script::Oriya,
        Script::Tamil,
        Script::Telugu,
        Script::Kannada,
        Script::Malayalam,
        Script::Sinhala,
        Script::Khmer,
        Script::Myanmar,
        Script::Javanese,
        Script::Balinese,
    ];
    !c.is_ascii() && SCRIPTS.contains(&Script::for_char(c))
}

/// A script without spaces between words, whose writers mark possible line breaks.
fn has_no_spaces(c: char) -> bool {
    let scripts =
        [Script::Khmer, Script::Thai, Script::Lao, Script::Myanmar, Script::Tibetan, Script::Javanese];
    !c.is_ascii() && scripts.contains(&Script::for_char(c))
}

/// Returns the sign for a blank where people write it: one glyph, used for nothing else. A tab always has one.
///
/// Between two English words, or in a row, other blanks are tokens like all hidden characters.
pub(super) fn glyph(c: char, before: &str, after: Option<char>) -> Option<&'static str> {
    let last = before.chars().next_back();
    let near = |test: fn(char) -> bool| last.is_some_and(test) || after.is_some_and(test);
    let in_words = || {
        let word = before.chars().rev().take(3).filter(char::is_ascii_alphabetic).count() == 3;
        word && after.is_some_and(|c| c.is_ascii_alphabetic())
    };
    // Writers of scripts without spaces often type two.
    let after_pair = || before.strip_suffix(c).is_some_and(|before| before.ends_with(has_no_spaces));
    match c {
        '\t' => Some("⇥"),
        '\u{a0}' if !near(|c| is_blank(c) && c != '\u{200b}') && !in_words() => Some("⍽"),
        '\u{202f}' if !near(is_blank) && !in_words() => Some("⎵"),
        '\u{3000}' if !near(is_blank) && near(|c| c.width() == Some(2)) => Some("␣␣"),
        '\u{200b}' if near(has_no_spaces) || after_pair() => Some("⁞"),
        // The full stop of Armenian, typed so by many.
        '\u{2024}' if last.is_some_and(|c| Script::for_char(c) == Script::Armenian) => Some("\u{2024}"),
        _ => None,
    }
}

const fn is_blank(c: char) -> bool {
    matches!(c, '\u{a0}' | '\u{202f}' | '\u{3000}' | '\u{200b}')
}

/// Names a character: `ESC`, `U+202E`.
pub(super) fn name(c: char) -> Cow<'static, str> {
    const C0: [&str; 32] = [
        "NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "TAB", "LF", "VT", "FF", "CR", "SO",
        "SI", "DLE", "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM", "SUB", "ESC", "FS", "GS",
        "RS", "US",
    ];
    match C0.get(c as usize) {
        Some(name) => Cow::Borrowed(*name),
        None if c == '\u{7f}' => Cow::Borrowed("DEL"),
        None => Cow::Owned(format!("U+{:04X}", u32::from(c))),
    }
}
