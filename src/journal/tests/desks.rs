//! Whose desk a run works at: never on top of work it has not read.

use super::*;
use crate::domain::DecisionKind;

fn one(id: &str) -> Desk {
    let mut desk = Desk::default();
    desk.stage(&[(id, Some(Decision::APPROVE))]);
    desk
}

#[tokio::test]
async fn who_saves_without_having_restored_ends_nobodys_work() {
    let place = Place::new();
    let journal = place.open().await;
    some_desk().save(&journal).await;
    crash(journal).await;

    let hasty = place.open().await;
    one("9").save(&hasty).await;

    assert_eq!(hasty.restore().await.unwrap().draft, one("9").draft);
    assert_eq!(place.open().await.restore().await.unwrap().draft, some_desk().draft);
}

#[tokio::test]
async fn what_was_seen_early_does_not_stand_between_a_run_and_its_draft() {
    let place = Place::new();
    let journal = place.open().await;
    some_desk().save(&journal).await;
    crash(journal).await;

    let next = place.open().await;
    let seen = Write::Seen { key: key("1"), digest: digest("1"), seen: Seen::InFull };
    next.save(&[seen]).await.unwrap();

    assert_eq!(next.restore().await.unwrap().draft, some_desk().draft);
}

#[tokio::test]
async fn what_could_not_be_read_is_not_written_over() {
    let place = Place::new();
    let journal = place.open().await;
    some_desk().save(&journal).await;
    let damage = |after: &'static str| {
        sqlx::query("UPDATE change SET after = $1 WHERE desk = 1 AND step = 2").bind(after)
    };
    let good: String = sqlx::query_scalar("SELECT after FROM change WHERE desk = 1 AND step = 2")
        .fetch_one(&journal.database.write)
        .await
        .unwrap();
    damage("{").execute(&journal.database.write).await.unwrap();
    crash(journal).await;

    let next = place.open().await;
    next.restore().await.unwrap_err();
    one("9").save(&next).await;

    sqlx::query("UPDATE change SET after = $1 WHERE after = '{'")
        .bind(good)
        .execute(&next.database.write)
        .await
        .unwrap();
    assert_eq!(next.restore().await.unwrap().draft, one("9").draft, "it goes on at its own desk");
    crash(next).await;
    let (first, second) = (place.open().await, place.open().await);
    let drafts = [first.restore().await.unwrap().draft, second.restore().await.unwrap().draft];
    assert!(drafts.contains(&some_desk().draft) && drafts.contains(&one("9").draft), "{drafts:?}");
}

#[tokio::test]
async fn reasons_comments_and_guidance_come_back_each_as_what_it_is_until_they_are_settled() {
    let place = Place::new();
    let journal = place.open().await;
    let all =
        [(DecisionKind::Reject, "no"), (DecisionKind::Approve, "c\u{202e}"), (DecisionKind::Retry, "again")];
    let text =
        |says, text: Option<&str>| Write::ReasonText { key: key("1"), says, text: text.map(str::to_owned) };
    let mut writes: Vec<Write> = all.iter().map(|(says, it)| text(*says, Some(it))).collect();
    writes.extend([text(DecisionKind::Reject, Some("not this")), text(DecisionKind::Retry, None)]);
    journal.save(&writes).await.unwrap();
    crash(journal).await;

    let next = place.open().await;
    let texts = next.restore().await.unwrap().reason_texts;
    let kept = |says| texts.get(&(key("1"), says)).map(String::as_str);
    let want = (Some("not this"), Some("c\u{202e}"), None);
    assert_eq!((kept(DecisionKind::Reject), kept(DecisionKind::Approve), kept(DecisionKind::Retry)), want);

    next.save(&[Write::Settle(vec![key("1")])]).await.unwrap();
    assert!(next.restore().await.unwrap().reason_texts.is_empty());
}

#[tokio::test]
async fn what_is_snoozed_is_known_to_the_next_run_and_takes_no_desk() {
    let place = Place::new();
    let journal = place.open().await;
    some_desk().save(&journal).await;
    crash(journal).await;
    let terms = |until| (until > 1).then(|| digest("2"));
    let snooze = |until| {
        Some(Snooze { until: Timestamp::from_millis(until), label: digest("1"), terms: terms(until) })
    };
    let write = |id: &str, snooze| Write::Snooze { key: key(id), snooze };

    let next = place.open().await;
    next.save(&[write("1", snooze(1)), write("2", snooze(2)), write("1", snooze(3))]).await.unwrap();
    next.save(&[write("2", None)]).await.unwrap();

    let restored = next.restore().await.unwrap();
    assert_eq!(restored.snoozes, [(key("1"), snooze(3).unwrap())].into());
    assert_eq!(restored.draft, some_desk().draft, "it works at the desk that was left");
}
