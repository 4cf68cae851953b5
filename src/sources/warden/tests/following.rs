//! The course of an accepted decision.

use super::*;
use crate::contract::time;

#[tokio::test]
async fn queued_decision_hides_its_row_for_half_a_minute() {
    let engine = Engine::new();
    let id = engine.hold("reason", ENVELOPE);
    let other = engine.hold("reason", ENVELOPE);
    let source = source(&engine).await;
    engine.books().stalled = true;
    let action = load(&source, &id).await;
    assert_eq!(send(&source, &action, Decision::APPROVE).await, Ok(Outcome::Accepted));

    let ids = |rows: Vec<Row>| rows.into_iter().map(|row| row.id).collect::<Vec<_>>();
    assert_eq!(ids(rows(&source).await), std::slice::from_ref(&other));
    let sent = load(&source, &id).await;
    assert_eq!(
        (sent.row.status, sent.error),
        (Status::Pending, None),
        "the engine still lists it as pending"
    );
    let again = send(&source, &action, Decision::APPROVE).await.unwrap();
    assert_eq!(again, Outcome::Failed { why: "a decision from here is on its way to the engine".into() });

    engine.pass(30);
    let listed = rows(&source).await;
    assert_eq!(ids(listed.clone()), [other, id.clone()]);
    let told = listed[1].can.told();
    assert!(told.iter().any(|(_, words)| words.contains("check its workers")), "{told:?}");
    let stale = load(&source, &id).await;
    assert_eq!(stale.row.status, Status::Pending);
    assert!(stale.error.unwrap().as_raw().contains("check its workers"));
    assert_eq!(engine.posts().len(), 1);
}

