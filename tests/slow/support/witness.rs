//! Checks the gate's audit: every action was decided at most once, and the journal agrees.

use std::collections::BTreeMap;

use placet::for_tests::{Fields, json};

use super::home::Home;

fn stdout(home: &Home, args: &[&str]) -> String {
    String::from_utf8(home.run(args).stdout).unwrap()
}

/// Panics if an action was decided twice, if the journal at `home` disagrees, or if its receipts are invalid. Returns the
/// number of decided actions.
pub(crate) fn decided_once(gate_home: &Home, home: &Home) -> usize {
    let mut decided: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in stdout(gate_home, &["gate", "audit", "export"]).lines() {
        let fields = Fields::of(line).unwrap();
        let event = fields.text("event").unwrap().as_raw().to_owned();
        if ["approved", "rejected"].contains(&event.as_str()) {
            let id = fields.text("pendingActionId").unwrap().as_raw().to_owned();
            decided.entry(id).or_default().push(event);
        }
    }
    assert!(decided.values().all(|events| events.len() == 1), "decided twice: {decided:?}");
    let log = stdout(home, &["log", "--json", "--limit", "100000"]);
    let items = Fields::of(&log).unwrap().raw("items").unwrap().to_owned();
    let mut told: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for item in json::elements(&items).unwrap() {
        let fields = Fields::of(item).unwrap();
        let outcome = fields.text("outcome").unwrap().as_raw().to_owned();
        if !["failed", "skipped"].contains(&outcome.as_str()) {
            told.entry(fields.text("id").unwrap().as_raw().to_owned()).or_default().push(outcome);
        }
    }
    assert_eq!(told, decided);
    let verified = home.run(&["log", "verify"]);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
    decided.len()
}
