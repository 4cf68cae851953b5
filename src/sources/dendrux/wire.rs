//! Reads the bridge's answers tolerantly. An unreadable turn is reported and does not hide others.

use super::turn::{Call, Question, Turn, Waits};
use crate::contract::action::Unreadable;
use crate::contract::fields::Fields;
use crate::domain::{RawJson, Timestamp, Untrusted, json};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Report {
    pub(super) bridge: u64,
    /// Version of the package.
    pub(super) dendrux: Untrusted,
    /// Each call is decided by itself (dendrux 0.3 and later).
    pub(super) decisions: bool,
    /// A comment reaches the agent.
    pub(super) notes: bool,
    pub(super) agents: Vec<Untrusted>,
}

pub(super) const UNKNOWN_WAIT: &str = "it waits for something that this version does not know";

#[derive(Debug, Default)]
pub(super) struct Waiting {
    pub(super) turns: Vec<Turn>,
    pub(super) unreadable: Vec<Unreadable>,
}

/// A decision that the bridge passed on and remembers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Decided {
    pub(super) by: Option<Untrusted>,
    pub(super) at: Option<Timestamp>,
    pub(super) error: Option<Untrusted>,
}

/// Returns `None` if the answer is not a bridge's.
pub(super) fn report(text: &str) -> Option<Report> {
    let fields = Fields::of(text)?;
    let agents = fields.raw("agents").and_then(json::elements).unwrap_or_default();
    Some(Report {
        bridge: fields.number("bridge")?,
        dendrux: fields.text("dendrux").unwrap_or_default(),
        decisions: fields.flag("decisions").unwrap_or_default(),
        notes: fields.flag("notes").unwrap_or_default(),
        agents: agents.into_iter().map(string).collect(),
    })
}

/// Reads a list of turns; `None` if the text is not one, or is cut off.
pub(super) fn waiting(text: &str) -> Option<Waiting> {
    let json::Items { items, beside } = json::items(text, "turns")?;
    let mut waiting = Waiting::default();
    for item in items {
        match turn(item) {
            Ok(turn) => waiting.turns.push(turn),
            Err(what) => waiting.unreadable.push(nameless(what, item)),
        }
    }
    let broken = Fields::new(beside).raw("broken").and_then(json::elements).unwrap_or_default();
    let broken = broken.into_iter().map(|run| nameless("the bridge cannot read this run", run));
    waiting.unreadable.extend(broken);
    Some(waiting)
}

/// Reports a turn that cannot be read. Without an id it is shown, but cannot be decided.
pub(super) fn nameless(what: &'static str, raw: &str) -> Unreadable {
    Unreadable { id: None, ..Unreadable::new(what, raw) }
}

fn turn(text: &str) -> Result<Turn, &'static str> {
    let fields = Fields::of(text).ok_or("it is no valid JSON object")?;
    let run = fields.text("run_id").ok_or("it has no run_id")?;
    if run.is_empty() || run.as_raw().contains('/') {
        return Err("its run_id cannot stand in an address");
    }
    let status = fields.text("status").ok_or("it has no status")?;
    let waits = Waits::parse(status.as_raw()).ok_or(UNKNOWN_WAIT)?;
    let calls =
        fields.raw("calls").map_or(Some(Vec::new()), json::elements).ok_or("its calls are no list")?;
    let calls =
        calls.into_iter().map(call).collect::<Option<Vec<_>>>().ok_or("one of its calls cannot be read")?;
    let turn = Turn {
        run: run.as_raw().to_owned(),
        waits,
        pause: fields.number("pause").ok_or("it does not say at which pause it is")?,
        at: fields.time("paused_at").or_else(|| fields.time("created_at")),
        agent: fields.text("agent_name"),
        tenant: fields.text("tenant_id"),
        parent: fields.text("parent_run_id"),
        said: fields.text("input"),
        metadata: fields
            .json("metadata")
            .filter(|metadata| metadata.members().is_some_and(|it| !it.is_empty())),
        calls,
        question: fields.raw("question").and_then(question),
        raw: RawJson::parse(text).map_err(|_| "it is no valid JSON")?,
    };
    if turn.len() == 0 { Err("none of its calls waits for anybody") } else { Ok(turn) }
}

