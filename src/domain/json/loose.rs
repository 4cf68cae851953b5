//! Splits lists with broken items, so that a broken item does not affect others.

use std::ops::Range;

use super::scan::{Scanner, TokenKind};
use super::value::{Member, decode, members_here};

/// The items of a list as written, valid or not.
#[derive(Debug, PartialEq, Eq)]
pub struct Items<'a> {
    pub items: Vec<&'a str>,
    /// Other members of the object around the list.
    pub beside: Vec<Member<'a>>,
}

/// The start of a list, and the members before it.
struct Head<'a> {
    text: &'a str,
    beside: Vec<Member<'a>>,
    at: usize,
    in_object: bool,
}

/// Returns the items of the list `text`, or of the list `name` in the object `text`. `None` if it is neither, or if the
/// end of the list is unclear: items missing from a truncated reply would look settled.
///
/// A broken item ends where its brackets do. If they do not match, it ends before the next object from which the rest
/// can be parsed.
pub fn items<'a>(text: &'a str, name: &str) -> Option<Items<'a>> {
    let head = head(text, name)?;
    head.rest(head.at).or_else(|| head.salvaged())
}

/// Like [`items`], but converts each item with `read`. It receives the members of a valid object, so that the text is
/// scanned once.
pub fn read_items<'a, T>(
    text: &'a str,
    name: &str,
    read: impl Fn(&'a str, Option<Vec<Member<'a>>>) -> T,
) -> Option<(Vec<T>, Vec<Member<'a>>)> {
    let head = head(text, name)?;
    let mut items = Vec::new();
    let take = |at| {
        let (end, members) = head.object(at).or_else(|| Some((head.item(at)?, None)))?;
        items.push(read(head.text.get(at..end)?.trim_end_matches(is_space), members));
        Some(end)
    };
    if let Some(beside) = head.each(head.at, take) {
        return Some((items, beside));
    }
    let found = head.salvaged()?;
    Some((found.items.into_iter().map(|item| read(item, None)).collect(), found.beside))
}

/// Maximum items tried as the one without a clear end.
const TRIED: usize = 8;

fn head<'a>(text: &'a str, name: &str) -> Option<Head<'a>> {
    let mut scanner = Scanner::new(text);
    let first = scanner.next_token().ok()??;
    let mut beside = Vec::new();
    match first.kind {
        TokenKind::ArrayStart => return Some(Head { text, beside, at: first.at + 1, in_object: false }),
        TokenKind::ObjectStart => {}
        _ => return None,
    }
    loop {
        let key = scanner.next_token().ok()?.filter(|token| token.kind == TokenKind::Key)?;
        let mut ahead = scanner.clone();
        let value = ahead.next_token().ok()??;
        if value.kind == TokenKind::ArrayStart && decode(key.text).text == name {
            return Some(Head { text, beside, at: value.at + 1, in_object: true });
        }
        beside.push(member(text, key.text, scanner.value_span().ok()?)?);
    }
}

fn member<'a>(text: &'a str, raw_key: &'a str, span: Range<usize>) -> Option<Member<'a>> {
    Some(Member { raw_key, key: decode(raw_key), value: text.get(span.clone())?, span })
}

