//! The source against a fake service that behaves like the measured 2.4.0.

use super::*;
use crate::clock;
use crate::config::{Auth, SourceKind, TokenFrom};
use crate::domain::Timestamp;
use crate::domain::{
    ActionKey, BatchKey, Decision, Edits, Outcome, RawJson, Refusal, Staged, Status, SubmissionId, Verdict,
    freeze,
};
use crate::sources::tests::{Fault, Stand, World as _};
use std::time::Duration;

pub(in crate::sources) mod world;

use world::{Service, Store, Twist};

fn source(service: &Service) -> Arc<dyn Source> {
    crate::sources::open(&service.config()).unwrap()
}

async fn read(source: &Arc<dyn Source>, ids: &[ActionId]) -> Vec<PendingAction> {
    source.get(ids).await.unwrap().into_iter().map(Result::unwrap).collect()
}

/// Freezes decisions; actions of one run share a batch.
fn frozen(
    source: &Arc<dyn Source>,
    decided: &[(PendingAction, Decision)],
) -> Result<Vec<SubmissionBatch>, Refusal> {
    let (mut staged, mut loaded) = (Vec::new(), HashMap::new());
    for (action, decision) in decided {
        let key = ActionKey { source: source.name().clone(), id: action.row.id.clone() };
        let batch = BatchKey::Batch(source.name().clone(), action.row.batch.clone().unwrap());
        let (decision, at) = (decision.clone(), Timestamp::default());
        staged.push((key.clone(), Staged { decision, batch, digest: None, terms: None, at }));
        loaded.insert(key, action.clone());
    }
    let staged = staged.iter().map(|(key, staged)| (key, staged));
    let frozen = freeze(SubmissionId::new("s"), staged, &loaded, |_| 0, clock::now());
    frozen.map(|submission| submission.batches().to_vec())
}

async fn send(source: &Arc<dyn Source>, decided: &[(PendingAction, Decision)]) -> Vec<(ActionId, Outcome)> {
    let mut outcomes = Vec::new();
    for batch in frozen(source, decided).unwrap() {
        outcomes.extend(source.submit(&batch, "k").await.unwrap());
    }
    outcomes
}

