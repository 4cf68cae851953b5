//! Compares the agent's preview of an action with its input: reports fields that the preview omits or adds.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};

use crate::domain::json::{Scanner, TokenKind};
use crate::domain::{RawJson, Untrusted, json};
use crate::text;
use crate::text::Shown;

use super::line::{Kind, readable};
use super::made::Cached;
use super::writer::Writer;
use crate::tui::preview::words;

/// Largest size of both together that is compared, in bytes.
const COMPARED: usize = 1 << 20;

/// A scalar value and its nearest key.
type Leaf = (String, String);

#[derive(Debug)]
pub(crate) struct PreviewComparison<'a> {
    cached: &'a Cached,
    preview: Option<&'a RawJson>,
    shown: HashSet<Leaf>,
    /// Ids that every action has and that the Context tab shows.
    known: Vec<&'a Untrusted>,
    compared: bool,
}

impl<'a> PreviewComparison<'a> {
    pub(crate) fn of(cached: &'a Cached) -> Self {
        let action = &cached.action;
        let preview = action.preview.as_ref().filter(|preview| preview.as_str() != "null");
        let long = preview.map_or(0, |preview| preview.as_str().len()) + action.input.as_str().len();
        let compared = preview.is_some() && long <= COMPARED;
        let said =
            preview.filter(|_| compared).map(|preview| leaves("", preview.as_str())).unwrap_or_default();
        let row = &action.row;
        let known = [&row.workspace, &row.mission, &row.session, &row.run];
        let known = known.into_iter().filter_map(Option::as_ref).collect();
        Self { cached, preview, shown: said.into_iter().collect(), known, compared }
    }

    /// Returns true if the preview omits a field of the input or some of its values.
    pub(crate) fn leaves_out(&self, key: &str, value: &str) -> bool {
        let known = || {
            let meaning = json::decode(value).text;
            self.known.iter().any(|id| id.as_raw() == meaning)
        };
        self.compared && leaves(key, value).iter().any(|leaf| !self.shown.contains(leaf)) && !known()
    }

    /// Writes the agent's summary and the differences of its preview.
    pub(crate) fn write(&self, writer: &mut Writer) {
        let summary = self.cached.action.summary.as_ref().filter(|summary| !summary.is_empty());
        if summary.is_none() && self.preview.is_none() {
            return;
        }
        writer.blank();
        writer.ours(Kind::Key, words::AGENTS_NOTE);
        if let Some(summary) = summary {
            writer.long(Kind::Plain, 2, summary.as_raw());
        }
        let Some(preview) = self.preview else { return };
        // The following is placet's text, not the agent's.
        if summary.is_some() {
            writer.blank();
        }
        if !self.compared {
            writer.wrapped(Kind::Dim, 2, &Shown::ours(words::TOO_LONG_TO_COMPARE));
            return writer.long(Kind::Plain, 2, readable(preview.as_str()));
        }
        let mut added = self.added();
        let moved = self.is_rearranged(preview.as_str());
        if moved {
            writer.wrapped(Kind::Warn, 2, &Shown::ours(words::OTHER_ARRANGEMENT));
        }
        if added.is_empty() && moved {
            return;
        }
        if added.is_empty() {
            let all = words::PREVIEW_MATCHES;
            return writer.wrapped(Kind::Dim, 2, &Shown::ours(all));
        }
        writer.wrapped(Kind::Dim, 2, &Shown::ours(words::ONLY_IN_PREVIEW));
        added.sort_by_key(|(_, _, other)| !other);
        for (key, value, other) in &added {
            let mark = if *other { "! " } else { "" };
            let ends = if *other { words::OTHER_VALUE_IN_INPUT } else { "" };
            let kind = if *other { Kind::Warn } else { Kind::Plain };
            let what = Shown::ours(mark).followed_by(text::part(key)).followed_by(Shown::ours(": "));
            let what = what.followed_by(text::part(value)).followed_by(Shown::ours(ends));
            writer.wrapped(kind, 4, &what);
        }
    }