impl<'a> Head<'a> {
    /// Returns the items from there on and the members after the list; `None` on any error.
    fn rest(&self, from: usize) -> Option<Items<'a>> {
        let mut items = Vec::new();
        let take = |at| {
            let end = self.item(at)?;
            items.push(self.text.get(at..end)?.trim_end_matches(is_space));
            Some(end)
        };
        let beside = self.each(from, take)?;
        Some(Items { items, beside })
    }

    /// Calls `take` with the start of each item; it returns the end. Returns the members around the list.
    fn each(&self, from: usize, mut take: impl FnMut(usize) -> Option<usize>) -> Option<Vec<Member<'a>>> {
        let mut at = self.skip(from);
        // An empty list. After a comma the item would be missing.
        let mut ended = from == self.at && self.byte(at) == Some(b']');
        while !ended {
            let end = take(at)?;
            ended = self.byte(end) == Some(b']');
            at = if ended { end } else { self.skip(end + 1) };
        }
        let after = self.after(at + 1)?;
        Some(self.beside.iter().cloned().chain(after).collect())
    }

    /// Returns the end of the object here, and its members.
    fn object(&self, at: usize) -> Option<(usize, Option<Vec<Member<'a>>>)> {
        let text = self.text.get(at..)?;
        let mut scanner = Scanner::new(text);
        let (members, true) = members_here(text, &mut scanner)? else { return None };
        Some((self.behind(at + scanner.at())?, Some(members)))
    }

    /// Recovers the items if one seems too long.
    fn salvaged(&self) -> Option<Items<'a>> {
        let (items, doubtful) = self.until_lost();
        let mut budget = self.text.len().saturating_mul(8);
        for (before, broken) in doubtful.into_iter().rev().take(TRIED) {
            let items = items.get(..before)?;
            if let Some(found) = self.around(items, broken, &mut budget) {
                return Some(found);
            }
        }
        None
    }

    /// Tries each possible end of the broken item: before an object, or at the end of the list.
    fn around(&self, before: &[&'a str], broken: usize, budget: &mut usize) -> Option<Items<'a>> {
        for next in self.objects_after(broken) {
            *budget = budget.checked_sub(self.text.len() - next)?;
            if let Some(rest) = self.rest(next) {
                let item = self.text.get(broken..next)?.trim_end_matches(is_space).strip_suffix(',')?;
                let items = before.iter().copied().chain([item]).chain(rest.items).collect();
                return Some(Items { items, beside: rest.beside });
            }
        }
        // Only in an object, because a list alone could be cut off here.
        for end in self.brackets_after(broken).filter(|_| self.in_object) {
            *budget = budget.checked_sub(self.text.len() - end)?;
            if let Some(after) = self.after(end + 1) {
                let item = self.text.get(broken..end)?.trim_end_matches(is_space);
                let items = before.iter().copied().chain([item]).collect();
                return Some(Items { items, beside: self.beside.iter().cloned().chain(after).collect() });
            }
        }
        None
    }

    /// Returns the items up to one with unclear end, and all doubtful items (those not valid JSON) as number of items
    /// before it and start.
    fn until_lost(&self) -> (Vec<&'a str>, Vec<(usize, usize)>) {
        let (mut items, mut doubtful, mut at) = (Vec::new(), Vec::new(), self.skip(self.at));
        loop {
            let strict = self.strict(at);
            let end = strict.or_else(|| self.balanced(at));
            if strict.is_none() {
                doubtful.push((items.len(), at));
            }
            let Some(end) = end.filter(|end| self.byte(*end) == Some(b',')) else { return (items, doubtful) };
            items.extend(self.text.get(at..end).map(|item| item.trim_end_matches(is_space)));
            at = self.skip(end + 1);
        }
    }

    /// Returns the end of the item here: the comma or bracket after it.
    fn item(&self, at: usize) -> Option<usize> {
        self.strict(at).or_else(|| self.balanced(at))
    }

    fn strict(&self, at: usize) -> Option<usize> {
        let span = Scanner::new(self.text.get(at..)?).value_span().ok()?;
        self.behind(at + span.end)
    }

    fn behind(&self, at: usize) -> Option<usize> {
        Some(self.skip(at)).filter(|end| matches!(self.byte(*end), Some(b',' | b']')))
    }

    /// Finds the end of an item by brackets and quotes only.
    fn balanced(&self, at: usize) -> Option<usize> {
        let (mut open, mut quoted, mut escaped) = (Vec::new(), false, false);
        for (offset, byte) in self.text.as_bytes().get(at..)?.iter().enumerate() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if quoted => escaped = true,
                b'"' => quoted = !quoted,
                _ if quoted => {}
                b',' | b']' if open.is_empty() => return Some(at + offset),
                b'{' => open.push(b'}'),
                b'[' => open.push(b']'),
                b'}' | b']' if open.pop() != Some(*byte) => return None,
                _ => {}
            }
        }
        None
    }

    /// Returns the members after the list; `None` unless the text ends properly.
    fn after(&self, at: usize) -> Option<Vec<Member<'a>>> {
        let mut beside = Vec::new();
        if !self.in_object {
            return self.text.get(at..)?.trim_matches(is_space).is_empty().then_some(beside);
        }
        let mut scanner = Scanner::in_object(self.text, at);
        while let Some(token) = scanner.next_token().ok()? {
            if token.kind == TokenKind::Key {
                beside.push(member(self.text, token.text, scanner.value_span().ok()?)?);
            }
        }
        Some(beside)
    }

    fn objects_after(&self, at: usize) -> impl Iterator<Item = usize> {
        let commas = self.text.get(at..).unwrap_or_default().match_indices(',');
        commas.map(move |(offset, _)| self.skip(at + offset + 1)).filter(|at| self.byte(*at) == Some(b'{'))
    }

    fn brackets_after(&self, at: usize) -> impl Iterator<Item = usize> {
        self.text.get(at..).unwrap_or_default().match_indices(']').map(move |(offset, _)| at + offset)
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    fn skip(&self, at: usize) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        at + rest.len() - rest.trim_start_matches(is_space).len()
    }
}

const fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounds::rounds;

    fn split(text: &str) -> Option<Vec<&str>> {
        items(text, "items").map(|found| found.items)
    }

    #[test]
    fn valid_items_are_returned_as_written() {
        assert_eq!(split("[]"), Some(vec![]));
        assert_eq!(split(" [ 1 , {\"a\":[2]} ] "), Some(vec!["1", "{\"a\":[2]}"]));
        let page = items(r#"{"revision":7,"items":[{"id":1}],"next":null,"x":[1]}"#, "items").unwrap();
        assert_eq!(page.items, [r#"{"id":1}"#]);
        let beside: Vec<_> =
            page.beside.iter().map(|member| (member.key.text.as_ref(), member.value)).collect();
        assert_eq!(beside, [("revision", "7"), ("next", "null"), ("x", "[1]")]);
    }

    #[test]
    fn a_broken_item_does_not_affect_others() {
        let broken = [
            "{\"a\":1,}",
            "{\"a\" 1}",
            "{\"a\":abc}",
            "{\"a\":\"\\x\"}",
            "{\"a\":\"tab\t\"}",
            "nonsense",
            "{'a':1}",
            "",
            "{\"a\":[1}",
            "{\"a\":\"no end}",
            "{\"a\":[[1]",
            "{\"a\":1",
            "\"",
            "{\"a\":1}}",
            "{\"a\":1]",
            "[",
            "{",
        ];
        for bad in broken {
            let page = format!(r#"{{"items":[{{"id":1}},{bad},{{"id":2}},{{"id":3}}],"next":null}}"#);
            assert_eq!(split(&page), Some(vec![r#"{"id":1}"#, bad, r#"{"id":2}"#, r#"{"id":3}"#]), "{bad}");
            if bad == "[" {
                // The list's own bracket would close it.
                continue;
            }
            let last = format!(r#"{{"items":[{{"id":1}},{bad}],"next":null}}"#);
            assert_eq!(split(&last), Some(vec![r#"{"id":1}"#, bad]), "{bad}");
            let first = format!(r#"{{"items":[{bad},{{"id":2}}],"next":null}}"#);
            assert_eq!(split(&first), Some(vec![bad, r#"{"id":2}"#]), "{bad}");
        }
    }

    #[test]
    fn contents_of_a_broken_item_are_not_items() {
        let inside = r#"{"id":1,"rows":[x,{"id":"forged"},{"id":"too"}]}"#;
        assert_eq!(split(&format!("[{inside},{{\"id\":2}}]")), Some(vec![inside, "{\"id\":2}"]));
        let quoted = r#"{"id":1,"t":"],{\"id\":\"forged\"}","bad":}"#;
        assert_eq!(split(&format!("[{quoted},{{\"id\":2}}]")), Some(vec![quoted, "{\"id\":2}"]));
    }

    #[test]
    fn a_truncated_list_is_refused() {
        for text in [
            "",
            "{}",
            "7",
            "[",
            "[1",
            "[1,",
            "[{\"id\":1},{\"id\":",
            "{\"items\":[1]",
            "{\"items\":[1],",
            "[1]]",
            "[1] x",
            "{\"items\":7}",
            "{\"items\":[1]} x",
            "{\"items\":[1],\"a\":}",
            "<html>",
            "[{\"a\":\"no end}]",
        ] {
            assert_eq!(split(text), None, "{text}");
        }
    }

    /// These would take minutes if each start were tried to the end.
    #[test]
    fn hostile_lists_take_linear_time() {
        let n = rounds(25_000, 105_000) as usize;
        assert_eq!(split(&"[".repeat(10 * n)), None);
        assert_eq!(split(&format!("[{}", ",{".repeat(5 * n))), None);
        assert_eq!(split(&format!("[{{\"a\":\"{}", "},{\"id\":1".repeat(n))), None);
        let many = format!("[{}{{]", "{\"id\":1},".repeat(n));
        assert_eq!(split(&many), None);
    }
}
