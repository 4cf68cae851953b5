//! Which desk a run works at: it never overwrites work that it has not read.

use super::*;
use crate::domain::DecisionKind;

fn one(id: &str) -> Desk {
    let mut desk = Desk::default();
    desk.stage(&[(id, Some(Decision::APPROVE))]);
    desk
}

#[tokio::test]
async fn saving_before_restoring_overwrites_no_other_desk() {
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
async fn saving_seen_content_before_restoring_keeps_the_draft() {
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
async fn unreadable_desk_is_not_overwritten() {
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
    assert_eq!(next.restore().await.unwrap().draft, one("9").draft, "the run stays at its own desk");
    crash(next).await;
    let (first, second) = (place.open().await, place.open().await);
    let drafts = [first.restore().await.unwrap().draft, second.restore().await.unwrap().draft];
    assert!(drafts.contains(&some_desk().draft) && drafts.contains(&one("9").draft), "{drafts:?}");
}

#[tokio::test]
async fn reason_texts_are_restored_by_kind_until_settled() {
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
async fn snoozes_are_restored_and_take_no_desk() {
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
