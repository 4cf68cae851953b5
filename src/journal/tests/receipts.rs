//! Receipts form one chain, and every later change is found.

use super::*;
use crate::domain::Via;
use crate::journal::receipt::ReceiptKind;

/// Computed independently: python3 -c "import hashlib; h=hashlib.sha256()
/// n=lambda f: h.update(len(f).to_bytes(8,'big')+f); n(b'placet-receipt/v1')
/// [ n(b'\0' if f is None else b'\1'+f) for f in (b'2', b'sent', b'-7', b's', b'src', b'1', b'0.1.0', b'ada', None, b't',
///   b'approve', b'', b'd', b'e', None, b'in_full', b'1500', None, b'Title', b'm:t', b'high', b'run', b'3', b'shell', b'sha256:00') ];
/// print(h.hexdigest())"
const KNOWN: &str = "sha256:0ff59bf5aa6b07cc37914949c965aded8ab78930e90852ba6ae35b6ceaf226cd";

fn some() -> Receipt {
    let text = |text: &str| Some(text.to_owned());
    Receipt {
        seq: 2,
        kind: ReceiptKind::Sent,
        at: -7,
        submission: "s".to_owned(),
        source: "src".to_owned(),
        action: "1".to_owned(),
        client: "0.1.0".to_owned(),
        reviewer: text("ada"),
        login: None,
        tool: text("t"),
        decision: text("approve"),
        said: text(""),
        digest: text("d"),
        effective: text("e"),
        terms: None,
        seen: text("in_full"),
        dwell_ms: Some(1_500),
        outcome: None,
        title: text("Title"),
        batch: text("m:t"),
        risk: text("high"),
        owner: text("run"),
        left_pending: Some(3),
        via: text("shell"),
        hash: String::new(),
    }
}

async fn all(journal: &Journal) -> Vec<Receipt> {
    journal.receipts(0, 1_000).await.unwrap()
}

async fn checked(journal: &Journal) -> Checked {
    journal.verify(&[]).await.unwrap()
}

/// Records a submission of two decisions with outcomes.
async fn decided(journal: &Journal, id: &str) {
    let submission = submission(id);
    journal.begin(&submission, 0, Some("ada")).await.unwrap();
    journal
        .note(submission.id(), &[(key("1"), Outcome::Approved), (key("2"), Outcome::Rejected)])
        .await
        .unwrap();
    journal.finish(submission.id(), State::Done).await.unwrap();
}

#[test]
fn hash_matches_an_independent_computation() {
    assert_eq!(some().hash_after(Some("sha256:00")), KNOWN);
}

#[test]
fn exported_receipt_has_its_label_and_every_field() {
    let json = r#"{"format":"placet-receipt/v1","seq":2,"kind":"sent","at":-7,"submission":"s","source":"src","action":"1","client":"0.1.0","reviewer":"ada","login":null,"tool":"t","decision":"approve","said":"","digest":"d","effective":"e","terms":null,"seen":"in_full","dwellMs":1500,"outcome":null,"title":"Title","batch":"m:t","risk":"high","owner":"run","leftPending":3,"via":"shell","hash":"sha256:00"}"#;
    let receipt = Receipt { hash: "sha256:00".to_owned(), ..some() };

    assert_eq!(serde_json::to_string(&receipt).unwrap(), json);
}

