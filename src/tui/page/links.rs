//! Addresses in an action. Nothing here opens one.

use std::collections::HashSet;

use crate::domain::json::{self, Scanner, TokenKind};
use crate::domain::{RawJson, Untrusted};
use crate::tui::model::Cached;

/// So many links of one action are offered.
const MOST: usize = 200;
/// A longer address is text.
const LONGEST: usize = 2_000;

/// The addresses (`http`, `https`, `mailto`) that stand in an action: in what runs, then in what came of it; each once, in the
/// order they stand there, at most 200. They are as they were written, and nothing says that they are what they look like:
/// show [`target`] before one is opened.
pub(in crate::tui) fn links(cached: &Cached) -> Vec<Untrusted> {
    let (mut all, mut known) = (Vec::new(), HashSet::new());
    let action = &cached.action;
    let texts = [Some(&action.input), action.effective_input.as_ref(), action.result.as_ref()];
    for text in texts.into_iter().flatten().map(RawJson::as_str) {
        let mut scanner = Scanner::new(text);
        while let Ok(Some(token)) = scanner.next_token() {
            if token.kind != TokenKind::String || all.len() >= MOST {
                continue;
            }
            for link in in_text(&json::decode(token.text).text) {
                if all.len() < MOST && known.insert(link.to_owned()) {
                    all.push(link.into());
                }
            }
        }
    }
    all
}

/// A text that is one address and nothing else.
pub(super) fn is_link(text: &str) -> bool {
    in_text(text).next() == Some(text)
}

/// Where an address leads to that looks as if it led somewhere else: a name before an `@`, or letters that are not ASCII.
pub(super) fn misleading(text: &str) -> Option<&str> {
    let host = target(text).filter(|_| is_link(text) && !text.starts_with("mailto:"))?;
    let plain = text.split_once("://").is_some_and(|(_, rest)| rest.starts_with(host));
    (!plain || !host.is_ascii() || host.contains("xn--")).then_some(host)
}

/// The host that an `http` address leads to, or the mailbox of a `mailto` one: what stands before an `@` in an address is no
/// host, however much it looks like one.
pub(in crate::tui) fn target(link: &str) -> Option<&str> {
    let (scheme, rest) = link.split_once(':')?;
    if scheme.eq_ignore_ascii_case("mailto") {
        return rest.split('?').next();
    }
    let authority = rest.strip_prefix("//")?.split(['/', '?', '#', '\\']).next()?;
    Some(authority.rsplit('@').next().unwrap_or(authority))
}

fn in_text(text: &str) -> impl Iterator<Item = &str> {
    const SCHEMES: [&str; 3] = ["http://", "https://", "mailto:"];
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = text.get(at..)?;
            let colon = at + rest.find(':')?;
            let before = text.get(at..colon)?;
            let after = text.get(colon..)?;
            at = colon + 1;
            let start = before.len() - before.bytes().rev().take_while(u8::is_ascii_alphanumeric).count();
            let start = colon - before.len() + start;
            let link = text.get(start..)?;
            let scheme = SCHEMES.iter().find(|scheme| {
                link.get(..scheme.len()).is_some_and(|head| head.eq_ignore_ascii_case(scheme))
            });
            let Some(scheme) = scheme else { continue };
            let ends =
                |c: char| c.is_whitespace() || c.is_control() || matches!(c, '"' | '<' | '>' | '`' | '|');
            let end = after.find(ends).unwrap_or(after.len()) + colon - start;
            let link = link.get(..end)?;
            let link = link.trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', '*', '_']);
            let link = closed(closed(link, '(', ')'), '[', ']');
            if link.len() > scheme.len() && link.len() <= LONGEST {
                at = start + link.len();
                return Some(link);
            }
        }
    })
}

/// Without brackets at its end that were not opened in it.
fn closed(mut link: &str, open: char, close: char) -> &str {
    while let Some(shorter) = link.strip_suffix(close)
        && link.matches(close).count() > link.matches(open).count()
    {
        link = shorter;
    }
    link
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        in_text(text).collect()
    }

    #[test]
    fn addresses_are_found_where_they_stand_in_text() {
        assert_eq!(
            found("see https://a.example/x(1), (http://b.example) and MAILTO:kim@c.example?subject=x."),
            ["https://a.example/x(1)", "http://b.example", "MAILTO:kim@c.example?subject=x"]
        );
        assert_eq!(
            found("[docs](https://d.example/p) a:b https:// javascript:alert(1) file:///x"),
            ["https://d.example/p"]
        );
        assert_eq!(found("https://x.example:8443/a:b"), ["https://x.example:8443/a:b"]);
    }

    #[test]
    fn a_target_is_where_it_leads_to() {
        assert_eq!(target("https://github.com@evil.example/login"), Some("evil.example"));
        assert_eq!(target("https://evil.example\\@github.com"), Some("evil.example"));
        assert_eq!(target("mailto:kim@c.example?subject=x"), Some("kim@c.example"));
        assert_eq!(misleading("https://github.com@evil.example/login"), Some("evil.example"));
        assert_eq!(misleading("https://github.com/a@b"), None);
        assert!(is_link("https://a.example") && !is_link("https://a.example b") && !is_link("x"));
    }
}
