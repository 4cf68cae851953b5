//! The keyword `pattern`. Matching is metered by visited states, because its time grows with the pattern.

use std::collections::BTreeMap;

use jsonschema::json::Node;
use jsonschema::{Keyword, ValidationError};
use regex_automata::nfa::thompson::{NFA, WhichCaptures};
use serde_json::Value;

use super::branches;
use super::meter::{self, Metered};

pub(super) const QUOTE_MAX: usize = 80;
const MAX_BYTES: usize = 10 << 20;
const MAX_BYTES_IN_ALL: usize = 32 << 20;

type Patterns = BTreeMap<String, NFA>;

pub(super) struct Pattern(pub(super) String, pub(super) NFA);

/// Compiles all patterns for strings and for keys. The error is a pattern that is too large.
pub(super) fn compile(schema: &Value) -> Result<(Patterns, Patterns), String> {
    let (mut of_strings, mut of_keys, mut left) = (Patterns::new(), Patterns::new(), MAX_BYTES_IN_ALL);
    for (_, schema) in branches::objects(schema) {
        if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
            add(&mut of_strings, pattern, &mut left)?;
        }
        for (pattern, _) in schema.get("patternProperties").and_then(Value::as_object).into_iter().flatten() {
            add(&mut of_keys, pattern, &mut left)?;
        }
    }
    Ok((of_strings, of_keys))
}

fn add(compiled: &mut Patterns, pattern: &str, left: &mut usize) -> Result<(), String> {
    if compiled.contains_key(pattern) {
        return Ok(());
    }
    let limit = MAX_BYTES.min(*left);
    let too_large = Err(pattern.to_owned());
    // The translation passes over the text for each escape and each name.
    let passes = pattern.len() * pattern.matches(['\\', '<']).count();
    if passes > limit {
        return too_large;
    }
    let Ok(text) = jsonschema_regex::to_rust_regex(pattern) else { return Ok(()) };
    let config = NFA::config().nfa_size_limit(Some(limit)).which_captures(WhichCaptures::None);
    match NFA::compiler().configure(config).build(&text) {
        Ok(automaton) => {
            *left = left.saturating_sub(passes + automaton.memory_usage());
            compiled.insert(pattern.to_owned(), automaton);
            Ok(())
        }
        Err(error) if error.size_limit().is_some() => too_large,
        Err(_) => Ok(()),
    }
}

/// Returns a compiled pattern. Compiles a pattern of a metaschema, which the schema only refers to.
pub(super) fn find(compiled: &Patterns, text: &str) -> Result<Pattern, String> {
    let mut more = Patterns::new();
    if !compiled.contains_key(text) {
        add(&mut more, text, &mut MAX_BYTES.clone())?;
    }
    match compiled.get(text).or_else(|| more.get(text)) {
        Some(automaton) => Ok(Pattern(text.to_owned(), automaton.clone())),
        None if jsonschema_regex::is_valid_ecma_regex(text) => Err(format!(
            "the pattern {text:?} is not supported; write it without look-around and back-references"
        )),
        None => Err(format!("{text:?} is not a \"regex\"")),
    }
}

impl<'i> Keyword<'i, Metered> for Pattern {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        if Keyword::<Metered>::is_valid(self, instance) {
            return Ok(());
        }
        let quoted = Some(instance.to_string()).filter(|quoted| quoted.len() <= QUOTE_MAX);
        let value = quoted.as_deref().unwrap_or("value");
        Err(ValidationError::custom(format!("{value} does not match \"{}\"", self.0)))
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        Node::<Metered>::as_string(&instance).is_none_or(|text| meter::is_match(&self.1, &text))
    }
}

pub(super) fn is_regex(text: &str) -> bool {
    // The check compares all names and moves them for each group.
    meter::visit(text.matches("(?<").count() * text.matches(['(', '\\']).count());
    jsonschema_regex::is_valid_ecma_regex(text)
}
