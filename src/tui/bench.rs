//! A list without a terminal, for `benches/inbox.rs`. The program does not use it.

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
use crate::inbox::{Names, Rows, Synced};
use crate::tui::chrome::theme::Depth;
use crate::tui::core::draw::view;
use crate::tui::core::keymap::{Keymap, KeymapError};
use crate::tui::core::model::Model;
use crate::tui::core::msg::{Msg, What};
use crate::tui::core::router::update;
use crate::tui::core::settings::{SessionInfo, Settings};
use crate::tui::dashboard::state::StartView;
use crate::tui::decide::state::Guard;
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

/// A synced list with the cursor in the middle.
#[derive(Debug)]
pub struct List {
    model: Model,
    source: SourceName,
    screen: Buffer,
    arrived: usize,
}

/// The pages of a source's list, newest first.
#[derive(Debug)]
pub struct Pages(Vec<Vec<Entry>>);

impl Pages {
    pub fn of(rows: usize) -> Self {
        let (source, mut names) = (SourceName::new("gate"), Names::default());
        let mut all = (0..rows).rev().map(|nth| entry(&source, nth, &mut names));
        let first: Vec<Entry> = all.by_ref().take(100).collect();
        let mut pages = vec![first];
        loop {
            let page: Vec<Entry> = all.by_ref().take(PAGE).collect();
            if page.is_empty() {
                return Self(pages);
            }
            pages.push(page);
        }
    }
}

const PAGE: usize = 1_000;
const AREA: Rect = Rect { x: 0, y: 0, width: 160, height: 45 };

impl List {
    /// Fails if the command table has conflicting keys.
    pub fn of(rows: usize) -> Result<Self, KeymapError> {
        let mut list = Self::empty()?;
        list.read_pages(Pages::of(rows));
        for key in ['j', 'G', 'k', 'n'] {
            list.press(key, 1_000);
        }
        list.frame();
        Ok(list)
    }

    /// Returns a list before its first sync.
    pub fn empty() -> Result<Self, KeymapError> {
        let source = SourceName::new("gate");
        let size = Size::new(AREA.width, AREA.height);
        let model = Model::new(settings()?, vec![source.clone()], size, Timestamp::default());
        let mut list = Self { model, source, screen: Buffer::empty(AREA), arrived: 0 };
        // Staging requires that the journal was read.
        list.say(Timestamp::default(), What::Restored(Ok(Box::default())));
        Ok(list)
    }

    pub fn read_pages(&mut self, pages: Pages) {
        let at = Timestamp::default();
        let listed = pages.0.iter().flatten().map(|entry| entry.key.id.clone()).collect();
        for (nth, entries) in pages.0.into_iter().enumerate() {
            let page = self.synced(Rows::Page { entries, first: nth == 0 }, Revision(1), at);
            self.say(at, What::Synced(self.source.clone(), Ok(page)));
            self.frame();
        }
        let last = self.synced(Rows::LastPage { entries: Vec::new(), listed }, Revision(1), at);
        self.say(at, What::Synced(self.source.clone(), Ok(last)));
        self.frame();
    }

    pub fn arrive(&mut self) {
        self.arrived += 1;
        let came = entry(&self.source, 1_000_000 + self.arrived, &mut Names::default());
        let rows = Rows::Changes { entries: vec![came], gone: Vec::new() };
        let at = self.model.now.plus_millis(1_000);
        let synced = self.synced(rows, Revision(2), at);
        self.say(at, What::Synced(self.source.clone(), Ok(synced)));
        self.frame();
    }

    pub fn frame(&mut self) {
        self.say(self.model.now, What::Drawn(crate::tui::core::draw::sheet_lines(&self.model)));
        self.screen.reset();
        let mut screen = std::mem::take(&mut self.screen);
        self.draw(AREA, &mut screen);
        self.screen = screen;
    }

    pub fn sync(&mut self, rows: usize) {
        let entries = Pages::of(rows).0.into_iter().flatten().collect();
        let synced = self.synced(Rows::All(entries), Revision(1), Timestamp::default());
        self.say(Timestamp::default(), What::Synced(self.source.clone(), Ok(synced)));
    }

    pub fn count_one_change(&mut self, at: i64) {
        let at = Timestamp::from_millis(at);
        let rows =
            Rows::Changes { entries: vec![entry(&self.source, 1, &mut Names::default())], gone: Vec::new() };
        let synced = self.synced(rows, Revision(2), at);
        self.model.dashboard.figures.listed(&synced, at);
    }

    /// Presses a key this many milliseconds after the last one.
    pub fn press(&mut self, key: char, after: i64) {
        self.key(KeyCode::Char(key), after);
    }

    pub fn key(&mut self, key: KeyCode, after: i64) {
        let at = self.model.now.plus_millis(after);
        self.say(at, What::Key(KeyEvent::new(key, KeyModifiers::NONE)));
        // Keys may wait for a next one.
        self.say(at.plus_millis(Guard::ALONE as i64), What::StoodAlone);
    }

    pub fn finish(&mut self) {
        while self.is_busy() {
            self.stretch();
        }
    }

    /// Continues until a key may be handled, and draws.
    pub fn stretch(&mut self) {
        self.say(self.model.now, What::Wake);
        self.frame();
    }

    fn is_busy(&self) -> bool {
        let model = &self.model;
        model.list.filtering.scan.is_some()
            || model.list.sorting.is_some()
            || model.list.regrouping.is_some()
            || model.decide.job.is_some()
    }

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

    pub fn board(&self) {
        let now = self.model.now.plus_millis(60_000);
        black_box(self.model.dashboard.figures.board(BoardRequest { window: 1_440, columns: 60 }, now));
    }

    fn say(&mut self, at: Timestamp, what: What) {
        black_box(update(&mut self.model, Msg { at, what }));
    }

    fn synced(&self, rows: Rows, revision: Revision, at: Timestamp) -> Synced {
        let (source, revision) = (self.source.clone(), Some(revision));
        Synced { subject: None, claims: None, source, rows, revision, unreadable: Vec::new(), at }
    }
}

/// Highlights a text in rows of 80 bytes. Returns the number of parts.
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

/// Returns settings for tests and benches: no colours, no hints, no hold.
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
        groups: false,
        rules: Vec::new(),
        reasons: Vec::new(),
        hold: std::time::Duration::ZERO,
        hints: false,
        place: SessionInfo::default(),
        triage: Triage::default(),
        depth: Depth::Full,
        low_bandwidth: false,
        highlight: true,
        claim_by_itself: false,
        reduced_motion: false,
        read_first: ReadFirst::Risky,
        opens: StartView::Inbox,
    })
}

fn entry(source: &SourceName, nth: usize, names: &mut Names) -> Entry {
    let id = ActionId::new(format!("pa-{nth:06}"));
    let title = format!("Escalate outage number {nth} in the EU region");
    let mut row = Row {
        batch: Some(BatchId::new(format!("batch-{}", nth / 20))),
        workspace: Some("acme".into()),
        agent: Some("support-agent".into()),
        risk: if nth.is_multiple_of(50) { Risk::High } else { Risk::Low },
        created_at: Timestamp::from_millis(nth as i64),
        size: 400,
        revision: Revision(1),
        ..Row::new(id.clone(), "create_linear_issue".into(), title.into())
    };
    names.share(&mut row);
    Entry { key: ActionKey { source: source.clone(), id }, row: Row { can: CAN, ..row } }
}
