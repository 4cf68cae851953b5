//! Shapes of near-identical actions, computed from the list row: source, tool, agent, and the title without variable
//! words. Words with a digit, `@` or `/` and quoted texts are variable.

use crate::domain::{Entry, SourceName, Untrusted};

/// The common part of near-identical actions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    pub source: SourceName,
    pub tool: Untrusted,
    pub agent: Option<Untrusted>,
    /// The title with [`VARIES`] for each variable part.
    pub title: Untrusted,
}

pub(crate) const VARIES: &str = "…";

impl Shape {
    pub(crate) fn of(entry: &Entry) -> Self {
        let row = &entry.row;
        let mut title = String::with_capacity(row.title.as_raw().len());
        for part in parts(row.title.as_raw()) {
            title.push_str(if part.varies { VARIES } else { part.text });
        }
        Self {
            source: entry.key.source.clone(),
            tool: row.tool.clone(),
            agent: row.agent.clone(),
            title: title.into(),
        }
    }
}

pub(crate) fn varying(title: &Untrusted) -> Vec<Untrusted> {
    parts(title.as_raw()).filter(|part| part.varies).map(|part| part.text.into()).collect()
}

struct Part<'a> {
    text: &'a str,
    varies: bool,
}

/// Splits a title into fixed and variable parts, without losing any text.
fn parts(title: &str) -> impl Iterator<Item = Part<'_>> {
    let mut rest = title;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let (end, varies) = if first.is_whitespace() {
            (rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len()), false)
        } else if let Some(end) = quoted(rest, first) {
            (end, true)
        } else {
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            let word = rest.get(..end)?;
            let own = word.contains(|c: char| c.is_numeric() || c == '@' || c == '/');
            // Trailing punctuation does not belong to the word.
            let bare = word.trim_end_matches([',', '.', ';', ':', ')', '!', '?']);
            (if own { bare.len().max(1) } else { end }, own)
        };
        let (text, after) = rest.split_at_checked(end)?;
        rest = after;
        Some(Part { text, varies })
    })
}

fn quoted(text: &str, first: char) -> Option<usize> {
    let close = match first {
        '"' | '\'' | '`' => first,
        '“' | '„' => '”',
        '«' => '»',
        _ => return None,
    };
    let open = first.len_utf8();
    let length = text.get(open..)?.find(close)?;
    Some(open + length + close.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(title: &str) -> String {
        parts(title).map(|part| if part.varies { VARIES } else { part.text }).collect()
    }

    #[test]
    fn numbers_addresses_paths_and_quotations_vary() {
        assert_eq!(pattern("Close stale ticket #1182"), "Close stale ticket …");
        assert_eq!(pattern("Refund 1.10 EUR to ilka@example.com"), "Refund … EUR to …");
        assert_eq!(pattern("Overwrite 'Q plan.docx', again"), "Overwrite …, again");
        assert_eq!(pattern("Comment on SUP-12: done."), "Comment on …: done.");
        assert_eq!(pattern("Write drive/notes.md"), "Write …");
        assert_eq!(pattern("It's fine, isn't it"), "It's fine, isn't it");
        assert_eq!(pattern(""), "");
        assert_eq!(pattern("3."), "….");
    }

    #[test]
    fn nothing_of_a_title_is_lost() {
        for title in ["Refund 1.10 EUR to a@b.c, now", "  two  spaces ", "退款 申请 7 号", "'open", "1 2 3"]
        {
            assert_eq!(parts(title).map(|part| part.text).collect::<String>(), title);
        }
    }

    #[test]
    fn variable_parts_keep_their_order() {
        let found = varying(&"Refund 1.10 EUR to ilka@example.com".into());

        assert_eq!(found, ["1.10".into(), "ilka@example.com".into()]);
    }
}
