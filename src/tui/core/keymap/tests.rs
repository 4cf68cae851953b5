//! Which keys there are, and what is wrong with others.

use std::collections::BTreeMap;

use crate::config::Bound;

use super::*;

fn with(name: &str, keys: &[&str]) -> Result<Keymap, KeymapError> {
    let keys = keys.iter().map(|key| (*key).to_owned()).collect();
    let bound = BTreeMap::from([(name.to_owned(), Bound { keys, line: 12 })]);
    Keymap::new(&Keys { bound, ..Keys::default() })
}

fn chords(written: &str) -> Vec<Chord> {
    parse(written).unwrap()
}

const PRESETS: [Preset; 3] = [Preset::Default, Preset::Vim, Preset::Web];

#[test]
fn presets_have_no_conflicts_and_change_no_key_to_itself() {
    for preset in PRESETS {
        let keymap = Keymap::new(&Keys { preset, ..Keys::default() }).unwrap();
        for spec in COMMANDS {
            let lost = !spec.keys.is_empty() && keymap.keys(spec.command).is_empty();
            assert!(!lost, "{} has no key in {preset:?}", spec.name);
        }
        assert_eq!(changes(preset).len(), rows(preset).len(), "{preset:?}");
    }
}

#[test]
fn menu_keys_neither_move_nor_leave() {
    // `g` is followed by the name of a place, as in vim; all others are menus.
    for preset in PRESETS {
        let keymap = Keymap::new(&Keys { preset, ..Keys::default() }).unwrap();
        for binding in keymap.bindings.iter().filter(|binding| !binding.written.starts_with("g ")) {
            for chord in binding.chords.iter().skip(1) {
                let moves = chord.char().is_some_and(|c| "jkhlq".contains(c));
                assert!(!moves, "{} is {:?} in {preset:?}", binding.name, binding.written);
            }
        }
    }
}

#[test]
fn what_nobody_can_do_without_needs_no_ctrl_or_alt() {
    for preset in PRESETS {
        let keymap = Keymap::new(&Keys { preset, ..Keys::default() }).unwrap();
        for spec in COMMANDS.iter().filter(|spec| !spec.places.contains(&KeyContext::Anywhere)) {
            let keys = keymap.keys(spec.command);
            let in_palette =
                spec.places.contains(&KeyContext::Inbox) || spec.places.contains(&KeyContext::List);
            let plain = keys.iter().any(|key| !key.contains("Ctrl-") && !key.contains("Alt-"));
            assert!(
                plain || in_palette || spec.places.contains(&KeyContext::Edit),
                "{}: {keys:?}",
                spec.name
            );
        }
    }
}

#[test]
fn web_preset_marks_with_x_and_user_keys_override_it() {
    let list = [KeyContext::List, KeyContext::Inbox, KeyContext::Anywhere];
    let web = Keymap::new(&Keys { preset: Preset::Web, ..Keys::default() }).unwrap();
    assert_eq!(web.lookup(&chords("x"), &list), Lookup::Command(Command::Mark));
    assert_eq!(web.lookup(&chords("#"), &list), Lookup::Command(Command::Exclude));

    let bound = BTreeMap::from([("mark".to_owned(), Bound { keys: vec!["m".to_owned()], line: 3 })]);
    let own = Keymap::new(&Keys { preset: Preset::Web, bound }).unwrap();
    assert_eq!(own.lookup(&chords("m"), &list), Lookup::Command(Command::Mark));
    assert_eq!(own.lookup(&chords("x"), &list), Lookup::Nothing);
}

#[test]
fn a_replaced_key_is_the_only_one() {
    let keymap = with("approve", &["F5"]).unwrap();
    let list = [KeyContext::List, KeyContext::Inbox, KeyContext::Anywhere];

    assert_eq!(keymap.lookup(&chords("F5"), &list), Lookup::Command(Command::Approve));
    assert_eq!(keymap.lookup(&chords("a"), &list), Lookup::Nothing);
    assert_eq!(with("comment", &[]).unwrap().key(Command::Comment), "(no key)");
}

#[test]
fn mistakes_name_both_sides() {
    let conflict = with("approve", &["x"]).unwrap_err();
    assert_eq!(
        conflict.to_string(),
        r#"line 12, [keys] "x" means both "approve" and "exclude"; give one of them another key"#
    );
    assert_eq!(
        with("aprove", &["a"]).unwrap_err().to_string(),
        r#"line 12, [keys] names "aprove", which is no command; did you mean "approve"?"#
    );
    assert!(matches!(with("approve", &["Hyper-A"]), Err(KeymapError::UnknownKey { .. })));
    assert!(matches!(with("approve", &["g"]), Err(KeymapError::Conflict { .. })), "a prefix hides `gg`");
}

