//! In what placet writes, what is not known is absent.

use serde_json::Value;

/// The same without members that are null, however deep. A null in a list stays.
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
