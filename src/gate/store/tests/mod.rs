//! Tests of the store alone, on SQLite and, if `PLACET_TEST_DATABASE` names a server, on PostgreSQL: cases that HTTP
//! cannot produce.

use std::sync::Arc;

use futures_util::future::join_all;
use tempfile::TempDir;

use self::behind::Behind;
use super::context::Context;
use super::postgres::PostgresStore;
use super::sqlite::SqliteStore;
use super::*;
use crate::config::{GateConfig, RiskApprovals};
use crate::contract::settle::SettleAs;
use crate::domain::{ActionId, BatchId, Risk};
use crate::gate::clock::Clock;
use crate::gate::events::Events;
use crate::gate::tests::settings;
use crate::gate::tool::Tools;

mod batches;
mod behind;
mod binding;
mod flows;
mod tampering;

pub(in crate::gate::store) struct Shelf<S: ?Sized = dyn Store> {
    pub(in crate::gate::store) store: Box<S>,
    pub(in crate::gate::store) clock: Clock,
    pub(in crate::gate::store) folder: TempDir,
}

pub(in crate::gate::store) fn context(clock: &Clock) -> Context {
    let tools = Tools::asking(RiskApprovals { critical: 2, ..RiskApprovals::default() });
    Context { events: Events::default(), clock: clock.clone(), tools: Arc::new(tools) }
}

async fn open(config: &GateConfig, context: Context) -> Box<dyn Store> {
    match &config.server {
        Some(url) => Box::new(PostgresStore::open(url, &config.postgres, context).await.unwrap()),
        None => Box::new(SqliteStore::open(&config.database, context).await.unwrap()),
    }
}

async fn shelf() -> Shelf {
    let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::default());
    let store = open(&settings(folder.path()), context(&clock)).await;
    Shelf { store, clock, folder }
}

impl Shelf {
    /// Opens the same database like another process.
    async fn another(&self) -> Box<dyn Store> {
        open(&settings(self.folder.path()), context(&self.clock)).await
    }

    /// Runs a statement outside the gate.
    async fn run(&self, sql: &str) {
        Behind::the(self).await.run(sql).await.unwrap();
    }
}

