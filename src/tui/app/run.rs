//! The main loop of the screen: waits for messages, updates, performs effects, draws.

use std::time::Duration;

use anyhow::Context as _;
use crossterm::event::{Event, MouseEventKind};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::config::{Config, Notify};
use crate::contract::tool;
use crate::domain::Timestamp;
use crate::inbox::Inbox;
use crate::inbox::notify::Channels;
use crate::tui::app::words;
use crate::tui::chrome::theme;
use crate::tui::chrome::theme::Depth;
use crate::tui::chrome::theme::palette::Theme;
use crate::tui::core::model::Model;
use crate::tui::core::msg::{Effect, Msg, What};
use crate::tui::core::settings::{SessionInfo, Settings};
use crate::tui::core::{draw, router};
use crate::tui::dashboard::state::StartView;
use crate::tui::preview::state::PreviewPlace;

use super::clock::now;
use super::decoder::TerminalInput;
use super::effects::Effects;
use super::environment::Host;
use super::input::Keys;
use super::shutdown;
use super::shutdown::{LeftBy, Signalled, Signals};
use super::terminal::{Modes, Screen, give_back, has_shell, is_there, stop_process, stumbled};

/// Minimum time between frames: 60 per second. Two may come closer together: a key, and the preview it requests.
const FRAME: Duration = Duration::from_millis(16);
/// For a frame that shows a key.
const KEY_FRAME: Duration = Duration::from_millis(8);
/// The same on slow lines: five per second.
const SLOW_FRAME: Duration = Duration::from_millis(200);
const BURST: usize = 256;
/// Interval of ticks while something counts seconds.
const SECOND: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    pub by: LeftBy,
    /// Staged decisions that were not sent; kept for the next start.
    pub staged: usize,
    /// Decisions that were being sent and may have been delivered.
    pub sending: usize,
    /// A submission or a save did not finish in time. It is in the journal; the next start reconciles it.
    pub unfinished: bool,
}

/// Shows the inbox or the watch view until the reviewer quits, `shutdown` is cancelled, a signal arrives, or the
/// terminal is gone.
///
/// Takes the terminal and gives it back, also on a panic. Fails before touching it if standard input or output is not a
/// terminal or `[keys]` is invalid. Quitting loses nothing, because decisions and texts are saved as they are made.
pub async fn run(
    inbox: Inbox,
    config: &Config,
    place: SessionInfo,
    opens: StartView,
    shutdown: CancellationToken,
) -> anyhow::Result<Left> {
    let settings = Settings::of(config, place)?;
    let variable = |name: &str| std::env::var(name).ok();
    let (ui, host) = (&config.ui, Host::of(variable));
    let depth = if ui.low_bandwidth { Depth::of(variable).min(Depth::Names) } else { Depth::of(variable) };
    let theme = Theme::load(&ui.theme, depth)?;
    let ways = Channels::new(&config.notify)?.remembering(inbox.undelivered());
    // First, so that a signal during the first frame gives the terminal back.
    let signals = Signals::new()?;
    let switched = Modes { mouse: ui.mouse, kitty_keys: host.uses_kitty_keys(ui.keyboard), title: ui.title };
    let screen = Screen::take(switched)?;
    let glyphs = theme::glyphs(settings.glyphs, variable);
    let settings = Settings { glyphs, depth, opens, ..settings };
    let mut model = Model::new(settings, inbox.source_names(), screen.size()?, now());
    model.screen.theme = theme;
    for source in &mut model.list.sources {
        source.records = inbox.records(&source.name);
        source.has_context = inbox.has_context(&source.name);
    }
    model.screen.window.mouse = ui.mouse;
    if ui.low_bandwidth {
        model.preview.place = PreviewPlace::Hidden;
    }
    let (sender, msgs) = mpsc::channel(BURST * 4);
    let effects = Effects::new(inbox, sender).with_ways(ways);
    let notify = ui.notify.clone();
    let (frame, key_frame) = if ui.low_bandwidth { (SLOW_FRAME, SLOW_FRAME) } else { (FRAME, KEY_FRAME) };
    let mut app = App {
        model,
        screen,
        effects,
        msgs,
        keys: None,
        host,
        notify,
        frame,
        key_frame,
        keyed: false,
        frames: [None; 2],
        ticked: Instant::now(),
        lent: false,
    };
    let by = match app.live(signals, shutdown, Theme::asks(&ui.theme, depth)).await {
        // An error is expected if the terminal has vanished.
        Err(_) if !is_there() => Ok(LeftBy::Hangup),
        by => by,
    };
    let finished = app.wind_up().await;
    let left =
        Left { by: by?, staged: app.model.unsent(), sending: app.model.under_way(), unfinished: !finished };
    // Dropping a model of 100,000 actions takes longer than quitting, so it is leaked.
    let App { model, .. } = app;
    let _kept = std::mem::ManuallyDrop::new(model);
    Ok(left)
}