#[tokio::test]
async fn accepted_decision_is_followed_to_every_end() {
    let policy = r#"{"code":"POLICY_REASON_DENIED","message":"amount too high"}"#;
    let broken = r#"{"code":"POLICY_EVALUATION_FAILED","message":"no such field"}"#;
    let crash = r#"{"code":"commit_output_not_object","tool":"echo"}"#;
    let engine = Engine::new();
    let source = source(&engine).await;
    for (kind, payload, breaks, decision, status, error) in [
        ("reason", ENVELOPE, None, Decision::APPROVE, Status::Executed, None),
        ("commit", ARGUMENTS, None, Decision::APPROVE, Status::Executed, None),
        ("commit", ARGUMENTS, None, reject("no"), Status::Rejected, None),
        (
            "reason",
            ENVELOPE,
            Some(policy),
            Decision::APPROVE,
            Status::Failed,
            Some("denied by a policy: POLICY_REASON_DENIED: amount too high"),
        ),
        (
            "reason",
            ENVELOPE,
            Some(broken),
            Decision::APPROVE,
            Status::Failed,
            Some(
                "a policy could not be evaluated, which is no denial: POLICY_EVALUATION_FAILED: no such field",
            ),
        ),
        (
            "commit",
            ARGUMENTS,
            Some(crash),
            Decision::APPROVE,
            Status::Failed,
            Some("commit_output_not_object: in echo"),
        ),
    ] {
        let id = engine.hold(kind, payload);
        engine.with(&id, |step| step.breaks = breaks);
        let action = load(&source, &id).await;
        assert_eq!(send(&source, &action, decision).await, Ok(Outcome::Accepted));
        engine.work();

        let after = load(&source, &id).await;

        assert_eq!((after.row.status.clone(), after.error.clone()), (status, error.map(Untrusted::from)));
        assert_eq!(after.digest(), action.digest(), "the digest is unchanged");
        assert_eq!(after.row.title, action.row.title);
        let result = after.result.map(|result| result.as_str().to_owned());
        let want = match (&after.row.status, kind) {
            (Status::Executed, "reason") => Some(ENVELOPE.to_owned()),
            (Status::Executed, _) => Some(r#"{"data":{"number":41}}"#.to_owned()),
            _ => None,
        };
        assert_eq!(result, want);
    }
}

#[tokio::test]
async fn rejections_are_distinguished_from_failures() {
    let engine = Engine::new();
    let id = engine.hold("reason", ENVELOPE);
    let source = source(&engine).await;
    for (status, details, want) in [
        ("FAILED", r#"{"code":"HUMAN_REJECTED"}"#, Status::Rejected),
        ("FAILED", r#"{"reason":"operator rejected"}"#, Status::Rejected),
        ("FAILED", r#"{"code":"REVIEWER_REJECTED","message":"m"}"#, Status::Rejected),
        ("FAILED", "null", Status::Failed),
        ("FAILED", r#"{"code":"OUTPUT_SCHEMA_VALIDATION_FAILED"}"#, Status::Failed),
        ("REJECTED", "null", Status::Rejected),
        ("TIMED_OUT", "null", Status::Failed),
        ("COMPENSATING", "null", Status::Running),
        ("COMPENSATED", "null", Status::Other("compensated".into())),
        ("CANCELLED", "null", Status::Other("CANCELLED".into())),
    ] {
        engine.with(&id, |step| {
            step.status = status.to_owned();
            step.failure = Some(details.to_owned());
        });
        assert_eq!(load(&source, &id).await.row.status, want, "{status} {details}");
    }
}

#[tokio::test]
async fn trap_lost_retried_step_is_reported_after_two_minutes() {
    let engine = Engine::new();
    let id = engine.hold("reason", ENVELOPE);
    engine.with(&id, |step| step.started -= 9_000_000);
    let source = source(&engine).await;
    assert_eq!(decide(&source, &id, retry("warmer")).await, Outcome::Accepted);
    engine.work();

    engine.pass(119);
    let before = load(&source, &id).await;
    engine.pass(1);
    let after = load(&source, &id).await;

    assert_eq!((before.row.status, before.error), (Status::Running, None));
    assert_eq!(after.row.status, Status::Unknown);
    assert!(after.error.unwrap().as_raw().contains("an operator's retry-step does not help"));
}

#[tokio::test]
async fn retried_step_that_returns_is_another_action() {
    let engine = Engine::new();
    engine.books().mended = true;
    let id = engine.hold("reason", ENVELOPE);
    let source = source(&engine).await;
    let seen = load(&source, &id).await;
    assert_eq!(send(&source, &seen, retry("warmer")).await, Ok(Outcome::Accepted));
    assert_eq!(rows(&source).await, []);
    engine.work();

    let back = rows(&source).await;
    let again = load(&source, &id).await;

    assert_eq!(back.iter().map(|row| &row.id).collect::<Vec<_>>(), [&id]);
    assert_ne!(back[0].created_at, seen.row.created_at);
    assert_eq!(again.digest(), seen.digest(), "the content may be the same");
    assert_ne!(again.terms, seen.terms, "the terms differ per holding");
    assert_eq!(send(&source, &again, Decision::APPROVE).await, Ok(Outcome::Accepted));
}

#[tokio::test]
async fn plain_approval_is_not_ours_with_another_output() {
    let engine = Engine::new();
    let id = engine.hold("reason", ENVELOPE);
    let source = source(&engine).await;
    assert_eq!(decide(&source, &id, Decision::APPROVE).await, Outcome::Accepted);
    for (output, want) in [
        (ENVELOPE.to_owned(), None),
        (ENVELOPE.replace("1.10", "1.1"), None),
        (r#"{"data":{"title":"Edited"}}"#.to_owned(), Some(false)),
        (ENVELOPE.replacen(r#"{"title""#, r#"{"title":"Old","title""#, 1), None),
        (r#"{"data":"Edited"}"#.to_owned(), Some(false)),
    ] {
        engine.with(&id, |step| (step.status, step.output) = ("COMPLETED".to_owned(), Some(output.clone())));
        let action = load(&source, &id).await;
        assert_eq!(source.ours(&action, &Decision::APPROVE, KEY), want, "{output}");
        assert_eq!(source.ours(&action, &reject("no"), KEY), None, "{output}");
    }
}

/// The answer was lost, and another reviewer approved the agent's output.
#[tokio::test]
async fn lost_approval_with_edits_is_not_ours_with_another_output() {
    let engine = Engine::new();
    let id = engine.hold("reason", ENVELOPE);
    let source = source(&engine).await;
    let asked = edits(
        r#"{"title":"Refund at once","amount":2.50,"n":18446744073709551617,"tags":["a",{"x":1e1,"y":"\u00e9"}]}"#,
    );
    let merged = |output: &str| {
        engine
            .with(&id, |step| (step.status, step.output) = ("COMPLETED".to_owned(), Some(output.to_owned())));
    };
    let same = r#"{"n":18446744073709551617,"more":null,"tags":["a",{"y":"é","x":10.0}],"amount":2.5,"title":"Refund at once"}"#;
    for (output, want) in [
        (ENVELOPE.to_owned(), Some(false)),
        (format!(r#"{{"data":{same}}}"#), None),
        (format!(r#"{{"data":{}}}"#, same.replace("2.5", "2.51")), Some(false)),
        (format!(r#"{{"data":{}}}"#, same.replace("617", "616")), Some(false)),
        (format!(r#"{{"data":{}}}"#, same.replace("10.0", "true")), Some(false)),
        (format!(r#"{{"data":{}}}"#, same.replace(r#"["a","#, r#"["a","a","#)), Some(false)),
        (format!(r#"{{"data":{}}}"#, same.replace(r#","x":"#, r#","z":1,"x":"#)), Some(false)),
        (format!(r#"{{"data":{}}}"#, same.replace("\"title\"", "\"Title\"")), Some(false)),
        (r#"{"data":[]}"#.to_owned(), Some(false)),
        ("{}".to_owned(), None),
        ("null".to_owned(), None),
    ] {
        merged(&output);
        let action = load(&source, &id).await;
        assert_eq!(action.row.status, Status::Executed);
        assert_eq!(source.ours(&action, &asked, KEY), want, "{output}");
        assert_eq!(
            source.ours(&action, &Decision::APPROVE, KEY),
            None,
            "plain approvals cannot be distinguished"
        );
    }
    merged(ENVELOPE);
    for (status, kind) in [("IN_PROGRESS", "reason"), ("FAILED", "reason"), ("COMPLETED", "commit")] {
        engine.with(&id, |step| (step.status, step.kind) = (status.to_owned(), kind));
        assert_eq!(source.ours(&load(&source, &id).await, &asked, KEY), None, "{status} {kind}");
    }
}

#[tokio::test]
async fn failed_undo_is_reported_with_its_rejection() {
    let engine = Engine::new();
    let id = engine.hold("commit", ARGUMENTS);
    let source = source(&engine).await;
    let action = load(&source, &id).await;
    assert_eq!(send(&source, &action, reject("no")).await, Ok(Outcome::Accepted));
    engine.work();
    let undo = |status: &str| {
        let trace = engine.with(&id, |step| step.trace.clone());
        let started = time::write(engine.clock().0());
        let item = format!(
            r#"{{"step_span_id":"00000000000000f1","step_name":"Book","status":"{status}","compensates_span_id":"00000000000000e0","started_at":"{started}","error_details":null}}"#
        );
        engine.books().undo = vec![(trace, item)];
    };

    undo("COMPENSATING");
    let running = load(&source, &id).await;
    undo("FAILED");
    let failed = load(&source, &id).await;
    undo("COMPENSATED");
    let undone = load(&source, &id).await;

    assert_eq!((running.row.status, running.error, running.goes_on), (Status::Rejected, None, true));
    assert_eq!((failed.row.status, failed.goes_on), (Status::Rejected, false));
    let error = failed.error.unwrap();
    assert!(error.as_raw().starts_with("the undo of \"Book\" failed"), "{error:?}");
    assert!(error.as_raw().contains("/steps/00000000000000f1/retry-compensation"), "{error:?}");
    assert_eq!((undone.error, undone.goes_on), (None, false));
}
