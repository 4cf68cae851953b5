//! The main loop of plain mode: reads lines, updates, performs effects, writes. The counterpart of `app::run`.

use std::io;
use std::io::{BufRead, IsTerminal as _, Read as _, Write as _};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::config::{Config, Glyphs};
use crate::domain::Timestamp;
use crate::inbox::Inbox;
use crate::inbox::notify::Channels;
use crate::tui::app::clock::now;
use crate::tui::app::effects::Effects;
use crate::tui::app::environment;
use crate::tui::app::run::Left;
use crate::tui::app::shutdown::{LeftBy, Signalled, Signals, wind_up};
use crate::tui::core::model::Model;
use crate::tui::core::msg::{Effect, Msg, What};
use crate::tui::core::settings::{SessionInfo, Settings};
use crate::tui::dashboard::state::StartView;

use super::session::{How, SIZE, Session, Typed, Why};
use super::words;

const BURST: usize = 256;

/// Runs until the reviewer quits, the input ends, `shutdown` is cancelled, or a signal arrives.
///
/// `opens` tells whether the figures are read out first. Standard input and output need not be terminals. Quitting
/// loses nothing, because decisions and texts are saved as they are made.
pub(crate) async fn run(
    inbox: Inbox,
    config: &Config,
    place: SessionInfo,
    (why, opens): (Why, StartView),
    shutdown: CancellationToken,
) -> anyhow::Result<Left> {
    let ways = Channels::new(&config.notify)?.remembering(inbox.undelivered());
    let mut signals = Signals::new()?;
    // Lines have neither colours nor motion. The watch view is read out instead of opened.
    let settings = Settings {
        keymap: words::keymap(),
        glyphs: Glyphs::Ascii,
        hints: false,
        reduced_motion: true,
        ..Settings::of(config, place)?
    };
    let mut model = Model::new(settings, inbox.source_names(), SIZE, now());
    for source in &mut model.list.sources {
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

fn how(why: Why, opens: StartView) -> How {
    let columns = || std::env::var("COLUMNS").ok()?.parse::<u16>().ok().filter(|columns| *columns > 0);
    let size = environment::size();
    let is_terminal = io::stdout().is_terminal();
    How {
        why: why.words(),
        opens,
        interactive: io::stdin().is_terminal(),
        width: is_terminal.then(|| columns().or_else(|| Some(size?.width)).unwrap_or(80)),
        rows: size.map_or(24, |size| size.height),
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
    let mut lines = lines()?;
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
        if write(&session.said()).is_err() {
            return Ok(LeftBy::Hangup);
        }
        asked = tokio::select! {
            Some((at, typed)) = lines.recv() => session.typed(at, typed),
            _ = msgs.recv_many(&mut burst, BURST) => {
                burst.drain(..).flat_map(|msg| session.take(msg)).collect()
            }
            signal = signals.next() => match signal {
                Signalled::Continue | Signalled::Resized => Vec::new(),
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

// Lines from standard input with their times.

const LONGEST: u64 = 64 * 1024;

/// Reads lines on a separate thread that lasts as long as the process, because reading a terminal cannot be cancelled.
pub(crate) fn lines() -> io::Result<mpsc::Receiver<(Timestamp, Typed)>> {
    let (tell, lines) = mpsc::channel(256);
    std::thread::Builder::new().name("lines".to_owned()).spawn(move || {
        let mut input = io::stdin().lock();
        loop {
            let typed = next(&mut input).unwrap_or(Typed::End);
            let end = typed == Typed::End;
            if tell.blocking_send((now(), typed)).is_err() || end {
                return;
            }
        }
    })?;
    Ok(lines)
}

fn next(input: &mut impl BufRead) -> io::Result<Typed> {
    let mut line = Vec::new();
    if input.by_ref().take(LONGEST).read_until(b'\n', &mut line)? == 0 {
        return Ok(Typed::End);
    }
    if line.pop_if(|last| *last == b'\n').is_none() && line.len() as u64 == LONGEST {
        input.skip_until(b'\n')?;
        return Ok(Typed::TooLong);
    }
    line.pop_if(|last| *last == b'\r');
    Ok(Typed::Line(String::from_utf8_lossy(&line).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut input: &[u8]) -> Vec<Typed> {
        let mut all = Vec::new();
        while all.last() != Some(&Typed::End) {
            all.push(next(&mut input).unwrap());
        }
        all
    }

    #[test]
    fn last_line_needs_no_line_break() {
        let line = |text: &str| Typed::Line(text.to_owned());

        assert_eq!(all(b"show\r\n\nnext"), [line("show"), line(""), line("next"), Typed::End]);
    }

    #[test]
    fn too_long_line_is_ignored_as_a_whole() {
        let long = "x".repeat(100_000);

        assert_eq!(
            all(format!("{long}\nnext\n").as_bytes()),
            [Typed::TooLong, Typed::Line("next".to_owned()), Typed::End]
        );
    }
}
