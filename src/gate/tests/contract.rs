//! Checks the gate's replies against `assets/contract/openapi.json`. Fails for an undocumented field, word or status,
//! and for a missing required field.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::gate::routes::openapi::DOCUMENT;

const FILE: &str = "assets/contract/openapi.json";

pub(super) static CONTRACT: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(DOCUMENT).unwrap_or_else(|error| panic!("{FILE} is no JSON: {error}"))
});

static EVENTS: LazyLock<BTreeMap<String, Validator>> = LazyLock::new(|| {
    let events = &CONTRACT["paths"]["/api/pending-actions/events"]["get"]["x-events"];
    let events = events.as_object().unwrap().iter();
    events.map(|(name, event)| (name.clone(), validator(&event["data"]))).collect()
});

static REPLIES: LazyLock<BTreeMap<String, Validator>> = LazyLock::new(|| {
    let mut replies = BTreeMap::new();
    for (method, path, operation) in operations() {
        for (status, response) in operation["responses"].as_object().unwrap() {
            let response = resolve(response);
            if let Some(schema) = response.pointer("/content/application~1json/schema") {
                replies.insert(format!("{method} {path} {status}"), validator(schema));
            }
        }
    }
    replies
});

/// All operations with their method in capitals and their path.
pub(super) fn operations() -> impl Iterator<Item = (String, String, &'static Value)> {
    let paths = CONTRACT["paths"].as_object().unwrap().iter();
    paths.flat_map(|(path, methods)| {
        let methods = methods.as_object().unwrap().iter();
        methods.map(move |(method, operation)| (method.to_uppercase(), path.clone(), operation))
    })
}

/// Successful replies, named like the results of [`check`].
pub(super) fn documented() -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for (method, path, operation) in operations() {
        let statuses = operation["responses"].as_object().unwrap().keys();
        all.extend(
            statuses.filter(|it| it.starts_with('2')).map(|status| format!("{method} {path} {status}")),
        );
    }
    all
}

/// Builds a validator whose references point into the document.
pub(super) fn validator(schema: &Value) -> Validator {
    let mut schema = schema.clone();
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema["components"] = json!({ "schemas": CONTRACT["components"]["schemas"] });
    jsonschema::validator_for(&schema).unwrap_or_else(|error| panic!("{FILE}: {error}"))
}

pub(super) fn resolve(value: &Value) -> &Value {
    match value.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix('#')) {
        Some(pointer) => CONTRACT.pointer(pointer).unwrap_or_else(|| panic!("{FILE} has no {pointer}")),
        None => value,
    }
}

/// Finds the document's path for a request's path. Paths with fewer parameters win, as in the gate.
fn template(path: &str) -> Option<&'static str> {
    let fits = |template: &str| {
        let (mut want, mut is) = (template.split('/'), path.split('/'));
        let all = want.by_ref().zip(is.by_ref()).all(|(want, is)| want.starts_with('{') || want == is);
        all && template.split('/').count() == path.split('/').count()
    };
    let templates = CONTRACT["paths"].as_object().unwrap().keys().map(String::as_str);
    templates.filter(|template| fits(template)).min_by_key(|template| template.matches('{').count())
}

/// Panics if the contract does not describe this reply. Returns its name, `METHOD path status`.
pub(super) fn check(method: &str, path: &str, status: u16, text: &str) -> String {
    let template = template(path);
    let operation = template.map(|template| &CONTRACT["paths"][template][method.to_lowercase()]);
    let place = format!("{method} {} {status}", template.unwrap_or(path));
    let Some(operation) = operation.filter(|operation| operation.is_object()) else {
        // Unknown routes and methods only have error replies.
        let schema = if status == 404 { "NotFound" } else { "Error" };
        assert!(status >= 400, "{place} is not in {FILE}; add its path and method there");
        say(&place, &validator(&CONTRACT["components"]["schemas"][schema]), text);
        return place;
    };
    let responses = &operation["responses"];
    let named = match responses.get(status.to_string()) {
        Some(_) => place.clone(),
        None if status >= 400 => format!("{method} {} default", template.unwrap_or(path)),
        None => panic!("{place} is not in {FILE}; add the status to the operation's responses: {text}"),
    };
    if let Some(validator) = REPLIES.get(&named) {
        say(&place, validator, text);
    }
    place
}

pub(super) fn check_event(name: &str, data: &Value) {
    let Some(validator) = EVENTS.get(name) else {
        panic!("the event {name} is not in {FILE}; add it to the stream's x-events: {data}")
    };
    say(&format!("event {name}"), validator, &data.to_string());
}

fn say(place: &str, validator: &Validator, text: &str) {
    let value: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{place}: {error}: {text}"));
    let wrong: Vec<_> = validator
        .iter_errors(&value)
        .map(|error| format!("  at {:?}: {error}", error.instance_path()))
        .collect();
    assert!(
        wrong.is_empty(),
        "{place} is not what {FILE} says; change the schema of that response, or the reply:\n{}\n{text}",
        wrong.join("\n")
    );
}
