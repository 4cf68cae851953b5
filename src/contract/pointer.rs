//! JSON pointers of the configuration (RFC 6901).

use crate::domain::json;

/// Returns the value at `pointer` as written. Of duplicate members the last one counts.
pub fn find<'a>(text: &'a str, pointer: &str) -> Option<&'a str> {
    if pointer.is_empty() {
        return Some(text);
    }
    pointer.strip_prefix('/')?.split('/').try_fold(text, |value, step| {
        let step = step.replace("~1", "/").replace("~0", "~");
        if value.trim_start().starts_with('[') {
            return json::elements(value)?.get(step.parse::<usize>().ok()?).copied();
        }
        json::members(value)?.into_iter().rev().find(|member| member.key.text == step).map(|it| it.value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_returns_the_value_as_written() {
        let text = r#" {"a":{"b/c":[1.10,{"~":"x"}]},"a\u0062":2} "#;

        assert_eq!(find(text, "/a/b~1c/0"), Some("1.10"));
        assert_eq!(find(text, "/a/b~1c/1/~0"), Some("\"x\""));
        assert_eq!(find(text, "/ab"), Some("2"));
        assert_eq!(find(text, ""), Some(text));
        for nowhere in ["a", "/a/b", "/a/b~1c/2", "/a/b~1c/x", "/a/b~1c/0/0"] {
            assert_eq!(find(text, nowhere), None, "{nowhere}");
        }
    }
}
