use super::*;
use crate::domain::Capabilities;

#[tokio::test]
async fn approved_action_has_run_and_its_result_is_kept() {
    let desk = Desk::at_data_machine().await;
    let id = desk.site.put(|_| ());

    assert_eq!(desk.approve(&id).await, Outcome::Approved);

    let resolve = format!(r#"{{"action_id":"{}","decision":"accepted","resolver":"user:7"}}"#, id.as_raw());
    assert_eq!(desk.resolves(), [resolve]);
    desk.site.books().actions.clear();
    let told = desk.get(&id).await.unwrap();
    assert_eq!(told.row.status, Status::Executed);
    assert_eq!(told.result.unwrap().as_str(), r#"{"post_id":77}"#);
}

#[tokio::test]
async fn reason_is_sent_and_comment_is_not() {
    let desk = Desk::at_data_machine().await;
    let (no, yes) = (desk.site.put(|_| ()), desk.site.put(|_| ()));
    let reject = Decision::Reject { reason: Some("the \"wrong\" customer".to_owned()) };
    let approve = Decision::Approve { edits: None, comment: Some("go ahead".to_owned()) };

    assert_eq!(desk.decide(&no, &reject).await, Ok(Outcome::Rejected));
    assert_eq!(desk.decide(&yes, &approve).await, Ok(Outcome::Approved));

    let resolves = desk.resolves();
    assert!(resolves[0].ends_with(r#","payload":{"reason":"the \"wrong\" customer"}}"#), "{}", resolves[0]);
    assert!(!resolves[1].contains("go ahead"), "{}", resolves[1]);
}

#[tokio::test]
async fn decisions_need_the_user_name_from_the_site() {
    let desk = Desk::at_data_machine().await;
    let id = desk.site.put(|_| ());
    desk.listed().await.unwrap();
    assert_eq!(desk.source.subject(), Some("user:7".into()));
    let batches = desk.freeze(&[&id], &Decision::APPROVE).await.unwrap();

    let silent = Desk::at(Setup { tells_who: false, ..Setup::DATA_MACHINE }).await;
    silent.site.put(|_| ());
    let (rows, _) = silent.listed().await.unwrap();
    let can = rows[0].can;
    assert!(!can.can_decide());
    assert!(can.told()[0].1.contains("does not say who this user is"), "{:?}", can.told());
    let refused = silent.source.submit(&batches[0], "key").await.unwrap_err();
    assert!(matches!(&refused, SourceError::Forbidden { why } if why.as_raw().contains("takes no decision")));
    assert!(silent.resolves().is_empty());
}

#[tokio::test]
async fn changed_action_is_not_sent() {
    let changes: [fn(&mut books::Kept); 5] = [
        |kept| kept.input = r#"{"title":"Hello","n":1.1,"tags":[]}"#.to_owned(),
        |kept| kept.head = r#""summary":"Something else","preview":null,"#.to_owned(),
        |kept| kept.metadata = r#"{"effect":"destructive"}"#.to_owned(),
        |kept| kept.kind = "delete_post".to_owned(),
        |kept| kept.expires_at = r#""2099-01-01T00:00:00+00:00""#.to_owned(),
    ];
    for change in changes {
        let desk = Desk::at_data_machine().await;
        let id = desk.site.put(|_| ());
        let batches = desk.freeze(&[&id], &Decision::APPROVE).await.unwrap();
        desk.site.with(&id, change);

        let outcomes = desk.source.submit(&batches[0], "key").await.unwrap();

        assert!(why(&outcomes[0].1).starts_with("changed since you looked"), "{outcomes:?}");
        assert!(desk.resolves().is_empty());
    }
}

#[tokio::test]
async fn expired_action_is_not_sent() {
    let desk = Desk::at_data_machine().await;
    let id = desk.site.put(|_| ());
    let batches = desk.freeze(&[&id], &Decision::APPROVE).await.unwrap();
    desk.site.with(&id, |kept| kept.expires_at = r#""2026-11-21T20:37:36+00:00""#.to_owned());

    let outcomes = desk.source.submit(&batches[0], "key").await.unwrap();

    assert_eq!(outcomes[0].1, Outcome::Skipped { status: Some(Status::Expired), by: None });
    assert!(desk.resolves().is_empty());
    let refused = desk.freeze(&[&id], &Decision::APPROVE).await.unwrap_err();
    assert!(matches!(refused, Refusal::Expired(_)), "{refused}");
}

#[tokio::test]
async fn batch_is_sent_singly_and_stops_without_rights() {
    let desk = Desk::at_data_machine().await;
    let ids = [desk.site.put(|_| ()), desk.site.put(|_| ()), desk.site.put(|_| ())];
    let batches = desk.freeze(&ids.each_ref(), &Decision::APPROVE).await.unwrap();
    assert_eq!((batches.len(), desk.source.at_once()), (1, 1), "one batch, sent singly");
    desk.site.setup.lock().unwrap().rights = false;

    let outcomes = desk.source.submit(&batches[0], "key").await.unwrap();

    let said: Vec<_> = outcomes.iter().map(|(_, outcome)| why(outcome)).collect();
    assert!(said[0].contains("manage_options"), "{said:?}");
    assert!(said[1].starts_with("not sent") && said[2].starts_with("not sent"), "{said:?}");
    assert_eq!(desk.site.books().asked.iter().filter(|line| line.contains("resolve")).count(), 0);
}

#[tokio::test]
async fn capabilities_show_effects_and_earlier_refusals() {
    let desk = Desk::at_data_machine().await;
    let id = desk.site.put(|kept| kept.creator = 1);
    let row = desk.listed().await.unwrap().0.remove(0);
    let told =
        |can: Capabilities| can.told().into_iter().map(|(_, words)| words.into_owned()).collect::<Vec<_>>();
    let before = told(row.can);
    for words in [
        "whether the run goes on after it is up to the site",
        "a reason may not be kept there; it is kept here",
        "no edits",
    ] {
        assert!(before.iter().any(|told| told == words), "{before:?}");
    }

    desk.approve(&id).await;

    let can = desk.listed().await.unwrap().0.remove(0).can;
    assert!(can.can_decide(), "a refusal may be temporary");
    assert!(told(can)[0].starts_with("the site refused a decision on it"), "{:?}", told(can));
}

#[tokio::test]
async fn row_of_another_creator_has_a_note() {
    let desk = Desk::at_data_machine().await;
    let (ours, theirs) = (desk.site.put(|_| ()), desk.site.put(|kept| kept.creator = 1));
    let rows = desk.listed().await.unwrap().0;
    let note = |id: &ActionId| {
        let row = rows.iter().find(|row| row.id == *id).unwrap();
        row.can.told().remove(0).1.into_owned()
    };

    assert!(note(&theirs).starts_with("another user created it: on Data Machine only its creator"));
    assert!(!note(&ours).contains("another user"), "{}", note(&ours));
    desk.site.with(&theirs, |kept| kept.creator = 7);
    let read = desk.get(&theirs).await.unwrap().row.can.told().remove(0).1;
    assert!(!read.contains("another user"), "the later read counts: {read}");
}

#[tokio::test]
async fn malformed_answer_is_not_a_success() {
    let desk = Desk::at_data_machine().await;
    let id = desk.site.put(|kept| kept.kind = "mute".to_owned());

    let error = desk.decide(&id, &Decision::APPROVE).await.unwrap_err();

    assert!(error.lost_sight(), "{error:?}");
    assert_eq!(desk.source.ended(&id), None);
}
