//! Lists of settled actions.

use crate::domain::{
    Briefing, DecisionKind, Entry, Outcome, PendingAction, RawJson, Records, Status, Timestamp,
};
use crate::inbox::{Event, EventKind};
use crate::tui::core::msg::{Effect, What};
use crate::tui::history::state::{OwnDecision, PageRequest, ViewKind, ViewPage, ViewRow};
use crate::tui::testing;
use crate::tui::testing::{Desk, NOW, action, decided, few, key, source};

use crate::tui::tests::queue::screens;

pub(crate) const MINUTE: i64 = 60_000;

pub(crate) fn over(spec: &str, title: &str, status: Status, by: &str, minutes: i64) -> PendingAction {
    let mut action = decided(action(spec, title, r#"{"amount":120,"currency":"EUR"}"#), status, by);
    action.row.resolved_at = Some(Timestamp::from_millis(NOW - minutes * MINUTE));
    action
}

fn failed() -> Vec<PendingAction> {
    let one = |spec: &str, title: &str, by: &str, minutes: i64, error: &str| {
        let mut action = over(spec, title, Status::Failed, by, minutes);
        action.error = Some(error.into());
        action
    };
    let mut all = vec![
        one(
            "f1 refund_payment billing high 40",
            "Refund 120 EUR to alice",
            "lee",
            3,
            "card expired\nask for another",
        ),
        one(
            "f2 refund_payment billing high 70",
            "Refund 3 EUR to bob",
            "kim@acme",
            65,
            "HTTP 502 \u{1b}[31mBad Gateway",
        ),
        one("f3 update_linear_issue support low 80", "退款申请 世界 👩‍💻 客户", "lee", 75, ""),
    ];
    all[0].user_edits =
        Some(crate::domain::Edits::new(RawJson::parse(r#"{"amount":100}"#).unwrap()).unwrap());
    all[0].effective_input = Some(RawJson::parse(r#"{"amount":100,"currency":"EUR"}"#).unwrap());
    all[0].reason = Some("they paid twice".into());
    all
}

pub(crate) fn row(action: &PendingAction) -> ViewRow {
    let entry = Entry { key: key(action.row.id.as_raw()), row: action.row.clone() };
    ViewRow { entry, own: None }
}

pub(crate) fn page(actions: &[PendingAction]) -> ViewPage {
    ViewPage {
        rows: actions.iter().map(row).collect(),
        at: Timestamp::from_millis(NOW),
        ..ViewPage::default()
    }
}

pub(crate) fn knows(desk: &mut Desk, actions: &[PendingAction]) {
    desk.world.extend(actions.iter().map(|action| (key(action.row.id.as_raw()), action.clone())));
}

/// Returns a busy inbox with the list of failed actions open.
pub(crate) fn looking(width: u16, height: u16) -> Desk {
    let mut desk = screens::at_work(width, height);
    knows(&mut desk, &failed());
    desk.pages.push_back(page(&failed()));
    desk.press("Vf");
    rest(&mut desk);
    desk
}

/// Waits until the preview has followed the cursor.
pub(crate) fn rest(desk: &mut Desk) {
    desk.wait(100);
    desk.say(What::Wake);
}

pub(crate) fn asks(desk: &Desk) -> Vec<(u64, PageRequest)> {
    let list = |effect: &Effect| match effect {
        Effect::List { number, ask } => Some((*number, ask.clone())),
        _ => None,
    };
    desk.effects.iter().filter_map(list).collect()
}

#[test]
fn queue_is_unchanged_after_a_look_at_history() {
    let mut desk = Desk::new(100, 30, few(6));
    desk.press("jax ");
    desk.changes(vec![action("0 create_linear_issue support low 90", "Early", "{}")]);
    let (here, staged, marks) = (desk.here(), desk.staged(), desk.model.queue.marked());
    assert!(!marks.is_empty() && desk.model.queue.held.len() == 1);
    desk.pages.push_back(page(&failed()));
    knows(&mut desk, &failed());

    desk.press("Vfjjj");
    assert_eq!(desk.here(), "f3");
    desk.changes(vec![decided(few(6).remove(5), Status::Rejected, "lee")]);
    desk.press("gi");

    assert_eq!((desk.here(), desk.staged(), desk.model.queue.marked()), (here, staged, marks));
    assert_eq!(desk.model.queue.held.len(), 1);
    assert!(!desk.slot("6").is_pending(), "the queue was updated meanwhile");
    assert_eq!(desk.submitted.len(), 0);
}

#[test]
fn keys_stage_nothing_in_settled_lists() {
    for keys in ["a", "x", "X", "e", "A", "u", "U", "s", "S", " ", "n", "N", "t", "<Backspace>"] {
        let mut desk = looking(100, 30);
        let (staged, steps) = (desk.staged(), desk.model.decide.draft.position());

        desk.press(keys);

        assert_eq!((desk.staged(), desk.model.decide.draft.position()), (staged, steps), "{keys}");
        assert_eq!(desk.message(), "read-only list: gi goes back to the inbox", "{keys}");
        assert!(desk.model.sheet.is_none(), "{keys}");
    }
}

#[test]
fn escape_and_q_return_to_the_inbox() {
    for keys in ["<Esc>", "q", "gi", "Vp"] {
        let mut desk = looking(100, 30);
        desk.press("z");
        desk.press("<Esc>");
        assert!(desk.model.history.open.is_some(), "Esc leaves the zoom first");

        desk.press(keys);

        assert!(desk.model.history.open.is_none() && !desk.model.screen.leaving, "{keys}");
    }
}

#[test]
fn key_typed_while_leaving_history_stages_nothing() {
    let mut desk = looking(100, 30);
    let staged = desk.staged();

    desk.press("gi");
    desk.hurry("x", 100);

    assert_eq!(desk.staged(), staged);
}

#[test]
fn next_page_is_requested_near_the_end_late_pages_dropped() {
    let many = |from: usize, n: usize| {
        let one = |i| {
            over(
                &format!("r{i} refund_payment billing low 9"),
                &format!("Refund {i}"),
                Status::Rejected,
                "lee",
                9,
            )
        };
        (from..from + n).map(one).collect::<Vec<_>>()
    };
    let mut desk = Desk::new(100, 30, few(1));
    let next = |skip| Some(PageRequest::Decided { skip });
    desk.pages.push_back(ViewPage { next: next(7), ..page(&many(0, 200)) });
    desk.press("Vr");
    assert_eq!(asks(&desk).len(), 1, "the cursor is at the top");
    insta::assert_snapshot!(desk.row(0), @" Rejected   as of 14:22           row 1 of 200 and more");

    desk.press("G");
    assert_eq!(asks(&desk).last().unwrap().1, PageRequest::Decided { skip: 7 });
    insta::assert_snapshot!(desk.row(0), @" Rejected   as of 14:22                        reading…");
    desk.press("kjk");
    assert_eq!(asks(&desk).len(), 2, "the page is on the way");

    let (number, _) = asks(&desk)[1].clone();
    desk.say(What::Listed { number, page: Box::new(page(&many(190, 30))) });
    insta::assert_snapshot!(desk.row(0), @" Rejected   as of 14:22                  row 199 of 220");

    desk.press("gi");
    desk.say(What::Listed { number, page: Box::new(page(&many(300, 5))) });
    assert!(desk.model.history.open.is_none());
    desk.press("Vr");
    desk.say(What::Listed { number, page: Box::new(page(&many(300, 5))) });
    assert!(desk.model.history.open.as_ref().unwrap().len() == 0, "the page belongs to another list");
}

#[test]
fn reload_keeps_the_cursor_and_the_list_shows_its_age() {
    let mut desk = looking(100, 30);
    insta::assert_snapshot!(desk.row(0), @" Failed   as of 14:22                        row 1 of 3");
    desk.press("j");
    desk.wait(3 * MINUTE);
    desk.say(What::Tick);
    insta::assert_snapshot!(desk.row(0), @" Failed   as of 14:22, 3 m ago: R reads it again");

    let mut newer = failed();
    newer
        .insert(0, over("f0 refund_payment billing high 1", "Refund 5 EUR to dan", Status::Failed, "lee", 0));
    desk.pages.push_back(ViewPage { at: desk.model.now, ..page(&newer) });
    desk.press("R");

    assert_eq!(desk.here(), "f2");
    insta::assert_snapshot!(desk.row(0), @" Failed   as of 14:25                        row 3 of 4");
}

#[test]
fn only_visible_rows_are_loaded_in_full() {
    let one = |i| {
        over(&format!("f{i} refund_payment billing low 9"), &format!("Refund {i}"), Status::Failed, "lee", 9)
    };
    let many: Vec<_> = (0..150).map(one).collect();
    let mut desk = Desk::new(100, 30, few(1));
    desk.answers = false;
    desk.pages.push_back(page(&many));

    desk.press("Vf");

    let loaded: usize = desk
        .effects
        .iter()
        .map(|effect| match effect {
            Effect::Load(keys) => keys.len(),
            _ => 0,
        })
        .sum();
    assert!((20..40).contains(&loaded), "{loaded}");
}

#[test]
fn sources_without_settled_lists_say_so() {
    let mut desk = Desk::new(100, 30, few(1));
    desk.model.list.sources[0].records = Records::NONE;

    desk.press("Vf");

    assert!(desk.model.history.open.is_none() && asks(&desk).is_empty());
    assert_eq!(desk.message(), "no source lists ended actions; gh shows decisions made here");
    desk.press("gh");
    assert_eq!(desk.model.history.open.as_ref().map(|view| view.kind), Some(ViewKind::Mine));
}

#[test]
fn blocked_missions_and_agents_are_counted_once() {
    let mut actions = few(4);
    for (action, mission) in actions.iter_mut().zip(["m1", "m2", "m1", "m3"]) {
        action.row.mission = Some(mission.into());
    }
    actions[3].row.agent = Some("sales".into());
    let mut desk = Desk::new(100, 30, actions.clone());
    insta::assert_snapshot!(desk.header(), @" placet  4 to decide   F 3 blocked                                        ● gate   kim@acme   14:22");

    desk.press("j");
    desk.changes(vec![decided(actions.remove(3), Status::Rejected, "lee")]);
    insta::assert_snapshot!(desk.header(), @" placet  3 to decide   F 2 blocked                                        ● gate   kim@acme   14:22");
}

#[test]
fn blocked_missions_come_from_the_source_before_the_list() {
    let mut desk = Desk::unstarted(100, 30, testing::CAN);
    let briefing = Briefing { pending: 9, blocked_missions: Some(7), ..Briefing::default() };

    desk.say(What::Source(Event { source: source(), kind: EventKind::Briefing(briefing) }));

    insta::assert_snapshot!(desk.header(), @" placet  ? to decide   F 7 blocked                             ○ gate CONNECTING   kim@acme   14:22");
    desk.lists(few(1));
    insta::assert_snapshot!(desk.header(), @" placet  1 to decide   F 1 blocked                             ○ gate CONNECTING   kim@acme   14:22");
}

#[test]
fn action_read_before_own_decision_is_reloaded() {
    let mut desk = Desk::new(100, 30, few(1));
    let mut mine = decided(few(1).remove(0), Status::Rejected, "kim@acme");
    mine.reason = Some("twice".into());
    knows(&mut desk, std::slice::from_ref(&mine));
    let at = Timestamp::from_millis(NOW);
    let own =
        OwnDecision { decision: DecisionKind::Reject, at, outcome: Some(Outcome::Rejected), ended: None };
    let rows = vec![ViewRow { own: Some(own), ..row(&mine) }];
    desk.pages.push_back(ViewPage { rows, ..page(&[]) });

    desk.press("gh");
    rest(&mut desk);

    insta::assert_snapshot!(desk.preview_line(1), @"rejected  decided by kim@acme");
    // These rows are settled, so no key decides them.
    insta::assert_snapshot!(desk.hints(), @" / filter  ] tabs  z zoom  gi inbox  q quit                                              ? all keys");
}

#[test]
fn filter_of_a_settled_list_reads_pages_until_a_match() {
    let mut desk = screens::at_work(100, 30);
    let mut other = over("r1 close_issue support low 10", "Close LIN-4", Status::Rejected, "kim", 9);
    other.reason = Some("duplicate".into());
    knows(&mut desk, &failed());
    knows(&mut desk, std::slice::from_ref(&other));
    let ask = ViewKind::Decided.ask();
    desk.pages.push_back(ViewPage { next: Some(ask.clone()), ..page(&failed()) });
    desk.pages.push_back(page(&[other]));
    desk.press("Vd");
    rest(&mut desk);
    let asked = asks(&desk).len();

    desk.press("/by:kim status:rejected<Enter>");
    rest(&mut desk);
    insta::assert_snapshot!(desk.header(), @" placet  5 to decide   1 of 4 shown (Esc clears)   by:kim status:rejected            ● gate   14:22");
    insta::assert_snapshot!(desk.list(), @"
 Decided by anyone   as of 14:22             row 1 of 1
▌ Close LIN-4  duplicate     rejected   kim         9 m
");
    desk.press("<Esc>");
    insta::assert_snapshot!(desk.list(), @"
 Decided by anyone   as of 14:22             row 1 of 4
▌ Refund 120 E…  card expir… FAILED     lee         3 m
  Refund 3 EUR…  HTTP 502 …  FAILED     kim@acme    1 h
  退款申请 世…               FAILED     lee         1 h
  Close LIN-4  duplicate     rejected   kim         9 m
");

    assert_eq!(asks(&desk)[0].1, ask);
    assert!(asked > 0 && desk.model.history.open.is_some(), "Esc clears the filter first");
    assert_eq!(desk.model.list.filtering.applied, None, "the queue keeps its own filter");
}
