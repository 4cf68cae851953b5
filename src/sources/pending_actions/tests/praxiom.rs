//! Praxiom keeps no reason, compares nothing, and answers a batch with three counts.

use super::*;
use crate::clock;
use crate::config::Praxiom;
use crate::contract::time;
use crate::domain::Binding;
use crate::domain::ReasonRule;

const INPUT: &str = r#"{"n":1.10}"#;

fn praxiom_lists(backend: &Backend, status: &str, items: &[String]) {
    let path = format!("/api/pending-actions?workspace_id=w&status={status}");
    backend.on("GET", &path).reply(200, format!(r#"{{"items":[{}]}}"#, items.join(",")));
}

fn get(backend: &Backend, id: &str, texts: &[String]) {
    for text in texts {
        backend.on("GET", &format!("/api/pending-actions/{id}")).reply(200, text);
    }
}

fn settled(id: &str, status: &str, at: &str) -> String {
    let text = fake::text(id, INPUT, status);
    format!(r#"{},"resolvedAt":"2026-04-21T18:02:{at}Z"}}"#, text.strip_suffix('}').unwrap())
}

#[tokio::test]
async fn list_has_whole_actions_and_no_revision() {
    let praxiom = Backend::default();
    praxiom_lists(&praxiom, "pending", &[fake::text("1", INPUT, "pending")]);
    let source = praxiom.source(SourceKind::Praxiom(Praxiom::default()), Some("w")).await;

    let synced = source.sync(Some(Revision(5))).await.unwrap();

    let Synced::All { rows, revision: None, .. } = synced else { panic!("{synced:?}") };
    assert_eq!(row_ids(&rows), ["1"]);
    let lists =
        ["pending", "approved"].map(|word| format!("GET /api/pending-actions?workspace_id=w&status={word}"));
    assert_eq!(praxiom.lines(), lists);
    let can = rows[0].can;
    assert_eq!((can.reason, can.comment, can.binding), (ReasonRule::NotKept, false, Binding::FreshRead));
    assert!(source.watch().is_none());
}

#[tokio::test]
async fn changed_actions_are_not_sent() {
    let praxiom = Backend::default();
    get(&praxiom, "1", &[fake::text("1", r#"{"n":1.1}"#, "pending")]);
    get(&praxiom, "2", &[settled("2", "rejected", "11")]);
    let source = praxiom.source(SourceKind::Praxiom(Praxiom::default()), Some("w")).await;

    let outcomes = source
        .submit(&batch(Some("b"), &["1", "2", "3"].map(|id| (id, Decision::APPROVE))), "k")
        .await
        .unwrap();

    let want = [failed(wire::CHANGED), skipped("rejected", None), failed(wire::GONE)];
    assert_eq!(outcomes, ["1", "2", "3"].map(id).into_iter().zip(want).collect::<Vec<_>>());
    assert!(praxiom.lines().iter().all(|line| line.starts_with("GET")), "{:?}", praxiom.lines());
}

#[tokio::test]
async fn failed_read_before_sending_leaves_no_unknown_outcome() {
    let praxiom = Backend::default();
    praxiom.always("GET", 502, "");
    let source = praxiom.source(SourceKind::Praxiom(Praxiom::default()), Some("w")).await;

    let error = source.submit(&approve("1"), "k").await.unwrap_err();

    assert_eq!(error, SourceError::NotSent { why: "HTTP 502".into() });
}

#[tokio::test]
async fn three_counts_become_one_outcome_per_action() {
    let praxiom = Backend::default();
    let pending = |id: &str| fake::text(id, INPUT, "pending");
    get(&praxiom, "1", &[pending("1"), settled("1", "executed", "31")]);
    get(&praxiom, "2", &[pending("2"), settled("2", "rejected", "30")]);
    get(&praxiom, "3", &[pending("3"), settled("3", "approved", "05")]);
    get(&praxiom, "4", &[pending("4"), settled("4", "rejected", "04")]);
    praxiom
        .on("POST", "/api/pending-actions/batch/m%3At/approve")
        .reply(200, r#"{"batchId":"m:t","approved":1,"rejected":1,"skipped":2}"#);
    let source = praxiom.source(SourceKind::Praxiom(Praxiom::default()), Some("w")).await;
    let reject = Decision::Reject { reason: Some("kept by us alone".to_owned()) };
    let (a, r) = (Decision::APPROVE, reject);

    let outcomes = source
        .submit(&batch(Some("m:t"), &[("1", a.clone()), ("2", r), ("3", a.clone()), ("4", a)]), "k")
        .await
        .unwrap();

    // 4 has another decision; 3 was settled before the others.
    let want = [Outcome::Approved, Outcome::Rejected, skipped("approved", None), skipped("rejected", None)];
    assert_eq!(outcomes, ["1", "2", "3", "4"].map(id).into_iter().zip(want).collect::<Vec<_>>());
    let post = praxiom.requests().into_iter().find(|request| request.line.starts_with("POST")).unwrap();
    assert_eq!(
        (post.body.as_str(), post.key),
        (
            r#"{"items":[{"pendingActionId":"1"},{"pendingActionId":"2","exclude":true},{"pendingActionId":"3"},{"pendingActionId":"4"}]}"#,
            None
        )
    );
}

/// Another reviewer approved one of them at the same time. The counts prove that both rejections are ours.
#[tokio::test]
async fn count_of_each_decision_tells_whose_it_is() {
    for (approved, skipped_ones, ours) in [(1, 1, [false, true]), (0, 2, [false; 2]), (2, 0, [true; 2])] {
        let praxiom = Backend::default();
        let ends = [
            ("1", "rejected", "01"),
            ("2", "rejected", "02"),
            ("3", "approved", "03"),
            ("4", "executed", "04"),
        ];
        for (action, status, second) in ends {
            let pending = fake::text(action, INPUT, "pending");
            get(&praxiom, action, &[pending, settled(action, status, second)]);
        }
        let reply = json!({"batchId": "b", "approved": approved, "rejected": 2, "skipped": skipped_ones});
        praxiom.always("POST", 200, &reply.to_string());
        let source = praxiom.source(SourceKind::Praxiom(Praxiom::default()), Some("w")).await;
        let reject = Decision::Reject { reason: None };
        let sent = [("1", reject.clone()), ("2", reject), ("3", Decision::APPROVE), ("4", Decision::APPROVE)];

        let outcomes = source.submit(&batch(Some("b"), &sent), "k").await.unwrap();

        let approval = |is_ours, status| if is_ours { Outcome::Approved } else { skipped(status, None) };
        let approvals = [approval(ours[0], "approved"), approval(ours[1], "executed")];
        let want = [Outcome::Rejected, Outcome::Rejected].into_iter().chain(approvals);
        assert_eq!(outcomes, ["1", "2", "3", "4"].map(id).into_iter().zip(want).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn unverifiable_counts_are_not_believed() {
    let praxiom = Backend::default();
    praxiom.on("GET", "/api/pending-actions/1").reply(200, fake::text("1", INPUT, "pending")).reply(500, "");
    praxiom.always("POST", 200, r#"{"batchId":"b","approved":1,"rejected":0,"skipped":0}"#);
    let source = praxiom.source(SourceKind::Praxiom(Praxiom::default()), Some("w")).await;

    let outcomes = source.submit(&batch(Some("b"), &[("1", Decision::APPROVE)]), "k").await.unwrap();

    assert!(matches!(outcomes.as_slice(), [(_, Outcome::Unknown { .. })]), "{outcomes:?}");
}

#[tokio::test]
async fn rejection_has_an_empty_body_and_its_outcome_is_read() {
    let praxiom = Backend::default();
    get(&praxiom, "1", &[fake::text("1", INPUT, "pending"), settled("1", "rejected", "31")]);
    praxiom.on("POST", "/api/pending-actions/1/reject").reply(200, r#"{"ok":true}"#);
    let source = praxiom.source(SourceKind::Praxiom(Praxiom::default()), Some("w")).await;
    let reject = Decision::Reject { reason: Some("why".to_owned()) };

    let outcomes = source.submit(&batch(None, &[("1", reject)]), "k").await.unwrap();

    assert_eq!(outcomes, [(id("1"), Outcome::Rejected)]);
    assert_eq!(praxiom.requests()[1].body, "{}");
}

#[tokio::test]
async fn many_actions_are_read_from_lists_to_save_requests() {
    let praxiom = Backend::default();
    let text = |id: &str, status| fake::text(id, INPUT, status);
    praxiom_lists(
        &praxiom,
        "pending",
        &[text("1", "pending"), text("2", "pending"), text("other", "pending")],
    );
    praxiom_lists(
        &praxiom,
        "approved",
        &[text("3", "approved"), text("4", "approved"), text("5", "approved")],
    );
    praxiom_lists(&praxiom, "executed", &[text("6", "executed")]);
    let source = praxiom.source(SourceKind::Praxiom(Praxiom::default()), Some("w")).await;

    let actions = source.get(&["1", "2", "3", "4", "5", "6"].map(id)).await.unwrap();

    let ids: Vec<_> = actions.into_iter().map(|action| action.unwrap().row.id).collect();
    assert_eq!(ids, ["1", "2", "3", "4", "5", "6"].map(id));
    assert_eq!(praxiom.lines().len(), 3);
}

#[tokio::test]
async fn gate_reports_its_tools_and_praxiom_is_not_asked() {
    let backend = Backend::default();
    backend.on("GET", "/api/tools").reply(
        200,
        r#"{"items":[{"toolName":"t","risk":"high","approving":"sends","schema":{"maximum":1.10}},{"risk":"low"}]}"#,
    );

    let gate = backend.source(SourceKind::Gate, None).await;
    let told = gate.abilities().lookup.unwrap().tools().await.unwrap();
    let praxiom = backend.source(SourceKind::Praxiom(Praxiom::default()), Some("w")).await;

    let [tool] = told.as_slice() else { panic!("expected one tool with a name") };
    assert_eq!((tool.name.as_raw(), tool.risk.as_raw()), ("t", "high"));
    assert_eq!(tool.schema.as_ref().unwrap().as_str(), r#"{"maximum":1.10}"#, "the schema keeps its bytes");
    assert!(praxiom.abilities().lookup.is_none());
    assert_eq!(backend.requests().len(), 1);
}

#[tokio::test]
async fn approval_that_never_ran_is_unknown_after_ten_minutes() {
    let decided = |id: &str, ago: i64| {
        let text = fake::text(id, INPUT, "approved");
        let at = time::write(clock::now().plus_millis(-ago * 1_000));
        format!(r#"{},"resolvedAt":"{at}"}}"#, text.strip_suffix('}').unwrap())
    };
    let praxiom = Backend::default();
    praxiom_lists(&praxiom, "pending", &[fake::text("1", INPUT, "pending")]);
    praxiom_lists(&praxiom, "approved", &[decided("2", 60), decided("3", 601)]);
    get(&praxiom, "3", &[decided("3", 601)]);
    let source = praxiom.source(SourceKind::Praxiom(Praxiom::default()), Some("w")).await;

    for _ in 0..2 {
        let Synced::All { rows, .. } = source.sync(None).await.unwrap() else { panic!("all was asked for") };
        let listed: Vec<_> = rows.iter().map(|row| (row.id.as_raw(), row.status.clone())).collect();
        assert_eq!(listed, [("1", Status::Pending), ("3", Status::Unknown)]);
    }
    let lines = praxiom.lines();
    let asked = lines.iter().filter(|line| line.contains("status=approved")).count();
    assert_eq!(asked, 1, "requests are counted: {lines:?}");
    let action = source.get(&[id("3")]).await.unwrap().remove(0).unwrap();
    assert_eq!(action.row.status, Status::Unknown);
    assert!(action.error.unwrap().as_raw().contains("not run"));
}
