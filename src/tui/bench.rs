//! What `benches/inbox.rs` drives: a list with so many rows, without a terminal. No part of the program uses it.

use std::hint::black_box;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};

use crate::config::{Density, Glyphs, Keys, QueueTargets, Targets};
use crate::contract::tool::Language;
use crate::domain::{
    ActionId, ActionKey, BatchId, Binding, Capabilities, Entry, PendingAction, RawJson, ReadFirst,
    ReasonRule, Revision, Risk, Row, SourceName, Timestamp,
};
use crate::inbox::figures::BoardRequest;
use crate::inbox::{Rows, Synced};
use crate::tui::chrome::theme::Depth;
use crate::tui::core::draw::view;
use crate::tui::core::keymap::{Keymap, KeymapError};
use crate::tui::core::model::Model;
use crate::tui::core::msg::{Msg, What};
use crate::tui::core::router::update;
use crate::tui::core::settings::{SessionInfo, Settings};
use crate::tui::dashboard::state::StartView;
use crate::tui::preview::page::colours::{Lex, lex};
use crate::tui::queue::filter_state::Triage;

const CAN: Capabilities = Capabilities {
    edit: true,
    reason: ReasonRule::Optional,
    comment: false,
    retry: false,
    settle: false,
    binding: Binding::Source,
    ..Capabilities::PLAIN
};

/// A list that was synced, and its reviewer in the middle of it.
#[derive(Debug)]
pub struct List {
    model: Model,
    source: SourceName,
}

impl List {
    /// Fails where the command table has keys that cannot be.
    pub fn of(rows: usize) -> Result<Self, KeymapError> {
        let source = SourceName::new("gate");
        let size = Size::new(160, 45);
        let model = Model::new(settings()?, vec![source.clone()], size, Timestamp::default());
        let mut list = Self { model, source };
        // Nothing can be staged before the journal was read.
        list.say(Timestamp::default(), What::Restored(Ok(Box::default())));
        list.sync(rows);
        for key in ['j', 'G', 'k', 'n'] {
            list.press(key, 1_000);
        }
        Ok(list)
    }

    /// The whole list anew.
    pub fn sync(&mut self, rows: usize) {
        let entries = (0..rows).map(|nth| entry(&self.source, nth)).collect();
        let synced = self.synced(Rows::All(entries), Revision(1), Timestamp::default());
        self.say(Timestamp::default(), What::Synced(self.source.clone(), Ok(synced)));
    }

    /// What one changed action costs the figures; `at` in milliseconds.
    pub fn count_one_change(&mut self, at: i64) {
        let at = Timestamp::from_millis(at);
        let rows = Rows::Changes { entries: vec![entry(&self.source, 1)], gone: Vec::new() };
        let synced = self.synced(rows, Revision(2), at);
        self.model.dashboard.figures.listed(&synced, at);
    }

    /// Presses a key, so many milliseconds after the last one.
    pub fn press(&mut self, key: char, after: i64) {
        self.key(KeyCode::Char(key), after);
    }

    /// A key of the filter line, and one stretch of the search.
    pub fn key(&mut self, key: KeyCode, after: i64) {
        let at = self.model.now.plus_millis(after);
        self.say(at, What::Key(KeyEvent::new(key, KeyModifiers::NONE)));
    }

    /// Goes on until the rows are those that the filter asks for.
    pub fn finish_filter(&mut self) {
        while self.model.list.filtering.scan.is_some() {
            self.say(self.model.now, What::Wake);
        }
    }

    /// Shows the Raw tab of an input, in full, with colours for sources or without.
    pub fn read(&mut self, input: &str, highlight: bool) {
        self.model.settings.highlight = highlight;
        let here = self.model.here().map(|slot| slot.entry.clone());
        let input = RawJson::parse(input.to_owned());
        if let (Some(entry), Ok(input)) = (here, input) {
            let action = PendingAction::new(entry.row, input, RawJson::null());
            self.say(self.model.now, What::Loaded(vec![(entry.key, Ok(action))]));
            for key in ['z', ']', ']'] {
                self.press(key, 1_000);
            }
        }
    }

    #[must_use]
    pub fn staged(&self) -> usize {
        self.model.decide.draft.len()
    }

    pub fn draw(&self, area: Rect, buffer: &mut Buffer) {
        view(&self.model, area, buffer);
    }

    /// Puts every figure of the watch view together.
    pub fn board(&self) {
        let now = self.model.now.plus_millis(60_000);
        black_box(self.model.dashboard.figures.board(BoardRequest { window: 1_440, columns: 60 }, now));
    }

    fn say(&mut self, at: Timestamp, what: What) {
        black_box(update(&mut self.model, Msg { at, what }));
    }

    fn synced(&self, rows: Rows, revision: Revision, at: Timestamp) -> Synced {
        let (source, revision) = (self.source.clone(), Some(revision));
        Synced { subject: None, source, rows, revision, unreadable: Vec::new(), at }
    }
}

/// Paints a text in rows of 80 bytes; returns how many parts it has.
pub fn paint(language: Language, text: &str) -> usize {
    let (mut parts, mut state) = (0, Lex::default());
    let mut at = 0;
    for line in text.split('\n') {
        let end = at + line.len();
        while at < end {
            let to = text.floor_char_boundary((at + 80).min(end));
            state = lex(language, state, text, at..to, &mut |_, _| parts += 1);
            at = to;
        }
        (state, at) = (state.next_line(), at + 1);
    }
    parts
}

/// What tests and benches begin with: no colours, no hints, nothing held.
pub(crate) fn settings() -> Result<Settings, KeymapError> {
    let seconds = std::time::Duration::from_secs;
    Ok(Settings {
        keymap: Keymap::new(&Keys::default())?,
        glyphs: Glyphs::Unicode,
        density: Density::Compact,
        zone: jiff::tz::TimeZone::UTC,
        stale_after: seconds(40),
        poll: seconds(10),
        targets: Targets::default(),
        queue_targets: QueueTargets::new(),
        reviewers: false,
        rules: Vec::new(),
        reasons: Vec::new(),
        hold: std::time::Duration::ZERO,
        hints: false,
        place: SessionInfo::default(),
        triage: Triage::default(),
        depth: Depth::Full,
        low_bandwidth: false,
        highlight: true,
        reduced_motion: false,
        read_first: ReadFirst::Risky,
        opens: StartView::Inbox,
    })
}

fn entry(source: &SourceName, nth: usize) -> Entry {
    let id = ActionId::new(format!("pa-{nth:06}"));
    let title = format!("Escalate outage number {nth} in the EU region");
    let row = Row {
        batch: Some(BatchId::new(format!("batch-{}", nth / 20))),
        workspace: Some("acme".into()),
        agent: Some("support-agent".into()),
        risk: if nth.is_multiple_of(50) { Risk::High } else { Risk::Low },
        created_at: Timestamp::from_millis(nth as i64),
        size: 400,
        revision: Revision(1),
        ..Row::new(id.clone(), "create_linear_issue".into(), title.into())
    };
    Entry { key: ActionKey { source: source.clone(), id }, row: Row { can: CAN, ..row } }
}
