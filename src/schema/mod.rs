//! Checks inputs against a tool's JSON Schema, before review and after an edit. Gate and inbox share this code.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError, Validator};
use regex_automata::nfa::thompson::NFA;
use serde_json::Value;

use self::meter::{Metered, Spent};
use self::pattern::QUOTE_MAX;
use crate::domain::json::{self, Scanner, TokenKind};

mod branches;
mod meter;
mod pattern;
mod property;

pub use property::Property;

/// Reported if validation would take too much time or memory.
const BEYOND: &str = "the schema cannot judge this input; simplify its anyOf or oneOf";
const BEYOND_BY_PATTERN: &str = "the schema cannot judge this input; simplify its pattern";
const BEYOND_BY_SIZE: &str = "this input is too large for its schema to judge; send fewer values at once";
/// Node count from which an input can exceed the budget without branches.
const LARGE: usize = 1_000;
/// Maximum bytes of a parsed input, which can take 150 times the memory of its text.
const MAX_PARSED: usize = 384 << 20;
/// Violations named in a message.
const TOLD: usize = 3;
/// Maximum characters of a violation's description, which may quote the input.
const WORDS_MAX: usize = 200;
/// Violations returned for a form.
const SHOWN: usize = 50;

#[derive(Debug)]
pub struct Schema {
    text: String,
    properties: Vec<Property>,
    overlapping: Vec<String>,
    keys: Vec<NFA>,
    validator: Validator<Metered>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// JSON pointer to the value, also to a missing key; empty for the input itself.
    pub at: String,
    /// May quote the input.
    pub what: String,
}

