//! Requests to a gate and the meaning of its answers.

use super::*;

#[tokio::test]
async fn batch_is_one_request_with_the_seen_digests() {
    let gate = Backend::default();
    let edits = Edits::new(RawJson::parse(r#"{"n":18446744073709551616}"#).unwrap()).unwrap();
    let edited = Decision::Approve { edits: Some(edits), comment: Some("go".to_owned()) };
    let rejected = Decision::Reject { reason: Some("no".to_owned()) };
    let batch = batch(Some("m:send/x"), &[("1", edited), ("2", rejected), ("3", Decision::APPROVE)]);
    gate.on("POST", "/api/pending-actions/batch/m%3Asend%2Fx/approve").reply(
        200,
        json!({"batchId": "m:send/x", "approved": 1, "rejected": 1, "skipped": 1, "failed": 0, "items": [
            {"pendingActionId": "1", "outcome": "approved", "status": "approved"},
            {"pendingActionId": "2", "outcome": "rejected", "status": "rejected"},
            {"pendingActionId": "3", "outcome": "skipped", "status": "expired", "resolvedBy": "clock"}]})
        .to_string(),
    );

    let outcomes = gate.source(SourceKind::Gate, Some("w")).await.submit(&batch, "key-1").await.unwrap();

    let want = [
        (id("1"), Outcome::Approved),
        (id("2"), Outcome::Rejected),
        (id("3"), skipped("expired", Some("clock"))),
    ];
    assert_eq!(outcomes, want);
    let sent = gate.requests();
    let (seen, after) =
        (Digest::of("t", "w", r#"{"n":1.10}"#), Digest::of("t", "w", r#"{"n":18446744073709551616}"#));
    assert_eq!(
        (sent[0].body.as_str(), sent[0].key.as_deref(), sent.len()),
        (
            format!(
                concat!(
                    r#"{{"items":[{{"pendingActionId":"1","userEdits":{{"n":18446744073709551616}},"expectedDigest":"{seen}","#,
                    r#""expectedEffectiveDigest":"{after}","reason":"go"}},"#,
                    r#"{{"pendingActionId":"2","exclude":true,"expectedDigest":"{seen}","reason":"no"}},"#,
                    r#"{{"pendingActionId":"3","expectedDigest":"{seen}","expectedEffectiveDigest":"{seen}"}}],"via":"shell"}}"#
                ),
                seen = seen,
                after = after
            )
            .as_str(),
            Some("key-1"),
            1
        )
    );
}

#[tokio::test]
async fn known_outcomes_are_understood_and_unknown_ones_read() {
    let gate = Backend::default();
    let ids = ["1", "2", "3", "4", "5"];
    let batch = batch(Some("b"), &ids.map(|id| (id, Decision::APPROVE)));
    gate.on("POST", "/api/pending-actions/batch/b/approve").reply(
        200,
        json!({"batchId": "b", "approved": 1, "rejected": 0, "skipped": 0, "failed": 3, "items": [
            {"pendingActionId": "1", "outcome": "changed"},
            {"pendingActionId": "2", "outcome": "invalid", "message": "n must be small"},
            {"pendingActionId": "3", "outcome": "missing"},
            {"pendingActionId": "4", "outcome": "frobnicated"}]})
        .to_string(),
    );
    gate.on("GET", "/api/pending-actions?ids=4%2C5&view=full&limit=5000").reply(
        200,
        format!(
            r#"{{"items":[{},{}]}}"#,
            fake::text("4", "{}", "executed"),
            fake::text("5", "{}", "pending")
        ),
    );

    let outcomes = gate.source(SourceKind::Gate, None).await.submit(&batch, "k").await.unwrap();

    let want = [
        failed(wire::CHANGED),
        failed("n must be small"),
        failed(wire::GONE),
        Outcome::Approved,
        failed("the source left it pending"),
    ];
    assert_eq!(outcomes, ids.map(id).into_iter().zip(want).collect::<Vec<_>>());
}

/// Returns the answer to an approval of action 1, which then has the approvals `by`.
fn after_approval(status: &str, by: &[&str], effective: &Digest) -> String {
    let given: Vec<_> = by
        .iter()
        .map(|by| json!({"by": by, "at": "2026-04-21T18:02:11.420Z", "effectiveDigest": effective.to_string()}))
        .collect();
    let mut action: Value = serde_json::from_str(&fake::text("1", "{}", status)).unwrap();
    action["approvals"] = json!({"given": by.len(), "needed": 2, "by": by});
    action["givenApprovals"] = json!(given);
    action.to_string()
}

#[tokio::test]
async fn partial_approval_reports_its_count() {
    let gate = Backend::default();
    let digest = Digest::of("t", "w", "{}");
    let items = json!([{"pendingActionId": "1", "outcome": "accepted", "status": "pending",
        "approvals": {"given": 1, "needed": 2}}]);
    let reply = json!({"batchId": "b", "approved": 0, "rejected": 0, "skipped": 0, "failed": 0, "accepted": 1, "items": items});
    gate.on("POST", "/api/pending-actions/batch/b/approve").reply(200, reply.to_string());
    gate.on("POST", "/api/pending-actions/1/approve")
        .reply(200, after_approval("pending", &["kim"], &digest));
    let source = gate.source(SourceKind::Gate, Some("w")).await;

    let in_batch = source.submit(&batch(Some("b"), &[("1", Decision::APPROVE)]), "k").await.unwrap();
    let alone = source.submit(&approve("1"), "k").await.unwrap();

    let partly = || [(id("1"), Outcome::PartlyApproved { given: 1, needed: 2 })];
    assert_eq!(in_batch, partly());
    assert_eq!(alone, partly());
}

#[tokio::test]
async fn action_names_its_approvers() {
    let gate = Backend::default();
    let me = r#"{"items":[{"id":"w","workspaceId":"w","subject":"kim","scopes":["decide"]}]}"#;
    gate.on("GET", "/api/workspaces").reply(200, me);
    let source = gate.source(SourceKind::Gate, Some("w")).await;
    // This request also asks for the token's subject.
    drop(source.get(&[id("1")]).await);
    let (mine, other) = (Digest::of("t", "w", "{}"), Digest::of("t", "w", r#"{"n":2}"#));

    for (status, by, effective, ours) in [
        ("pending", &["kim"][..], mine, Some(true)),
        ("pending", &["kim"][..], other, None),
        ("pending", &["lee"][..], mine, None),
        ("executed", &["kim", "lee"][..], mine, Some(true)),
        ("approved", &["ann", "lee"][..], mine, Some(false)),
    ] {
        let action = crate::contract::action::read(&after_approval(status, by, &effective)).unwrap();
        assert_eq!(source.ours(&action, &Decision::APPROVE, "k"), ours, "{status} {by:?}");
    }
}

#[tokio::test]
async fn refused_batch_says_why() {
    let gate = Backend::default();
    let refusal = r#"{"error":{"code":"INVALID_BATCH","message":"it crosses workspaces"}}"#;
    gate.always("POST", 409, refusal);
    let both = batch(Some("b"), &[("1", Decision::APPROVE), ("2", Decision::APPROVE)]);

    let outcomes = gate.source(SourceKind::Gate, None).await.submit(&both, "k").await;

    let why = || failed("it crosses workspaces");
    assert_eq!(outcomes, Ok(vec![(id("1"), why()), (id("2"), why())]));
}

#[tokio::test]
async fn action_without_a_batch_has_its_own_endpoints() {
    let gate = Backend::default();
    gate.on("POST", "/api/pending-actions/a%2Fb/approve").reply(200, fake::text("a/b", "{}", "approved"));
    gate.on("POST", "/api/pending-actions/2/reject")
        .reply(200, format!(r#"{{"item":{}}}"#, fake::text("2", "{}", "rejected")));
    gate.on("POST", "/api/pending-actions/3/approve").reply(202, String::new());
    let source = gate.source(SourceKind::Gate, Some("w")).await;

    let one = source.submit(&approve("a/b"), "k1").await.unwrap();
    let two = source.submit(&reject("2"), "k2").await.unwrap();
    let three = source.submit(&approve("3"), "k3").await.unwrap();

    assert_eq!(one, [(id("a/b"), Outcome::Approved)]);
    assert_eq!(two, [(id("2"), Outcome::Rejected)]);
    assert_eq!(three, [(id("3"), Outcome::Accepted)]);
    let seen = Digest::of("t", "w", r#"{"n":1.10}"#);
    let bodies: Vec<_> =
        gate.requests().into_iter().map(|request| (request.body, request.key.unwrap())).collect();
    assert_eq!(
        bodies[0].0,
        format!(r#"{{"expectedDigest":"{seen}","expectedEffectiveDigest":"{seen}","via":"shell"}}"#)
    );
    assert_eq!(bodies[1], (format!(r#"{{"expectedDigest":"{seen}","via":"shell"}}"#), "k2".to_owned()));
}

#[tokio::test]
async fn refusal_of_one_action_reports_its_state() {
    let invalid =
        r#"{"error":{"code":"INVALID_STATE","message":"m","status":"rejected","resolvedBy":"bob"}}"#;
    let read_later = r#"{"detail":"already resolved"}"#;
    let now = format!(r#"{{"items":[{}]}}"#, fake::text("1", "{}", "executed"));
    for (status, body, want) in [
        (409, invalid, skipped("rejected", Some("bob"))),
        (409, read_later, skipped("executed", None)),
        (412, "{}", failed(wire::CHANGED)),
        (
            412,
            r#"{"error":{"code":"CHANGED","message":"its expiry is another"}}"#,
            failed("its expiry is another"),
        ),
        (404, "{}", failed(wire::GONE)),
    ] {
        let gate = Backend::default();
        gate.always("GET", 200, &now);
        gate.on("POST", "/api/pending-actions/1/approve").reply(status, body.to_owned());

        let outcomes = gate.source(SourceKind::Gate, None).await.submit(&approve("1"), "k").await;

        assert_eq!(outcomes, Ok(vec![(id("1"), want)]), "{status} {body}");
    }
}

#[tokio::test]
async fn failed_request_says_if_it_may_have_landed() {
    for (status, want) in [
        (401, SourceError::Unauthorized),
        (403, SourceError::Forbidden { why: "HTTP 403: m".into() }),
        (422, SourceError::Refused { why: "HTTP 422: m".into() }),
        (429, SourceError::RateLimited { retry_after: None }),
        (500, SourceError::Unreachable { why: "HTTP 500: m".into() }),
        (503, SourceError::Unreachable { why: "HTTP 503: m".into() }),
    ] {
        for batch in [approve("1"), batch(Some("b"), &[("1", Decision::APPROVE)])] {
            let gate = Backend::default();
            gate.always("POST", status, r#"{"detail":"m"}"#);

            let error = gate.source(SourceKind::Gate, None).await.submit(&batch, "k").await.unwrap_err();

            assert_eq!(error, want);
            assert_eq!((error.lost_sight(), gate.requests().len()), (status >= 500, 1));
        }
    }
}

#[tokio::test]
async fn long_batch_is_split_and_a_lost_part_stops_it() {
    let gate = Backend::default();
    let ids: Vec<String> = (0..4_001).map(|nth| format!("{nth:04}")).collect();
    let decisions: Vec<_> = ids.iter().map(|id| (id.as_str(), Decision::APPROVE)).collect();
    let approved: Vec<_> =
        ids.iter().map(|id| json!({"pendingActionId": id, "outcome": "approved"})).take(2_000).collect();
    let reply = json!({"batchId": "b", "approved": 2_000, "rejected": 0, "skipped": 0, "items": approved});
    gate.on("POST", "/api/pending-actions/batch/b/approve").reply(200, reply.to_string()).reply(502, "");

    let outcomes =
        gate.source(SourceKind::Gate, None).await.submit(&batch(Some("b"), &decisions), "k").await.unwrap();

    let counts = crate::domain::Counts::of(outcomes.iter().map(|(_, outcome)| outcome));
    assert_eq!((counts.approved, counts.unknown, counts.failed), (2_000, 2_000, 1));
    let keys: Vec<_> = gate.requests().into_iter().map(|request| request.key.unwrap()).collect();
    assert_eq!(keys, ["k", "k.1"]);
}

#[tokio::test]
async fn part_refused_for_its_content_stops_no_other() {
    let gate = Backend::default();
    let ids: Vec<String> = (0..4_001).map(|nth| format!("{nth:04}")).collect();
    let decisions: Vec<_> = ids.iter().map(|id| (id.as_str(), Decision::APPROVE)).collect();
    gate.on("POST", "/api/pending-actions/batch/b/approve").reply(422, "").reply(403, "");

    let source = gate.source(SourceKind::Gate, None).await;
    let outcomes = source.submit(&batch(Some("b"), &decisions), "k").await.unwrap();

    let of = |nth: usize| outcomes[nth].1.clone();
    assert_eq!(of(0), failed("the source refused the request: HTTP 422"));
    assert_eq!(of(2_000), failed("the source does not allow this with this token: HTTP 403"));
    assert_eq!(of(4_000), failed("not sent, because the source does not allow this with this token"));
    assert_eq!(gate.requests().len(), 2);
}

#[tokio::test]
async fn failure_of_the_first_part_fails_the_batch() {
    let gate = Backend::default();
    let ids: Vec<String> = (0..2_001).map(|nth| format!("{nth:04}")).collect();
    let decisions: Vec<_> = ids.iter().map(|id| (id.as_str(), Decision::APPROVE)).collect();
    gate.on("POST", "/api/pending-actions/batch/b/approve").reply(401, "");

    let source = gate.source(SourceKind::Gate, None).await;
    let error = source.submit(&batch(Some("b"), &decisions), "k").await.unwrap_err();

    assert_eq!((error, gate.requests().len()), (SourceError::Unauthorized, 1));
}

#[tokio::test]
async fn batch_with_an_unusable_id_is_decided_singly() {
    let gate = Backend::default();
    gate.on("POST", "/api/pending-actions/1/approve").reply(200, fake::text("1", "{}", "approved"));
    gate.on("POST", "/api/pending-actions/2/reject").reply(403, "");
    let three = [("1", Decision::APPROVE), ("2", Decision::REJECT), ("3", Decision::APPROVE)];

    let outcomes = gate.source(SourceKind::Gate, None).await.submit(&batch(Some(".."), &three), "k").await;

    let want = [
        Outcome::Approved,
        failed("the source does not allow this with this token: HTTP 403"),
        failed("not sent, because the source does not allow this with this token"),
    ];
    assert_eq!(outcomes, Ok(["1", "2", "3"].map(id).into_iter().zip(want).collect()));
}

#[tokio::test]
async fn unreachable_gate_means_nothing_was_sent() {
    let config = fake::config(SourceKind::Gate, &nobody().await, None);

    let error = crate::sources::open(&config).unwrap().submit(&approve("1"), "k").await.unwrap_err();

    assert!(matches!(error, SourceError::NotSent { .. }), "{error:?}");
}

#[tokio::test]
async fn batches_of_a_checkpoint_go_to_its_route() {
    let gate = Backend::default();
    gate.on("POST", "/api/checkpoints/sub%2Ftask/approve").reply(
        200,
        r#"{"checkpointId":"sub/task","approved":1,"rejected":1,"skipped":0,"batches":[],"items":[
            {"pendingActionId":"1","outcome":"approved"},{"pendingActionId":"2","outcome":"rejected"}]}"#,
    );
    let source = gate.source(SourceKind::Gate, None).await;
    let of = |id: &str, decision| {
        let mut action = fake::action(id, r#"{"n":1.10}"#);
        action.row.checkpoint = Some("sub/task".into());
        fake::frozen(&source, action, decision).unwrap()
    };
    let (mut one, two) = (of("1", Decision::APPROVE), of("2", Decision::REJECT));
    assert!(one.join(&two));

    let outcomes = source.submit(&one, "k").await.unwrap();

    assert_eq!(outcomes, [(id("1"), Outcome::Approved), (id("2"), Outcome::Rejected)]);
    assert_eq!(gate.requests().len(), 1);
}
