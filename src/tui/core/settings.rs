//! Settings: what does not change while the inbox runs.

use std::path::PathBuf;
use std::time::Duration;

use crate::config::{Claiming, Config, Density, Glyphs};
use crate::contract::time;
use crate::tui::chrome::theme::Depth;
use crate::tui::dashboard::state::StartView;
use crate::tui::queue::filter_state::Triage;

use super::keymap::Keymap;

/// What does not change while the inbox runs.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub keymap: Keymap,
    pub glyphs: Glyphs,
    pub density: Density,
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
    /// What stays open for a while is claimed.
    pub claim_by_itself: bool,
    /// As few cells are redrawn as possible.
    pub low_bandwidth: bool,
    /// Source texts are in colours, where there are any.
    pub highlight: bool,
    pub read_first: crate::domain::ReadFirst,
    /// What a lead is told of.
    pub targets: crate::config::Targets,
    pub queue_targets: crate::config::QueueTargets,
    /// Who decided is told, where a source tells it.
    pub reviewers: bool,
    /// And what groups of people decided.
    pub groups: bool,
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
            glyphs: if ui.low_bandwidth { Glyphs::Ascii } else { ui.glyphs },
            density: ui.density,
            zone: time::zone(),
            stale_after: watch.targets.stale_after,
            poll: watch.targets.poll,
            targets: watch.targets,
            queue_targets: watch.queue_targets.clone(),
            reviewers: watch.reviewers,
            groups: watch.groups,
            rules: config.notify.clone(),
            reasons: config.reasons.clone(),
            hold: ui.hold,
            hints: ui.hints,
            place,
            triage: Triage::of(config)?,
            depth: Depth::None,
            reduced_motion: ui.reduced_motion || ui.low_bandwidth,
            low_bandwidth: ui.low_bandwidth,
            claim_by_itself: ui.claim == Claiming::Auto,
            highlight: ui.highlight,
            read_first: ui.read_before_approve,
            opens: StartView::Inbox,
        })
    }

    /// No colours are sent that cost a slow line time or that the reviewer wants none of.
    pub(crate) const fn paints_sources(&self) -> bool {
        self.highlight && !self.low_bandwidth && !matches!(self.depth, Depth::None)
    }
}

/// What the screens say about where they are.
#[derive(Clone, Debug, Default)]
pub struct SessionInfo {
    /// Who decides, as the configuration says it; else empty.
    pub reviewer: String,
    /// Who decides where the source does not say it; may be empty.
    pub login: String,
    /// Where exported reports go.
    pub state: PathBuf,
    /// The gate on this machine, when there is one.
    pub gate: Option<GatePlace>,
    /// `placet demo`: the folder in which executed actions leave their harmless traces.
    pub demo: Option<PathBuf>,
}

/// The embedded gate, for the empty screen's first proposal.
#[derive(Clone, Debug)]
pub struct GatePlace {
    /// Base URL without a trailing slash.
    pub url: String,
    /// It runs in this process, so that quitting ends it; else in another placet.
    pub serving: bool,
    /// The file with the token that agents propose with.
    pub agent_token: PathBuf,
    pub database: PathBuf,
    /// The gate's port where it is not the configured one.
    pub other_port: Option<u16>,
}
