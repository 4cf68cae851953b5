//! A tool's JSON Schema: what its input must look like before anybody is asked about it, and after somebody edited it. The
//! gate and the inbox judge with the same code.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::Value;

use crate::domain::json;

mod property;

pub use property::Property;

/// How many violations a message names.
const TOLD: usize = 3;
/// Longest description of one violation, in characters: it may quote the input.
const WORDS_MAX: usize = 200;
/// Longest quoted value, in bytes.
const QUOTE_MAX: usize = 80;
/// In larger inputs, in bytes, only the first violation is looked for: each costs memory, and an agent can send millions.
const THOROUGH_MAX: usize = 64 << 10;
/// How many violations a form is told of.
const SHOWN: usize = 50;

/// A schema, read and compiled once.
#[derive(Debug)]
pub struct Schema {
    text: String,
    properties: Vec<Property>,
    validator: Validator,
}

/// One thing that a schema does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// A JSON pointer to the value; empty: the input itself. A missing key is pointed at as if it stood there.
    pub at: String,
    /// May quote the input.
    pub what: String,
}

impl Schema {
    /// Compiles a schema. It stands alone: nothing that it refers to is fetched. The error goes on after "the schema".
    ///
    /// Patterns are those of the crate `regex`, whose time is linear in the input: an agent chooses the input.
    pub fn parse(text: impl Into<String>) -> Result<Self, String> {
        let text = text.into();
        let schema: Value = serde_json::from_str(&text).map_err(|error| format!("is no JSON: {error}"))?;
        if let Some(key) = json::duplicate_keys(&text).first() {
            return Err(format!("has the key {key} twice; only one of them would count"));
        }
        let options = jsonschema::options().offline().with_pattern_options(PatternOptions::regex());
        let validator = options.build(&schema).map_err(|error| format!("is none: {error}"))?;
        Ok(Self { properties: property::read(&text), text, validator })
    }

    /// The exact text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The keys that the schema speaks of, in its order.
    pub fn properties(&self) -> &[Property] {
        &self.properties
    }

    /// Everything that the schema does not allow in this input, at most 50; in an input above 64 KiB the first only. What is
    /// no JSON, or has a key twice, is a violation of the input itself.
    pub fn violations(&self, input: &str) -> Vec<Violation> {
        let whole = |what: String| vec![Violation { at: String::new(), what }];
        let value = match readable(input) {
            Ok(value) => value,
            Err(what) => return whole(what),
        };
        let most = if input.len() > THOROUGH_MAX { 1 } else { SHOWN };
        self.validator.iter_errors(&value).take(most).map(|error| Violation::of(&error)).collect()
    }

    /// Whether an input is what the schema asks for. The message names up to three places as JSON pointers.
    pub fn check(&self, input: &str) -> Result<(), String> {
        let value = readable(input)?;
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

impl Violation {
    fn of(error: &ValidationError<'_>) -> Self {
        let mut at = error.instance_path().to_string();
        if let ValidationErrorKind::Required { property } = error.kind()
            && let Some(key) = property.as_str()
        {
            at.push('/');
            at.push_str(&key.replace('~', "~0").replace('/', "~1"));
        }
        Self { at, what: words(error) }
    }

    /// The top-level key that it is about; `None` when it is about the input as a whole.
    pub fn key(&self) -> Option<String> {
        let first = self.at.strip_prefix('/')?.split('/').next()?;
        Some(first.replace("~1", "/").replace("~0", "~"))
    }
}

/// Read for judging only; what runs are the exact bytes.
fn readable(input: &str) -> Result<Value, String> {
    // The validator reads the last one of two; the tool may read the first.
    if let Some(key) = json::duplicate_keys(input).first() {
        let key = cut(key, QUOTE_MAX);
        return Err(format!("the key {key} stands twice in its object; the schema can judge only one"));
    }
    serde_json::from_str(input).map_err(|error| format!("the schema cannot judge this input: {error}"))
}

/// Where and what, without long values.
fn told(error: &ValidationError<'_>) -> String {
    let place = match error.instance_path().to_string() {
        root if root.is_empty() => "the input".to_owned(),
        pointer => cut(&pointer, WORDS_MAX),
    };
    format!("{place}: {}", words(error))
}

fn words(error: &ValidationError<'_>) -> String {
    let quoted = error.instance().to_string().len();
    let words = if quoted > QUOTE_MAX { error.masked().to_string() } else { error.to_string() };
    cut(&words, WORDS_MAX)
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
        Schema::parse(text)
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
    fn a_form_learns_which_field_each_violation_is_about() {
        let schema = schema(TICKET).unwrap();

        let found = schema.violations(r#"{"labels":["B"],"a/b":6}"#);

        let mut keys: Vec<_> = found.iter().filter_map(Violation::key).collect();
        keys.sort();
        assert_eq!(keys, ["a/b", "labels", "title"]);
        assert_eq!(schema.violations(r#"{"title":"x"}"#), []);
        assert_eq!(schema.violations("{")[0].key(), None);
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
