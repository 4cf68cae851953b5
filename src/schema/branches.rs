//! Finds schemas whose branches make validation expensive, without an input.

use std::collections::HashSet;

use serde_json::{Map, Value};

/// Maximum subschemas below one `unevaluatedProperties` or `unevaluatedItems`, over all branches: the validator copies
/// them.
const MAX_EXPANDED: usize = 5_000;
/// Maximum nesting, references included, below such a keyword.
const MAX_CHAIN: usize = 500;

/// Returns JSON pointers of each `anyOf` and `oneOf` with two branches that contain it and can match the same value. An
/// input nested `n` deep can cost `2^n` steps there.
pub(super) fn overlapping(root: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for (at, schema) in objects(root) {
        for key in ["anyOf", "oneOf"] {
            let Some(branches) = schema.get(key).and_then(Value::as_array) else { continue };
            let recursive: Vec<&Value> =
                branches.iter().filter(|branch| reaches(root, branch, schema)).collect();
            let overlap = |(nth, one): (usize, &&Value)| {
                recursive.iter().skip(nth + 1).any(|other| !exclude_each_other(root, one, other))
            };
            if recursive.iter().enumerate().any(overlap) {
                found.push(format!("{at}/{key}"));
            }
        }
    }
    found
}

/// Whether the validator can compile each `unevaluatedProperties` and `unevaluatedItems` in bounded time.
pub(super) fn is_bounded(root: &Value) -> bool {
    objects(root).into_iter().all(|(_, schema)| {
        let mut left = MAX_EXPANDED;
        if schema.contains_key("unevaluatedProperties") || schema.contains_key("unevaluatedItems") {
            expand(root, schema, &mut Vec::new(), &mut left);
        }
        left > 0
    })
}

pub(super) fn objects(root: &Value) -> Vec<(String, &Map<String, Value>)> {
    let (mut found, mut open) = (Vec::new(), vec![(String::new(), root)]);
    while let Some((at, value)) = open.pop() {
        match value {
            Value::Object(schema) => {
                let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
                open.extend(schema.iter().map(|(key, value)| (format!("{at}/{}", escaped(key)), value)));
                found.push((at, schema));
            }
            Value::Array(items) => {
                open.extend(items.iter().enumerate().map(|(nth, value)| (format!("{at}/{nth}"), value)));
            }
            _ => {}
        }
    }
    found
}

fn referred<'a>(root: &'a Value, schema: &'a Map<String, Value>) -> impl Iterator<Item = &'a Value> {
    let references = ["$ref", "$dynamicRef", "$recursiveRef"].into_iter().filter_map(|key| schema.get(key));
    references.filter_map(Value::as_str).filter_map(move |reference| {
        let name = reference.strip_prefix('#')?;
        root.pointer(name).or_else(|| anchored(root, name))
    })
}

fn anchored<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    let is_it = |key: &str| value.get(key).and_then(Value::as_str) == Some(name);
    if is_it("$anchor") || is_it("$dynamicAnchor") {
        return Some(value);
    }
    match value {
        Value::Object(members) => members.values().find_map(|value| anchored(value, name)),
        Value::Array(values) => values.iter().find_map(|value| anchored(value, name)),
        _ => None,
    }
}

/// Whether `from` contains `goal`, also through references.
fn reaches(root: &Value, from: &Value, goal: &Map<String, Value>) -> bool {
    let (mut open, mut seen) = (vec![from], HashSet::new());
    while let Some(value) = open.pop() {
        match value {
            Value::Object(schema) if std::ptr::eq(schema, goal) => return true,
            Value::Object(schema) if seen.insert(std::ptr::from_ref(schema)) => {
                open.extend(schema.values());
                open.extend(referred(root, schema));
            }
            Value::Array(values) => open.extend(values),
            _ => {}
        }
    }
    false
}

/// Whether types and required keys show that no value matches both.
fn exclude_each_other(root: &Value, one: &Value, other: &Value) -> bool {
    let (one, other) = (resolved(root, one), resolved(root, other));
    let excludes = |(one, other): (&Value, &Value)| {
        let required = one.get("required").and_then(Value::as_array).into_iter().flatten();
        required.filter_map(Value::as_str).any(|key| {
            let (mine, theirs) = (property(one, key), property(other, key));
            let closed = other.get("additionalProperties") == Some(&Value::Bool(false));
            let forbidden = theirs.is_none() && closed && other.get("patternProperties").is_none();
            forbidden || mine.zip(theirs).is_some_and(|(mine, theirs)| apart(choices(mine), choices(theirs)))
        })
    };
    apart(types(one), types(other)) || [(one, other), (other, one)].into_iter().any(excludes)
}

fn resolved<'a>(root: &'a Value, mut schema: &'a Value) -> &'a Value {
    for _ in 0..8 {
        match schema.as_object().and_then(|schema| referred(root, schema).next()) {
            Some(next) => schema = next,
            None => break,
        }
    }
    schema
}

