//! Compares the counts of flows with counts by hand.

use std::collections::{BTreeMap, HashMap};

use super::*;
use crate::domain::{Decider, Flow, Flows, Minute, Outstanding, Queue, ToolDecided, ToolOutstanding};
use crate::rounds::{Random, rounds};

const AGENTS: [Option<&str>; 4] = [None, Some(""), Some("refunds"), Some("t0")];
const HOUR: i64 = 60 * 60 * 1_000;

/// Stops the clock: a new minute would move earlier counts out of the current one.
async fn still_shelf() -> Shelf {
    let shelf = shelf().await;
    shelf.clock.stop();
    shelf
}

fn since(shelf: &Shelf, millis: i64) -> AskedFlows {
    let now = shelf.clock.now();
    let from = Minute::of(now.plus_millis(-millis));
    AskedFlows { workspace: "w".to_owned(), from, decided: from, now, reviewers: true, groups: None }
}

/// Random operations, and their effects, found by comparing every action before and after.
struct History {
    shelf: Shelf,
    random: Random,
    known: HashMap<String, PendingAction>,
    by_hand: Vec<(Minute, PendingAction, Flow)>,
}

fn counted(before: Option<&Status>, after: &PendingAction) -> Flow {
    let flow = Flow::default();
    let Some(before) = before else { return Flow { arrived: 1, ..flow } };
    match &after.row.status {
        now if now == before => flow,
        Status::Approved if before.is_pending() => {
            let edited = after.effective_input.as_ref() != Some(&after.input);
            Flow { approved: 1, edited: u64::from(edited), ..flow }
        }
        Status::Rejected => Flow { rejected: 1, ..flow },
        Status::Expired | Status::Withdrawn | Status::Superseded => Flow { left: 1, ..flow },
        Status::Executed => Flow { executed: 1, ..flow },
        Status::Failed => Flow { failed: 1, ..flow },
        Status::Unknown => Flow { unknown: 1, ..flow },
        // Dispatched, or run again.
        _ => flow,
    }
}

impl History {
    /// Tries a random operation. Most are refused, and change nothing.
    async fn step(&mut self) {
        // One of the newest; older actions are settled.
        let id = format!("a{}", self.known.len().saturating_sub(1 + self.random.below(6)));
        let (chance, third) = (self.random.below(14), self.random.below(3));
        let store = &self.shelf.store;
        let fence = store.get(&id).await.unwrap().map_or(0, |stored| stored.fence);
        match chance {
            0..3 => self.propose(third).await,
            3..7 => drop(store.decide(ruling(&id, chance, third), owner(), None).await),
            7 => drop(store.withdraw(id, Actor { subject: "agent".to_owned(), ..owner() }).await),
            8 | 9 => drop(store.dispatch(id, Lease { by: None, millis: 1_000 }, None).await),
            10 | 11 => drop(store.finish(id, fence, None, ends(chance, third)).await),
            12 => {
                let how = [SettleAs::Executed, SettleAs::Failed, SettleAs::Retry][third];
                drop(store.settle(id, how, None, owner()).await);
            }
            _ => {
                self.shelf.clock.pass(i64::try_from(self.random.below(100_000)).unwrap());
                store.expire().await.unwrap();
                store.recover(Which::only("t0"), Vec::new()).await.unwrap();
            }
        }
        self.look().await;
    }

    async fn propose(&mut self, third: usize) {
        let tool = format!("t{third}");
        let supersedes = format!("a{}", self.random.below(3 * self.known.len().max(1)));
        let expires = self.shelf.clock.now().plus_millis(90_000);
        let mut action = action_with(&format!("a{}", self.known.len()), |it| {
            it.row.agent = AGENTS[self.random.below(4)].map(Into::into);
            it.row.tool = tool.into();
            it.row.expires_at = (self.random.below(4) == 0).then_some(expires);
            it.row.risk = [Risk::Low, Risk::Medium, Risk::High, Risk::Critical, Risk::parse("odd")]
                [self.random.below(5)]
            .clone();
        });
        action.supersedes = self.known.contains_key(&supersedes).then_some(supersedes);
        drop(self.shelf.store.record(action, 1_000, None).await);
    }

    async fn look(&mut self) {
        let filter = Filter { workspace: "w".to_owned(), limit: 1_000, bytes: u64::MAX, ..Filter::default() };
        for action in self.shelf.store.actions(&filter).await.unwrap().items {
            let id = action.row.id.as_raw().to_owned();
            let flow = counted(self.known.get(&id).map(|before| &before.row.status), &action);
            if !flow.is_nothing() {
                let at = self.shelf.store.timeline(&id).await.unwrap().last().unwrap().at;
                self.by_hand.push((Minute::of(at), action.clone(), flow));
            }
            self.known.insert(id, action);
        }
    }

