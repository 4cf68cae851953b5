//! Tolerant access to JSON members: both spellings, null as absence, exact bytes.

use std::borrow::Cow;

use crate::domain::json::{self, Member};
use crate::domain::{RawJson, Timestamp, Untrusted};

#[derive(Debug, Default)]
pub struct Fields<'a>(Vec<Member<'a>>);

impl<'a> Fields<'a> {
    /// `None` if `text` is not an object.
    pub fn of(text: &'a str) -> Option<Self> {
        json::members(text).map(Self)
    }

    pub fn new(members: Vec<Member<'a>>) -> Self {
        Self(members)
    }

    /// Reads the members of an object up to its first error.
    pub fn until_broken(text: &'a str) -> Option<Self> {
        json::members_until_broken(text).map(|(members, _)| Self(members))
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|member| member.key.text.as_ref())
    }

    /// Returns the value under `name` or its snake_case form; `None` for null.
    pub fn raw(&self, name: &str) -> Option<&'a str> {
        let found = self.0.iter().rev().find(|member| is(name, &member.key.text));
        found.map(|member| member.value).filter(|value| *value != "null")
    }

    pub fn json(&self, name: &str) -> Option<RawJson> {
        self.raw(name).map(RawJson::scanned)
    }

    /// Returns a decoded string, or a number or word as written; `None` for objects and arrays.
    pub fn text(&self, name: &str) -> Option<Untrusted> {
        self.meaning(name).map(|text| Untrusted::from(&*text))
    }

    /// Like [`Self::text`], without marking it as untrusted.
    pub fn meaning(&self, name: &str) -> Option<Cow<'a, str>> {
        let raw = self.raw(name).filter(|raw| !matches!(raw.as_bytes().first(), Some(b'{' | b'[')))?;
        Some(json::decode(raw).text)
    }

    /// Returns a decoded string, or an object or array as written.
    pub fn text_or_json(&self, name: &str) -> Option<Untrusted> {
        self.text(name).or_else(|| self.raw(name).map(|raw| json::legible(raw).as_ref().into()))
    }

    pub fn time(&self, name: &str) -> Option<Timestamp> {
        self.meaning(name).and_then(|text| super::time::read(&text))
    }

    /// Returns an expiry. 0, -1 and zero values such as the year 1 mean never.
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

/// Whether `key` is `name` in camelCase or snake_case.
pub(super) fn is(name: &str, key: &str) -> bool {
    // Both spellings begin alike, so the first byte excludes most keys.
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
    fn an_expiry_up_to_1970_means_never() {
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
