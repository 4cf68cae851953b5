//! Settled actions: lists by status, and timelines.

use super::*;
use crate::config::Praxiom;
use crate::domain::{FlowsAsked, HistoryEvent, ListQuery, Records, Timestamp};

fn over(words: &[&str], cursor: Option<&str>) -> ListQuery {
    let statuses = words.iter().map(|word| Status::parse(word)).collect();
    ListQuery { statuses, cursor: cursor.map(str::to_owned), limit: 2, tool: None }
}

fn created(id: &str, status: &str, minute: u32) -> String {
    let text = fake::text(id, "{}", status);
    format!(r#"{},"createdAt":"2026-04-21T18:{minute:02}:00Z"}}"#, text.strip_suffix('}').unwrap())
}

#[tokio::test]
async fn gate_is_asked_for_one_page_of_rows() {
    let gate = Backend::default();
    let path = "/api/pending-actions?workspace_id=w&status=failed%2Cunknown&view=row&limit=2";
    let bad = r#"{"id":"bad"}"#;
    let page =
        |items: &[String], next: &str| format!(r#"{{"items":[{}],"nextCursor":{next}}}"#, items.join(","));
    let first = [created("9", "failed", 9), bad.to_owned(), created("8", "executed", 8)];
    gate.on("GET", path).reply(200, page(&first, r#""c1""#));
    gate.on("GET", &format!("{path}&cursor=c1")).reply(200, page(&[created("7", "unknown", 7)], "null"));
    let source = gate.source(SourceKind::Gate, Some("w")).await;

    let first =
        source.abilities().history.unwrap().listed(&over(&["failed", "unknown"], None)).await.unwrap();
    let last = source
        .abilities()
        .history
        .unwrap()
        .listed(&over(&["failed", "unknown"], first.next.as_deref()))
        .await
        .unwrap();

    assert_eq!(row_ids(&first.rows), ["9"], "actions that changed during the read are left out");
    assert_eq!(first.unreadable.iter().map(|bad| bad.what).collect::<Vec<_>>(), ["it has no toolName"]);
    assert_eq!((row_ids(&last.rows), last.next), (vec!["7"], None));
}

#[tokio::test]
async fn praxiom_is_asked_once_per_known_status() {
    let praxiom = Backend::default();
    for (status, minute) in [("approved", 3), ("rejected", 5)] {
        let path = format!("/api/pending-actions?workspace_id=w&status={status}");
        praxiom.on("GET", &path).reply(200, format!(r#"{{"items":[{}]}}"#, created(status, status, minute)));
    }
    let source = praxiom.source(SourceKind::Praxiom(Praxiom::default()), Some("w")).await;

    let listed = source
        .abilities()
        .history
        .unwrap()
        .listed(&over(&["approved", "running", "rejected", "expired"], None))
        .await
        .unwrap();

    assert_eq!((row_ids(&listed.rows), listed.next), (vec!["rejected", "approved"], None), "newest first");
    assert_eq!(praxiom.requests().len(), 2, "it has neither `running` nor `expired`");
    assert_eq!(source.abilities().records(), Records { lists: true, timeline: false, flows: false });
    assert_eq!(praxiom.requests().len(), 2, "no request for statuses it does not keep");
}

#[tokio::test]
async fn timeline_is_read_in_order_without_malformed_events() {
    let gate = Backend::default();
    let at = "2026-04-21T18:02:11.420Z";
    gate.on("GET", "/api/pending-actions/a%2Fb/events").reply(
        200,
        json!({"items": [
            {"revision": 1, "event": "created", "at": at, "by": "agent", "details": {"tool": "t"}},
            {"revision": 2, "event": "expired", "at": at},
            {"revision": 3, "event": "x", "at": "then"}, 17]})
        .to_string(),
    );
    let source = gate.source(SourceKind::Gate, None).await;

    let events = source.abilities().timeline.unwrap().timeline(&id("a/b")).await.unwrap();

    let at = Timestamp::from_millis(1_776_794_531_420);
    let details = Some(RawJson::parse(r#"{"tool":"t"}"#).unwrap());
    let event = |kind: &str, by: Option<&str>, details| HistoryEvent {
        kind: kind.into(),
        at,
        by: by.map(Untrusted::from),
        details,
    };
    assert_eq!(events, [event("created", Some("agent"), details), event("expired", None, None)]);
    assert!(source.abilities().records().timeline);
    assert!(matches!(
        source.abilities().timeline.unwrap().timeline(&id("gone")).await,
        Err(SourceError::Refused { .. })
    ));
}

#[tokio::test]
async fn gate_is_asked_for_its_counts() {
    let gate = Backend::default();
    let path = "/api/flows?workspace_id=w&since=1970-01-01T00%3A01%3A00.000Z&decided_since=1970-01-01T00%3A01%3A00.000Z";
    let body = r#"{"at":60.001,"from":60,"queues":[{"tool":"t","pending":3,"minutes":[]}]}"#;
    gate.on("GET", path).reply(200, body).reply(500, "").reply(200, "[]");
    gate.on("GET", &format!("{path}&reviewers=true&groups=true")).reply(200, body);
    let source = gate.source(SourceKind::Gate, Some("w")).await;
    let since = Timestamp::from_millis(60_000);
    let asked = |reviewers| FlowsAsked { since, decided_since: since, reviewers, groups: reviewers };

    let figures = source.abilities().figures.unwrap();

    let flows = figures.flows(&asked(false)).await.unwrap();
    assert_eq!((flows.queues[0].pending, flows.from), (3, since));
    assert_eq!(figures.flows(&asked(true)).await, Ok(flows));
    assert!(matches!(figures.flows(&asked(false)).await, Err(SourceError::Unreachable { .. })));
    assert!(matches!(figures.flows(&asked(false)).await, Err(SourceError::Protocol { .. })));

    let praxiom = gate.source(SourceKind::Praxiom(Praxiom::default()), Some("w")).await;
    assert!(!praxiom.abilities().records().flows);
}

#[tokio::test]
async fn gate_counts_pending_and_looks_up_ids() {
    let gate = Backend::default();
    let (counts, ids) = ("/api/pending-actions/counts?workspace_id=w", "/api/pending-actions?workspace_id=w");
    let ids = format!("{ids}&id_prefix=a&view=row&limit=20");
    let page = ["a1", "a2"].map(|id| fake::text(id, "{}", "rejected")).join(",");
    gate.on("GET", counts).reply(200, r#"{"pending":3,"high":1,"oldestAt":null,"tools":[]}"#);
    gate.on("GET", &ids).reply(200, format!(r#"{{"items":[{page}],"nextCursor":null}}"#));
    let source = gate.source(SourceKind::Gate, Some("w")).await;
    let able = source.abilities();

    let counted = able.figures.unwrap().outstanding().await;
    assert_eq!(counted.map(|it| (it.pending, it.high)), Ok((3, 1)));
    assert_eq!(able.lookup.unwrap().beginning("a").await, Ok(vec![id("a1"), id("a2")]));
}
