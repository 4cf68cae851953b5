//! G11: a broken item affects no other, at any place of a list. `tests/fixtures/hostile/wire.json` holds the items and their
//! treatment: usable (`usable`), shown and rejectable (`card`), or only shown (`nameless`).

use serde::Deserialize;

use super::*;
use crate::config::Praxiom;
use crate::contract::action::Unreadable;
use crate::rounds::is_long;

#[derive(Deserialize)]
struct Case {
    name: String,
    #[serde(default)]
    item: String,
    hex: Option<String>,
    see: String,
}

impl Case {
    fn bytes(&self) -> Vec<u8> {
        let Some(hex) = &self.hex else { return self.item.clone().into_bytes() };
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
    }
}

fn cases() -> Vec<Case> {
    let cases: Vec<Case> =
        serde_json::from_str(include_str!("../../../../tests/fixtures/hostile/wire.json")).unwrap();
    assert!(cases.len() >= 50);
    cases
}

const LIST: &str = "/api/pending-actions?status=pending%2Cunknown&view=row&nulls=false&limit=100";

/// Returns a page of a hundred items with `item` at `place`.
fn page(item: &[u8], place: usize) -> Vec<u8> {
    let mut items: Vec<Vec<u8>> = (0..99)
        .map(|n| {
            let text = format!("{{\"n\":{n},\"t\":\"],[}},{{ \\\\\\\"\"}}");
            fake::text(&format!("g{n}"), &text, "pending").into_bytes()
        })
        .collect();
    items.insert(place, item.to_vec());
    [&b"{\"revision\":7,\"items\": ["[..], &items.join(&b", "[..]), b"],\"nextCursor\":null,\"x\":[1]}"]
        .concat()
}

async fn listed(gate: &Backend) -> (Vec<Row>, Vec<Unreadable>) {
    match gate.source(SourceKind::Gate, None).await.sync(None).await.unwrap() {
        Synced::All { rows, unreadable, revision } => {
            assert_eq!(revision, Some(Revision(7)));
            (rows, unreadable)
        }
        Synced::Changes { .. } => panic!("expected a list"),
    }
}

#[tokio::test]
async fn g11_poisoned_item_hides_none_of_the_other_99() {
    let mut seen = Vec::new();
    for (nth, case) in cases().into_iter().enumerate() {
        // The short form uses one place per case, in turn.
        let places = [0, 50, 99].into_iter().enumerate();
        for place in places.filter(|(at, _)| is_long() || nth % 3 == *at).map(|(_, place)| place) {
            let gate = Backend::default();
            gate.on("GET", LIST).bytes(200, page(&case.bytes(), place));
            let (rows, unreadable) = listed(&gate).await;

            let good = rows.iter().filter(|row| row.id.as_raw().starts_with('g')).count();
            assert_eq!(good, 99, "{} at {place}: {unreadable:?}", case.name);
            let what = match (rows.len(), unreadable.as_slice()) {
                (100, []) => "usable",
                (99, [bad]) if bad.what == Unreadable::UNKNOWN_STATUS => "usable",
                (99, [bad]) if bad.id.as_ref().is_some_and(|id| id.as_raw() == "p") => "card",
                (99, [bad]) if bad.id.is_none() => "nameless",
                _ => panic!("{} at {place}: {unreadable:?}", case.name),
            };
            assert_eq!(what, case.see, "{} at {place}: {unreadable:?}", case.name);
        }
        seen.push(case.see);
    }
    for see in ["usable", "card", "nameless"] {
        assert!(seen.iter().any(|other| other == see), "no case for {see}");
    }
}

#[tokio::test]
async fn g11_poisoned_change_hides_no_other() {
    for case in cases().into_iter().filter(|case| case.see != "usable") {
        let gate = Backend::default();
        let change = |row: &[u8]| [b"{\"row\":", row, b"}"].concat();
        let good = change(fake::text("g", "{}", "pending").as_bytes());
        let bad = change(&case.bytes());
        let body = [&b"{\"changes\":["[..], &[good.clone(), bad, good].join(&b","[..]), b"],\"revision\":9}"]
            .concat();
        gate.on("GET", "/api/pending-actions/changes?since=7&limit=5000").bytes(200, body);

        let synced = gate.source(SourceKind::Gate, None).await.sync(Some(Revision(7))).await.unwrap();

        let Synced::Changes { rows, unreadable, .. } = synced else { panic!("{}", case.name) };
        assert_eq!((row_ids(&rows), unreadable.len()), (vec!["g"], 1), "{}: {unreadable:?}", case.name);
    }
}

