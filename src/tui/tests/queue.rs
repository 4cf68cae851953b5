//! Arrivals, departures, and the row under the cursor.

use crate::domain::{BatchKey, Briefing, Draft, Revision, Staged, Timestamp};
use crate::domain::{Decision, Status};
use crate::inbox::{Connection, Event, EventKind, Problem, Rows, Synced};
use crate::journal::{Restored, Write};
use crate::tui::model::{Cursor, State};
use crate::tui::msg::{Effect, What};

use super::desk::{CAN, Desk, action, decided, few, key, source};

fn newcomer() -> crate::domain::PendingAction {
    action("0 create_linear_issue support low 90", "Came late, made early", r#"{"title":"x"}"#)
}

fn event(kind: EventKind) -> What {
    What::Source(Event { source: source(), kind })
}

fn syncs(desk: &mut Desk) -> Vec<Effect> {
    let all = std::mem::take(&mut desk.effects);
    all.into_iter().filter(|effect| matches!(effect, Effect::Sync { .. })).collect()
}

#[test]
fn arrivals_are_held_back_once_the_reviewer_has_begun() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("j");
    let before = desk.screen();

    desk.changes(vec![newcomer()]);

    assert_eq!(desk.here(), "2");
    let row = |screen: &str| screen.lines().position(|line| line.starts_with("│>"));
    assert_eq!(row(&desk.screen()), row(&before));
    assert!(desk.screen().contains("held back: 1 new (R shows)"));
    assert!(desk.screen().contains("pending 4"), "counts are of now");
    desk.press("R");
    assert_eq!(desk.here(), "2", "the cursor is an identity");
    assert_eq!(desk.model.queue.at(), 3);
    assert!(!desk.screen().contains("held back: 1"));
}

#[test]
fn arrivals_show_at_once_to_somebody_who_only_watches() {
    let mut desk = Desk::new(100, 30, Vec::new());
    assert!(desk.screen().contains("Nothing is pending."));

    desk.lists(few(2));
    assert_eq!(desk.here(), "1");
    desk.lists(few(2).into_iter().chain([newcomer()]).collect());

    assert_eq!(desk.model.queue.lines().len(), 4);
    assert_eq!(desk.here(), "1");
}

#[test]
fn what_others_decide_stays_in_place_and_drops_the_staged_decision() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("jaj");
    desk.saved.clear();

    desk.changes(vec![decided(few(3).remove(1), Status::Rejected, "maria")]);

    assert_eq!(desk.staged(), "");
    assert_eq!(desk.message(), "Issue number 2 was decided by maria; your staged decision was dropped");
    assert_eq!(desk.saved, [Write::Settle(vec![key("2")])]);
    assert_eq!(desk.model.queue.lines().len(), 4, "nothing moved");
    assert!(desk.screen().contains("rejected by maria"), "{}", desk.screen());
    assert!(desk.screen().contains('~'));
    desk.press("u");
    assert_eq!(desk.staged(), "", "undo cannot bring it back");
    desk.press("R");
    assert_eq!(desk.model.queue.lines().len(), 3);
}

#[test]
fn a_list_without_an_action_says_it_is_settled() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("j");

    desk.lists(few(3).into_iter().filter(|action| action.row.id.as_raw() != "3").collect());

    assert!(matches!(&desk.slot("3").state, State::Settled(settled) if settled.status.is_none()));
    assert!(!desk.screen().contains("pending 3"));
}

#[test]
fn the_cursor_moves_to_the_nearest_row_when_its_own_leaves() {
    let mut desk = Desk::new(100, 30, few(4));
    desk.press("j");
    desk.changes(vec![decided(few(4).remove(1), Status::Approved, "lee")]);
    assert_eq!(desk.here(), "2", "until the reload");

    desk.press("R");

    assert_eq!(desk.here(), "3");
}

#[test]
fn marks_on_what_is_settled_are_gone() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("  ");

    desk.changes(vec![decided(few(3).remove(0), Status::Approved, "lee")]);
    desk.press("x");

    assert_eq!(desk.staged(), "2X");
}

#[test]
fn one_sync_at_a_time_and_one_more_after_it() {
    let mut desk = Desk::unstarted(100, 30, CAN);
    let first = crate::tui::update::start(&mut desk.model);
    assert_eq!(first, [Effect::Restore, Effect::RestoreMinutes]);
    desk.say(event(EventKind::Changed));
    assert_eq!(syncs(&mut desk), [Effect::Sync { source: source(), since: None }]);

    for _ in 0..5 {
        desk.say(event(EventKind::Changed));
    }
    assert_eq!(syncs(&mut desk), []);
    desk.lists(few(1));
    assert_eq!(syncs(&mut desk), [Effect::Sync { source: source(), since: Some(Revision(7)) }]);
    desk.lists(few(1));
    assert_eq!(syncs(&mut desk), []);
}

#[test]
fn a_briefing_of_what_is_known_asks_for_nothing() {
    let mut desk = Desk::new(100, 30, few(1));
    desk.effects.clear();

    desk.say(event(EventKind::Briefing(Briefing { revision: Some(Revision(7)), ..Briefing::default() })));
    assert_eq!(syncs(&mut desk), []);
    desk.say(event(EventKind::Briefing(Briefing { revision: Some(Revision(8)), ..Briefing::default() })));

    assert_eq!(syncs(&mut desk).len(), 1);
}

