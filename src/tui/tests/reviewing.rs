//! The review sheet and the answers it waits for.

use crate::tui::model::Modal;
use crate::tui::msg::Effect;

use super::desk::{Desk, few, key};

fn asked(desk: &Desk) -> Vec<(u64, Vec<crate::domain::ActionKey>)> {
    let of = |effect: &Effect| match effect {
        Effect::LoadForReview { review, keys } => Some((*review, keys.clone())),
        _ => None,
    };
    desk.effects.iter().filter_map(of).collect()
}

#[test]
fn a_late_answer_to_a_closed_sheet_is_not_put_under_the_finger() {
    let mut desk = Desk::new(100, 30, few(4));
    desk.press("a");
    desk.answers = false;
    desk.press("s<Esc>xs");
    let [(first, old), (second, new)] = asked(&desk).try_into().unwrap();
    assert_eq!((old, new.clone()), (vec![key("1")], vec![key("1"), key("2")]));

    desk.reviews(first, &new);
    let Some(Modal::Review(sheet)) = &desk.model.modal else { panic!("the sheet is open") };
    assert!(sheet.review.is_none(), "it waits for its own answer");
    desk.reviews(second, &new);
    desk.drawn();
    desk.wait(500);
    desk.press("y");

    assert_eq!(desk.submitted.last().unwrap().len(), 2);
}

#[test]
fn another_answer_on_the_sheet_has_to_be_looked_at_again() {
    let mut desk = Desk::new(100, 30, few(8));
    desk.press("xxxxs");
    desk.wait(500);
    desk.press("4");
    let Some(Modal::Review(sheet)) = &desk.model.modal else { panic!("the sheet is open") };
    let (number, keys) = (sheet.number, sheet.keys.clone());

    desk.reviews(number, &keys);
    desk.hurry("4<Enter>", 20);
    desk.drawn();

    assert!(desk.submitted.is_empty());
    desk.wait(500);
    desk.press("4<Enter>");
    assert_eq!(desk.submitted.len(), 1);
}
