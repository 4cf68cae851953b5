//! Previews that the gate builds from the input, because the proposer's description could differ from what runs.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::json::{self, RawJson};

/// Bytes that a preview may exceed its input by, because names of missing fields add up.
const LONGER_MAX: usize = 1 << 20;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PreviewShape {
    pub fields: Vec<String>,
    pub items: Option<String>,
    /// Fields of its elements; if empty, whole elements.
    pub item_fields: Vec<String>,
}

impl PreviewShape {
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.items.is_none()
    }

    /// Builds `count`, the fields and `items`, in this order. Values are copied byte for byte; missing ones become
    /// `""`. `None` for an input of another shape or with duplicate keys.
    pub fn build(&self, input: &str) -> Option<RawJson> {
        let most = input.len().saturating_add(LONGER_MAX);
        let members = unique(input)?;
        let elements = match &self.items {
            Some(items) => Some(json::elements(members.get(items.as_str())?)?),
            None => None,
        };
        let mut out = String::from("{");
        if let Some(elements) = &elements {
            let _ = write!(out, "\"count\":{},", elements.len()); // writing to a String cannot fail
        }
        copy(&mut out, &self.fields, &members);
        if let Some(elements) = elements {
            out.push_str("\"items\":[");
            for element in elements {
                self.item(&mut out, element)?;
                out.push(',');
                if out.len() > most {
                    return None;
                }
            }
            close(&mut out, ']');
        }
        close(&mut out, '}');
        RawJson::parse(out).ok()
    }

    fn item(&self, out: &mut String, element: &str) -> Option<()> {
        if self.item_fields.is_empty() {
            out.push_str(element);
            return Some(());
        }
        out.push('{');
        copy(out, &self.item_fields, &unique(element)?);
        close(out, '}');
        Some(())
    }
}

/// Returns values by name; `None` if the text is not an object or has a duplicate key.
fn unique(object: &str) -> Option<BTreeMap<String, &str>> {
    let members = json::members(object)?;
    let count = members.len();
    let values: BTreeMap<_, _> =
        members.into_iter().map(|member| (member.key.text.into_owned(), member.value)).collect();
    (values.len() == count).then_some(values)
}

fn copy(out: &mut String, names: &[String], values: &BTreeMap<String, &str>) {
    for name in names {
        quote(out, name);
        let value = values.get(name).copied().unwrap_or("\"\"");
        out.extend([":", value, ","]);
    }
}

/// Closes an object or array in place of the last comma.
fn close(out: &mut String, with: char) {
    if out.ends_with(',') {
        out.pop();
    }
    out.push(with);
    if with == ']' {
        out.push(',');
    }
}

fn quote(out: &mut String, name: &str) {
    out.push('"');
    for c in name.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c)); // writing to a String cannot fail
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(fields: &[&str], items: Option<&str>, item_fields: &[&str]) -> PreviewShape {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        PreviewShape {
            fields: owned(fields),
            items: items.map(str::to_owned),
            item_fields: owned(item_fields),
        }
    }

    fn built(shape: &PreviewShape, input: &str) -> Option<String> {
        shape.build(input).map(|preview| preview.as_str().to_owned())
    }

    #[test]
    fn preview_values_are_copied_byte_for_byte() {
        let input =
            r#"{"b": 1.10,"list":[ {"x":1e400, "y":[1, 2]},{"y":"\u00e9"} ],"a":18446744073709551616}"#;

        let all = built(&shape(&["a", "b", "c"], Some("list"), &["y", "x"]), input);
        let whole = built(&shape(&[], Some("list"), &[]), input);
        let fields = built(&shape(&["b"], None, &[]), input);

        let want = r#"{"count":2,"a":18446744073709551616,"b":1.10,"c":"","items":[{"y":[1, 2],"x":1e400},{"y":"\u00e9","x":""}]}"#;
        assert_eq!(all.as_deref(), Some(want));
        let want = r#"{"count":2,"items":[{"x":1e400, "y":[1, 2]},{"y":"\u00e9"}]}"#;
        assert_eq!(whole.as_deref(), Some(want));
        assert_eq!(fields.as_deref(), Some(r#"{"b":1.10}"#));
        assert_eq!(
            built(&shape(&["b"], Some("list"), &["x"]), r#"{"list":[]}"#).as_deref(),
            Some(r#"{"count":0,"b":"","items":[]}"#)
        );
        assert_eq!(built(&shape(&["a\"\n"], None, &[]), "{}").as_deref(), Some(r#"{"a\"\u000a":""}"#));
    }

    #[test]
    fn an_unsuitable_input_has_no_preview() {
        let shape = shape(&["a"], Some("list"), &["x"]);
        let many = format!(r#"{{"list":[{}{{}}]}}"#, "{},".repeat(300_000));
        for input in [
            "[]",
            "1",
            "",
            "{",
            "{}",
            r#"{"list":{}}"#,
            r#"{"list":null}"#,
            r#"{"list":[1]}"#,
            r#"{"list":[{"x":1,"x":2}]}"#,
            r#"{"a":1,"a":2,"list":[]}"#,
            r#"{"list":[],"l\u0069st":[{}]}"#,
            many.as_str(),
        ] {
            assert_eq!(built(&shape, input), None, "{}", input.get(..40).unwrap_or(input));
        }
    }
}
