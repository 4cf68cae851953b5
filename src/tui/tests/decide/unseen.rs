//! G7 and G9: no approval before the last line was on screen, no decision on a row that was not.

use std::collections::HashSet;

use crate::domain::{ActionKey, Digest, PendingAction, Status};
use crate::rounds::{Random, rounds};
use crate::tui::core::msg::What;
use crate::tui::testing::{Desk, action, decided};

/// Returns an input of `lines` lines, each with a unique word, and random padding.
fn long(random: &mut Random, lines: usize) -> String {
    let mut text = String::new();
    let form = random.below(3);
    for n in 0..lines {
        let pad = match random.below(12) {
            0 => "\\n".repeat(1 + random.below(60)),
            1 => " ".repeat(1 + random.below(300)),
            2 => "\\n \\t".repeat(1 + random.below(20)),
            _ => String::new(),
        };
        let line = match form {
            0 => format!("{pad}m{n}x\\n"),
            1 => format!("\"k{n}\":\"{}m{n}x\",", pad.replace("\\n", " ").replace("\\t", " ")),
            _ => format!("\"m{n}x\",[{}],", random.below(9)),
        };
        text.push_str(&line);
    }
    let text = text.trim_end_matches(',');
    match form {
        0 => format!("{{\"content\":\"{text}\"}}"),
        1 => format!("{{{text}}}"),
        _ => format!("{{\"list\":[{text}]}}"),
    }
}

fn read(desk: &Desk, seen: &mut HashSet<String>) {
    let screen = desk.screen();
    for word in screen.split(|c: char| !c.is_ascii_alphanumeric()) {
        if word.starts_with('m') && word.ends_with('x') {
            seen.insert(word.to_owned());
        }
    }
}

#[test]
fn g7_approval_waits_for_the_last_line_on_screen() {
    let mut random = Random::seeded();
    for round in 0..rounds(10, 500) {
        let (width, height) = [(80, 24), (100, 30), (160, 45), (60, 16)][random.below(4)];
        let lines = 60 + random.below(140);
        let input = long(&mut random, lines);
        let mut desk = Desk::new(width, height, vec![action("1 t agent low 1", "Long", &input)]);
        let mut seen = HashSet::new();
        desk.drawn();
        read(&desk, &mut seen);
        desk.press("z");
        read(&desk, &mut seen);
        let all: HashSet<String> = (0..lines).map(|n| format!("m{n}x")).collect();
        let mut presses = 0;
        while desk.staged().is_empty() {
            desk.press("a");
            if !desk.staged().is_empty() {
                let missing: Vec<_> = all.difference(&seen).collect();
                assert!(missing.is_empty(), "round {round}, {width}x{height}: approved without {missing:?}");
                break;
            }
            let key = match random.below(8) {
                0 => "G",
                1 => "gg",
                2 => "<Tab>",
                _ => "<PageDown>",
            };
            // Random keys may never reach the end, so it reads in order after 60 keys.
            let key = match presses {
                ..60 => key,
                60 => "gg",
                _ => "<PageDown>",
            };
            desk.press(key);
            // A full pane needs reading time.
            desk.wait(1_000);
            if desk.model.screen.zoom {
                read(&desk, &mut seen);
            } else {
                desk.press("z");
                read(&desk, &mut seen);
            }
            presses += 1;
            assert!(
                presses < 1_000,
                "round {round}: never read to its end: {}\n{}",
                desk.message(),
                desk.screen()
            );
        }
    }
}

/// Returns the action under the cursor in the last frame, and its digest.
fn under(desk: &Desk) -> Option<(ActionKey, Option<Digest>)> {
    let slot = desk.model.here()?;
    Some((slot.entry.key.clone(), slot.entry.row.digest))
}

fn row(id: usize, version: usize) -> PendingAction {
    let spec = format!("{id} t agent low {}", 90 - id);
    let mut action = action(&spec, &format!("Row {id}"), &format!("{{\"v\":{version}}}"));
    action.row.digest = Some(action.digest());
    action
}

#[test]
fn g9_action_that_just_came_under_the_cursor_stays_undecided() {
    let mut random = Random::seeded();
    let (mut staged, mut refused) = (0, 0);
    for round in 0..rounds(150, 10_000) as usize {
        let mut desk = Desk::new(100, 30, vec![row(1, 0), row(2, 0), row(3, 0)]);
        desk.press(["", "j", "jj", "jk"][random.below(4)]);
        desk.wait(1_000);
        desk.drawn();
        let mut shown = under(&desk);
        let mut since: i64 = 10_000;
        // One change, a frame after it, and a key at a random time.
        match random.below(5) {
            0 => desk.changes(vec![row(1 + random.below(3), round + 1)]),
            1 => desk.changes(vec![decided(row(1 + random.below(3), 0), Status::Approved, "lee")]),
            2 => desk.lists(vec![row(3, 0), row(2, round + 1), row(7, 0)]),
            3 => desk.say(What::Resize(80, 24)),
            _ => desk.changes(vec![row(8, 0)]),
        }
        let (frame, press) = (random.below(400) as i64, random.below(401) as i64);
        for (at, is_frame) in
            if frame <= press { vec![(frame, true), (press, false)] } else { vec![(press, false)] }
        {
            let passed = at - if is_frame || frame > press { 0 } else { frame };
            desk.wait(passed);
            since += passed;
            if is_frame {
                desk.drawn();
                if under(&desk) != shown {
                    (shown, since) = (under(&desk), at);
                }
            }
        }
        desk.hurry(["a", "x"][random.below(2)], 0);
        for (key, _) in desk.model.decide.draft.iter() {
            let is = shown.as_ref().filter(|(on_screen, _)| on_screen == key);
            assert!(is.is_some(), "round {round}: {key:?} was not on screen");
            let now = desk.model.queue.get(key).unwrap().entry.row.digest;
            assert_eq!(is.unwrap().1, now, "round {round}: different content was on screen");
            assert!(since >= 300, "round {round}: on screen for {since} ms only");
        }
        if desk.model.decide.draft.is_empty() { refused += 1 } else { staged += 1 }
    }
    assert!(staged > 20 && refused > 20, "{staged} staged, {refused} refused: the test covers too little");
}
