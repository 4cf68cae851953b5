//! Keys of one object that are the same, or look it.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use unicode_normalization::UnicodeNormalization as _;

use super::scan::{Scanner, TokenKind};
use super::value::decode;

/// So many of a kind are named; nobody reads more, and a text of nothing else would cost the square of its length.
const MOST: usize = 100;

/// Dotted paths of keys that a reader, or a program, could take for each other; at most a hundred of each kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DoubtfulKeys {
    /// They stand more than once in their object. Compared by meaning: `"to"` and `"t\u006f"` are the same key.
    pub duplicates: Vec<String>,
    /// They differ from another key of their object in case only, in how Unicode composes them (NFKC), in letters that look the
    /// same (UTS 39), or in ASCII that does: `I`, `l` and `1`, `O` and `0`, `rn` and `m`.
    pub alike: Vec<String>,
}

/// Looks at every object in the value, however deep. A malformed text is looked at up to where it breaks.
pub fn doubtful_keys(text: &str) -> DoubtfulKeys {
    let mut found = DoubtfulKeys::default();
    let mut open: Vec<Level<'_>> = Vec::new();
    let mut scanner = Scanner::new(text);
    while let Ok(Some(token)) = scanner.next_token() {
        match token.kind {
            TokenKind::ObjectStart | TokenKind::ArrayStart => open.push(Level::default()),
            TokenKind::ObjectEnd | TokenKind::ArrayEnd => drop(open.pop()),
            TokenKind::Key => {
                let key = meaning(token.text);
                let seen = open.last_mut().map_or(Seen::New, |level| level.put(key));
                match seen {
                    Seen::Twice if found.duplicates.len() < MOST => found.duplicates.push(path(&open)),
                    Seen::Alike if found.alike.len() < MOST => found.alike.push(path(&open)),
                    Seen::New | Seen::Told | Seen::Twice | Seen::Alike => {}
                }
            }
            TokenKind::String | TokenKind::Scalar => {}
        }
    }
    found
}

/// Dotted paths of keys that stand more than once in their object, anywhere in the value; at most a hundred.
pub fn duplicate_keys(text: &str) -> Vec<String> {
    doubtful_keys(text).duplicates
}

/// What a key means; half a surrogate pair means nothing, and stays as it was written.
fn meaning(raw: &str) -> Cow<'_, str> {
    let decoded = decode(raw);
    if decoded.lossy { Cow::Borrowed(raw) } else { decoded.text }
}

