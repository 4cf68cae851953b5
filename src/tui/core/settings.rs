//! Settings, constant while the inbox runs.

use std::path::PathBuf;
use std::time::Duration;

use crate::clock;
use crate::config::{Claiming, Config, Density, Glyphs};
use crate::tui::chrome::theme::Depth;
use crate::tui::dashboard::state::StartView;
use crate::tui::queue::filter_state::Triage;

use super::keymap::Keymap;

#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub keymap: Keymap,
    pub glyphs: Glyphs,
    pub density: Density,
    pub zone: jiff::tz::TimeZone,
    pub stale_after: Duration,
    pub poll: Duration,
    /// Frequent reasons for a rejection.
    pub reasons: Vec<String>,
    /// Time in which a confirmed submission can be recalled; zero sends at once.
    pub hold: Duration,
    pub hints: bool,
    pub place: SessionInfo,
    pub triage: Triage,
    pub depth: Depth,
    /// Do not update counters every second.
    pub reduced_motion: bool,
    /// Claim actions that stay open for a while.
    pub claim_by_itself: bool,
    /// Redraw as few cells as possible.
    pub low_bandwidth: bool,
    pub highlight: bool,
    pub read_first: crate::domain::ReadFirst,
    pub targets: crate::config::Targets,
    pub queue_targets: crate::config::QueueTargets,
    pub reviewers: bool,
    pub groups: bool,
    pub opens: StartView,
    /// Notify rules; if empty, the defaults of `chrome::window` apply.
    pub rules: Vec<crate::config::NotifyRule>,
}

impl Settings {
    /// Returns the configured settings, without colours, opened on the inbox.
    pub(crate) fn of(config: &Config, place: SessionInfo) -> anyhow::Result<Self> {
        let (ui, watch) = (&config.ui, &config.watch);
        Ok(Self {
            keymap: Keymap::new(&config.keys)?,
            glyphs: if ui.low_bandwidth { Glyphs::Ascii } else { ui.glyphs },
            density: ui.density,
            zone: clock::zone(),
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

    /// Returns true if source texts are highlighted: not on slow lines or without colours.
    pub(crate) const fn paints_sources(&self) -> bool {
        self.highlight && !self.low_bandwidth && !matches!(self.depth, Depth::None)
    }
}

/// Facts about the session that screens show.
#[derive(Clone, Debug, Default)]
pub struct SessionInfo {
    /// The configured reviewer's name; may be empty.
    pub reviewer: String,
    /// The login name, used if a source does not report the reviewer's; may be empty.
    pub login: String,
    pub state: PathBuf,
    pub gate: Option<GatePlace>,
    /// For `placet demo`: the folder in which executed actions leave their files.
    pub demo: Option<PathBuf>,
}

/// The embedded gate, for the empty screen's first proposal.
#[derive(Clone, Debug)]
pub struct GatePlace {
    /// Base URL without a trailing slash.
    pub url: String,
    /// It runs in this process and ends with it; otherwise it runs in another placet.
    pub serving: bool,
    pub agent_token: PathBuf,
    pub database: PathBuf,
    /// The gate's port if it differs from the configured one.
    pub other_port: Option<u16>,
}
