//! A reviewer's desk without a terminal: presses keys, reads the screen, records effects.

pub(crate) mod random_input;
#[cfg(test)]
mod regions;

use std::collections::{HashMap, VecDeque};
use std::sync::LazyLock;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};

use crate::domain::{
    ActionId, ActionKey, BatchId, Binding, Capabilities, DecisionKind, Entry, Outcome, PendingAction,
    RawJson, ReasonRule, Records, Report, ReportLine, Revision, Risk, Row, SourceName, Status, Submission,
    SubmissionId, Timestamp,
};
use crate::inbox::{Answer, Connection, Event, EventKind, History, Problem, Question, Rows, Synced};
use crate::journal::{Restored, Write};
use crate::tui::core::draw::{sheet_lines, view};
use crate::tui::core::model::Model;
use crate::tui::core::msg::{Effect, Msg, What};
use crate::tui::core::router::{quiet_until, start, update};
use crate::tui::core::settings::{SessionInfo, Settings};
use crate::tui::decide::state::Guard;
use crate::tui::history::state::ViewPage;
use crate::tui::preview::page::made::Tab;
use crate::tui::queue::counts::{StagedTotals, stats, stats_anew};
use crate::tui::queue::same::{Proposes, SameIndex};
use crate::tui::queue::slots::{Slot, State};

/// 2026-11-21T14:22:31Z in milliseconds.
pub(crate) const NOW: i64 = 1_795_270_951_000;

/// Capabilities of every action here, unless a test sets others.
pub(crate) const CAN: Capabilities = Capabilities {
    edit: true,
    reason: ReasonRule::Optional,
    comment: true,
    retry: false,
    settle: true,
    titled: true,
    binding: Binding::Source,
    ..Capabilities::PLAIN
};

pub(crate) struct Desk {
    pub(crate) model: Model,
    at: i64,
    /// Effects in order, without those that the desk answers itself.
    pub(crate) effects: Vec<Effect>,
    pub(crate) saved: Vec<Write>,
    /// Saved minutes of the figures.
    pub(crate) kept: Vec<crate::domain::KeptMinute>,
    pub(crate) submitted: Vec<Submission>,
    pub(crate) world: HashMap<ActionKey, PendingAction>,
    /// Whether loads are answered at once.
    pub(crate) answers: bool,
    pub(crate) can: Capabilities,
    /// Answers to questions about an action; other questions stay unanswered.
    pub(crate) told: HashMap<Question, Result<Answer, Problem>>,
    /// Answers to requests for pages of settled actions, in order; further requests stay unanswered.
    pub(crate) pages: VecDeque<ViewPage>,
}

/// Shared, because building them for thousands of desks is slow.
static SETTINGS: LazyLock<Settings> = LazyLock::new(|| crate::tui::bench::settings().unwrap());

impl Desk {
    /// Returns an inbox that has listed `actions` and was drawn once.
    pub(crate) fn new(width: u16, height: u16, actions: Vec<PendingAction>) -> Self {
        Self::with(width, height, actions, CAN)
    }

    pub(crate) fn with(width: u16, height: u16, actions: Vec<PendingAction>, can: Capabilities) -> Self {
        let mut desk = Self::unstarted(width, height, can);
        let effects = start(&mut desk.model);
        desk.take(effects);
        desk.say(What::Restored(Ok(Box::default())));
        desk.say(What::Source(Event { source: source(), kind: EventKind::Connection(Connection::Live) }));
        desk.lists(actions);
        desk.drawn();
        desk
    }

    /// Returns an inbox before its first effect.
    pub(crate) fn unstarted(width: u16, height: u16, can: Capabilities) -> Self {
        let place = SessionInfo { reviewer: "kim@acme".to_owned(), ..SessionInfo::default() };
        let settings = Settings { place, ..SETTINGS.clone() };
        let size = Size::new(width, height);
        let mut model = Model::new(settings, vec![source()], size, Timestamp::from_millis(NOW));
        for source in &mut model.list.sources {
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
            told: HashMap::from([
                (
                    Question::History,
                    Ok(Answer::History(History {
                        events: Some(Vec::new()),
                        problem: None,
                        sent: Vec::new(),
                    })),
                ),
                (Question::Context, Ok(Answer::Context(Vec::new(), None))),
            ]),
            pages: VecDeque::new(),
        }
    }

