//! Exporting the report.

use std::path::PathBuf;

use crate::tui::core::msg::{Effect, What};
use crate::tui::testing::{Desk, few};

fn reported() -> Desk {
    let mut desk = Desk::new(100, 30, few(2));
    desk.model.settings.place.state = PathBuf::from("/state");
    desk.press("axS");
    desk.wait(500);
    desk.press("y");
    desk.accepts();
    desk.press("gr");
    desk
}

#[test]
fn w_writes_the_report_as_json_and_shows_the_path() {
    let mut desk = reported();

    desk.press("w");

    let Some(Effect::Export { folder, text }) = desk.effects.last() else { panic!("{:?}", desk.effects) };
    assert_eq!(folder, &PathBuf::from("/state"));
    insta::assert_snapshot!(text, @r#"{"version":1,"submission":"sub-1","approved":1,"rejected":1,"skipped":0,"accepted":0,"failed":0,"unknown":0,"leftPending":0,"items":[{"source":"gate","id":"1","tool":"create_linear_issue","title":"Issue number 1","outcome":"approved"},{"source":"gate","id":"2","tool":"create_linear_issue","title":"Issue number 2","outcome":"rejected"}]}"#);
    desk.say(What::Exported(Ok("/state/report-1.json".into())));
    assert_eq!(desk.message(), "report written to /state/report-1.json");
    desk.say(What::Exported(Err("no space".to_owned())));
    assert_eq!(desk.message(), "report not written: no space");
}

#[test]
fn y_copies_the_report_as_text() {
    let mut desk = reported();

    desk.press("y");

    let Some(Effect::Copy(clip)) = desk.effects.last() else { panic!("{:?}", desk.effects) };
    insta::assert_snapshot!(clip.text, @"
sent: 1 approved, 1 rejected
1  Issue number 1  approved
2  Issue number 2  rejected
");
}
