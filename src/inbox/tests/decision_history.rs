//! Settled actions of several sources in one list.

use super::*;
use crate::clock;
use crate::domain::HistoryEvent;

fn lists(source: &Fake, pages: &[&[(&str, i64)]]) {
    let row = |(id, minute): &(&str, i64)| {
        let mut row = action::read_row(&text(id, r#""status":"failed""#)).unwrap();
        row.created_at = Timestamp::from_millis(minute * 60_000);
        row
    };
    let last = pages.len() - 1;
    let page = |(nth, rows): (usize, &&[(&str, i64)])| sources::Listed {
        rows: rows.iter().map(row).collect(),
        unreadable: Vec::new(),
        next: (nth < last).then(|| (nth + 1).to_string()),
    };
    source.state().pages = pages.iter().enumerate().map(page).map(Some).collect();
}

fn ids(listing: &Listing) -> Vec<&str> {
    listing.entries.iter().map(|entry| entry.key.id.as_raw()).collect()
}

#[tokio::test]
async fn lists_of_several_sources_are_merged_newest_first() {
    let house = House::new();
    let (a, b) = (Fake::new("a"), Fake::new("b"));
    lists(&a, &[&[("a9", 9), ("a8", 8)], &[("a3", 3)]]);
    lists(&b, &[&[("b7", 7), ("b2", 2), ("b1", 1)]]);
    let inbox = house.inbox(&[&a, &b]).await;

    let first = inbox.listed(None, &[Status::Failed], None).await;
    let second = inbox.listed(None, &[Status::Failed], first.next.clone()).await;

    assert_eq!(ids(&first), ["a9", "a8"], "a's next page may be newer than b's rows");
    assert_eq!(ids(&second), ["b7", "a3", "b2", "b1"]);
    assert_eq!(second.next, None);
}

#[tokio::test]
async fn failing_source_hides_no_other_and_is_reported() {
    let house = House::new();
    let (a, b, c) = (Fake::new("a"), Fake::new("b"), Fake::new("c"));
    lists(&a, &[&[("a1", 1)]]);
    b.state().pages = vec![None];
    c.state().keeps_nothing = true;
    let inbox = house.inbox(&[&a, &b, &c]).await;

    let listing = inbox.listed(None, &[Status::Failed], None).await;

    assert_eq!((ids(&listing), listing.next.is_none()), (vec!["a1"], true));
    let told: Vec<_> =
        listing.problems.iter().map(|p| (p.source.clone().unwrap(), p.what.as_str())).collect();
    let name = |name: &str| SourceName::new(name);
    assert_eq!(told, [(name("c"), "cannot list what is over"), (name("b"), "gave no usable answer")]);
}

#[tokio::test]
async fn hanging_source_delays_no_page_of_another() {
    let house = House::new();
    let (a, b) = (Fake::new("a"), Fake::new("b"));
    lists(&a, &[&[("a1", 1)]]);
    b.state().hangs = true;
    let inbox = house.inbox(&[&a, &b]).await;
    tokio::time::pause();
    let begun = tokio::time::Instant::now();

    let listing = inbox.listed(None, &[Status::Failed], None).await;

    assert_eq!((ids(&listing), listing.next.is_none()), (vec!["a1"], true));
    let told: Vec<_> = listing.problems.iter().map(|problem| problem.what.as_str()).collect();
    assert_eq!(told, ["did not answer within 5 s and is left out"]);
    assert!(begun.elapsed() <= Duration::from_secs(6), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn history_joins_the_sources_timeline_and_the_journal() {
    let house = House::new();
    let (a, b) = (Fake::new("a"), Fake::new("b"));
    b.state().keeps_nothing = true;
    let event =
        HistoryEvent { kind: "created".into(), at: Timestamp::from_millis(1), by: None, details: None };
    a.state().events = vec![event.clone()];
    let inbox = house.inbox(&[&a, &b]).await;
    let reject = Decision::Reject { reason: Some("twice".to_owned()) };
    inbox.submit(submission("s1", &[("b", None, "1", reject.clone())]), 0).await.unwrap();

    let (at_a, at_b) =
        (inbox.history(&key("a", "1")).await.unwrap(), inbox.history(&key("b", "1")).await.unwrap());

    assert_eq!((at_a.events, at_a.sent), (Some(vec![event]), Vec::new()));
    assert_eq!((at_b.events, at_b.problem), (None, None), "a missing timeline is not a problem");
    let sent: Vec<_> = at_b.sent.iter().map(|one| (one.reviewer.as_deref(), &one.sent.decision)).collect();
    assert_eq!(sent, [(Some("Ada"), &reject)]);
    let gone = inbox.history(&key("gone", "1")).await.unwrap();
    assert_eq!(gone.problem.unwrap().what, "is not configured any more");
}

#[tokio::test]
async fn id_prefix_is_searched_in_list_and_journal() {
    let (house, source) = (House::new(), Fake::new("s"));
    let inbox = house.inbox(&[&source]).await;
    let decided =
        submission("s-1", &[("s", None, "12", Decision::APPROVE), ("s", None, "2", Decision::REJECT)]);
    inbox.submit(decided, 0).await.unwrap();

    let of = async |prefix: &str| {
        let ids = inbox.beginning(&SourceName::new("s"), prefix).await.unwrap();
        ids.into_iter().map(|id| id.as_raw().to_owned()).collect::<Vec<_>>()
    };

    assert_eq!(of("1").await, ["1", "12"], "1 is listed");
    assert_eq!(of("12").await, ["12"]);
    assert_eq!(of("_").await, Vec::<String>::new(), "`_` is not a pattern");
    source.state().unlisted = 1;
    assert!(inbox.beginning(&SourceName::new("s"), "1").await.is_err(), "the list is unknown");
}

async fn decided_before(inbox: &Inbox, id: &str, more: &str) -> Option<DecidedBefore> {
    let row = action::read_row(&text(id, more)).unwrap();
    let answer = inbox.ask(&key("s", id), Question::Context, &[row]).await.unwrap();
    let Answer::Context(_, before) = answer else { panic!("{answer:?}") };
    before
}

#[tokio::test]
async fn earlier_decisions_are_counted_from_the_sources_history() {
    let (house, source) = (House::new(), Fake::new("s"));
    let over = |id: &str, tool: &str, status: Status, days: i64| {
        let mut row = action::read_row(&text(id, r#""status":"failed""#)).unwrap();
        (row.tool, row.status) = (tool.into(), status);
        row.resolved_at = Some(clock::now().plus_millis(-days * 86_400_000 - 1_000));
        row
    };
    let rows = vec![
        over("1", "t", Status::Executed, 0),
        over("2", "t", Status::Executed, 1),
        over("3", "other", Status::Executed, 1),
        over("4", "t", Status::Rejected, 2),
        over("5", "t", Status::Failed, 6),
        over("6", "t", Status::Rejected, 7),
    ];
    source.stands("4", &[r#""status":"rejected","reason":"duplicate""#]);
    source.state().pages = vec![Some(sources::Listed { rows, unreadable: Vec::new(), next: None })];
    let inbox = house.inbox(&[&source]).await;

    let pending = r#""status":"pending","risk":"low""#;
    let expected =
        DecidedBefore { excluded: 1, approved: 2, reasons: vec!["duplicate".into()], at_least: false };
    assert_eq!(
        decided_before(&inbox, "1", pending).await,
        Some(expected),
        "the action itself does not count"
    );

    for (more, why) in [
        (r#""status":"pending","risk":"high""#, "risky actions show no habit"),
        (r#""status":"pending","risk":"critical""#, "risky actions show no habit"),
        (r#""status":"executed","risk":"low""#, "settled actions need no decision"),
    ] {
        assert_eq!(decided_before(&inbox, "9", more).await, None, "{why}");
    }
    source.state().pages = vec![None];
    assert_eq!(decided_before(&inbox, "9", pending).await, None, "an unreadable history is not reported");
}

#[tokio::test]
async fn earlier_decisions_are_counted_from_the_journal() {
    let (house, source) = (House::new(), Fake::new("s"));
    source.state().keeps_nothing = true;
    let inbox = house.inbox(&[&source]).await;
    let no = |reason: &str| Decision::Reject { reason: Some(reason.to_owned()) };
    let decisions = [
        ("s", None, "1", Decision::APPROVE),
        ("s", None, "2", no("twice")),
        ("s", None, "3", no("twice")),
        ("s", None, "9", no("this one")),
    ];
    inbox.submit(submission("s1", &decisions), 0).await.unwrap();

    let before = decided_before(&inbox, "9", r#""status":"pending""#).await;
    let expected = DecidedBefore { excluded: 2, approved: 1, reasons: vec!["twice".into()], at_least: false };
    assert_eq!(before, Some(expected));
    let other = r#""status":"pending","toolName":"other""#;
    let row =
        action::read_row(&text("9", "").replace(r#""toolName":"t""#, other).replace(",}", "}")).unwrap();
    let answer = inbox.ask(&key("s", "9"), Question::Context, &[row]).await.unwrap();
    assert!(matches!(answer, Answer::Context(_, None)), "another tool: {answer:?}");
}

#[tokio::test]
async fn recent_approvals_come_from_the_source_or_the_journal() {
    let (house, source) = (House::new(), Fake::new("s"));
    let over = |id: &str, status: Status, hours: i64| {
        let mut row = action::read_row(&text(id, r#""status":"failed""#)).unwrap();
        row.status = status;
        row.resolved_at = Some(clock::now().plus_millis(-hours * 3_600_000));
        row
    };
    let rows = vec![over("1", Status::Executed, 1), over("2", Status::Executed, 25)];
    source.state().pages = vec![Some(sources::Listed { rows, unreadable: Vec::new(), next: None })];
    let inbox = house.inbox(&[&source]).await;
    let ids = |ran: Vec<Ran>| ran.into_iter().map(|ran| ran.key.id.as_raw().to_owned()).collect::<Vec<_>>();
    assert_eq!(ids(inbox.ran_lately(source.name()).await), ["1"]);
    source.state().pages = vec![None];
    assert!(inbox.ran_lately(source.name()).await.is_empty(), "an unreadable history is not reported");

    let (house, source) = (House::new(), Fake::new("s"));
    source.state().keeps_nothing = true;
    let inbox = house.inbox(&[&source]).await;
    let decisions =
        [("s", None, "1", Decision::APPROVE), ("s", None, "2", Decision::Reject { reason: None })];
    inbox.submit(submission("s1", &decisions), 0).await.unwrap();
    assert_eq!(ids(inbox.ran_lately(source.name()).await), ["1"], "approved, not rejected");
}