struct App {
    model: Model,
    screen: Screen,
    effects: Effects,
    msgs: mpsc::Receiver<Msg>,
    /// `None` while another program has the terminal: a reader would steal its keys.
    keys: Option<Keys>,
    host: Host,
    notify: Notify,
    /// Minimum time between frames, averaged over two.
    frame: Duration,
    key_frame: Duration,
    keyed: bool,
    /// Times of the last two frames, older one first.
    frames: [Option<Instant>; 2],
    ticked: Instant,
    /// The reviewer's editor has the terminal: messages are handled but nothing is drawn.
    lent: bool,
}

enum Woken {
    Key(Option<(Timestamp, TerminalInput)>),
    Msgs,
    Frame,
    Stumbled,
    Second,
    Continued,
    Resized,
    End(LeftBy),
}

impl App {
    async fn live(
        &mut self,
        mut signals: Signals,
        shutdown: CancellationToken,
        asks_background: bool,
    ) -> anyhow::Result<LeftBy> {
        // The first frame is drawn before anything else.
        self.draw()?;
        if asks_background {
            self.model.screen.window.asked(now());
            self.screen.ask_background()?;
        }
        // Parsed once; preloaded because the first row needs it.
        drop(tokio::task::spawn_blocking(|| {
            tool::definition("");
        }));
        self.keys = Some(Keys::start()?);
        self.effects.watch();
        for effect in router::start(&mut self.model) {
            self.effects.perform(effect);
        }
        let mut burst = Vec::with_capacity(BURST);
        loop {
            signals.lend(self.lent);
            let tick_at = self.next_tick();
            let apart = if self.keyed { self.key_frame } else { self.frame };
            let woken = tokio::select! {
                key = next_key(&mut self.keys) => Woken::Key(key),
                _ = self.msgs.recv_many(&mut burst, BURST) => Woken::Msgs,
                signal = signals.next() => match signal {
                    Signalled::Continue => Woken::Continued,
                    Signalled::Resized => Woken::Resized,
                    Signalled::End(by) => Woken::End(by),
                },
                () = shutdown.cancelled() => Woken::End(LeftBy::Signal),
                () = stumbled() => Woken::Stumbled,
                () = sleep_until(tick_at) => Woken::Second,
                () = next_frame(self.model.wants_frame() && !self.lent, self.frames, apart) => Woken::Frame,
            };
            let end = self.woke(woken, &mut burst)?;
            if let Some(by) = end {
                return Ok(by);
            }
        }
    }

