//! A tool's JSON Schema: what its input must look like before anybody is asked about it, and after somebody edited it.

use std::path::Path;

use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::Value;

use crate::domain::json;

/// How many violations a message names.
const TOLD: usize = 3;
/// Longest description of one violation, in characters: it may quote the input.
const WORDS_MAX: usize = 200;
/// Longest quoted value, in bytes.
const QUOTE_MAX: usize = 80;
/// In larger inputs, in bytes, only the first violation is looked for: each costs memory, and an agent can send millions.
const THOROUGH_MAX: usize = 64 << 10;

/// A schema, read and compiled once.
#[derive(Debug)]
pub(crate) struct Schema {
    text: String,
    validator: Validator,
}

impl Schema {
    /// Reads and compiles the schema in this file. It stands alone: nothing that it refers to is fetched.
    ///
    /// Patterns are those of the crate `regex`, whose time is linear in the input: an agent chooses the input.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let wrong = |what: &str| format!("the schema {} {what}", path.display());
        let text = std::fs::read_to_string(path)
            .map_err(|error| wrong(&format!("cannot be read: {}", error.to_string().to_lowercase())))?;
        let schema: Value =
            serde_json::from_str(&text).map_err(|error| wrong(&format!("is no JSON: {error}")))?;
        if let Some(key) = json::duplicate_keys(&text).first() {
            return Err(wrong(&format!("has the key {key} twice; only one of them would count")));
        }
        let options = jsonschema::options().offline().with_pattern_options(PatternOptions::regex());
        let validator = options.build(&schema).map_err(|error| wrong(&format!("is none: {error}")))?;
        Ok(Self { text, validator })
    }

    /// The file's exact text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether an input is what the schema asks for. The message names up to three places as JSON pointers.
    pub(crate) fn check(&self, input: &str) -> Result<(), String> {
        // The validator reads the last one of two; the tool may read the first.
        if let Some(key) = json::duplicate_keys(input).first() {
            let key = cut(key, QUOTE_MAX);
            return Err(format!("the key {key} stands twice in its object; the schema can judge only one"));
        }
        // Read for judging only; what runs are the exact bytes.
        let value: Value = serde_json::from_str(input)
            .map_err(|error| format!("the schema cannot judge this input: {error}"))?;
        if input.len() > THOROUGH_MAX {
            return self.validator.validate(&value).map_err(|error| told(&error));
        }
        let mut errors = self.validator.iter_errors(&value);
        let some: Vec<_> = errors.by_ref().take(TOLD).map(|error| told(&error)).collect();
        match (some.is_empty(), errors.count()) {
            (true, _) => Ok(()),
            (false, 0) => Err(some.join("; ")),
            (false, more) => Err(format!("{}; and {more} more", some.join("; "))),
        }
    }
}

/// Where and what, without long values.
fn told(error: &ValidationError<'_>) -> String {
    let place = match error.instance_path().to_string() {
        root if root.is_empty() => "the input".to_owned(),
        pointer => cut(&pointer, WORDS_MAX),
    };
    let quoted = error.instance().to_string().len();
    let words = if quoted > QUOTE_MAX { error.masked().to_string() } else { error.to_string() };
    format!("{place}: {}", cut(&words, WORDS_MAX))
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(text: &str) -> Result<Schema, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, text).unwrap();
        Schema::read(file.path())
    }

    const TICKET: &str = r#"{
        "type": "object", "required": ["title"], "additionalProperties": false,
        "properties": {
            "title": {"type": "string", "maxLength": 100},
            "labels": {"type": "array", "items": {"type": "string", "pattern": "^[a-z]+$"}},
            "a/b": {"type": "integer", "maximum": 5}
        }
    }"#;

    #[test]
    fn an_input_that_fits_passes_and_the_schema_stays_as_written() {
        let schema = schema(TICKET).unwrap();

        assert_eq!(schema.check(r#"{"title":"x","labels":["bug"],"a/b":5}"#), Ok(()));
        assert_eq!(schema.text(), TICKET);
    }

    #[test]
    fn violations_are_named_by_pointer_and_at_most_three() {
        let schema = schema(TICKET).unwrap();

        let one = schema.check(r#"{"title":7}"#).unwrap_err();
        let root = schema.check("{}").unwrap_err();
        let odd = schema.check(r#"{"title":"x","a/b":6}"#).unwrap_err();
        let many = schema.check(r#"{"title":"x","labels":["A","B","C","D","E"]}"#).unwrap_err();

        assert_eq!(one, "/title: 7 is not of type \"string\"");
        assert_eq!(root, "the input: \"title\" is a required property");
        assert!(odd.starts_with("/a~1b: 6 is greater than"), "{odd}");
        assert_eq!(many.matches("/labels/").count(), 3, "{many}");
        assert!(many.ends_with("; and 2 more"), "{many}");
    }

    #[test]
    fn a_long_value_is_not_repeated() {
        let schema = schema(TICKET).unwrap();
        let (secret, key) = ("s3cret".repeat(50), "k".repeat(5_000));
        for input in [
            format!(r#"{{"title":"{secret}"}}"#),
            format!(r#"{{"title":"x","labels":"{secret}"}}"#),
            format!(r#"{{"title":"x","{key}":1}}"#),
            format!(r#"{{"title":"x","{key}":1,"{key}":1}}"#),
            format!(r#"{{"title":"x","labels":[{}"A"]}}"#, format!("\"{secret}\",").repeat(1_000)),
        ] {
            let message = schema.check(&input).unwrap_err();
            assert!(message.len() < 4 * WORDS_MAX && !message.contains(&secret), "{message}");
        }
    }

    #[test]
    fn a_key_that_stands_twice_is_refused_at_any_depth() {
        let schema = schema(r#"{"properties":{"to":{"const":"alice"}}}"#).unwrap();

        for input in [r#"{"to":"mallory","to":"alice"}"#, r#"{"t\u006f":"m","to":"alice"}"#] {
            assert!(schema.check(input).unwrap_err().contains("the key to stands twice"));
        }
        assert!(schema.check(r#"{"a":[{"b":1,"b":1}]}"#).unwrap_err().contains("the key a.b stands twice"));
        assert_eq!(schema.check(r#"{"to":"alice","a":[{"to":1},{"to":2}]}"#), Ok(()));
    }

    #[test]
    fn what_is_no_schema_is_refused() {
        for (text, says) in [
            ("{", "is no JSON"),
            ("7", "is none"),
            (r#"{"type":"strnig"}"#, "is none"),
            (r#"{"pattern":"(a)\\1"}"#, "is none"),
            (r#"{"type":"object","type":"array"}"#, "has the key type twice"),
            (r#"{"$ref":"https://example.com/schema.json"}"#, "is none"),
            (r#"{"$ref":"http://127.0.0.1:1/s.json"}"#, "is none"),
            (r#"{"$ref":"file:///etc/passwd"}"#, "is none"),
            (r##"{"$ref":"#/$defs/missing"}"##, "is none"),
        ] {
            let error = schema(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
        assert!(Schema::read(Path::new("/no/such.json")).unwrap_err().contains("cannot be read"));
    }

    #[test]
    fn a_pattern_takes_no_longer_than_the_text_is_long() {
        let schema = schema(r#"{"properties":{"x":{"pattern":"^(a+)+$"}}}"#).unwrap();
        let begun = std::time::Instant::now();

        let judged = schema.check(&format!(r#"{{"x":"{}!"}}"#, "a".repeat(50_000)));

        assert!(judged.is_err());
        assert!(begun.elapsed() < std::time::Duration::from_secs(5));
    }
}
