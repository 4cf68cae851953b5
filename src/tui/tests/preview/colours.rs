//! Syntax colours change neither characters nor cells, and only foreign text gets them.

use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier};
use serde_json::json;

use crate::config::ThemeChoice;
use crate::domain::json::encode;
use crate::rounds::is_long;
use crate::tui::chrome::theme::Depth;
use crate::tui::chrome::theme::palette::Theme;
use crate::tui::core::msg::What;
use crate::tui::testing::{Desk, action};

use crate::tui::tests::hostile::{Case, own};

/// The two hues of the dark theme, and the colours they replace.
const HUES: [Color; 2] = [Color::Rgb(0x98, 0xae, 0xff), Color::Rgb(0xff, 0xa6, 0xc9)];
const TEXT: Color = Color::Rgb(0xe8, 0xea, 0xee);
const TOKEN: Color = Color::Rgb(0xd6, 0xae, 0xf2);

fn desk(tool: &str, input: &str, (width, height): (u16, u16), keys: &str) -> Desk {
    let mut desk = Desk::new(width, height, vec![action(&format!("1 {tool} a high 9"), "Do it", input)]);
    desk.model.screen.theme = Theme::load(&ThemeChoice::Dark, Depth::Full).unwrap();
    desk.press(keys);
    desk
}

fn both(desk: &mut Desk) -> [Buffer; 2] {
    [true, false].map(|on| {
        desk.model.settings.highlight = on;
        desk.say(What::Wake);
        while desk.model.preview.page.as_ref().is_some_and(|page| !page.is_counted()) {
            desk.say(What::Wake);
        }
        desk.buffer()
    })
}

/// Returns the number of differing cells. Those must be plain foreign text and differ only in text colour.
fn differences(desk: &mut Desk) -> usize {
    let text = desk.model.layout().text;
    let [on, off] = both(desk);
    let mut differ = 0;
    for at in on.area.positions() {
        let (with, without) = (&on[at], &off[at]);
        if with == without {
            assert!(!HUES.contains(&with.fg), "{at}: a hue despite disabled colours");
            continue;
        }
        differ += 1;
        assert!(text.contains(at), "{at} is outside the preview's text");
        assert!(HUES.contains(&with.fg) && without.fg == TEXT, "{at}: {with:?} {without:?}");
        let mut painted = without.clone();
        painted.fg = with.fg;
        assert_eq!(*with, painted, "{at}: more than the colour");
        assert_eq!(with.modifier, Modifier::empty());
    }
    differ
}

fn text_input(text: &str) -> String {
    let text = encode(text);
    format!(
        r#"{{"title":{text},"body":{text},"n":1.10,"n":[1,true],"in":[{{"a":{text}}},[{text},-0.0]],{text}:null}}"#
    )
}

#[test]
fn colours_move_no_character() {
    // The short form draws the first text in full length, the others with some pages.
    let times = |nth| if is_long() || nth == 0 { 3_000 } else { 300 };
    let long = |(nth, text): (_, &str)| Case { text: text.repeat(times(nth)), ..own().remove(0) };
    let more =
        ["\"a\": `x` ", "# \u{200b}世", "{\"", "```\n", "- [x](y) 'z' \\"].into_iter().enumerate().map(long);
    let (mut screens, mut painted) = (0, 0);
    let step = if is_long() { 1 } else { 4 };
    for case in own().into_iter().step_by(step).chain(more) {
        for (keys, size) in [("z", (80, 24)), ("z]]", (80, 24)), ("z]]w", (100, 30)), ("z]]wL", (81, 24))] {
            let mut desk = desk("create_github_issue", &text_input(&case.text), size, keys);
            screens += 1;
            painted += usize::from(differences(&mut desk) > 0);
        }
    }
    // A screen full of strings has no hue.
    assert!(screens > 200 && painted * 10 > screens * 9, "{painted} of {screens}");
}

