//! Finds addresses in a text and where they lead. Does not open any.

use super::identifier::{identifier_part, name};
use super::shown::Shown;

/// Maximum number of misleading hosts that are named.
pub(super) const MOST_MISLEADING: usize = 20;
/// Maximum length of an address that counts as a link; only this much of a longer one is judged.
const LONGEST: usize = 2_000;

pub fn is_link(text: &str) -> bool {
    links_in(text).next() == Some(text)
}

/// Returns distinct hosts of addresses that seem to lead to another host: hosts after an `@`, and hosts with lookalike
/// letters. If the text is one address, any host that is not ASCII. Authorities that programs parse differently are
/// returned whole. At most one host more than [`named_hosts`] names.
pub fn misleading(text: &str) -> Vec<&str> {
    let alone = is_link(text.get(..text.floor_char_boundary(LONGEST)).unwrap_or_default());
    let links = authorities(text).filter_map(|authority| {
        if let Some(host) = elsewhere(authority) {
            return Some(host);
        }
        let host = authority.split('\\').next()?;
        (is_doubtful(host) || (alone && !host.is_ascii())).then_some(host)
    });
    let mut hosts = Vec::new();
    for host in links.chain(mail_hosts(text).filter(|host| is_doubtful(host))) {
        if hosts.len() > MOST_MISLEADING {
            break;
        }
        if !host.is_empty() && !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    hosts
}

/// Shows the hosts of [`misleading`], and whether there are more.
pub fn named_hosts<T: AsRef<str>>(hosts: &[T]) -> impl Iterator<Item = Shown> {
    let more = (hosts.len() > MOST_MISLEADING).then(|| Shown::ours("more hosts"));
    hosts.iter().take(MOST_MISLEADING).map(|host| identifier_part(host.as_ref())).chain(more)
}

/// Whether a host has punycode or a word that looks like another script's.
fn is_doubtful(host: &str) -> bool {
    host.contains("xn--") || (!host.is_ascii() && name(&host.into()).plain() != host)
}

fn mail_hosts(text: &str) -> impl Iterator<Item = &str> {
    let ends = |c: char| c.is_whitespace() || c.is_control() || "\"'<>()[]{},;:/\\|`".contains(c);
    // Most texts have no address.
    let words = text.contains('@').then(|| text.split(ends).filter(|word| word.contains('@')));
    words.into_iter().flatten().filter_map(|word| {
        let (name, host) = word.rsplit_once('@')?;
        let host = host.trim_end_matches(['.', '!', '?']);
        (!name.is_empty() && host.contains('.')).then_some(host)
    })
}

/// The host after an `@`. Returns the whole authority if it has `%40`, has a `\` before more of a host, or exceeds
/// [`LONGEST`], because browsers and libraries may disagree about its host.
fn elsewhere(authority: &str) -> Option<&str> {
    let split = authority.split_once('\\').is_some_and(|(_, rest)| rest.contains(['.', '@']));
    if split || authority.contains("%40") || authority.chars().count() >= LONGEST {
        return Some(authority);
    }
    authority.rsplit_once('@').map(|(_, host)| host)
}

/// Returns the authority of each web address, also with missing or reversed slashes, as browsers accept, or no scheme.
fn authorities(text: &str) -> impl Iterator<Item = &str> {
    const SCHEMES: [&str; 5] = ["http", "https", "ftp", "ws", "wss"];
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let sign = at + text.get(at..)?.find([':', '/'])?;
            let (before, rest) = text.split_at_checked(sign)?;
            let scheme = before.bytes().rev().take_while(u8::is_ascii_alphanumeric).count();
            let scheme = before.get(before.len() - scheme..)?;
            let is_special =
                rest.starts_with(':') && SCHEMES.iter().any(|it| it.eq_ignore_ascii_case(scheme));
            at = sign + 1;
            let goes_on = |c: char| c.is_alphanumeric() || matches!(c, ':' | '/' | '\\');
            if !is_special && (!rest.starts_with("//") || before.ends_with(goes_on)) {
                continue;
            }
            let rest = rest.get(1..)?.trim_start_matches(['/', '\\']);
            let inside =
                rest.chars().take(LONGEST).take_while(|c| !ends(*c) && !matches!(c, '/' | '?' | '#'));
            let authority = rest.get(..inside.map(char::len_utf8).sum())?;
            // A trailing colon may belong to another scheme.
            at = text.len() - rest.len() + authority.len() - usize::from(authority.ends_with(':'));
            // Two slashes may begin a comment.
            if is_special || (authority.contains('.') && !authority.starts_with('@')) {
                return Some(trimmed(authority));
            }
        }
    })
}

