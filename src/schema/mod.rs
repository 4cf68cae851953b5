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

    /// The keys that the schema describes, in schema order.
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
    let (bytes, keys) = measured(input);
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

/// Returns the bytes of the parsed input, estimated from the sizes of the parser's allocations, and its number of keys.
fn measured(input: &str) -> (usize, usize) {
    let (mut scanner, mut bytes, mut keys) = (Scanner::new(input), 0, 0);
    while let Ok(Some(token)) = scanner.next_token() {
        keys += usize::from(token.kind == TokenKind::Key);
        bytes += match token.kind {
            TokenKind::ObjectStart => 190,
            TokenKind::ArrayStart => 300,
            TokenKind::Key => 150 + token.text.len(),
            TokenKind::String => 100 + token.text.len(),
            TokenKind::Scalar => 72,
            TokenKind::ObjectEnd | TokenKind::ArrayEnd => 0,
        };
    }
    (bytes, keys)
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
mod tests {
    use serde_json::{Map, json};

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
    fn a_valid_input_passes_and_schema_text_is_kept() {
        let schema = schema(TICKET).unwrap();

        assert_eq!(schema.check(r#"{"title":"x","labels":["bug"],"a/b":5}"#), Ok(()));
        assert_eq!(schema.text(), TICKET);
    }

    #[test]
    fn a_message_names_three_violations_by_pointer() {
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
    fn violations_name_their_field() {
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
    fn a_duplicate_key_is_refused_at_any_depth() {
        let schema = schema(r#"{"properties":{"to":{"const":"alice"}}}"#).unwrap();

        for input in [r#"{"to":"mallory","to":"alice"}"#, r#"{"t\u006f":"m","to":"alice"}"#] {
            assert!(schema.check(input).unwrap_err().contains("the key to stands twice"));
        }
        assert!(schema.check(r#"{"a":[{"b":1,"b":1}]}"#).unwrap_err().contains("the key a.b stands twice"));
        assert_eq!(schema.check(r#"{"to":"alice","a":[{"to":1},{"to":2}]}"#), Ok(()));
    }

    #[test]
    fn an_invalid_schema_is_refused() {
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

    /// A recursive filter with two overlapping branches.
    const FILTER: &str = r##"{"properties":{"filter":{"$ref":"#/$defs/n"}},"$defs":{"n":{"anyOf":[
        {"type":"object","properties":{"all":{"items":{"$ref":"#/$defs/n"}}},"required":["all"]},
        {"type":"object","properties":{"all":{"items":{"$ref":"#/$defs/n"}},"not":{"type":"boolean"}},"required":["all"]},
        {"type":"string"}]}}}"##;

    fn nested(depth: usize, key: &str, inner: &str) -> String {
        format!("{}{inner}{}", format!(r#"{{"{key}":["#).repeat(depth), "]}".repeat(depth))
    }

    #[test]
    fn input_beyond_the_budget_is_refused_with_advice() {
        let schema = schema(FILTER).unwrap();
        let filter = |depth, inner| format!(r#"{{"filter":{}}}"#, nested(depth, "all", inner));

        for depth in [17, 20, 40] {
            assert_eq!(schema.check(&filter(depth, "5")), Err(BEYOND.to_owned()));
            assert_eq!(schema.violations(&filter(depth, "5"))[0].what, BEYOND);
            assert_eq!(schema.check(&filter(depth, "\"x\"")), Ok(()));
        }
        let shallow = schema.check(&filter(2, "5")).unwrap_err();
        assert!(shallow.starts_with("/filter: ") && shallow.contains("anyOf"), "{shallow}");
    }

    type Step<'a> = &'a dyn Fn(usize) -> String;

    /// References double at each step, below each branching keyword. The type at the end prevents an early result.
    #[test]
    fn every_keyword_that_branches_is_bounded() {
        let both = |n: usize| format!(r##"{{"$ref":"#/$defs/s{n}"}},{{"$ref":"#/$defs/s{n}"}}"##);
        let one = |n: usize| format!(r##"{{"$ref":"#/$defs/s{n}"}}"##);
        let any: Step<'_> = &|n| format!(r#""anyOf":[{}]"#, both(n));
        let exactly: Step<'_> = &|n| format!(r#""oneOf":[{}]"#, both(n));
        let all: Step<'_> = &|n| format!(r#""allOf":[{}]"#, both(n));
        let not: Step<'_> = &|n| format!(r#""not":{0},"allOf":[{{"not":{0}}}]"#, one(n));
        let when: Step<'_> = &|n| format!(r#""if":{0},"then":{0},"else":{0}"#, one(n));
        let dependent: Step<'_> = &|n| format!(r#""dependentSchemas":{{"a":{0},"b":{0}}}"#, one(n));
        let (here, names) = (r##""$ref":"#/$defs/s0""##, r##""propertyNames":{"$ref":"#/$defs/s0"}"##);
        for (start, step, end, input) in [
            (here, any, "string", "7"),
            (here, exactly, "string", "\"x\""),
            (here, all, "string", "\"x\""),
            (here, not, "string", "\"x\""),
            (here, when, "string", "\"x\""),
            (here, dependent, "object", r#"{"a":1,"b":1}"#),
            (names, any, "number", r#"{"x":1}"#),
            (names, exactly, "string", r#"{"x":1}"#),
            (names, all, "string", r#"{"x":1}"#),
            (names, not, "string", r#"{"x":1}"#),
            (names, when, "string", r#"{"x":1}"#),
        ] {
            let steps: Vec<_> = (0..60).map(|n| format!(r#""s{n}":{{{}}},"#, step(n + 1))).collect();
            let text = format!(r#"{{{start},"$defs":{{{}"s60":{{"type":"{end}"}}}}}}"#, steps.concat());

            assert_eq!(schema(&text).unwrap().check(input), Err(BEYOND.to_owned()), "{start} {}", step(1));
        }
    }

    #[test]
    fn ordinary_inputs_of_any_size_are_judged() {
        let flat =
            schema(r#"{"properties":{"l":{"items":{"type":"string","minLength":1},"uniqueItems":true}}}"#)
                .unwrap();
        let numbers = (0..100_000).map(|n| format!(r#""{n}","#)).collect::<Vec<_>>().concat();
        let operators = ["add", "mul", "and", "or", "lt", "eq"].map(|op| {
            let e = r##"{"$ref":"#/$defs/e"}"##;
            format!(r#"{{"properties":{{"op":{{"const":"{op}"}},"l":{e},"r":{e}}},"required":["op","l","r"],"additionalProperties":false}}"#)
        });
        let tree = schema(&format!(
            r##"{{"$ref":"#/$defs/e","$defs":{{"e":{{"anyOf":[{},{{"type":"number"}}]}}}}}}"##,
            operators.join(",")
        ));
        let expression = (0..10).fold("1".to_owned(), |part, n| {
            format!(r#"{{"op":"{}","l":{part},"r":{part}}}"#, ["add", "lt", "eq"][n % 3])
        });
        let deep = schema(
            r##"{"type":"object","properties":{"all":{"items":{"$ref":"#"}}},"additionalProperties":false}"##,
        );

        assert_eq!(flat.check(&format!(r#"{{"l":[{numbers}"x"]}}"#)), Ok(()));
        assert!(flat.check(&format!(r#"{{"l":[{numbers}5]}}"#)).unwrap_err().starts_with("/l/100000: "));
        assert!(flat.check(&format!(r#"{{"l":[{}5]}}"#, "5,".repeat(50_000))).unwrap_err().starts_with("/l"));
        assert_eq!(tree.unwrap().check(&expression), Ok(()));
        assert_eq!(deep.unwrap().check(&nested(60, "all", "{}")), Ok(()));
    }

    #[test]
    fn a_large_ordinary_input_is_judged() {
        let text = json!({"x": {"items": {
            "type": "object", "required": ["id"], "additionalProperties": false,
            "properties": {"id": {"type": "integer", "minimum": 0}, "name": {"type": "string", "minLength": 1},
                "note": {"type": "string", "pattern": "^[A-Z]"}, "tags": {"items": {"enum": ["a", "b"]}}}
        }}});
        let schema = schema_of(&json!({"properties": text})).unwrap();
        let note = format!("On {}", "time, ".repeat(20));
        let record = |n| format!(r#"{{"id":{n},"name":"Customer {n}","note":"{note}","tags":["a","b"]}},"#);
        let records: String = (0..80_000).map(record).collect();

        assert!(records.len() > 14 << 20);
        assert_eq!(schema.check(&format!(r#"{{"x":[{records}{{"id":1}}]}}"#)), Ok(()));
    }

    #[test]
    fn the_budget_does_not_grow_with_the_input() {
        let names: Map<_, _> =
            (0..6_000).map(|n| (format!("{}{}{n}", "a".repeat(200), "b".repeat(200)), json!(1))).collect();
        let patterns: Vec<_> = (0..100).map(|n| json!({"pattern": format!("^.*a.*b.*{n}$")})).collect();
        let schema = schema_of(&json!({"propertyNames": {"anyOf": patterns}})).unwrap();

        assert_eq!(schema.check(&json!(names).to_string()), Err(BEYOND_BY_PATTERN.to_owned()));
    }

    #[test]
    fn numbers_with_large_exponents_are_counted() {
        let schema = schema(r#"{"items":{"multipleOf":0.01}}"#).unwrap();

        assert_eq!(schema.check(&json!(vec![1e300; 60_000]).to_string()), Err(BEYOND_BY_SIZE.to_owned()));
        assert_eq!(schema.check(&json!(vec![19.99; 60_000]).to_string()), Ok(()));
    }

    #[test]
    fn many_matches_of_short_keys_are_counted() {
        let patterns: Map<_, _> = (0..200).map(|n| (format!("^(a|b|ab)*{n}?$"), json!({}))).collect();
        let schema = schema_of(&json!({"patternProperties": patterns})).unwrap();
        let keys: Map<_, _> = (0..50_000).map(|n| (n.to_string(), json!(1))).collect();

        assert_eq!(schema.check(&json!(keys).to_string()), Err(BEYOND_BY_PATTERN.to_owned()));
    }

    #[test]
    fn inputs_that_take_much_memory_are_refused() {
        let schema = schema("{}").unwrap();
        for (open, close) in [(r#"{"":"#, "}"), ("[", "]")] {
            let value = format!("{}1{}", open.repeat(100), close.repeat(100));
            let list = |n| format!(r#"{{"x":[{}1]}}"#, format!("{value},").repeat(n));

            assert_eq!(schema.check(&list(100)), Ok(()));
            assert_eq!(schema.check(&list(15_000)), Err(BEYOND_BY_SIZE.to_owned()));
        }
    }

    #[test]
    fn unique_items_follow_json_schema_equality() {
        let schema = schema(r#"{"uniqueItems":true}"#).unwrap();

        for twice in ["[1,1.0]", "[0,-0.0]", r#"[{"a":1,"b":[2]},{"b":[2.0],"a":1}]"#, "[[],[]]"] {
            assert!(schema.check(twice).is_err(), "{twice}");
        }
        for once in [
            "[1,\"1\",true,null,[1],1.5]",
            "[[],[[]],[[],[]]]",
            "[18446744073709551615,18446744073709551616]",
        ] {
            assert_eq!(schema.check(once), Ok(()), "{once}");
        }
    }

    #[test]
    fn matching_a_large_pattern_is_bounded() {
        let a = format!("{}!", "a".repeat(4_000));
        for pattern in ["^(a{1,100}){1,100}$", "^(?:a?){2000}!"] {
            for (schema, input) in [
                (json!({"properties": {"x": {"pattern": pattern}}}), json!({"x": a})),
                (json!({"propertyNames": {"pattern": pattern}}), json!({&a: 1})),
                (json!({"patternProperties": {pattern: {"type": "string"}}}), json!({&a: 1})),
                (json!({"patternProperties": {pattern: {}}, "additionalProperties": false}), json!({&a: 1})),
                (json!({"patternProperties": {pattern: {}}, "unevaluatedProperties": false}), json!({&a: 1})),
            ] {
                let schema = schema_of(&schema).unwrap();
                assert_eq!(schema.check(&input.to_string()), Err(BEYOND_BY_PATTERN.to_owned()), "{pattern}");
            }
        }
        let counts = schema_of(&json!({"pattern": "(?:x{0,1000}y{0,1000}){50}z"})).unwrap();
        assert_eq!(counts.check(&json!("x".repeat(4_000)).to_string()), Err(BEYOND_BY_PATTERN.to_owned()));
        let names = (0..50_000).map(|n| format!("(?<a{n}>)")).collect::<Vec<_>>().concat();
        let regex = json!({"$schema": "http://json-schema.org/draft-07/schema#", "format": "regex"});
        let regex = schema_of(&regex).unwrap();
        assert_eq!(regex.check(&json!(names).to_string()), Err(BEYOND_BY_PATTERN.to_owned()));
        assert_eq!(regex.check(r#""(?<year>\\d{4})-\\k<year>""#), Ok(()));
        assert_eq!(regex.check(r#""(""#).unwrap_err(), "the input: \"(\" is not a \"regex\"");
    }

    #[test]
    fn patterns_that_are_too_large_are_refused() {
        let digits = r"\d".repeat(5_000);
        let each = |n: usize| (format!("p{n}"), json!({"pattern": format!(r"^\p{{L}}{{1,99}}{n}$")}));
        for pattern in ["^(a{1,500}){1,500}$", "((a{1000}){1000}){1000}", &digits] {
            for schema in [json!({"pattern": pattern}), json!({"patternProperties": {pattern: {}}})] {
                let error = schema_of(&schema).unwrap_err();
                assert!(error.starts_with("has a pattern that is too large: "), "{error}");
            }
        }
        let many = |n| schema_of(&json!({"properties": (0..n).map(each).collect::<Map<_, _>>()}));
        assert!(many(4).is_ok());
        assert!(
            many(50).unwrap_err().starts_with("has a pattern that is too large"),
            "all patterns together"
        );
        assert!(schema_of(&json!({"properties": {"pattern": {"type": "string"}}})).is_ok());
        assert_eq!(
            schema(r#"{"pattern":"(?=a)"}"#).unwrap_err(),
            r#"is none: the pattern "(?=a)" is not supported; write it without look-around and back-references"#
        );
        assert_eq!(schema(r#"{"pattern":"("}"#).unwrap_err(), r#"is none: "(" is not a "regex""#);
        let meta = r#"{"$ref":"https://json-schema.org/draft/2020-12/schema"}"#;
        assert!(schema(meta).unwrap().check(r#"{"$id":"a#b"}"#).unwrap_err().contains("does not match"));
    }

    #[test]
    fn ordinary_patterns_match_texts_of_any_length() {
        let (letters, long) = ("é".repeat(200), "word, ".repeat(200_000));
        for (pattern, text, fits) in [
            ("", "", true),
            ("b", "abc", true),
            ("^b", "abc", false),
            ("^a.c$", "abc", true),
            ("^a.c$", "abc\n", false),
            ("^(?:cat|dog)s?$", "dogs", true),
            ("^(?:cat|dog)s?$", "dogss", false),
            (r"\bfoo\b", "a foo é", true),
            (r"\bfoo\b", "afoo é", false),
            (r"^\w+@\w+\.com$", "kim@example.com", true),
            (r"^\d$", "٣", false),
            ("^[^é]$", "é", false),
            ("^(?i)straße$", "STRAßE", true),
            (r"^\p{L}{1,200}$", &letters, true),
            (r"^\p{L}{1,199}$", &letters, false),
            ("^.{1,2000}$", &letters, true),
            (r"^[\p{L}\s,]*$", &long, true),
            (r"^(\S+\s)*$", &long, true),
        ] {
            let schema = schema_of(&json!({"pattern": pattern})).unwrap();
            let judged = schema.check(&json!(text).to_string());
            let says = if text.len() < 50 { json!(text).to_string() } else { "value".to_owned() };
            let expected =
                if fits { Ok(()) } else { Err(format!("the input: {says} does not match \"{pattern}\"")) };
            assert_eq!(judged, expected, "{pattern}");
        }
        let list = schema_of(&json!({"items": {"pattern": "^.{1,200}$"}})).unwrap();
        assert_eq!(list.check(&json!(vec!["Sofia"; 50_000]).to_string()), Ok(()));
        let map = json!({"patternProperties": {r"^[\p{L}\d ]{1,64}$": {}}, "additionalProperties": false});
        let names: Map<_, _> =
            (0..2_000).map(|n| (format!("{}{n}", "Zoë ".repeat(n % 14)), json!(n))).collect();
        assert_eq!(schema_of(&map).unwrap().check(&json!(names).to_string()), Ok(()));
    }

    #[test]
    fn a_large_input_is_not_blamed_on_branches() {
        let list = json!({"type": "array", "items": {"type": "string"}});
        for list in [json!({"unevaluatedItems": false}), json!({"anyOf": [list, {"type": "null"}]})] {
            let schema = schema_of(&json!({"properties": {"l": list}})).unwrap();

            let few = schema.check(&json!({"l": vec![5; 20]}).to_string()).unwrap_err();
            let many = schema.check(&json!({"l": vec![5; 5_000]}).to_string()).unwrap_err();

            assert!(few.starts_with("/l: "), "{few}");
            assert_eq!(many, BEYOND_BY_SIZE);
        }
    }

    fn schema_of(schema: &Value) -> Result<Schema, String> {
        Schema::parse(schema.to_string())
    }

    #[test]
    fn a_pattern_takes_linear_time() {
        let schema = schema(r#"{"properties":{"x":{"pattern":"^(a+)+$"}}}"#).unwrap();
        let begun = std::time::Instant::now();

        let judged = schema.check(&format!(r#"{{"x":"{}!"}}"#, "a".repeat(50_000)));

        assert!(judged.is_err());
        assert!(begun.elapsed() < std::time::Duration::from_secs(5));
    }
}