#[test]
fn hash_covers_every_field_and_tells_absent_from_empty() {
    let changes: [fn(&mut Receipt); 26] = [
        |it| it.seq = 3,
        |it| it.kind = ReceiptKind::Answered,
        |it| it.at = 7,
        |it| it.submission = "t".to_owned(),
        |it| it.source = "sr".to_owned(),
        |it| it.action = "c1".to_owned(),
        |it| it.client = "0.1.1".to_owned(),
        |it| it.reviewer = None,
        |it| it.login = Some(String::new()),
        |it| it.tool = None,
        |it| it.decision = Some("reject".to_owned()),
        |it| it.said = None,
        |it| it.digest = Some("e".to_owned()),
        |it| it.effective = Some("d".to_owned()),
        |it| it.terms = Some(String::new()),
        |it| it.seen = Some("opened".to_owned()),
        |it| it.dwell_ms = Some(-1_500),
        |it| it.dwell_ms = None,
        |it| it.outcome = Some(String::new()),
        |it| std::mem::swap(&mut it.digest, &mut it.effective),
        |it| it.title = None,
        |it| it.batch = None,
        |it| it.risk = Some("low".to_owned()),
        |it| it.owner = Some("runs".to_owned()),
        |it| it.left_pending = Some(4),
        |it| it.via = None,
    ];
    let mut hashes: std::collections::HashSet<String> =
        changes.iter().map(|change| some_with(*change).hash_after(Some("sha256:00"))).collect();
    assert_eq!(hashes.len(), changes.len());
    for before in [None, Some(""), Some("sha256:00"), Some("sha256:01")] {
        assert!(hashes.insert(some().hash_after(before)), "{before:?}");
    }
}

fn some_with(change: fn(&mut Receipt)) -> Receipt {
    let mut receipt = some();
    change(&mut receipt);
    receipt
}

#[tokio::test]
async fn receipt_records_reviewer_decision_and_seen_content() {
    let place = Place::new();
    let journal = place.open().await.signed_by(Some("adal"), Via::Shell);
    let submission = submission("a");
    let of = submission.batches()[0].items()[0].digest;
    let look = |digest, millis| Write::Looked { key: key("1"), digest, millis };
    let seen = |digest, seen| Write::Seen { key: key("1"), digest, seen };
    journal
        .save(&[
            seen(digest("another"), Seen::InFull),
            look(digest("another"), 60_000),
            seen(of, Seen::Opened),
            look(of, 900),
            seen(of, Seen::InFull),
            look(of, 600),
            look(digest("another"), 5_000),
        ])
        .await
        .unwrap();

    journal.begin(&submission, 0, Some("ada")).await.unwrap();

    let receipts = all(&journal).await;
    let [first, second] = &receipts[..] else { panic!("{receipts:?}") };
    assert_eq!((first.seq, first.kind.word(), first.action.as_str()), (1, "sent", "1"));
    assert_eq!((first.reviewer.as_deref(), first.login.as_deref()), (Some("ada"), Some("adal")));
    assert_eq!(
        (first.decision.as_deref(), first.said.as_deref()),
        (Some("approve_with_edits"), Some("c\u{202e}"))
    );
    assert_eq!((first.digest.clone(), first.effective == first.digest), (Some(of.to_string()), false));
    assert_eq!((first.terms.clone(), second.terms.clone()), (Some(digest("terms").to_string()), None));
    assert_eq!((first.seen.as_deref(), first.dwell_ms), (Some("in_full"), Some(1_500)));
    assert_eq!((second.seen.as_deref(), second.dwell_ms), (Some("never"), Some(0)));
    assert_eq!((first.client.as_str(), first.via.as_deref()), (env!("CARGO_PKG_VERSION"), Some("shell")));
}

