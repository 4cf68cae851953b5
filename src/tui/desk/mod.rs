//! A reviewer's desk without a terminal: press keys, look at the screen, and see what was asked of the world.

mod actions;
pub mod stray;

use std::collections::{HashMap, VecDeque};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};

use crate::config::Borders;
use crate::domain::{
    ActionKey, Binding, Capabilities, Passage, PendingAction, ReasonRule, Records, Report, ReportLine,
    Revision, Submission, SubmissionId, Timestamp,
};
use crate::domain::{DecisionKind, Outcome};
use crate::inbox::{Connection, Event, EventKind, History, Problem, Rows, Synced};
use crate::journal::{Restored, Write};
use crate::tui::Place;
use crate::tui::keymap::Keymap;
use crate::tui::model::{Guard, Model, Settings, Slot, ViewPage};
use crate::tui::msg::{Effect, Msg, What};
use crate::tui::update::{start, update};
use crate::tui::view::{sheet_lines, view};

pub(in crate::tui) use actions::{action, key};
pub(in crate::tui) use actions::{decided, few, lost, source};
use actions::{entry, key_of};

/// 2026-11-21T14:22:31Z.
pub(super) const NOW: i64 = 1_795_270_951_000;

/// What everything here can be done with.
pub(super) const CAN: Capabilities = Capabilities {
    edit: true,
    reason: ReasonRule::Optional,
    comment: true,
    retry: false,
    settle: true,
    binding: Binding::Source,
    ..Capabilities::PLAIN
};

pub(super) struct Desk {
    pub(super) model: Model,
    at: i64,
    /// Everything asked of the world, in order, but what the desk answers by itself.
    pub(super) effects: Vec<Effect>,
    pub(super) saved: Vec<Write>,
    /// Minutes of the figures, for the journal.
    pub(super) kept: Vec<crate::domain::KeptMinute>,
    pub(super) submitted: Vec<Submission>,
    pub(super) world: HashMap<ActionKey, PendingAction>,
    /// The world answers a load at once.
    pub(super) answers: bool,
    pub(super) can: Capabilities,
    /// What the world answers when it is asked for a history.
    pub(super) history: Result<History, Problem>,
    /// What the world answers when it is asked what is around an action.
    pub(super) context: Result<Vec<Passage>, Problem>,
    /// What the world answers when it is asked for pages of what is over, in turn; without one it does not answer.
    pub(super) pages: VecDeque<ViewPage>,
}

impl Desk {
    /// An inbox that has listed these actions, and been drawn once.
    pub(super) fn new(width: u16, height: u16, actions: Vec<PendingAction>) -> Self {
        Self::with(width, height, actions, CAN)
    }

    pub(super) fn with(width: u16, height: u16, actions: Vec<PendingAction>, can: Capabilities) -> Self {
        let mut desk = Self::unstarted(width, height, can);
        let effects = start(&mut desk.model);
        desk.take(effects);
        desk.say(What::Restored(Ok(Box::default())));
        desk.say(What::Source(Event { source: source(), kind: EventKind::Connection(Connection::Live) }));
        desk.lists(actions);
        desk.drawn();
        desk
    }

    /// Nothing has been asked yet.
    pub(super) fn unstarted(width: u16, height: u16, can: Capabilities) -> Self {
        let keymap = Keymap::new(&crate::config::Keys::default()).unwrap();
        let place = Place { reviewer: "kim@acme".to_owned(), ..Place::default() };
        let settings = Settings {
            keymap,
            borders: Borders::Line,
            zone: jiff::tz::TimeZone::UTC,
            stale_after: std::time::Duration::from_secs(40),
            poll: std::time::Duration::from_secs(10),
            targets: crate::config::Targets::default(),
            queue_targets: crate::config::QueueTargets::new(),
            reviewers: false,
            rules: Vec::new(),
            reasons: Vec::new(),
            hold: std::time::Duration::ZERO,
            hints: false,
            place,
            triage: crate::tui::model::Triage::default(),
            depth: crate::tui::theme::Depth::Full,
            reduced_motion: false,
            read_first: crate::domain::ReadFirst::Risky,
            opens: crate::tui::model::Opens::Inbox,
        };
        let size = Size::new(width, height);
        let mut model = Model::new(settings, vec![source()], size, Timestamp::from_millis(NOW));
        for source in &mut model.sources {
            source.records = Records { lists: true, timeline: true, flows: false };
        }
        Self {
            model,
            at: NOW,
            effects: Vec::new(),
            saved: Vec::new(),
            kept: Vec::new(),
            submitted: Vec::new(),
            world: HashMap::new(),
            answers: true,
            can,
            history: Ok(History { events: Some(Vec::new()), problem: None, sent: Vec::new() }),
            context: Ok(Vec::new()),
            pages: VecDeque::new(),
        }
    }

    /// The source lists exactly these.
    pub(super) fn lists(&mut self, actions: Vec<PendingAction>) {
        let entries = actions.iter().map(|action| entry(action, self.can)).collect();
        self.world.extend(actions.into_iter().map(|action| (key_of(&action), action)));
        self.synced(Rows::All(entries));
    }