#[test]
fn shift_on_a_named_key_counts_only_if_bound() {
    let keymap = with("mark", &["Shift-PageDown"]).unwrap();
    let list = [KeyContext::List, KeyContext::Inbox, KeyContext::Anywhere];
    let down = |keymap: &Keymap| keymap.lookup(&chords("Shift-PageDown"), &list);

    assert_eq!(down(&keymap), Lookup::Command(Command::Mark));
    assert_eq!(down(&Keymap::new(&Keys::default()).unwrap()), Lookup::Command(Command::PageDown));
    assert_eq!(keymap.lookup(&chords("Down"), &list), Lookup::Command(Command::Down));
    assert_eq!(chords("Shift-Tab"), chords("BackTab"));
}

#[test]
fn any_character_can_be_a_key() {
    let keymap = with("approve", &["ф", "ß"]).unwrap();
    let list = [KeyContext::List, KeyContext::Inbox, KeyContext::Anywhere];

    assert_eq!(keymap.lookup(&chords("ф"), &list), Lookup::Command(Command::Approve));
    assert_eq!(keymap.lookup(&chords("Ф"), &list), Lookup::Nothing);
    let shifted = Chord::new(KeyCode::Char('ф'), KeyModifiers::SHIFT);
    assert_eq!([shifted].as_slice(), chords("Ф"));
    assert!(with("approve", &["F25"]).is_err() && with("approve", &[""]).is_err());
}

#[test]
fn sequences_shift_and_capitals_are_read_alike() {
    let keymap = Keymap::new(&Keys::default()).unwrap();
    let list = [KeyContext::List, KeyContext::Inbox, KeyContext::Anywhere];
    let shifted = Chord::new(KeyCode::Char('a'), KeyModifiers::SHIFT);

    assert_eq!(keymap.lookup(&chords("g"), &list), Lookup::Prefix);
    assert_eq!(keymap.lookup(&chords("g g"), &list), Lookup::Command(Command::Top));
    assert_eq!(keymap.lookup(&[shifted], &list), Lookup::Command(Command::ApproveRest));
    assert_eq!(keymap.lookup(&chords("y"), &list), Lookup::Prefix, "y sends only from the sheet");
}

#[test]
fn keys_that_plain_terminals_send_as_others_are_refused() {
    for (key, sent_as) in [
        ("Ctrl-I", "Tab"),
        ("Ctrl-i", "Tab"),
        ("Ctrl-M", "Enter"),
        ("Ctrl-J", "Enter"),
        ("Ctrl-Enter", "Enter"),
        ("Ctrl-[", "Esc"),
        ("Ctrl-?", "Backspace"),
        ("g Ctrl-I", "Tab"),
    ] {
        let error = with("comment", &[key]).unwrap_err().to_string();
        let told =
            format!("line 12, [keys] comment: many terminals send {key:?} as {sent_as}; choose another key");
        assert_eq!(error, told);
    }
    for key in ["Ctrl-K", "Alt-i", "Alt-Enter", "i", "Shift-PageDown"] {
        assert!(with("comment", &[key]).is_ok(), "{key}");
    }
}

#[test]
fn one_key_for_asking_and_confirming_is_refused() {
    for (name, key, asks) in [
        ("confirm", "s", "review-batch"),
        ("confirm", "S", "review-all"),
        ("accept", "s", "review-batch"),
        ("not-landed", "t", "settle"),
        ("discard", "q", "quit"),
    ] {
        let error = with(name, &[key]).unwrap_err().to_string();
        let told = format!(
            "line 12, [keys] {key:?} would both ask ({asks:?}) and confirm ({name:?}); give one of them another key"
        );
        assert_eq!(error, told);
    }
    assert!(with("review-all", &["g y"]).is_err(), "y y after g would send");
    assert!(with("accept", &["q"]).is_err() && with("accept", &["o"]).is_err());
    assert!(with("confirm", &["Y"]).is_ok());
}

#[test]
fn what_nothing_works_without_keeps_a_key() {
    for name in
        ["down", "up", "approve", "exclude", "undo", "confirm", "accept", "back", "help", "quit", "interrupt"]
    {
        let error = with(name, &[]).unwrap_err().to_string();
        assert_eq!(
            error,
            format!("line 12, [keys] {name:?} has no key, and nothing works without it; give it one")
        );
    }
    assert!(with("review-all", &[]).is_ok(), "the other of the two is left");
    let none = ["review-batch", "review-all"].map(|name| (name.to_owned(), Bound { keys: vec![], line: 7 }));
    let error = Keymap::new(&Keys { bound: none.into(), ..Keys::default() }).unwrap_err();
    assert_eq!(error, KeymapError::NoKey { line: 7, name: "review-batch" });
}

#[test]
fn accept_and_back_need_a_key_that_is_no_character() {
    for name in ["accept", "back"] {
        let error = with(name, &["T"]).unwrap_err();
        assert_eq!(error, KeymapError::OnlyCharacters { line: 12, name });
        assert!(with(name, &["T", "F4"]).is_ok());
    }
}
