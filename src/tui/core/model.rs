//! The model: everything that the inbox knows while it runs. Only `update` changes it; `view` reads it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use ratatui::layout::{Rect, Size};

use crate::config::{Borders, Config};
use crate::domain::{ActionKey, Draft, Edits, Seen, SeenLog, SourceName, SubmissionId, Timestamp, Untrusted};
use crate::inbox::Tool;
use crate::inbox::figures::Figures;
use crate::inbox::notices::Notices;
use crate::journal::{EditText, Learned, Says};
use crate::tui::chrome::state::{Message, Overlay, Saved, Window};
use crate::tui::chrome::theme::Depth;
use crate::tui::chrome::theme::palette::Theme;
use crate::tui::dashboard::layout::WatchLayout;
use crate::tui::dashboard::state::{StartView, Watch};
use crate::tui::decide::guard::{Confirmed, Guard};
use crate::tui::history::state::View;
use crate::tui::preview::reading_time::{Reading, ReadingTime};
use crate::tui::preview::seen_contents::SeenContents;
use crate::tui::preview::state::{Contexts, Histories, Preview, PreviewPlace};
use crate::tui::preview::warnings::told_in;
use crate::tui::queue::counts::{StagedByGroup, StagedTotals, Stats};
use crate::tui::queue::filter_state::{Filtering, Triage};
use crate::tui::queue::groups::GroupKey;
use crate::tui::queue::incoming::{Arrivals, FrozenUpdates};
use crate::tui::queue::slots::{Slot, State};
use crate::tui::queue::source_state::SourceState;
use crate::tui::queue::state::Queue;
use crate::tui::submit::held::Held;
use crate::tui::{SessionInfo, core, dashboard};

use super::keymap::{Chord, Keymap};
use super::layout::{Body, Layout};
use super::modal::{Modal, ReportSheet};

/// What does not change while the inbox runs.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub keymap: Keymap,
    pub borders: Borders,
    pub zone: jiff::tz::TimeZone,
    /// A source that says nothing for so long is called stale.
    pub stale_after: Duration,
    /// How often a source is asked that does not push.
    pub poll: Duration,
    /// Reasons that are often given.
    pub reasons: Vec<String>,
    /// How long a confirmed submission can be recalled; zero sends at once.
    pub hold: Duration,
    /// Newcomers are told the first keys.
    pub hints: bool,
    pub place: SessionInfo,
    pub triage: Triage,
    /// How many colours the terminal has.
    pub depth: Depth,
    /// Nothing changes by itself every second.
    pub reduced_motion: bool,
    pub read_first: crate::domain::ReadFirst,
    /// What a lead is told of.
    pub targets: crate::config::Targets,
    pub queue_targets: crate::config::QueueTargets,
    /// Who decided is told, where a source tells it.
    pub reviewers: bool,
    pub opens: StartView,
    /// Who is told of what while they look elsewhere; empty: a few things, as `Window` has them.
    pub rules: Vec<crate::config::NotifyRule>,
}

impl Settings {
    /// As the configuration has them, for a screen of which nothing is known yet: no colours, opened on the inbox.
    pub(crate) fn of(config: &Config, place: SessionInfo) -> anyhow::Result<Self> {
        let (ui, watch) = (&config.ui, &config.watch);
        Ok(Self {
            keymap: Keymap::new(&config.keys)?,
            borders: if ui.low_bandwidth { Borders::Ascii } else { ui.borders },
            zone: jiff::tz::TimeZone::system(),
            stale_after: watch.targets.stale_after,
            poll: watch.targets.poll,
            targets: watch.targets,
            queue_targets: watch.queue_targets.clone(),
            reviewers: watch.reviewers,
            rules: config.notify.clone(),
            reasons: config.reasons.clone(),
            hold: ui.hold,
            hints: ui.hints,
            place,
            triage: Triage::of(config)?,
            depth: Depth::None,
            reduced_motion: ui.reduced_motion || ui.low_bandwidth,
            read_first: ui.read_before_approve,
            opens: StartView::Inbox,
        })
    }
}

