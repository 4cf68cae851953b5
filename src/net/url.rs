//! Builds parts of a URL from foreign text, so that an id cannot escape its segment.

use std::fmt::Write as _;

/// Encodes a path segment. `None` for an empty text, `.` and `..`, which URL parsers resolve in any encoding.
pub fn segment(text: &str) -> Option<String> {
    (!matches!(text, "" | "." | "..")).then(|| encode(text))
}

/// Returns `?name=value&…`; empty without pairs.
pub fn query(pairs: &[(&str, &str)]) -> String {
    let mut out = String::new();
    for (name, value) in pairs {
        let mark = if out.is_empty() { '?' } else { '&' };
        let _ = write!(out, "{mark}{name}={}", encode(value)); // writing to a String cannot fail
    }
    out
}

/// Percent-encodes all but the unreserved characters of RFC 3986.
pub fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}"); // writing to a String cannot fail
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_stays_one_segment() {
        assert_eq!(segment("m:send/../é ?#"), Some("m%3Asend%2F..%2F%C3%A9%20%3F%23".to_owned()));
        assert_eq!([segment(""), segment("."), segment("..")], [None, None, None]);
    }

    #[test]
    fn a_query_encodes_its_values() {
        assert_eq!(query(&[("a", "1&b=2"), ("c", "x y")]), "?a=1%26b%3D2&c=x%20y");
        assert_eq!(query(&[]), "");
    }
}
