//! Decides which graphemes are drawn as they are.

use icu_properties::CodePointSetData;
use icu_properties::props::Emoji;

use super::class::{is_base, is_hidden, is_joiner, is_mark, is_virama, takes_joiners};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Maximum marks on one base.
const MARKS: usize = 4;
/// Maximum characters after the first in a grapheme.
const CHARS: usize = 16;
/// Maximum columns of a grapheme; the widest real syllables need all of them.
const WIDEST: usize = 8;
/// Maximum joined emoji: a family.
const EMOJI: usize = 4;

/// Whether a grapheme is drawn as itself: visible characters of a width that terminals agree on. `after` follows it.
pub(super) fn is_plain(cluster: &str, after: Option<char>) -> bool {
    let mut chars = cluster.chars();
    let Some(first) = chars.next() else { return false };
    let rest = chars.as_str();
    if rest.is_empty() {
        return is_base(first);
    }
    (is_base(first) && cluster.width() <= WIDEST && is_written(first, rest, after)) || is_emoji(cluster)
}

/// Letters with their marks; joiners only in scripts that require them.
fn is_written(first: char, rest: &str, after: Option<char>) -> bool {
    let (mut base, mut marks, mut joined, mut last) = (first, 0, false, first);
    for (nth, c) in rest.chars().enumerate() {
        if nth >= CHARS {
            return false;
        }
        if is_joiner(c) {
            if is_joiner(last) || !takes_joiners(base) {
                return false;
            }
            joined = !is_virama(last);
            last = c;
            continue;
        }
        (joined, last) = (false, c);
        if is_hidden(c) || is_skin(c) {
            return false;
        }
        if is_mark(c) || c.width() == Some(0) {
            marks += 1;
            if marks > MARKS {
                return false;
            }
        } else {
            (base, marks) = (c, 0);
        }
    }
    !joined && last != '\u{200c}' || after.is_some_and(takes_joiners)
}

/// Up to four joined emoji, a keycap, or the flag of a part of a country.
fn is_emoji(cluster: &str) -> bool {
    let mut count = 0;
    let joined = cluster.split('\u{200d}').all(|part| {
        count += 1;
        count <= EMOJI && is_one_emoji(part)
    });
    joined || is_keycap(cluster) || is_flag(cluster)
}

/// An emoji with an optional presentation selector or skin tone.
fn is_one_emoji(part: &str) -> bool {
    let mut chars = part.chars();
    let base = chars
        .next()
        .is_some_and(|c| !c.is_ascii() && is_base(c) && CodePointSetData::new::<Emoji>().contains(c));
    base && match (chars.next(), chars.next()) {
        (None, _) => true,
        (Some(c), None) => c == '\u{fe0f}' || is_skin(c),
        _ => false,
    }
}

fn is_keycap(cluster: &str) -> bool {
    let key = cluster.strip_suffix("\u{fe0f}\u{20e3}");
    key.is_some_and(|key| {
        key.len() == 1 && key.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '#' | '*'))
    })
}

/// England, Scotland and Wales, the only such flags.
fn is_flag(cluster: &str) -> bool {
    let Some(tags) = cluster.strip_prefix('\u{1f3f4}').and_then(|rest| rest.strip_suffix('\u{e007f}')) else {
        return false;
    };
    let letters =
        tags.chars().map(|c| u32::from(c).checked_sub(0xe0000).and_then(char::from_u32).unwrap_or_default());
    ["gbeng", "gbsct", "gbwls"].contains(&letters.collect::<String>().as_str())
}

const fn is_skin(c: char) -> bool {
    matches!(c, '\u{1f3fb}'..='\u{1f3ff}')
}
