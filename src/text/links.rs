//! Addresses in a text, and where they lead. Nothing here opens one.

use super::identifier::name;

/// Maximum number of misleading hosts that are named per value.
const MOST_MISLEADING: usize = 5;
/// A longer address is text.
const LONGEST: usize = 2_000;

/// A text that is one address and nothing else.
pub fn is_link(text: &str) -> bool {
    links_in(text).next() == Some(text)
}

/// Hosts of addresses that look as if they led to another host, each once, at most 5: those behind a name and an `@`, and those with
/// letters that look like others. In an address alone, every host that is not ASCII.
pub fn misleading(text: &str) -> Vec<&str> {
    let alone = is_link(text);
    let links = links_in(text).filter_map(|link| {
        let mailbox = link.get(..7).is_some_and(|head| head.eq_ignore_ascii_case("mailto:"));
        let host = target(link).filter(|_| !mailbox)?;
        let plain = link.split_once("://").is_some_and(|(_, rest)| rest.starts_with(host));
        (!plain || is_doubtful(host) || (alone && !host.is_ascii())).then_some(host)
    });
    let mut hosts = Vec::new();
    for host in links.chain(mail_hosts(text).filter(|host| is_doubtful(host))) {
        if hosts.len() < MOST_MISLEADING && !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    hosts
}

/// Punycode, or a word that looks as if it were of another script.
fn is_doubtful(host: &str) -> bool {
    host.contains("xn--") || (!host.is_ascii() && name(&host.into()).plain() != host)
}

/// The hosts of mail addresses.
fn mail_hosts(text: &str) -> impl Iterator<Item = &str> {
    let ends = |c: char| c.is_whitespace() || c.is_control() || "\"'<>()[]{},;:/\\|`".contains(c);
    // Returns early, because most texts have none.
    let words = text.contains('@').then(|| text.split(ends).filter(|word| word.contains('@')));
    words.into_iter().flatten().filter_map(|word| {
        let (name, host) = word.rsplit_once('@')?;
        let host = host.trim_end_matches(['.', '!', '?']);
        (!name.is_empty() && host.contains('.')).then_some(host)
    })
}

/// The host that an `http` address leads to, or the mailbox of a `mailto` one: what stands before an `@` in an address is no
/// host, however much it looks like one.
fn target(link: &str) -> Option<&str> {
    let (scheme, rest) = link.split_once(':')?;
    if scheme.eq_ignore_ascii_case("mailto") {
        return rest.split('?').next();
    }
    let authority = rest.strip_prefix("//")?.split(['/', '?', '#', '\\']).next()?;
    Some(authority.rsplit('@').next().unwrap_or(authority))
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

    #[test]
    fn what_leads_elsewhere_is_told_also_inside_of_a_text() {
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
        assert_eq!(misleading("https://github.com@evil.example/login"), ["evil.example"]);
        assert!(misleading("https://github.com/a@b").is_empty());
        assert!(is_link("https://a.example") && !is_link("https://a.example b") && !is_link("x"));
    }
}
