//! dendrux without the bridge: the package's read router and an owner's routes.

use futures_util::StreamExt as _;

use super::house::{Kind, Run, Verdicts, gated};
use super::world::Reached;
use super::*;
use crate::domain::{Status, Together};
use crate::sources::tests::World as _;

const WAITS: &str = "waiting_approval";

#[tokio::test]
async fn only_changed_runs_are_read_again() {
    let reached = Reached::of(Kind::OldPlain).await;
    let source = reached.open(AT_EASE);
    let ids: Vec<_> = (0..3).flat_map(|_| reached.waits(WAITS, vec![gated("buy", "{}")])).collect();
    assert_eq!(rows(&source).await.len(), 3);
    reached.seen();

    assert_eq!(rows(&source).await.len(), 3);
    let again = reached.seen();
    assert_eq!(again.iter().filter(|line| line.starts_with("GET /runs/")).count(), 0, "{again:?}");

    // The dates of this version have seconds only; it already waits for something else.
    reached.with_run(&ids[1], |run| {
        let calls = run.calls.clone();
        run.decide(&Verdicts::Whole(true, None), true);
        run.waits(WAITS, calls);
    });
    let now = rows(&source).await;
    assert_eq!(now.len(), 3);
    assert!(!now.iter().any(|row| row.id == ids[1]), "a new pause is another action");
    let again = reached.seen();
    let read: Vec<_> = again.iter().filter(|line| line.starts_with("GET /runs/")).collect();
    assert!(read.iter().all(|line| line.starts_with("GET /runs/R1/")), "{read:?}");
}

#[tokio::test]
async fn decision_goes_to_the_owners_route_and_the_log_counts() {
    for kind in [Kind::Plain, Kind::OldPlain] {
        let reached = Reached::of(kind).await;
        let source = reached.open(AT_EASE);
        let ids = reached.waits(WAITS, vec![gated("buy", "{}"), gated("scrap", r#"{"why":"out of stock"}"#)]);
        let row = rows(&source).await.remove(0);
        assert_eq!(row.can.together, Together::Same);

        let outcomes = decide(&source, &[(&ids[0], Decision::APPROVE), (&ids[1], Decision::APPROVE)]).await;

        assert_eq!(outcomes, [Outcome::Approved, Outcome::Approved]);
        assert!(reached.seen().contains(&r#"POST /runs/R0/approval? {"approved":true}"#.to_owned()));
        assert_eq!(get(&source, &ids[0]).await.row.status, Status::Executed);
        let failed = get(&source, &ids[1]).await;
        assert_eq!((failed.row.status, failed.error), (Status::Failed, Some("out of stock".into())));
    }
}

#[tokio::test]
async fn route_that_only_says_yes_is_not_believed() {
    use axum::routing::post;
    let reached = Reached::of(Kind::Plain).await;
    let id = reached.waits(WAITS, vec![gated("buy", "{}")]).remove(0);
    let app = axum::Router::new()
        .route("/dendrux/runs/{id}/approval", post(|| async { r#"{"status":"success"}"# }))
        .fallback_service(server::router(Arc::clone(&reached.house)));
    let reached = Reached { url: crate::net::testing::serve(app).await, ..reached };

    let outcomes = decide(&reached.open(AT_EASE), &[(&id, Decision::APPROVE)]).await;

    assert!(matches!(&outcomes[..], [Outcome::Failed { .. }]), "{outcomes:?}");
}

#[tokio::test]
async fn missing_route_is_named() {
    let reached = Reached::with(Kind::Plain, true).await;
    let source = reached.open(AT_EASE);
    let id = reached.waits(WAITS, vec![gated("buy", "{}")]).remove(0);

    let outcomes = decide(&source, &[(&id, Decision::APPROVE)]).await;

    let [Outcome::Failed { why }] = &outcomes[..] else { panic!("{outcomes:?}") };
    assert!(
        why.as_raw().contains("/dendrux/runs/R0/approval") && why.as_raw().contains("approval_path"),
        "{why:?}"
    );
}

#[tokio::test]
async fn stream_ends_without_events() {
    let source = Reached::of(Kind::Plain).await.open(AT_EASE);

    let signals = tokio::time::timeout(AT_EASE, source.watch().unwrap().collect::<Vec<_>>()).await.unwrap();

    assert_eq!(signals, []);
}

#[tokio::test]
async fn all_server_calls_count_as_gated_without_information() {
    let reached = Reached::of(Kind::Plain).await;
    let source = reached.open(AT_EASE);
    let ids = reached.waits(WAITS, vec![house::free("stock"), house::client("sign")]);

    assert_eq!(rows(&source).await.iter().map(|row| &row.id).collect::<Vec<_>>(), [&ids[0]]);
}

#[tokio::test]
async fn run_that_ended_while_waiting_is_unlisted_and_reported() {
    let reached = Reached::of(Kind::Plain).await;
    let source = reached.open(AT_EASE);
    let (one, two) = (reached.propose(0).await, reached.propose(1).await);
    let late = frozen(&source, 1, &[(&one, Decision::APPROVE)]).await.unwrap();
    reached.with_run(&one, |run: &mut Run| run.ends("cancelled", None));
    reached.with_run(&two, |run: &mut Run| run.ends("error", Some("abandoned_waiting")));

    assert!(rows(&source).await.is_empty());
    assert_eq!(get(&source, &one).await.row.status, Status::Withdrawn);
    assert_eq!(get(&source, &two).await.row.status, Status::Expired);
    let told = source.submit(&late, "s:0").await.unwrap();
    assert!(matches!(&told[..], [(_, Outcome::Skipped { status: Some(Status::Withdrawn), .. })]), "{told:?}");
}
