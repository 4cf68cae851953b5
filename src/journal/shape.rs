//! JSON formats of stored decisions and outcomes. Only the journal knows them; domain types have no serialization.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::{
    ActionId, ActionKey, BatchId, BatchKey, Decision, DecisionKind, Digest, Edits, Outcome, RawJson, Seen,
    SourceName, Staged, Status, Timestamp, Untrusted,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastSeen {
    pub status: Status,
    pub error: Option<Untrusted>,
}

/// For example `{"approve":{"comment":null,"edits":null}}`. `edits` is JSON in a string, to keep its exact bytes.
type DecisionShape = BTreeMap<String, BTreeMap<String, Option<String>>>;
const EDITS: &str = "edits";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StagedShape {
    decision: DecisionShape,
    /// `None` if the action stands alone.
    batch: Option<String>,
    digest: Option<String>,
    terms: Option<String>,
    at: i64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum OutcomeShape {
    Approved,
    Rejected,
    Skipped { status: Option<String>, by: Option<String> },
    Accepted,
    PartlyApproved { given: u64, needed: u64 },
    Failed { why: String },
    Unknown { why: String },
}

#[derive(Serialize, Deserialize)]
struct FollowedShape<'a> {
    status: Cow<'a, str>,
    error: Option<Cow<'a, str>>,
}

pub(super) fn write_followed(status: &str, error: Option<&str>) -> String {
    text(&FollowedShape { status: Cow::Borrowed(status), error: error.map(Cow::Borrowed) })
}

pub(super) fn read_followed(text: &str) -> Option<LastSeen> {
    let shape: FollowedShape<'_> = serde_json::from_str(text).ok()?;
    let text = |text: Cow<'_, str>| Untrusted::from(text.into_owned());
    Some(LastSeen { status: Status::parse(&shape.status), error: shape.error.map(text) })
}

pub(super) fn write_decision(decision: &Decision) -> String {
    text(&decision_shape(decision))
}

pub(super) fn read_decision(text: &str) -> Option<Decision> {
    decision_of(serde_json::from_str(text).ok()?)
}

pub(super) fn write_staged(staged: &Staged) -> String {
    let batch = match &staged.batch {
        BatchKey::Batch(_, batch) => Some(batch.as_raw().to_owned()),
        BatchKey::Alone(_) => None,
    };
    text(&StagedShape {
        decision: decision_shape(&staged.decision),
        batch,
        digest: staged.digest.map(|digest| digest.to_string()),
        terms: staged.terms.map(|terms| terms.to_string()),
        at: staged.at.as_millis(),
    })
}

pub(super) fn read_staged(key: &ActionKey, text: &str) -> Option<Staged> {
    let shape: StagedShape = serde_json::from_str(text).ok()?;
    let label = |text: Option<String>| text.map(|text| Digest::parse(&text).ok_or(())).transpose().ok();
    Some(Staged {
        decision: decision_of(shape.decision)?,
        batch: batch_key(key, shape.batch.as_deref()),
        digest: label(shape.digest)?,
        terms: label(shape.terms)?,
        at: Timestamp::from_millis(shape.at),
    })
}

pub(super) fn batch_key(key: &ActionKey, batch: Option<&str>) -> BatchKey {
    match batch {
        Some(batch) => BatchKey::Batch(key.source.clone(), BatchId::new(batch)),
        None => BatchKey::Alone(key.clone()),
    }
}

pub(super) fn write_outcome(outcome: &Outcome) -> String {
    let raw = |text: &Untrusted| text.as_raw().to_owned();
    text(&match outcome {
        Outcome::Approved => OutcomeShape::Approved,
        Outcome::Rejected => OutcomeShape::Rejected,
        Outcome::Skipped { status, by } => OutcomeShape::Skipped {
            status: status.as_ref().map(|status| status.as_raw().to_owned()),
            by: by.as_ref().map(raw),
        },
        Outcome::Accepted => OutcomeShape::Accepted,
        Outcome::PartlyApproved { given, needed } => {
            OutcomeShape::PartlyApproved { given: *given, needed: *needed }
        }
        Outcome::Failed { why } => OutcomeShape::Failed { why: raw(why) },
        Outcome::Unknown { why } => OutcomeShape::Unknown { why: raw(why) },
    })
}

