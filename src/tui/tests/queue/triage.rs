//! Filters, marks, ranges, and a frozen list.

use ratatui::style::Modifier;

use crate::domain::{PendingAction, Status};
use crate::inbox::filter::Filter;
use crate::journal::Restored;
use crate::tui::chrome::state::Focus;
use crate::tui::core::msg::{Effect, What};
use crate::tui::queue::filter_state::SavedFilter;
use crate::tui::submit::words;
use crate::tui::testing::{CAN, Desk, action, decided, few, key};

use super::screens::queue;

/// Returns two checkpoints with two batches each, and a single action.
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
    let slots = queue.groups.iter().flat_map(|group| queue.rows_of(group));
    slots.map(|slot| slot.entry.key.id.as_raw()).collect::<Vec<_>>().join(" ")
}

#[test]
fn list_narrows_while_typing_and_esc_restores_it() {
    let mut desk = Desk::new(100, 30, checkpoints());
    desk.press("jjj");
    let before = (desk.here(), desk.model.queue.top, desk.screen());

    desk.press("/ref");
    desk.pictured("filter_line");
    assert_eq!(ids(&desk), "4 5");
    insta::assert_snapshot!(desk.status_line(), @" / ref                                                                                       2 of 6");
    desk.press("u");
    assert_eq!((ids(&desk).as_str(), desk.staged().as_str()), ("4 5", ""), "letters are text here");
    desk.press("<Backspace><Backspace><Backspace><Backspace>");
    assert_eq!(ids(&desk).len(), 11, "an empty filter shows everything");
    desk.press("refund<Esc>");

    assert_eq!((desk.here(), desk.model.queue.top, desk.screen()), before);
}

#[test]
fn enter_keeps_the_filter_and_esc_clears_it() {
    let mut desk = Desk::new(100, 30, checkpoints());

    desk.press("/risk:>=medium -refund<Enter>");
    assert_eq!(ids(&desk), "3");
    assert_eq!(desk.here(), "3", "the cursor goes to the nearest remaining row");
    insta::assert_snapshot!(desk.header(), @" placet  6 to decide   1 of 6 shown (Esc clears)   risk:>=medium -refund  ● gate   kim@acme   14:22");
    desk.press("/<Backspace><Esc>");
    assert_eq!(ids(&desk), "3", "Esc in the line puts back the filter that stood");
    desk.press("<Esc>");

    assert_eq!(ids(&desk).len(), 11);
    assert_eq!(desk.here(), "3");
    insta::assert_snapshot!(desk.header(), @" placet  6 to decide   F 2 blocked                                        ● gate   kim@acme   14:22");
}

#[test]
fn invalid_filter_says_why_and_changes_nothing() {
    let mut desk = Desk::new(100, 30, checkpoints());

    desk.press("/tol:linear");
    insta::assert_snapshot!(desk.hints(), @" there is no field tol:, did you mean tool:? In quotes it is a word like any other (at character 1)");
    desk.press("<Enter>");

    assert!(desk.model.sheet.is_some(), "the line stays open");
    desk.press("<Esc>");
    assert_eq!(ids(&desk).len(), 11);
    desk.press("/nothing like this<Enter>");
    insta::assert_snapshot!(desk.row(1), @"  None of 6 actions matches.");
    desk.press("ax");
    assert_eq!(desk.staged(), "");
}

#[test]
fn filter_announces_hidden_staged_decisions() {
    let mut desk = Desk::new(100, 30, checkpoints());
    desk.press("jax");
    let staged = desk.staged();
    assert_eq!(desk.model.decide.draft.len(), 2, "{staged}");

    desk.press("/oda<Enter>");
    insta::assert_snapshot!(desk.status_line(), @" staged 1 approve · 1 exclude · 2 hidden by the filter                                        saved");
    desk.press("S");

    insta::assert_snapshot!(desk.sheet_line(0), @"Send 2 decisions in 2 batches to gate");
    assert!(desk.screen().contains(&words::hidden(2)), "{}", desk.screen());
}