    /// The source says what changed.
    pub(super) fn changes(&mut self, actions: Vec<PendingAction>) {
        let entries = actions.iter().map(|action| entry(action, self.can)).collect();
        self.world.extend(actions.into_iter().map(|action| (key_of(&action), action)));
        self.synced(Rows::Changes { entries, gone: Vec::new() });
    }

    fn synced(&mut self, rows: Rows) {
        let (at, revision, unreadable) = (Timestamp::from_millis(self.at), Some(Revision(7)), Vec::new());
        let synced = Synced { source: source(), subject: None, rows, revision, unreadable, at };
        self.say(What::Synced(source(), Ok(synced)));
    }

    pub(super) fn wait(&mut self, millis: i64) {
        self.at += millis;
    }

    pub(super) fn say(&mut self, what: What) {
        let msg = Msg { at: Timestamp::from_millis(self.at), what };
        let effects = update(&mut self.model, msg);
        self.take(effects);
    }

    /// The frame is on screen.
    pub(super) fn drawn(&mut self) {
        self.say(What::Drawn(sheet_lines(&self.model)));
    }

    fn take(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Load(keys) if self.answers => {
                    let loaded = self.loaded(&keys);
                    self.say(What::Loaded(loaded));
                }
                Effect::LoadForReview { review, keys } if self.answers => self.reviews(review, &keys),
                Effect::History { key, stood } => {
                    let asked = Effect::History { key: key.clone(), stood: stood.clone() };
                    self.effects.push(asked);
                    if self.answers {
                        let answer = Box::new(self.history.clone());
                        self.say(What::Told { key, stood, answer });
                    }
                }
                Effect::Context { key, stood } => {
                    self.effects.push(Effect::Context { key: key.clone(), stood: stood.clone() });
                    if self.answers {
                        self.say(What::Around { key, stood, answer: self.context.clone() });
                    }
                }
                Effect::List { number, ask } => {
                    self.effects.push(Effect::List { number, ask });
                    if let Some(page) = self.pages.pop_front() {
                        self.say(What::Listed { number, page: Box::new(page) });
                    }
                }
                Effect::Save(writes) => {
                    let saves =
                        usize::from(!writes.iter().all(|write| matches!(write, Write::Looked { .. })));
                    self.saved.extend(writes);
                    self.say(What::Saved { saves, answer: Ok(()) });
                }
                Effect::Hold { submission, left_pending } => {
                    let id = submission.id().clone();
                    self.effects.push(Effect::Hold { submission, left_pending });
                    if self.answers {
                        self.say(What::Held(id, Ok(())));
                    }
                }
                // When a page is read; a test says itself when time passes.
                Effect::WakeIn(100..=1_000 | Guard::ALONE) | Effect::RestoreMinutes => {}
                Effect::KeepMinutes(minutes) => self.kept.extend(minutes),
                Effect::Submit { submission, left_pending } => {
                    self.submitted.push((*submission).clone());
                    self.effects.push(Effect::Submit { submission, left_pending });
                }
                other => self.effects.push(other),
            }
        }
    }

    /// The answer to a review comes.
    pub(super) fn reviews(&mut self, review: u64, keys: &[ActionKey]) {
        let (id, actions) = (SubmissionId::new("sub-1"), self.loaded(keys));
        self.say(What::ReviewLoaded { review, id, actions });
    }

    fn loaded(&self, keys: &[ActionKey]) -> Vec<(ActionKey, Result<PendingAction, Problem>)> {
        let gone = || Problem { source: None, what: "is gone".to_owned(), why: None };
        keys.iter().map(|key| (key.clone(), self.world.get(key).cloned().ok_or_else(gone))).collect()
    }

    /// Presses keys a third of a second apart, drawing in between: `"jja<Esc>"`.
    pub(super) fn press(&mut self, keys: &str) {
        for key in parse(keys) {
            self.wait(350);
            self.drawn();
            self.say(What::Key(key));
            self.drawn();
            if self.model.confirmed.is_some() {
                self.wait(16);
                self.say(What::Wake);
                self.drawn();
            }
        }
    }

    /// Presses keys so far apart that a full pane is read in between.
    pub(super) fn slowly(&mut self, keys: &str) {
        for key in parse(keys) {
            self.wait(1_000);
            self.say(What::Key(key));
            self.drawn();
        }
    }

    /// Presses keys this close together.
    pub(super) fn hurry(&mut self, keys: &str, gap: i64) {
        for key in parse(keys) {
            self.wait(gap);
            self.say(What::Key(key));
        }
    }

    /// The source answers the last submission, each decision with what it asks for.
    pub(super) fn accepts(&mut self) {
        self.reports(|kind| if kind == DecisionKind::Reject { Outcome::Rejected } else { Outcome::Approved });
    }

    pub(super) fn reports(&mut self, outcome: impl Fn(DecisionKind) -> Outcome) {
        let submission = self.submitted.last().unwrap().clone();
        let left_pending = self
            .effects
            .iter()
            .rev()
            .find_map(|effect| match effect {
                Effect::Submit { left_pending, .. } => Some(*left_pending),
                _ => None,
            })
            .unwrap();
        let lines = submission.batches().iter().flat_map(|batch| {
            let outcome = &outcome;
            batch.items().iter().map(move |item| ReportLine {
                key: ActionKey { source: batch.source().clone(), id: item.id.clone() },
                batch: batch.key().unwrap(),
                tool: item.tool.clone(),
                title: item.title.clone(),
                decision: item.kind(),
                outcome: outcome(item.kind()),
            })
        });
        let report = Report { id: submission.id().clone(), lines: lines.collect(), left_pending };
        self.say(What::Submitted(submission.id().clone(), Ok(report)));
    }

    pub(super) fn restored(&mut self, restored: Restored) {
        self.say(What::Restored(Ok(Box::new(restored))));
    }

    pub(super) fn slot(&self, id: &str) -> &Slot {
        self.model.queue.get(&key(id)).unwrap_or_else(|| panic!("no {id} in the list"))
    }

    /// The letters of the staged decisions, in the order of the ids: `1A 2X`.
    pub(super) fn staged(&self) -> String {
        let mut staged: Vec<(String, char)> = self
            .model
            .draft
            .iter()
            .map(|(key, staged)| (key.id.as_raw().to_owned(), staged.decision.kind().letter()))
            .collect();
        staged.sort();
        staged.iter().map(|(id, letter)| format!("{id}{letter}")).collect::<Vec<_>>().join(" ")
    }

    /// The id under the cursor.
    pub(super) fn here(&self) -> String {
        self.model.here().map_or("-", |slot| slot.entry.key.id.as_raw()).to_owned()
    }

    pub(super) fn message(&self) -> String {
        let parts = self.model.message.iter().flat_map(|message| &message.parts);
        parts.map(crate::text::Shown::plain).collect()
    }

    pub(super) fn buffer(&self) -> Buffer {
        let area = Rect::new(0, 0, self.model.size.width, self.model.size.height);
        let mut buffer = Buffer::empty(area);
        view(&self.model, area, &mut buffer);
        buffer
    }

    /// Where the terminal's own cursor stands: column and row.
    pub(super) fn cursor(&self) -> Option<(u16, u16)> {
        let area = Rect::new(0, 0, self.model.size.width, self.model.size.height);
        view(&self.model, area, &mut Buffer::empty(area)).map(|at| (at.x, at.y))
    }

    /// The screen as text, without spaces at the ends of lines.
    pub(super) fn screen(&self) -> String {
        let buffer = self.buffer();
        let rows = buffer.area.rows().map(|row| {
            let mut skip = 0;
            let mut text = String::new();
            for cell in row.columns().map(|cell| &buffer[(cell.x, cell.y)]) {
                if skip == 0 {
                    text.push_str(cell.symbol());
                    skip = unicode_width::UnicodeWidthStr::width(cell.symbol());
                }
                skip = skip.saturating_sub(1);
            }
            text.trim_end().to_owned()
        });
        rows.collect::<Vec<_>>().join("\n")
    }
}

