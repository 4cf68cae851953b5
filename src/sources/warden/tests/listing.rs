//! Lists and names.

use super::*;
use crate::config::ReviewKind;
use crate::domain::On;

#[tokio::test]
async fn held_outputs_and_arguments_have_different_notes() {
    let engine = Engine::new();
    let (draft, send) = (engine.hold("reason", ENVELOPE), engine.hold("commit", ARGUMENTS));
    let source = source(&engine).await;

    let rows = rows(&source).await;
    let (draft, send) = (load(&source, &draft).await, load(&source, &send).await);

    assert_eq!(rows, [send.row.clone(), draft.row.clone()], "newest first");
    assert_eq!(draft.input.as_str(), r#"{"title":"Refund","amount":1.10,"n":18446744073709551616}"#);
    assert_eq!(send.input.as_str(), ARGUMENTS);
    assert_eq!(draft.row.title, "Step draft Refund · 1.10 · answer-d-draft@0.3.0 (draft)".into());
    assert_eq!(draft.row.batch.as_ref().unwrap().as_raw(), "answer-d-draft@0.3.0/draft");
    assert_eq!(draft.row.agent, Some("desk-worker@2.1.0".into()));
    let told = |action: &PendingAction| {
        let told = action.row.can.told();
        told.into_iter().map(|(_, words)| words.into_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        told(&draft),
        [
            "output, held before it merges",
            "tools may already have run",
            "this backend records nobody: who decided is kept here only",
            "it may not return on this engine version",
        ]
    );
    assert_eq!(
        told(&send),
        [
            "arguments, not run yet",
            "the engine names no tool: the name is the step's",
            "this backend records nobody: who decided is kept here only",
            "no edits on commit steps",
            "steps that completed before it are undone, where they say how",
        ]
    );
    assert!(draft.row.can.retry && !send.row.can.retry);
}

#[tokio::test]
async fn list_is_read_whole_while_rows_leave() {
    let engine = Engine::new();
    let ids: Vec<ActionId> = (0..1_000).map(|_| engine.hold("commit", ARGUMENTS)).collect();
    // The newest rows leave, so the rest moves up across the page boundary.
    engine.books().leaves_while_paging = ids.iter().rev().take(40).cloned().collect();
    let source = source(&engine).await;

    let listed: std::collections::HashSet<ActionId> =
        rows(&source).await.into_iter().map(|row| row.id).collect();

    assert!(ids[..960].iter().all(|id| listed.contains(id)), "{} are missing", 960 - listed.len());
}

#[tokio::test]
async fn short_page_is_not_the_last_page() {
    let engine = Engine::new();
    (0..70).for_each(|_| drop(engine.hold("commit", ARGUMENTS)));
    engine.books().page = Some(20);
    let source = source(&engine).await;

    assert_eq!(rows(&source).await.len(), 70);
}

#[tokio::test]
async fn only_configured_steps_are_listed() {
    let engine = Engine::new();
    let (a, b) = (engine.hold("reason", ENVELOPE), engine.hold("commit", ARGUMENTS));
    let other = engine.hold("commit", ARGUMENTS);
    engine.with(&other, |step| step.namespace = "team/b".to_owned());
    let other = ActionId::new(format!("team/b/{}", other.as_raw().trim_start_matches("default/")));
    let url = serve_engine(&engine).await;
    let trace = a.as_raw().split('/').nth(1).map(str::to_owned);
    let all = config::Warden::default();
    for (filter, want) in [
        (all.clone(), vec![&other, &b, &a]),
        (config::Warden { namespace: Some("team/b".to_owned()), ..all.clone() }, vec![&other]),
        (config::Warden { trace_id: trace, ..all.clone() }, vec![&a]),
        (config::Warden { review: Some(ReviewKind::Commit), ..all.clone() }, vec![&other, &b]),
        (config::Warden { review: Some(ReviewKind::Reason), ..all }, vec![&a]),
    ] {
        let source = opened(&engine, &url, filter.clone());
        let listed: Vec<ActionId> = rows(&source).await.into_iter().map(|row| row.id).collect();

        assert_eq!(listed.iter().collect::<Vec<_>>(), want, "{filter:?}");
    }
    let source = opened(&engine, &url, config::Warden::default());
    assert_eq!(
        decide(&source, &other, Decision::APPROVE).await,
        Outcome::Accepted,
        "sent with its namespace"
    );
}

#[tokio::test]
async fn missing_name_hides_no_row() {
    let engine = Engine::new();
    engine.hold("reason", ENVELOPE);
    engine.books().nameless = true;
    let source = source(&engine).await;

    let before = rows(&source).await;
    engine.books().nameless = false;
    let after = rows(&source).await;
    let asked = engine.books().log.len();
    rows(&source).await;

    assert_eq!(before[0].title, "Step draft Refund · 1.10 · desk-worker@2.1.0 (draft)".into());
    assert_eq!(after[0].title, "Step draft Refund · 1.10 · answer-d-draft@0.3.0 (draft)".into());
    assert_eq!(engine.books().log.len(), asked + 1, "known names are not requested again");
}

#[tokio::test]
async fn unreadable_step_is_listed_and_can_be_rejected() {
    let engine = Engine::new();
    let good = engine.hold("reason", ENVELOPE);
    let broken = engine.hold("reason", ENVELOPE);
    let nameless = engine.hold("reason", ENVELOPE);
    let place = broken.as_raw().split('/').map(str::to_owned).collect::<Vec<_>>();
    let text = format!(
        r#"{{"namespace":"default","saga_trace_id":"{}","step_span_id":"{}","step_kind":"dream"}}"#,
        place[1], place[2]
    );
    engine.with(&broken, |step| step.broken = Some(text));
    engine.with(&nameless, |step| step.broken = Some("17".to_owned()));
    let source = source(&engine).await;

    let Synced::All { rows, unreadable, .. } = source.sync(None).await.unwrap() else { panic!() };

    assert_eq!(rows.iter().map(|row| &row.id).collect::<Vec<_>>(), [&good]);
    let whats: Vec<_> = unreadable.iter().map(|bad| (bad.what, bad.id.clone())).collect();
    assert_eq!(whats, [("it is no JSON object", None), ("it has no review_payload", Some(broken.clone())),]);
    let stand_in = unreadable[1].stand_in();
    let key = ActionKey { source: source.name().clone(), id: broken.clone() };
    let staged = Staged {
        decision: reject("unreadable"),
        batch: BatchKey::Alone(key.clone()),
        digest: Some(stand_in.digest()),
        terms: None,
        at: Timestamp::default(),
    };
    let loaded = HashMap::from([(key.clone(), stand_in)]);
    let submission =
        freeze(SubmissionId::new("sub"), [(&key, &staged)], &loaded, |_| 1, Timestamp::default());
    let outcomes = source.submit(&submission.unwrap().batches()[0], KEY).await.unwrap();
    assert_eq!(outcomes, [(broken, Outcome::Accepted)]);
}

#[tokio::test]
async fn unknown_fields_and_words_do_not_hide_a_step() {
    let engine = Engine::new();
    let id = engine.hold("reason", ENVELOPE);
    engine.with(&id, |step| step.more = r#","tool_name":"x","risk":"spicy","has_children":true"#);
    let source = source(&engine).await;

    assert_eq!(rows(&source).await.len(), 1);
    engine.with(&id, |step| step.status = "SIMMERING".to_owned());
    assert_eq!(load(&source, &id).await.row.status, Status::parse("SIMMERING"));
}

#[tokio::test]
async fn context_shows_run_steps_facts_and_arguments() {
    let engine = Engine::new();
    let id = engine.hold("reason", ENVELOPE);
    engine.with(&id, |step| {
        step.guidance = Some("warmer".to_owned());
        step.retries = (1, 1);
    });
    let source = source(&engine).await;
    rows(&source).await;

    let passages = source.abilities().context.unwrap().context(&id, &[]).await.unwrap();

    let text = format!("{passages:?}");
    for part in ["facts, found by tools", r#"{"order":7,"total":1.10}"#, "1 of 1", "warmer", "ticket"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    for part in ["answer-d-draft@0.3.0", "AWAITING_HUMAN (this one)", "steps of the run", "reply.j2"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let can = load(&source, &id).await.row.can;
    assert!(!can.retry, "the limit is known");
    assert!(can.told().iter().any(|(on, words)| *on == On::Retry && words == "its retry limit is reached"));
}

#[tokio::test]
async fn doctor_says_that_anyone_with_access_can_decide() {
    use crate::domain::Verdict;
    let engine = Engine::new();
    engine.hold("reason", ENVELOPE);
    let told =
        |checks: Vec<Check>| checks.into_iter().map(|check| (check.what, check.verdict)).collect::<Vec<_>>();

    let good = told(source(&engine).await.checked().await);
    let far = opened(&engine, "http://203.0.113.7:9", config::Warden::default());
    let down = told(opened(&engine, &nobody().await, config::Warden::default()).checked().await);

    let (ok, bad) = (Verdict::Good, Verdict::Bad);
    assert_eq!(good, [("way", ok), ("health", ok), ("list", ok), ("definitions", ok)]);
    assert_eq!(down, [("way", ok), ("health", bad)]);
    let SourceConfig { name, .. } = SourceConfig::of("sagas", SourceKind::Gate, "");
    assert_eq!(far.name(), &name);
}

#[tokio::test]
async fn mistyped_id_hides_no_other_action() {
    for later in [false, true] {
        let engine = Engine::new();
        engine.books().later = later;
        let id = engine.hold("reason", ENVELOPE);
        let source = source(&engine).await;
        let typed = |id: &str| ActionId::new(id);
        let cut = id.as_raw().strip_suffix('0').unwrap();

        let ids = [typed(cut), id.clone(), typed("default/4bf9/00f0"), typed("default/xyz/1")];
        let found = source.get(&ids).await.unwrap();

        let found: Vec<_> = found.into_iter().map(|one| one.unwrap().row.id).collect();
        assert_eq!(found, [id], "later: {later}");
    }
}

#[tokio::test]
async fn lists_and_errors_of_later_revisions_are_read() {
    let engine = Engine::new();
    engine.books().later = true;
    let ids: Vec<ActionId> = (0..130).map(|_| engine.hold("reason", ENVELOPE)).collect();
    let source = source(&engine).await;
    assert_eq!(rows(&source).await.len(), 130);
    engine.with(&ids[0], |step| step.retries = (1, 1));

    let refused = decide(&source, &ids[0], retry("warmer")).await;
    let action = load(&source, &ids[1]).await;
    engine.with(&ids[1], |step| step.status = "COMPLETED".to_owned());
    let late = send(&source, &action, Decision::APPROVE).await;

    let Outcome::Failed { why } = &refused else { panic!("{refused:?}") };
    assert_eq!(why.as_raw(), "HTTP 409: HITL manual retry limit reached (1 of 1 used).");
    assert!(rows(&source).await.iter().any(|row| row.id == ids[0] && !row.can.retry), "no retry is left");
    assert_eq!(late, Ok(skipped(Status::Executed)));
}
