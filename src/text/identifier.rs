//! Identifiers that must not deceive: hosts, mail addresses, tools, ids and names of people.

use icu_properties::props::{EnumeratedProperty as _, Script};

use super::class::is_base;
use super::lookalike::{
    is_disguised, is_disguised_number, is_ordinary_number, is_other_script, is_styled, looks_ascii, script_of,
};
use super::shown::Shown;
use super::units::Mode;
use crate::domain::Untrusted;

/// Maximum bytes of a host's label.
const LABEL: usize = 63;

/// Shows a host, mail address, tool or id: other characters than ASCII as `⟦а U+0430⟧`, punycode with its meaning.
pub fn identifier(text: &Untrusted) -> Shown {
    identifier_part(text.as_raw())
}

pub fn identifier_part(text: &str) -> Shown {
    let mut shown = Shown::default();
    let mut at = 0;
    for label in labels(text) {
        let Some(meaning) = text.get(label.clone()).and_then(meaning) else { continue };
        shown = shown.followed_by(Shown::of(text, at..label.end, Mode::Identifier));
        shown = shown.followed_by(Shown::token(&format!("= {meaning}")));
        at = label.end;
    }
    shown.followed_by(Shown::of(text, at..text.len(), Mode::Identifier))
}

/// Shows the name of an agent or reviewer in any script, but as an identifier if a word looks like another script's.
pub fn name(text: &Untrusted) -> Shown {
    let raw = text.as_raw();
    if !raw.is_ascii() && (has_mixed_word(raw) || words(raw).any(is_disguised)) {
        return identifier_part(raw);
    }
    Shown::of_line(raw)
}

/// Whether a word mixes Latin letters or ASCII digits with lookalikes of another script. A number such as `А4` is
/// ordinary if the word before it, or after it, shows the script of its letters.
pub(super) fn has_mixed_word(text: &str) -> bool {
    if text.is_ascii() {
        return false;
    }
    let texts =
        text.split('%').enumerate().map(|(nth, part)| if nth == 0 { part } else { after_format(part) });
    let words: Vec<(&str, Option<Script>)> =
        texts.flat_map(words).map(|word| (word, script_of(word))).collect();
    let mut next = None;
    let next_script = |(_, script): &(&str, Option<Script>)| {
        let after = next;
        next = script.or(next);
        after
    };
    let mut after: Vec<Option<Script>> = words.iter().rev().map(next_script).collect();
    after.reverse();
    let mut before = None;
    words.iter().zip(after).any(|((word, script), after)| {
        let around = before.or(after);
        before = script.or(before);
        is_mixed(word) || is_disguised_number(word) && !around.is_some_and(|it| is_ordinary_number(word, it))
    })
}

/// Strips the rest of a `printf` directive, to which a translated word may be joined: `%sа`.
fn after_format(text: &str) -> &str {
    let directive = text.trim_start_matches(|c: char| c.is_ascii_digit() || "$-+#.*lhzj".contains(c));
    let rest = directive.strip_prefix(|c| "diouxXeEfgGcspn".contains(c));
    let is_disguise =
        |rest: &&str| words(rest).next().is_some_and(|it| it.chars().count() > 1 && is_disguised(it));
    rest.filter(|rest| !is_disguise(rest)).unwrap_or(text)
}

fn is_mixed(word: &str) -> bool {
    if word.is_ascii() {
        return false;
    }
    let latin = word.chars().any(|c| c.is_ascii_alphabetic() || Script::for_char(c) == Script::Latin);
    latin && word.chars().any(|c| is_other_script(c) && looks_ascii(c))
}

pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && !super::class::is_mark(c) && !is_styled(c))
        .filter(|word| !word.is_empty())
}

fn labels(text: &str) -> impl Iterator<Item = std::ops::Range<usize>> {
    let mut at = 0;
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).filter_map(move |label| {
        // Separators can be longer than a byte.
        at = text.get(at..)?.find(label)? + at;
        let range = at..at + label.len();
        at = range.end;
        (label.len() <= LABEL && label.len() > 4).then_some(range)
    })
}

fn meaning(label: &str) -> Option<String> {
    let (prefix, coded) = label.split_at_checked(4)?;
    if !prefix.eq_ignore_ascii_case("xn--") {
        return None;
    }
    let decoded = idna::punycode::decode_to_string(coded)?;
    let drawn = decoded.chars().map(|c| {
        if is_base(c) && !c.is_ascii() {
            format!("{c} {}", super::class::name(c))
        } else if is_base(c) {
            c.to_string()
        } else {
            super::class::name(c).into_owned()
        }
    });
    Some(drawn.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        identifier_part(text).plain()
    }

    #[test]
    fn identifiers_name_non_ascii_characters() {
        assert_eq!(plain("billing@p\u{430}ypal.com"), "billing@p⟦а U+0430⟧ypal.com");
        assert_eq!(plain("rm \u{2013}rf /"), "rm ⟦– U+2013⟧rf /");
        assert_eq!(plain("a\u{202e}b\u{301}"), "a⟦U+202E⟧b⟦U+0301⟧");
        assert_eq!(plain("save_recommendations"), "save_recommendations");
        assert_eq!(plain("paypa1.com"), "paypa1.com");
    }

    #[test]
    fn punycode_says_what_it_means() {
        assert_eq!(plain("https://xn--pypal-4ve.com/x"), "https://xn--pypal-4ve⟦= pа U+0430ypal⟧.com/x");
        assert_eq!(plain("a.XN--pypal-4ve"), "a.XN--pypal-4ve⟦= pа U+0430ypal⟧");
        assert_eq!(plain("xn--"), "xn--");
        assert_eq!(plain("xn--\u{430}"), "xn--⟦а U+0430⟧");
    }

    #[test]
    fn a_name_that_looks_like_another_is_escaped() {
        let shown = |text: &str| name(&text.into()).plain();

        for text in ["kim", "Zoë", "Jürgen-Agent", "Алиса", "レビュー係", "مراجع", "Ольга K.", "Σοφία"]
        {
            assert_eq!(shown(text), text);
        }
        assert_eq!(shown("\u{430}lice"), "⟦а U+0430⟧lice");
        assert_eq!(shown("\u{430}\u{441}\u{435}"), "⟦а U+0430⟧⟦с U+0441⟧⟦е U+0435⟧");
        assert_eq!(shown("\u{ff52}\u{ff4d}"), "⟦ｒ U+FF52⟧⟦ｍ U+FF4D⟧");
    }
}