/// The whole state.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub settings: Settings,
    /// The latest time any message carried.
    pub now: Timestamp,
    pub size: Size,
    pub sources: Vec<SourceState>,
    pub queue: Queue,
    pub filtering: Filtering,
    /// While the list is frozen: what happened meanwhile.
    pub frozen: Option<FrozenUpdates>,
    /// A list of what is over, in the place of the queue.
    pub view: Option<View>,
    /// How many such lists were asked for.
    pub views: u64,
    /// How actions come and go, for the watch view: fed whether that is open or not.
    pub figures: Figures,
    /// What the rules know by now.
    pub notices: Notices,
    /// The minute in which figures were kept last.
    pub kept_at: Option<crate::domain::Minute>,
    pub watch: Watch,
    pub stats: Stats,
    /// When that was counted.
    pub stats_at: Timestamp,
    pub draft: Draft,
    pub tally: StagedTotals,
    pub spread: StagedByGroup,
    pub seen: SeenLog,
    pub dwell: ReadingTime,
    /// Typed into edit forms and not staged.
    pub edit_texts: HashMap<ActionKey, EditText>,
    /// What those texts would send, where that is known.
    pub drafted: HashMap<ActionKey, Edits>,
    /// What the sources know of their tools, as far as a form asked.
    pub tools: HashMap<(SourceName, Untrusted), Arc<Tool>>,
    /// Typed into reason fields, staged or not.
    pub reason_texts: HashMap<(ActionKey, Says), String>,
    pub preview: Preview,
    pub sights: SeenContents,
    pub histories: Histories,
    pub contexts: Contexts,
    pub reading: Reading,
    pub focus: Focus,
    pub zoom: bool,
    pub modal: Option<Modal>,
    pub overlay: Option<Overlay>,
    pub message: Option<Message>,
    pub guard: Guard,
    pub arrivals: Arrivals,
    /// What was confirmed just now, and is done when no other key follows at once.
    pub confirmed: Option<(Timestamp, Confirmed)>,
    pub chords: Vec<Chord>,
    pub theme: Theme,
    pub window: Window,
    pub saved: Saved,
    /// The group decided in last, while nothing but deciding was done since: auto-advance may have left it.
    pub decided_in: Option<GroupKey>,
    /// How many reviews were opened.
    pub reviews: u64,
    /// Confirmed, and not sent yet.
    pub held: Option<Held>,
    pub sending: Option<SubmissionId>,
    /// Of submissions that some sources have answered: what the others have not.
    pub on_the_way: HashMap<SubmissionId, HashSet<ActionKey>>,
    /// What was said of its outcome is on the way.
    pub settling: Option<ActionKey>,
    pub last_report: Option<ReportSheet>,
    /// One line says what was sent: from the answer until the next decision.
    pub sent_line: bool,
    /// When what we lost sight of is looked for again.
    pub look_again: Option<Timestamp>,
    /// The reviewer has pressed a key: from now on nothing moves above the cursor.
    pub touched: bool,
    /// The journal was read: what is staged and seen is complete.
    pub restored: bool,
    /// How often what the hints speak of was used.
    pub learned: Learned,
    /// Something on screen may have changed.
    pub dirty: bool,
    /// Quitting: no more keys.
    pub leaving: bool,
}

/// Where movement keys go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Focus {
    List,
    Preview,
}

impl Model {
    pub(crate) fn new(settings: Settings, sources: Vec<SourceName>, size: Size, now: Timestamp) -> Self {
        Self {
            notices: Notices::new(&settings.rules, settings.targets),
            figures: Figures::new(settings.targets, settings.reviewers, &sources)
                .with_queue_targets(&settings.queue_targets),
            sources: sources.into_iter().map(|name| SourceState::of(name, &settings)).collect(),
            queue: Queue::new(settings.triage.group, settings.triage.sort),
            settings,
            now,
            size,
            filtering: Filtering::default(),
            frozen: None,
            view: None,
            views: 0,
            kept_at: None,
            watch: Watch::default(),
            stats: Stats::default(),
            stats_at: now,
            draft: Draft::default(),
            tally: StagedTotals::default(),
            spread: StagedByGroup::default(),
            seen: SeenLog::default(),
            dwell: ReadingTime::default(),
            edit_texts: HashMap::new(),
            drafted: HashMap::new(),
            tools: HashMap::new(),
            reason_texts: HashMap::new(),
            preview: Preview::default(),
            sights: SeenContents::default(),
            histories: Histories::default(),
            contexts: Contexts::default(),
            reading: Reading::default(),
            focus: Focus::List,
            zoom: false,
            modal: None,
            overlay: None,
            message: None,
            guard: Guard::default(),
            arrivals: Arrivals::default(),
            confirmed: None,
            chords: Vec::new(),
            theme: Theme::Names,
            window: Window::default(),
            saved: Saved::default(),
            decided_in: None,
            reviews: 0,
            held: None,
            sending: None,
            on_the_way: HashMap::new(),
            settling: None,
            last_report: None,
            sent_line: false,
            look_again: None,
            touched: false,
            restored: false,
            learned: Learned::default(),
            dirty: true,
            leaving: false,
        }
    }