pub(super) fn read_outcome(text: &str) -> Option<Outcome> {
    Some(match serde_json::from_str(text).ok()? {
        OutcomeShape::Approved => Outcome::Approved,
        OutcomeShape::Rejected => Outcome::Rejected,
        OutcomeShape::Skipped { status, by } => {
            Outcome::Skipped { status: status.as_deref().map(Status::parse), by: by.map(Untrusted::from) }
        }
        OutcomeShape::Accepted => Outcome::Accepted,
        OutcomeShape::PartlyApproved { given, needed } => Outcome::PartlyApproved { given, needed },
        OutcomeShape::Failed { why } => Outcome::Failed { why: Untrusted::from(why) },
        OutcomeShape::Unknown { why } => Outcome::Unknown { why: Untrusted::from(why) },
    })
}

pub(super) const fn write_seen(seen: Seen) -> &'static str {
    match seen {
        Seen::Opened => "opened",
        Seen::InFull => "in_full",
    }
}

pub(super) fn read_seen(word: &str) -> Option<Seen> {
    match word {
        "opened" => Some(Seen::Opened),
        "in_full" => Some(Seen::InFull),
        _ => None,
    }
}

pub(super) fn key(source: String, action: String) -> ActionKey {
    ActionKey { source: SourceName::new(source), id: ActionId::new(action) }
}

fn decision_shape(decision: &Decision) -> DecisionShape {
    let words = decision.kind().without_edits().words();
    let mut parts = BTreeMap::from([(words.said.to_owned(), decision.said().map(str::to_owned))]);
    if decision.kind().approves() {
        let edits = decision.edits().map(|edits| edits.as_json().as_str().to_owned());
        parts.insert(EDITS.to_owned(), edits);
    }
    BTreeMap::from([(words.record.to_owned(), parts)])
}

fn decision_of(shape: DecisionShape) -> Option<Decision> {
    let [(word, mut parts)]: [_; 1] = shape.into_iter().collect::<Vec<_>>().try_into().ok()?;
    let kind = DecisionKind::of_record(&word).filter(|kind| *kind == kind.without_edits())?;
    let said = parts.remove(kind.words().said).flatten();
    let text = if kind.approves() { parts.remove(EDITS).flatten() } else { None };
    let edits = match text {
        Some(text) => Some(Edits::new(RawJson::parse(text).ok()?).ok()?),
        None => None,
    };
    Decision::new(kind, edits, said).filter(|_| parts.is_empty())
}

/// Cannot fail for these types, which hold only text and numbers.
fn text(shape: &impl Serialize) -> String {
    serde_json::to_string(shape).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_keep_the_bytes_of_their_edits() {
        let edits =
            Edits::new(RawJson::parse(r#"{"n": 1.10, "big":18446744073709551616}"#).unwrap()).unwrap();
        for decision in [
            Decision::APPROVE,
            Decision::Approve { edits: Some(edits), comment: Some("a\n\u{202e}".to_owned()) },
            Decision::Reject { reason: Some(String::new()) },
            Decision::Retry { guidance: "again".to_owned() },
        ] {
            let key = key("s".to_owned(), "1".to_owned());
            let staged = Staged {
                decision: decision.clone(),
                batch: BatchKey::Batch(key.source.clone(), BatchId::new("m:t")),
                digest: Some(Digest::of("t", "w", "{}")),
                terms: Some(Digest::of("t", "w", "terms")),
                at: Timestamp::from_millis(7),
            };

            assert_eq!(read_decision(&write_decision(&decision)), Some(decision));
            assert_eq!(read_staged(&key, &write_staged(&staged)), Some(staged));
        }
    }

    #[test]
    fn outcomes_survive_a_round_trip() {
        let why = || Untrusted::from("why\u{1b}");
        for outcome in [
            Outcome::Approved,
            Outcome::Rejected,
            Outcome::Skipped { status: Some(Status::parse("spicy")), by: Some(why()) },
            Outcome::Accepted,
            Outcome::PartlyApproved { given: 1, needed: 2 },
            Outcome::Failed { why: why() },
            Outcome::Unknown { why: why() },
        ] {
            assert_eq!(read_outcome(&write_outcome(&outcome)), Some(outcome));
        }
    }

    #[test]
    fn malformed_records_are_refused() {
        for text in ["", "{}", "\"approved", r#"{"approve":{"edits":"[","comment":null}}"#] {
            assert_eq!(read_decision(text), None, "{text}");
            assert_eq!(read_outcome(text), None, "{text}");
        }
        let key = key("s".to_owned(), "1".to_owned());
        let no_digest =
            r#"{"decision":{"reject":{"reason":null}},"batch":null,"digest":null,"terms":"x","at":7}"#;
        assert_eq!(read_staged(&key, no_digest), None);
    }
}