    pub(crate) fn lists(&mut self, actions: Vec<PendingAction>) {
        let entries = actions.iter().map(|action| entry(action, self.can)).collect();
        self.world.extend(actions.into_iter().map(|action| (key_of(&action), action)));
        self.synced(Rows::All(entries));
    }

    pub(crate) fn changes(&mut self, actions: Vec<PendingAction>) {
        let entries = actions.iter().map(|action| entry(action, self.can)).collect();
        self.world.extend(actions.into_iter().map(|action| (key_of(&action), action)));
        self.synced(Rows::Changes { entries, gone: Vec::new() });
    }

    /// The source sends a page of its list, with more to come.
    pub(crate) fn page(&mut self, actions: Vec<PendingAction>, first: bool) {
        let entries = actions.iter().map(|action| entry(action, self.can)).collect();
        self.world.extend(actions.into_iter().map(|action| (key_of(&action), action)));
        self.synced(Rows::Page { entries, first });
    }

    pub(crate) fn last_page(&mut self, listed: &[&str]) {
        let listed = listed.iter().map(|id| ActionId::new(*id)).collect();
        self.synced(Rows::LastPage { entries: Vec::new(), listed });
    }

    fn synced(&mut self, rows: Rows) {
        let (at, revision, unreadable) = (Timestamp::from_millis(self.at), Some(Revision(7)), Vec::new());
        let synced = Synced { source: source(), subject: None, claims: None, rows, revision, unreadable, at };
        self.say(What::Synced(source(), Ok(synced)));
    }

    pub(crate) fn wait(&mut self, millis: i64) {
        self.at += millis;
    }

    /// Lets `millis` pass with only the ticks that the loop wakes up for.
    pub(crate) fn rest(&mut self, millis: i64) {
        let end = self.at + millis;
        loop {
            let until = quiet_until(&self.model).map_or(self.at, Timestamp::as_millis);
            let next = until.max(self.at + 1_000);
            if next > end {
                break;
            }
            self.at = next;
            self.say(What::Tick);
        }
        self.at = end;
    }

    pub(crate) fn say(&mut self, what: What) {
        let msg = Msg { at: Timestamp::from_millis(self.at), what };
        let effects = update(&mut self.model, msg);
        self.counts_are_right();
        self.take(effects);
    }

    fn counts_are_right(&mut self) {
        let now = self.model.now;
        let mut both = [stats(&mut self.model.queue, now), stats_anew(&self.model.queue, None, now)];
        // The order of the sources depends on their arrival.
        for stats in &mut both {
            stats.by_source.sort();
        }
        let [kept, anew] = both;
        assert_eq!(kept, anew);
        let (queue, decide) = (&self.model.queue, &self.model.decide);
        assert_eq!(decide.tally, StagedTotals::of(&decide.draft));
        assert_eq!(queue.marks.len(), queue.slots.iter().filter(|slot| slot.marked).count());
        let sending = queue.slots.iter().filter(|slot| slot.state == State::Sending).count();
        assert_eq!(queue.sending, sending);
        self.sames_are_found();
    }

    /// Compares the index of duplicates with a fresh one.
    fn sames_are_found(&self) {
        let (queue, now) = (&self.model.queue, self.model.now);
        if queue.slots.len() > 20 {
            return;
        }
        let mut anew = SameIndex::default();
        for id in queue.slots.ids() {
            anew.put(id, &queue.slots.get(id).unwrap().entry);
        }
        for slot in queue.slots.iter().filter(|slot| slot.counts_as_pending()) {
            let it = Proposes::of(&slot.entry.key, &slot.entry.row);
            let kept = queue.same_as(slot, now);
            match anew.find(&queue.slots, &it, now, |_| true) {
                Some(_) => assert!(kept.is_some(), "{:?}", slot.entry.key),
                // A duplicate of an approved action that left the list.
                None => assert!(kept.is_none_or(|same| same.approved.is_some()), "{:?}", slot.entry.key),
            }
        }
    }

    pub(crate) fn drawn(&mut self) {
        self.say(What::Drawn(sheet_lines(&self.model)));
    }

