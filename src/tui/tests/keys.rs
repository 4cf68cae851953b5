//! Keys and the commands behind them: what may follow a prefix, the help, the palette.

use crate::config::{Bound, Keys};
use crate::domain::Seen;
use crate::rounds::rounds;
use crate::tui::chrome::state::{Finder, Overlay};
use crate::tui::core::command::{COMMANDS, Command, KeyContext};
use crate::tui::core::keymap::Keymap;
use crate::tui::core::modal::Modal;
use crate::tui::core::msg::{Effect, What};
use crate::tui::preview::page::made::Tab;
use crate::tui::submit::review_words as words;
use crate::tui::testing::{Desk, action, few, key};

fn foot(desk: &Desk, lines: usize) -> String {
    let screen = desk.screen();
    let all: Vec<&str> = screen.lines().collect();
    all[all.len() - lines..].join("\n")
}

#[test]
fn a_prefix_says_what_may_follow_and_hides_no_cursor() {
    let mut desk = Desk::new(80, 24, few(30));
    desk.press("jjjjjjj");
    let before = desk.here();

    desk.press("g");

    let screen = desk.screen();
    assert!(screen.contains("g then") && screen.contains("Esc leaves"), "{screen}");
    assert!(screen.contains("the preview's end"), "{screen}");
    assert!(screen.lines().any(|line| line.starts_with('▌')), "{screen}");
    desk.press("g");
    assert_ne!(desk.here(), before);
    assert!(!desk.screen().contains("g then"));
}

#[test]
fn every_prefix_leaves_the_cursors_row_in_sight() {
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
fn a_key_that_follows_no_prefix_decides_nothing() {
    let mut desk = Desk::new(100, 30, few(3));

    for wrong in ["ga", "gx", "gA", "gs", "g<Enter>", "gq"] {
        desk.press(wrong);
        assert_eq!((desk.staged().as_str(), desk.model.modal.is_none()), ("", true), "{wrong}");
        assert!(desk.message().contains("does nothing"), "{wrong}: {}", desk.message());
    }
    assert_eq!(desk.message(), "g q does nothing; after g comes r g e i h w");
    desk.press("a");
    assert_eq!(desk.staged(), "1A");
}

#[test]
fn esc_leaves_a_prefix_and_nothing_else() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("zg<Esc>");
    assert!(desk.model.screen.zoom && desk.model.screen.chords.is_empty());
    desk.press("g?");
    assert!(matches!(desk.model.screen.overlay, Some(Overlay::Help(_))), "what works everywhere still does");
}

#[test]
fn what_lies_under_a_panel_is_not_taken_for_read() {
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
        let screen = desk.screen();
        screen.lines().find(|line| line.contains("HERE:")).map(str::to_owned).unwrap_or_default()
    };
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("?");
    assert!(first(&desk).contains("the list"), "{}", desk.screen());
    desk.press("?<Tab>?");
    assert!(first(&desk).contains("the preview"), "{}", desk.screen());
    desk.press("<Esc>");
    desk.press("<Tab>e<F1>");
    assert!(first(&desk).contains("the edit form"), "{}", desk.screen());
    desk.press("<Esc><Esc>");
    desk.press("as");
    desk.wait(500);
    desk.press("?");
    assert!(first(&desk).contains("the review sheet"), "{}", desk.screen());
    assert!(desk.screen().contains("confirm"), "{}", desk.screen());
    desk.press("<Esc>");
    assert!(matches!(desk.model.modal, Some(Modal::Review(_))), "the sheet is still there");
}