    fn woke(&mut self, woken: Woken, burst: &mut Vec<Msg>) -> anyhow::Result<Option<LeftBy>> {
        // Keys come before what happened later, because a confirmation must know of keys that followed.
        if !matches!(woken, Woken::Key(_) | Woken::End(_) | Woken::Continued)
            && let Some(by) = self.take_keys()?
        {
            return Ok(Some(by));
        }
        Ok(match woken {
            Woken::Key(None) => Some(LeftBy::Hangup),
            Woken::Key(Some((at, heard))) => match meant(heard) {
                Some(what) => self.key(Msg { at, what })?,
                None => None,
            },
            Woken::Msgs => self.take_all(burst)?,
            Woken::Frame => self.frame()?,
            // A terminal may vanish without notice.
            Woken::Second if !is_there() => Some(LeftBy::Hangup),
            Woken::Second => {
                self.ticked = Instant::now();
                self.take(What::Tick)?
            }
            Woken::Stumbled => self.take(What::Stumbled)?,
            Woken::Continued => self.resume()?,
            Woken::Resized if self.lent => None,
            Woken::Resized => {
                let size = self.screen.size()?;
                self.take(What::Resize(size.width, size.height))?
            }
            Woken::End(by) => Some(by),
        })
    }

    /// Returns the next tick: a second after the last one, or when time next changes something.
    fn next_tick(&self) -> Instant {
        let quiet = if self.lent { None } else { router::quiet_until(&self.model) };
        let rest = quiet.map_or(SECOND, |until| {
            let left = u64::try_from(until.since(now())).unwrap_or_default();
            (Instant::now() + Duration::from_millis(left)).saturating_duration_since(self.ticked)
        });
        self.ticked + rest.max(SECOND)
    }

    fn take_keys(&mut self) -> anyhow::Result<Option<LeftBy>> {
        for _ in 0..BURST {
            let Some((at, heard)) = self.keys.as_mut().and_then(Keys::waiting) else { break };
            if let Some(what) = meant(heard)
                && let Some(by) = self.key(Msg { at, what })?
            {
                return Ok(Some(by));
            }
        }
        Ok(None)
    }

    fn key(&mut self, msg: Msg) -> anyhow::Result<Option<LeftBy>> {
        self.keyed |= matches!(msg.what, What::Key(_) | What::Escaped(_));
        self.update(msg)
    }

    fn take_all(&mut self, burst: &mut Vec<Msg>) -> anyhow::Result<Option<LeftBy>> {
        for msg in burst.drain(..) {
            if let Some(by) = self.update(msg)? {
                return Ok(Some(by));
            }
        }
        Ok(None)
    }

    fn take(&mut self, what: What) -> anyhow::Result<Option<LeftBy>> {
        self.update(Msg { at: now(), what })
    }

    fn update(&mut self, msg: Msg) -> anyhow::Result<Option<LeftBy>> {
        // The terminal is taken back before drawing.
        if matches!(msg.what, What::Edited { .. })
            && std::mem::take(&mut self.lent)
            && let Some(by) = self.resume()?
        {
            return Ok(Some(by));
        }
        for effect in router::update(&mut self.model, msg) {
            match effect {
                Effect::Quit => return Ok(Some(LeftBy::Reviewer)),
                Effect::Repaint => self.repaint()?,
                Effect::Mouse(on) => self.screen.mouse(on)?,
                Effect::CopyByTerminal(clip) => {
                    self.screen.write(&self.host.copying(&clip.text))?;
                    let how = self.host.copies_by().to_owned();
                    if let Some(by) = self.take(What::Copied(clip, Ok(how)))? {
                        return Ok(Some(by));
                    }
                }
                Effect::Notify(text) => self.notify(&text)?,
                Effect::Ring => self.screen.write("\x07")?,
                Effect::Suspend => self.suspend()?,
                Effect::Editor { key, digest, text } => {
                    self.lend();
                    self.effects.edit(key, digest, text);
                }
                other => self.effects.perform(other),
            }
        }
        Ok(None)
    }

    /// Draws a frame. The model is updated first, so that the frame shows contents as seen.
    fn frame(&mut self) -> anyhow::Result<Option<LeftBy>> {
        let sheet = draw::sheet_lines(&self.model);
        let end = self.take(What::Drawn(sheet))?;
        Ok(if self.draw().is_err() { Some(LeftBy::Hangup) } else { end })
    }

