//! The model: the whole state of the inbox. Only `update` changes it.

use std::any::Any;
use std::borrow::Cow;
use std::fmt::Debug;

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect, Size};

use crate::contract::tool;
use crate::domain::{ActionKey, Digest, Edits, RawJson, Seen, SourceName, Timestamp, Untrusted, merge};
use crate::inbox::Problem;
use crate::inbox::figures::Figures;
use crate::inbox::notices::Notices;
use crate::text;
use crate::text::{Flags, Shown};
use crate::tui::chrome::state::{Focus, Message, Overlay, Screen, Tone};
use crate::tui::claims::state::ClaimsState;
use crate::tui::core;
use crate::tui::dashboard::state::{DashboardState, Watch};
use crate::tui::decide::state::DecideState;
use crate::tui::edit::form::EditState;
use crate::tui::history::state::HistoryState;
use crate::tui::people::state::PeopleState;
use crate::tui::preview::page::made::{Cached, Content, Tab};
use crate::tui::preview::state::{Preview, PreviewPlace, ReaderState, told_in};
use crate::tui::queue::counts;
use crate::tui::queue::elsewhere::Elsewhere;
use crate::tui::queue::list::{ListState, SourceState, Syncing};
use crate::tui::queue::slots::{Slot, State};
use crate::tui::queue::state::Queue;
use crate::tui::snooze::state::SnoozeState;
use crate::tui::submit::state::SubmitState;

use super::command::{Direction, KeyContext, shift};
use super::layout::{Body, Layout, Scroll, Shape};
use super::msg::{Effect, SheetLines};
use super::settings::Settings;

#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub settings: Settings,
    /// The latest time of any message.
    pub now: Timestamp,
    pub queue: Queue,
    pub list: ListState,
    pub preview: Preview,
    pub reader: ReaderState,
    pub decide: DecideState,
    pub edit: EditState,
    pub submit: SubmitState,
    pub history: HistoryState,
    pub dashboard: DashboardState,
    pub claims: ClaimsState,
    pub people: PeopleState,
    pub snooze: SnoozeState,
    pub sheet: OpenSheet,
    pub screen: Screen,
    /// Requested effects; taken after every message.
    pub effects: Vec<Effect>,
}

impl Model {
    pub(crate) fn new(settings: Settings, sources: Vec<SourceName>, size: Size, now: Timestamp) -> Self {
        Self {
            now,
            queue: Queue::new(settings.triage.group, settings.triage.sort),
            dashboard: DashboardState {
                figures: Figures::new(settings.targets, settings.reviewers, &sources)
                    .with_queue_targets(&settings.queue_targets)
                    .with_groups(settings.groups),
                notices: Notices::new(&settings.rules, settings.targets),
                kept_at: None,
                watch: Watch::default(),
            },
            list: ListState {
                sources: sources.into_iter().map(|name| SourceState::of(name, &settings)).collect(),
                stats_at: now,
                elsewhere: Elsewhere::since(now),
                ..ListState::default()
            },
            preview: Preview::default(),
            reader: ReaderState::default(),
            decide: DecideState::default(),
            edit: EditState::default(),
            submit: SubmitState::default(),
            history: HistoryState::default(),
            claims: ClaimsState::default(),
            people: PeopleState::default(),
            snooze: SnoozeState::default(),
            sheet: OpenSheet::default(),
            screen: Screen::of(size),
            effects: Vec::new(),
            settings,
        }
    }

    pub(crate) fn layout(&self) -> Layout {
        self.layout_in(Rect::new(0, 0, self.screen.size.width, self.screen.size.height))
    }

    pub(crate) fn layout_in(&self, area: Rect) -> Layout {
        let layout = self.divided(area, if self.screen.zoom { Body::PreviewOnly } else { self.panes() });
        let told = self.notes_here();
        if told.is_empty() {
            layout
        } else {
            core::layout::with_notes(layout, |width| told_in(&told, width).len())
        }
    }

    /// Returns the layout with the list, even if the preview covers it.
    pub(crate) fn layout_in_panes(&self) -> Layout {
        self.divided(Rect::new(0, 0, self.screen.size.width, self.screen.size.height), self.panes())
    }

    fn divided(&self, area: Rect, body: Body) -> Layout {
        let mut layout = core::layout::layout(area, body);
        if layout.places.is_empty() && self.sheet.top().is_some_and(Sheet::shows_places) {
            layout = core::layout::layout(area, Body::Places);
        }
        if self.history.open.is_some() { core::layout::with_title(layout) } else { layout }
    }