    fn waits(&self) -> Outstanding {
        let pending = || self.known.values().map(|action| &action.row).filter(|row| row.status.is_pending());
        let mut tools: BTreeMap<_, (u64, u64)> = BTreeMap::new();
        for row in pending() {
            let (pending, high) = tools.entry(row.tool.clone()).or_default();
            (*pending, *high) = (*pending + 1, *high + u64::from(row.risk.is_high()));
        }
        let tool = |(tool, (pending, high))| ToolOutstanding { tool, pending, high };
        let mut tools: Vec<_> = tools.into_iter().map(tool).collect();
        tools.sort_by_key(|tool| std::cmp::Reverse(tool.pending));
        Outstanding {
            pending: pending().count() as u64,
            high: pending().filter(|row| row.risk.is_high()).count() as u64,
            oldest: pending().map(|row| row.created_at).min(),
            tools,
        }
    }

    /// Compares reported counts with the recorded changes.
    fn check(&self, told: &Flows) {
        let mut pending: BTreeMap<Queue, u64> = BTreeMap::new();
        for action in self.known.values().filter(|action| action.row.status.is_pending()) {
            *pending.entry(Queue::of(&action.row)).or_default() += 1;
        }
        let (mut minutes, mut tools) = (BTreeMap::new(), BTreeMap::new());
        for (minute, action, flow) in &self.by_hand {
            if minute.start() >= told.from {
                let sum: &mut Flow = minutes.entry((Queue::of(&action.row), *minute)).or_default();
                *sum = sum.plus(flow);
                let sum: &mut Flow = tools.entry(action.row.tool.clone()).or_default();
                *sum = sum.plus(flow);
            }
        }
        tools.retain(|_, sum| sum.approved + sum.rejected + sum.failed > 0);

        let waits = told.queues.iter().filter(|it| it.pending > 0).map(|it| (it.queue.clone(), it.pending));
        assert_eq!(waits.collect::<BTreeMap<_, _>>(), pending);
        let of = |it: &crate::domain::QueueFlow| {
            let queue = it.queue.clone();
            it.minutes.clone().into_iter().map(move |(minute, flow)| ((queue.clone(), minute), flow))
        };
        assert_eq!(told.queues.iter().flat_map(of).collect::<BTreeMap<_, _>>(), minutes);
        let decided = |it: &ToolDecided| {
            let edited = it.edited.unwrap();
            (it.tool.clone(), (it.approved, edited, it.rejected, it.failed))
        };
        let by_hand =
            tools.into_iter().map(|(tool, sum)| (tool, (sum.approved, sum.edited, sum.rejected, sum.failed)));
        assert_eq!(told.tools.iter().map(decided).collect::<BTreeMap<_, _>>(), by_hand.collect());
    }
}