    /// Returns true if a key with several values in the input has them in other places in the preview, or if the places
    /// are ambiguous. Keys above it that only one of the two has are ignored, because a preview may be flatter or name
    /// a list differently.
    fn is_rearranged(&self, preview: &str) -> bool {
        let input = self.cached.action.input.as_str();
        let (of_input, of_preview) = (keys(input), keys(preview));
        let shared: HashSet<&str> = of_input.intersection(&of_preview).map(String::as_str).collect();
        // A random seed, because with a known one an agent could make two places collide.
        let seed = RandomState::new();
        let inside = placed("", input, &shared, &seed);
        let (mut places, mut first, mut several) = (HashMap::new(), HashMap::new(), HashSet::new());
        for (place, (key, value)) in &inside {
            places
                .entry((*place, key))
                .and_modify(|known: &mut Option<&String>| *known = known.filter(|it| *it == value))
                .or_insert(Some(value));
            if *first.entry(key).or_insert(value) != value {
                several.insert(key);
            }
        }
        placed("", preview, &shared, &seed).iter().any(|(place, (key, value))| {
            several.contains(key) && places.get(&(*place, key)).is_none_or(|known| *known != Some(value))
        })
    }

    /// Returns values that are only in the preview, and whether the input has another value under the same key.
    fn added(&self) -> Vec<(String, String, bool)> {
        let input = self.cached.action.input.as_str();
        let inside: HashSet<Leaf> = leaves("", input).into_iter().collect();
        let keys: HashSet<&str> = inside.iter().map(|(key, _)| key.as_str()).collect();
        let counts = counts(input);
        let said = self.preview.map(|preview| leaves("", preview.as_str())).unwrap_or_default();
        let new = said.into_iter().filter(|leaf| {
            // A gate's preview contains the length of a list, and an empty text for an absent field.
            let counted = leaf.0 == "count" && counts.contains(&leaf.1);
            let stands_in = leaf.1.is_empty() && !keys.contains(leaf.0.as_str());
            !inside.contains(leaf) && !counted && !stands_in
        });
        let mut known = HashSet::new();
        new.filter(|leaf| known.insert(leaf.clone()))
            .map(|(key, value)| {
                let other = keys.contains(key.as_str());
                (key, value, other)
            })
            .collect()
    }
}

/// Returns all scalar values with their nearest keys. Strings are decoded; other values stay as written.
fn leaves(key: &str, value: &str) -> Vec<Leaf> {
    let all = placed(key, value, &HashSet::new(), &RandomState::new());
    all.into_iter().map(|(_, leaf)| leaf).collect()
}

/// Like [`leaves`], with the place of each: a hash of its indices and of the keys above it that both sides have.
fn placed(key: &str, value: &str, shared: &HashSet<&str>, seed: &RandomState) -> Vec<(u64, Leaf)> {
    let (mut all, mut above) = (Vec::new(), Vec::new());
    let (mut key, mut place, mut index) = (key.to_owned(), 0, None::<usize>);
    let mut scanner = Scanner::new(value);
    while let Ok(Some(token)) = scanner.next_token() {
        let here = index.map_or(place, |index| seed.hash_one((place, index)));
        index = index.map(|index| index + 1);
        match token.kind {
            TokenKind::ObjectStart | TokenKind::ArrayStart => {
                above.push((key.clone(), place, index));
                let named = index.is_none() && shared.contains(key.as_str());
                place = if named { seed.hash_one((here, &key)) } else { here };
                index = (token.kind == TokenKind::ArrayStart).then_some(0);
            }
            TokenKind::ObjectEnd | TokenKind::ArrayEnd => {
                (key, place, index) = above.pop().unwrap_or_default();
            }
            TokenKind::Key => key = json::decode(token.text).text.into_owned(),
            TokenKind::String => all.push((here, (key.clone(), json::decode(token.text).text.into_owned()))),
            TokenKind::Scalar => all.push((here, (key.clone(), token.text.to_owned()))),
        }
    }
    all
}

fn keys(text: &str) -> HashSet<String> {
    let (mut keys, mut key) = (HashSet::new(), None);
    let mut scanner = Scanner::new(text);
    while let Ok(Some(token)) = scanner.next_token() {
        match token.kind {
            TokenKind::Key => key = Some(token.text),
            TokenKind::ObjectStart | TokenKind::ArrayStart => {
                keys.extend(key.take().map(|key| json::decode(key).text.into_owned()));
            }
            _ => key = None,
        }
    }
    keys
}

fn counts(input: &str) -> HashSet<String> {
    let members = json::members(input).unwrap_or_default();
    members.iter().filter_map(|member| Some(json::elements(member.value)?.len().to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_have_their_nearest_key() {
        let leaf = |key: &str, value: &str| (key.to_owned(), value.to_owned());

        assert_eq!(
            leaves("top", r#"{"a":[1.10,{"b":"x\n"},null],"c":{}}"#),
            [leaf("a", "1.10"), leaf("b", "x\n"), leaf("a", "null")]
        );
        assert_eq!(leaves("top", "[true]"), [leaf("top", "true")]);
    }
}