    fn panes(&self) -> Body {
        match self.preview.place {
            PreviewPlace::Beside if self.preview.tab == Tab::Context || self.preview.stacked => Body::Panes,
            PreviewPlace::Beside => Body::WithContext,
            PreviewPlace::Below => Body::Below,
            PreviewPlace::Hidden => Body::ListOnly,
        }
    }

    pub(crate) fn on_screen_lines(&self) -> u16 {
        self.queue.placed(self.layout_in_panes().rows.height, self.settings.density).count() as u16
    }

    pub(crate) fn recount(&mut self) {
        self.list.stats = match &self.list.frozen {
            Some(_) => counts::stats_anew(&self.queue, self.list.frozen.as_ref(), self.now),
            None => counts::stats(&mut self.queue, self.now),
        };
        self.list.stats_at = self.now;
    }

    pub(crate) fn here(&self) -> Option<&Slot> {
        match &self.history.open {
            Some(view) => view.here(),
            None => self.queue.here(),
        }
    }

    /// Returns how much of an action's current content was seen.
    pub(crate) fn seen_of(&self, slot: &Slot) -> Option<Seen> {
        let key = &slot.entry.key;
        let known = self.preview.cached(key).map(|cached| self.reads(key, cached)).or(slot.entry.row.digest);
        match known {
            Some(digest) => self.reader.seen.of(key, &digest),
            None => self.reader.seen.last(key).map(|(_, seen)| seen),
        }
    }

    /// Returns the digest of the content that the reviewer reads: with the edits of others if approving sends them.
    pub(crate) fn reads(&self, key: &ActionKey, cached: &Cached) -> Digest {
        let approved = cached.approved.filter(|_| self.edits_of(key) == cached.action.approved_edits());
        approved.unwrap_or(cached.digest)
    }

    pub(crate) fn is_stale(&self, key: &ActionKey) -> bool {
        let bound = self.decide.draft.get(key).and_then(|staged| staged.digest);
        let now = self.queue.get(key).and_then(|slot| slot.entry.row.digest);
        bound.is_some_and(|bound| now.is_some_and(|now| now != bound))
    }

    /// Returns true if the action changed after it was decided and was not decided again.
    pub(crate) fn has_changed(&self, key: &ActionKey) -> bool {
        self.is_stale(key)
            || self.decide.draft.get(key).is_none() && self.reader.contents.decided(key).is_some()
    }

    /// Returns the edits staged for an action, or those of its draft.
    pub(crate) fn edits_of(&self, key: &ActionKey) -> Option<&Edits> {
        let staged = self.decide.draft.get(key);
        let own = staged.and_then(|staged| staged.decision.edits()).or_else(|| self.edit.drafted.get(key));
        let is_of_us = self.edit.texts.contains_key(key)
            || staged.is_some_and(|staged| staged.decision.kind().approves());
        own.or_else(|| if is_of_us { None } else { self.approved_edits(key) })
    }

    /// Returns the title with the edits that approving a pending action sends, or that an ended one ran with, if known.
    pub(crate) fn title_of(&self, slot: &Slot) -> Untrusted {
        let (key, row) = (&slot.entry.key, &slot.entry.row);
        let known = self.preview.cached(key).map(|cached| &cached.action);
        if !slot.counts_as_pending() {
            let ran = row.edited.as_ref().or_else(|| known?.row.edited.as_ref());
            return ran.unwrap_or(&row.title).clone();
        }
        match self.edits_of(key).zip(known) {
            Some((edits, action)) => tool::edited_title(&action.row, &action.input, edits),
            None => row.title.clone(),
        }
    }

    /// Returns the edits that approving sends, and the input that they change; `None` for an excluded action.
    pub(crate) fn edits_in_row(&self, key: &ActionKey) -> Option<(&Edits, &RawJson)> {
        let rejects = self.decide.draft.get(key).is_some_and(|staged| staged.decision.kind().rejects());
        self.edits_of(key).filter(|_| !rejects).zip(self.preview.cached(key).map(|it| &it.action.input))
    }

    /// Returns the short fields of an action, with its edits.
    pub(crate) fn brief_of<'a>(&'a self, slot: &'a Slot) -> Option<Cow<'a, RawJson>> {
        let (key, brief) = (&slot.entry.key, slot.entry.row.brief.as_ref()?);
        let Some((edits, input)) = self.edits_in_row(key) else {
            return Some(Cow::Borrowed(brief));
        };
        let edited = merge(input, edits).ok()?;
        Some(Cow::Owned(tool::edited_brief(brief, &edited)))
    }