#[test]
fn only_arrivals_that_match_the_filter_show() {
    let mut desk = Desk::new(100, 30, checkpoints());
    desk.press("R/refund<Enter>");
    let late = action("7 refund_payment billing low 1", "Refund 3.00 EUR", r#"{"title":"x"}"#);
    let other = action("8 send_email billing low 1", "Mail", r#"{"title":"x"}"#);

    desk.changes(vec![late, other]);

    assert_eq!(ids(&desk), "4 5 7");
    assert_eq!(desk.model.queue.held.len(), 0);
    desk.press("<Esc>/is:new<Enter>");
    assert_eq!(ids(&desk), "7 8");
}

#[test]
fn filter_by_state_keeps_rows_that_change_later() {
    let mut desk = Desk::new(100, 30, few(4));
    desk.press("jx/is:undecided<Enter>");
    assert_eq!(ids(&desk), "1 3 4");

    desk.press("ggjx");

    assert_eq!(ids(&desk), "1 3 4", "a decision moves no row");
    desk.press("n");
    insta::assert_snapshot!(desk.message(), @"");
    desk.press("xxxx");
    desk.press("/<Esc><Esc>");
    assert_eq!(ids(&desk), "1 2 3 4");
}

#[test]
fn next_undecided_stays_inside_the_filter() {
    let mut desk = Desk::new(100, 30, checkpoints());

    desk.press("/refund<Enter>nnn");
    assert!(matches!(desk.here().as_str(), "4" | "5"));
    desk.press("xx");

    assert_eq!(desk.staged(), "4X 5X");
    assert_eq!(desk.message(), "All shown decided. s review and send");
}

/// The goal is at most seven keys besides the typed words.
#[test]
fn action_among_ten_thousand_is_found_with_few_keys() {
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

    assert_eq!(desk.staged(), "pa-7321X", "three keys besides the words");
}

#[test]
fn many_rows_are_searched_in_chunks() {
    let issue = |i: usize| {
        let title = format!("Issue number {i}");
        action(&format!("pa-{i} create_linear_issue support low {}", i % 50), &title, r#"{"title":"x"}"#)
    };
    let mut desk = Desk::new(100, 30, (1..=20_000).map(issue).collect());
    desk.press("/");
    desk.effects.clear();

    desk.hurry("1", 200);
    assert_eq!(desk.effects, [Effect::WakeIn(0)], "other keys run between chunks");
    insta::assert_snapshot!(desk.status_line(), @" / 1                                                                                       looking…");
    desk.hurry("9", 20);
    desk.hurry("999", 200);
    assert_eq!(desk.model.queue.n_shown(), 20_000, "the rows stay until the search has finished");
    while desk.model.list.filtering.scan.is_some() {
        desk.say(What::Wake);
    }

    assert_eq!(ids(&desk), "pa-19999");
    desk.press("<Backspace><Enter>");
    assert_eq!(desk.model.queue.n_shown(), 10 + 1 + 1, "Enter waits for the end of the search");
}

#[test]
fn range_follows_the_cursor_and_is_decided_together() {
    let mut desk = Desk::new(100, 30, few(6));

    desk.press("vjj");
    insta::assert_snapshot!(desk.status_line(), @" range of 3 rows");
    desk.press("k");
    insta::assert_snapshot!(desk.status_line(), @" range of 2 rows");
    desk.press("x");
    assert_eq!(desk.staged(), "1X 2X");
    assert!(desk.model.queue.marks.is_empty() && !desk.model.queue.has_range());

    desk.press("ggjvG<Esc>");
    assert!(desk.model.queue.marks.is_empty(), "Esc drops it");
    desk.press("ggj<S-Down><S-Down><S-Up> ");
    let marked = [key("1"), key("2")].map(|key| desk.model.queue.index(&key).unwrap());
    assert_eq!(desk.model.queue.marked(), marked);
}

#[test]
fn moving_with_a_held_key_stages_nothing() {
    let mut desk = Desk::new(100, 30, few(6));
    let before = ids(&desk);

    desk.hurry("jjjjjjjjjjjjkkkkkkkkkkkkkk", 30);

    assert_eq!((ids(&desk), desk.staged()), (before, String::new()));
    assert!(desk.model.queue.marks.is_empty());
}

#[test]
fn star_marks_shown_rows_and_hidden_marks_stay() {
    let mut desk = Desk::new(100, 30, checkpoints());

    desk.press("/login<Enter>*");
    assert_eq!(desk.message(), "2 actions marked");
    desk.press("*");
    assert_eq!(desk.message(), "nothing is marked");
    desk.press("*/refund<Enter>");
    insta::assert_snapshot!(desk.status_line(), @" 2 marked, 2 hidden");
    desk.press("x");
    assert_eq!(desk.staged(), "", "hidden actions are not decided");
    assert_eq!(desk.message(), "2 marked, none shown: Esc unmarks, or clear the filter first");
    desk.press("*x");

    assert_eq!(desk.staged(), "4X 5X");
    assert_eq!(desk.model.queue.marks.len(), 2, "the hidden ones stay marked");
}

#[test]
fn removed_marks_are_reported() {
    let mut desk = Desk::new(100, 30, few(5));
    desk.press("*");

    desk.changes(vec![
        decided(few(5).remove(0), Status::Approved, "lee"),
        decided(few(5).remove(3), Status::Rejected, "lee"),
    ]);

    assert_eq!(desk.message(), "3 of 5 marked are still pending: the others are unmarked");
    insta::assert_snapshot!(desk.status_line(), @" 3 of 5 marked are still pending: the others are unmarked");
    desk.press("x");
    assert_eq!(desk.staged(), "2X 3X 5X");
}

#[test]
fn frozen_list_keeps_counting_and_catches_up_on_a_key() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("jf");
    let before = desk.list();

    desk.changes(vec![
        decided(few(3).remove(0), Status::Approved, "lee"),
        action("9 send_email x low 1", "Late", "{}"),
        action("8 send_email x low 1", "Later", "{}"),
    ]);

    assert_eq!(desk.list(), before);
    insta::assert_snapshot!(desk.header(), @" placet  4 to decide   FROZEN: 3 not shown (f follows)   F 2 blocked      ● gate   kim@acme   14:22");
    desk.press("f");
    insta::assert_snapshot!(desk.list(), @"
     ▾ create_linear_issue  low  support             2 left
       │ Issue number 1                     approved by lee
    ▌  │ Issue number 2                                58 m
     • │ Issue number 3                                57 m
     ▾ send_email  low  x                            2 left
     • │ Later
     • │ Late
    ");
    insta::assert_snapshot!(desk.header(), @" placet  4 to decide   F 2 blocked                                        ● gate   kim@acme   14:22");
}

#[test]
fn saved_filters_have_numbers() {
    let mut desk = Desk::unstarted(160, 45, CAN);
    let saved = |name: &str, text: &str| SavedFilter {
        name: name.to_owned(),
        filter: Filter::parse(text).unwrap(),
        made_here: false,
    };
    desk.model.settings.triage.filters = vec![saved("money", "tool:refund"), saved("risky", "is:high")];
    desk.say(What::Restored(Ok(Box::default())));
    desk.lists(checkpoints());

    desk.press("'");
    insta::assert_snapshot!(desk.sheet(), @"
Saved filters

  1  money                 tool:refund
  2  risky                 is:high
1 to 9 applies   ' clears   Esc closes
");
    desk.press("2");
    assert_eq!(ids(&desk), "4");
    let bold = |desk: &Desk, y| desk.buffer()[(4, y)].modifier.contains(Modifier::BOLD);
    assert_eq!([1, 4, 5].map(|y| bold(&desk, y)), [false, false, true], "{}", desk.screen());
    desk.press("'1");
    assert_eq!(ids(&desk), "4 5");
    desk.press("''");
    assert_eq!(ids(&desk).len(), 11);
    desk.press("'9");
    assert_eq!(desk.message(), "there is no saved filter 9; + saves the current filter");
}

#[test]
fn moving_in_the_places_filters_the_list_and_esc_restores() {
    for (width, height) in [(80, 24), (100, 30), (160, 45), (40, 10)] {
        let mut desk = Desk::new(width, height, queue());
        desk.press("jj");
        let (stood, all) = (desk.here(), ids(&desk));

        desk.press("1");
        assert!(desk.screen().contains("Agents"), "{}", desk.screen());
        assert_eq!(ids(&desk), all);
        desk.press("jj");
        let agent = "agent:==drive-sync";
        assert_eq!(desk.model.list.filtering.applied.as_ref().map(Filter::text), Some(agent));
        let shown = ids(&desk);
        assert!(shown.len() < all.len() && !shown.is_empty(), "{shown}");

        desk.press("axes");
        assert!(desk.model.decide.draft.len() <= 3, "keys stage nothing in the places: {}", desk.screen());
        desk.press("<Esc>");
        assert_eq!((desk.here(), ids(&desk)), (stood, all), "{width}x{height}");

        desk.press("1jj<Enter>");
        assert_eq!(ids(&desk), shown);
        assert!(desk.model.sheet.is_none());
        desk.press("1gg2");
        assert_eq!(desk.model.list.filtering.applied, None);
    }
}

#[test]
fn typed_filter_is_a_place_until_they_close() {
    let mut desk = Desk::new(100, 30, queue());
    desk.press("/risk:high<Enter>");
    let shown = ids(&desk);

    desk.press("1");
    insta::assert_snapshot!(desk.places(), @"
 All                    8
▌risk:high

 Agents
 billing-agent          1
 drive-sync             2
 refunds-agent          5

 Tools
 create_linear_issue    3
 google_drive_write     2
 refund_payment         1
 update_linear_issue    2
");
    desk.press("k");
    assert_ne!(ids(&desk), shown);
    desk.press("j<Enter>");
    assert_eq!(ids(&desk), shown);
    desk.press("1k<Enter>1");
    insta::assert_snapshot!(desk.places(), @"
▌All                    8

 Agents
 billing-agent          1
 drive-sync             2
 refunds-agent          5

 Tools
 create_linear_issue    3
 google_drive_write     2
 refund_payment         1
 update_linear_issue    2
");
}

#[test]
fn places_count_pending_regardless_of_the_filter() {
    let mut desk = Desk::new(160, 45, queue());
    insta::assert_snapshot!(desk.places(), @"
All                    8

Agents
billing-agent          1
drive-sync             2
refunds-agent          5

Tools
create_linear_issue    3
google_drive_write     2
refund_payment         1
update_linear_issue    2
");

    desk.press("1G");
    insta::assert_snapshot!(desk.places(), @"
 All                    8

 Agents
 billing-agent          1
 drive-sync             2
 refunds-agent          5

 Tools
 create_linear_issue    3
 google_drive_write     2
 refund_payment         1
▌update_linear_issue    2
");
    desk.press("3");
    assert_eq!(desk.model.screen.focus, Focus::Preview);
    assert_eq!(
        desk.model.list.filtering.applied.as_ref().map(Filter::text),
        Some("tool:==update_linear_issue")
    );
}

#[test]
fn filter_can_be_saved_renamed_and_removed() {
    let mut desk = Desk::new(100, 30, queue());
    desk.press("+");
    assert_eq!(desk.message(), "there is no filter to save; / writes one");

    desk.press("/risk:high<Enter>+");
    insta::assert_snapshot!(desk.status_line(), @" name:");
    desk.press("<Enter>");
    insta::assert_snapshot!(desk.hints(), @" type a name first");
    desk.press("risky ones");
    desk.press("<Enter>");
    let kept = |desk: &Desk| {
        desk.effects.iter().rev().find_map(|effect| match effect {
            Effect::KeepFilters(kept) => Some(kept.clone()),
            _ => None,
        })
    };
    assert_eq!(kept(&desk), Some(vec![("risky ones".to_owned(), "risk:high".to_owned())]));

    desk.press("1");
    assert_eq!(desk.places().lines().nth(3), Some("▌'1 risky ones"), "{}", desk.screen());
    desk.press("e");
    desk.press("money");
    desk.press("<Enter>");
    assert_eq!(kept(&desk), Some(vec![("money".to_owned(), "risk:high".to_owned())]));
    assert_eq!(desk.places().lines().nth(3), Some("▌'1 money"), "{}", desk.screen());
    desk.press("x");
    assert_eq!(kept(&desk), Some(vec![]));
    assert_eq!(desk.model.list.filtering.applied, None);
    assert_eq!(desk.message(), "removed money; it was: risk:high");
    desk.press("e");
    assert_eq!(desk.message(), "only saved filters are renamed");
}

#[test]
fn restored_filters_follow_the_read_only_configured_ones() {
    let mut desk = Desk::unstarted(160, 45, CAN);
    let filter = Filter::parse("tool:refund").unwrap();
    desk.model.settings.triage.filters =
        vec![SavedFilter { name: "mine".to_owned(), filter, made_here: false }];
    let kept = [("late", "age:>1h"), ("newer", "colour:red")];
    let filters = kept.map(|(name, text)| (name.to_owned(), text.to_owned())).to_vec();
    desk.say(What::Restored(Ok(Box::new(Restored { filters, ..Restored::default() }))));
    assert_eq!(
        desk.message(),
        "the saved filter \"newer\" is left out: there is no field colour:, did you mean source:? In quotes it is a word like any other (at character 1)"
    );
    desk.lists(checkpoints());

    insta::assert_snapshot!(desk.places(), @"
All                    6

Saved filters
'1 mine
'2 late

Agents
billing                3
support                3

Tools
create_linear_issue    2
refund_payment         2
save_document          1
send_email             1
");
    desk.press("1jx");
    assert_eq!(desk.message(), "not removed: this filter is in the configuration");
    assert_eq!(desk.model.settings.triage.filters.len(), 2);
}

#[test]
fn a_filter_on_three_panes() {
    let mut desk = Desk::new(160, 45, queue());
    desk.press("x,r/risk:>=high,med -drive<Enter>*");

    insta::assert_snapshot!(top(&desk, 14), @"
    placet  7 to decide   3 of 8 shown (Esc clears)   risk:>=high,med -drive   F 3 blocked   1 critical   risk first                     ● gate   kim@acme   14:22
    All                    8 │▌ +refund_payment │ Refund 1.10 EUR to ⟦ESC⟧[2J⟦U+202E⟧yro… CRIT ! hidden │ 3 marked: 1 refund_payment CRITICAL, 2
                             │ ▾ create_linear_issue  med  refunds-agent                         1 left
    Agents                   │ ✗+│ Refund double-charge INV-8841                                   44 m
    billing-agent          1 │  +│ Escalate: EU outage                                             32 m
    drive-sync             2 │
    refunds-agent          5 │
                             │
    Tools                    │
    create_linear_issue    3 │
    google_drive_write     2 │
    refund_payment         1 │
    update_linear_issue    2 │
                             │
                             │                                                                          │ [Rendered] Diff  Raw  Context  History    read   1-13/13
    3 actions marked                                                                                                                                staged 1 saved
    3 marked: a approve  x exclude  e edit  Esc unmark  Space mark  s send  / filter  u undo                                                            ? all keys
    ");
}

#[test]
fn a_filter_being_written_above_a_preview() {
    let mut desk = Desk::new(80, 24, queue());
    desk.press("jx/linear out");

    insta::assert_snapshot!(top(&desk, 12), @"
     placet  7 to decide   1 of 8 shown (Esc clears)   linear out    ● gate   14:22
    ▌✗ create_linear_issue │ Escalate: EU outage                           med 32 m











     / linear out                                                            1 of 8
     Enter keep   Esc undo   words  'exact  -not  tool: agent: risk:>=high age:>1h …
    ");
}

/// Returns the list's first lines and the foot, without the preview.
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