fn why(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Failed { why } | Outcome::Unknown { why } => why.as_raw(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn expired_action_is_refused_when_frozen_and_before_sending() {
    for store in [Store::Memory, Store::Sqlite] {
        let service = Service::start(store).await;
        let source = source(&service);
        let id = service.propose(0).await;
        let action = read(&source, std::slice::from_ref(&id)).await.remove(0);
        let batches = frozen(&source, &[(action.clone(), Decision::APPROVE)]).unwrap();
        service.expire(&id).await;

        let outcomes = source.submit(&batches[0], "k").await.unwrap();

        // The SQLite store hides it, so it could have been decided, too.
        let honest = match store {
            Store::Memory => why(&outcomes[0].1).starts_with("expired"),
            Store::Sqlite => outcomes[0].1 == Outcome::Skipped { status: None, by: None },
        };
        assert!(honest, "{outcomes:?}");
        assert_eq!((service.stands(&id).await, service.faults().decisions()), (Stand::Pending, 0));
        for late in source.get(std::slice::from_ref(&id)).await.unwrap() {
            let refusal = frozen(&source, &[(late.unwrap(), Decision::REJECT)]).unwrap_err();
            assert!(matches!(refusal, Refusal::Expired(_)), "{refusal}");
        }
    }
}

#[tokio::test]
async fn expiry_is_reported_if_the_store_hides_the_action() {
    let service = Service::start(Store::Sqlite).await;
    let source = source(&service);
    let id = service.propose(0).await;
    service.expires_in(&id, 1_500);
    let action = read(&source, std::slice::from_ref(&id)).await.remove(0);
    let batches = frozen(&source, &[(action, Decision::APPROVE)]).unwrap();
    let hidden = async {
        while source
            .sync(None)
            .await
            .is_ok_and(|it| matches!(it, Synced::All { rows, .. } if !rows.is_empty()))
        {}
    };
    tokio::time::timeout(Duration::from_mins(1), hidden).await.unwrap();

    let outcomes = source.submit(&batches[0], "k").await.unwrap();

    assert!(why(&outcomes[0].1).starts_with("expired"), "{outcomes:?}");
    assert_eq!((service.taken(&id).await, service.faults().decisions()), (0, 0));
}

#[tokio::test]
async fn second_decision_with_500_is_told_from_a_failure() {
    for exposes in [false, true] {
        let service = Service::with(Store::Memory, None, exposes, Arc::default()).await;
        let source = source(&service);
        let (id, other) = (service.propose(0).await, service.propose(1).await);
        let found = read(&source, &[id.clone(), other.clone()]).await;
        let [first, second] = found.as_slice() else { panic!("expected two actions") };
        let (first, second) = (first.clone(), second.clone());
        // A real failure leaves it pending.
        service.faults().next_decision(Fault::Status(500));
        let outcomes = send(&source, &[(second, Decision::APPROVE)]).await;
        assert!(why(&outcomes[0].1).ends_with("Internal server error; it is still pending"), "{outcomes:?}");
        assert_eq!(service.stands(&other).await, Stand::Pending);

        // Another reviewer decides between the read and our decision.
        let batch = frozen(&source, &[(first, Decision::APPROVE)]).unwrap().remove(0);
        service.overtake(&id);
        let outcomes = source.submit(&batch, "k").await.unwrap();
        let status = exposes.then_some(Status::Rejected);
        assert_eq!(outcomes, [(id.clone(), Outcome::Skipped { status, by: None })]);
        assert_eq!((service.stands(&id).await, service.taken(&id).await), (Stand::Rejected, 1));
    }
}

#[tokio::test]
async fn contradictory_200_is_not_a_success() {
    for twist in [Twist::Contrary, Twist::OtherArguments, Twist::Nonsense] {
        let service = Service::start(Store::Memory).await;
        let source = source(&service);
        let id = service.propose(0).await;
        let action = read(&source, std::slice::from_ref(&id)).await.remove(0);
        service.twist(twist);

        let outcome = send(&source, &[(action, Decision::APPROVE)]).await.remove(0).1;

        match twist {
            Twist::Contrary => {
                let status = Some(Status::Rejected);
                assert_eq!(outcome, Outcome::Skipped { status, by: Some("kim".into()) });
            }
            Twist::OtherArguments => assert!(why(&outcome).contains("something else than was asked")),
            Twist::Nonsense => assert!(matches!(outcome, Outcome::Unknown { .. }), "{outcome:?}"),
        }
    }
}

#[tokio::test]
async fn doctor_warns_that_two_processes_accept_opposite_decisions() {
    let one = Service::start(Store::Sqlite).await;
    let two = one.second_process().await;
    let id = one.propose(0).await;
    let (first, second) = (source(&one), source(&two));
    let action = read(&first, std::slice::from_ref(&id)).await.remove(0);
    let approve = frozen(&first, &[(action.clone(), Decision::APPROVE)]).unwrap().remove(0);
    let reject = frozen(&second, &[(action, Decision::REJECT)]).unwrap().remove(0);

    let approved = first.submit(&approve, "k").await.unwrap();
    let rejected = second.submit(&reject, "k").await.unwrap();

    // The wire shows nothing: each got what it asked for, and the last decision counts.
    assert_eq!((&approved[0].1, &rejected[0].1), (&Outcome::Approved, &Outcome::Rejected));
    assert_eq!((one.stands(&id).await, one.taken(&id).await), (Stand::Rejected, 2));
    let checks = first.checked().await;
    assert!(checks.iter().any(|check| check.found.contains("one service process a database")), "{checks:?}");
}

#[tokio::test]
async fn no_edits_are_sent_because_confused_ai_ignores_them() {
    let service = Service::start(Store::Memory).await;
    let source = source(&service);
    let id = service.propose(0).await;
    let action = read(&source, std::slice::from_ref(&id)).await.remove(0);
    let edits = Edits::new(RawJson::parse(r#"{"note":"x"}"#).unwrap()).unwrap();

    let refusal =
        frozen(&source, &[(action.clone(), Decision::Approve { edits: Some(edits), comment: None })]);

    assert!(matches!(refusal, Err(Refusal::EditsUnsupported(_))));
    let told: Vec<_> = action.row.can.told().into_iter().map(|(_, words)| words).collect();
    assert!(told.iter().any(|words| words.starts_with("identity not verified by this backend")));
    assert!(told.iter().any(|words| words.starts_with("approve does not resume the run")));
    assert!(told.iter().any(|words| words.starts_with("no edits")));
}

#[tokio::test]
async fn decision_carries_comment_and_reviewer_both_ways() {
    for store in [Store::Memory, Store::Sqlite] {
        let service = Service::start(store).await;
        let source = source(&service);
        let ids = [service.propose(0).await, service.propose(1).await];
        let actions = read(&source, &ids).await;
        let said = Some("fine \"so\"".to_owned());
        let decisions =
            [Decision::Approve { edits: None, comment: said.clone() }, Decision::Reject { reason: said }];

        let outcomes = send(&source, &actions.into_iter().zip(decisions).collect::<Vec<_>>()).await;

        assert_eq!(outcomes, [(ids[0].clone(), Outcome::Approved), (ids[1].clone(), Outcome::Rejected)]);
        for id in &ids {
            assert_eq!(service.said(id).await.as_deref(), Some("fine \"so\""));
            assert_eq!(service.by(id).as_deref(), Some("kim"));
        }
        // No list has them any more; the answers to the decisions do.
        let decided = read(&source, &ids).await;
        assert_eq!(decided.len(), 2);
        assert!(
            decided.iter().all(|it| it.reason == Some("fine \"so\"".into()) && it.row.resolved_by.is_some())
        );
    }
}

#[tokio::test]
async fn batch_is_sent_singly_and_a_refused_token_stops_it() {
    let service = Service::start(Store::Sqlite).await;
    let source = source(&service);
    let mut ids = Vec::new();
    for n in 0..3 {
        ids.push(service.propose(n).await);
    }
    let actions = read(&source, &ids).await;
    let all: Vec<_> = actions.into_iter().map(|action| (action, Decision::APPROVE)).collect();
    let batch = frozen(&source, &all).unwrap().remove(0);
    assert_eq!(batch.items().len(), 3, "one run, one batch");
    service.faults().next_decision(Fault::Status(401));

    assert_eq!(source.submit(&batch, "k").await.unwrap_err(), SourceError::Unauthorized);
    assert_eq!(service.faults().decisions(), 1, "no second request with a refused token");

    let outcomes = source.submit(&batch, "k").await.unwrap();
    assert!(outcomes.iter().all(|(_, outcome)| *outcome == Outcome::Approved), "{outcomes:?}");
}

#[tokio::test]
async fn every_credential_kind_works_and_a_missing_one_is_reported() {
    let token = |text: &str| Some(TokenFrom::Command(vec!["printf".to_owned(), text.to_owned()]));
    let basic = Auth::Basic { user: "kim".to_owned() };
    let header = Auth::Header { name: "X-API-Key".to_owned() };
    for (credential, auth) in [
        (("authorization", "Bearer secret"), Auth::Bearer),
        (("x-api-key", "secret"), header),
        (("authorization", "Basic a2ltOnNlY3JldA=="), basic),
    ] {
        let service = Service::with(Store::Memory, Some(credential), false, Arc::default()).await;
        let with = |word: &str| SourceConfig { token: token(word), auth: auth.clone(), ..service.config() };

        let right = crate::sources::open(&with("secret")).unwrap();
        let wrong = crate::sources::open(&with("other")).unwrap();
        let without = crate::sources::open(&service.config()).unwrap();

        assert!(right.sync(None).await.is_ok(), "{auth:?}");
        for refused in [wrong, without] {
            assert_eq!(refused.sync(None).await.unwrap_err(), SourceError::Unauthorized);
            assert!(
                refused
                    .checked()
                    .await
                    .iter()
                    .any(|it| it.verdict == Verdict::Bad && it.advice.contains("token"))
            );
        }
    }
}

#[tokio::test]
async fn context_shows_the_request_and_its_run() {
    let service = Service::start(Store::Memory).await;
    let source = source(&service);
    let id = service.propose(0).await;
    service.propose(1).await;

    let passages = source.abilities().context.unwrap().context(&id, &[]).await.unwrap();

    assert_eq!(passages.iter().map(|it| it.title).collect::<Vec<_>>(), ["The request", "Its run"]);
    assert!(passages[0].facts.iter().any(|fact| fact.name.as_raw() == "description"));
    assert!(passages[1].facts.iter().any(|fact| fact.name.as_raw() == "write_note"), "{passages:?}");
    assert!(
        source.abilities().context.unwrap().context(&ActionId::new("nobody"), &[]).await.unwrap().is_empty()
    );
}

#[tokio::test]
async fn doctor_reports_a_missing_store_and_reviewer_name() {
    let service = Service::start(Store::Memory).await;
    let elsewhere = SourceConfig::of("shop", SourceKind::ConfusedAi, format!("{}/sub", service.url));
    let checks = crate::sources::open(&elsewhere).unwrap().checked().await;
    assert!(checks[0].verdict == Verdict::Bad && checks[0].advice.contains("approval store"), "{checks:?}");

    let nameless = SourceConfig { reviewer: None, ..service.config() };
    let checks = crate::sources::open(&nameless).unwrap().checked().await;
    let told: Vec<_> = checks.iter().map(|check| (check.what, check.verdict)).collect();
    assert_eq!(told, [("list", Verdict::Good), ("reviewer", Verdict::Warn), ("processes", Verdict::Good)]);
}