fn path(open: &[Level<'_>]) -> String {
    let parts = open.iter().map(|level| &*level.current).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(".")
}

/// Of so many keys each is compared with each: most objects have few, and a text may have a million objects.
const FEW: usize = 24;

/// One open object or array.
#[derive(Default)]
struct Level<'a> {
    /// With whether it was told that it stands twice.
    few: Vec<(Cow<'a, str>, bool)>,
    /// Where they are more, all of them.
    keys: HashMap<Cow<'a, str>, bool>,
    folded: HashSet<String>,
    /// See [`ascii_look`].
    ascii: HashSet<String>,
    /// By skeleton: whether a key of this skeleton is not ASCII.
    looks: HashMap<String, bool>,
    current: Cow<'a, str>,
}

enum Seen {
    New,
    Twice,
    /// Twice, and told before.
    Told,
    Alike,
}

impl<'a> Level<'a> {
    /// Whether another key looks like this one, and one of the two is not ASCII. Remembers this one.
    fn looks_known(&mut self, key: &str) -> bool {
        let mut known = false;
        for look in skeletons(key) {
            let foreign = self.looks.get(&look).copied();
            known |= foreign.is_some_and(|foreign| foreign || !key.is_ascii());
            self.looks.insert(look, foreign.unwrap_or_default() || !key.is_ascii());
        }
        known
    }

    fn put(&mut self, key: Cow<'a, str>) -> Seen {
        self.current.clone_from(&key);
        let known = match self.few.iter_mut().find(|(known, _)| *known == key) {
            Some((_, told)) => Some(told),
            None => self.keys.get_mut(&key),
        };
        if let Some(told) = known {
            return if std::mem::replace(told, true) { Seen::Told } else { Seen::Twice };
        }
        if self.keys.is_empty() && self.few.len() < FEW {
            let alike = self.few.iter().any(|(known, _)| are_alike(known, &key));
            self.few.push((key, false));
            return if alike { Seen::Alike } else { Seen::New };
        }
        for (known, told) in std::mem::take(&mut self.few) {
            self.folded.insert(fold(&known));
            self.ascii.insert(ascii_look(&known).collect());
            self.looks_known(&known);
            self.keys.insert(known, told);
        }
        let is_new = self.folded.insert(fold(&key)) & self.ascii.insert(ascii_look(&key).collect());
        let is_new = is_new & !self.looks_known(&key);
        self.keys.insert(key, false);
        if is_new { Seen::New } else { Seen::Alike }
    }
}

fn are_alike(one: &str, other: &str) -> bool {
    match (one.is_ascii(), other.is_ascii()) {
        (true, true) => one.eq_ignore_ascii_case(other) || ascii_look(one).eq(ascii_look(other)),
        _ => fold(one) == fold(other) || skeletons(one).any(|it| skeletons(other).any(|other| it == other)),
    }
}

/// Characters of ASCII that look the same made the same. Cheaper than a skeleton.
fn ascii_look(key: &str) -> impl Iterator<Item = char> {
    key.chars()
        .flat_map(|c| match c {
            'I' | '1' => [Some('l'), None],
            '0' => [Some('O'), None],
            'm' => [Some('r'), Some('n')],
            _ => [Some(c), None],
        })
        .flatten()
}

/// The skeletons of a key in lower and upper case, each after its case: `т` looks like a `t` only as a capital.
fn skeletons(key: &str) -> impl Iterator<Item = String> {
    let folded = fold(key);
    let cases = [format!("l{folded}"), format!("U{}", folded.to_uppercase())];
    cases.into_iter().map(|key| unicode_security::skeleton(&key).collect())
}

fn fold(key: &str) -> String {
    if key.is_ascii() { key.to_ascii_lowercase() } else { key.nfkc().collect::<String>().to_lowercase() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounds::rounds;

    #[test]
    fn duplicate_keys_are_found_at_any_depth_and_through_escapes() {
        let text = r#"{"to":"alice","t\u006f":"mallory","list":[{"x":{"y":1,"y":2,"y":3}},{"y":3}],"y":4}"#;

        assert_eq!(duplicate_keys(text), ["to", "list.x.y"]);
        let halves = r#"{"\ud800":1,"\udc00":2,"\ufffd":3}"#;
        assert_eq!(doubtful_keys(halves), DoubtfulKeys::default(), "halves of pairs are not the same key");
    }

    #[test]
    fn keys_that_look_the_same_are_told_from_those_that_are() {
        let alike = |text: &str| doubtful_keys(text).alike;

        assert_eq!(alike(r#"{"Amount":1,"amount":900}"#), ["amount"]);
        assert_eq!(alike(r#"{"a":{"\u00e9":1,"e\u0301":2}}"#), ["a.e\u{301}"]);
        assert_eq!(alike(r#"{"to":1,"\uff54\uff4f":2}"#), ["\u{ff54}\u{ff4f}"]);
        assert_eq!(alike(r#"{"to":1,"\u0442o":2}"#), ["\u{442}o"]);
        assert_eq!(alike(r#"{"cc":1,"c\u0441":2}"#), ["c\u{441}"]);
        for [one, other] in [["l1", "ll"], ["m", "rn"], ["o0", "oO"], ["file", "fi1e"], ["modem", "modern"]] {
            let padding = (0..3 * FEW).map(|n| format!(r#","k{n}":1"#)).collect::<Vec<_>>().concat();
            assert_eq!(alike(&format!(r#"{{"{one}":1,"{other}":2}}"#)), [other]);
            assert_eq!(alike(&format!(r#"{{"{one}":1{padding},"{other}":2}}"#)), [other]);
        }
        assert!(alike(r#"{"l2":1,"li":2,"m":3,"n":4,"x0":5,"xo":6,"имя":7}"#).is_empty());
        assert!(alike(r#"{"a":{"b":1},"b":2,"c":[{"a":1},{"a":2}],"__proto__":1}"#).is_empty());
    }

    /// Both would take minutes if any step were repeated for every key.
    #[test]
    fn keys_are_compared_among_few_and_among_many() {
        for all in [3, FEW - 1, FEW, FEW + 1, 3 * FEW] {
            let keys: Vec<String> = (0..all).map(|n| format!("\"k{n}\":1,")).collect();
            let keys = keys.concat();
            let found = doubtful_keys(&format!("{{{keys}\"K1\":1,\"k2\":1,\"k2\":1,\"\u{212a}1\":1}}"));

            assert_eq!(
                (found.duplicates, found.alike),
                (vec!["k2".to_owned()], vec!["K1".into(), "\u{212a}1".into()])
            );
        }
    }

    #[test]
    fn many_keys_and_deep_ones_cost_no_more_than_their_length() {
        let n = rounds(50_000, 210_000) as usize;
        let same = format!("{{{}\"a\":1}}", "\"a\":1,".repeat(n));
        assert_eq!(duplicate_keys(&same), ["a"]);
        let pairs = (0..n / 2).map(|n| format!("\"{n}\":1,\"{n}\":2,")).collect::<Vec<_>>().concat();
        assert_eq!(duplicate_keys(&format!("{{{pairs}\"x\":1}}")).len(), MOST);
        let deep = format!("{}{{{}\"a\":1}}{}", "{\"k\":".repeat(500), "\"a\":1,".repeat(n), "}".repeat(500));
        assert_eq!(duplicate_keys(&deep).len(), 1);
        assert!(duplicate_keys(&"[".repeat(5 * n)).is_empty());
    }
}
