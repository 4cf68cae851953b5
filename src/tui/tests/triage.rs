//! Filter, marks, ranges, and a list that is frozen.

use crate::domain::{PendingAction, Status};
use crate::inbox::filter::Filter;
use crate::tui::core::msg::{Effect, What};
use crate::tui::queue::filter_state::SavedFilter;
use crate::tui::submit::review_words as words;
use crate::tui::testing::{CAN, Desk, action, decided, few, key};

use super::screens::queue;

/// Two checkpoints with two batches each, and a loner.
pub(crate) fn checkpoints() -> Vec<PendingAction> {
    let at = |spec: &str, title: &str, checkpoint: Option<&str>| {
        let mut one = action(spec, title, &format!("{{\"title\":\"{title}\",\"team\":\"SUP\"}}"));
        one.row.checkpoint = checkpoint.map(Into::into);
        one
    };
    vec![
        at("1 create_linear_issue support low 60", "Issue about login", Some("onboarding")),
        at("2 save_document support low 50", "Guide for login", Some("onboarding")),
        at("3 create_linear_issue support medium 40", "Issue about billing", Some("onboarding")),
        at("4 refund_payment billing high 30", "Refund 1.10 EUR to ilka@example.com", Some("refunds")),
        at("5 refund_payment billing low 20", "Refund 49.00 EUR to bram@example.com", Some("refunds")),
        at("6 send_email billing low 10", "Mail to oda", None),
    ]
}