fn parse(keys: &str) -> Vec<KeyEvent> {
    let mut events = Vec::new();
    let mut rest = keys;
    while let Some(c) = rest.chars().next() {
        let special = (c == '<').then(|| rest[1..].split_once('>')).flatten();
        let (code, modifiers) = match special {
            Some((name, after)) => {
                rest = after;
                named(name)
            }
            None => {
                rest = &rest[c.len_utf8()..];
                (KeyCode::Char(c), KeyModifiers::NONE)
            }
        };
        events.push(KeyEvent::new(code, modifiers));
    }
    events
}

fn named(name: &str) -> (KeyCode, KeyModifiers) {
    if let Some(c) = name.strip_prefix("C-").and_then(|rest| rest.chars().next()) {
        return (KeyCode::Char(c), KeyModifiers::CONTROL);
    }
    let code = match name {
        "Esc" => KeyCode::Esc,
        "Enter" => KeyCode::Enter,
        "Tab" => KeyCode::Tab,
        "F1" => KeyCode::F(1),
        "F2" => KeyCode::F(2),
        "F3" => KeyCode::F(3),
        "F4" => KeyCode::F(4),
        "F6" => KeyCode::F(6),
        "F7" => KeyCode::F(7),
        "F8" => KeyCode::F(8),
        "F9" => KeyCode::F(9),
        "Up" => KeyCode::Up,
        "Backspace" => KeyCode::Backspace,
        "PageDown" => KeyCode::PageDown,
        "PageUp" => KeyCode::PageUp,
        "Down" => KeyCode::Down,
        "End" => KeyCode::End,
        "Right" => KeyCode::Right,
        "S-Down" => return (KeyCode::Down, KeyModifiers::SHIFT),
        "S-Up" => return (KeyCode::Up, KeyModifiers::SHIFT),
        "Left" => KeyCode::Left,
        "BackTab" => KeyCode::BackTab,
        "Delete" => KeyCode::Delete,
        other => panic!("no key {other}"),
    };
    (code, KeyModifiers::NONE)
}