    fn take(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Load(keys) if self.answers => {
                    let loaded = self.loaded(&keys);
                    self.say(What::Loaded(loaded));
                }
                Effect::LayOut(page) => self.say(What::LaidOut(Box::new(page.lay_out()))),
                Effect::LoadForReview { review, keys } if self.answers => self.reviews(review, &keys),
                Effect::Ask { asked, stood, listed } => {
                    self.effects.push(Effect::Ask { asked: asked.clone(), stood: stood.clone(), listed });
                    let answer = self.told.get(&asked.1).filter(|_| self.answers).cloned().map(Box::new);
                    if let Some(answer) = answer {
                        self.say(What::Answered { asked, stood, answer });
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
                Effect::WakeIn(100..=1_000) | Effect::AwaitKey | Effect::RestoreMinutes => {}
                Effect::KeepMinutes(minutes) => self.kept.extend(minutes),
                Effect::Submit { submission, left_pending } => {
                    self.submitted.push((*submission).clone());
                    self.effects.push(Effect::Submit { submission, left_pending });
                }
                other => self.effects.push(other),
            }
        }
    }

    pub(crate) fn reviews(&mut self, review: u64, keys: &[ActionKey]) {
        let (id, actions) = (SubmissionId::new("sub-1"), self.loaded(keys));
        self.say(What::ReviewLoaded { review, id, actions });
    }

    fn loaded(&self, keys: &[ActionKey]) -> Vec<(ActionKey, Result<PendingAction, Problem>)> {
        let gone = || Problem { source: None, what: "is gone".to_owned(), why: None };
        let of = |key: &ActionKey| {
            let action = self.world.get(key).cloned().ok_or_else(gone)?;
            let can = self.model.queue.get(key).map_or(self.can, |slot| slot.entry.row.can);
            Ok(PendingAction { row: Row { can, ..action.row }, ..action })
        };
        keys.iter().map(|key| (key.clone(), of(key))).collect()
    }

    /// Presses keys 350 ms apart and draws in between: `"jja<Esc>"`.
    pub(crate) fn press(&mut self, keys: &str) {
        for key in parse(keys) {
            self.wait(350);
            self.drawn();
            self.say(What::Key(key));
            self.drawn();
            self.stands_alone();
            self.drawn();
        }
    }

    /// No other key follows the last one at once.
    pub(crate) fn stands_alone(&mut self) {
        if self.model.decide.waiting.is_empty() {
            return;
        }
        self.wait(Guard::ALONE as i64);
        self.say(What::StoodAlone);
    }

    /// Counts the whole of a long text, as the program does between two keys.
    pub(crate) fn counts(&mut self) {
        while self.model.preview.page.as_ref().is_some_and(|page| !page.is_counted()) {
            self.say(What::Wake);
        }
        self.drawn();
    }

    /// Presses keys one second apart, enough to read a full pane.
    pub(crate) fn slowly(&mut self, keys: &str) {
        for key in parse(keys) {
            self.wait(1_000);
            self.say(What::Key(key));
            self.stands_alone();
            self.drawn();
        }
    }

    /// Presses keys `gap` milliseconds apart.
    pub(crate) fn hurry(&mut self, keys: &str, gap: i64) {
        for key in parse(keys) {
            self.wait(gap);
            self.say(What::Key(key));
        }
        self.stands_alone();
    }

    /// The source accepts every decision of the last submission.
    pub(crate) fn accepts(&mut self) {
        self.reports(|kind| if kind == DecisionKind::Reject { Outcome::Rejected } else { Outcome::Approved });
    }

