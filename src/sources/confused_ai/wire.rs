//! Reads approval requests. A field that the memory store omits is null in the SQLite store.

use crate::contract::action::Unreadable;
use crate::contract::fields::Fields;
use crate::contract::tool;
use crate::domain::{ActionId, BatchId, Digest, PendingAction, RawJson, Risk, Row, Status, json};

pub(super) fn list(text: &str) -> Option<Vec<Result<PendingAction, Unreadable>>> {
    Some(json::items(text, "approvals")?.items.into_iter().map(read).collect())
}

pub(super) fn read(text: &str) -> Result<PendingAction, Unreadable> {
    let unreadable = |what| Unreadable::new(what, text);
    let broken = text.trim_start().starts_with('{');
    let fields = Fields::of(text)
        .ok_or_else(|| unreadable(if broken { "it is no valid JSON" } else { "it is no object" }))?;
    let input = fields.json("toolArguments").ok_or_else(|| unreadable("it has no toolArguments"))?;
    let row = row(&fields, &input).map_err(unreadable)?;
    let terms = ["agentName", "runId", "riskLevel", "description", "expiresAt", "requestedBy"];
    let terms = Digest::of_fields("confused-ai", terms.map(|name| fields.raw(name)));
    let raw = RawJson::parse(text).map_err(|_| unreadable("it is no valid JSON"))?;
    Ok(PendingAction {
        summary: fields.text("description"),
        requested_by: fields.text("requestedBy"),
        reason: fields.text("comment"),
        // A decision cannot carry the terms. They are compared just before sending.
        terms: Some(terms),
        ..PendingAction::new(row, input, raw)
    })
}

fn row(fields: &Fields<'_>, input: &RawJson) -> Result<Row, &'static str> {
    let id = fields.text("id").filter(|id| !id.is_empty()).ok_or("it has no id")?;
    let tool = fields.text("toolName").ok_or("it has no toolName")?;
    let status = fields.text("status").ok_or("it has no status")?;
    let known = tool::definition(tool.as_raw());
    let title = fields.text("description").filter(|words| !words.is_empty());
    let run = fields.text("runId").filter(|run| !run.is_empty());
    let title = match title {
        Some(words) => known.title_beside(tool.as_raw(), input.as_str(), words.as_raw()),
        None => known.title(tool.as_raw(), input.as_str()),
    };
    Ok(Row {
        brief: known.brief(tool.as_raw(), &title, input.as_str()),
        // It has no batches, so the requests of a run form one. Each is still decided by itself.
        batch: run.as_ref().map(|run| BatchId::new(run.as_raw())),
        run,
        agent: fields.text("agentName"),
        risk: fields.text("riskLevel").map_or_else(|| known.risk.clone(), |word| Risk::parse(word.as_raw())),
        effect: known.effect.clone(),
        status: Status::parse(status.as_raw()),
        created_at: fields.time("createdAt").unwrap_or_default(),
        expires_at: fields.expiry("expiresAt"),
        resolved_at: fields.time("decidedAt"),
        resolved_by: fields.text("decidedBy"),
        ..Row::new(ActionId::new(id.as_raw()), tool, title.into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str =
        r#""id":"a1","runId":"r7","agentName":"Clerk","toolName":"refund","toolArguments":{"sum":1.10}"#;

    fn of(more: &str) -> PendingAction {
        read(&format!("{{{HEAD},{more}}}")).unwrap()
    }

    #[test]
    fn an_absent_field_and_a_null_are_the_same() {
        let memory =
            of(r#""riskLevel":"low","status":"pending","createdAt":"2026-11-21T20:32:20.516Z","ttlMs":9"#);
        let sqlite = of(
            r#""riskLevel":"low","status":"pending","createdAt":"2026-11-21T20:32:20.516Z","description":null,"comment":null,"decidedAt":null,"requestedBy":null,"decidedBy":null"#,
        );

        assert_eq!(memory.row, sqlite.row);
        assert_eq!((memory.digest(), memory.terms), (sqlite.digest(), sqlite.terms));
        assert_eq!(memory.input.as_str(), r#"{"sum":1.10}"#, "byte for byte");
        assert_eq!(memory.row.batch, Some(BatchId::new("r7")));
    }

    #[test]
    fn unknown_risk_is_shown_raw_and_ranks_high() {
        for (word, rank) in [("low", 0), ("medium", 1), ("high", 2), ("critical", 3), ("catastrophic", 2)] {
            let risk = of(&format!(r#""status":"pending","riskLevel":"{word}""#)).row.risk;
            assert_eq!((risk.as_raw(), risk.rank()), (word, rank));
        }
    }

    #[test]
    fn everything_beside_the_arguments_is_in_the_terms() {
        let base = of(r#""status":"pending","riskLevel":"low","expiresAt":"2026-11-21T21:02:20.516Z""#);
        for other in [
            r#""status":"pending","riskLevel":"high","expiresAt":"2026-11-21T21:02:20.516Z""#,
            r#""status":"pending","riskLevel":"low","expiresAt":"2026-11-21T22:02:20.516Z""#,
            r#""status":"pending","riskLevel":"low","expiresAt":"2026-11-21T21:02:20.516Z","description":"x""#,
        ] {
            assert_ne!(of(other).terms, base.terms, "{other}");
        }
    }

    #[test]
    fn unreadable_request_keeps_its_id_and_hides_no_other() {
        let list = list(&format!(
            r#"{{"approvals":[{{{HEAD},"status":"pending"}},{{"id":"a2","status":"pending"}},7]}}"#
        ));

        let list = list.unwrap();
        assert_eq!(list[0].as_ref().unwrap().row.id, ActionId::new("a1"));
        assert_eq!(list[1].as_ref().unwrap_err().id, Some(ActionId::new("a2")));
        assert_eq!(list[2].as_ref().unwrap_err().what, "it is no object");
    }
}
