//! The input as the validator reads it: each read costs a step, and judging stops when its budget is spent.
//!
//! The validator is generic over the representation of the instance ([`Json`]), so every keyword, also `$ref`, `unevaluatedProperties`
//! and the branches of `anyOf`, reads the input through the functions below.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, Node, NodeIdentity, Object, SerdeJson};
use serde_json::{Map, Number, Value};

/// Steps that judging may take for an input of any size.
const STEPS: u64 = 1_000_000;
/// Further steps for each byte of the input.
const STEPS_PER_BYTE: u64 = 64;
/// Bytes that violations may take, if each repeats a path as long as the input.
const VIOLATION_BYTES: usize = 16 << 20;
const MAX_VIOLATIONS: usize = 2_000;
/// Bytes of stack that judging may use; the threads of the runtime have 2 MiB.
const MAX_STACK: usize = 1 << 20;

/// The rest of a budget.
#[derive(Clone, Copy)]
struct Left {
    steps: u64,
    violations: usize,
    /// An address of the frame that began, to tell how deep the stack is.
    begun_at: usize,
}

thread_local! {
    static LEFT: Cell<Option<Left>> = const { Cell::new(None) };
}

/// The payload of the unwinding that ends a judgement.
struct Spent;

/// Runs the validator on an input of this many bytes. `None` when the budget is spent.
pub(super) fn within<T>(bytes: usize, judge: impl FnOnce() -> T) -> Option<T> {
    let frame = 0_u8;
    let left = Left {
        steps: STEPS + STEPS_PER_BYTE * bytes as u64,
        violations: (VIOLATION_BYTES / bytes.max(1)).clamp(4, MAX_VIOLATIONS),
        begun_at: std::ptr::from_ref(&frame).addr(),
    };
    LEFT.set(Some(left));
    // The validator has no way to stop early: it collects every error of every branch.
    let judged = catch_unwind(AssertUnwindSafe(judge));
    LEFT.set(None);
    match judged {
        Ok(judged) => Some(judged),
        Err(payload) if payload.is::<Spent>() => None,
        Err(panic) => resume_unwind(panic),
    }
}

/// Takes steps and violations from the budget. Outside [`within`] there is none.
fn spend(steps: usize, violations: usize) {
    let frame = 0_u8;
    let Some(left) = LEFT.get() else { return };
    let deep = left.begun_at.abs_diff(std::ptr::from_ref(&frame).addr()) > MAX_STACK;
    match (left.steps.checked_sub(steps as u64), left.violations.checked_sub(violations)) {
        (Some(steps), Some(violations)) if !deep => LEFT.set(Some(Left { steps, violations, ..left })),
        // No panic: no hook runs, and nothing is printed.
        _ => resume_unwind(Box::new(Spent)),
    }
}

fn step() {
    spend(1, 0);
}

/// `serde_json::Value`, metered.
pub(super) struct Metered;

impl Json for Metered {
    type Node<'a> = &'a Value;
    type PreparedKey = String;
    type StringBuffer = Value;

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>(buffer: &mut Value, string: &str, f: impl FnOnce(&Value) -> T) -> T {
        SerdeJson::with_string_node(buffer, string, f)
    }
}

impl<'a> Node<'a, Metered> for &'a Value {
    type Object = &'a Map<String, Value>;
    type Array = &'a [Value];
    type Number = &'a Number;

    fn as_object(&self) -> Option<&'a Map<String, Value>> {
        step();
        Node::<SerdeJson>::as_object(self)
    }

    fn as_array(&self) -> Option<&'a [Value]> {
        step();
        Node::<SerdeJson>::as_array(self)
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        spend(scan(self), 0);
        Node::<SerdeJson>::as_string(self)
    }

    fn as_number(&self) -> Option<&'a Number> {
        step();
        Node::<SerdeJson>::as_number(self)
    }

    fn as_boolean(&self) -> Option<bool> {
        step();
        Node::<SerdeJson>::as_boolean(self)
    }

    fn is_null(&self) -> bool {
        step();
        Node::<SerdeJson>::is_null(self)
    }

    fn json_type(&self) -> JsonType {
        step();
        Node::<SerdeJson>::json_type(self)
    }

    fn string_length(&self) -> Option<u64> {
        spend(scan(self), 0);
        Node::<SerdeJson>::string_length(self)
    }

    fn equals_value(&self, expected: &Value) -> bool {
        spend(size(self), 0);
        Node::<SerdeJson>::equals_value(self, expected)
    }

    /// Called once for each violation.
    fn to_value(&self) -> Cow<'a, Value> {
        spend(1, 1);
        Cow::Borrowed(self)
    }

    fn identity(&self) -> Option<NodeIdentity> {
        step();
        Node::<SerdeJson>::identity(self)
    }
}

impl<'a> Object<'a, Metered> for &'a Map<String, Value> {
    type Node = &'a Value;
    type MemberName = &'a str;
    type MembersIter = <Self as Object<'a, SerdeJson>>::MembersIter;

    fn len(&self) -> usize {
        step();
        Map::len(self)
    }

    fn get(&self, key: &String) -> Option<&'a Value> {
        step();
        Object::<SerdeJson>::get(self, key)
    }

    fn members(&self) -> Self::MembersIter {
        spend(Map::len(self), 0);
        Object::<SerdeJson>::members(self)
    }
}

impl<'a> Array<'a, Metered> for &'a [Value] {
    type Node = &'a Value;
    type ElementsIter = std::slice::Iter<'a, Value>;

    fn len(&self) -> usize {
        step();
        <[Value]>::len(self)
    }

    fn elements(&self) -> std::slice::Iter<'a, Value> {
        spend(<[Value]>::len(self), 0);
        (*self).iter()
    }

    /// The validator's own function hashes `[]` and `[[]]` alike, so an input can make it quadratic.
    fn is_unique(&self) -> bool {
        spend(self.iter().map(size).sum(), 0);
        let mut seen = HashSet::with_capacity(<[Value]>::len(self));
        self.iter().all(|value| seen.insert(canonical(value)))
    }
}

/// Steps for reading a string to its end.
fn scan(value: &Value) -> usize {
    1 + value.as_str().map_or(0, |text| text.len() / 32)
}

/// Steps for reading a value and everything in it.
fn size(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(size).sum::<usize>(),
        scalar => scan(scalar),
    }
}

/// A text that is the same for values that JSON Schema calls equal: `1` and `1.0`, and objects in any order.
fn canonical(value: &Value) -> String {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 1e19 => {
                (float as i128).to_string()
            }
            _ => number.to_string(),
        },
        Value::Array(items) => format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(",")),
        Value::Object(members) => {
            let member = |(key, value): (&String, &Value)| {
                format!("{}:{}", Value::from(key.as_str()), canonical(value))
            };
            let mut members: Vec<String> = members.iter().map(member).collect();
            members.sort_unstable();
            format!("{{{}}}", members.join(","))
        }
        scalar => scalar.to_string(),
    }
}
