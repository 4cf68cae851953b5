//! Keys and commands: prefixes, help, palette.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::config::{Bound, Keys};
use crate::domain::Seen;
use crate::rounds::rounds;
use crate::tui::chrome::state::{Finder, Overlay};
use crate::tui::core::command::{COMMANDS, Command, KeyContext};
use crate::tui::core::keymap::Keymap;
use crate::tui::core::msg::{Effect, What};
use crate::tui::decide::reason::ReasonForm;
use crate::tui::preview::page::made::Tab;
use crate::tui::submit::state::ReviewSheet;
use crate::tui::submit::words;
use crate::tui::testing::{Desk, action, few, key};

fn foot(desk: &Desk, lines: usize) -> String {
    let screen = desk.screen();
    let all: Vec<&str> = screen.lines().collect();
    all[all.len() - lines..].join("\n")
}

#[test]
fn prefix_lists_its_keys_and_leaves_the_cursor_visible() {
    let mut desk = Desk::new(80, 24, few(30));
    desk.press("jjjjjjj");
    let before = desk.here();

    desk.press("g");

    insta::assert_snapshot!(desk.sheet(), @"
g then
  u   take your approval back, where more people must approve
  r   the report of the last submission
  g   first
  e   the preview's end
  i   back to pending actions, from history or the watch view
  h   the history of decisions made here
  w   the watch view: every queue's figures, live; nothing is decided there
Esc leaves
");
    insta::assert_snapshot!(desk.row(8), @"▌  │ Issue number 8                                                        52 m");
    desk.press("g");
    assert_ne!(desk.here(), before);
    insta::assert_snapshot!(desk.preview(), @"
atch of create_linear_issue
0 open, 30 undecided, 0 staged
d support:create_linear_issue

 approves the rest   Space marks all   s reviews
");
}

#[test]
fn prefix_panel_never_covers_the_cursor_row() {
    for (width, height) in [(80, 24), (100, 30), (160, 45), (60, 12), (40, 10)] {
        let keymap = Keymap::new(&Keys::default()).unwrap();
        let prefixes = keymap.prefixes(&[KeyContext::List, KeyContext::Inbox]);
        assert!(prefixes.len() >= 2);
        for prefix in prefixes.iter().map(ToString::to_string) {
            let mut desk = Desk::new(width, height, few(60));
            for _ in 0..rounds(4, 10) {
                desk.press("jjjj");
                desk.press(&prefix);
                let screen = desk.screen();
                let row = screen.lines().find(|line| line.contains('▌') && line.contains("Issue number"));
                assert!(row.is_some(), "{width}x{height} after {prefix}:\n{screen}");
                desk.press("<Esc>");
            }
        }
    }
}

#[test]
fn unknown_key_after_a_prefix_stages_nothing() {
    let mut desk = Desk::new(100, 30, few(3));

    let mut said = Vec::new();
    for wrong in ["ga", "gx", "gA", "gs", "g<Enter>", "gq"] {
        desk.press(wrong);
        assert_eq!((desk.staged().as_str(), desk.model.sheet.is_none()), ("", true), "{wrong}");
        said.push(desk.message());
    }
    insta::assert_snapshot!(said.join("\n"), @"
g a does nothing; after g comes u r g e i h w
g x does nothing; after g comes u r g e i h w
g A does nothing; after g comes u r g e i h w
g s does nothing; after g comes u r g e i h w
g Enter does nothing; after g comes u r g e i h w
g q does nothing; after g comes u r g e i h w
");
    desk.press("a");
    assert_eq!(desk.staged(), "1A");
}

#[test]
fn esc_leaves_only_the_prefix() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("zg<Esc>");
    assert!(desk.model.screen.zoom && desk.model.screen.chords.is_empty());
    desk.press("g?");
    assert!(matches!(desk.model.screen.overlay, Some(Overlay::Help(_))), "global keys still work");
}

#[test]
fn text_under_a_panel_does_not_count_as_read() {
    let text = "line\\n".repeat(400);
    let long = vec![action(
        "1 create_linear_issue support high 5",
        "Long",
        &format!("{{\"title\":\"Long\",\"description\":\"{text}\"}}"),
    )];
    for cover in ["g", "?", ":"] {
        let mut desk = Desk::new(100, 30, long.clone());
        desk.press(cover);
        let seen = |desk: &Desk| format!("{:?}", desk.model.reader.reading);
        let before = seen(&desk);
        desk.model.preview.top += 5;
        desk.drawn();
        assert_eq!(seen(&desk), before, "{cover}");
        assert_ne!(desk.model.reader.seen.last(&key("1")).map(|(_, seen)| seen), Some(Seen::InFull));
    }
}

#[test]
fn help_says_what_works_here_first() {
    let first = |desk: &Desk| {
        let help = desk.sheet();
        help.lines().find(|line| line.contains("HERE:")).map(str::to_owned).unwrap_or_default()
    };
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("?");
    insta::assert_snapshot!(first(&desk), @"  HERE: the list");
    desk.press("?<Tab>?");
    insta::assert_snapshot!(first(&desk), @"  HERE: the preview");
    desk.press("<Esc>");
    desk.press("<Tab>e<F1>");
    insta::assert_snapshot!(first(&desk), @"  HERE: the edit form");
    desk.press("<Esc><Esc>");
    desk.press("as");
    desk.wait(500);
    desk.press("?");
    insta::assert_snapshot!(first(&desk), @"  HERE: the review sheet");
    assert!(desk.sheet().contains("send, where no count is asked for"), "{}", desk.sheet());
    desk.press("<Esc>");
    assert!(desk.model.sheet.is::<ReviewSheet>(), "the sheet is still there");
}

#[test]
fn help_is_found_by_words_and_by_keys() {
    let rows = |typed: &str| {
        let mut desk = Desk::new(100, 30, few(3));
        desk.press("?");
        desk.press(typed);
        desk.sheet()
    };
    insta::assert_snapshot!(rows("delete"), @"
    Help
      find: delete
      Backspace Delete   back to undecided                                                     clear
      x Delete           in the places: remove the saved filter                        remove-filter
      x                  exclude (reject); again to undo                                     exclude
      X                  exclude with a reason                                       exclude-because
    1-4 of 4   Down PageDown scroll   Esc closes
    ");
    insta::assert_snapshot!(rows("reject"), @"
    Help
      find: reject
      x                  exclude (reject); again to undo                                     exclude
      X                  exclude with a reason                                       exclude-because
      Vr                 excluded (rejected) actions, and why                          view-excluded
    1-3 of 3   Down PageDown scroll   Esc closes
    ");
    insta::assert_snapshot!(rows("z"), @"
Help
  find: z
  z                  preview in full, and back                                              zoom
  u                  undo the last staging step, or recall a held submission                undo
1-2 of 2   Down PageDown scroll   Esc closes
");
    insta::assert_snapshot!(rows("S"), @"
Help
  find: S
  S                  review and submit all batches                                    review-all
1-1 of 1   Down PageDown scroll   Esc closes
");
    insta::assert_snapshot!(rows("ctrl-d"), @"
Help
  find: ctrl-d
  Ctrl-D             half a page down                                             half-page-down
1-1 of 1   Down PageDown scroll   Esc closes
");
    insta::assert_snapshot!(rows("gg"), @"
Help
  find: gg
  gg Home            first                                                                   top
1-1 of 1   Down PageDown scroll   Esc closes
");
    insta::assert_snapshot!(rows("no such thing"), @"
Help
  find: no such thing

  No command matches.
0-0 of 0   Down PageDown scroll   Esc closes
");
}

#[test]
fn help_scrolls_to_its_last_line_on_every_screen() {
    for (width, height) in [(40, 10), (80, 24), (100, 30), (160, 45)] {
        let mut desk = Desk::new(width, height, few(3));
        desk.press("?");
        let mut all = desk.screen();
        loop {
            let before = desk.model.screen.overlay.as_mut().map(|overlay| overlay.finder_mut().at);
            desk.press("<PageDown>");
            if desk.model.screen.overlay.as_mut().map(|overlay| overlay.finder_mut().at) == before {
                break;
            }
            all.push_str(&desk.screen());
        }
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        for spec in COMMANDS {
            let last = spec.help.rsplit(' ').next().unwrap();
            assert!(words(&all).contains(last), "{width}x{height}: {} is cut", spec.name);
        }
        desk.press("<Esc>");
        assert!(desk.model.screen.overlay.is_none());
    }
}

#[test]
fn palette_runs_a_command_where_it_was_opened() {
    let mut desk = Desk::new(100, 30, few(3));

    desk.press(":approve<Enter>");
    assert_eq!(desk.staged(), "1A");
    desk.press(":und<Tab>");
    insta::assert_snapshot!(desk.sheet(), @"
    Command
      : undo
      > undo                 u              undo the last staging step, or recall a held submission
        approve              a              approve; again to undo
        exclude              x              exclude (reject); again to undo
    3 of 132   Enter runs   Tab completes   Esc closes
    ");
    desk.press("<Enter>");
    assert_eq!(desk.staged(), "");
    desk.press("<Tab>:diff<Enter>");
    assert_eq!(desk.model.preview.tab, Tab::Diff);
    desk.press(":reject<Enter>");
    assert_eq!(desk.staged(), "1X");
}

#[test]
fn the_palette_confirms_only_what_was_on_screen() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("as");
    desk.wait(500);

    desk.press(":confirm<Enter>");

    assert_eq!(desk.submitted.len(), 1);
    // The sheet was not on screen long enough.
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("a");
    desk.hurry("s:", 20);
    desk.press("confirm<Enter>");
    assert!(desk.submitted.is_empty());
}

#[test]
fn unavailable_command_says_so() {
    let mut desk = Desk::new(100, 30, few(3));

    desk.press(":landed");
    insta::assert_snapshot!(desk.sheet(), @"
    Command
      : landed
      > landed               e              (not here) settling: it ran (executed)
        not-landed           f              (not here) settling: it did not run (failed)
    2 of 132   Enter runs   Tab completes   Esc closes
    ");
    desk.press("<Enter>");
    assert_eq!(desk.message(), "landed does nothing here");
    desk.press("<Esc>");
    desk.press(":nosuch<Enter>");
    assert_eq!(desk.message(), "there is no such command");
}

#[test]
fn pasted_text_decides_nothing_through_the_palette() {
    let mut desk = Desk::new(100, 30, few(3));

    desk.hurry(":approve<Enter>", 1);
    desk.hurry("x", 1);

    assert_eq!(desk.staged(), "");
    assert_eq!(desk.message(), "Ignored 10 pasted keys");
    desk.press(":");
    desk.say(What::Paste("approve\n".to_owned()));
    assert_eq!(desk.staged(), "", "a paste is text");
}

#[test]
fn command_takes_an_argument() {
    let mut desk = Desk::new(100, 30, few(3));

    desk.press(":help undo<Enter>");

    insta::assert_snapshot!(desk.sheet(), @"
    Help
      find: undo
      u                  undo the last staging step, or recall a held submission                undo
      a                  approve; again to undo                                              approve
      x                  exclude (reject); again to undo                                     exclude
    1-3 of 3   Down PageDown scroll   Esc closes
    ");
    assert!(matches!(desk.model.screen.overlay, Some(Overlay::Help(_))));
    desk.press("<Esc><Esc>:sort r<Enter>");
    assert_eq!(desk.model.queue.sort_by.word(), "risk");
    desk.press(":sort taste<Enter>");
    assert_eq!(desk.message(), "sort takes one of: age, risk, expiry, tool, source");
    desk.press("<Esc>:group ag<Tab><Enter>");
    assert_eq!(desk.model.queue.group_by.word(), "agent");
    desk.press(":filter '3<Enter>");
    assert_eq!(desk.model.queue.n_shown(), 1, "{}", desk.screen());
    desk.press("as");
    desk.wait(500);
    desk.press(":filter x<Enter>");
    assert_eq!(desk.message(), "filter does nothing here");
    assert!(desk.model.sheet.is::<ReviewSheet>());
}

#[test]
fn every_command_is_in_the_palette_under_its_name() {
    let mut desk = Desk::new(100, 30, few(3));
    for spec in COMMANDS {
        desk.model.screen.overlay = Some(Overlay::Palette(Finder::with(spec.name)));
        let screen = desk.screen();
        let first = screen.lines().find(|line| line.contains("> ") && line.contains(spec.name));
        assert!(first.is_some(), "{}:\n{screen}", spec.name);
    }
}

#[test]
fn bound_keys_type_characters_in_text_fields() {
    let mut desk = Desk::new(100, 30, few(3));
    let keys = [("back", ["Q", "Esc"]), ("accept", ["T", "Enter"])];
    let keys =
        keys.map(|(name, keys)| (name.to_owned(), Bound { keys: keys.map(str::to_owned).to_vec(), line: 1 }));
    let keys = Keys { bound: keys.into(), ..Keys::default() };
    desk.model.settings.keymap = Keymap::new(&keys).unwrap();

    desk.press("XQuiTe ");

    let Some(form) = desk.model.sheet.get::<ReasonForm>() else { panic!("{}", desk.screen()) };
    assert_eq!(form.area.lines(), ["QuiTe "]);
}

#[test]
fn suspending_and_leaving_work_over_help() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("?<C-c>");
    assert!(desk.model.screen.overlay.is_none());
    desk.press("<C-c>");
    assert!(desk.effects.contains(&Effect::Quit), "{:?}", desk.effects);
    assert!(COMMANDS.iter().any(|spec| spec.command == Command::Palette));
    assert!(!foot(&desk, 1).is_empty());
}

#[test]
fn chord_with_a_foreign_modifier_does_nothing() {
    for modifier in [KeyModifiers::SUPER, KeyModifiers::HYPER, KeyModifiers::META] {
        for opened in ["", "as", "e", "X", "/", ":", "aq", "gw"] {
            let mut desk = Desk::new(100, 30, few(5));
            desk.press(opened);
            desk.wait(1_000);
            desk.drawn();
            let (before, staged) = (desk.screen(), desk.staged());

            let keys =
                (' '..='~').map(KeyCode::Char).chain([KeyCode::Enter, KeyCode::Backspace, KeyCode::Esc]);
            for key in keys {
                desk.say(What::Key(KeyEvent::new(key, modifier)));
                desk.say(What::Key(KeyEvent::new(key, modifier | KeyModifiers::SHIFT)));
            }

            assert_eq!((desk.screen(), desk.staged()), (before, staged), "{modifier:?} after {opened:?}");
            assert!(desk.submitted.is_empty() && !desk.model.screen.leaving, "{modifier:?} after {opened:?}");
        }
    }
}

#[test]
fn chord_that_is_not_bound_presses_no_button() {
    for modifier in [KeyModifiers::CONTROL, KeyModifiers::ALT] {
        let mut desk = Desk::new(100, 30, few(5));
        desk.slowly("e");
        desk.say(What::Key(KeyEvent::new(KeyCode::Char('!'), KeyModifiers::NONE)));
        for _ in 0..8 {
            desk.say(What::Key(KeyEvent::new(KeyCode::Enter, modifier)));
            desk.press("<Tab>");
        }

        assert_eq!(desk.staged(), "", "{modifier:?}: {}", desk.message());
        assert!(desk.model.sheet.is_some(), "{modifier:?} closed the form");
    }
}

#[test]
fn the_palette_on_three_screens() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press(":redo");
    desk.pictured("palette");
}

#[test]
fn prefix_panel_on_three_screens() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press(",");
    desk.pictured("prefix");
}

#[test]
fn help_on_three_screens() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("?");
    desk.pictured("help");
    desk.press("redo");
    desk.pictured("help_searched");
}

#[test]
fn hint_bar_shows_only_keys_that_work_here() {
    let mut desk = Desk::new(80, 24, few(5));
    insta::assert_snapshot!(desk.hints(), @" a approve  x exclude  e edit  Space mark  / filter  n next          ? all keys");

    desk.press(" ");
    insta::assert_snapshot!(desk.hints(), @" 1 marked: a approve  x exclude  e edit  Esc unmark  Space mark      ? all keys");
    desk.press("<Esc>vj");
    insta::assert_snapshot!(desk.hints(), @" range: v marks it  a approve  x exclude  Esc drop it  e edit        ? all keys");
    desk.press("<Esc>gg");
    insta::assert_snapshot!(desk.hints(), @" Enter fold  A approve rest  Space mark  / filter  n next  q quit    ? all keys");
    desk.press("<Enter>");
    insta::assert_snapshot!(desk.hints(), @" Enter unfold  A approve rest  Space mark  / filter  n next          ? all keys");
    desk.press("<Enter>j<Tab>");
    insta::assert_snapshot!(desk.hints(), @" a approve  x exclude  e edit  n next  ] tabs  z zoom  q quit        ? all keys");
    desk.press("?");
    assert_eq!(desk.hints(), " Esc back");
}

/// Returns a desk on which every key that a sheet, hint or message may name is rebound.
fn rebound(width: u16, height: u16) -> Desk {
    let keys = [
        ("confirm", "Y"),
        ("accept", "F4"),
        ("back", "F9"),
        ("page-down", "F7"),
        ("next-field", "F3"),
        ("undo", "F6"),
        ("exclude", "F8"),
        ("interrupt", "Ctrl-X"),
        ("last-report", "F2"),
    ];
    let keys = keys.map(|(name, key)| (name.to_owned(), Bound { keys: vec![key.to_owned()], line: 1 }));
    let mut desk = Desk::new(width, height, few(5));
    desk.model.settings.keymap = Keymap::new(&Keys { bound: keys.into(), ..Keys::default() }).unwrap();
    desk
}

#[test]
fn screens_name_the_bound_keys() {
    let say = |desk: &Desk, here: &str, told: &[&str]| {
        let screen = desk.screen();
        for word in told {
            assert!(screen.contains(word), "{here}: {word}\n{screen}");
        }
        for old in
            ["Press y", "Esc", "Enter to", "Enter closes", "Enter keep", "Enter excl", "PageDown", "Ctrl-C"]
        {
            assert!(!screen.contains(old), "{here}: {old}\n{screen}");
        }
    };
    let mut desk = rebound(100, 14);
    desk.slowly("aa");
    desk.press("s");
    desk.wait(500);
    say(&desk, "a sheet", &[&words::press("Y"), "more lines (F7)"]);
    desk.press("Y");
    desk.accepts();
    say(&desk, "what was sent", &["F2 report"]);
    desk.press("<F2>");
    say(&desk, "the report", &["F4 closes"]);
    desk.press("<F9>");
    desk.press("X");
    say(&desk, "a reason", &["F4 excludes   F9 closes"]);
    desk.press("<F9>q");
    let mut desk = rebound(100, 30);
    for _ in 0..4 {
        desk.press("<F8>");
    }
    desk.press("s");
    desk.wait(500);
    say(&desk, "a count", &[&words::type_count("4", "F4")]);
    desk.press("Y");
    say(&desk, "a count", &["type 4 and F4 to send"]);
    desk.press("<F9>q");
    say(&desk, "leaving", &["F4 keep and quit", "F9 stay"]);
    desk.press("D");
    say(&desk, "discarding", &["type 4 and F4 to discard", "F9 stay"]);
    desk.press("<F9>,");
    say(&desk, "a prefix", &["F9 leaves"]);
    desk.press("<F9>:");
    say(&desk, "the palette", &["F4 runs   F3 completes   F9 closes"]);
    desk.press("<F9>?");
    insta::assert_snapshot!(desk.sheet_line(27), @"1-25 of 173   Down F7 scroll   F9 closes");
    desk.press("<F9><Tab>/x");
    say(&desk, "a search", &["F4 keeps   F9 ends"]);
    desk.press("<F9><F9>'");
    say(&desk, "saved filters", &["F9 closes"]);
    desk.press("<F9><C-x>");
    assert_eq!(desk.message(), "Ctrl-X again quits; staged decisions are kept");
}

/// Help texts name commands, because keys may be rebound.
#[test]
fn no_help_text_names_a_key() {
    for spec in COMMANDS {
        for key in ["Esc", "Enter", "Space", "Tab", "`n`", "`N`", " v "] {
            assert!(!spec.help.contains(key), "{}: {}", spec.name, spec.help);
        }
    }
}