#[tokio::test]
async fn g11_unreadable_action_can_be_rejected_without_a_digest() {
    let broken = r#"{"id":"p","toolName":"t","status":"pending","toolInput":{"n":007}}"#;
    let gate = Backend::default();
    gate.on("GET", LIST).reply(200, format!(r#"{{"items":[{broken}],"revision":7}}"#));
    gate.on("POST", "/api/pending-actions/p/reject").reply(200, fake::text("p", "{}", "rejected"));
    let source = gate.source(SourceKind::Gate, None).await;
    let (_, unreadable) = listed(&gate).await;

    let stand_in = unreadable[0].stand_in();
    let approved = fake::frozen(&source, stand_in.clone(), Decision::APPROVE);
    let rejected = fake::frozen(&source, stand_in, Decision::REJECT).unwrap();
    let outcomes = source.submit(&rejected, "key").await.unwrap();

    assert!(matches!(approved, Err(crate::domain::Refusal::Unreadable(_))), "{approved:?}");
    assert_eq!(outcomes, [(id("p"), Outcome::Rejected)]);
    let body = gate.requests().pop().unwrap().body;
    assert!(!body.contains("expectedDigest\":\""), "{body}");
}

#[tokio::test]
async fn g11_unreadable_action_is_compared_bytewise_before_rejecting() {
    let broken =
        |n: &str| format!(r#"{{"id":"p","toolName":"t","status":"pending","toolInput":{{"n":{n}}}}}"#);
    for (now, want) in [("007", "rejected"), ("008", "it changed")] {
        let praxiom = Backend::default();
        praxiom.on("GET", "/api/pending-actions/p?workspace_id=w").reply(200, broken(now));
        praxiom.on("GET", "/api/pending-actions/p").reply(200, broken(now));
        praxiom.on("POST", "/api/pending-actions/p/reject").reply(200, fake::text("p", "{}", "rejected"));
        let source = praxiom.source(SourceKind::Praxiom(Praxiom::default()), Some("w")).await;
        let stand_in = Unreadable::new("it is no valid JSON", &broken("007")).stand_in();
        let rejected = fake::frozen(&source, stand_in, Decision::REJECT).unwrap();

        let outcomes = source.submit(&rejected, "key").await.unwrap();

        let posted = praxiom.lines().iter().any(|line| line.starts_with("POST"));
        assert_eq!(posted, want == "rejected", "{outcomes:?}");
    }
}

#[tokio::test]
async fn g11_reply_that_is_no_list_is_an_error() {
    let whole = String::from_utf8(page(b"17", 3)).unwrap();
    let mut bodies: Vec<Vec<u8>> = vec![
        Vec::new(),
        b"<!doctype html><title>Sign in</title>".to_vec(),
        b"{\"items\":{}}".to_vec(),
        b"{\"items\":null}".to_vec(),
        b"null".to_vec(),
        [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3].to_vec(),
        format!("{whole}{whole}").into_bytes(),
        b"[".repeat(1 << 20),
    ];
    bodies.extend([10, 100, 1_000, whole.len() - 1].map(|cut| whole.as_bytes()[..cut].to_vec()));
    for body in bodies {
        let gate = Backend::default();
        gate.on("GET", LIST).bytes(200, body.clone());

        let error = gate.source(SourceKind::Gate, None).await.sync(None).await.unwrap_err();

        assert!(
            matches!(error, SourceError::Protocol { .. }),
            "{:?}: {error}",
            String::from_utf8_lossy(&body[..body.len().min(60)])
        );
    }
}

#[tokio::test]
async fn g11_item_of_ten_megabytes_hides_no_other() {
    let gate = Backend::default();
    let huge = fake::text("huge", &format!("{{\"t\":\"{}\"}}", "A".repeat(10 << 20)), "pending");
    gate.on("GET", LIST).bytes(200, page(huge.as_bytes(), 50));

    let (rows, unreadable) = listed(&gate).await;

    assert_eq!((rows.len(), unreadable.len()), (100, 0));
    assert!(rows.iter().any(|row| row.size > 10 << 20));
}