    pub(crate) fn layout(&self) -> Layout {
        self.layout_in(Rect::new(0, 0, self.size.width, self.size.height))
    }

    pub(crate) fn layout_in(&self, area: Rect) -> Layout {
        let layout = core::layout::layout(area, if self.zoom { Body::PreviewOnly } else { self.panes() });
        let told = self.notes_here();
        if told.is_empty() {
            layout
        } else {
            core::layout::with_notes(layout, |width| told_in(&told, width).len())
        }
    }

    pub(crate) fn watch_layout(&self) -> WatchLayout {
        self.watch_layout_in(Rect::new(0, 0, self.size.width, self.size.height))
    }

    pub(crate) fn watch_layout_in(&self, area: Rect) -> WatchLayout {
        dashboard::layout::watch(area, self.watch.focus(), self.watch.beside)
    }

    /// The layout with the list, whether it is on screen or not.
    pub(crate) fn layout_in_panes(&self) -> Layout {
        core::layout::layout(Rect::new(0, 0, self.size.width, self.size.height), self.panes())
    }

    const fn panes(&self) -> Body {
        match self.preview.place {
            PreviewPlace::Beside => Body::Panes,
            PreviewPlace::Below => Body::Below,
            PreviewPlace::Hidden => Body::ListOnly,
        }
    }

    /// Counts the queue anew.
    pub(crate) fn recount(&mut self) {
        self.stats = Stats::of(&self.queue, self.frozen.as_ref(), self.now);
        self.stats_at = self.now;
    }

    /// The action under the cursor, in the list that is on screen.
    pub(crate) fn here(&self) -> Option<&Slot> {
        match &self.view {
            Some(view) => view.here(),
            None => self.queue.here(),
        }
    }

    /// How much of an action's present content was on screen, as far as its content is known.
    pub(crate) fn seen_of(&self, slot: &Slot) -> Option<Seen> {
        let key = &slot.entry.key;
        let known = self.preview.cached(key).map(|cached| cached.digest).or(slot.entry.row.digest);
        match known {
            Some(digest) => self.seen.of(key, &digest),
            None => self.seen.last(key).map(|(_, seen)| seen),
        }
    }

    /// A decision is staged, and on another content than the source lists now.
    pub(crate) fn is_stale(&self, key: &ActionKey) -> bool {
        let bound = self.draft.get(key).and_then(|staged| staged.digest);
        let now = self.queue.get(key).and_then(|slot| slot.entry.row.digest);
        bound.is_some_and(|bound| now.is_some_and(|now| now != bound))
    }

    /// It changed after it was decided, and was not decided again.
    pub(crate) fn has_changed(&self, key: &ActionKey) -> bool {
        self.is_stale(key) || self.draft.get(key).is_none() && self.sights.decided(key).is_some()
    }

    /// The edits that are staged for an action, or those its draft text would send.
    pub(crate) fn edits_of(&self, key: &ActionKey) -> Option<&Edits> {
        let staged = self.draft.get(key).and_then(|staged| staged.decision.edits());
        staged.or_else(|| self.drafted.get(key))
    }

    /// Decisions of the submission that was sent and has no answer yet. They are in the draft until it comes.
    pub(crate) fn under_way(&self) -> usize {
        let sending = |key: &ActionKey| self.queue.get(key).is_some_and(|slot| slot.state == State::Sending);
        self.draft.iter().filter(|(key, _)| sending(key)).count()
    }

    /// Decisions that are staged and not on their way.
    pub(crate) fn unsent(&self) -> usize {
        self.draft.len().saturating_sub(self.under_way())
    }

    /// Pending actions without a staged decision.
    pub(crate) fn undecided(&self) -> usize {
        self.stats.pending.saturating_sub(self.tally.total().total())
    }

    /// The source runs nothing that is approved until somebody resumes it.
    pub(crate) fn is_paused(&self, name: &SourceName) -> bool {
        self.sources.iter().any(|source| source.name == *name && source.paused.is_some())
    }

    pub(crate) fn source(&mut self, name: &SourceName) -> Option<&mut SourceState> {
        self.sources.iter_mut().find(|source| source.name == *name)
    }
}