    pub(crate) fn reports(&mut self, outcome: impl Fn(DecisionKind) -> Outcome) {
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

    pub(crate) fn restored(&mut self, restored: Restored) {
        self.say(What::Restored(Ok(Box::new(restored))));
    }

    pub(crate) fn slot(&self, id: &str) -> &Slot {
        self.model.queue.get(&key(id)).unwrap_or_else(|| panic!("no {id} in the list"))
    }

    /// Returns the staged decisions as letters, by id: `1A 2X`.
    pub(crate) fn staged(&self) -> String {
        let mut staged: Vec<(String, char)> = self
            .model
            .decide
            .draft
            .iter()
            .map(|(key, staged)| (key.id.as_raw().to_owned(), staged.decision.kind().letter()))
            .collect();
        staged.sort();
        staged.iter().map(|(id, letter)| format!("{id}{letter}")).collect::<Vec<_>>().join(" ")
    }

    pub(crate) fn here(&self) -> String {
        self.model.here().map_or("-", |slot| slot.entry.key.id.as_raw()).to_owned()
    }

    pub(crate) fn message(&self) -> String {
        let parts = self.model.screen.message.iter().flat_map(|message| &message.parts);
        parts.map(crate::text::Shown::plain).collect()
    }

    pub(crate) fn buffer(&self) -> Buffer {
        let area = Rect::new(0, 0, self.model.screen.size.width, self.model.screen.size.height);
        let mut buffer = Buffer::empty(area);
        view(&self.model, area, &mut buffer);
        buffer
    }

    pub(crate) fn cursor(&self) -> Option<(u16, u16)> {
        let area = Rect::new(0, 0, self.model.screen.size.width, self.model.screen.size.height);
        view(&self.model, area, &mut Buffer::empty(area)).map(|at| (at.x, at.y))
    }

    /// Returns the screen without the tab names, which only `preview_screens` tests.
    pub(crate) fn without_tabs(&self) -> String {
        self.screen().lines().map(line_without_tabs).collect::<Vec<_>>().join("\n")
    }

    pub(crate) fn screen(&self) -> String {
        let buffer = self.buffer();
        cells(&buffer, buffer.area)
    }
}

fn cells(buffer: &Buffer, area: Rect) -> String {
    let rows = area.rows().map(|row| {
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

pub(crate) fn source() -> SourceName {
    SourceName::new("gate")
}

pub(crate) fn key(id: &str) -> ActionKey {
    ActionKey { source: source(), id: ActionId::new(id) }
}

pub(crate) fn key_of(action: &PendingAction) -> ActionKey {
    ActionKey { source: source(), id: action.row.id.clone() }
}

pub(crate) fn entry(action: &PendingAction, can: Capabilities) -> Entry {
    Entry { key: key_of(action), row: Row { can, ..action.row.clone() } }
}

/// Returns a pending action; `spec` is `id tool agent risk minutes`, and the batch is agent and tool.
pub(crate) fn action(spec: &str, title: &str, input: &str) -> PendingAction {
    let [id, tool, agent, risk, minutes] = spec.split(' ').collect::<Vec<_>>().try_into().unwrap();
    let input = RawJson::parse(input.to_owned()).unwrap();
    let row = Row {
        batch: Some(BatchId::new(format!("{agent}:{tool}"))),
        workspace: Some("acme".into()),
        agent: Some(agent.into()),
        risk: Risk::parse(risk),
        created_at: Timestamp::from_millis(NOW - minutes.parse::<i64>().unwrap() * 60_000),
        revision: Revision(1),
        ..Row::new(ActionId::new(id), tool.into(), title.into())
    };
    PendingAction::new(row, input, RawJson::null())
}

/// Returns `action` decided by `by`.
pub(crate) fn decided(mut action: PendingAction, status: Status, by: &str) -> PendingAction {
    action.row.status = status;
    action.row.resolved_by = Some(by.into());
    action
}

/// Returns `n` small low-risk actions of one batch; `1` is the oldest.
pub(crate) fn few(n: usize) -> Vec<PendingAction> {
    let one = |i: usize| {
        let title = format!("Issue number {i}");
        action(
            &format!("{i} create_linear_issue support low {}", 60 - i),
            &title,
            &format!("{{\"title\":\"{title}\",\"n\":1.10}}"),
        )
    };
    (1..=n).map(one).collect()
}

/// Returns `action` approved by lee, with an unknown outcome.
pub(crate) fn lost(action: PendingAction) -> PendingAction {
    let mut action = decided(action, Status::Unknown, "lee");
    action.row.resolved_at = Some(Timestamp::from_millis(NOW - 120_000));
    action.error = Some("the command was ended by signal 9".into());
    action
}

/// Replaces the tab names; a frame keeps its border, a rule what follows the tabs.
fn line_without_tabs(line: &str) -> String {
    let Some(start) = line.find(Tab::Rendered.name()) else { return line.to_owned() };
    let (before, tabs) = line.split_at(start - 1);
    if let Some((tabs, after)) = tabs.split_once('│') {
        return format!("{before}{:width$}│{after}", "(tabs)", width = tabs.chars().count());
    }
    let last = Tab::ALL.last().map_or("", |tab| tab.name());
    let after = tabs.split_once(last).map_or("", |(_, after)| &after[1..]);
    let after = after.split_whitespace().filter(|word| !word.starts_with('─'));
    format!("{before}(tabs) {}", after.collect::<Vec<_>>().join(" ")).trim_end().to_owned()
}
