//! Meters validation: each read of the input costs a step, and validation stops when the budget is spent. The validator
//! is generic over the instance type ([`Json`]), so every keyword reads the input through these functions.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, Node, NodeIdentity, Object, SerdeJson};
use regex_automata::nfa::thompson::{NFA, State};
use serde_json::{Map, Number, Value};

const STEPS: u64 = 1_000_000;
const STEPS_PER_BYTE: u64 = 64;
/// Maximum steps for an input of any size. A debug build takes a few seconds for them, far less than a request may.
const MAX_STEPS: u64 = 12_000_000;
/// Pattern states visited per step.
const STATES_PER_STEP: usize = 4;
/// Pattern states after which they are counted, and the price of beginning a match.
const STATES_AT_ONCE: usize = 32;
/// Maximum bytes of violations, if each repeats a path as long as the input.
const VIOLATION_BYTES: usize = 16 << 20;
const MAX_VIOLATIONS: usize = 2_000;
/// Maximum stack use in bytes; the runtime's threads have 2 MiB.
const MAX_STACK: usize = 1 << 20;

#[derive(Clone, Copy)]
struct Left {
    steps: u64,
    violations: usize,
    /// Address in the first stack frame, to measure stack depth.
    begun_at: usize,
}

thread_local! {
    static LEFT: Cell<Option<Left>> = const { Cell::new(None) };
    static KEYS: RefCell<Vec<NFA>> = const { RefCell::new(Vec::new()) };
}

/// The cause that spent the budget: the unwinding payload that ends a validation.
pub(super) enum Spent {
    ByPattern,
    ByReading,
}

/// Runs the validator with the budget for `bytes` of input. `keys` are the patterns for object keys.
pub(super) fn within<T>(bytes: usize, keys: &[NFA], judge: impl FnOnce() -> T) -> Result<T, Spent> {
    let frame = 0_u8;
    let left = Left {
        steps: (STEPS + STEPS_PER_BYTE * bytes as u64).min(MAX_STEPS),
        violations: (VIOLATION_BYTES / bytes.max(1)).clamp(4, MAX_VIOLATIONS),
        begun_at: std::ptr::from_ref(&frame).addr(),
    };
    LEFT.set(Some(left));
    KEYS.set(keys.to_vec());
    // Unwinds, because the validator collects every error of every branch and cannot stop early.
    let judged = catch_unwind(AssertUnwindSafe(judge));
    LEFT.set(None);
    judged.map_err(|payload| *payload.downcast().unwrap_or_else(|panic| resume_unwind(panic)))
}

/// Takes steps and violations from the budget; no limit outside [`within`].
fn spend(steps: usize, violations: usize) {
    let frame = 0_u8;
    let Some(left) = LEFT.get() else { return };
    let deep = left.begun_at.abs_diff(std::ptr::from_ref(&frame).addr()) > MAX_STACK;
    match (left.steps.checked_sub(steps as u64), left.violations.checked_sub(violations)) {
        (Some(steps), Some(violations)) if !deep => LEFT.set(Some(Left { steps, violations, ..left })),
        // Unlike a panic, this runs no hook and prints nothing.
        _ => resume_unwind(Box::new(Spent::ByReading)),
    }
}

fn step() {
    spend(1, 0);
}

pub(super) fn visit(states: usize) {
    let steps = states / STATES_PER_STEP;
    if LEFT.get().is_some_and(|left| left.steps < steps as u64) {
        resume_unwind(Box::new(Spent::ByPattern));
    }
    spend(steps, 0);
}

pub(super) fn is_match(pattern: &NFA, text: &str) -> bool {
    let (text, mut visited) = (text.as_bytes(), 0);
    let mut seen = vec![usize::MAX; pattern.states().len()];
    visit(seen.len() / 16 + STATES_AT_ONCE);
    let (mut open, mut after) = (vec![pattern.start_unanchored()], Vec::new());
    for at in 0..=text.len() {
        while let Some(id) = open.pop() {
            visited += 1;
            if visited % STATES_AT_ONCE == 0 {
                visit(STATES_AT_ONCE);
            }
            if seen.get_mut(id.as_usize()).is_none_or(|seen| std::mem::replace(seen, at) == at) {
                continue;
            }
            match pattern.state(id) {
                State::Match { .. } => return true,
                State::Fail => {}
                State::ByteRange { trans } => after.extend(trans.matches(text, at).then_some(trans.next)),
                State::Sparse(ranges) => after.extend(ranges.matches(text, at)),
                State::Dense(bytes) => after.extend(bytes.matches(text, at)),
                State::Look { look, next } if !pattern.look_matcher().matches(*look, text, at) => {}
                State::Look { next, .. } | State::Capture { next, .. } => open.push(*next),
                State::Union { alternates } => open.extend(alternates.iter()),
                State::BinaryUnion { alt1, alt2 } => open.extend([alt1, alt2]),
            }
        }
        std::mem::swap(&mut open, &mut after);
    }
    false
}

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

/// Functions of [`Node`] that cost one step.
macro_rules! metered {
    ($($name:ident: $output:ty,)*) => {
        $(fn $name(&self) -> $output {
            step();
            Node::<SerdeJson>::$name(self)
        })*
    };
}

impl<'a> Node<'a, Metered> for &'a Value {
    type Object = &'a Map<String, Value>;
    type Array = &'a [Value];
    type Number = &'a Number;

    metered! {
        as_object: Option<&'a Map<String, Value>>,
        as_array: Option<&'a [Value]>,
        as_boolean: Option<bool>,
        is_null: bool,
        json_type: JsonType,
        identity: Option<NodeIdentity>,
    }

    fn as_number(&self) -> Option<&'a Number> {
        let number = Node::<SerdeJson>::as_number(self);
        spend(number.map_or(1, price), 0);
        number
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        spend(scan(self), 0);
        Node::<SerdeJson>::as_string(self)
    }

    fn string_length(&self) -> Option<u64> {
        spend(scan(self), 0);
        Node::<SerdeJson>::string_length(self)
    }

    fn equals_value(&self, expected: &Value) -> bool {
        spend(size(self), 0);
        Node::<SerdeJson>::equals_value(self, expected)
    }

    fn to_value(&self) -> Cow<'a, Value> {
        spend(1, 1);
        Cow::Borrowed(self)
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

    /// Costs one match of each key with each key pattern, an upper bound for the validator's own matching.
    fn members(&self) -> Self::MembersIter {
        spend(Map::len(self), 0);
        for automaton in KEYS.with_borrow(Clone::clone) {
            for key in self.keys() {
                _ = is_match(&automaton, key);
            }
        }
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

    /// Replaces the validator's own function, which hashes `[]` and `[[]]` alike and so can become quadratic.
    fn is_unique(&self) -> bool {
        spend(self.iter().map(size).sum(), 0);
        let mut seen = HashSet::with_capacity(<[Value]>::len(self));
        self.iter().all(|value| seen.insert(canonical(value)))
    }
}

/// Steps for a number. `multipleOf` calculates with exact fractions, which have hundreds of digits at the extremes.
fn price(number: &Number) -> usize {
    match number.as_f64().filter(|_| number.is_f64()).map(f64::abs) {
        None => 1,
        Some(0.0 | 1e-18..=1e18) => 4,
        Some(_) => 256,
    }
}

fn scan(value: &Value) -> usize {
    1 + value.as_str().map_or(0, |text| text.len() / 32)
}

/// Steps for reading a value and its contents.
pub(super) fn size(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(size).sum::<usize>(),
        scalar => scan(scalar),
    }
}

/// Returns the same text for values that JSON Schema calls equal: `1` and `1.0`, objects in any order.
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
