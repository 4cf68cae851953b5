//! The places where foreign text is drawn.

use crate::domain::{Outcome, PendingAction, RawJson, Status};
use crate::inbox::Problem;
use crate::tui::core::msg::What;
use crate::tui::testing::{Desk, action, decided, source};
use crate::tui::{chrome, testing};

use super::{Case, Frame, judged};

fn json(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

/// Returns an action with the text in every field that an agent or backend writes.
fn hostile(case: &Case, id: &str) -> PendingAction {
    let text = json(&case.text);
    let input = format!(
        r#"{{"body":{text},"n":1.10,{text}:"key","list":[{{"a":{text},"b":1}},{{"a":"x","b":{text}}}],"deep":{{"x":[{text}]}}}}"#
    );
    let mut action = action(&format!("{id} tool agent high 4"), "x", &input);
    action.row.title = case.text.as_str().into();
    action.row.tool = case.text.as_str().into();
    action.row.agent = Some(case.text.as_str().into());
    action.row.mission = Some(case.text.as_str().into());
    action.row.workspace = Some(case.text.as_str().into());
    action.summary = Some(case.text.as_str().into());
    action.requested_by = Some(case.text.as_str().into());
    action.preview = Some(RawJson::parse(format!(r#"{{"body":{text},"more":"x"}}"#)).unwrap());
    action
}

/// Checks that foreign rows, and no others, follow the gutter.
fn gutter(case: &Case, place: &str, desk: &Desk, frame: &Frame) {
    let layout = desk.model.layout();
    let Some(page) = &desk.model.preview.page else { return };
    let here = desk.model.here().is_some_and(|slot| slot.entry.key == page.of.key);
    if !here || !desk.model.preview.problems.is_empty() || !desk.model.screen.chords.is_empty() {
        return;
    }
    if layout.text.is_empty() || desk.model.sheet.is_some() || desk.model.screen.overlay.is_some() {
        return;
    }
    for nth in 0..layout.text.height {
        let row = desk.model.preview.top + usize::from(nth);
        let cell = frame.screen.screen().cell(layout.text.y + nth, layout.text.x - 2);
        let drawn = cell.map(|cell| cell.contents().to_owned()).unwrap_or_default();
        let want = row < page.len() && page.is_foreign(row);
        assert_eq!(
            drawn.trim() == "│",
            want,
            "{} in {place}, row {row}: {drawn:?}\n{}",
            case.id,
            desk.screen()
        );
    }
}

fn look(case: &Case, place: &str, desk: &Desk) {
    let frame = Frame::of(desk);
    judged(case, place, &frame.bytes);
    gutter(case, place, desk, &frame);
    let title = chrome::words::title(&desk.model);
    assert!(title.is_ascii() && title.ends_with(" - placet"), "{}: {title:?}", case.id);
}

pub(crate) fn seen(case: &Case) {
    let input = match case.field.as_str() {
        "body" => format!("{{\"body\":{}}}", json(&case.text)),
        _ => "{}".to_owned(),
    };
    let mut action = action("1 tool agent low 4", "x", &input);
    match case.field.as_str() {
        "title" => action.row.title = case.text.as_str().into(),
        "ident" => action.row.tool = case.text.as_str().into(),
        _ => {}
    }
    let mut desk = Desk::new(200, 60, vec![action]);
    desk.press(if case.field == "body" { "z" } else { "j" });
    let frame = Frame::of(&desk);
    let layout = desk.model.layout();
    let shown = match case.field.as_str() {
        "body" => {
            frame.dense(layout.text.x, layout.text.width)
                + &frame.dense(layout.text.x - 2, layout.text.width + 2)
        }
        _ => frame.dense(0, 200),
    };
    for see in &case.see {
        let dense: String = see.split_whitespace().collect();
        let short: String = if case.field == "title" { dense.chars().take(24).collect() } else { dense };
        // The screen shows a long run as name and number, and the lines to read at the foot of the pane.
        let run = see.strip_prefix('⟦').is_some_and(|name| shown.contains(&format!("×{name}")));
        let counted = run || (see == "lines" && case.id == "size-long-line");
        assert!(
            counted || shown.contains(&short),
            "{}: {see:?} is not on the screen:\n{}",
            case.id,
            desk.screen()
        );
    }
}

/// Draws the list, then each tab from start to end.
pub(crate) fn listed(case: &Case, (width, height): (u16, u16)) -> Desk {
    let mut desk = Desk::new(width, height, vec![hostile(case, "1"), hostile(case, "2"), hostile(case, "3")]);
    look(case, "the list", &desk);
    if height > 12 {
        desk.press("z");
        for tab in ["rendered", "diff", "raw", "context", "history"] {
            look(case, tab, &desk);
            desk.press("<End>");
            look(case, tab, &desk);
            desk.press("]");
        }
        desk.press("<Esc>");
    }
    desk
}

/// Opens, reads, edits, filters, reviews and sends, and checks every step.
pub(crate) fn everywhere(case: &Case, size: (u16, u16)) {
    let mut desk = listed(case, size);
    for (keys, place) in [
        ("gg", "top"),
        ("e", "edit"),
        ("<C-t>", "edit as JSON"),
        ("<Esc>", "left"),
        ("jX", "reason"),
        ("/", "filter"),
        ("?", "help"),
        (":", "palette"),
    ] {
        desk.press(keys);
        look(case, place, &desk);
        if matches!(place, "reason" | "filter" | "help" | "palette") {
            desk.say(What::Paste(case.text.clone()));
            look(case, place, &desk);
            desk.press("<Enter>");
            look(case, place, &desk);
            desk.press("<Esc><Esc>");
        }
    }
    desk.changes(vec![decided(hostile(case, "3"), Status::Failed, &case.text)]);
    look(case, "decided elsewhere", &desk);
    sent(case, &mut desk);
    failed(case, &mut desk);
    for keys in ["V", "gh", "<Esc>", "zb", "<Esc>"] {
        desk.press(keys);
        look(case, "views", &desk);
    }
}

fn sent(case: &Case, desk: &mut Desk) {
    desk.press("<Esc>ggjx");
    look(case, "staged", desk);
    desk.press("S");
    desk.wait(1_000);
    look(case, "review", desk);
    desk.press("y");
    if desk.submitted.is_empty() {
        return;
    }
    desk.reports(|_| Outcome::Failed { why: case.text.as_str().into() });
    look(case, "what was sent", desk);
    desk.press("gr");
    look(case, "report", desk);
    desk.press("<Esc>");
    look(case, "after the report", desk);
}

fn failed(case: &Case, desk: &mut Desk) {
    let problem = Problem {
        source: Some(source()),
        what: "answered HTTP 500".to_owned(),
        why: Some(case.text.as_str().into()),
    };
    desk.say(What::Synced(source(), Err(problem.clone())));
    look(case, "a failed sync", desk);
    let key = testing::key("1");
    desk.say(What::Loaded(vec![(key, Err(problem))]));
    look(case, "a failed load", desk);
}
