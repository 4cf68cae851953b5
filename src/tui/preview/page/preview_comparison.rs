//! What the proposing side says of its own proposal, beside what would run: what its preview leaves out, and what it adds.

use std::collections::HashSet;

use crate::domain::json::{Scanner, TokenKind};
use crate::domain::{RawJson, Untrusted, json};
use crate::text;
use crate::text::Shown;

use super::line::Kind;
use super::made::Cached;
use super::writer::Writer;
use crate::tui::preview::words;

/// Longer than this, the two are not compared.
const COMPARED: usize = 1 << 20;
/// So many differences are listed.
const LISTED: usize = 50;

/// A value without parts, and the key it stands under.
type Leaf = (String, String);

/// An input beside its preview.
#[derive(Debug)]
pub(crate) struct PreviewComparison<'a> {
    cached: &'a Cached,
    preview: Option<&'a RawJson>,
    shown: HashSet<Leaf>,
    /// Ids that every action has, and that Context shows.
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

    /// The preview leaves a field of the input out, or shows only some of it.
    pub(crate) fn leaves_out(&self, key: &str, value: &str) -> bool {
        let known = || {
            let meaning = json::decode(value).text;
            self.known.iter().any(|id| id.as_raw() == meaning)
        };
        self.compared && leaves(key, value).iter().any(|leaf| !self.shown.contains(leaf)) && !known()
    }

    /// The part of the page that is theirs.
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
        if self.preview.is_none() {
            return;
        }
        // What follows is said by placet, not by the agent.
        if summary.is_some() {
            writer.blank();
        }
        if !self.compared {
            return writer.wrapped(Kind::Dim, 2, &Shown::ours(words::TOO_LONG_TO_COMPARE));
        }
        let added = self.added();
        if added.is_empty() {
            let all = words::PREVIEW_MATCHES;
            return writer.wrapped(Kind::Dim, 2, &Shown::ours(all));
        }
        writer.wrapped(Kind::Dim, 2, &Shown::ours(words::ONLY_IN_PREVIEW));
        for (key, value, other) in added.iter().take(LISTED) {
            let mark = if *other { "! " } else { "" };
            let ends = if *other { words::OTHER_VALUE_IN_INPUT } else { "" };
            let kind = if *other { Kind::Warn } else { Kind::Plain };
            let what = Shown::ours(mark).followed_by(text::part(key)).followed_by(Shown::ours(": "));
            let what = what.followed_by(text::part(value)).followed_by(Shown::ours(ends));
            writer.wrapped(kind, 4, &what);
        }
        if added.len() > LISTED {
            let more = words::more_in_context(added.len() - LISTED);
            writer.wrapped(Kind::Dim, 4, &Shown::ours(more));
        }
    }

    /// What is in the preview and not in the input; whether the input has another value under that key.
    fn added(&self) -> Vec<(String, String, bool)> {
        let input = self.cached.action.input.as_str();
        let inside: HashSet<Leaf> = leaves("", input).into_iter().collect();
        let keys: HashSet<&str> = inside.iter().map(|(key, _)| key.as_str()).collect();
        let counts = counts(input);
        let said = self.preview.map(|preview| leaves("", preview.as_str())).unwrap_or_default();
        let new = said.into_iter().filter(|leaf| {
            // A preview that a gate makes counts a list, and has an empty text for what is not there.
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

/// Every value without parts, under the nearest key above it; strings as their meaning, all else as it was written.
fn leaves(key: &str, value: &str) -> Vec<Leaf> {
    let (mut all, mut above, mut key) = (Vec::new(), Vec::new(), key.to_owned());
    let mut scanner = Scanner::new(value);
    while let Ok(Some(token)) = scanner.next_token() {
        match token.kind {
            TokenKind::ObjectStart | TokenKind::ArrayStart => above.push(key.clone()),
            TokenKind::ObjectEnd | TokenKind::ArrayEnd => key = above.pop().unwrap_or_default(),
            TokenKind::Key => key = json::decode(token.text).text.into_owned(),
            TokenKind::String => all.push((key.clone(), json::decode(token.text).text.into_owned())),
            TokenKind::Scalar => all.push((key.clone(), token.text.to_owned())),
        }
    }
    all
}

/// How many elements the lists of an input have.
fn counts(input: &str) -> HashSet<String> {
    let members = json::members(input).unwrap_or_default();
    members.iter().filter_map(|member| Some(json::elements(member.value)?.len().to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_have_the_key_that_they_stand_under() {
        let leaf = |key: &str, value: &str| (key.to_owned(), value.to_owned());

        assert_eq!(
            leaves("top", r#"{"a":[1.10,{"b":"x\n"},null],"c":{}}"#),
            [leaf("a", "1.10"), leaf("b", "x\n"), leaf("a", "null")]
        );
        assert_eq!(leaves("top", "[true]"), [leaf("top", "true")]);
    }
}
