//! G12: an approval is bound to its content. Twelve changes are made outside the gate, once before the decision and
//! once before the run; all 24 are refused.

use std::collections::BTreeMap;

use super::*;
use crate::config::{Executor, GateConfig, ToolConfig};

enum Mutation {
    Sql(&'static str),
    Config(&'static [&'static str], &'static [(&'static str, &'static str)]),
    Supersede,
    /// The decision sends other edits than those shown; later, the stored edits are changed.
    Edits,
}

const ARGV: &[&str] = &["/bin/cat", "--live"];

fn mutations() -> [(&'static str, Mutation); 12] {
    use Mutation::{Config, Edits, Sql, Supersede};
    [
        (
            "arguments",
            Sql(r#"UPDATE payloads SET input = '{"a":1,"n":1.1}', effective_input = '{"a":1,"n":1.1}'"#),
        ),
        (
            "key order",
            Sql(r#"UPDATE payloads SET input = '{"n":1.10,"a":1}', effective_input = '{"n":1.10,"a":1}'"#),
        ),
        ("tool", Sql("UPDATE actions SET tool = 'u'")),
        ("workspace", Sql("UPDATE actions SET workspace = 'x'")),
        ("expiry", Sql("UPDATE actions SET expires_at = 9000000000000")),
        ("policy", Sql("UPDATE actions SET risk = 'low', effect = 'write'")),
        ("target", Config(&["/bin/cat", "--to", "somebody-else"], &[])),
        ("version", Supersede),
        ("preview", Sql(r#"UPDATE payloads SET preview = '{"amount":1}'"#)),
        ("edits", Edits),
        ("executor config", Config(ARGV, &[("ACCOUNT", "another")])),
        // All digests on the row match the new bytes.
        ("stored bytes", Sql("stored bytes")),
    ]
}

fn tools(argv: &[&str], env: &[(&str, &str)]) -> Tools {
    let argv = argv.iter().copied().map(str::to_owned).collect();
    let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let tool = ToolConfig { executor: Executor::Command { argv, env }, ..ToolConfig::default() };
    let tools = BTreeMap::from([("t".to_owned(), tool)]);
    Tools::open(&GateConfig { tools, ..settings("gate.db".as_ref()) }).unwrap()
}

const INPUT: &str = r#"{"a":1,"n":1.10}"#;
const EDITED: &str = r#"{"a":2,"n":1.10}"#;

/// Returns a store with one action of the tool above.
async fn shown() -> (Shelf, Stored) {
    let shelf = reopened(shelf().await, tools(ARGV, &[])).await;
    let input = RawJson::parse(INPUT).unwrap();
    let preview = RawJson::parse(r#"{"amount":100}"#).ok();
    let new = action_with("a", |it| {
        (it.input, it.preview, it.row.risk) = (input, preview, Risk::Critical);
    });
    shelf.store.record(new, 10, None).await.unwrap();
    let stored = shelf.store.get("a").await.unwrap().unwrap();
    (shelf, stored)
}

async fn reopened(shelf: Shelf, tools: Tools) -> Shelf {
    let Shelf { store, clock, folder } = shelf;
    store.close().await;
    let context = Context { tools: Arc::new(tools), ..context(&clock) };
    let store = open(&settings(folder.path()), context).await;
    Shelf { store, clock, folder }
}

/// Returns an approval bound to everything shown, as the inbox binds it.
fn bound(shown: &Stored, edits: Option<&str>, effective: &str) -> Ruling {
    Ruling {
        verdict: Verdict::Approve { edits: edits.map(|edits| RawJson::parse(edits).unwrap()) },
        expected_digest: Some(shown.action.digest().to_string()),
        expected_effective_digest: Some(Digest::of("t", "w", effective).to_string()),
        expected_terms: shown.action.terms.map(|terms| terms.to_string()),
        ..approval("a")
    }
}

/// Makes the change, with a restart if needed.
async fn apply(shelf: Shelf, mutation: &Mutation) -> Shelf {
    match mutation {
        Mutation::Sql("stored bytes") => {
            let other = r#"{"a":1,"n":9.99}"#;
            let digest = Digest::of("t", "w", other).to_string();
            shelf.run(r#"UPDATE payloads SET input = '{"a":1,"n":9.99}', effective_input = NULL"#).await;
            let effective = format!("CASE WHEN effective_digest IS NULL THEN NULL ELSE '{digest}' END");
            shelf
                .run(&format!("UPDATE actions SET digest = '{digest}', effective_digest = {effective}"))
                .await;
        }
        Mutation::Sql(sql) => shelf.run(sql).await,
        Mutation::Config(argv, env) => return reopened(shelf, tools(argv, env)).await,
        Mutation::Supersede => {
            let newer = NewAction { supersedes: Some("a".to_owned()), ..action("b") };
            // After the decision this is refused: an approved action cannot be superseded.
            drop(shelf.store.record(newer, 10, None).await);
        }
        Mutation::Edits => {
            shelf.run(r#"UPDATE payloads SET effective_input = '{"a":3,"n":1.10}' WHERE effective_input IS NOT NULL"#)
                .await;
        }
    }
    shelf
}

#[tokio::test]
async fn g12_nothing_that_changed_behind_a_reviewers_back_is_run() {
    let mut refused = 0;
    for (name, mutation) in mutations() {
        let (shelf, seen) = shown().await;
        let shelf = apply(shelf, &mutation).await;
        let sent = matches!(mutation, Mutation::Edits).then_some(r#"{"a":3}"#);
        let answer = shelf
            .store
            .decide(bound(&seen, sent, if sent.is_some() { EDITED } else { INPUT }), owner(), None)
            .await;
        match (name, answer.unwrap_err()) {
            ("workspace", StoreError::Refused(Refused::Foreign))
            | ("version", StoreError::Refused(Refused::State { .. })) => {}
            (_, StoreError::Refused(Refused::Changed(why))) => {
                assert!(why.contains("not the one you saw"), "{why}");
            }
            (_, other) => panic!("{name}: {other}"),
        }
        assert_ne!(shelf.status("a").await, Status::Approved, "{name}");
        refused += 1;

        let (shelf, seen) = shown().await;
        let edits = matches!(mutation, Mutation::Edits).then_some(r#"{"a":2}"#);
        let ruling = bound(&seen, edits, if edits.is_some() { EDITED } else { INPUT });
        shelf.store.decide(ruling, owner(), None).await.unwrap();
        let shelf = apply(shelf, &mutation).await;
        if name == "version" {
            // The new version was refused. An action that only its row calls superseded does not run either.
            assert!(shelf.store.get("b").await.unwrap().is_none());
            shelf.run("UPDATE actions SET status = 'superseded'").await;
            let lease = Lease { by: None, millis: 1_000 };
            let refusal = shelf.store.dispatch("a".to_owned(), lease, None).await.unwrap_err();
            assert!(matches!(refusal, StoreError::Refused(Refused::State { .. })));
        } else {
            let Dispatched::NotAsApproved(why) = shelf.dispatch("a").await else { panic!("{name} was run") };
            let failed = shelf.store.get("a").await.unwrap().unwrap().action;
            assert_eq!(failed.row.status, Status::Failed, "{name}");
            assert_eq!(failed.error.unwrap().as_raw(), why);
            assert!(why.contains("it was not run"), "{why}");
        }
        refused += 1;
    }
    assert_eq!(refused, 24);
}

#[tokio::test]
async fn g12_what_nobody_changed_is_run() {
    for (edits, effective) in [(None, INPUT), (Some(r#"{"a":2}"#), EDITED)] {
        let (shelf, seen) = shown().await;
        shelf.store.decide(bound(&seen, edits, effective), owner(), None).await.unwrap();
        let shelf = reopened(shelf, tools(ARGV, &[])).await;

        let Dispatched::Run(work) = shelf.dispatch("a").await else { panic!("not run") };

        assert_eq!(work.input.as_str(), effective);
    }
}
