//! Reads errors in every known envelope.

use super::fields::Fields;
use crate::domain::{Untrusted, json};

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ErrorReply {
    pub code: Option<Untrusted>,
    pub message: Untrusted,
    pub status: Option<Untrusted>,
    pub resolved_by: Option<Untrusted>,
}

/// Reads, in this order: `{"error":{…}}`, `{"detail":{…}}`, `{"code","message"}`, `{"detail":"text"}`, a FastAPI list
/// of `{"loc","msg"}` (the first three), plain text of at most 2,000 characters.
pub fn read(body: &str) -> ErrorReply {
    let outer = Fields::of(body);
    let inner = outer.as_ref().and_then(|fields| {
        let nested = fields.raw("error").or_else(|| fields.raw("detail"))?;
        Fields::of(nested)
    });
    if let Some(fields) = inner.as_ref().or(outer.as_ref()) {
        let listed = || {
            let said: Vec<String> =
                json::elements(fields.raw("detail")?)?.into_iter().filter_map(complaint).take(3).collect();
            (!said.is_empty()).then(|| Untrusted::from(said.join("; ")))
        };
        let message = fields.text("message").or_else(|| fields.text("detail")).or_else(listed);
        let message = message.or_else(|| fields.text("error"));
        if fields.text("code").is_some() || message.is_some() {
            return ErrorReply {
                code: fields.text("code"),
                message: message.unwrap_or_default(),
                status: fields.text("status"),
                resolved_by: fields.text("resolvedBy"),
            };
        }
    }
    ErrorReply {
        message: Untrusted::from(body.chars().take(2_000).collect::<String>()),
        ..ErrorReply::default()
    }
}

fn complaint(text: &str) -> Option<String> {
    let fields = Fields::of(text)?;
    let place = fields.raw("loc").and_then(json::elements).unwrap_or_default();
    let place: Vec<_> =
        place.into_iter().map(|step| json::decode(step).text).filter(|step| step != "body").collect();
    let said = fields.text("msg")?;
    Some(if place.is_empty() {
        said.as_raw().to_owned()
    } else {
        format!("{}: {}", place.join("."), said.as_raw())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_envelope_gives_its_code_and_message() {
        for (body, code, message) in [
            (r#"{"error":{"code":"X","message":"m"}}"#, Some("X"), "m"),
            (r#"{"detail":{"code":"X","message":"m"}}"#, Some("X"), "m"),
            (r#"{"code":"X","message":"m"}"#, Some("X"), "m"),
            (r#"{"detail":"m"}"#, None, "m"),
            (r#"{"detail":[{"loc":[],"msg":"m"}]}"#, None, "m"),
            (
                r#"{"detail":[{"loc":["body","items",0,"userEdits"],"msg":"bad"},{"msg":"m"}]}"#,
                None,
                "items.0.userEdits: bad; m",
            ),
            (r#"{"error":"m"}"#, None, "m"),
            ("<html>m", None, "<html>m"),
        ] {
            let reply = read(body);
            assert_eq!(
                (reply.code.as_ref().map(Untrusted::as_raw), reply.message.as_raw()),
                (code, message),
                "{body}"
            );
        }
    }
}