#[test]
fn a_source_in_trouble_says_since_when() {
    let mut desk = Desk::new(100, 30, few(1));
    let retrying = Connection::Retrying {
        why: "connection refused".into(),
        retry_in: std::time::Duration::from_secs(12),
    };

    desk.wait(71_000);
    desk.say(event(EventKind::Connection(retrying)));
    assert!(desk.screen().contains("RETRY in 12 s, data 71 s old"), "{}", desk.screen());
    desk.wait(5_000);
    desk.model.dirty = false;
    desk.say(What::Tick);

    assert!(desk.model.dirty, "the count-down is drawn");
    assert!(desk.screen().contains("RETRY in 7 s, data 76 s old"));
    desk.say(event(EventKind::Connection(Connection::Live)));
    assert!(desk.screen().contains("STALE, data 76 s old"), "a connection is no data");
    desk.changes(Vec::new());
    desk.model.dirty = false;
    desk.say(What::Tick);
    assert!(!desk.model.dirty, "nothing is drawn when nothing changes");
}

#[test]
fn a_failed_sync_is_shown_and_does_not_empty_the_list() {
    let mut desk = Desk::new(100, 30, Vec::new());
    let problem = Problem {
        source: Some(source()),
        what: "cannot be reached".to_owned(),
        why: Some("\u{1b}[2Jboom".into()),
    };

    desk.say(What::Synced(source(), Err(problem)));

    assert!(desk.screen().contains("cannot be reached: ⟦ESC⟧[2Jboom"), "{}", desk.screen());
    let mut desk = Desk::new(100, 30, few(2));
    let problem = Problem { source: Some(source()), what: "cannot be reached".to_owned(), why: None };
    desk.say(What::Synced(source(), Err(problem)));
    assert!(desk.screen().contains("LIVE, list failed"), "{}", desk.screen());
    assert!(desk.screen().contains("Issue number 2"));
}

#[test]
fn what_cannot_be_read_is_named_once() {
    let mut desk = Desk::new(100, 30, few(1));
    let synced = |desk: &mut Desk| {
        let rows = Rows::Changes { entries: Vec::new(), gone: Vec::new() };
        let unreadable = vec!["pa-7: \u{7}no tool name".into()];
        let at = Timestamp::default();
        desk.say(What::Synced(
            source(),
            Ok(Synced { source: source(), subject: None, rows, revision: None, unreadable, at }),
        ));
    };

    synced(&mut desk);
    assert_eq!(desk.message(), "1 of gate cannot be read: pa-7: ⟦BEL⟧no tool name");
    desk.press("<Esc>");
    synced(&mut desk);

    assert_eq!(desk.message(), "");
}

#[test]
fn what_was_staged_last_time_is_there_again_or_dropped() {
    let staged = |id: &str| Staged {
        decision: Decision::APPROVE,
        batch: BatchKey::Alone(key(id)),
        digest: None,
        terms: None,
        at: Timestamp::default(),
    };
    let mut draft = Draft::default();
    draft.stage([(key("1"), Some(staged("1"))), (key("gone"), Some(staged("gone")))]);
    let mut desk = Desk::unstarted(100, 30, CAN);
    let _ = crate::tui::update::start(&mut desk.model);

    desk.restored(Restored { draft, ..Restored::default() });
    assert_eq!(desk.staged(), "1A goneA");
    desk.lists(few(2));

    assert_eq!(desk.staged(), "1A");
    assert!(desk.saved.contains(&Write::Settle(vec![key("gone")])));
    assert!(desk.effects.contains(&Effect::Reconcile));
}

#[test]
fn folding_takes_the_cursor_to_the_header_and_next_finds_its_way_back() {
    let mut actions = few(3);
    actions.push(action("m1 send_email crm low 5", "Mail", r#"{"to":"x"}"#));
    let mut desk = Desk::new(100, 30, actions);

    desk.press("h");
    assert!(matches!(desk.model.queue.cursor(), Some(Cursor::Header(_))));
    assert_eq!(desk.model.queue.lines().len(), 2);
    desk.press("n");
    assert_eq!((desk.here().as_str(), desk.model.queue.lines().len()), ("1", 5), "it unfolds");
    desk.press("aaa");
    assert_eq!(desk.here(), "m1", "across batches");
    desk.press("N");
    assert_eq!(desk.here(), "m1", "nothing else is undecided");
    desk.press("gg");
    assert_eq!(desk.model.queue.at(), 0);
    desk.press("G");
    assert_eq!(desk.here(), "m1");
}

#[test]
fn a_long_list_scrolls_with_the_cursor() {
    let mut desk = Desk::new(100, 30, few(50));

    desk.press("G");
    assert!(desk.screen().contains("│>  .    Issue number 50"), "{}", desk.screen());
    desk.press("<C-u><C-u><C-u><C-u><C-u><C-u>");

    assert!(desk.screen().contains("create_linear_issue  support"));
    assert_eq!(desk.model.queue.at(), 0);
}

#[test]
fn a_review_closes_when_somebody_else_settles_what_it_names() {
    let mut desk = Desk::new(100, 30, few(2));
    desk.press("as");
    desk.wait(500);

    desk.changes(vec![decided(few(2).remove(0), Status::Rejected, "lee")]);
    desk.press("y");

    assert!(desk.submitted.is_empty());
    assert_eq!(
        desk.message(),
        "Issue number 1 was decided by lee; your staged decision was dropped, and the review closed"
    );
}