pub(crate) fn ids(desk: &Desk) -> String {
    let queue = &desk.model.queue;
    let slots = queue.groups().iter().flat_map(|group| &group.slots).filter_map(|index| queue.slot(*index));
    slots.map(|slot| slot.entry.key.id.as_raw()).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_list_narrows_with_every_key_and_esc_puts_everything_back() {
    let mut desk = Desk::new(100, 30, checkpoints());
    desk.press("jjj");
    let before = (desk.here(), desk.model.queue.top, desk.screen());

    desk.press("/ref");
    assert_eq!(ids(&desk), "4 5");
    assert!(desk.screen().contains(" / ref"), "{}", desk.screen());
    assert!(desk.screen().contains("2 of 6"), "{}", desk.screen());
    desk.press("u");
    assert_eq!((ids(&desk).as_str(), desk.staged().as_str()), ("4 5", ""), "letters are text here");
    desk.press("<Backspace><Backspace><Backspace><Backspace>");
    assert_eq!(ids(&desk).len(), 11, "nothing written shows everything");
    desk.press("refund<Esc>");

    assert_eq!((desk.here(), desk.model.queue.top, desk.screen()), before);
}

#[test]
fn enter_keeps_the_filter_and_esc_clears_it() {
    let mut desk = Desk::new(100, 30, checkpoints());

    desk.press("/risk:>=medium -refund<Enter>");
    assert_eq!(ids(&desk), "3");
    assert_eq!(desk.here(), "3", "the cursor goes to the nearest row that is left");
    assert!(desk.screen().contains("1 of 6 shown (Esc clears) · risk:>=medium -refund"), "{}", desk.screen());
    desk.press("/<Backspace><Esc>");
    assert_eq!(ids(&desk), "3", "Esc in the line puts back the filter that stood");
    desk.press("<Esc>");

    assert_eq!(ids(&desk).len(), 11);
    assert_eq!(desk.here(), "3");
    assert!(!desk.screen().contains("(Esc clears)"), "{}", desk.screen());
}

#[test]
fn a_filter_that_cannot_be_read_says_why_and_leaves_the_list() {
    let mut desk = Desk::new(100, 30, checkpoints());

    desk.press("/tol:linear");
    assert!(desk.screen().contains("there is no field tol:, did you mean tool:?"), "{}", desk.screen());
    desk.press("<Enter>");

    assert!(desk.model.modal.is_some(), "the line stays open");
    desk.press("<Esc>");
    assert_eq!(ids(&desk).len(), 11);
    desk.press("/nothing like this<Enter>");
    assert!(desk.screen().contains("None of 6 actions matches."), "{}", desk.screen());
    desk.press("ax");
    assert_eq!(desk.staged(), "");
}

#[test]
fn a_filter_never_hides_in_silence_what_will_be_sent() {
    let mut desk = Desk::new(100, 30, checkpoints());
    desk.press("jax");
    let staged = desk.staged();
    assert_eq!(desk.model.decide.draft.len(), 2, "{staged}");

    desk.press("/oda<Enter>");
    assert!(desk.screen().contains("2 hidden by the filter"), "{}", desk.screen());
    desk.press("S");

    assert!(desk.screen().contains("Send 2 decisions in 2 batches"), "{}", desk.screen());
    assert!(desk.screen().contains(&words::hidden(2)), "{}", desk.screen());
}

#[test]
fn arrivals_that_match_the_filter_come_in_and_others_do_not_show() {
    let mut desk = Desk::new(100, 30, checkpoints());
    desk.press("R/refund<Enter>");
    let late = action("7 refund_payment billing low 1", "Refund 3.00 EUR", r#"{"title":"x"}"#);
    let other = action("8 send_email billing low 1", "Mail", r#"{"title":"x"}"#);

    desk.changes(vec![late, other]);

    assert_eq!(ids(&desk), "4 5 7");
    assert_eq!(desk.model.queue.n_held(), 0);
    desk.press("<Esc>/is:new<Enter>");
    assert_eq!(ids(&desk), "7 8");
}

#[test]
fn states_are_looked_up_when_the_filter_is_written_and_rows_stay_when_they_change() {
    let mut desk = Desk::new(100, 30, few(4));
    desk.press("jx/is:undecided<Enter>");
    assert_eq!(ids(&desk), "1 3 4");

    desk.press("ggx");

    assert_eq!(ids(&desk), "1 3 4", "no row moves because of a decision");
    desk.press("n");
    assert!(!desk.message().contains("nothing"), "{}", desk.message());
    desk.press("xxxx");
    desk.press("/<Esc><Esc>");
    assert_eq!(ids(&desk), "1 2 3 4");
}

#[test]
fn next_undecided_stays_inside_the_filter() {
    let mut desk = Desk::new(100, 30, checkpoints());

    desk.press("/refund<Enter>nnn");
    assert!("4 5".contains(&desk.here()));
    desk.press("xx");

    assert_eq!(desk.staged(), "4X 5X");
    assert!(desk.message().starts_with("everything shown is decided"), "{}", desk.message());
}

/// The goal is at most seven keys beyond the typed words.
#[test]
fn one_action_among_ten_thousand_is_found_by_words_and_excluded() {
    let issue = |i: usize| {
        let title = if i == 7_321 {
            "Purge the audit log of tenant 44".to_owned()
        } else {
            format!("Issue number {i}")
        };
        action(&format!("pa-{i} create_linear_issue support low {}", i % 50), &title, r#"{"title":"x"}"#)
    };
    let mut desk = Desk::new(160, 45, (1..=10_000).map(issue).collect());

    desk.press("/");
    desk.press("purge audit");
    desk.press("<Enter>x");

    assert_eq!(desk.staged(), "pa-7321X", "three keys beyond the words");
}

#[test]
fn a_hundred_thousand_rows_are_searched_in_stretches() {
    let issue = |i: usize| {
        let title = format!("Issue number {i}");
        action(&format!("pa-{i} create_linear_issue support low {}", i % 50), &title, r#"{"title":"x"}"#)
    };
    let mut desk = Desk::new(100, 30, (1..=50_000).map(issue).collect());
    desk.press("/");
    desk.effects.clear();

    desk.hurry("4", 200);
    assert_eq!(desk.effects, [Effect::WakeIn(0)], "it goes on after other keys had their turn");
    assert!(desk.screen().contains("looking…"), "{}", desk.screen());
    desk.hurry("9", 20);
    desk.hurry("999", 200);
    assert_eq!(desk.model.queue.n_shown(), 50_000, "the rows stay until the search is over");
    while desk.model.list.filtering.scan.is_some() {
        desk.say(What::Wake);
    }

    assert_eq!(ids(&desk), "pa-49999");
    desk.press("<Backspace><Enter>");
    assert_eq!(desk.model.queue.n_shown(), 10 + 1 + 4, "Enter waits for the end of the search");
}

#[test]
fn a_range_grows_with_the_cursor_and_is_what_a_decision_is_about() {
    let mut desk = Desk::new(100, 30, few(6));

    desk.press("vjj");
    assert!(desk.screen().contains("range of 3 rows"), "{}", desk.screen());
    desk.press("k");
    assert!(desk.screen().contains("range of 2 rows"), "{}", desk.screen());
    desk.press("x");
    assert_eq!(desk.staged(), "1X 2X");
    assert!(desk.model.queue.marks.is_empty() && !desk.model.queue.has_range());

    desk.press("ggjvG<Esc>");
    assert!(desk.model.queue.marks.is_empty(), "Esc drops it");
    desk.press("ggj<S-Down><S-Down><S-Up> ");
    assert_eq!(desk.model.queue.marked(), [key("1"), key("2")]);
}

#[test]
fn moving_with_a_held_key_changes_nothing() {
    let mut desk = Desk::new(100, 30, few(6));
    let before = ids(&desk);

    desk.hurry("jjjjjjjjjjjjkkkkkkkkkkkkkk", 30);

    assert_eq!((ids(&desk), desk.staged()), (before, String::new()));
    assert!(desk.model.queue.marks.is_empty());
}

#[test]
fn a_star_marks_what_is_shown_and_a_filter_is_a_pattern_for_marks() {
    let mut desk = Desk::new(100, 30, checkpoints());

    desk.press("/login<Enter>*");
    assert_eq!(desk.message(), "2 actions marked");
    desk.press("*");
    assert_eq!(desk.message(), "nothing is marked");
    desk.press("*/refund<Enter>");
    assert!(desk.screen().contains("2 marked, 2 hidden"), "{}", desk.screen());
    desk.press("x");
    assert_eq!(desk.staged(), "", "what the filter hides is not decided on");
    assert!(desk.message().contains("none of them shown"), "{}", desk.message());
    desk.press("*x");

    assert_eq!(desk.staged(), "4X 5X");
    assert_eq!(desk.model.queue.marks.len(), 2, "the hidden ones stay marked");
}

#[test]
fn marks_on_rows_that_are_gone_are_told() {
    let mut desk = Desk::new(100, 30, few(5));
    desk.press("*");

    desk.changes(vec![
        decided(few(5).remove(0), Status::Approved, "lee"),
        decided(few(5).remove(3), Status::Rejected, "lee"),
    ]);

    assert!(desk.message().contains("3 of 5 marked still pending"), "{}", desk.message());
    assert!(desk.screen().contains("3 of 5 marked still pending"), "{}", desk.screen());
    desk.press("x");
    assert_eq!(desk.staged(), "2X 3X 5X");
}

#[test]
fn a_frozen_list_counts_on_and_catches_up_when_asked() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("jf");
    let rows = |desk: &Desk| {
        desk.screen()
            .lines()
            .filter(|line| line.contains("Issue number"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let before = rows(&desk);

    desk.changes(vec![
        decided(few(3).remove(0), Status::Approved, "lee"),
        action("9 send_email x low 1", "Late", "{}"),
        action("8 send_email x low 1", "Later", "{}"),
    ]);

    assert_eq!(rows(&desk), before);
    assert!(desk.screen().contains("FROZEN: 3 not shown (f follows)"), "{}", desk.screen());
    assert!(desk.screen().contains("4 to decide"), "counts go on: {}", desk.screen());
    desk.press("f");
    assert!(desk.screen().contains("Later"), "{}", desk.screen());
    assert!(desk.screen().contains("approved by lee"), "{}", desk.screen());
    assert!(!desk.screen().contains("FROZEN"), "{}", desk.screen());
}

#[test]
fn saved_filters_have_numbers() {
    let mut desk = Desk::unstarted(160, 45, CAN);
    let saved =
        |name: &str, text: &str| SavedFilter { name: name.to_owned(), filter: Filter::parse(text).unwrap() };
    desk.model.settings.triage.filters = vec![saved("money", "tool:refund"), saved("risky", "is:high")];
    desk.say(What::Restored(Ok(Box::default())));
    desk.lists(checkpoints());

    desk.press("'");
    assert!(desk.screen().contains("2  risky"), "{}", desk.screen());
    desk.press("2");
    assert_eq!(ids(&desk), "4");
    assert!(desk.screen().contains("> '2  risky"), "{}", desk.screen());
    desk.press("'1");
    assert_eq!(ids(&desk), "4 5");
    desk.press("''");
    assert_eq!(ids(&desk).len(), 11);
    desk.press("'9");
    assert!(desk.message().contains("there is no saved filter 9"), "{}", desk.message());
}

#[test]
fn a_filter_on_three_panes() {
    let mut desk = Desk::new(160, 45, queue());
    desk.press("x,r/risk:>=high,med -drive<Enter>*");

    insta::assert_snapshot!(top(&desk, 14), @r"
placet  7 to decide · 3 of 8 shown (Esc clears) · risk:>=high,med -drive                                                          gate live   kim@acme   14:22
gate                   8 │▌+· CRIT Refund 1.10 EUR to …    refund_payment  ! hidden characters 28 m │ 3 marked: 1 refund_payment CRITICAL, 2
agents blocked         3 │ ▾ create_linear_issue  refunds-agent                         1 of 2 left
                         │ +✗ med  Refund double-charge INV-8841                               44 m
Risk                     │ +· med  Escalate: EU outage                                         32 m
  critical     1  ##     │
  high         1  ##     │
  medium       3  ###### │
  low          3  ###### │
                         │
Age                      │
  < 15 m       1  #      │
  15-60 m      7  ###### │
  1-4 h        0         │
                         │                                                                          │ [Rendered] Diff  Raw  Context  History    read   1-15/15
3 actions marked                                                                                                                                staged 1 saved
3 marked: a approve  x exclude  e edit  Esc unmark  Space mark  s send  / filter  u undo                                                            ? all keys
");
}

#[test]
fn a_filter_being_written_above_a_preview() {
    let mut desk = Desk::new(80, 24, queue());
    desk.press("jx/linear out");

    insta::assert_snapshot!(top(&desk, 12), @r"
 placet  7 to decide · 1 of 8 shown (Esc clears) · linear out         gate live
▌ ✗ med  Escalate: EU outage                           create_linear_issue 32 m











 / linear out                                                            1 of 8
 Enter keep   Esc undo   words  'exact  -not  tool: agent: risk:>=high age:>1h e
");
}

/// The first lines as far as the list goes, and the foot: what previews show is not this file's.
pub(crate) fn top(desk: &Desk, lines: usize) -> String {
    let screen = desk.screen();
    let all: Vec<&str> = screen.lines().collect();
    let edge = usize::from(desk.model.layout().rows.right());
    let list = all[2..lines].iter().map(|line| {
        let mut width = 0;
        let inside = |c: &char| {
            width += unicode_width::UnicodeWidthChar::width(*c).unwrap_or(0);
            width <= edge
        };
        line.chars().take_while(inside).collect::<String>().trim_end().to_owned()
    });
    let head = all[..2].iter().map(|line| (*line).to_owned());
    let foot = all[all.len() - 3..].iter().map(|line| (*line).to_owned());
    head.chain(list).chain(foot).collect::<Vec<_>>().join("\n")
}
