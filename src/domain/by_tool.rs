//! Tool names, and patterns for several tools.

use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Whether `pattern` matches `name`. `*` matches any text, also an empty one.
pub fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    // Both ends are fixed. The first match of each middle part leaves the most text for the rest.
    let inner = name.strip_prefix(first).and_then(|name| name.strip_suffix(last));
    inner.is_some_and(|inner| {
        let mut parts = middle.split('*');
        parts.try_fold(inner, |left, part| left.split_once(part).map(|(_, after)| after)).is_some()
    })
}

pub fn is_pattern(name: &str) -> bool {
    name.contains('*')
}

/// Values by tool name or pattern. A name has precedence over patterns, then the pattern with the most characters
/// besides `*`, then the first in character order.
#[derive(Clone, Debug)]
pub struct ByTool<T> {
    all: BTreeMap<String, T>,
    patterns: Vec<String>,
}

impl<T> Default for ByTool<T> {
    fn default() -> Self {
        Self::from_iter([])
    }
}

impl<T> FromIterator<(String, T)> for ByTool<T> {
    fn from_iter<I: IntoIterator<Item = (String, T)>>(all: I) -> Self {
        let all = BTreeMap::from_iter(all);
        let mut patterns: Vec<String> = all.keys().filter(|name| is_pattern(name)).cloned().collect();
        // A stable sort keeps equal ones in the order of the map.
        patterns.sort_by_key(|pattern| Reverse(pattern.chars().filter(|&c| c != '*').count()));
        Self { all, patterns }
    }
}

impl<T> ByTool<T> {
    pub fn get(&self, name: &str) -> Option<&T> {
        let by_pattern = || self.patterns.iter().find(|pattern| matches(pattern, name));
        self.all.get(name).or_else(|| self.all.get(by_pattern()?))
    }

    pub fn iter(&self) -> impl Iterator<Item = (&String, &T)> {
        self.all.iter()
    }

    pub fn patterns(&self) -> impl Iterator<Item = (&String, &T)> {
        self.patterns.iter().filter_map(|pattern| self.all.get_key_value(pattern))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_matches_any_text() {
        for (pattern, name) in [
            ("*", ""),
            ("*", "fs.write"),
            ("fs.*", "fs."),
            ("fs.*", "fs.write.all"),
            ("*.write", "fs.write"),
            ("fs.*.b", "fs.a.b.b"),
            ("*a*a*", "aa"),
            ("a*b*c", "abbc"),
            ("**", "x"),
            ("fs.*", "fs.*"),
            ("ä*ö", "äüö"),
            ("100%_[a]?*", "100%_[a]?b"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("fs.*", "fs"),
            ("fs.*", "FS.write"),
            ("fs.*", "xfs.write"),
            ("*.write", "fs.writes"),
            // Prefix and suffix must not overlap.
            ("aba*aba", "ababa"),
            ("*a*a*", "a"),
            ("a*b*c", "acb"),
            ("", "x"),
            ("a_c*", "abc"),
            ("a?c*", "abc"),
            ("[a]*", "a"),
            ("a%*", "ab"),
        ] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn names_and_longer_patterns_have_precedence() {
        let names = ["*", "fs.*", "fs.write*", "*.write_all", "fs.write", "a*", "*a", "x*.*", "x.*"];
        let tools: ByTool<&str> = names.iter().map(|&name| (name.to_owned(), name)).collect();

        for (name, wants) in [
            ("fs.write", "fs.write"),
            ("fs.write_file", "fs.write*"),
            ("fs.write_all", "*.write_all"),
            ("fs.read", "fs.*"),
            ("other", "*"),
            ("aba", "*a"),
            // A pattern also matches as a name.
            ("a*", "a*"),
            ("x.*", "x.*"),
            ("x.y", "x*.*"),
        ] {
            assert_eq!(tools.get(name), Some(&wants), "{name}");
        }
        assert_eq!(ByTool::<()>::default().get("t"), None);
    }
}