fn ruling(id: &str, chance: usize, third: usize) -> Ruling {
    let verdict = match (chance, third) {
        (3, _) => Verdict::Reject,
        (4, 0) => Verdict::Approve { edits: RawJson::parse(r#"{"n":1.10}"#).ok() },
        (4, _) => Verdict::Approve { edits: RawJson::parse(r#"{"n":2}"#).ok() },
        _ => Verdict::Approve { edits: None },
    };
    Ruling { verdict, ..approval(id) }
}

fn ends(chance: usize, third: usize) -> Finished {
    match (chance, third) {
        (10, 0) => Finished::Failed("no".to_owned()),
        (10, _) => Finished::Lost("?".to_owned()),
        (_, 0) => Finished::Again("?".to_owned()),
        _ => Finished::Executed(RawJson::parse("1").unwrap()),
    }
}

#[tokio::test]
async fn what_is_counted_is_what_happened() {
    let mut all = Flow::default();
    // Short histories, because each step reads every action.
    for round in 0..rounds(5, 60) {
        let mut random = Random::seeded();
        let random = Random::of(random.below(1 << 30) as u64 + u64::from(round));
        let mut history =
            History { shelf: shelf().await, random, known: HashMap::new(), by_hand: Vec::new() };
        for _ in 0..rounds(160, 600) {
            history.step().await;
        }
        let shelf = &history.shelf;
        let elsewhere = shelf.another().await;
        for back in [0, 60_000, 10 * 60_000, 48 * HOUR] {
            let asked = since(shelf, back);
            let told = shelf.store.flows(&asked).await.unwrap();
            history.check(&told);
            assert_eq!(elsewhere.flows(&asked).await.unwrap(), told, "another process sees the same");
        }
        assert_eq!(elsewhere.outstanding("w").await.unwrap(), history.waits());
        assert_eq!(shelf.store.verify(&[]).await.unwrap().problems, Vec::<String>::new());
        all = history.by_hand.iter().fold(all, |sum, (_, _, flow)| sum.plus(flow));
    }
    let least = [all.edited, all.rejected, all.left, all.executed, all.failed, all.unknown];
    assert!(least.iter().all(|count| *count > 1), "everything is tried: {all:?}");
}

#[tokio::test]
async fn what_is_run_again_was_approved_once() {
    let shelf = still_shelf().await;
    shelf.approved("a").await;
    for _ in 0..2 {
        shelf.dispatch("a").await;
        shelf.clock.pass(1_001);
        shelf.store.recover(Which::default(), Vec::new()).await.unwrap();
        shelf.store.settle("a".to_owned(), SettleAs::Retry, None, owner()).await.unwrap();
    }
    shelf.dispatch("a").await;
    shelf.clock.pass(1_001);
    shelf.store.recover(Which::default(), Vec::new()).await.unwrap();
    shelf.finish("a", 3).await.unwrap();

    let told = shelf.store.flows(&since(&shelf, HOUR)).await.unwrap();

    let sum = told.queues[0].minutes.iter().fold(Flow::default(), |sum, (_, flow)| sum.plus(flow));
    assert_eq!(sum, Flow { arrived: 1, approved: 1, executed: 1, unknown: 3, ..Flow::default() });
}

#[tokio::test]
async fn reviewers_are_those_who_decide_and_not_who_takes_back() {
    let shelf = still_shelf().await;
    let decide = async |id: &str, by: &str, waited: i64, verdict: Verdict| {
        shelf.record(id).await.unwrap();
        shelf.clock.pass(waited);
        let by = Actor { subject: by.to_owned(), ..owner() };
        shelf.store.decide(Ruling { verdict, ..approval(id) }, by, None).await.unwrap();
    };
    let edits = RawJson::parse(r#"{"n":2}"#).ok();
    decide("before", "ada", 1_000, Verdict::Reject).await;
    shelf.clock.pass(HOUR);
    decide("1", "ada", 5_000, Verdict::Reject).await;
    decide("2", "ada", 60_000, Verdict::Approve { edits }).await;
    decide("3", "ada", 9_000, Verdict::Approve { edits: None }).await;
    decide("4", "bob", 600_000, Verdict::Reject).await;
    shelf.record("back").await.unwrap();
    let agent = Actor { subject: "agent".to_owned(), ..owner() };
    shelf.store.withdraw("back".to_owned(), agent).await.unwrap();

    let told = shelf.store.flows(&since(&shelf, HOUR / 2)).await.unwrap();

    let who = told.reviewers.iter().map(|it| {
        let counts = (it.approved, it.edited.unwrap(), it.rejected);
        (it.name.as_raw().to_owned(), counts, it.median_wait / 1_000)
    });
    let want = [("ada".to_owned(), (2, 1, 1), 9), ("bob".to_owned(), (0, 0, 1), 600)];
    assert_eq!(who.collect::<Vec<_>>(), want);
    let last = shelf.store.get("4").await.unwrap().unwrap().action.row.resolved_at;
    assert_eq!((told.reviewers[1].last, told.truncated), (last.unwrap(), false));
    let unasked = AskedFlows { reviewers: false, ..since(&shelf, HOUR / 2) };
    assert!(shelf.store.flows(&unasked).await.unwrap().reviewers.is_empty());
}

/// Formats deciders as `support: 2 approved, 1 edited, 0 rejected, 9 s`.
fn said(deciders: &[Decider]) -> Vec<String> {
    let said = deciders.iter().map(|it| {
        let (approved, edited, seconds) = (it.approved, it.edited.unwrap(), it.median_wait / 1_000);
        format!(
            "{}: {approved} approved, {edited} edited, {} rejected, {seconds} s",
            it.name.as_raw(),
            it.rejected
        )
    });
    said.collect()
}

#[tokio::test]
async fn group_is_counted_by_its_people_and_names_nobody() {
    let shelf = still_shelf().await;
    for (id, by, waited) in [("1", "ada", 1_000), ("2", "Bob", 5_000), ("3", "cas", 9_000)] {
        shelf.record(id).await.unwrap();
        shelf.clock.pass(waited);
        let by = Actor { subject: by.to_owned(), ..owner() };
        shelf.store.decide(approval(id), by, None).await.unwrap();
    }
    let groups = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let members =
        [("ada", groups(&["support", "nights"])), ("bob", groups(&["support"])), ("cas", groups(&[]))];
    let groups = Some(members.map(|(name, groups)| (name.to_owned(), groups)).into());
    let asked = AskedFlows { reviewers: false, groups, ..since(&shelf, HOUR) };

    let told = shelf.store.flows(&asked).await.unwrap();

    let want = [
        "support: 2 approved, 0 edited, 0 rejected, 1 s",
        ": 1 approved, 0 edited, 0 rejected, 9 s",
        "nights: 1 approved, 0 edited, 0 rejected, 1 s",
    ];
    assert_eq!(said(&told.groups), want);
    assert_eq!(told.reviewers, [], "people are told to who asks for people");
}

#[tokio::test]
async fn approval_that_needs_more_counts_for_its_approver() {
    let shelf = still_shelf().await;
    let approve = async |id: &str, by: &str, edits: Option<RawJson>| {
        let by = Actor { subject: by.to_owned(), ..owner() };
        shelf
            .store
            .decide(Ruling { verdict: Verdict::Approve { edits }, ..approval(id) }, by, None)
            .await
            .unwrap();
    };
    for id in ["waits", "over", "voided"] {
        // Critical actions need two approvals here.
        let action = action_with(id, |it| it.row.risk = Risk::Critical);
        shelf.store.record(action, 1_000, None).await.unwrap();
    }
    shelf.clock.pass(3_000);
    approve("waits", "ada", None).await;
    approve("over", "ada", None).await;
    approve("over", "bob", None).await;
    approve("voided", "ada", None).await;
    approve("voided", "bob", RawJson::parse(r#"{"n":2}"#).ok()).await;

    let told = shelf.store.flows(&since(&shelf, HOUR)).await.unwrap();

    let want = ["ada: 2 approved, 0 edited, 0 rejected, 3 s", "bob: 2 approved, 1 edited, 0 rejected, 3 s"];
    assert_eq!(said(&told.reviewers), want);
}

#[tokio::test]
async fn queues_beyond_the_most_are_summed() {
    let shelf = still_shelf().await;
    for nth in 0..Queue::MOST + 5 {
        let agent = Some(format!("agent {nth}"));
        let ids = if nth == 40 { 0..2 } else { 0..1 };
        for id in ids.map(|id| format!("{nth} {id}")) {
            let action = action_with(&id, |it| it.row.agent = agent.as_deref().map(Into::into));
            shelf.store.record(action, 1_000, None).await.unwrap();
        }
    }

    let told = shelf.store.flows(&since(&shelf, 0)).await.unwrap();

    assert_eq!(told.queues.len(), Queue::MOST + 1);
    assert_eq!((&told.queues[0].queue, told.queues[0].pending), (&Queue::Agent("agent 40".into()), 2));
    let rest = told.queues.last().unwrap();
    assert_eq!((&rest.queue, rest.pending), (&Queue::Rest, 5));
    assert_eq!(rest.minutes.iter().map(|(_, flow)| flow.arrived).sum::<u64>(), 5);
    assert_eq!(told.queues.iter().map(|queue| queue.pending).sum::<u64>(), Queue::MOST as u64 + 6);
}

#[tokio::test]
async fn old_minutes_are_forgotten_and_what_waits_is_not() {
    let shelf = still_shelf().await;
    shelf.record("old").await.unwrap();
    shelf.clock.pass(2 * HOUR);
    shelf.record("new").await.unwrap();
    let arrived = async || {
        let told = shelf.store.flows(&since(&shelf, 48 * HOUR)).await.unwrap();
        (told.queues[0].pending, told.queues[0].minutes.iter().map(|(_, flow)| flow.arrived).sum::<u64>())
    };

    assert_eq!(shelf.store.forget_flows(3 * HOUR).await.unwrap(), 0);
    assert_eq!(arrived().await, (2, 2));
    assert_eq!(shelf.store.forget_flows(HOUR).await.unwrap(), 1);
    assert_eq!(arrived().await, (2, 1));
}

#[tokio::test]
async fn high_count_that_was_tampered_with_is_found() {
    let shelf = shelf().await;
    shelf.record("a").await.unwrap();
    shelf.run("UPDATE waiting SET high = high + 1").await;

    let problems = shelf.store.verify(&[]).await.unwrap().problems;

    assert!(problems.iter().any(|problem| problem.contains("miscounted")), "{problems:?}");
}
