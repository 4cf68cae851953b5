//! Batches decided in several parts, or during other writes.

use super::*;

/// `first` is the number of the first action.
fn of_batch(first: usize, count: usize) -> impl Iterator<Item = NewAction> {
    (first..first + count).map(|n| {
        action_with(&format!("a{n}"), |it| {
            it.row.batch = Some(BatchId::new(format!("b{}", n % 2)));
            it.row.mission = (n % 3 > 0).then(|| "m".into());
            it.row.agent = (n % 5 > 0).then(|| "a".into());
            it.row.risk = [Risk::Low, Risk::Medium, Risk::High, Risk::Critical][n % 4].clone();
        })
    })
}

async fn counts_hold(shelf: &Shelf, pending: u64) {
    assert_eq!(shelf.store.verify(&[]).await.unwrap().problems, Vec::<String>::new());
    assert_eq!(shelf.store.outstanding("w").await.unwrap().pending, pending);
}

#[tokio::test]
async fn long_batch_keeps_the_order_and_decision_of_each_item() {
    let shelf = shelf().await;
    for n in 0..120 {
        let new = action_with(&format!("a{n}"), |it| it.row.batch = Some(BatchId::new("b")));
        shelf.store.record(new, 1_000, None).await.unwrap();
    }
    shelf.run("UPDATE actions SET effective_digest = 'none' WHERE id = 'a7'").await;
    shelf.approved("elsewhere").await;
    let listed = (0..120).rev().map(|n| format!("a{n}")).chain(["elsewhere".to_owned(), "none".to_owned()]);
    let ruling = |(nth, id): (usize, String)| {
        let verdict = if nth % 2 == 0 { Verdict::Reject } else { Verdict::Approve { edits: None } };
        Ruling { verdict, ..approval(&id) }
    };
    let rulings: Vec<Ruling> = listed.enumerate().map(ruling).collect();

    let group = Group::Batch("b".to_owned());
    let answered = shelf.store.decide_group(group, rulings.clone(), owner(), None).await.unwrap();

    let Answered::Now(DecidedGroup { items, .. }) = answered else { panic!("{answered:?}") };
    assert_eq!(items.len(), rulings.len());
    for (item, ruling) in items.iter().zip(&rulings) {
        assert_eq!(item.id, ruling.id);
        match (ruling.id.as_str(), &ruling.verdict) {
            ("a7", _) => assert!(matches!(item.outcome, Err(Refused::Invalid(_))), "{item:?}"),
            ("elsewhere" | "none", _) => assert_eq!(item.outcome, Err(Refused::Missing)),
            (_, Verdict::Reject) => assert_eq!(item.outcome, Ok(Decided::Rejected)),
            _ => assert_eq!(item.outcome, Ok(Decided::Approved)),
        }
    }
    let after = shelf.store.changes("w", 122, 1_000, u64::MAX).await.unwrap();
    let changed: Vec<&str> = after.rows.iter().map(|row| row.id.as_raw()).collect();
    let decided: Vec<&str> =
        rulings[..120].iter().map(|it| it.id.as_str()).filter(|id| *id != "a7").collect();
    assert_eq!(changed, decided, "one after the other");
    shelf.run("UPDATE actions SET effective_digest = NULL WHERE id = 'a7'").await;
    counts_hold(&shelf, 1).await;
}

#[tokio::test]
async fn a_batch_that_empties_and_grows_at_once_is_counted() {
    let shelf = shelf().await;
    for new in of_batch(0, 20) {
        shelf.store.record(new, 1_000, None).await.unwrap();
    }

    // The first decision runs while the others queue up.
    let decided = async {
        for n in [0, 1] {
            let of =
                (n..20).step_by(2).map(|n| Ruling { verdict: Verdict::Reject, ..approval(&format!("a{n}")) });
            let group = Group::Batch(format!("b{n}"));
            shelf.store.decide_group(group, of.collect(), owner(), None).await.unwrap();
        }
    };
    let grown = join_all(of_batch(20, 20).map(|new| shelf.store.record(new, 1_000, None)));
    let replaced = join_all(of_batch(40, 10).zip(40..).map(|(new, n)| {
        // Some of these were decided before.
        let supersedes = Some(format!("a{}", n - 30));
        shelf.store.record(NewAction { supersedes, ..new }, 1_000, None)
    }));
    let ((), grown, replaced) = tokio::join!(decided, grown, replaced);

    assert!(grown.iter().all(Result::is_ok), "{grown:?}");
    let replaced = replaced.iter().filter(|it| it.is_ok()).count() as u64;
    counts_hold(&shelf, 20 + replaced).await;
    for n in 20..40 {
        shelf
            .store
            .decide_group(
                Group::Batch(format!("b{}", n % 2)),
                vec![Ruling { verdict: Verdict::Reject, ..approval(&format!("a{n}")) }],
                owner(),
                None,
            )
            .await
            .unwrap();
    }
    counts_hold(&shelf, replaced).await;
}