impl Schema {
    /// Compiles a schema. External references are not fetched. The error continues the words "the schema".
    ///
    /// Patterns use the crate `regex`, which runs in linear time: an agent controls the input.
    pub fn parse(text: impl Into<String>) -> Result<Self, String> {
        let text = text.into();
        let schema: Value = serde_json::from_str(&text).map_err(|error| format!("is no JSON: {error}"))?;
        if let Some(key) = json::duplicate_keys(&text).first() {
            return Err(format!("has the key {key} twice; only one of them would count"));
        }
        if !branches::is_bounded(&schema) {
            let why = "has unevaluatedProperties or unevaluatedItems over too many branches";
            return Err(format!("{why}; simplify its anyOf or oneOf"));
        }
        let (patterns, keys) = pattern::compile(&schema).map_err(|pattern| {
            let pattern = cut(&pattern, QUOTE_MAX);
            format!("has a pattern that is too large: {pattern}; shorten it or lower its counts")
        })?;
        let options = jsonschema::options_for::<Metered>()
            .offline()
            .with_pattern_options(PatternOptions::regex())
            .with_format("regex", pattern::is_regex)
            .with_keyword("pattern", move |_, text, _| {
                let found = pattern::find(&patterns, text.as_str().unwrap_or("("));
                Ok(Box::new(found.map_err(ValidationError::schema)?))
            });
        let validator = options.build(&schema).map_err(|error| format!("is none: {error}"))?;
        Ok(Self {
            properties: property::read(&text),
            overlapping: branches::overlapping(&schema),
            keys: keys.into_values().collect(),
            text,
            validator,
        })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn properties(&self) -> &[Property] {
        &self.properties
    }

    /// JSON pointers of each `anyOf` and `oneOf` whose recursive branches overlap. Deep inputs exceed the budget there.
    pub fn overlapping(&self) -> &[String] {
        &self.overlapping
    }

    /// Returns at most 50 violations, or only the first if collecting all exceeds the budget. Invalid JSON, a duplicate
    /// key and an exceeded budget are violations of the input itself.
    pub fn violations(&self, input: &str) -> Vec<Violation> {
        let read = |errors: Vec<ValidationError<'_>>| errors.iter().take(SHOWN).map(Violation::of).collect();
        self.judge(input, read).unwrap_or_else(|what| vec![Violation { at: String::new(), what }])
    }

    /// Checks an input. The message names up to three violations with their JSON pointers.
    pub fn check(&self, input: &str) -> Result<(), String> {
        self.judge(input, |errors| {
            let some: Vec<_> = errors.iter().take(TOLD).map(told).collect();
            match (some.is_empty(), errors.len().saturating_sub(TOLD)) {
                (true, _) => Ok(()),
                (false, 0) => Err(some.join("; ")),
                (false, more) => Err(format!("{}; and {more} more", some.join("; "))),
            }
        })?
    }

    /// Validates within a budget and passes the errors to `tell`, or only the first if all exceed the budget. Errors
    /// are collected only for an invalid input, because `anyOf` and `oneOf` collect those of all branches. Takes at
    /// most three passes, each with the budget.
    fn judge<T>(&self, input: &str, tell: impl FnOnce(Vec<ValidationError<'_>>) -> T) -> Result<T, String> {
        let value = readable(input)?;
        let within = |judge: &dyn Fn() -> _| meter::within(input.len(), &self.keys, judge);
        let all = || self.validator.iter_errors(&value).collect();
        let first = || self.validator.validate(&value).err().into_iter().collect();
        let judged = meter::within(input.len(), &self.keys, || self.validator.is_valid(&value));
        let errors =
            judged.and_then(
                |is_valid| {
                    if is_valid { Ok(Vec::new()) } else { within(&all).or_else(|_| within(&first)) }
                },
            );
        errors.map(tell).map_err(|spent| {
            let advice = match spent {
                Spent::ByPattern => BEYOND_BY_PATTERN,
                Spent::ByReading if self.overlapping.is_empty() && meter::size(&value) > LARGE => {
                    BEYOND_BY_SIZE
                }
                Spent::ByReading => BEYOND,
            };
            advice.to_owned()
        })
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

    /// The top-level key of the violation; `None` for the input as a whole.
    pub fn key(&self) -> Option<String> {
        let first = self.at.strip_prefix('/')?.split('/').next()?;
        Some(first.replace("~1", "/").replace("~0", "~"))
    }
}

/// Parses an input for validation only; the exact bytes run.
fn readable(input: &str) -> Result<Value, String> {
    let (bytes, keys) = measured(input)?;
    if bytes > MAX_PARSED {
        return Err(BEYOND_BY_SIZE.to_owned());
    }
    let value = serde_json::from_str(input)
        .map_err(|error| format!("the schema cannot judge this input: {error}"))?;
    // Refuses duplicate keys: the validator reads the last, the tool may read the first.
    if keys_in(&value) != keys {
        let twice = json::duplicate_keys(input);
        let key = cut(twice.first().map_or("", String::as_str), QUOTE_MAX);
        return Err(format!("the key {key} stands twice in its object; the schema can judge only one"));
    }
    Ok(value)
}

/// Keys with this prefix make the parser parse their string as JSON, without limits.
const OF_PARSER: &str = "$serde_json::private::";

/// Returns the bytes of the parsed input, estimated from the sizes of the parser's allocations, and its number of keys.
fn measured(input: &str) -> Result<(usize, usize), String> {
    let (mut scanner, mut bytes, mut keys) = (Scanner::new(input), 0, 0);
    while let Ok(Some(token)) = scanner.next_token() {
        keys += usize::from(token.kind == TokenKind::Key);
        let is_odd = token.kind == TokenKind::Key && token.text.contains(['$', '\\']);
        if is_odd && json::decode(token.text).text.starts_with(OF_PARSER) {
            return Err(format!("the schema cannot judge this input: rename its key {OF_PARSER}…"));
        }
        bytes += match token.kind {
            TokenKind::ObjectStart => 190,
            TokenKind::ArrayStart => 300,
            TokenKind::Key => 150 + token.text.len(),
            TokenKind::String => 100 + token.text.len(),
            TokenKind::Scalar => 72,
            TokenKind::ObjectEnd | TokenKind::ArrayEnd => 0,
        };
    }
    Ok((bytes, keys))
}

fn keys_in(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(keys_in).sum(),
        Value::Object(members) => members.len() + members.values().map(keys_in).sum::<usize>(),
        _ => 0,
    }
}

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
mod tests;
