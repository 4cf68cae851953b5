//! The model: the whole state of the inbox. Only `update` changes it.

use std::borrow::Cow;

use ratatui::layout::{Rect, Size};

use crate::contract::tool;
use crate::domain::{ActionKey, Digest, Edits, Seen, SourceName, Timestamp, Untrusted};
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
use crate::tui::submit::held::SubmitState;

use super::command::KeyContext;
use super::layout::{Body, Layout, Shape};
use super::modal::Modal;
use super::msg::Effect;
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
    pub modal: Option<Modal>,
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
            modal: None,
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
        if layout.places.is_empty() && self.modal.as_ref().and_then(Modal::places).is_some() {
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
        if staged.is_some_and(|staged| !staged.decision.kind().approves()) {
            return None;
        }
        let own = staged.and_then(|staged| staged.decision.edits()).or_else(|| self.edit.drafted.get(key));
        let is_of_us = self.edit.texts.contains_key(key) || staged.is_some();
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
        match (&self.modal, self.screen.focus) {
            (Some(Modal::Edit(_) | Modal::EditSoon { .. }), _) => &[KeyContext::Edit, KeyContext::Anywhere],
            (Some(Modal::Reason(_)), _) => &[KeyContext::Reason, KeyContext::Anywhere],
            (Some(Modal::Review(_)), _) => &[KeyContext::Review, KeyContext::Anywhere],
            (Some(Modal::Report(_)), _) => &[KeyContext::Report, KeyContext::Anywhere],
            (Some(Modal::ResolveUnknown(sheet)), _) if sheet.typing => {
                &[KeyContext::Reason, KeyContext::Anywhere]
            }
            (Some(Modal::ResolveUnknown(_)), _) => &[KeyContext::ResolveUnknown, KeyContext::Anywhere],
            (Some(Modal::Links(_)), _) => &[KeyContext::Links, KeyContext::Anywhere],
            (Some(Modal::Quit(_)), _) => &[KeyContext::Quit, KeyContext::Anywhere],
            (None, _) if self.is_searching() => &[KeyContext::Search, KeyContext::Anywhere],
            (Some(Modal::Places(_)), _) => &[KeyContext::Places, KeyContext::Anywhere],
            (Some(Modal::Filter(_) | Modal::NameFilter(_) | Modal::Saved), _) => {
                &[KeyContext::Filter, KeyContext::Anywhere]
            }
            (None, _) if self.watches() => &[KeyContext::Watch, KeyContext::Anywhere],
            (None, _) if self.screen.zoom => &[KeyContext::Preview, KeyContext::Inbox, KeyContext::Anywhere],
            (None, Focus::Preview) => &[KeyContext::Preview, KeyContext::Inbox, KeyContext::Anywhere],
            (None, Focus::List) => &[KeyContext::List, KeyContext::Inbox, KeyContext::Anywhere],
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
        self.modal.is_none() && self.preview.search.as_ref().is_some_and(|search| search.typing)
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

    /// Closes a review whose decisions changed, because it must not be confirmed. Returns a note for the message.
    pub(crate) fn close_review(&mut self) -> &'static str {
        if !matches!(self.modal, Some(Modal::Review(_))) {
            return "";
        }
        self.modal = None;
        crate::tui::submit::words::REVIEW_CLOSED
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
