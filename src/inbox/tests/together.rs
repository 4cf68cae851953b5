//! Several sources: a hanging one delays and hides no other.

use super::*;
use crate::domain::Verdict;
use tokio::sync::mpsc;

const A: Decision = Decision::APPROVE;
/// Enough for immediate answers, even on a busy machine.
const LIMIT: Duration = Duration::from_secs(2);

async fn side_by_side() -> (House, Arc<Fake>, Arc<Fake>, Inbox) {
    let (house, good, hung) = (House::new(), Fake::new("good"), Fake::new("hung"));
    good.stands("1", &[r#""status":"executed""#]);
    hung.state().hangs = true;
    let inbox = house.inbox(&[&hung, &good]).await.in_a_hurry(LIMIT);
    (house, good, hung, inbox)
}

fn named(name: &str) -> SourceName {
    SourceName::new(name)
}

#[tokio::test]
async fn reads_of_a_hanging_source_fail_alone() {
    let (_house, _good, _hung, inbox) = side_by_side().await;

    let (here, there) = ([key("hung", "1"), key("good", "1")], key("hung", "1"));
    let (names, statuses) = ([named("good"), named("hung")], [Status::Executed]);
    // In parallel, so that the limit passes only once.
    let asked = async {
        tokio::join!(
            inbox.sync(&names[0], None),
            inbox.sync(&names[1], None),
            inbox.load(&here),
            inbox.context(&here[1], &[]),
            inbox.context(&there, &[]),
            inbox.history(&there),
            inbox.listed(None, &statuses, None),
            inbox.check(),
        )
    };
    let (good, hung, loaded, around, nothing, history, listing, checks) = soon(asked).await;

    assert!(good.is_ok());
    let problem = hung.unwrap_err();
    assert_eq!(problem.source, Some(named("hung")));
    assert!(problem.why.unwrap().as_raw().starts_with("no answer within"));
    let ok: Vec<_> = loaded.iter().map(|(key, answer)| (key.source.as_str(), answer.is_ok())).collect();
    assert_eq!(ok, [("hung", false), ("good", true)]);
    assert_eq!(around.unwrap().len(), 1);
    assert!(nothing.is_err());
    assert!(history.unwrap().problem.is_some());
    let troubled: Vec<_> = listing.problems.iter().filter_map(|problem| problem.source.clone()).collect();
    assert_eq!(troubled, [named("hung")]);
    let verdicts: Vec<_> = checks.iter().map(|(name, checks)| (name.as_str(), checks[0].verdict)).collect();
    assert_eq!(verdicts, [("hung", Verdict::Bad), ("good", Verdict::Warn)]);
}

#[tokio::test]
async fn decisions_at_a_hanging_source_are_unknown_others_reported() {
    let (_house, good, hung, inbox) = side_by_side().await;
    let two = submission("s-1", &[("hung", None, "1", A), ("good", None, "1", A)]);

    let report = soon(inbox.submit(two, 0)).await.unwrap();

    let outcome = |source: &str| {
        let line = report.lines.iter().find(|line| line.key.source == named(source)).unwrap();
        line.outcome.clone()
    };
    assert_eq!(outcome("good"), Outcome::Approved);
    assert!(matches!(outcome("hung"), Outcome::Unknown { .. }), "{:?}", outcome("hung"));
    assert_eq!((good.sent().len(), hung.sent().len()), (1, 1), "each was sent once");

    hung.state().hangs = false;
    hung.stands("1", &[r#""status":"approved","resolvedBy":"ada","resolvedAt":"2999-01-01T00:00:00Z""#]);
    let reconciled = soon(inbox.reconcile()).await.unwrap();
    assert_eq!(reconciled[0].report.counts().unknown, 0, "{:?}", reconciled[0]);
    assert_eq!(hung.sent().len(), 1);
}

#[tokio::test]
async fn approved_action_is_followed_despite_a_hanging_source() {
    let (_house, _good, _hung, inbox) = side_by_side().await;
    let (changes, mut heard) = mpsc::channel(8);

    let keys = vec![key("hung", "1"), key("good", "1")];
    let following = tokio::spawn(async move { inbox.follow(keys, Duration::from_secs(9), changes).await });

    let followed = soon(heard.recv()).await.unwrap();
    assert_eq!((followed.key, followed.status), (key("good", "1"), Status::Executed));
    drop(heard);
    soon(following).await.unwrap();
}

#[tokio::test]
async fn answers_are_reported_while_one_source_hangs() {
    let (house, good, hung) = (House::new(), Fake::new("good"), Fake::new("hung"));
    hung.state().hangs = true;
    let inbox = house.inbox(&[&hung, &good]).await;
    let two = submission("s-1", &[("hung", None, "1", A), ("good", None, "1", A)]);
    let (told, mut heard) = mpsc::channel(8);

    let sending = tokio::spawn(async move { inbox.submit_telling(two, 3, told).await });
    assert_eq!(soon(heard.recv()).await, Some(Sending::Answered(SourceName::new("good"), 1)));
    let Some(Sending::Partly(so_far)) = soon(heard.recv()).await else { panic!("no partial report") };
    let known: Vec<_> = so_far.lines.iter().map(|line| (line.key.clone(), line.outcome.clone())).collect();
    assert_eq!(known, [(key("good", "1"), Outcome::Approved)]);

    hung.state().hangs = false;
    hung.goes_on.notify_waiters();
    let report = soon(sending).await.unwrap().unwrap();
    assert_eq!((report.counts().approved, report.left_pending), (2, 3));
    assert_eq!(soon(heard.recv()).await, Some(Sending::Answered(SourceName::new("hung"), 1)));
    assert_eq!(soon(heard.recv()).await, None);
}
