//! Removes null members from JSON: placet omits unknown values.

use serde_json::Value;

/// Removes null members at any depth, but keeps nulls in lists.
#[must_use]
pub fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let known = members.into_iter().filter(|(_, member)| !member.is_null());
            known.map(|(name, member)| (name, without_nulls(member))).collect()
        }
        Value::Array(elements) => elements.into_iter().map(without_nulls).collect(),
        other => other,
    }
}
