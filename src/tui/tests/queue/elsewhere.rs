//! For two minutes the header shows decisions under the reviewer's name that this inbox did not send.

use crate::domain::{Approvals, PendingAction, Revision, Status, Timestamp, Via};
use crate::inbox::{Rows, Synced};
use crate::tui::core::msg::What;
use crate::tui::testing::{CAN, Desk, NOW, decided, entry, few, source};

/// The source reports changes and names the reviewer `kim`.
fn changed(desk: &mut Desk, actions: &[PendingAction]) {
    let entries = actions.iter().map(|action| entry(action, CAN)).collect();
    let rows = Rows::Changes { entries, gone: Vec::new() };
    let (at, subject) = (Timestamp::from_millis(NOW), Some("kim".into()));
    let revision = Some(Revision(8));
    let synced =
        Synced { source: source(), subject, claims: None, rows, revision, unreadable: Vec::new(), at };
    desk.say(What::Synced(source(), Ok(synced)));
}

fn header(desk: &Desk) -> String {
    desk.screen().lines().next().unwrap().to_owned()
}

fn settled(action: &PendingAction, status: Status, by: &str, via: Option<Via>) -> PendingAction {
    let mut action = decided(action.clone(), status, by);
    (action.row.resolved_at, action.row.resolved_via) = (Some(Timestamp::from_millis(NOW + 1)), via);
    action
}

#[test]
fn decisions_from_a_shell_are_shown_for_two_minutes() {
    let all = few(8);
    let mut desk = Desk::new(80, 24, all.clone());
    let shell = |n: usize| settled(&all[n], Status::Approved, "Kim ", Some(Via::Shell));

    changed(&mut desk, &[shell(0), shell(1), shell(2), settled(&all[3], Status::Rejected, "lee", None)]);

    assert!(desk.message().contains("under your name: 3 approved from a shell"), "{}", desk.message());
    assert!(header(&desk).contains("4 to decide   3 approved from a shell"), "{}", header(&desk));
    desk.rest(60_000);
    changed(&mut desk, &[settled(&all[0], Status::Executed, "kim", Some(Via::Shell))]);
    assert!(header(&desk).contains("3 approved from a shell"), "{}", header(&desk));
    desk.rest(58_000);
    assert!(header(&desk).contains("3 approved from a shell"), "{}", header(&desk));
    desk.rest(5_000);
    assert!(!header(&desk).contains("approved"), "{}", header(&desk));
}

#[test]
fn decisions_of_several_kinds_are_counted_together() {
    let all = few(8);
    let mut desk = Desk::new(80, 24, all.clone());

    changed(&mut desk, &[settled(&all[0], Status::Rejected, "kim", Some(Via::Http))]);
    assert!(header(&desk).contains("1 rejected over HTTP"), "{}", header(&desk));
    changed(&mut desk, &[settled(&all[1], Status::Rejected, "kim", None)]);
    assert!(header(&desk).contains("2 decided elsewhere"), "{}", header(&desk));
    changed(&mut desk, &[settled(&all[2], Status::Failed, "kim", Some(Via::Screen))]);
    assert!(header(&desk).contains("3 decided elsewhere"), "{}", header(&desk));
}

#[test]
fn action_decided_between_two_syncs_is_shown() {
    let all = few(8);
    let mut desk = Desk::new(80, 24, all[..4].to_vec());
    let mut old = settled(&all[5], Status::Executed, "kim", Some(Via::Shell));
    old.row.resolved_at = Some(Timestamp::from_millis(NOW - 60_000));

    changed(&mut desk, &[settled(&all[4], Status::Approved, "kim", Some(Via::Http)), old]);

    assert!(header(&desk).contains("1 approved over HTTP"), "{}", header(&desk));
}

#[test]
fn decision_of_this_inbox_is_not_shown() {
    let all = few(3);
    let mut desk = Desk::new(80, 24, all.clone());
    desk.press("as");
    desk.wait(400);
    desk.press("y");
    desk.accepts();

    changed(&mut desk, &[settled(&all[0], Status::Approved, "kim", Some(Via::Screen))]);
    changed(&mut desk, &[settled(&all[0], Status::Executed, "kim", Some(Via::Screen))]);

    assert!(!header(&desk).contains("approved"), "{}", header(&desk));
}

#[test]
fn single_approval_of_several_is_shown() {
    let all = few(3);
    let mut desk = Desk::new(80, 24, all.clone());
    let given = |by: &str| {
        let mut action = all[0].clone();
        let approvals = Approvals { needed: 2, by: vec![by.into()] };
        action.row.approvals = Some(std::sync::Arc::new(approvals));
        action
    };

    changed(&mut desk, &[given("lee")]);
    assert!(!header(&desk).contains("approved"), "{}", header(&desk));
    changed(&mut desk, &[given("kim")]);
    assert!(header(&desk).contains("1 approved elsewhere"), "{}", header(&desk));
}