    pub(crate) fn approved_edits(&self, key: &ActionKey) -> Option<&Edits> {
        self.preview.cached(key)?.action.approved_edits()
    }

    /// Number of decisions sent but not answered yet. They stay in the draft until then.
    pub(crate) fn under_way(&self) -> usize {
        if self.queue.sending == 0 {
            return 0;
        }
        let sending = |key: &ActionKey| self.queue.get(key).is_some_and(|slot| slot.state == State::Sending);
        self.decide.draft.iter().filter(|(key, _)| sending(key)).count()
    }

    /// Number of staged decisions that are not being sent.
    pub(crate) fn unsent(&self) -> usize {
        self.decide.draft.len().saturating_sub(self.under_way())
    }

    /// Number of pending actions without a staged decision.
    pub(crate) fn undecided(&self) -> usize {
        self.list.stats.pending.saturating_sub(self.decide.tally.total.total())
    }

    /// Returns true if the source is paused and does not run approved actions.
    pub(crate) fn is_paused(&self, name: &SourceName) -> bool {
        self.list.sources.iter().any(|source| source.name == *name && source.paused.is_some())
    }

    pub(crate) fn source(&mut self, name: &SourceName) -> Option<&mut SourceState> {
        self.list.sources.iter_mut().find(|source| source.name == *name)
    }

    pub(crate) fn is_sending(&self) -> bool {
        self.submit.sending.is_some() || !self.submit.unanswered.is_empty()
    }

