//! SQLite's plans for frequent queries.

use super::*;
use crate::gate::store::sql::flows::{DECIDED, MINUTES, PENDING, QUEUES, REVIEWED, given};
use crate::gate::store::sql::outstanding::{BY_TOOL, TOTALS};
use crate::gate::store::sql::tx::{FORGETTING, OLD_FLOWS};
use crate::gate::store::sqlite::write::{COUNT_IN, COUNT_OUT};

/// With 100,000 pending actions, the cost of an answer must depend on its length only.
#[tokio::test]
async fn no_question_reads_through_the_actions() {
    let shelf = shelf().await;
    let given = given::<SqliteConnection>();
    for question in [QUEUES, PENDING, MINUTES, DECIDED, REVIEWED, &given, OLD_FLOWS, TOTALS, BY_TOOL] {
        let steps = plan(&shelf.store, question).await;
        let looks = |step: &&str| step.starts_with("SCAN") || step.starts_with("SEARCH");
        for step in steps.iter().map(String::as_str).filter(looks) {
            // The oldest action is looked up.
            let first = step == "SEARCH a USING INTEGER PRIMARY KEY (rowid=?)";
            let led = first
                || step.contains("workspace=?")
                || step == "SCAN counted"
                || step == "SEARCH v USING INDEX approvals_by_time (at>?)"
                || step == "SCAN heads";
            assert!(led, "{question}: {steps:#?}");
            let decisions = step.contains("USING INDEX actions_by_decision (workspace=? AND resolved_at>?)");
            assert!(!step.contains("actions") || decisions, "{question}: {steps:#?}");
        }
        assert!(
            !steps.iter().any(|step| step.contains("B-TREE"))
                || [QUEUES, DECIDED, BY_TOOL].contains(&question),
            "{steps:#?}"
        );
    }
}

#[tokio::test]
async fn forgotten_keys_are_found_by_an_index() {
    let shelf = shelf().await;
    let indexes = ["replies_by_age", "replies_pruned", "pruned_calls_by_age"];
    for (sql, index) in FORGETTING.into_iter().zip(indexes) {
        let steps = plan(&shelf.store, sql).await;
        assert!(steps.iter().any(|step| step.contains("SEARCH") && step.contains(index)), "{steps:#?}");
    }
}

#[tokio::test]
async fn counts_of_pending_actions_scan_no_table() {
    let shelf = shelf().await;
    for statement in [COUNT_IN, COUNT_OUT].into_iter().flat_map(|text| text.split(';')) {
        let steps = plan(&shelf.store, statement).await;
        let scans =
            |step: &String| step.starts_with("SCAN") && !step.contains("json_each") && step != "SCAN g";
        let walks = |step: &String| step.contains("actions_by_status");
        assert!(!steps.iter().any(|step| scans(step) || walks(step)), "{statement}: {steps:#?}");
    }
}
