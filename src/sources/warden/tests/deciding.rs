//! Decisions: requests, refusals, and the meaning of answers.

use super::*;
use crate::sources::warden::step_id::Verb;

fn body(engine: &Engine) -> String {
    engine.posts().pop().unwrap().1
}

fn post_of(id: &ActionId, verb: &str) -> String {
    let parts: Vec<&str> = id.as_raw().split('/').collect();
    format!("/v1/sagas/{}/steps/{}/{verb}", parts[1], parts[2])
}

#[tokio::test]
async fn trap_approval_without_edits_sends_no_output() {
    let engine = Engine::new();
    let ids = [engine.hold("reason", ENVELOPE), engine.hold("commit", ARGUMENTS)];
    let source = source(&engine).await;

    for id in &ids {
        assert_eq!(decide(&source, id, Decision::APPROVE).await, Outcome::Accepted);
        assert_eq!(body(&engine), r#"{"decision":"APPROVE"}"#);
    }

    engine.work();
    assert_eq!(engine.with(&ids[0], |step| step.output.clone()).unwrap(), ENVELOPE);
}

#[tokio::test]
async fn trap_edit_sends_the_whole_envelope_with_unchanged_facts() {
    let engine = Engine::new();
    let with_facts = engine.hold("reason", ENVELOPE);
    let without = engine.hold("reason", r#"{"data":{"title":"Refund"}}"#);
    let source = source(&engine).await;

    let first = decide(&source, &with_facts, edits(r#"{"title":"Refund 7"}"#)).await;
    let sent = body(&engine);
    let second = decide(&source, &without, edits(r#"{"title":"x","note":1.50}"#)).await;

    assert_eq!([first, second], [Outcome::Accepted, Outcome::Accepted]);
    assert_eq!(
        sent,
        r#"{"decision":"APPROVE","output":{"data": {"title":"Refund 7","amount":1.10,"n":18446744073709551616}, "facts":{"order":7,"total":1.10}}}"#
    );
    assert_eq!(body(&engine), r#"{"decision":"APPROVE","output":{"data":{"title":"x","note":1.50}}}"#);
}

#[tokio::test]
async fn uneditable_steps_refuse_edits_before_sending() {
    let engine = Engine::new();
    let ids = [
        engine.hold("commit", ARGUMENTS),
        engine.hold("reason", r#"{"data":"just a sentence"}"#),
        engine.hold("reason", r#"{"title":"no envelope"}"#),
    ];
    let source = source(&engine).await;
    for id in ids {
        let action = load(&source, &id).await;
        let refused = frozen(&source, &[(action, edits(r#"{"title":"x"}"#))]).unwrap_err();

        assert!(matches!(refused, Refusal::EditsUnsupported(_)), "{refused:?}");
        assert_eq!(decide(&source, &id, Decision::APPROVE).await, Outcome::Accepted);
    }
    assert!(engine.posts().iter().all(|(_, body)| body == r#"{"decision":"APPROVE"}"#));
}

#[tokio::test]
async fn rejection_has_code_message_and_mark() {
    let engine = Engine::new();
    let (id, other) = (engine.hold("commit", ARGUMENTS), engine.hold("commit", ARGUMENTS));
    let source = source(&engine).await;

    let outcome = decide(&source, &id, reject("wrong \"channel\"\n")).await;

    let mark = wire::mark(KEY, &id);
    assert_eq!(outcome, Outcome::Accepted);
    assert_eq!(
        body(&engine),
        format!(
            r#"{{"decision":"REJECT","error_details":{{"code":"REVIEWER_REJECTED","message":"wrong \"channel\"\n","ref":"{mark}"}}}}"#
        )
    );
    engine.work();
    let rejected = load(&source, &id).await;
    assert_eq!(rejected.row.status, Status::Rejected);
    assert_eq!(rejected.reason, Some("wrong \"channel\"\n".into()));
    let decision = reject("whatever");
    assert_eq!(source.ours(&rejected, &decision, KEY), Some(true));
    assert_eq!(source.ours(&rejected, &decision, "another:0"), Some(false), "another mark is not ours");
    assert_eq!(source.ours(&load(&source, &other).await, &decision, KEY), None);
}

#[tokio::test]
async fn retry_has_guidance_and_its_own_token() {
    let engine = Engine::new();
    let id = engine.hold("reason", ENVELOPE);
    let source = source(&engine).await;

    let outcome = decide(&source, &id, retry("Say it warmer.")).await;

    let mark = wire::mark(KEY, &id);
    assert_eq!(outcome, Outcome::Accepted);
    assert!((8..=128).contains(&mark.len()));
    let (line, body) = engine.posts().pop().unwrap();
    assert!(line.ends_with("/retry?namespace=default"), "{line}");
    assert_eq!(body, format!(r#"{{"guidance":"Say it warmer.","retry_token":"{mark}"}}"#));
    engine.work();
    let running = load(&source, &id).await;
    assert_eq!(running.row.status, Status::Running);
    assert_eq!(source.ours(&running, &retry("Say it warmer. "), KEY), Some(true));
    assert_eq!(source.ours(&running, &retry("Say it shorter."), KEY), Some(false));
}

#[tokio::test]
async fn reached_retry_limit_is_reported_and_disables_retry() {
    let engine = Engine::new();
    let id = engine.hold("reason", ENVELOPE);
    engine.with(&id, |step| step.retries = (1, 1));
    let source = source(&engine).await;
    assert!(load(&source, &id).await.row.can.retry);

    let outcome = decide(&source, &id, retry("again")).await;

    let why = "HTTP 409: HITL manual retry limit reached (1 of 1 used).";
    assert_eq!(outcome, Outcome::Failed { why: why.into() });
    let row = rows(&source).await.remove(0);
    let can = row.can;
    assert!(!can.retry && can.told().iter().any(|(_, words)| words == "its retry limit is reached"));
    assert_eq!(decide(&source, &id, Decision::APPROVE).await, Outcome::Accepted, "the key is unused");
}

#[tokio::test]
async fn invalid_guidance_is_not_sent() {
    let engine = Engine::new();
    let id = engine.hold("reason", ENVELOPE);
    let source = source(&engine).await;

    let outcome = decide(&source, &id, retry(&"é".repeat(4_097))).await;

    assert!(matches!(outcome, Outcome::Failed { .. }), "{outcome:?}");
    assert_eq!(engine.posts(), []);
}

/// Another reviewer was first, but the engine still lists the step as pending.
#[tokio::test]
async fn trap_already_queued_does_not_count_as_ours() {
    let engine = Engine::new();
    let ids = [engine.hold("reason", ENVELOPE), engine.hold("commit", ARGUMENTS)];
    let (ours, theirs) = (source(&engine).await, source(&engine).await);
    engine.books().stalled = true;
    for id in &ids {
        assert_eq!(decide(&theirs, id, reject("no")).await, Outcome::Accepted);
    }

    let waiting = decide(&ours, &ids[0], Decision::APPROVE).await;
    let action = load(&ours, &ids[1]).await;
    let submission = frozen(&ours, &[(action, Decision::APPROVE)]).unwrap();
    engine.books().stalled = false;
    let settled = ours.submit(&submission.batches()[0], KEY).await.unwrap().remove(0).1;

    assert_eq!(waiting, skipped(Status::Other("decided before, not taken by the engine yet".into())));
    assert_eq!(settled, skipped(Status::Rejected), "the decision was taken");
    assert_eq!(engine.books().taken[&ids[0]], 1);
    let row = rows(&ours).await;
    assert!(row.is_empty(), "{row:?}");
    for id in &ids {
        assert_eq!(load(&ours, id).await.row.status, Status::Rejected);
    }
}

/// The engine requeues the first decision and drops ours.
#[tokio::test]
async fn trap_requeued_is_the_first_decision_not_ours() {
    let engine = Engine::new();
    let id = engine.hold("reason", ENVELOPE);
    let (ours, theirs) = (source(&engine).await, source(&engine).await);
    engine.books().stalled = true;
    decide(&theirs, &id, reject("no")).await;
    engine.with(&id, |step| step.first.as_mut().unwrap().failed = true);

    let outcome = decide(&ours, &id, Decision::APPROVE).await;

    assert_eq!(outcome, skipped(Status::Other("an earlier decision runs now, not this one".into())));
    engine.with(&id, |step| step.first.as_mut().unwrap().failed = true);
    engine.pass(31);
    assert_eq!(
        decide(&theirs, &id, reject("no")).await,
        Outcome::Accepted,
        "an identical decision is accepted"
    );
}

/// An approval during a queued retry uses up the step's key, so the step cannot be decided any more.
#[tokio::test]
async fn trap_approval_during_a_queued_retry_is_reported_as_dropped() {
    let engine = Engine::new();
    let id = engine.hold("reason", ENVELOPE);
    let (ours, theirs) = (source(&engine).await, source(&engine).await);
    engine.books().stalled = true;
    assert_eq!(decide(&theirs, &id, retry("warmer")).await, Outcome::Accepted);

    assert_eq!(decide(&ours, &id, Decision::APPROVE).await, Outcome::Accepted, "the engine answers 202");

    engine.work();
    let action = load(&ours, &id).await;
    assert_eq!(action.row.status, Status::Running, "the retry was taken");
    assert_eq!(action.result, None);
    engine.pass(121);
    assert_eq!(load(&ours, &id).await.row.status, Status::Unknown);
}

/// A retried commit step is held again. The decision on the earlier holding is lost, and later ones are not taken.
#[tokio::test]
async fn trap_dropped_decision_is_reported_when_held_again() {
    let engine = Engine::new();
    let source = source(&engine).await;
    for (kind, payload, first) in [
        ("commit", ARGUMENTS, Decision::APPROVE),
        ("commit", ARGUMENTS, reject("no")),
        ("reason", ENVELOPE, Decision::APPROVE),
    ] {
        let id = engine.hold(kind, payload);
        let (path, body) = (post_of(&id, "retry"), r#"{"retry_token":"their-retry"}"#);
        engine.books().stalled = true;
        engine.books().mended = true;
        let action = load(&source, &id).await;
        assert_eq!(engine.answer("POST", &path, "namespace=default", body).0, 202);
        assert_eq!(send(&source, &action, first).await, Ok(Outcome::Accepted), "the engine answers 202");
        engine.pass(1);
        engine.work();

        let anew = load(&source, &id).await;
        let listed = rows(&source).await;
        let told = listed.iter().find(|row| row.id == id).unwrap().can.told();
        let further =
            [decide(&source, &id, Decision::APPROVE).await, decide(&source, &id, reject("no")).await];

        assert_eq!(anew.row.status, Status::Pending);
        assert_ne!(anew.terms, action.terms);
        let error = anew.error.unwrap();
        assert!(
            error.as_raw().contains("dropped the decision") && error.as_raw().contains("used up"),
            "{error:?}"
        );
        assert!(told.iter().any(|(_, words)| words.contains("dropped")), "{told:?}");
        for outcome in further {
            let why = match outcome {
                Outcome::Failed { why } => why,
                other => panic!("{other:?}"),
            };
            assert!(why.as_raw().contains("no later decision on it will be taken"), "{why:?}");
        }
        assert!(load(&source, &id).await.error.is_some(), "later attempts do not clear the error");
    }
}

/// A retry has its own key and is taken. The decision's key stays used.
#[tokio::test]
async fn retry_does_not_clear_a_dropped_decision() {
    let engine = Engine::new();
    engine.books().mended = true;
    let id = engine.hold("reason", ENVELOPE);
    engine.with(&id, |step| step.retries.1 = 2);
    let source = source(&engine).await;
    engine.books().stalled = true;
    let action = load(&source, &id).await;
    engine.answer("POST", &post_of(&id, "retry"), "namespace=default", r#"{"retry_token":"their-retry"}"#);
    assert_eq!(send(&source, &action, Decision::APPROVE).await, Ok(Outcome::Accepted));
    engine.pass(1);
    engine.work();

    assert_eq!(decide(&source, &id, retry("warmer")).await, Outcome::Accepted);
    let queued = load(&source, &id).await;
    engine.pass(1);
    engine.work();
    let anew = load(&source, &id).await;

    assert_eq!(queued.error, None, "the retry is on its way");
    assert!(anew.error.unwrap().as_raw().contains("used up"));
}

#[tokio::test]
async fn changed_step_is_not_decided() {
    let engine = Engine::new();
    let change: [fn(&mut engine::WaitingStep); 3] = [
        |step| step.payload = ENVELOPE.replace("Refund", "Refund twice"),
        |step| step.payload = ENVELOPE.replace(r#""order":7"#, r#""order":8"#),
        |step| step.started += 1,
    ];
    let source = source(&engine).await;
    for change in change {
        let id = engine.hold("reason", ENVELOPE);
        let action = load(&source, &id).await;
        engine.with(&id, change);

        let outcome = send(&source, &action, Decision::APPROVE).await.unwrap();

        assert!(matches!(&outcome, Outcome::Failed { why } if why.as_raw().starts_with("changed since")));
    }
    assert_eq!(engine.posts(), []);
}

#[tokio::test]
async fn settled_or_deleted_step_is_skipped() {
    let engine = Engine::new();
    let ids = [engine.hold("reason", ENVELOPE), engine.hold("reason", ENVELOPE)];
    let source = source(&engine).await;
    let actions = [load(&source, &ids[0]).await, load(&source, &ids[1]).await];
    engine.with(&ids[0], |step| step.status = "COMPLETED".to_owned());
    engine.books().steps.pop();

    let settled = send(&source, &actions[0], Decision::APPROVE).await.unwrap();
    let gone = send(&source, &actions[1], Decision::APPROVE).await.unwrap();

    assert_eq!(settled, skipped(Status::Executed));
    assert_eq!(gone, Outcome::Skipped { status: None, by: None });
    assert_eq!(engine.posts(), []);
}

#[tokio::test]
async fn batch_is_sent_singly_with_separate_outcomes() {
    let engine = Engine::new();
    let ids: Vec<ActionId> = (0..10).map(|_| engine.hold("commit", ARGUMENTS)).collect();
    let source = source(&engine).await;
    let mut decided = Vec::new();
    for (n, id) in ids.iter().enumerate() {
        decided.push((load(&source, id).await, if n % 2 == 0 { Decision::APPROVE } else { reject("odd") }));
    }
    let submission = frozen(&source, &decided[..9]).unwrap();
    assert_eq!(submission.batches().len(), 1, "one definition, one step");
    engine.with(&ids[3], |step| step.status = "COMPLETED".to_owned());

    let outcomes: HashMap<_, _> =
        source.submit(&submission.batches()[0], KEY).await.unwrap().into_iter().collect();

    assert_eq!(outcomes.len(), 9);
    assert_eq!(outcomes[&ids[3]], skipped(Status::Executed));
    assert_eq!(outcomes.values().filter(|outcome| **outcome == Outcome::Accepted).count(), 8);
    engine.work();
    let of = |id: &ActionId| engine.with(id, |step| step.status.clone());
    assert_eq!([of(&ids[0]), of(&ids[1]), of(&ids[9])], ["COMPLETED", "FAILED", "AWAITING_HUMAN"]);
}

#[tokio::test]
async fn only_decisions_and_retries_are_posted() {
    let engine = Engine::new();
    let source = source(&engine).await;
    let decisions = [Decision::APPROVE, reject("no"), retry("again"), edits(r#"{"title":"x"}"#)];
    for decision in decisions {
        let id = engine.hold("reason", ENVELOPE);
        rows(&source).await;
        decide(&source, &id, decision).await;
        engine.work();
        source.abilities().context.unwrap().context(&id, &[]).await.unwrap();
        load(&source, &id).await;
    }
    source.checked().await;
    let able = source.abilities();
    assert!(able.lookup.is_none() && able.resolve_unknown.is_none());

    let posts = engine.posts();
    let allowed = |line: &str| {
        let path = line.split('?').next().unwrap();
        path.starts_with("POST /v1/sagas/") && (path.ends_with("/decision") || path.ends_with("/retry"))
    };
    assert!(posts.iter().all(|(line, _)| allowed(line)), "{posts:?}");
    assert_eq!(posts.len(), 4);
    assert_eq!([Verb::Decision, Verb::Retry].map(Verb::word), ["decision", "retry"]);
}

/// Two opposite decisions within milliseconds are both queued. One is taken, the other silently dropped.
#[tokio::test]
async fn race_of_opposite_decisions_is_settled_by_the_steps_end() {
    for (ours, theirs) in [(reject("no"), Decision::APPROVE), (Decision::APPROVE, reject("no"))] {
        let engine = Engine::new();
        let id = engine.hold("commit", ARGUMENTS);
        let url = serve_engine(&engine).await;
        let open = || opened(&engine, &url, config::Warden::default());
        let (loser, winner) = (open(), open());
        let action = load(&loser, &id).await;
        engine.books().races = true;
        assert_eq!(send(&winner, &action, theirs.clone()).await, Ok(Outcome::Accepted));
        assert_eq!(send(&loser, &action, ours.clone()).await, Ok(Outcome::Accepted));
        engine.work();

        let after = load(&loser, &id).await;

        let asked = ours.kind();
        let came_to = Outcome::by_status(asked, &after.row.status, after.row.resolved_by.as_ref());
        assert!(matches!(came_to, Some(Outcome::Skipped { .. })), "{after:?}");
        assert_ne!(loser.ours(&after, &ours, "lost:0"), Some(true));
        assert_eq!(engine.posts().len(), 2);
    }
}

#[tokio::test]
async fn requeued_names_the_decision_that_runs_now() {
    let engine = Engine::new();
    let id = engine.hold("commit", ARGUMENTS);
    let url = serve_engine(&engine).await;
    let open = || opened(&engine, &url, config::Warden::default());
    let (first, other) = (open(), open());
    engine.books().stalled = true;
    assert_eq!(decide(&first, &id, Decision::APPROVE).await, Outcome::Accepted);
    engine.books().drop_queue();
    engine.pass(30);
    let fails = || engine.with(&id, |step| step.first.as_mut().unwrap().failed = true);

    fails();
    let from_here = decide(&first, &id, reject("no")).await;
    let words = "the earlier approval from here runs now, not this decision";
    assert_eq!(from_here, skipped(Status::Other(words.into())));
    assert!(rows(&first).await.is_empty(), "the decision is queued again");
    engine.books().drop_queue();
    fails();
    let elsewhere = decide(&other, &id, reject("no")).await;

    assert_eq!(elsewhere, skipped(Status::Other("an earlier decision runs now, not this one".into())));
    engine.work();
    assert_eq!(load(&first, &id).await.row.status, Status::Executed);
}
