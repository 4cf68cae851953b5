//! Random input: keys, pastes, sizes, clicks and news at any time.
//!
//! It must not panic, must always be drawable, and must not send except by the sheet's own key, after the sheet's
//! delay, and about content that was on screen.

use crossterm::event::{
    Event as TerminalEvent, KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};

use crate::domain::{DecisionKind, PendingAction, Seen, Status, Submission, SubmissionBatch};
use crate::inbox::{Connection, Event, EventKind};
use crate::tui::app::decoder::{Decoder, TerminalInput};
use crate::tui::core::msg::What;
use crate::tui::queue::counts::StagedTotals;
use crate::tui::submit::state::ReviewSheet;
use crate::tui::testing;

use super::{CAN, Desk, action, decided, few, source};

const STEPS: usize = 300;
/// Keys with a meaning somewhere, so that random input gets deep.
const KEYS: &[u8] = b"aAxXucsSyeEdzjklhgG/?:*vVRKJ[]123456789 q.wcnNpmtrifoD";
const NAMED: [KeyCode; 16] = [
    KeyCode::Enter,
    KeyCode::Esc,
    KeyCode::Tab,
    KeyCode::BackTab,
    KeyCode::Backspace,
    KeyCode::Delete,
    KeyCode::Up,
    KeyCode::Down,
    KeyCode::Left,
    KeyCode::Right,
    KeyCode::PageUp,
    KeyCode::PageDown,
    KeyCode::Home,
    KeyCode::End,
    KeyCode::F(1),
    KeyCode::Insert,
];
const SIZES: [(u16, u16); 6] = [(80, 24), (100, 30), (160, 45), (40, 10), (12, 3), (1, 1)];

/// Runs steps of two bytes: what happens, and when and with what.
pub(crate) fn run(data: &[u8]) {
    let mut desk = Desk::with(80, 24, world(), CAN);
    let steps: Vec<&[u8]> = data.chunks_exact(2).take(STEPS).collect();
    for (nth, step) in steps.iter().enumerate() {
        let &[what, with] = *step else { return };
        let ready = sheet_is_ready(&desk);
        let sent = desk.submitted.len();
        happen(&mut desk, what, with);
        // Unless the next step follows at once.
        if steps.get(nth + 1).is_none_or(|next| next[0] >> 6 < 2) {
            desk.stands_alone();
        }
        for submission in desk.submitted.clone().iter().skip(sent) {
            assert!(ready && is_confirming(what, with), "step {nth}: sent by {what:#x} {with:#x}");
            was_seen(&desk, submission);
        }
        // Not at every step, because drawing takes most of the time.
        if nth % 8 == 0 {
            let _ = desk.buffer();
        }
        assert_eq!(desk.model.decide.tally, StagedTotals::of(&desk.model.decide.draft), "step {nth}");
        let lines = desk.model.queue.lines.len();
        assert!(lines == 0 || desk.model.queue.at < lines, "step {nth}: the cursor is outside the list");
    }
    let _ = desk.buffer();
}

/// Returns small actions, one longer than a screen, a risky one, one with hidden characters.
fn world() -> Vec<PendingAction> {
    let mut all = few(4);
    let long: Vec<String> = (0..90).map(|n| format!("\"key{n}\":\"value {n}\"")).collect();
    all.push(action("long create_linear_issue support low 9", "Long", &format!("{{{}}}", long.join(","))));
    all.push(action(
        "high send_email support high 8",
        "Refund",
        r#"{"to":"kim@acme.example","amount":1.10}"#,
    ));
    all.push(action(
        "odd send_email support low 7",
        "Odd\u{202e}",
        "{\"to\":\"a\\u202eb\u{200b}\",\"to\":2}",
    ));
    all
}

fn sheet_is_ready(desk: &Desk) -> bool {
    let Some(sheet) = desk.model.sheet.get::<ReviewSheet>() else { return false };
    sheet.review.is_some() && sheet.drawn.is_some() && desk.model.screen.overlay.is_none()
}

fn is_confirming(what: u8, with: u8) -> bool {
    match what & 0x07 {
        0..=2 => matches!(KEYS.get(usize::from(with) % KEYS.len()), Some(b'y')),
        3 => matches!(NAMED.get(usize::from(with) % NAMED.len()), Some(KeyCode::Enter)),
        _ => false,
    }
}

/// Checks that approved actions with a reading lock were read, in exactly these bytes.
fn was_seen(desk: &Desk, submission: &Submission) {
    for item in submission.batches().iter().flat_map(SubmissionBatch::items) {
        let approves = matches!(item.kind(), DecisionKind::Approve | DecisionKind::ApproveWithEdits);
        if !approves || !matches!(item.id.as_raw(), "high" | "long" | "odd") {
            continue;
        }
        let key = testing::key(item.id.as_raw());
        assert_eq!(desk.model.reader.seen.of(&key, &item.digest), Some(Seen::InFull), "{:?}", item.id);
        let now = desk.world.get(&key).map(PendingAction::digest);
        assert_eq!(now, Some(item.digest), "{:?} has changed", item.id);
    }
}

