//! The reviewer's name in header and review.

use crate::domain::SourceName;
use crate::inbox::{Rows, Synced};
use crate::tui::core::msg::What;
use crate::tui::queue::list::SourceState;
use crate::tui::testing::{Desk, few, source};

/// Returns a desk without a configured reviewer.
fn desk(width: u16) -> Desk {
    let mut desk = Desk::new(width, 24, few(3));
    desk.model.settings.place.reviewer = String::new();
    desk.model.settings.place.login = "kmaier".to_owned();
    desk
}

fn tells(desk: &mut Desk, subject: &str) {
    let (subject, at) = (Some(subject.into()), desk.model.now);
    let rows = Rows::Changes { entries: Vec::new(), gone: Vec::new() };
    let synced =
        Synced { source: source(), subject, claims: None, rows, revision: None, unreadable: Vec::new(), at };
    desk.say(What::Synced(source(), Ok(synced)));
}

fn knows_elsewhere(desk: &mut Desk, subject: &str) {
    let mut other = SourceState::of(SourceName::new("woo"), &desk.model.settings);
    other.subject = Some(subject.into());
    desk.model.list.sources.push(other);
}

#[test]
fn configured_name_overrides_token_name_and_login() {
    let mut desk = desk(80);
    insta::assert_snapshot!(desk.header(), @" placet  3 to decide   F 1 blocked                      ● gate   kmaier   14:22");

    tells(&mut desk, "kim");
    insta::assert_snapshot!(desk.header(), @" placet  3 to decide   F 1 blocked                         ● gate   kim   14:22");

    desk.model.settings.place.reviewer = "Kim Maier".to_owned();
    insta::assert_snapshot!(desk.header(), @" placet  3 to decide   F 1 blocked                   ● gate   Kim Maier   14:22");
}

#[test]
fn long_name_does_not_hide_the_counts() {
    let mut said = Vec::new();
    for width in [80, 100, 160] {
        let mut desk = desk(width);
        tells(&mut desk, &"k\u{202e}".repeat(40));
        desk.press("a");
        said.push(desk.header());
    }
    insta::assert_snapshot!(said.join("\n"), @"
    placet  2 to decide   F 1 blocked        ● gate   k⟦U+202E⟧k⟦U+202E⟧k…   14:22
    placet  2 to decide   F 1 blocked                            ● gate   k⟦U+202E⟧k⟦U+202E⟧k…   14:22
    placet  2 to decide   F 1 blocked                                                                                        ● gate   k⟦U+202E⟧k⟦U+202E⟧k…   14:22
    ");
}

#[test]
fn names_differing_by_source_show_in_header_and_review() {
    let mut desk = desk(100);
    tells(&mut desk, "kim");
    knows_elsewhere(&mut desk, "k.maier");
    insta::assert_snapshot!(desk.header(), @" placet  3 to decide   F 1 blocked             1 of 2 sources up, ○ woo CONNECTING   kim +1   14:22");

    desk.press("as");
    assert!(desk.screen().contains("gate, as kim"), "{}", desk.screen());
}
