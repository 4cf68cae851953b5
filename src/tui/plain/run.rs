//! The loop of plain mode: waits, updates, performs, writes. The counterpart of the screen's, without a terminal to take.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::config::{Borders, Config};
use crate::inbox::Inbox;
use crate::inbox::notify::Ways;
use crate::tui::clock::now;
use crate::tui::effects::Effects;
use crate::tui::ending::{Signalled, Signals, wind_up};
use crate::tui::model::{Model, Opens, Settings};
use crate::tui::msg::{Effect, Msg, What};
use crate::tui::{Left, LeftBy, Place};

use super::session::{How, SIZE, Session};
use super::{Why, input, word};

/// So many messages are taken together.
const BURST: usize = 256;

/// Speaks the inbox until the reviewer leaves it, the input ends, `shutdown` is cancelled, or a signal comes.
///
/// `opens`: whether the figures are read out first. Reads standard input and writes standard output; neither must be a terminal. Nothing is lost by leaving: staged decisions
/// and texts are saved as they are made.
pub async fn run(
    inbox: Inbox,
    config: &Config,
    place: Place,
    (why, opens): (Why, Opens),
    shutdown: CancellationToken,
) -> anyhow::Result<Left> {
    let ways = Ways::new(&config.notify)?.remembering(inbox.undelivered());
    let mut signals = Signals::new()?;
    let settings = Settings {
        keymap: word::keymap(),
        borders: Borders::Ascii,
        zone: jiff::tz::TimeZone::system(),
        stale_after: config.watch.stale_after,
        poll: config.watch.poll,
        targets: config.watch.targets,
        queue_targets: config.watch.queue_targets.clone(),
        reviewers: config.watch.reviewers,
        rules: config.notify.clone(),
        reasons: config.reasons.clone(),
        hold: config.ui.hold,
        hints: false,
        triage: crate::tui::triage(config)?,
        place,
        // Lines have neither colours nor motion.
        depth: crate::tui::theme::Depth::None,
        reduced_motion: true,
        read_first: config.ui.read_before_approve,
        // The figures are read out, and no view is opened.
        opens: Opens::Inbox,
    };
    let mut model = Model::new(settings, inbox.source_names(), SIZE, now());
    for source in &mut model.sources {
        source.records = inbox.records(&source.name);
    }
    let mut session = Session::new(model, how(why, opens));
    let (sender, mut msgs) = mpsc::channel(BURST * 4);
    let effects = Effects::new(inbox, sender).with_ways(ways);
    let by = live(&mut session, &effects, &mut msgs, &mut signals, shutdown).await;
    let finished = wind_up(&mut session.model, &effects, &mut msgs).await;
    let model = &session.model;
    Ok(Left { by: by?, staged: model.unsent(), sending: model.under_way(), unfinished: !finished })
}

/// What standard input and output are like.
fn how(why: Why, opens: Opens) -> How {
    let columns = || std::env::var("COLUMNS").ok()?.parse::<u16>().ok();
    let size = || crossterm::terminal::size().ok();
    let is_terminal = io::stdout().is_terminal();
    How {
        why: why.words(),
        opens,
        interactive: io::stdin().is_terminal(),
        width: is_terminal.then(|| columns().or_else(|| Some(size()?.0)).unwrap_or(80)),
        rows: size().map_or(24, |(_, rows)| rows),
    }
}

async fn live(
    session: &mut Session,
    effects: &Effects,
    msgs: &mut mpsc::Receiver<Msg>,
    signals: &mut Signals,
    shutdown: CancellationToken,
) -> anyhow::Result<LeftBy> {
    let mut second = interval(Duration::from_secs(1));
    second.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut lines = input::lines()?;
    effects.watch();
    let mut burst = Vec::with_capacity(BURST);
    let mut asked = session.start();
    loop {
        for effect in asked.drain(..) {
            if effect == Effect::Quit {
                let heard = write(&session.said()).is_ok();
                return Ok(if heard { LeftBy::Reviewer } else { LeftBy::Hangup });
            }
            effects.perform(effect);
        }
        // Nobody reads any more.
        if write(&session.said()).is_err() {
            return Ok(LeftBy::Hangup);
        }
        asked = tokio::select! {
            Some((at, typed)) = lines.recv() => session.typed(at, typed),
            _ = msgs.recv_many(&mut burst, BURST) => {
                burst.drain(..).flat_map(|msg| session.take(msg)).collect()
            }
            signal = signals.next() => match signal {
                Signalled::Continue => Vec::new(),
                Signalled::End(by) => return Ok(by),
            },
            () = shutdown.cancelled() => return Ok(LeftBy::Signal),
            _ = second.tick() => session.take(Msg { at: now(), what: What::Tick }),
        };
    }
}

fn write(text: &str) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}
