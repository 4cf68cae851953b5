//! Tolerant access to the members of a JSON object: both spellings, nulls as absence, exact bytes.

use std::borrow::Cow;

use crate::domain::json::{self, Member};
use crate::domain::{RawJson, Timestamp, Untrusted};

/// The members of one object on the wire.
#[derive(Debug, Default)]
pub struct Fields<'a>(Vec<Member<'a>>);

impl<'a> Fields<'a> {
    /// `None` when `text` is no object.
    pub fn of(text: &'a str) -> Option<Self> {
        json::members(text).map(Self)
    }

    /// Of an object that was taken apart before.
    pub fn new(members: Vec<Member<'a>>) -> Self {
        Self(members)
    }

    /// As far as the object can be read.
    pub fn until_broken(text: &'a str) -> Option<Self> {
        json::members_until_broken(text).map(|(members, _)| Self(members))
    }

    /// The names as meant, in written order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|member| member.key.text.as_ref())
    }

    /// The raw value under the camelCase `name` or its snake_case twin; a null is an absence.
    pub fn raw(&self, name: &str) -> Option<&'a str> {
        let found = self.0.iter().rev().find(|member| is(name, &member.key.text));
        found.map(|member| member.value).filter(|value| *value != "null")
    }

    /// The value as it was written, whatever it is.
    pub fn json(&self, name: &str) -> Option<RawJson> {
        self.raw(name).map(RawJson::scanned)
    }

    /// A string's meaning, or a number or word as it was written; nothing for objects and arrays.
    pub fn text(&self, name: &str) -> Option<Untrusted> {
        self.meaning(name).map(|text| Untrusted::from(&*text))
    }

    /// The same, for who reads it and does not keep it.
    pub fn meaning(&self, name: &str) -> Option<Cow<'a, str>> {
        let raw = self.raw(name).filter(|raw| !matches!(raw.as_bytes().first(), Some(b'{' | b'[')))?;
        Some(json::decode(raw).text)
    }

    /// A string's meaning, or for an object or an array its written form: nothing is lost.
    pub fn text_or_json(&self, name: &str) -> Option<Untrusted> {
        self.text(name).or_else(|| self.raw(name).map(|raw| json::legible(raw).as_ref().into()))
    }

    pub fn time(&self, name: &str) -> Option<Timestamp> {
        self.meaning(name).and_then(|text| super::time::read(&text))
    }

    /// Returns when something expires. 0, -1 and zero values such as the year 1 mean never.
    pub fn expiry(&self, name: &str) -> Option<Timestamp> {
        self.time(name).filter(|at| at.as_millis() > 0)
    }

    pub fn number(&self, name: &str) -> Option<u64> {
        self.meaning(name).and_then(|text| text.parse().ok())
    }

    pub fn flag(&self, name: &str) -> Option<bool> {
        self.raw(name).and_then(|raw| raw.parse().ok())
    }
}

/// The camelCase `name` or its snake_case twin.
pub(super) fn is(name: &str, key: &str) -> bool {
    // Both spellings begin alike, and most names do not.
    name.as_bytes().first() == key.as_bytes().first() && (name == key || is_snake(name, key))
}

fn is_snake(name: &str, key: &str) -> bool {
    let mut key = key.bytes();
    let alike = name.bytes().all(|byte| {
        (!byte.is_ascii_uppercase() || key.next() == Some(b'_'))
            && key.next() == Some(byte.to_ascii_lowercase())
    });
    alike && key.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_and_nulls_are_understood() {
        let fields = Fields::of(r#"{"tool_name":"a\nb","missionId":null,"size":1.10,"flag":true}"#).unwrap();

        assert_eq!(fields.text("toolName"), Some(Untrusted::from("a\nb")));
        assert_eq!(fields.text("missionId"), None);
        assert_eq!(fields.raw("size"), Some("1.10"));
        assert_eq!(fields.flag("flag"), Some(true));
    }

    #[test]
    fn expiry_that_is_not_after_1970_is_none() {
        let of = |raw: &str| Fields::of(&format!(r#"{{"expiresAt":{raw}}}"#)).unwrap().expiry("expiresAt");

        for never in
            ["0", "-1", "0.0", "-1.0", "null", r#""0001-01-01T00:00:00Z""#, r#""1970-01-01T00:00:00Z""#]
        {
            assert_eq!(of(never), None, "{never}");
        }
        assert_eq!(of("253402300800.0"), Some(crate::contract::time::LATEST));
        assert_eq!(of("1"), Some(Timestamp::from_millis(1_000)));
    }
}