    /// Returns the reviewer's name at these sources: the configured one, or else the source's name for the token, or
    /// else the login name.
    pub(crate) fn reviewers<'a>(
        &self,
        sources: impl IntoIterator<Item = &'a SourceName>,
    ) -> Vec<(Untrusted, &'a SourceName)> {
        let place = &self.settings.place;
        let mut names: Vec<(Untrusted, &SourceName)> = Vec::new();
        for source in sources {
            if names.iter().any(|(_, known)| *known == source) {
                continue;
            }
            let told = self.list.sources.iter().find(|state| state.name == *source);
            let told = told.and_then(|state| state.subject.clone());
            let configured = Some(&place.reviewer).filter(|name| !name.is_empty());
            let name = configured.map(|name| Untrusted::from(name.as_str())).or(told);
            let login = if place.login.is_empty() { "you" } else { &place.login };
            names.push((name.unwrap_or_else(|| Untrusted::from(login)), source));
        }
        names
    }

    pub(crate) fn say(&mut self, text: impl Into<String>) {
        self.tell(Tone::Plain, vec![Shown::ours(text)]);
    }

    pub(crate) fn warn(&mut self, text: impl Into<String>) {
        self.tell(Tone::Bad, vec![Shown::ours(text)]);
    }

    pub(crate) fn tell(&mut self, tone: Tone, parts: Vec<Shown>) {
        self.screen.message = Some(Message { parts, tone, at: self.now });
    }

    /// Returns true if the watch view is on screen, possibly covered.
    pub(crate) const fn watches(&self) -> bool {
        self.dashboard.watch.open && self.history.open.is_none()
    }

    /// Returns what a reviewer could overlook in an action.
    pub(crate) fn flags_of(&self, slot: &Slot) -> Flags {
        let cached = self.preview.cached(&slot.entry.key);
        cached.map_or_else(|| Flags::of_row(&slot.entry.row), |cached| cached.flags.clone())
    }

    /// Returns the notes above the content; the Context tab shows them itself.
    pub(crate) fn notes_here(&self) -> Vec<Cow<'static, str>> {
        if self.preview.tab == Tab::Context { Vec::new() } else { self.told_here() }
    }

    /// Returns the warnings about deciding the action under the cursor.
    pub(crate) fn told_here(&self) -> Vec<Cow<'static, str>> {
        let here = self.here().filter(|slot| slot.is_pending() && self.history.open.is_none());
        let Some(slot) = here else { return Vec::new() };
        let same = self.queue.same_as(slot, self.now).map(|same| Cow::Owned(same.told(self.now)));
        let of = (self.list.sources.as_slice(), &self.people);
        let claimed = self.claims.note(&slot.entry.key, of, self.now).map(Cow::Owned);
        claimed
            .into_iter()
            .chain(same)
            .chain(slot.entry.row.can.told().into_iter().map(|(_, words)| words))
            .collect()
    }

    /// Returns the content that the reviewer saw, decided or edited, if it differs from this one.
    pub(crate) fn seen_otherwise(&self, key: &ActionKey, now: &Digest) -> Option<Content> {
        let bound = self.decide.draft.get(key).and_then(|staged| staged.digest);
        let bound = bound.or_else(|| self.edit.texts.get(key).map(|text| text.of));
        let bound = bound.or_else(|| self.reader.contents.decided(key).map(|content| content.digest));
        let Some(digest) = bound else { return self.reader.contents.other_than(key, now).cloned() };
        let kept =
            || self.reader.contents.find(key, &digest).cloned().unwrap_or(Content { digest, input: None });
        (digest != *now).then(kept)
    }

    pub(crate) fn places(&self) -> &'static [KeyContext] {
        match &self.screen.overlay {
            Some(Overlay::Help(_)) => &[KeyContext::Help, KeyContext::Anywhere],
            Some(Overlay::Palette(_)) => &[KeyContext::Palette, KeyContext::Anywhere],
            None => self.places_beneath(),
        }
    }

    /// Returns the contexts beneath any overlay, innermost first.
    pub(crate) fn places_beneath(&self) -> &'static [KeyContext] {
        if let Some(keys) = self.sheet.keys() {
            return keys.contexts;
        }
        match self.screen.focus {
            _ if self.is_searching() => &[KeyContext::Search, KeyContext::Anywhere],
            _ if self.watches() => &[KeyContext::Watch, KeyContext::Anywhere],
            _ if self.screen.zoom => &[KeyContext::Preview, KeyContext::Inbox, KeyContext::Anywhere],
            Focus::Preview => &[KeyContext::Preview, KeyContext::Inbox, KeyContext::Anywhere],
            Focus::List => &[KeyContext::List, KeyContext::Inbox, KeyContext::Anywhere],
        }
    }

    /// Returns true if the screen is too small to show anything but counts.
    pub(crate) fn is_blind(&self) -> bool {
        self.layout().shape == Shape::Counts
    }

    /// Returns true if the screen changed, except for a preview that is briefly empty.
    pub(crate) fn wants_frame(&self) -> bool {
        self.screen.dirty && self.preview.blank_from.is_none_or(|from| from <= self.now)
    }

    pub(crate) fn is_searching(&self) -> bool {
        self.sheet.is_none() && self.preview.search.as_ref().is_some_and(|search| search.typing)
    }

    pub(crate) fn tell_problem(&mut self, before: &str, problem: &Problem) {
        self.tell(Tone::Bad, problem_parts(before, problem));
    }

    /// Requests a source's changes; during a sync, requests another one afterwards.
    pub(crate) fn sync(&mut self, name: &SourceName) {
        let Some(source) = self.source(name) else { return };
        if source.syncing == Syncing::No {
            source.syncing = Syncing::UnderWay;
            let since = source.revision;
            self.effects.push(Effect::Sync { source: name.clone(), since });
        } else {
            source.syncing = Syncing::Again;
        }
    }

    pub(crate) fn sync_all(&mut self) {
        let names: Vec<SourceName> = self.list.sources.iter().map(|source| source.name.clone()).collect();
        for name in &names {
            self.sync(name);
        }
    }

    /// Scrolls the open sheet. Drawing limits the position to its length.
    pub(crate) fn scroll_sheet(&mut self, way: Direction, by: usize) {
        if let Some(keys) = self.sheet.keys() {
            (keys.scroll)(self, way, by);
        }
    }
}

pub(crate) fn problem_parts(before: &str, problem: &Problem) -> Vec<Shown> {
    let mut parts = vec![Shown::ours(before)];
    if let Some(source) = &problem.source {
        parts.push(Shown::ours(format!("{source} ")));
    }
    parts.push(Shown::ours(problem.what.clone()));
    if let Some(why) = &problem.why {
        parts.push(Shown::ours(": "));
        parts.push(text::line(why));
    }
    parts
}

/// A sheet, form or line over the inbox, implemented by its state.
pub(crate) trait Sheet: Any + Debug + CloneSheet {
    fn keys(&self) -> Keys;

    /// Draws the sheet, within `area` unless it takes the place of the status line. Returns the cursor's position.
    fn draw(&self, model: &Model, layout: &Layout, area: Rect, buf: &mut Buffer) -> Option<Position>;

