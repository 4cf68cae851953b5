//! Verdicts, budgets and messages.

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
    let flat = schema(r#"{"properties":{"l":{"items":{"type":"string","minLength":1},"uniqueItems":true}}}"#)
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
    for once in
        ["[1,\"1\",true,null,[1],1.5]", "[[],[[]],[[],[]]]", "[18446744073709551615,18446744073709551616]"]
    {
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
    assert!(many(50).unwrap_err().starts_with("has a pattern that is too large"), "all patterns together");
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
fn keys_of_the_parser_are_refused() {
    let schema = schema("{}").unwrap();
    for key in [r"$serde_json::private::RawValue", r"\u0024serde_json::private::Number"] {
        let said = schema.check(&format!(r#"{{"a":{{"{key}":"[1]"}}}}"#)).unwrap_err();
        assert!(said.contains("rename its key"), "{said}");
    }
    schema.check(r#"{"$ref":1,"a\"b":2}"#).unwrap();
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
    let names: Map<_, _> = (0..2_000).map(|n| (format!("{}{n}", "Zoë ".repeat(n % 14)), json!(n))).collect();
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