pub(in crate::gate::store) fn action(id: &str) -> NewAction {
    let input = RawJson::parse(r#"{"n":1.10}"#).unwrap();
    let row = Row { workspace: Some("w".into()), ..Row::new(ActionId::new(id), "t".into(), "t".into()) };
    let action = PendingAction::new(row, input.clone(), input);
    NewAction {
        digest: action.digest(),
        action,
        proposer: "agent".to_owned(),
        supersedes: None,
        origin: Origin::default(),
    }
}

/// Returns a proposal with these changes.
pub(in crate::gate::store) fn action_with(id: &str, change: impl FnOnce(&mut PendingAction)) -> NewAction {
    let mut new = action(id);
    change(&mut new.action);
    NewAction { digest: new.action.digest(), ..new }
}

pub(in crate::gate::store) fn approval(id: &str) -> Ruling {
    Ruling {
        id: id.to_owned(),
        verdict: Verdict::Approve { edits: None },
        expected_digest: None,
        expected_effective_digest: None,
        expected_terms: None,
        reason: None,
        via: Via::Shell,
        judged: None,
    }
}

pub(in crate::gate::store) fn owner() -> Actor {
    Actor { subject: "owner".to_owned(), workspace: "w".to_owned() }
}

impl<S: Store + ?Sized> Shelf<S> {
    pub(in crate::gate::store) async fn record(&self, id: &str) -> Result<Recorded, StoreError> {
        self.store.record(action(id), 1_000, None).await
    }

    pub(in crate::gate::store) async fn approved(&self, id: &str) {
        self.record(id).await.unwrap();
        self.store.decide(approval(id), owner(), None).await.unwrap();
    }

    pub(in crate::gate::store) async fn dispatch(&self, id: &str) -> Dispatched {
        self.store.dispatch(id.to_owned(), Lease { by: None, millis: 1_000 }, None).await.unwrap()
    }

    pub(in crate::gate::store) async fn finish(&self, id: &str, fence: u64) -> Result<Stored, StoreError> {
        let result = RawJson::parse("1").unwrap();
        self.store.finish(id.to_owned(), fence, None, Finished::Executed(result)).await
    }

    pub(in crate::gate::store) async fn status(&self, id: &str) -> Status {
        self.store.get(id).await.unwrap().unwrap().action.row.status
    }
}

#[tokio::test]
async fn bytes_that_changed_after_the_approval_are_not_run() {
    let shelf = shelf().await;
    for (id, change) in [
        ("input", "UPDATE payloads SET input = '{\"n\":1.1}'"),
        ("edited", "UPDATE payloads SET input = '{\"n\":1.1}', effective_input = '{\"n\":1.10}'"),
        ("effective", "UPDATE payloads SET effective_input = '{\"n\":2}'"),
        ("tool", "UPDATE actions SET tool = 'u'"),
    ] {
        shelf.approved(id).await;
        shelf.run(change).await;

        assert!(matches!(shelf.dispatch(id).await, Dispatched::NotAsApproved(_)), "{id}");

        let stored = shelf.store.get(id).await.unwrap().unwrap();
        assert_eq!(stored.action.row.status, Status::Failed);
        assert!(stored.action.error.unwrap().as_raw().contains("not the one that was approved"));
    }
}

#[tokio::test]
async fn a_result_of_an_earlier_run_is_refused() {
    let shelf = shelf().await;
    shelf.approved("a").await;
    shelf.dispatch("a").await;
    assert_eq!(shelf.store.recover(Which::only("t"), Vec::new()).await.unwrap(), 0, "the lease still holds");

    shelf.clock.pass(1_001);
    assert_eq!(shelf.store.recover(Which::only("t"), Vec::new()).await.unwrap(), 1);
    let Dispatched::Run(work) = shelf.dispatch("a").await else { panic!("not run") };

    assert_eq!((work.fence, work.key.as_str()), (2, "a:2"));
    assert!(matches!(shelf.finish("a", 1).await, Err(StoreError::Refused(Refused::StaleFence))));
    assert_eq!(shelf.status("a").await, Status::Running);
    assert_eq!(shelf.finish("a", 2).await.unwrap().action.row.status, Status::Executed);
    let changed = shelf.store.finish("a".to_owned(), 2, None, Finished::Failed("no".to_owned())).await;
    assert!(matches!(changed, Err(StoreError::Refused(Refused::State { .. }))));
}

#[tokio::test]
async fn a_lost_run_that_may_be_repeated_rests_first() {
    let shelf = shelf().await;
    // Else the pause is set by the database's clock, and compared with this machine's.
    shelf.clock.stop();
    shelf.approved("a").await;
    shelf.dispatch("a").await;
    let waiting = async || {
        let found = shelf.store.approved(&Which::only("t"), &[], 0, 10, shelf.clock.now()).await.unwrap();
        found.into_iter().map(|waiting| waiting.id).collect::<Vec<_>>()
    };

    let lost = Finished::Again("HTTP 503".to_owned());
    let stored = shelf.store.finish("a".to_owned(), 1, None, lost).await.unwrap();

    assert_eq!(stored.action.row.status, Status::Approved);
    assert_eq!(stored.action.error.unwrap().as_raw(), "HTTP 503");
    shelf.clock.pass(1_999);
    assert!(waiting().await.is_empty());
    shelf.clock.pass(2);
    assert_eq!(waiting().await, ["a"]);
}

/// The database's owner sets each row back, for each way to run again.
#[tokio::test]
async fn row_set_back_behind_the_gate_does_not_run_again() {
    let shelf = shelf().await;
    for id in ["executed", "failed", "running", "unknown", "lost", "settled"] {
        shelf.approved(id).await;
        shelf.dispatch(id).await;
    }
    for id in ["executed", "running", "unknown"] {
        shelf.finish(id, 1).await.unwrap();
    }
    for (id, how) in [
        ("failed", Finished::Failed("no".to_owned())),
        ("lost", Finished::Lost("away".to_owned())),
        ("settled", Finished::Lost("away".to_owned())),
    ] {
        shelf.store.finish(id.to_owned(), 1, None, how).await.unwrap();
    }
    shelf.store.settle("settled".to_owned(), SettleAs::Executed, None, owner()).await.unwrap();
    shelf.record("pending").await.unwrap();
    shelf
        .run(
            "UPDATE actions SET status = 'approved' WHERE id <> 'running' AND id <> 'unknown'; \
             UPDATE actions SET status = 'running', lease_until = 0 WHERE id = 'running'; \
             UPDATE actions SET status = 'unknown' WHERE id = 'unknown'",
        )
        .await;

    let agent = Some(Actor { subject: "agent".to_owned(), ..owner() });
    for (id, was) in [
        ("executed", "executed"),
        ("failed", "failed"),
        ("lost", "unknown"),
        ("settled", "executed"),
        ("pending", "pending"),
    ] {
        for by in [None, agent.clone()] {
            let refused = shelf.store.dispatch(id.to_owned(), Lease { by, millis: 1_000 }, None).await;
            let tampered = Refused::Tampered(was.to_owned());
            assert!(matches!(&refused, Err(StoreError::Refused(it)) if *it == tampered), "{id}: {refused:?}");
        }
    }
    assert_eq!(shelf.store.recover(Which::only("t"), Vec::new()).await.unwrap(), 0, "a safe tool's run");
    let retry = shelf.store.settle("unknown".to_owned(), SettleAs::Retry, None, owner()).await;
    assert!(matches!(retry, Err(StoreError::Refused(Refused::Tampered(_)))), "{retry:?}");
}

#[test]
fn row_set_back_is_logged_once() {
    let refused = |was: &str| Refused::Tampered(was.to_owned()).is_news("logged");

    assert_eq!([refused("failed"), refused("failed"), refused("executed")], [true, false, true]);
    assert_eq!([Refused::Missing.is_news("logged"), Refused::Missing.is_news("logged")], [true, true]);
}

#[tokio::test]
async fn ended_row_set_back_to_pending_is_not_approved() {
    let shelf = shelf().await;
    shelf.approved("a").await;
    shelf.dispatch("a").await;
    shelf.finish("a", 1).await.unwrap();
    shelf.run("UPDATE actions SET status = 'pending' WHERE id = 'a'").await;

    let refused = shelf.store.decide(approval("a"), owner(), None).await;

    let tampered = Refused::Tampered("executed".to_owned());
    assert!(matches!(&refused, Err(StoreError::Refused(it)) if *it == tampered), "{refused:?}");
}

#[tokio::test]
async fn run_settled_as_retry_runs_again() {
    let shelf = shelf().await;
    shelf.approved("a").await;
    shelf.dispatch("a").await;
    shelf.store.finish("a".to_owned(), 1, None, Finished::Lost("away".to_owned())).await.unwrap();

    shelf.store.settle("a".to_owned(), SettleAs::Retry, None, owner()).await.unwrap();

    assert!(matches!(shelf.dispatch("a").await, Dispatched::Run(work) if work.fence == 2));
}

#[tokio::test]
async fn a_refused_attempt_after_a_lost_run_is_unknown() {
    let shelf = shelf().await;
    let failed = || Finished::Failed("HTTP 409: already there".to_owned());
    let finish = async |fence, how| shelf.store.finish("a".to_owned(), fence, None, how).await.unwrap();
    let told = |stored: &Stored| stored.action.error.as_ref().map(|error| error.as_raw().to_owned());
    shelf.approved("a").await;
    shelf.dispatch("a").await;
    finish(1, Finished::Again("HTTP 503".to_owned())).await;
    shelf.clock.pass(2_001);
    shelf.dispatch("a").await;

    let stored = finish(2, failed()).await;

    assert_eq!(stored.action.row.status, Status::Unknown);
    let error = "an earlier run was lost; the next one did not do the work: HTTP 409: already there";
    assert_eq!(told(&stored).as_deref(), Some(error));
    assert_eq!(told(&finish(2, failed()).await).as_deref(), Some(error), "the same report again");
}

#[tokio::test]
async fn a_run_that_does_its_work_clears_the_lost_one() {
    let shelf = shelf().await;
    shelf.approved("a").await;
    shelf.dispatch("a").await;
    shelf.clock.pass(1_001);
    shelf.store.recover(Which::only("t"), Vec::new()).await.unwrap();
    shelf.dispatch("a").await;

    let stored = shelf.finish("a", 2).await.unwrap();

    assert_eq!((stored.action.row.status, stored.action.error), (Status::Executed, None));
}

#[tokio::test]
async fn a_retry_by_a_person_may_fail() {
    let shelf = shelf().await;
    shelf.approved("a").await;
    shelf.dispatch("a").await;
    shelf.store.finish("a".to_owned(), 1, None, Finished::Lost("?".to_owned())).await.unwrap();
    shelf.store.settle("a".to_owned(), SettleAs::Retry, None, owner()).await.unwrap();
    shelf.dispatch("a").await;

    let failed = Finished::Failed("HTTP 409".to_owned());
    let stored = shelf.store.finish("a".to_owned(), 2, None, failed).await.unwrap();

    assert_eq!(stored.action.row.status, Status::Failed);
}

#[tokio::test]
async fn what_was_not_approved_is_not_dispatched() {
    let shelf = shelf().await;
    shelf.record("pending").await.unwrap();
    shelf.record("rejected").await.unwrap();
    let rejection = Ruling { verdict: Verdict::Reject, ..approval("rejected") };
    shelf.store.decide(rejection, owner(), None).await.unwrap();

    for id in ["pending", "rejected"] {
        let refused = shelf.store.dispatch(id.to_owned(), Lease { by: None, millis: 1_000 }, None).await;
        assert!(matches!(refused, Err(StoreError::Refused(Refused::State { .. }))), "{id}: {refused:?}");
    }
}

#[tokio::test]
async fn a_refused_write_undoes_only_itself() {
    let shelf = shelf().await;

    // Every third is refused after it took a revision: the id exists, or the limit is reached.
    let recorded = join_all((0..90).map(|n| {
        let id = if n % 3 == 0 { "twice".to_owned() } else { format!("a{n}") };
        let shelf = &shelf;
        async move { shelf.record(&id).await.is_ok() }
    }))
    .await;
    let full = shelf.store.record(action("full"), 61, None).await;

    assert_eq!(recorded.iter().filter(|kept| **kept).count(), 61);
    assert!(matches!(full, Err(StoreError::Refused(Refused::Full(61)))));
    let changes = shelf.store.changes("w", 0, 1_000, u64::MAX).await.unwrap();
    let revisions: Vec<u64> = changes.rows.iter().map(|row| row.revision.0).collect();
    assert_eq!(revisions, (1..=61).collect::<Vec<_>>());
    assert_eq!(changes.revision, 61);
}

#[tokio::test]
async fn write_after_a_write_of_another_process_succeeds() {
    let shelf = shelf().await;
    let other = shelf.another().await;
    for kind in ["pause", "record"] {
        // A pause takes a revision in the audit only, a proposal in the actions, too.
        let elsewhere = async |n: u8| match kind {
            "pause" => {
                for paused in [true, false] {
                    assert!(other.pause("w".to_owned(), paused, None).await.unwrap());
                }
            }
            _ => drop(other.record(action(&format!("other-{n}")), 1_000, None).await.unwrap()),
        };
        let id = format!("by-{kind}");
        let by = |subject: &str| Actor { subject: subject.to_owned(), ..owner() };
        let proposal = action_with(&id, |it| it.row.risk = Risk::Critical);
        shelf.store.record(proposal, 1_000, None).await.unwrap();

        elsewhere(1).await;
        shelf.store.claim(id.clone(), by("kim")).await.unwrap();
        shelf.record(&format!("before-{kind}")).await.unwrap();
        elsewhere(2).await;
        shelf.store.decide(approval(&id), by("kim"), None).await.unwrap();
        elsewhere(3).await;
        shelf.store.decide(approval(&id), by("lee"), None).await.unwrap();
        elsewhere(4).await;
        shelf.dispatch(&id).await;
        elsewhere(5).await;
        shelf.finish(&id, 1).await.unwrap();

        assert_eq!(shelf.status(&id).await, Status::Executed);
        shelf.store.ping().await.unwrap();
    }
    assert_eq!(shelf.store.verify(&[]).await.unwrap().problems, Vec::<String>::new());
}

#[tokio::test]
async fn a_decision_makes_room_for_a_proposal() {
    let shelf = shelf().await;
    let record = async |id| shelf.store.record(action(id), 1, None).await;
    record("a").await.unwrap();
    assert!(record("b").await.is_err());

    shelf.store.decide(approval("a"), owner(), None).await.unwrap();

    record("b").await.unwrap();
}

#[tokio::test]
async fn a_damaged_row_stands_in_nobodys_way() {
    let shelf = shelf().await;
    for id in ["damaged", "sound"] {
        shelf.approved(id).await;
        shelf.dispatch(id).await;
    }
    let damage = "UPDATE payloads SET input = '{' WHERE seq = (SELECT seq FROM actions WHERE id = 'damaged')";
    shelf.run(damage).await;

    shelf.clock.pass(1_001);
    shelf.store.recover(Which::default(), Vec::new()).await.unwrap();

    assert_eq!(shelf.status("sound").await, Status::Unknown);
}

#[tokio::test]
async fn sweeps_do_not_read_payloads() {
    let shelf = shelf().await;
    let soon = Some(shelf.clock.now().plus_millis(500));
    let expiring = action_with("pending", |it| it.row.expires_at = soon);
    shelf.store.record(expiring, 10, None).await.unwrap();
    for id in ["safe", "manual"] {
        shelf.store.record(action_with(id, |it| it.row.tool = id.into()), 10, None).await.unwrap();
        shelf.store.decide(approval(id), owner(), None).await.unwrap();
        shelf.dispatch(id).await;
    }
    // Every read of this payload fails.
    shelf.run("UPDATE payloads SET input = '{'").await;

    shelf.clock.pass(1_001);
    let swept = (
        shelf.store.expire().await.unwrap(),
        shelf.store.recover(Which::only("safe"), Vec::new()).await.unwrap(),
    );

    let changes = shelf.store.changes("w", 0, 10, u64::MAX).await.unwrap();
    let statuses: Vec<&str> = changes.rows.iter().map(|row| row.status.as_raw()).collect();
    assert_eq!((swept, statuses), ((1, 2), vec!["expired", "approved", "unknown"]));
}

#[tokio::test]
async fn changes_stop_at_what_a_page_may_weigh() {
    let shelf = shelf().await;
    for id in ["a", "b", "c"] {
        let heavy = action_with(id, |it| it.row.mission = Some("m".repeat(512).into()));
        shelf.store.record(heavy, 10, None).await.unwrap();
    }

    let first = shelf.store.changes("w", 0, 10, 2_500).await.unwrap();
    let rest = shelf.store.changes("w", first.revision, 10, 1).await.unwrap();

    assert_eq!((first.rows.len(), first.revision, first.more), (2, 2, true));
    assert_eq!((rest.rows.len(), rest.revision, rest.more), (1, 3, false));
}
