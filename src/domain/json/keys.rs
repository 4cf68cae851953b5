//! Duplicate and look-alike keys of an object.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use unicode_normalization::UnicodeNormalization as _;

use super::scan::{Scanner, TokenKind};
use super::value::decode;

/// Maximum keys reported of each kind. Reporting all could take quadratic time.
const MOST: usize = 100;

/// Dotted paths of confusable keys, at most a hundred of each kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DoubtfulKeys {
    /// Keys repeated in their object. Compared decoded: `"to"` equals `"t\u006f"`.
    pub duplicates: Vec<String>,
    /// Keys that differ from another of their object only in case, composition (NFKC), look-alike letters (UTS 39), or
    /// similar ASCII: `I`, `l` and `1`, `O` and `0`, `rn` and `m`.
    pub alike: Vec<String>,
}

/// Checks every object at any depth. Malformed text is checked up to its first error.
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

/// Returns dotted paths of duplicate keys, at most a hundred.
pub fn duplicate_keys(text: &str) -> Vec<String> {
    doubtful_keys(text).duplicates
}

/// Decodes a key. With an unpaired surrogate it stays as written.
fn meaning(raw: &str) -> Cow<'_, str> {
    let decoded = decode(raw);
    if decoded.lossy { Cow::Borrowed(raw) } else { decoded.text }
}

fn path(open: &[Level<'_>]) -> String {
    let parts = open.iter().map(|level| &*level.current).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(".")
}

/// Up to this number, keys are compared pairwise; most objects are small, and a text may have a million.
const FEW: usize = 24;

#[derive(Default)]
struct Level<'a> {
    /// Keys, and whether each was reported as duplicate.
    few: Vec<(Cow<'a, str>, bool)>,
    /// All keys of a larger object.
    keys: HashMap<Cow<'a, str>, bool>,
    folded: HashSet<String>,
    ascii: HashSet<String>,
    /// By skeleton: whether a key with it is not ASCII.
    looks: HashMap<String, bool>,
    current: Cow<'a, str>,
}

enum Seen {
    New,
    Twice,
    /// A duplicate that was already reported.
    Told,
    Alike,
}

impl<'a> Level<'a> {
    /// Adds a key. Returns whether another one has its skeleton, and one of the two is not ASCII.
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

/// Merges similar ASCII characters. Cheaper than a skeleton.
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

/// The skeletons in lower and upper case, marked by case: `т` looks like `t` only as a capital.
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
    fn duplicate_keys_are_found_at_any_depth() {
        let text = r#"{"to":"alice","t\u006f":"mallory","list":[{"x":{"y":1,"y":2,"y":3}},{"y":3}],"y":4}"#;

        assert_eq!(duplicate_keys(text), ["to", "list.x.y"]);
        let halves = r#"{"\ud800":1,"\udc00":2,"\ufffd":3}"#;
        assert_eq!(doubtful_keys(halves), DoubtfulKeys::default(), "unpaired surrogates differ");
    }

    #[test]
    fn alike_keys_are_reported_separately() {
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

    /// Both would take minutes if a step were repeated for each key.
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
    fn checking_keys_takes_linear_time() {
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
