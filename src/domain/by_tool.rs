//! Names of tools, and patterns that stand for many of them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Whether `pattern` stands for `name`. A `*` stands for any text, also for none; everything else stands for itself.
pub fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    // Both ends are fixed. What is in between is taken where it stands first, which leaves most for the rest.
    let inner = name.strip_prefix(first).and_then(|name| name.strip_suffix(last));
    inner.is_some_and(|inner| {
        let mut parts = middle.split('*');
        parts.try_fold(inner, |left, part| left.split_once(part).map(|(_, after)| after)).is_some()
    })
}

/// Whether a name of a table is a pattern.
pub fn is_pattern(name: &str) -> bool {
    name.contains('*')
}

/// Something about tools, by their names or by patterns. A name counts before every pattern; of several patterns the one with the most
/// characters besides `*` counts; of equally long ones the first in the order of their characters.
#[derive(Clone, Debug)]
pub struct ByTool<T> {
    all: BTreeMap<String, T>,
    /// In the order in which they are asked.
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
        // Stable: equal ones stay in the order of the map.
        patterns.sort_by_key(|pattern| Reverse(pattern.chars().filter(|&c| c != '*').count()));
        Self { all, patterns }
    }
}

impl<T> ByTool<T> {
    /// What counts for the tool of this name.
    pub fn get(&self, name: &str) -> Option<&T> {
        let by_pattern = || self.patterns.iter().find(|pattern| matches(pattern, name));
        self.all.get(name).or_else(|| self.all.get(by_pattern()?))
    }

    /// Names and patterns, in the order of their characters.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &T)> {
        self.all.iter()
    }

    /// Only the patterns, in the order in which they are asked after the names.
    pub fn patterns(&self) -> impl Iterator<Item = (&String, &T)> {
        self.patterns.iter().filter_map(|pattern| self.all.get_key_value(pattern))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text_and_all_else_for_itself() {
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
            // The ends may not share a character.
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
    fn a_name_counts_before_patterns_and_longer_patterns_before_shorter_ones() {
        let names = ["*", "fs.*", "fs.write*", "*.write_all", "fs.write", "a*", "*a", "x*.*", "x.*"];
        let tools: ByTool<&str> = names.iter().map(|&name| (name.to_owned(), name)).collect();

        for (name, wants) in [
            ("fs.write", "fs.write"),
            ("fs.write_file", "fs.write*"),
            ("fs.write_all", "*.write_all"),
            ("fs.read", "fs.*"),
            ("other", "*"),
            ("aba", "*a"),
            // A pattern is the name of itself.
            ("a*", "a*"),
            ("x.*", "x.*"),
            ("x.y", "x*.*"),
        ] {
            assert_eq!(tools.get(name), Some(&wants), "{name}");
        }
        assert_eq!(ByTool::<()>::default().get("t"), None);
    }
}