fn call(text: &str) -> Option<Call> {
    let fields = Fields::of(text)?;
    let gated = fields.flag("gated").unwrap_or_default();
    Some(Call { gated, reason: fields.text("reason"), ..bare_call(&fields)? })
}

/// Reads the members that a call has in every answer.
pub(super) fn bare_call(fields: &Fields<'_>) -> Option<Call> {
    let params = fields.json("params").unwrap_or_else(RawJson::null);
    Some(Call {
        id: fields.text("id").filter(|id| !id.is_empty())?.as_raw().to_owned(),
        name: fields.text("name")?,
        params,
        client: fields.text("target").is_some_and(|target| target.as_raw() != "server"),
        gated: false,
        reason: None,
    })
}

fn question(text: &str) -> Option<Question> {
    let fields = Fields::of(text)?;
    let options = fields.json("options").unwrap_or_else(RawJson::null);
    Some(Question { text: fields.text("text")?, options })
}

pub(super) fn decided(text: &str, pause: u64) -> Option<Decided> {
    let decided = json::elements(Fields::of(text)?.raw("decided")?)?;
    let mut decided = decided.into_iter().rev().filter_map(Fields::of);
    let found = decided.find(|fields| fields.number("pause") == Some(pause))?;
    Some(Decided { by: found.text("decided_by"), at: found.time("at"), error: found.text("error") })
}

fn string(text: &str) -> Untrusted {
    Untrusted::from(json::decode(text).text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TURN: &str = r#"{"run_id":"R1","agent_name":"Storekeeper","tenant_id":null,"parent_run_id":null,
        "status":"waiting_approval","pause":4,"paused_at":"2026-05-02T09:00:00Z","created_at":null,"input":"order bolts",
        "metadata":{},"calls":[
          {"id":"C1","name":"buy","params":{"amount": 1.10},"target":"server","gated":true,"gate_source":"oracle","reason":"dear"},
          {"id":"C2","name":"stock","params":{},"target":"server","gated":false,"gate_source":null,"reason":null}],
        "question":null,"moon":"full"}"#;

    #[test]
    fn each_gated_call_becomes_an_action_with_exact_bytes() {
        let turn = turn(TURN).unwrap();
        let actions = turn.actions();

        assert_eq!(actions.len(), 1);
        assert_eq!(actions[0].row.id.as_raw(), "R1/4/C1");
        assert_eq!(actions[0].row.batch, Some(crate::domain::BatchId::new("R1/4")));
        assert_eq!(actions[0].input.as_str(), r#"{"amount": 1.10}"#);
        assert_eq!(actions[0].summary, Some("dear".into()));
        assert_eq!(turn.held().count(), 1);
    }

    #[test]
    fn terms_cover_the_other_calls_of_the_turn() {
        let terms = |text: &str| turn(text).unwrap().actions()[0].terms.unwrap();
        let changed = [
            TURN.replace("\"pause\":4", "\"pause\":5"),
            TURN.replace(r#""name":"stock","params":{}"#, r#""name":"stock","params":{"all":true}"#),
            TURN.replace(r#"{},"target":"server""#, r#"{},"target":"client""#),
        ];

        assert_eq!(terms(TURN), terms(&TURN.replace("full", "new")));
        for changed in changed {
            assert_ne!(terms(TURN), terms(&changed), "{changed}");
        }
    }

    #[test]
    fn a_turn_that_cannot_be_read_hides_no_other() {
        let broken = [
            "17",
            r#"{"run_id":"R2","id":"R2"}"#,
            &TURN.replace("R1", "a/b"),
            &TURN.replace("waiting_approval", "waiting_moon"),
            &TURN.replace(r#""id":"C2""#, r#""id":null"#),
            &TURN.replace("true", "false"),
            &TURN.replace("\"pause\":4", "\"pause\":null"),
            &TURN.replace("{},\"target\"", "NaN,,\"target\""),
        ];
        let list =
            format!(r#"{{"broken":[{{"run_id":"R9","error":"x"}}],"turns":[{},{TURN}]}}"#, broken.join(","));

        let waiting = waiting(&list).unwrap();

        assert_eq!(waiting.turns.len(), 1);
        assert_eq!(waiting.unreadable.len(), broken.len() + 1);
        assert!(waiting.unreadable.iter().all(|bad| bad.id.is_none()));
        assert!(super::waiting(r#"{"turns":[{"run_id":"R1""#).is_none(), "what is cut off is no list");
    }
}