    fn draw(&mut self) -> std::io::Result<()> {
        (self.model.screen.dirty, self.keyed) = (false, false);
        self.frames.rotate_left(1);
        self.frames[1] = Some(Instant::now());
        self.screen.draw(&self.model)
    }

    fn repaint(&mut self) -> std::io::Result<()> {
        // Lets a test check that a panic gives the terminal back. Debug builds only.
        #[cfg(debug_assertions)]
        assert!(std::env::var_os("PLACET_TEST_PANIC").is_none(), "PLACET_TEST_PANIC");
        self.screen.repaint()
    }

    fn notify(&mut self, text: &str) -> std::io::Result<()> {
        if let Notify::Command(argv) = &self.notify {
            Effects::tell_command(argv.clone(), text.to_owned());
        }
        self.screen.write(&self.host.notification(&self.notify, text))
    }

    fn lend(&mut self) {
        if let Some(keys) = self.keys.take() {
            keys.stop();
        }
        self.screen.lend();
        self.lent = true;
    }

    fn suspend(&mut self) -> anyhow::Result<()> {
        if !has_shell() {
            self.model.warn(words::NO_SHELL);
            return Ok(());
        }
        if let Some(keys) = self.keys.take() {
            keys.stop();
        }
        give_back();
        let stopped = stop_process();
        self.resume()?;
        if stopped.is_err() {
            self.model.warn(words::CANNOT_SUSPEND);
        }
        Ok(())
    }

    fn resume(&mut self) -> anyhow::Result<Option<LeftBy>> {
        // SIGCONT is also sent when a terminal hangs up.
        if !is_there() {
            return Ok(Some(LeftBy::Hangup));
        }
        if let Some(keys) = self.keys.take() {
            keys.stop();
        }
        self.screen.resume().context(words::TERMINAL_NOT_TAKEN_AGAIN)?;
        self.keys = Some(Keys::start()?);
        let size = self.screen.size()?;
        self.take(What::Resize(size.width, size.height))
    }

    /// Stops reading keys, which now belong to the shell, and ends.
    async fn wind_up(&mut self) -> bool {
        self.keys = None;
        shutdown::wind_up(&mut self.model, &self.effects, &mut self.msgs).await
    }
}

async fn next_key(keys: &mut Option<Keys>) -> Option<(Timestamp, TerminalInput)> {
    match keys {
        Some(keys) => keys.next().await,
        None => std::future::pending().await,
    }
}

/// Waits for the next frame. Two frames may follow each other at once, so that a key and its result are drawn without
/// delay; a third one waits.
async fn next_frame(dirty: bool, frames: [Option<Instant>; 2], apart: Duration) {
    match frames {
        _ if !dirty => std::future::pending().await,
        [Some(before_last), Some(last)] => sleep_until((before_last + apart * 2).min(last + apart)).await,
        _ => {}
    }
}

fn meant(heard: TerminalInput) -> Option<What> {
    let event = match heard {
        TerminalInput::Event(event) => event,
        TerminalInput::Escaped(key) => return Some(What::Escaped(key)),
        TerminalInput::Background(colour) => return Some(What::Background(colour)),
    };
    match event {
        Event::Key(key) => Some(What::Key(key)),
        Event::Paste(text) => Some(What::Paste(text)),
        Event::Resize(width, height) => Some(What::Resize(width, height)),
        Event::FocusGained => Some(What::Focus(true)),
        Event::FocusLost => Some(What::Focus(false)),
        // Pointer motion and button releases are ignored.
        Event::Mouse(event) if matches!(event.kind, MouseEventKind::Moved | MouseEventKind::Up(_)) => None,
        Event::Mouse(event) => Some(What::Mouse(event)),
    }
}