#[tokio::test]
async fn only_changed_outcomes_have_a_receipt() {
    let place = Place::new();
    let journal = place.open().await;
    let submission = submission("a");
    journal.hold(&submission, 0, None).await.unwrap();
    assert_eq!(all(&journal).await, [], "nothing was sent");
    journal.begin(&submission, 0, None).await.unwrap();
    let unknown = Outcome::Unknown { why: "lost".into() };
    for outcome in [&unknown, &unknown, &Outcome::Approved, &Outcome::Approved] {
        journal.note(submission.id(), &[(key("1"), outcome.clone())]).await.unwrap();
    }
    for status in ["executed", "executed", "failed"] {
        journal.followed(&key("1"), status, None).await.unwrap();
        journal.followed(&key("not ours"), status, None).await.unwrap();
    }

    let receipts = all(&journal).await;

    let told: Vec<_> = receipts.iter().map(|it| (it.kind.word(), it.outcome.as_deref())).collect();
    assert_eq!(
        told,
        [
            ("sent", None),
            ("sent", None),
            ("answered", Some(r#"{"unknown":{"why":"lost"}}"#)),
            ("answered", Some(r#""approved""#)),
            ("followed", Some(r#"{"status":"executed","error":null}"#)),
            ("followed", Some(r#"{"status":"failed","error":null}"#)),
        ]
    );
    assert_eq!(receipts, journal.receipts_of(submission.id()).await.unwrap());
    let checked = checked(&journal).await;
    assert_eq!((checked.receipts, checked.decisions, checked.wrong), (6, 2, None));
}

#[tokio::test]
async fn receipts_and_decisions_are_written_in_one_transaction() {
    let place = Place::new();
    let journal = place.open().await;
    let refuse =
        "CREATE TRIGGER no BEFORE INSERT ON receipt WHEN NEW.seq = 2 BEGIN SELECT RAISE(ABORT, 'no'); END";
    sqlx::query(refuse).execute(&journal.database.write).await.unwrap();

    journal.begin(&submission("a"), 0, None).await.unwrap_err();

    assert_eq!((all(&journal).await, journal.log(9).await.unwrap()), (Vec::new(), Vec::new()));
}

#[tokio::test]
async fn concurrent_inboxes_write_one_chain_despite_a_crash() {
    let place = Place::new();
    let (one, two) = (place.open().await, place.open().await);
    let many = |journal: Journal, name: &'static str| async move {
        for n in 0..20 {
            decided(&journal, &format!("{name}-{n}")).await;
        }
        journal
    };
    let (one, two) = tokio::join!(tokio::spawn(many(one, "a")), tokio::spawn(many(two, "b")));
    let (one, two) = (one.unwrap(), two.unwrap());
    one.begin(&submission("cut short"), 0, None).await.unwrap();
    crash(one).await;
    decided(&two, "goes on").await;
    for past in two.unsettled().await.unwrap() {
        two.note(&past.id, &[(key("1"), Outcome::Approved)]).await.unwrap();
    }

    let checked = checked(&two).await;

    assert_eq!((checked.receipts, checked.decisions, checked.wrong), (20 * 8 + 2 + 4 + 1, 84, None));
    let submissions: std::collections::HashSet<String> =
        all(&two).await.into_iter().map(|it| it.submission).collect();
    assert_eq!(submissions.len(), 42);
}

#[tokio::test]
async fn receipts_cannot_be_changed_deleted_or_inserted() {
    let place = Place::new();
    let journal = place.open().await;
    decided(&journal, "a").await;
    for sql in [
        "UPDATE receipt SET reviewer = 'eve'",
        "DELETE FROM receipt WHERE seq = 4",
        "INSERT INTO receipt (seq, kind, at, submission, source, action, client, reviewer, login, tool, decision, said,
            digest, effective, terms, seen, dwell_ms, outcome, hash) SELECT 6, kind, at, submission, source, action, client, reviewer, login, tool, decision, said,
            digest, effective, terms, seen, dwell_ms, outcome, hash FROM receipt WHERE seq = 1",
        "INSERT OR REPLACE INTO receipt (seq, kind, at, submission, source, action, client, reviewer, login, tool, decision,
            said, digest, effective, terms, seen, dwell_ms, outcome, hash) SELECT 4, kind, at, submission, source, action, client, reviewer, login, tool,
            decision, said, digest, effective, terms, seen, dwell_ms, outcome, hash FROM receipt WHERE seq = 1",
    ] {
        let refused = sqlx::query(sql).execute(&journal.database.write).await.unwrap_err();
        assert!(refused.to_string().contains("append-only"), "{refused}");
    }
    assert_eq!(checked(&journal).await.wrong, None);
}

/// Returns changes made in SQL, each with the receipt that is reported.
fn tampering() -> Vec<(String, Option<i64>)> {
    let fields = [
        "kind = 'followed'",
        "at = at + 1",
        "submission = 'b'",
        "source = 'x'",
        "action = '9'",
        "client = ''",
        "reviewer = 'eve'",
        "login = ''",
        "tool = 'x'",
        "decision = 'reject'",
        "said = NULL",
        "digest = NULL",
        "effective = digest",
        "terms = NULL",
        "seen = 'in_full'",
        "dwell_ms = 9",
        "outcome = ''",
        "hash = 'x'",
        "title = 'x'",
        "batch = NULL",
        "risk = 'low'",
        "owner = 'x'",
        "left_pending = 9",
    ];
    let mut tampered: Vec<(String, Option<i64>)> =
        fields.iter().map(|set| (format!("UPDATE receipt SET {set} WHERE seq = 1"), Some(1))).collect();
    let more = [
        ("DELETE FROM receipt WHERE seq = 2", Some(2)),
        ("DELETE FROM receipt WHERE seq = 1", Some(1)),
        ("DELETE FROM receipt", None),
        ("UPDATE receipt SET seq = 9 WHERE seq = 4", Some(4)),
        ("UPDATE receipt SET outcome = '\"approved\"' WHERE seq = 4", Some(4)),
        // The chain is intact, but the rows differ from it.
        ("UPDATE item SET outcome = '\"approved\"' WHERE action = '2'", Some(4)),
        ("UPDATE item SET outcome = NULL WHERE action = '2'", Some(4)),
        ("UPDATE item SET decision = '{\"reject\":{\"reason\":\"x\"}}' WHERE action = '2'", Some(2)),
        ("UPDATE item SET terms = NULL WHERE action = '1'", Some(1)),
        ("UPDATE item SET title = 'x' WHERE action = '2'", Some(2)),
        ("UPDATE item SET batch = NULL WHERE action = '1'", Some(1)),
        ("UPDATE item SET batch = 'x' WHERE action = '2'", Some(2)),
        ("UPDATE item SET risk = 'critical' WHERE action = '2'", Some(2)),
        ("UPDATE item SET risk = '' WHERE action = '1'", Some(1)),
        ("UPDATE submission SET begun_at = begun_at + 1", Some(1)),
        ("UPDATE submission SET left_pending = 9", Some(1)),
        ("UPDATE submission SET reviewer = 'eve'", Some(1)),
        ("DELETE FROM submission", Some(1)),
        ("DELETE FROM item WHERE action = '2'", Some(2)),
    ];
    tampered.extend(more.map(|(sql, seq)| (sql.to_owned(), seq)));
    tampered
}

#[tokio::test]
async fn every_change_in_sql_is_found_and_named() {
    for (sql, seq) in tampering() {
        let place = Place::new();
        let journal = place.open().await;
        decided(&journal, "a").await;
        assert_eq!(checked(&journal).await.wrong, None);
        for trigger in ["receipts_are_never_changed", "receipts_are_never_cut"] {
            sqlx::query(sqlx::AssertSqlSafe(format!("DROP TRIGGER {trigger}")))
                .execute(&journal.database.write)
                .await
                .unwrap();
        }
        let changed =
            sqlx::query(sqlx::AssertSqlSafe(sql.clone())).execute(&journal.database.write).await.unwrap();
        assert!(changed.rows_affected() > 0, "{sql}");

        let wrong = checked(&journal).await.wrong;

        assert_eq!(wrong.as_ref().map(|wrong| wrong.seq), Some(seq), "{sql}: {wrong:?}");
    }
}

#[tokio::test]
async fn saved_head_reveals_truncated_or_rewritten_receipts() {
    let (place, other) = (Place::new(), Place::new());
    let journal = place.open().await;
    decided(&journal, "a").await;
    let head = checked(&journal).await.head.unwrap();
    decided(&journal, "b").await;
    let kept = [SavedHead::Head(head.clone()), SavedHead::Hash(head.hash.clone())];
    assert_eq!(journal.verify(&kept).await.unwrap().wrong, None);

    let forged = other.open().await;
    decided(&forged, "a").await;
    assert_eq!(checked(&forged).await.wrong, None, "the forged chain is consistent in itself");
    for kept in kept {
        let wrong = forged.verify(std::slice::from_ref(&kept)).await.unwrap().wrong;
        assert!(wrong.is_some_and(|wrong| wrong.what.contains("cut off or written anew")), "{kept:?}");
    }
}