fn property<'a>(schema: &'a Value, key: &str) -> Option<&'a Value> {
    schema.get("properties")?.get(key)
}

fn choices(schema: &Value) -> Option<Vec<Value>> {
    schema.get("const").map(|only| vec![only.clone()]).or_else(|| schema.get("enum")?.as_array().cloned())
}

fn types(schema: &Value) -> Option<Vec<Value>> {
    let of = |name: &Value| if name == "integer" { "number".into() } else { name.clone() };
    match schema.get("type")? {
        Value::Array(names) => Some(names.iter().map(of).collect()),
        name => Some(vec![of(name)]),
    }
}

fn apart(one: Option<Vec<Value>>, other: Option<Vec<Value>>) -> bool {
    one.zip(other).is_some_and(|(one, other)| !one.iter().any(|value| other.contains(value)))
}

/// Counts down `left` for each subschema that applies to the same value, once per reference.
fn expand<'a>(
    root: &'a Value,
    schema: &'a Map<String, Value>,
    above: &mut Vec<&'a Map<String, Value>>,
    left: &mut usize,
) {
    if above.iter().any(|it| std::ptr::eq(*it, schema)) {
        return;
    }
    *left = if above.len() > MAX_CHAIN { 0 } else { left.saturating_sub(1) };
    if *left == 0 {
        return;
    }
    above.push(schema);
    let lists = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|key| schema.get(key)?.as_array());
    let single = ["if", "then", "else", "not"].into_iter().filter_map(|key| schema.get(key));
    let dependent = schema.get("dependentSchemas").and_then(Value::as_object);
    let inner = lists.flatten().chain(single).chain(dependent.into_iter().flat_map(Map::values));
    for schema in inner.chain(referred(root, schema)).filter_map(Value::as_object) {
        expand(root, schema, above, left);
    }
    above.pop();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(schema: &str) -> Vec<String> {
        overlapping(&serde_json::from_str(schema).unwrap())
    }

    fn tree(one: &str, other: &str) -> String {
        format!(r##"{{"$ref":"#/$defs/n","$defs":{{"n":{{"oneOf":[{one},{other},{{"type":"string"}}]}}}}}}"##)
    }

    const ALL: &str =
        r##"{"type":"object","required":["all"],"properties":{"all":{"items":{"$ref":"#/$defs/n"}}}}"##;

    #[test]
    fn overlapping_recursive_branches_are_found() {
        let closed = |key: &str| {
            ALL.replace(r#""all""#, &format!(r#""{key}""#)).replacen(
                '{',
                r#"{"additionalProperties":false,"#,
                1,
            )
        };
        let kind = |kind: &str| {
            let constant = format!(r#""properties":{{"kind":{{"const":"{kind}"}},"#);
            ALL.replacen(r#""properties":{"#, &constant, 1).replacen(r#"["all"]"#, r#"["kind"]"#, 1)
        };

        assert_eq!(found(&tree(ALL, ALL)), ["/$defs/n/oneOf"]);
        assert_eq!(found(&tree(ALL, r##"{"properties":{"not":{"$ref":"#/$defs/n"}}}"##)), ["/$defs/n/oneOf"]);
        for (one, other) in [
            (kind("and"), kind("or")),
            (closed("all"), closed("any")),
            (ALL.to_owned(), r##"{"type":"array","items":{"$ref":"#/$defs/n"}}"##.to_owned()),
            (ALL.to_owned(), r#"{"type":"object"}"#.to_owned()),
        ] {
            assert_eq!(found(&tree(&one, &other)), [""; 0], "{one} {other}");
        }
    }

    #[test]
    fn unevaluated_properties_over_doubling_references_are_unbounded() {
        let chain = |length: usize, end: &str| {
            let two = |n: usize| format!(r##"{{"$ref":"#/$defs/s{n}"}},{{"$ref":"#/$defs/s{n}"}}"##);
            let all: Vec<String> =
                (0..length).map(|n| format!(r#""s{n}":{{"anyOf":[{}]}}"#, two(n + 1))).collect();
            let text =
                format!(r##"{{"$ref":"#/$defs/s0"{end},"$defs":{{{},"s{length}":{{}}}}}}"##, all.join(","));
            serde_json::from_str::<Value>(&text).unwrap()
        };
        let unevaluated = r#","unevaluatedProperties":false"#;

        assert!(is_bounded(&chain(8, unevaluated)));
        assert!(!is_bounded(&chain(40, unevaluated)));
        let refused = crate::schema::Schema::parse(chain(40, unevaluated).to_string()).unwrap_err();
        assert!(refused.ends_with("over too many branches; simplify its anyOf or oneOf"), "{refused}");
        assert!(is_bounded(&chain(40, "")), "only compilation needs a bound");
    }
}
