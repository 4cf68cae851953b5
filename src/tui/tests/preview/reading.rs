//! The preview: content, scrolling, loading, and what counts as read.

use crate::domain::Seen;
use crate::inbox::Problem;
use crate::journal::Write;
use crate::tui::core::command::Command;
use crate::tui::core::msg::{Effect, What};
use crate::tui::decide::state::Guard;
use crate::tui::testing::{Desk, action, few, key};

fn loads(desk: &mut Desk) -> Vec<Vec<String>> {
    let all = std::mem::take(&mut desk.effects);
    let ids =
        |keys: Vec<crate::domain::ActionKey>| keys.iter().map(|key| key.id.as_raw().to_owned()).collect();
    all.into_iter()
        .filter_map(|effect| match effect {
            Effect::Load(keys) => Some(ids(keys)),
            _ => None,
        })
        .collect()
}

#[test]
fn numbers_keys_and_strings_keep_their_spelling() {
    let input = r#"{"price":1.10,"big":18446744073709551616,"yes":"true","no":null,"empty":"","list":[1.0,{"a":2}],"text":"one\ntwo"}"#;
    let desk = Desk::new(160, 40, vec![action("1 t agent low 1", "x", input)]);

    insta::assert_snapshot!(desk.preview(), @r#"
x
price  1.10
big    18446744073709551616
yes    "true"
no     null
empty  ⟦empty⟧
list   [1.0,{"a":2}]
text
  one
  two

What approving does
  Runs with exactly this input. No description for
  this tool.
"#);
}

#[test]
fn the_last_line_of_a_megabyte_can_be_reached() {
    let text = "All work and no play makes Jack a dull boy.\\n".repeat(24_000);
    let input = format!("{{\"text\":\"{text}the very last line\"}}");
    let mut desk = Desk::new(100, 30, vec![action("1 save_document agent low 1", "Novel", &input)]);
    desk.drawn();
    desk.press("k");
    assert_eq!(desk.model.seen_of(desk.slot("1")), Some(Seen::Opened));

    desk.press("3G");
    assert_eq!(desk.model.preview.top, 0, "the end is unknown before counting");
    desk.counts();

    insta::assert_snapshot!(desk.preview_line(16), @"  All work and no play makes Jack a");
    assert_eq!(desk.model.seen_of(desk.slot("1")), Some(Seen::Opened), "only its ends were on screen");
    desk.press("K<PageDown>J");
    insta::assert_snapshot!(desk.preview_line(16), @"  All work and no play makes Jack a");
}

fn long() -> Desk {
    let text = "Pay what is on this line.\\n".repeat(90);
    let input = format!("{{\"text\":\"{text}and this\"}}");
    Desk::new(100, 30, vec![action("1 refund_payment billing critical 1", "Refund", &input)])
}

fn seen(desk: &Desk) -> Option<Seen> {
    desk.model.seen_of(desk.slot("1"))
}

#[test]
fn jump_to_the_end_does_not_count_as_read() {
    let mut desk = long();
    desk.drawn();
    let command = desk.model.settings.keymap.key(Command::PreviewEnd).replace(' ', "");

    desk.press(&command);
    desk.press("a");

    assert_eq!((seen(&desk), desk.staged().as_str()), (Some(Seen::Opened), ""));
    assert_eq!(
        desk.message(),
        "critical: read it to the end first (J scrolls, z zooms; next is line 1), then approve"
    );
}

fn refunds(n: usize) -> Vec<crate::domain::PendingAction> {
    let refund = |nth: usize| {
        let input = format!(
            r#"{{"amount":{nth}.90,"currency":"EUR","customer":"pim@example.com","order_id":"{nth}"}}"#
        );
        action(&format!("{nth} refund_payment billing critical {}", 60 - nth), "Refund", &input)
    };
    (1..=n).map(refund).collect()
}

#[test]
fn pages_shown_briefly_do_not_count_as_read() {
    let mut desk = Desk::new(100, 30, refunds(12));
    for _ in 0..11 {
        desk.wait(150);
        desk.say(What::Key(crossterm::event::KeyCode::Char('j').into()));
        desk.drawn();
    }

    for nth in 1..=12 {
        assert_eq!(desk.model.seen_of(desk.slot(&nth.to_string())), None, "{nth}");
    }
    desk.wait(10_000);
    desk.press("*a");
    assert_eq!(desk.staged(), "12A", "the last one was looked at: {}", desk.message());
}

#[test]
fn time_on_screen_adds_up_over_visits() {
    let mut desk = Desk::new(100, 30, refunds(2));
    let pane = i64::from(desk.model.layout().text.height);
    let time = (4_000 / pane).max(250);
    let is_read = |desk: &Desk| desk.model.seen_of(desk.slot("1")) == Some(Seen::InFull);

    desk.hurry("j", 150);
    desk.drawn();
    assert!(!is_read(&desk));
    desk.wait(5_000);
    desk.hurry("k", 0);
    desk.drawn();
    desk.hurry("a", time - 151 - Guard::ALONE as i64);
    assert!(!is_read(&desk));
    assert_eq!(desk.staged(), "");
    assert_eq!(desk.message(), "critical: it was on screen too briefly to be read; look at it, then approve");
    desk.wait(1);
    desk.say(What::Wake);
    assert!(is_read(&desk));
    desk.press("a");
    assert_eq!(desk.staged(), "1A");
}

#[test]
fn full_pane_takes_a_second() {
    let fields: Vec<String> = (0..40).map(|n| format!("\"k{n}\":\"value {n}\"")).collect();
    let one = action("1 refund_payment billing critical 1", "Refund", &format!("{{{}}}", fields.join(",")));
    let mut desk = Desk::new(100, 70, vec![one]);
    insta::assert_snapshot!(desk.preview_line(40), @"k39  value 39");
    let pane = i64::from(desk.model.layout().text.height);

    for (wait, read) in [(40_000 / pane - 1, false), (1, true)] {
        desk.wait(wait);
        desk.say(What::Wake);
        assert_eq!(seen(&desk) == Some(Seen::InFull), read, "{wait}");
    }
}

#[test]
fn form_on_screen_is_not_the_page_read() {
    let mut desk = Desk::new(100, 30, refunds(1));
    desk.hurry("e", 20);
    desk.drawn();
    desk.rest(3_000);

    assert_eq!(seen(&desk), None);
}

/// Returns a desk with an action whose input is one line.
fn noted(size: (u16, u16), note: &str) -> Desk {
    let mut one = action("1 refund_payment billing critical 1", "Refund", r#"{"order_id":"1"}"#);
    one.summary = Some(note.into());
    Desk::new(size.0, size.1, vec![one])
}

#[test]
fn note_and_effect_must_be_on_screen() {
    let note = format!("{}the end", "Trust me.\n".repeat(60));
    for size in [(80, 24), (100, 30), (160, 45)] {
        for tab in ["", "]]"] {
            let mut desk = noted(size, &note);
            desk.slowly(tab);
            desk.rest(3_000);
            assert_ne!(seen(&desk), Some(Seen::InFull), "{size:?} {tab}");
            desk.press("a");
            assert_eq!(desk.staged(), "", "{size:?} {tab}: {}", desk.message());

            for _ in 0..20 {
                desk.slowly("<PageDown>");
            }
            assert_eq!(seen(&desk), Some(Seen::InFull), "{size:?} {tab}");
            desk.press("a");
            assert_eq!(desk.staged(), "1A", "{size:?} {tab}");
        }
    }
}

#[test]
fn count_of_lines_covers_note_and_effect() {
    let desk = noted((100, 30), "Ordered twice.");
    let lines = desk.preview().lines().count() - 1;

    assert!(desk.preview().contains("Ordered twice."));
    assert!(desk.tabs().ends_with(&format!("1-{lines}/{lines}")), "{} of {lines}", desk.tabs());
}

#[test]
fn many_short_lines_are_longer_than_a_screen() {
    for (lines, staged) in [(5, "1A 2A"), (200, "1A")] {
        let lines = (0..lines).map(|n| format!("{n}\\n")).collect::<Vec<_>>().concat();
        let other = action("2 t agent low 2", "y", &format!(r#"{{"m":"{lines}"}}"#));
        let mut desk = Desk::new(100, 30, vec![action("1 t agent low 5", "x", "{}"), other]);

        desk.press("*a");

        assert_eq!(desk.staged(), staged, "{}", desk.message());
    }
}

#[test]
fn line_beyond_the_right_edge_says_how_to_wrap_it() {
    let mut desk = noted((100, 30), &"S".repeat(700));
    desk.press("w");
    desk.rest(3_000);

    desk.press("a");

    assert!(desk.message().contains("goes on to the right; w wraps it"), "{}", desk.message());
}

#[test]
fn long_note_locks_an_action_that_was_never_opened() {
    for (words, staged) in [(40, "1A 2A"), (400, "1A")] {
        let mut other = action("2 t agent low 2", "Other", "{}");
        other.summary = Some("agent ".repeat(words).as_str().into());
        let mut desk = Desk::new(100, 30, vec![action("1 t agent low 5", "x", "{}"), other]);

        desk.press("*a");

        assert_eq!(desk.staged(), staged, "{}", desk.message());
    }
}

#[test]
fn tab_that_stays_locks_no_other_action() {
    for tabs in ["]]", "]]]]"] {
        let mut desk = Desk::new(80, 24, few(3));
        desk.slowly(tabs);
        desk.slowly("jj");

        assert_ne!(desk.model.seen_of(desk.slot("3")), Some(Seen::Opened), "{tabs}");
        desk.press("a");
        assert!(desk.staged().contains("3A"), "{tabs}: {}", desk.message());
    }
}

#[test]
fn lines_count_as_read_in_any_order() {
    let mut desk = long();
    desk.slowly("<PageDown><PageDown>3GKKKK");
    assert_eq!(seen(&desk), Some(Seen::Opened), "there is a gap");

    for _ in 0..9 {
        desk.slowly("<PageUp>");
    }
    desk.slowly("K");
    assert_eq!(seen(&desk), Some(Seen::InFull));
    desk.press("a");
    assert_eq!(desk.staged(), "1A");
}

#[test]
fn lines_of_another_width_do_not_count() {
    let mut desk = long();
    desk.slowly("<PageDown><PageDown>");
    desk.say(What::Resize(80, 30));
    desk.drawn();

    for _ in 0..2 {
        desk.slowly("<PageDown>");
    }
    desk.slowly("3G");

    assert_eq!(seen(&desk), Some(Seen::Opened));
}

#[test]
fn neighbours_of_the_cursor_are_prefetched() {
    let mut desk = Desk::new(100, 30, few(7));
    desk.answers = false;

    desk.press("j");
    assert_eq!(loads(&mut desk), [["3"]], "2 was loaded with 1");
    desk.press("j");
    assert_eq!(loads(&mut desk), [["4"]], "3 is already requested");
    desk.press("G");
    assert_eq!(loads(&mut desk), [["7", "6"]]);
    desk.press("k");
    assert_eq!(loads(&mut desk), [["5"]], "upwards, too");
}

#[test]
fn empty_preview_is_drawn_only_after_a_delay() {
    let mut desk = Desk::new(100, 30, few(9));
    desk.answers = false;

    desk.press("G");
    assert!(!desk.model.wants_frame(), "the content usually arrives at once");
    desk.wait(40);
    desk.say(What::Wake);
    assert!(desk.model.wants_frame(), "the content is late");

    desk.press("gg");
    assert!(desk.model.wants_frame(), "the content is cached");
}

#[test]
fn badge_of_a_loaded_neighbour_is_drawn() {
    for (input, is_drawn) in [("{\"to\":\"a\u{200b}da\"}", true), (r#"{"to":"ada"}"#, false)] {
        let mut actions = few(3);
        actions.push(action("9 t agent low 5", "x", input));
        let mut desk = Desk::new(100, 30, actions.clone());
        desk.answers = false;
        desk.press("jj");
        desk.model.screen.dirty = false;

        desk.say(What::Loaded(vec![(key("9"), Ok(actions.remove(3)))]));

        assert_eq!(desk.model.screen.dirty, is_drawn, "{input}");
    }
}

#[test]
fn held_key_delays_loading() {
    let mut desk = Desk::new(100, 30, few(30));
    desk.answers = false;
    desk.press("jj");
    desk.effects.clear();

    desk.hurry("jjjjjjjj", 30);
    insta::assert_snapshot!(desk.preview(), @"
Issue number 11
…
");
    assert_eq!(loads(&mut desk), Vec::<Vec<String>>::new());
    desk.wait(80);
    desk.say(What::Wake);

    assert_eq!(loads(&mut desk), [["11", "12", "10"]]);
    assert_eq!(desk.here(), "11");
}

#[test]
fn failed_load_says_why() {
    let mut desk = Desk::new(100, 30, few(1));
    desk.answers = false;
    desk.lists(few(2).into_iter().skip(1).collect());
    desk.press("R");

    let why = Some("gone \u{1b}[31m".into());
    let problem = Problem { source: None, what: "no longer knows this action".to_owned(), why };
    desk.say(What::Loaded(vec![(key("2"), Err(problem))]));

    insta::assert_snapshot!(desk.preview(), @"
Issue number 2
cannot be shown: no longer knows this …
gone ⟦ESC⟧[31m
");
}

#[test]
fn agent_words_are_labelled() {
    let mut chatty = action("1 send_email crm low 1", "Mail", r#"{"to":"x"}"#);
    chatty.summary = Some("Trust me,\nthis is \u{200b}harmless".into());
    let mut desk = Desk::new(100, 40, vec![chatty]);

    desk.press("]]]");

    insta::assert_snapshot!(desk.preview(), @"
Mail                             ! hidden
id          1
source      gate
tool        send_email
batch       crm:send_email
workspace   acme
agent       crm
risk        low
status      pending
created     2026-11-21 14:21:31 UTC
size        10 bytes
digest      sha256:238ad98be1d6ee2a5822
            0c5e191b0725302fc2317550ebe
            c9e97159386be27c0

Agent's note (not executed)
  Trust me,
  this is ⟦U+200B⟧harmless
");
    insta::assert_snapshot!(desk.tabs(), @"[Context]  ] tabs          read   1-17/17");
    desk.press("[");
    insta::assert_snapshot!(desk.tabs(), @"[Raw]  ] tabs              read   1-13/13");
}

#[test]
fn idle_reading_is_not_taken_for_sleep() {
    let mut desk = Desk::new(100, 30, refunds(1));
    desk.drawn();
    desk.saved.clear();
    desk.rest(8_000);
    desk.press("a");
    assert_eq!((seen(&desk), desk.staged().as_str()), (Some(Seen::InFull), "1A"));

    desk.press("u");
    desk.drawn();
    desk.rest(40_000);
    desk.press("?");
    let millis = |write: &Write| if let Write::Looked { millis, .. } = write { *millis } else { 0 };
    let looked: i64 = desk.saved.iter().map(millis).sum();
    assert!((47_000..50_000).contains(&looked), "{looked}");
}

#[test]
fn time_on_screen_is_saved_and_pauses_under_a_sheet() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.drawn();
    desk.saved.clear();
    let looked = |desk: &Desk| -> Vec<(String, i64)> {
        let of = |write: &Write| match write {
            Write::Looked { key, millis, .. } => Some((key.id.as_raw().to_owned(), *millis)),
            _ => None,
        };
        desk.saved.iter().filter_map(of).collect()
    };
    let here = desk.here();
    let pass = |desk: &mut Desk, seconds: u32| {
        for _ in 0..seconds {
            desk.wait(1_000);
            desk.say(What::Tick);
        }
    };

    pass(&mut desk, 4);
    desk.press("?");
    desk.drawn();
    let first = looked(&desk);
    assert!(first.len() == 1 && first[0].0 == here && (4_000..6_000).contains(&first[0].1), "{first:?}");
    pass(&mut desk, 30);
    desk.press("<Esc>");
    assert_eq!(looked(&desk).len(), 1, "the help was on screen");

    desk.drawn();
    pass(&mut desk, 25);
    assert_eq!(looked(&desk).len(), 3, "saved periodically");
}

#[test]
fn history_tab_does_not_count_as_reading() {
    let mut desk = Desk::new(100, 30, few(2));
    desk.hurry("j]]]]", 20);
    desk.press("a");

    assert_eq!(desk.staged(), "2A", "{}", desk.message());
    assert_eq!(desk.model.decide.draft.get(&key("2")).and_then(|staged| staged.digest), None);
}