pub fn links_in(text: &str) -> impl Iterator<Item = &str> {
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
            let end = after.find(ends).unwrap_or(after.len()) + colon - start;
            let link = trimmed(link.get(..end)?);
            if link.len() > scheme.len() {
                at = start + link.len();
                if link.len() <= LONGEST {
                    return Some(link);
                }
            }
        }
    })
}

fn ends(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '"' | '<' | '>' | '`' | '|')
}

/// Strips the punctuation of the surrounding text.
fn trimmed(link: &str) -> &str {
    let link = link.trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', '*', '_', '\\']);
    closed(closed(link, '(', ')'), '[', ']')
}

/// Strips closing brackets that were not opened in the link.
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

    #[test]
    fn misleading_hosts_are_found_inside_a_text() {
        assert_eq!(
            misleading("see https://p\u{430}ypal.com/x and https://xn--pypal-4ve.com"),
            ["p\u{430}ypal.com", "xn--pypal-4ve.com"]
        );
        assert_eq!(misleading("write to <billing@p\u{430}ypal.com>, soon."), ["p\u{430}ypal.com"]);
        assert_eq!(
            misleading("https://github.com@evil.example/login, twice https://a.b@evil.example"),
            ["evil.example"]
        );
        let ordinary = [
            "\u{8a73}: https://example.com\u{3092}\u{53c2}\u{7167}",
            "kim@example.com",
            "@kim: ok.",
            "a@b",
            "mailto:kim@example.com",
        ];
        for text in ordinary {
            assert!(misleading(text).is_empty(), "{text}: {:?}", misleading(text));
        }
        assert_eq!(misleading("https://b\u{fc}cher.example"), ["b\u{fc}cher.example"]);
    }

    fn found(text: &str) -> Vec<&str> {
        links_in(text).collect()
    }

    #[test]
    fn addresses_are_found_in_text() {
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
    fn a_misleading_address_names_its_host() {
        let written = [
            ("https://github.com@evil.example/login", "evil.example"),
            ("https:paypal.com@evil.example/", "evil.example"),
            ("https:/paypal.com@evil.example/", "evil.example"),
            (r"HTTPS:\\paypal.com@evil.example/", "evil.example"),
            ("//paypal.com@evil.example/", "evil.example"),
            ("[x](//paypal.com@evil.example)", "evil.example"),
            ("ftp://paypal.com@evil.example", "evil.example"),
            ("wss://paypal.com@evil.example", "evil.example"),
            ("https:https://paypal.com@evil.example", "evil.example"),
            (r"https://paypal.com\@evil.example/", r"paypal.com\@evil.example"),
            (r"https://evil.example\.paypal.com/", r"evil.example\.paypal.com"),
            ("https://paypal.com%40evil.example/", "paypal.com%40evil.example"),
        ];
        for (text, host) in written {
            assert_eq!(misleading(text), [host], "{text}");
            let long = format!("{text}/{}", "a".repeat(3 * LONGEST));
            assert_eq!(misleading(&long).len(), 1, "{text} continued");
        }
        assert_eq!(misleading(&format!("https://paypal.com{}@evil.example", "a".repeat(LONGEST))).len(), 1);
        for plain in [
            "https://github.com/a@b",
            "//github.com/a@b",
            "mailto:a@b.example, ada@a.example",
            "http: ada@a.example, news:ada@a.example",
            "ssh://git@a.example/x",
            "// ada@a.example",
            "//@ts-check",
            r#"{\"url\":\"https://a.example\"}"#,
            r"https://a.example\nSee",
        ] {
            assert!(misleading(plain).is_empty(), "{plain}: {:?}", misleading(plain));
        }
        assert!(is_link("https://a.example") && !is_link("https://a.example b") && !is_link("x"));
    }

    #[test]
    fn hosts_beyond_the_limit_are_announced() {
        let named = |n: usize| {
            let all: Vec<_> = (0..n).map(|n| format!("https://a@h{n}.example ")).collect();
            named_hosts(&misleading(&all.concat())).map(|host| host.plain()).collect::<Vec<_>>()
        };

        assert_eq!(named(6)[5], "h5.example");
        assert_eq!(named(MOST_MISLEADING).len(), MOST_MISLEADING);
        assert_eq!(named(99)[MOST_MISLEADING..], ["more hosts"]);
    }
}
