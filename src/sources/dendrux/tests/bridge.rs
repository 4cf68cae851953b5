//! dendrux through the bridge.

use futures_util::StreamExt as _;

use super::house::{Call, Kind, Run, Verdicts, client, free, gated};
use super::world::Reached;
use super::*;
use crate::clock;
use crate::domain::{Briefing, Fact, FactValue, Status, Together, Verdict};
use crate::net::testing::serve;
use crate::sources::dendrux::past::{SILENT, UNTOLD};
use crate::sources::{Connection, EventKind, SourceError};

const WAITS: &str = "waiting_approval";

#[tokio::test]
async fn calls_of_a_turn_are_decided_separately_in_one_request() {
    let reached = Reached::of(Kind::Bridge).await;
    let source = reached.open(AT_EASE);
    let ids = reached.waits(WAITS, vec![gated("buy", r#"{"n": 1.10}"#), free("stock"), gated("scrap", "{}")]);
    let listed = rows(&source).await;
    assert_eq!(
        listed.iter().map(|row| &row.id).collect::<Vec<_>>(),
        [&ids[0], &ids[2]],
        "the ungated call is not listed"
    );
    let can = listed[0].can;
    assert_eq!((can.together, can.edit, can.also_rejects), (Together::All, false, 0));
    assert!(told(&listed[0]).contains("none can be left out"), "{}", told(&listed[0]));
    reached.seen();

    let yes = Decision::Approve { edits: None, comment: Some("only this once".to_owned()) };
    let outcomes = decide(&source, &[(&ids[0], yes), (&ids[2], reject("too \"dear\""))]).await;

    assert_eq!(outcomes, [Outcome::Approved, Outcome::Rejected]);
    let seen = reached.seen();
    let sent: Vec<_> = seen.iter().filter(|line| line.starts_with("POST")).collect();
    assert_eq!(
        sent,
        [
            r#"POST /placet/runs/R0/decide? {"pause":4,"decisions":{"R0C0":{"approved":true},"R0C2":{"approved":false,"reason":"too \"dear\""}},"decided_by":"kim","note":"only this once"}"#
        ]
    );
    let (bought, scrapped) = (get(&source, &ids[0]).await, get(&source, &ids[2]).await);
    assert_eq!((bought.row.status, bought.result.unwrap().as_str()), (Status::Executed, "\"buy done\""));
    assert_eq!((scrapped.row.status, scrapped.reason), (Status::Rejected, Some("too \"dear\"".into())));
    assert_eq!(scrapped.row.resolved_by, Some("kim".into()), "from the bridge's record");
    assert_eq!(reached.with_run(&ids[0], |run| run.ran.len()), Some(2), "the ungated call ran, too");
}

#[tokio::test]
async fn partial_turn_is_not_sent() {
    for kind in [Kind::Bridge, Kind::OldBridge, Kind::Plain, Kind::OldPlain] {
        let reached = Reached::of(kind).await;
        let source = reached.open(AT_EASE);
        let ids = reached.waits(WAITS, vec![gated("buy", "{}"), gated("scrap", "{}")]);
        let half = [(&ids[0], Decision::APPROVE)];

        assert!(matches!(frozen(&source, 2, &half).await, Err(Refusal::PartOfTurn(_, 1))), "{kind:?}");
        // The number of pending calls is checked again before sending.
        let half = frozen(&source, 1, &half).await.unwrap();
        let told = source.submit(&half, "s:0").await.unwrap();

        assert!(matches!(&told[..], [(_, Outcome::Failed { .. })]), "{told:?}");
        assert_eq!(reached.with_run(&ids[0], |run| run.taken), Some(0));
    }
}

#[tokio::test]
async fn old_dendrux_takes_one_decision_per_turn_with_a_warning() {
    let reached = Reached::of(Kind::OldBridge).await;
    let source = reached.open(AT_EASE);
    let ids = reached.waits(WAITS, vec![gated("buy", "{}"), gated("scrap", "{}"), free("stock")]);
    let row = rows(&source).await.remove(0);
    let words = told(&row);
    assert!(words.contains("one decision for its whole turn"), "{words}");
    assert!(words.contains("reject also rejects 1 ungated call"), "{words}");
    assert!(!row.can.comment);
    let mixed = [(&ids[0], Decision::APPROVE), (&ids[1], reject("no"))];
    assert!(matches!(frozen(&source, 2, &mixed).await, Err(Refusal::MixedTurn(_))));

    let outcomes = decide(&source, &[(&ids[0], reject("no")), (&ids[1], reject("no"))]).await;

    assert_eq!(outcomes, [Outcome::Rejected, Outcome::Rejected]);
    let seen = reached.seen();
    let sent = seen.iter().find(|line| line.starts_with("POST")).unwrap();
    assert!(
        sent.ends_with(r#"{"approved":false,"rejection_reason":"no","pause":4,"decided_by":"kim"}"#),
        "{sent}"
    );
    assert_eq!(get(&source, &ids[1]).await.reason, Some("no".into()));
}

#[tokio::test]
async fn client_results_are_sent_together_byte_for_byte() {
    for (kind, want) in [
        (
            Kind::Bridge,
            r#"POST /placet/runs/R0/results? {"pause":2,"results":[{"call_id":"R0C0","payload":{"at": 1.10},"success":true},{"call_id":"R0C1","payload":"nobody home","success":false,"error":"nobody home"}],"decided_by":"kim"}"#,
        ),
        (
            Kind::OldPlain,
            r#"POST /runs/R0/tool-results? [{"call_id":"R0C0","name":"sign","payload":"{\"at\": 1.10}","success":true},{"call_id":"R0C1","name":"sign","payload":"\"nobody home\"","success":false,"error":"nobody home"}]"#,
        ),
    ] {
        let reached = Reached::of(kind).await;
        let source = reached.open(AT_EASE);
        let ids = reached.waits("waiting_client_tool", vec![client("sign"), client("sign")]);
        let action = get(&source, &ids[0]).await;
        assert_eq!(action.input.as_str(), r#"{"call":{"part":"nut"},"result":null}"#);
        let approve = [(&ids[0], Decision::APPROVE)];
        assert!(matches!(frozen(&source, 1, &approve).await, Err(Refusal::AnswerRequired(_))));

        let given = filled_in(r#"{"result": {"at": 1.10}}"#);
        let outcomes = decide(&source, &[(&ids[0], given), (&ids[1], reject("nobody home"))]).await;

        assert_eq!(outcomes, [Outcome::Approved, Outcome::Rejected]);
        assert!(reached.seen().iter().any(|line| line == want), "{kind:?}");
        assert_eq!(get(&source, &ids[0]).await.row.status, Status::Executed);
        assert_eq!(get(&source, &ids[1]).await.row.status, Status::Rejected);
    }
}

#[tokio::test]
async fn only_the_answer_can_be_edited() {
    let reached = Reached::of(Kind::Bridge).await;
    let source = reached.open(AT_EASE);
    let ids = reached.waits("waiting_client_tool", vec![client("sign")]);
    for edits in [r#"{"call":{"part":"other"},"result":1}"#, r#"{"result":null}"#, "{}"] {
        let outcomes = decide(&source, &[(&ids[0], filled_in(edits))]).await;
        assert!(matches!(&outcomes[..], [Outcome::Failed { .. }]), "{edits}: {outcomes:?}");
    }
    assert!(!reached.seen().iter().any(|line| line.starts_with("POST")));
}

#[tokio::test]
async fn question_is_answered_in_text_and_cannot_be_rejected() {
    for kind in [Kind::Bridge, Kind::OldPlain] {
        let reached = Reached::of(kind).await;
        let source = reached.open(AT_EASE);
        let id = reached.waits("waiting_human_input", Vec::new()).remove(0);
        reached.with_run(&id, |run| run.question = Some("Which bolt?"));
        let row = rows(&source).await.remove(0);
        assert_eq!((row.id.clone(), row.title.clone()), (id.clone(), "Which bolt?".into()));
        assert!(matches!(
            frozen(&source, 1, &[(&id, Decision::REJECT)]).await,
            Err(Refusal::RejectUnsupported(_))
        ));

        let outcomes = decide(&source, &[(&id, filled_in(r#"{"answer": "the \u00e9 one"}"#))]).await;

        assert_eq!(outcomes, [Outcome::Approved]);
        assert_eq!(reached.with_run(&id, |run| run.ran.join("")), Some("answer the é one".to_owned()));
        let answered = get(&source, &id).await;
        assert_eq!(
            (answered.row.status, answered.result.unwrap().as_str()),
            (Status::Executed, "\"the é one\"")
        );
    }
}

#[tokio::test]
async fn winning_decision_is_reported_at_once_and_followed() {
    let reached = Reached::of(Kind::Bridge).await;
    let source = reached.open(AT_EASE);
    let mut ids = reached.waits(WAITS, vec![gated("buy", "{}"), client("sign")]);
    let approve = |id| [(id, Decision::APPROVE)];
    reached.with_run(&ids[0], |run| run.held = true);

    assert_eq!(decide(&source, &approve(&ids[0])).await, [Outcome::Approved]);
    assert_eq!(get(&source, &ids[0]).await.row.status, Status::Executed);

    // The client's call waits again, now for its result. That is another action.
    reached.with_run(&ids[0], Run::goes_on);
    let row = rows(&source).await.remove(0);
    assert!(row.id.as_raw().ends_with("R0C1") && row.id != ids[1], "{:?}", row.id);
    assert!(row.can.answer);
    ids.push(row.id);
    assert_eq!(get(&source, &ids[2]).await.row.status, Status::Pending);
}

#[tokio::test]
async fn outcome_is_known_only_to_its_sender_until_written() {
    let reached = Reached::of(Kind::Bridge).await;
    let (ours, other) = (reached.open(AT_EASE), reached.open(AT_EASE));
    let ids = reached.waits(WAITS, vec![gated("buy", "{}"), gated("scrap", "{}")]);
    let both = [(&ids[0], Decision::APPROVE), (&ids[1], reject("no"))];
    let late = frozen(&other, 2, &both).await.unwrap();
    assert_eq!(decide(&ours, &both).await, [Outcome::Approved, Outcome::Rejected]);
    reached.with_run(&ids[0], |run| {
        run.status = "running".to_owned();
        run.rows.clear();
        run.events.truncate(run.pause() + 2);
        run.since = Some(clock::now().plus_millis(-60_000));
    });

    assert_eq!(get(&ours, &ids[0]).await.row.status, Status::Running);
    assert_eq!(get(&ours, &ids[1]).await.row.status, Status::Rejected);
    for (id, tool) in ids.iter().zip(["buy", "scrap"]) {
        let action = get(&other, id).await;
        assert_eq!((action.row.status, action.error), (Status::Running, Some(UNTOLD.into())));
        assert_eq!((action.row.title, action.input.as_str()), (tool.into(), "{}"));
    }
    let told = other.submit(&late, "s:0").await.unwrap();
    let running = Outcome::Skipped { status: Some(Status::Running), by: None };
    assert!(told.iter().all(|(_, outcome)| *outcome == running), "{told:?}");
    reached.with_run(&ids[0], |run| run.since = None);
    let action = get(&other, &ids[0]).await;
    assert_eq!((action.row.status, action.error), (Status::Unknown, Some(SILENT.into())));
}

#[tokio::test]
async fn changes_are_pushed_with_heartbeats() {
    let reached = Reached::of(Kind::Bridge).await;
    let frames = "event: briefing\ndata: {\"pending\":3,\"turns\":2}\n\nevent: tick\ndata: 1\n\n";
    frames.clone_into(&mut reached.house.stream.lock().unwrap());
    let source = reached.open(AT_EASE);

    let signals =
        tokio::time::timeout(AT_EASE, source.watch().unwrap().take(3).collect::<Vec<_>>()).await.unwrap();

    let briefing = Briefing { pending: 3, ..Briefing::default() };
    assert_eq!(
        signals,
        [EventKind::Connection(Connection::Live), EventKind::Briefing(briefing), EventKind::Tick]
    );
}

#[tokio::test]
async fn context_shows_the_run_and_the_calls_held_together() {
    let reached = Reached::of(Kind::Bridge).await;
    let source = reached.open(AT_EASE);
    let dear = Call { reason: Some("dear"), ..gated("buy", "{}") };
    let ids = reached.waits(WAITS, vec![dear, free("stock"), client("sign"), gated("scrap", "{}")]);

    let passages = source.abilities().context.unwrap().context(&ids[0], &[]).await.unwrap();

    let titles: Vec<_> = passages.iter().map(|passage| passage.title).collect();
    assert_eq!(titles, ["Run", "Its turn", "What was said", "What happened"]);
    let names: Vec<_> = passages[1].facts.iter().map(|fact: &Fact| fact.name.as_raw()).collect();
    let held = ["held with it, runs when decided", "with", "held with it, a client's call", "with"];
    assert_eq!(names, [&["why it is held"][..], &held, &["decided with it", "with"]].concat());
    let run = &passages[0].facts;
    assert!(
        run.iter().any(|fact| matches!(&fact.value, FactValue::Json(json) if json.as_str().contains("T-7")))
    );
    assert!(
        run.iter().any(|fact| matches!(&fact.value, FactValue::Text(text) if text.as_raw() == "order parts"))
    );
}

#[tokio::test]
async fn doctor_reports_the_bridge_and_the_kind_of_decisions() {
    let found = |checks: &[crate::domain::Check]| {
        checks
            .iter()
            .map(|check| format!("{} {:?}: {} {:?}", check.what, check.verdict, check.found, check.said))
            .collect::<Vec<_>>()
            .join("\n")
    };
    let bridge = found(&Reached::of(Kind::Bridge).await.open(AT_EASE).checked().await);
    assert!(bridge.contains("bridge Good: version 1 is mounted"), "{bridge}");
    assert!(bridge.contains("\"dendrux 0.4.1, for Storekeeper\""), "{bridge}");
    assert!(bridge.contains("decisions Good: each call by itself"), "{bridge}");
    let old = found(&Reached::of(Kind::OldBridge).await.open(AT_EASE).checked().await);
    assert!(old.contains("one decision for a whole turn"), "{old}");
    let plain = found(&Reached::of(Kind::Plain).await.open(AT_EASE).checked().await);
    assert!(plain.contains("bridge Warn") && plain.contains("write route Good"), "{plain}");
    let reached = Reached::with(Kind::Plain, true).await;
    let checks = reached.open(AT_EASE).checked().await;
    let missing = checks.iter().find(|check| check.what == "write route").unwrap();
    assert_eq!(missing.verdict, Verdict::Bad, "{}", found(&checks));
    assert!(!reached.seen().iter().any(|line| line.starts_with("POST")), "the check sent a decision");
    let elsewhere = serve(axum::Router::new()).await;
    let checks = Reached { url: elsewhere, ..reached }.open(AT_EASE).checked().await;
    assert!(checks.iter().any(|check| check.verdict == Verdict::Bad), "{}", found(&checks));
}

#[tokio::test]
async fn foreign_server_is_reported_and_asked_again() {
    let app = axum::Router::new().fallback(|| async { r#"{"hello":"world"}"# });
    let reached = Reached { url: serve(app).await, ..Reached::of(Kind::Bridge).await };

    let error = reached.open(AT_EASE).sync(None).await.unwrap_err();

    assert_eq!(error, SourceError::Protocol { why: "it is no bridge of placet's".into() });
}

#[tokio::test]
async fn call_decided_a_moment_ago_is_running_with_its_input() {
    for kind in [Kind::Bridge, Kind::Plain] {
        let reached = Reached::of(kind).await;
        let source = reached.open(AT_EASE);
        let id = reached.waits(WAITS, vec![gated("buy", r#"{"n": 1.10}"#)]).remove(0);
        reached.approved_by(&id, None);
        reached.with_run(&id, |run| {
            run.status = "running".to_owned();
            run.rows.clear();
            run.events.truncate(run.pause() + 2);
            run.since = Some(clock::now());
        });

        let action = get(&source, &id).await;

        assert_eq!((action.row.status, action.error), (Status::Running, Some(UNTOLD.into())), "{kind:?}");
        assert_eq!((action.row.title, action.input.as_str()), ("buy n=1.10".into(), r#"{"n": 1.10}"#));
        assert!(action.row.resolved_at.is_some() && action.row.unreadable.is_none());
    }
}

#[tokio::test]
async fn rejection_of_a_moment_ago_is_waited_for() {
    let reached = Reached::of(Kind::Plain).await;
    let source = reached.open(AT_EASE);
    let id = reached.waits(WAITS, vec![gated("buy", "{}")]).remove(0);
    let written = reached.with_run(&id, |run| {
        let call = run.calls[0].id.clone();
        run.decide(&Verdicts::Each([(call, (false, Some("too dear".to_owned())))].into()), false);
        run.status = "running".to_owned();
        run.since = Some(clock::now());
        (run.events.split_off(run.pause() + 2), std::mem::take(&mut run.rows))
    });
    let (events, rows) = written.unwrap();
    let looked = || reached.house.seen.lock().unwrap().iter().filter(|line| line.contains("/events")).count();
    let writing = async {
        while looked() < 2 {
            tokio::task::yield_now().await;
        }
        reached.with_run(&id, |run| {
            run.events.extend(events);
            run.rows = rows;
        });
    };

    let (action, ()) = tokio::join!(get(&source, &id), writing);

    assert_eq!((action.row.status, action.reason), (Status::Rejected, Some("too dear".into())));
}