fn happen(desk: &mut Desk, what: u8, with: u8) {
    // Mostly at the speed of a person, sometimes faster.
    desk.wait(match what >> 6 {
        0 => 400,
        1 => 120,
        2 => 5,
        _ => 0,
    });
    if what & 0x20 == 0 {
        desk.drawn();
    }
    let modifiers = if what & 0x18 == 0x18 { KeyModifiers::CONTROL } else { KeyModifiers::NONE };
    match what & 0x07 {
        0..=2 => {
            let Some(byte) = KEYS.get(usize::from(with) % KEYS.len()) else { return };
            hear(desk, key_event(KeyCode::Char(char::from(*byte)), modifiers));
        }
        3 => {
            let Some(code) = NAMED.get(usize::from(with) % NAMED.len()) else { return };
            hear(desk, key_event(*code, modifiers));
        }
        4 => reply(desk, with),
        5 => {
            hear(desk, TerminalEvent::Paste("ays\ny\r\u{1b}[200~\u{202e}".repeat(1 + usize::from(with % 3))));
        }
        6 => window(desk, with),
        _ => news(desk, with),
    }
}

fn key_event(code: KeyCode, modifiers: KeyModifiers) -> TerminalEvent {
    TerminalEvent::Key(KeyEvent::new(code, modifiers))
}

/// As the program passes on what the terminal says.
fn hear(desk: &mut Desk, event: TerminalEvent) {
    match event {
        TerminalEvent::Key(key) => desk.say(What::Key(key)),
        TerminalEvent::Paste(text) => desk.say(What::Paste(text)),
        TerminalEvent::Mouse(mouse) => desk.say(What::Mouse(mouse)),
        TerminalEvent::Resize(width, height) => desk.say(What::Resize(width, height)),
        TerminalEvent::FocusGained => desk.say(What::Focus(true)),
        TerminalEvent::FocusLost => desk.say(What::Focus(false)),
    }
}

/// A reply of the terminal, whole or torn.
fn reply(desk: &mut Desk, with: u8) {
    let text = ["11;rgb:aaaa/yyyy/ssss", "52;c;YXN5", "10;rgb:1e1e/1e1e/2e2e", "a"];
    let text = text.get(usize::from(with) % text.len()).copied().unwrap_or_default();
    let text: String = text.chars().take(usize::from(with >> 2)).collect();
    let mut decoder = Decoder::default();
    let mut heard = decoder.take(format!("\u{1b}]{text}").as_bytes());
    if with & 0x80 == 0 {
        heard.extend(decoder.take(b"\x1b\\"));
    }
    heard.extend(decoder.quiet());
    for heard in heard {
        match heard {
            TerminalInput::Background(colour) => desk.say(What::Background(colour)),
            TerminalInput::Escaped(key) => desk.say(What::Escaped(key)),
            TerminalInput::Event(event) => hear(desk, event),
        }
    }
}

fn window(desk: &mut Desk, with: u8) {
    let at = (
        u16::from(with) % desk.model.screen.size.width.max(1),
        u16::from(with >> 3) % desk.model.screen.size.height.max(1),
    );
    let mouse = |kind| {
        TerminalEvent::Mouse(MouseEvent { kind, column: at.0, row: at.1, modifiers: KeyModifiers::NONE })
    };
    match with % 6 {
        0 => {
            let (columns, rows) = SIZES[usize::from(with >> 3) % SIZES.len()];
            hear(desk, TerminalEvent::Resize(columns, rows));
        }
        1 => hear(desk, mouse(MouseEventKind::Down(MouseButton::Left))),
        2 => hear(desk, mouse(MouseEventKind::ScrollDown)),
        3 => hear(desk, mouse(MouseEventKind::ScrollUp)),
        4 => hear(desk, TerminalEvent::FocusLost),
        _ => hear(desk, TerminalEvent::FocusGained),
    }
}

/// News of the source: arrivals, changes, foreign decisions, lost connections.
fn news(desk: &mut Desk, with: u8) {
    let n = usize::from(with >> 4);
    match with % 8 {
        0 => desk.changes(vec![action(&format!("n{n} send_email other low 1"), "New", r#"{"a":1}"#)]),
        1 => {
            let changed = format!("{{\"to\":\"{n}\",\"amount\":1.10}}");
            desk.changes(vec![action("high send_email support high 8", "Refund, changed", &changed)]);
        }
        2 => {
            let settled = few(4).into_iter().nth(n % 4).map(|one| decided(one, Status::Approved, "lee"));
            desk.changes(settled.into_iter().collect());
        }
        3 => {
            let kind = EventKind::Connection(Connection::Polling);
            desk.say(What::Source(Event { source: source(), kind }));
        }
        4 if !desk.submitted.is_empty() && desk.model.submit.sending.is_some() => desk.accepts(),
        5 => desk.wait(60_000),
        6 => desk.say(What::Tick),
        _ => desk.say(What::Wake),
    }
}
