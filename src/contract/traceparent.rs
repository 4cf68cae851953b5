//! The header that identifies a request's trace: <https://www.w3.org/TR/trace-context/#traceparent-header>.

/// The header's name; programs receive it as `TRACEPARENT`.
pub const HEADER: &str = "traceparent";

/// Whether the value is valid in version 00. The standard requires ignoring others.
pub fn is_one(value: &str) -> bool {
    let mut parts = value.split('-');
    let mut next = || parts.next().unwrap_or_default();
    let (version, trace, parent, flags) = (next(), next(), next(), next());
    let is_hex = |part: &str, length: usize| {
        part.len() == length && part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    // An id of zeros is invalid.
    let is_id = |part: &str, length: usize| is_hex(part, length) && part.bytes().any(|byte| byte != b'0');
    version == "00" && is_id(trace, 32) && is_id(parent, 16) && is_hex(flags, 2) && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_valid_traceparents_are_accepted() {
        let one = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        assert!(is_one(one));
        for (part, other) in [
            ("00-", "01-"),
            ("00-", "ff-"),
            ("00-", ""),
            ("0af7651916cd43dd8448eb211c80319c", "00000000000000000000000000000000"),
            ("b7ad6b7169203331", "0000000000000000"),
            ("0af7", "0AF7"),
            ("0af7", "0af"),
            ("0af7", "xaf7"),
            ("-01", ""),
            ("-01", "-1"),
            ("-01", "-01-"),
            ("-01", "-01-more"),
            ("-01", "-01\r\nx: y"),
        ] {
            let other = one.replace(part, other);
            assert!(!is_one(&other), "{other}");
        }
        assert!(!is_one(""));
    }
}