#[test]
fn help_is_found_by_words_and_by_keys() {
    let rows = |typed: &str| {
        let mut desk = Desk::new(100, 30, few(3));
        desk.press("?");
        desk.press(typed);
        desk.screen()
    };
    let order = |screen: &str, first: &str, second: &str| {
        let at = |word: &str| screen.find(word).unwrap_or_else(|| panic!("no {word}:\n{screen}"));
        assert!(at(first) < at(second), "{screen}");
    };
    // Words of other programs, and their keys.
    assert!(rows("delete").contains("exclude (reject)"));
    assert!(rows("reject").contains("exclude with a reason"));
    order(&rows("z"), "preview in full, and back", "undo the last");
    // A key: what it does here.
    let screen = rows("S");
    assert!(screen.contains("all batches") && !screen.contains("this batch"), "{screen}");
    assert!(rows("ctrl-d").contains("half a page down"));
    assert!(rows("gg").contains("first"));
    assert!(rows("no such thing").contains("No command matches."));
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
fn the_palette_gives_a_command_where_it_was_opened() {
    let mut desk = Desk::new(100, 30, few(3));

    desk.press(":approve<Enter>");
    assert_eq!(desk.staged(), "1A");
    desk.press(":und<Tab>");
    assert!(desk.screen().contains(": undo"), "{}", desk.screen());
    desk.press("<Enter>");
    assert_eq!(desk.staged(), "");
    desk.press("<Tab>:diff<Enter>");
    assert_eq!(desk.model.preview.tab, Tab::Diff);
    // By the word that somebody remembers.
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
    // A sheet that nobody saw yet.
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("a");
    desk.hurry("s:", 20);
    desk.press("confirm<Enter>");
    assert!(desk.submitted.is_empty());
}

#[test]
fn what_cannot_be_given_here_says_so() {
    let mut desk = Desk::new(100, 30, few(3));

    desk.press(":landed");
    assert!(desk.screen().contains("(not here)"), "{}", desk.screen());
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
    assert!(desk.message().contains("too fast to be typed"), "{}", desk.message());
    desk.press(":");
    desk.say(What::Paste("approve\n".to_owned()));
    assert_eq!(desk.staged(), "", "a paste is text");
}

#[test]
fn a_command_with_a_word_takes_it() {
    let mut desk = Desk::new(100, 30, few(3));

    desk.press(":help undo<Enter>");

    assert!(matches!(desk.model.screen.overlay, Some(Overlay::Help(_))));
    assert!(desk.screen().contains("undo the last"), "{}", desk.screen());
    desk.press("<Esc><Esc>:sort r<Enter>");
    assert_eq!(desk.model.queue.sort_by().word(), "risk");
    desk.press(":sort taste<Enter>");
    assert_eq!(desk.message(), "sort takes one of: age, risk, expiry, tool, source");
    desk.press("<Esc>:group ag<Tab><Enter>");
    assert_eq!(desk.model.queue.group_by().word(), "agent");
    desk.press(":filter '3<Enter>");
    assert_eq!(desk.model.queue.n_shown(), 1, "{}", desk.screen());
    desk.press("as");
    desk.wait(500);
    desk.press(":filter x<Enter>");
    assert_eq!(desk.message(), "filter does nothing here");
    assert!(matches!(desk.model.modal, Some(Modal::Review(_))));
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
fn a_character_is_a_character_where_text_is_typed() {
    let mut desk = Desk::new(100, 30, few(3));
    let keys = [("back", ["Q", "Esc"]), ("accept", ["T", "Enter"])];
    let keys =
        keys.map(|(name, keys)| (name.to_owned(), Bound { keys: keys.map(str::to_owned).to_vec(), line: 1 }));
    let keys = Keys { bound: keys.into(), ..Keys::default() };
    desk.model.settings.keymap = Keymap::new(&keys).unwrap();

    desk.press("XQuiTe ");

    let Some(Modal::Reason(form)) = &desk.model.modal else { panic!("{}", desk.screen()) };
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

/// The lines from the first with this word on.
fn part(desk: &Desk, from: &str) -> String {
    let screen = desk.screen();
    let lines: Vec<&str> = screen.lines().collect();
    let at =
        lines.iter().position(|line| line.contains(from)).unwrap_or_else(|| panic!("no {from}:\n{screen}"));
    lines[at..].join("\n")
}

#[test]
fn the_palette_on_three_screens() {
    for (width, height) in [(80, 24), (100, 30), (160, 45)] {
        let mut desk = Desk::new(width, height, few(3));
        desk.press(":redo");
        let text = part(&desk, "Command");
        let rows: Vec<&str> = text.lines().collect();
        assert!(rows[1].contains(": redo"), "{text}");
        assert!(rows[2].contains("> redo") && rows[2].contains(" U "), "{text}");
        assert!(text.contains("Enter runs   Tab completes   Esc closes"), "{text}");
        assert!(
            desk.screen().lines().any(|line| line.contains('▌') && line.contains("Issue number")),
            "{text}"
        );
    }
}

#[test]
fn what_follows_a_prefix_on_three_screens() {
    let menu = |width, height| {
        let mut desk = Desk::new(width, height, few(3));
        desk.press(",");
        part(&desk, ", then")
    };
    let (narrow, wide) = (menu(80, 24), menu(160, 45));
    for text in [&narrow, &menu(100, 30), &wide] {
        assert!(text.contains("sort: the oldest first") && text.contains("group: by mission"), "{text}");
        assert!(text.contains("Esc leaves"), "{text}");
    }
    assert!(narrow.lines().any(|line| line.matches(':').count() == 2), "two columns:\n{narrow}");
}

#[test]
fn help_on_three_screens() {
    for (width, height) in [(80, 24), (100, 30), (160, 45)] {
        let mut desk = Desk::new(width, height, few(3));
        desk.press("?");
        let whole = desk.screen();
        for word in ["type a word or a key", "✓ approve", "? outcome unknown", "HERE: the list", "decide"] {
            assert!(whole.contains(word), "{width}x{height} {word}:\n{whole}");
        }
        desk.press("redo");
        let row = desk.screen().lines().find(|line| line.contains("U  ")).map(str::to_owned);
        assert!(row.is_some_and(|row| row.contains("redo")), "{}", desk.screen());
    }
}

#[test]
fn the_hint_bar_says_what_matters_here_and_only_what_works() {
    let bar = |desk: &Desk| desk.screen().lines().last().unwrap_or_default().to_owned();
    let mut desk = Desk::new(80, 24, few(5));
    assert!(bar(&desk).starts_with(" a approve  x exclude  e edit"), "{}", bar(&desk));

    desk.press(" ");
    assert!(bar(&desk).starts_with(" 1 marked: a approve  x exclude  e edit  Esc unmark"), "{}", bar(&desk));
    desk.press("<Esc>vj");
    assert!(
        bar(&desk).starts_with(" range: v marks it  a approve  x exclude  Esc drop it"),
        "{}",
        bar(&desk)
    );
    desk.press("<Esc>gg");
    assert!(bar(&desk).starts_with(" Enter fold  A approve rest  s send"), "{}", bar(&desk));
    desk.press("<Enter>");
    assert!(bar(&desk).starts_with(" Enter unfold"), "{}", bar(&desk));
    desk.press("<Enter>j<Tab>");
    assert!(!bar(&desk).contains("mark") && bar(&desk).contains("? all keys"), "{}", bar(&desk));
    desk.press("?");
    assert_eq!(bar(&desk), " Esc back");
}

/// With every key that a sheet, a hint or a message may name bound to another one.
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
fn every_named_key_is_the_one_that_is_bound() {
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
    let screen = desk.screen();
    assert!(screen.contains("F7 scroll   F9 closes"), "{screen}");
    desk.press("<F9><Tab>/x");
    say(&desk, "a search", &["F4 keeps   F9 ends"]);
    desk.press("<F9><F9>'");
    say(&desk, "saved filters", &["F9 closes"]);
    desk.press("<F9><C-x>");
    assert_eq!(desk.message(), "Ctrl-X again quits and keeps what is staged");
}

/// Help texts name commands, never a key that may be bound otherwise.
#[test]
fn no_help_text_names_a_key() {
    for spec in COMMANDS {
        for key in ["Esc", "Enter", "Space", "Tab", "`n`", "`N`", " v "] {
            assert!(!spec.help.contains(key), "{}: {}", spec.name, spec.help);
        }
    }
}