    /// Returns false if the list stays readable.
    fn covers(&self) -> bool {
        true
    }

    fn shows_places(&self) -> bool {
        false
    }

    /// Returns the content that its reviewer reads.
    fn content(&self) -> Option<(ActionKey, Digest)> {
        None
    }

    fn extent(&self, _: &Model, _: Rect) -> SheetLines {
        SheetLines::default()
    }

    fn scrolled(&mut self) -> Option<&mut Scroll> {
        None
    }

    /// Returns when a sheet that confirms something was first drawn in its current state. Earlier keys confirm nothing.
    fn drawn(&mut self) -> Option<&mut Option<Timestamp>> {
        None
    }

    /// Restarts the reading time because the sheet cannot be seen.
    fn covered(&mut self) {
        self.drawn().into_iter().for_each(|drawn| *drawn = None);
    }
}

pub(crate) trait CloneSheet {
    fn boxed(&self) -> Box<dyn Sheet>;
}

impl<S: Sheet + Clone> CloneSheet for S {
    fn boxed(&self) -> Box<dyn Sheet> {
        Box::new(self.clone())
    }
}

/// How a sheet takes keys and text. The functions get the whole model and find their sheet with [`OpenSheet::get_mut`].
#[derive(Clone, Copy)]
pub(crate) struct Keys {
    pub contexts: &'static [KeyContext],
    /// Characters are typed as text, even if bound to commands elsewhere.
    pub takes_text: bool,
    /// Handles text and keys that are not bound.
    pub typed: fn(&mut Model, KeyEvent),
    /// Returns false if the text is not taken.
    pub pasted: fn(&mut Model, &str) -> bool,
    pub accept: fn(&mut Model),
    pub confirm: fn(&mut Model),
    pub back: fn(&mut Model),
    pub scroll: fn(&mut Model, Direction, usize),
    /// Saves what was typed. Runs every second and before quitting.
    pub save: fn(&mut Model),
}

impl Keys {
    /// Returns keys of a sheet that Esc closes and that takes no others.
    pub(crate) fn of(contexts: &'static [KeyContext]) -> Self {
        Self {
            contexts,
            takes_text: false,
            typed: |_, _| {},
            pasted: |_, _| false,
            accept: |_| {},
            confirm: |_| {},
            back: |model| model.sheet.close(),
            scroll: |model, way, by| {
                if let Some(lines) = model.sheet.top_mut().and_then(Sheet::scrolled) {
                    lines.top = shift(lines.top, way, by);
                }
            },
            save: |_| {},
        }
    }
}

/// At most one sheet.
#[derive(Debug, Default)]
pub(crate) struct OpenSheet(Option<Box<dyn Sheet>>);

impl OpenSheet {
    pub(crate) fn open(&mut self, sheet: impl Sheet) {
        self.0 = Some(Box::new(sheet));
    }

    pub(crate) fn close(&mut self) {
        self.0 = None;
    }

    pub(crate) const fn is_some(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) const fn is_none(&self) -> bool {
        self.0.is_none()
    }

    pub(crate) fn is<S: Sheet>(&self) -> bool {
        self.get::<S>().is_some()
    }

    pub(crate) fn get<S: Sheet>(&self) -> Option<&S> {
        (self.top()? as &dyn Any).downcast_ref()
    }

    pub(crate) fn get_mut<S: Sheet>(&mut self) -> Option<&mut S> {
        (self.top_mut()? as &mut dyn Any).downcast_mut()
    }

    /// Closes the sheet if it is of this type.
    pub(crate) fn take<S: Sheet>(&mut self) -> Option<S> {
        let sheet: Box<dyn Any> = self.0.take_if(|sheet| (&**sheet as &dyn Any).is::<S>())?;
        sheet.downcast::<S>().ok().map(|sheet| *sheet)
    }

    pub(crate) fn top(&self) -> Option<&dyn Sheet> {
        self.0.as_deref()
    }

    pub(crate) fn top_mut(&mut self) -> Option<&mut dyn Sheet> {
        self.0.as_deref_mut()
    }

    pub(crate) fn keys(&self) -> Option<Keys> {
        self.top().map(Sheet::keys)
    }
}

impl Clone for OpenSheet {
    fn clone(&self) -> Self {
        Self(self.0.as_ref().map(|sheet| sheet.boxed()))
    }
}
