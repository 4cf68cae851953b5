//! Listing, watching and following.

use EventKind::{Changed, Connection as Is, Tick};
use tokio::sync::mpsc;

use super::*;
use crate::domain::Briefing;
use crate::domain::{Risk, Risks};

#[tokio::test]
async fn rows_come_with_keys_and_capabilities() {
    let (house, source) = (House::new(), Fake::new("s"));
    let inbox = house.inbox(&[&source]).await;

    let all = inbox.sync(&SourceName::new("s"), None).await.unwrap();
    let changes = inbox.sync(&SourceName::new("s"), all.revision).await.unwrap();

    let Rows::All(entries) = all.rows else { panic!("expected the whole list") };
    assert_eq!((entries[0].key.clone(), entries[0].row.can), (key("s", "1"), CAN));
    assert_eq!(all.unreadable, [Untrusted::from("17")]);
    let Rows::Changes { entries, gone } = changes.rows else { panic!("changes were asked for") };
    assert_eq!((entries[0].key.clone(), gone), (key("s", "2"), vec![key("s", "3")]));
    assert_eq!(changes.revision, Some(Revision(6)));
    assert!(inbox.sync(&SourceName::new("other"), None).await.is_err());
}

#[tokio::test]
async fn row_without_an_id_is_read_from_the_list() {
    let (house, source) = (House::new(), Fake::new("s"));
    source.stands("1", &[r#""status":"pending""#]);
    let inbox = house.inbox(&[&source]).await;
    let synced = inbox.sync(&SourceName::new("s"), None).await.unwrap();
    let Rows::All(entries) = synced.rows else { panic!("expected the whole list") };
    let nameless = entries.iter().find(|entry| entry.row.unreadable.is_some()).unwrap().key.clone();

    let loaded = inbox.load(&[nameless.clone(), key("s", "1"), key("s", "(no id) of another list")]).await;

    let found: Vec<_> = loaded.iter().map(|(_, action)| action.as_ref().ok().map(|it| &it.row.id)).collect();
    assert_eq!(found, [Some(&nameless.id), Some(&ActionId::new("1")), None]);
    assert_eq!(loaded[0].1.as_ref().unwrap().input.as_str(), r#""17""#);
    assert_eq!(source.state().reads, 1, "actions with an id are read from the source");
}

#[tokio::test]
async fn configured_risk_raises_the_risk_on_every_read() {
    let (house, source) = (House::new(), Fake::new("s"));
    source.stands("1", &[r#""status":"pending","risk":"low""#]);
    let risks = [(SourceName::new("s"), Risks::new([("t".to_owned(), Risk::Critical)]))];
    let inbox = house.inbox(&[&source]).await.with_risks(risks);

    let synced = inbox.sync(&SourceName::new("s"), None).await.unwrap();
    let loaded = inbox.load(&[key("s", "1")]).await;

    let Rows::All(entries) = synced.rows else { panic!("expected the whole list") };
    assert_eq!(entries[0].row.risk, Risk::Critical);
    assert_eq!(loaded[0].1.as_ref().unwrap().row.risk, Risk::Critical);
}

#[tokio::test]
async fn unreadable_action_hides_no_other() {
    let (house, one, two) = (House::new(), Fake::new("one"), Fake::new("two"));
    let inbox = house.inbox(&[&one, &two]).await;
    one.stands("1", &[r#""status":"pending""#]);
    one.state().actions.insert(ActionId::new("bad"), [r#"{"id":"bad"}"#.to_owned()].into());
    two.state().unreadable = 1;
    let keys = [("one", "1"), ("two", "1"), ("one", "bad"), ("one", "gone"), ("one", "1"), ("three", "1")];

    let loaded = inbox.load(&keys.map(|(source, id)| key(source, id))).await;

    let said: Vec<_> = loaded
        .into_iter()
        .map(|(_, action)| action.map(|action| action.row.id).map_err(|problem| problem.what))
        .collect();
    let err = |what: &str| Err(what.to_owned());
    assert_eq!(
        said,
        [
            Ok(ActionId::new("1")),
            err("gave no usable answer"),
            Ok(ActionId::new("bad")),
            err("no longer in the source"),
            Ok(ActionId::new("1")),
            err("is not configured any more"),
        ]
    );
}

async fn kinds(events: &mut mpsc::Receiver<Event>, count: usize) -> Vec<EventKind> {
    let mut kinds = Vec::new();
    while kinds.len() < count {
        kinds.push(soon(events.recv()).await.unwrap().kind);
    }
    kinds
}

#[tokio::test]
async fn source_without_a_stream_is_polled() {
    let (house, source) = (House::new(), Fake::new("s"));
    let inbox = house.inbox(&[&source]).await;

    let kinds = kinds(&mut inbox.watch(), 5).await;

    assert_eq!(kinds, [Is(Connection::Connecting), Is(Connection::Polling), Changed, Changed, Changed]);
}

#[tokio::test]
async fn source_whose_stream_ends_is_polled() {
    let (house, source) = (House::new(), Fake::new("s"));
    *source.signals.lock().unwrap() = Some(futures_util::stream::empty().boxed());
    let inbox = house.inbox(&[&source]).await;

    let kinds = kinds(&mut inbox.watch(), 4).await;

    assert_eq!(kinds, [Is(Connection::Connecting), Changed, Is(Connection::Polling), Changed]);
}

#[tokio::test]
async fn pushed_events_are_passed_on_and_polling_continues() {
    let (house, source) = (House::new(), Fake::new("s"));
    let briefing = Briefing { pending: 3, ..Briefing::default() };
    let down =
        || EventKind::Connection(Connection::Retrying { why: "x".into(), retry_in: Duration::from_secs(1) });
    let stopped = || EventKind::Connection(Connection::Stopped { why: "404".into() });
    let script = [
        EventKind::Connection(Connection::Live),
        EventKind::Briefing(briefing.clone()),
        Tick,
        Changed,
        down(),
        stopped(),
    ];
    *source.signals.lock().unwrap() = Some(futures_util::stream::iter(script).boxed());
    let inbox = house.inbox(&[&source]).await;
    let slow = Inbox { pace: Pace { safety: Duration::from_hours(1), ..QUICK }, ..inbox };

    let kinds = kinds(&mut slow.watch(), 11).await;

    let want = [
        Is(Connection::Connecting),
        Changed,
        Is(Connection::Live),
        Changed,
        EventKind::Briefing(briefing),
        Tick,
        Changed,
        Is(Connection::Retrying { why: "x".into(), retry_in: Duration::from_secs(1) }),
        Is(Connection::Stopped { why: "404".into() }),
        Changed,
        Changed,
    ];
    assert_eq!(kinds, want);
}

#[tokio::test]
async fn live_source_is_still_polled_for_safety() {
    let (house, source) = (House::new(), Fake::new("s"));
    let up_and_silent = futures_util::stream::iter([EventKind::Connection(Connection::Live)])
        .chain(futures_util::stream::pending());
    *source.signals.lock().unwrap() = Some(up_and_silent.boxed());
    let inbox = house.inbox(&[&source]).await;

    let kinds = kinds(&mut inbox.watch(), 6).await;

    assert_eq!(kinds[4..], [Changed, Changed]);
}

#[tokio::test]
async fn failed_list_is_retried_within_seconds_despite_a_stream() {
    let (house, source) = (House::new(), Fake::new("s"));
    let up_and_silent = futures_util::stream::iter([EventKind::Connection(Connection::Live)])
        .chain(futures_util::stream::pending());
    *source.signals.lock().unwrap() = Some(up_and_silent.boxed());
    let inbox = house.inbox(&[&source]).await;
    let hours = Duration::from_hours(9);
    let slow =
        Inbox { pace: Pace { poll: hours, safety: hours, clock: || Timestamp::default(), ..QUICK }, ..inbox };
    source.state().unlisted = 3;
    tokio::time::pause();
    let mut events = slow.watch();
    let first = kinds(&mut events, 4).await;
    assert_eq!(first[3], Changed);

    let mut waits = Vec::new();
    while slow.sync(&SourceName::new("s"), None).await.is_err() {
        let failed = tokio::time::Instant::now();
        assert_eq!(events.recv().await.unwrap().kind, Changed);
        waits.push(failed.elapsed());
    }

    let limits = [2, 8, 30].map(Duration::from_secs);
    assert!(waits.len() == 3 && waits.iter().zip(limits).all(|(wait, limit)| *wait <= limit), "{waits:?}");
    assert!(waits.iter().all(|wait| *wait >= Duration::from_secs(1)), "{waits:?}");
    let asked = tokio::time::timeout(Duration::from_hours(1), events.recv()).await;
    assert!(asked.is_err(), "a request after a successful list: {asked:?}");
}

#[tokio::test]
async fn watching_ends_without_a_listener() {
    let (house, source) = (House::new(), Fake::new("s"));
    let inbox = house.inbox(&[&source]).await;
    let slow = Inbox { pace: Pace::new(Duration::from_hours(1)), ..inbox };
    let held = slow.sources[0].holders();
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();

    let mut events = slow.watch();
    kinds(&mut events, 3).await;
    let (watched, watching) = (slow.sources[0].holders(), tasks());
    drop(events);

    assert_eq!(watched, held + 1);
    // One task watches the source, another merges the events.
    soon(async {
        while slow.sources[0].holders() > held || tasks() + 2 > watching {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn approved_action_is_followed_to_its_end() {
    let (house, source) = (House::new(), Fake::new("s"));
    let inbox = house.inbox(&[&source]).await;
    let (approved, running) = (r#""status":"approved""#, r#""status":"running""#);
    source.stands("1", &[approved, approved, running, r#""status":"executed","result":{"n":1.10}"#]);
    source.stands("2", &[r#""status":"failed","error":"no such repo""#]);
    source.state().unreadable = 2;
    let (changes, mut followed) = mpsc::channel(16);

    let keys = ["1", "2", "gone"].map(|id| key("s", id)).to_vec();
    soon(inbox.follow(keys, Duration::from_secs(9), changes)).await;

    let mut steps = Vec::new();
    while let Some(step) = followed.recv().await {
        let result = step.result.map(|result| result.as_str().to_owned());
        steps.push((step.key.id.as_raw().to_owned(), step.status, result, step.error));
    }
    steps.sort_by(|a, b| a.0.cmp(&b.0));
    let one = |status, result: Option<&str>| ("1".to_owned(), status, result.map(str::to_owned), None);
    assert_eq!(
        steps,
        [
            one(Status::Approved, None),
            one(Status::Running, None),
            one(Status::Executed, Some(r#"{"n":1.10}"#)),
            ("2".to_owned(), Status::Failed, None, Some("no such repo".into())),
        ]
    );
}

#[tokio::test]
async fn accepted_decision_is_followed_until_pending_again() {
    let (house, source) = (House::new(), Fake::new("s"));
    let inbox = house.inbox(&[&source]).await;
    let pending = r#""status":"pending""#;
    let late = r#""status":"pending","error":"nobody took it""#;
    source.stands("late", &[pending, pending, late, late, r#""status":"rejected""#]);
    source.stands("back", &[pending, r#""status":"running""#, pending]);
    let (changes, mut followed) = mpsc::channel(16);

    let keys = ["late", "back"].map(|id| key("s", id)).to_vec();
    soon(inbox.follow(keys, Duration::from_hours(1), changes)).await;

    let mut steps = Vec::new();
    while let Some(step) = followed.recv().await {
        steps.push((step.key.id.as_raw().to_owned(), step.status, step.error));
    }
    steps.sort_by(|a, b| a.0.cmp(&b.0));
    let of = |id: &str, status, error: Option<&str>| (id.to_owned(), status, error.map(Untrusted::from));
    assert_eq!(
        steps,
        [
            of("back", Status::Running, None),
            of("back", Status::Pending, None),
            of("late", Status::Pending, Some("nobody took it")),
            of("late", Status::Rejected, None),
        ]
    );
}

#[tokio::test]
async fn following_ends_with_its_limit_or_its_listener() {
    let (house, source) = (House::new(), Fake::new("s"));
    let inbox = house.inbox(&[&source]).await;
    source.stands("1", &[r#""status":"approved""#]);
    let (changes, followed) = mpsc::channel(1);

    soon(inbox.follow(vec![key("s", "1")], Duration::from_millis(30), changes.clone())).await;
    drop(followed);
    soon(inbox.follow(vec![key("s", "1")], Duration::from_hours(1), changes)).await;
}

#[tokio::test]
async fn g30_inbox_reconnects_and_reloads_after_sleep() {
    static WALL: std::sync::atomic::AtomicI64 = std::sync::atomic::AtomicI64::new(0);
    let clock = || Timestamp::from_millis(WALL.load(std::sync::atomic::Ordering::Relaxed));
    let up = || {
        futures_util::stream::iter([EventKind::Connection(Connection::Live)])
            .chain(futures_util::stream::pending())
            .boxed()
    };
    let (house, source, other) = (House::new(), Fake::new("s"), Fake::new("t"));
    let inbox = house.inbox(&[&source, &other]).await;
    let hours = Duration::from_hours(9);
    let slow = Inbox { pace: Pace { poll: hours, safety: hours, clock, ..QUICK }, ..inbox };
    let push = || [&source, &other].map(|it| it.signals.lock().unwrap().replace(up()));
    push();
    tokio::time::pause();
    let mut events = slow.watch();
    kinds(&mut events, 8).await;
    push();

    // A minute on both clocks is not sleep.
    for _ in 0..12 {
        WALL.fetch_add(5_000, std::sync::atomic::Ordering::Relaxed);
        assert!(tokio::time::timeout(Duration::from_secs(5), events.recv()).await.is_err());
    }
    WALL.fetch_add(3_600_000, std::sync::atomic::Ordering::Relaxed);

    let mut woke = [Vec::new(), Vec::new()];
    for _ in 0..8 {
        let event = tokio::time::timeout(Duration::from_secs(11), events.recv()).await.unwrap().unwrap();
        woke[usize::from(event.source == *slow.sources[1].name())].push(event.kind);
    }

    let anew = [Is(Connection::Connecting), Changed, Is(Connection::Live), Changed];
    assert_eq!(woke, [anew.clone(), anew]);
}
