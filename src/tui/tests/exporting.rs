//! The report leaves the screen.

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
fn w_writes_the_report_as_json_and_says_where() {
    let mut desk = reported();

    desk.press("w");

    let Some(Effect::Export { folder, text }) = desk.effects.last() else { panic!("{:?}", desk.effects) };
    assert_eq!(folder, &PathBuf::from("/state"));
    assert!(text.contains(r#""approved":1,"rejected":1"#), "{text}");
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
    assert!(clip.text.contains("1  Issue number 1  approved\n2  Issue number 2  rejected"), "{}", clip.text);
}
