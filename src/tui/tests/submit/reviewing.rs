//! The review sheet and the loads it waits for.

use crate::tui::core::msg::Effect;
use crate::tui::submit::state::ReviewSheet;
use crate::tui::submit::words;
use crate::tui::testing::{Desk, few, key};

fn asked(desk: &Desk) -> Vec<(u64, Vec<crate::domain::ActionKey>)> {
    let of = |effect: &Effect| match effect {
        Effect::LoadForReview { review, keys } => Some((*review, keys.clone())),
        _ => None,
    };
    desk.effects.iter().filter_map(of).collect()
}

#[test]
fn late_load_of_a_closed_sheet_is_ignored() {
    let mut desk = Desk::new(100, 30, few(4));
    desk.press("a");
    desk.answers = false;
    desk.press("s<Esc>xs");
    let [(first, old), (second, new)] = asked(&desk).try_into().unwrap();
    assert_eq!((old, new.clone()), (vec![key("1")], vec![key("1"), key("2")]));

    desk.reviews(first, &new);
    let Some(sheet) = desk.model.sheet.get::<ReviewSheet>() else { panic!("the sheet is closed") };
    assert!(sheet.review.is_none(), "the sheet takes only its own load");
    desk.reviews(second, &new);
    desk.drawn();
    desk.wait(500);
    desk.press("y");

    assert_eq!(desk.submitted.last().unwrap().len(), 2);
}

#[test]
fn reloaded_sheet_must_be_read_again() {
    let mut desk = Desk::new(100, 30, few(8));
    desk.press("xxxxs");
    desk.wait(500);
    desk.press("4");
    let Some(sheet) = desk.model.sheet.get::<ReviewSheet>() else { panic!("the sheet is closed") };
    let (number, keys) = (sheet.number, sheet.keys.clone());

    desk.reviews(number, &keys);
    desk.hurry("4<Enter>", 20);
    desk.drawn();

    assert!(desk.submitted.is_empty());
    desk.wait(500);
    desk.press("4<Enter>");
    assert_eq!(desk.submitted.len(), 1);
}

#[test]
fn o_goes_to_the_first_unopened_action() {
    let mut desk = Desk::new(100, 30, few(4));
    desk.answers = false;
    desk.press("Ga");
    desk.answers = true;
    desk.press("ggs");
    assert!(desk.screen().contains(&words::shows("o")), "{}", desk.screen());

    desk.press("o");

    assert!(desk.model.sheet.is_none() && desk.submitted.is_empty());
    assert_eq!((desk.here().as_str(), desk.staged().as_str()), ("4", "4A"));
    assert_eq!(desk.message(), "nothing was sent; S comes back to the review");
}

#[test]
fn d_goes_to_the_first_changed_action() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("aa");
    let mut changed = few(3).remove(1);
    changed.input = crate::domain::RawJson::parse(r#"{"title":"something else"}"#.to_owned()).unwrap();
    desk.world.insert(key("2"), changed);

    desk.press("sd");

    assert_eq!((desk.here().as_str(), desk.staged().as_str()), ("2", "1A 2A"));
    desk.press("s");
    desk.wait(500);
    desk.press("o");
    assert!(desk.model.sheet.is_some(), "everything was opened: the sheet stays");
}

#[test]
fn o_in_the_report_goes_to_the_first_skipped_action() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("aas");
    desk.wait(500);
    desk.press("y");
    desk.reports(|_| crate::domain::Outcome::Skipped { status: None, by: Some("lee".into()) });
    desk.press("gr");
    insta::assert_snapshot!(desk.sheet_line(8), @"  Enter closes   w writes a file   y copies   o shows the first skipped");

    desk.press("o");

    assert_eq!((desk.model.sheet.is_none(), desk.here().as_str()), (true, "1"));
}