#[test]
fn colours_do_not_change_folds_and_search_hits() {
    let input = r##"{"list":[1,2,{"x":"list"}],"n":1.10,"body":"# list\n\n`list`"}"##;
    let mut desk = desk("create_github_issue", input, (100, 30), "z]]zM");
    assert!(differences(&mut desk) > 0);
    desk.press("zR/list<Enter>");
    assert!(differences(&mut desk) > 0);
    let [on, off] = both(&mut desk);
    let hits = |buffer: &Buffer| {
        let cells = buffer.area.positions().map(|at| buffer[at].clone());
        cells.filter(|cell| cell.modifier.contains(Modifier::BOLD)).count()
    };
    assert_eq!(hits(&on), hits(&off));
}

#[test]
fn token_of_a_hidden_character_keeps_its_colour() {
    let input = "{\"ke\u{200b}y\":true,\"body\":\"# a \u{202e} b\"}";
    for keys in ["z", "z]]"] {
        let mut desk = desk("create_github_issue", input, (80, 24), keys);
        let [on, _] = both(&mut desk);
        let row = |y| (0..80).map(|x| on[(x, y)].symbol()).collect::<String>();
        let tokens = (0..24).filter(|y| row(*y).contains('⟦') && !row(*y).contains('!'));
        let cells: Vec<_> = tokens.flat_map(|y| (0..80).map(move |x| (x, y))).map(|at| &on[at]).collect();
        let inside = cells.iter().filter(|cell| cell.fg == TOKEN && cell.modifier.contains(Modifier::BOLD));
        // The tokens ⟦U+200B⟧ and ⟦U+202E⟧.
        assert_eq!(inside.count(), 2 * 8, "{keys}");
        assert!(cells.iter().any(|cell| HUES.contains(&cell.fg)), "{keys}: the rest is painted");
    }
}

/// Neither shebang, mode line nor content chooses a language.
#[test]
fn text_does_not_choose_its_language() {
    for text in [
        "#!/bin/sh\n# comment\necho 'a' 1",
        "{\"a\": 1, \"b\": [true, null]}",
        "---\ntitle: true\n---\n# heading",
        "```sql\nSELECT 'a' -- b\n```",
        "# vim: set ft=markdown:\n- `code`",
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2",
    ] {
        let input =
            json!({ "body": text, "text": text, "language": "markdown", "mime_type": "text/markdown" });
        for tool in ["unknown", "google_drive_write", "send_email"] {
            assert_eq!(differences(&mut desk(tool, &input.to_string(), (100, 30), "z")), 0, "{tool}: {text}");
        }
    }
    // The info string of a code block is ignored: the block has one hue.
    let input = json!({ "body": "```json\n{\"a\": 1}\n```" }).to_string();
    let mut desk = desk("create_github_issue", &input, (100, 30), "z");
    let [on, _] = both(&mut desk);
    let fgs: std::collections::HashSet<_> = on.content.iter().map(|cell| cell.fg).collect();
    assert_eq!(HUES.map(|hue| fgs.contains(&hue)), [false, true]);
}

#[test]
fn colours_are_off_on_slow_lines_and_in_plain_mode() {
    let paints = |change: fn(&mut Desk)| {
        let mut desk = desk("unknown", r#"{"a":1}"#, (80, 24), "z]]");
        change(&mut desk);
        desk.say(What::Wake);
        desk.buffer().content.iter().any(|cell| HUES.contains(&cell.fg))
    };
    assert!(paints(|_| ()));
    assert!(!paints(|desk| desk.model.settings.highlight = false));
    assert!(!paints(|desk| desk.model.settings.low_bandwidth = true));
    assert!(!paints(|desk| desk.model.settings.depth = Depth::None));
    assert!(!paints(|desk| desk.model.preview.stacked = true));
}

/// Only one of the 16 named colours is both readable and unused elsewhere.
#[test]
fn sixteen_colours_give_one_hue() {
    let mut desk = desk("unknown", r#"{"a":1}"#, (80, 24), "z]]");
    desk.model.screen.theme = Theme::Names;
    let fgs: std::collections::HashSet<_> = desk.buffer().content.iter().map(|cell| cell.fg).collect();

    assert!(fgs.contains(&Color::LightBlue) && !fgs.contains(&Color::Blue), "{fgs:?}");
}
