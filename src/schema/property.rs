//! Reads what a schema says about the keys of an input, to show them as form fields.

use crate::domain::json;

/// References followed from one property; bounds circular ones.
const HOPS: usize = 8;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Property {
    pub key: String,
    /// `string`, `number`, …; empty if any type is allowed.
    pub types: Vec<String>,
    pub required: bool,
    /// Allowed values as JSON; empty if not restricted.
    pub choices: Vec<String>,
    /// Limits in words, such as `at most 120 characters`. May quote the schema.
    pub limits: Vec<String>,
    pub max_length: Option<usize>,
    pub description: Option<String>,
}

/// Returns the properties of the root schema, in written order.
pub(super) fn read(schema: &str) -> Vec<Property> {
    let required: Vec<String> = at(schema, "required")
        .and_then(json::elements)
        .map(|keys| keys.into_iter().map(meant).collect())
        .unwrap_or_default();
    let properties = at(schema, "properties").and_then(json::members).unwrap_or_default();
    let read = properties.into_iter().map(|member| {
        let key = member.key.text.into_owned();
        let mut property = Property { required: required.contains(&key), key, ..Property::default() };
        property.learn(schema, member.value, HOPS);
        property
    });
    read.collect()
}

impl Property {
    fn learn(&mut self, root: &str, part: &str, hops: usize) {
        if let Some(there) = at(part, "$ref").and_then(|to| referred(root, &meant(to)))
            && hops > 0
        {
            self.learn(root, there, hops - 1);
        }
        let either =
            at(part, "anyOf").or_else(|| at(part, "oneOf")).and_then(json::elements).unwrap_or_default();
        let (nulls, others): (Vec<_>, Vec<_>) =
            either.into_iter().partition(|part| at(part, "type").is_some_and(|it| it == "\"null\""));
        // "This or null" is the usual form of an optional value. A wider choice is not described.
        if let [only] = others.as_slice()
            && hops > 0
        {
            self.learn(root, only, hops - 1);
            self.types.extend(nulls.iter().map(|_| "null".to_owned()));
        }
        match at(part, "type") {
            Some(list) if list.starts_with('[') => {
                self.types = json::elements(list).unwrap_or_default().into_iter().map(meant).collect();
            }
            Some(one) => self.types = vec![meant(one)],
            None => {}
        }
        if let Some(only) = at(part, "const") {
            self.choices = vec![json::compact(only)];
        }
        if let Some(list) = at(part, "enum").and_then(json::elements) {
            self.choices = list.into_iter().map(json::compact).collect();
        }
        if let Some(text) = at(part, "description") {
            self.description = Some(meant(text));
        }
        self.max_length = at(part, "maxLength").and_then(|n| n.parse().ok()).or(self.max_length);
        self.limits.extend(limits(part));
    }

    pub fn allows(&self, kind: &str) -> bool {
        self.types.iter().any(|it| it == kind)
    }
}

fn limits(part: &str) -> Vec<String> {
    let says =
        |key: &str, before: &str, after: &str| at(part, key).map(|n| format!("{before}{}{after}", meant(n)));
    [
        says("minLength", "at least ", " characters"),
        says("maxLength", "at most ", " characters"),
        says("minimum", "from ", ""),
        says("exclusiveMinimum", "above ", ""),
        says("maximum", "up to ", ""),
        says("exclusiveMaximum", "below ", ""),
        says("multipleOf", "in steps of ", ""),
        says("minItems", "at least ", " elements"),
        says("maxItems", "at most ", " elements"),
        says("format", "a ", ""),
        says("pattern", "like ", ""),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn referred<'a>(root: &'a str, reference: &str) -> Option<&'a str> {
    let path = reference.strip_prefix("#/")?;
    path.split('/').try_fold(root, |part, key| at(part, &key.replace("~1", "/").replace("~0", "~")))
}

fn at<'a>(object: &'a str, key: &str) -> Option<&'a str> {
    json::members(object)?.into_iter().find(|member| member.key.text == key).map(|member| member.value)
}

fn meant(value: &str) -> String {
    json::decode(value).text.into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_limits_and_choices_are_read_as_written() {
        let schema = r##"{"required":["title"],"$defs":{"level":{"enum":["low","high"]}},"properties":{
            "title":{"type":"string","maxLength":120,"description":"What it is about"},
            "level":{"$ref":"#/$defs/level"},
            "price":{"type":"number","minimum":0.10},
            "due":{"anyOf":[{"type":"string","format":"date"},{"type":"null"}]},
            "loop":{"$ref":"#/properties/loop"}}}"##;

        let found = read(schema);

        let brief: Vec<String> = found
            .iter()
            .map(|it| format!("{} {} {:?} {}", it.key, it.types.join("|"), it.choices, it.limits.join(", ")))
            .collect();
        assert_eq!(
            brief,
            [
                "title string [] at most 120 characters",
                "level  [\"\\\"low\\\"\", \"\\\"high\\\"\"] ",
                "price number [] from 0.10",
                "due string|null [] a date",
                "loop  [] ",
            ]
        );
        assert!(found[0].required && !found[1].required);
        assert_eq!(found[0].max_length, Some(120));
    }
}
