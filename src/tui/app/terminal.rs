//! Owns the terminal: takes it and gives it back in all cases.

use std::io;
use std::io::{IsTerminal as _, Stdout, Write as _};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use crossterm::cursor::Show;
use crossterm::event::{
    DisableBracketedPaste, DisableFocusChange, EnableBracketedPaste, EnableFocusChange,
    KeyboardEnhancementFlags, PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags,
};
use crossterm::style::Print;
use crossterm::terminal::{
    BeginSynchronizedUpdate, DisableLineWrap, EnableLineWrap, EndSynchronizedUpdate, EnterAlternateScreen,
    LeaveAlternateScreen, SetTitle, disable_raw_mode, enable_raw_mode,
};
use crossterm::{execute, queue};
use ratatui::Terminal;
use ratatui::layout::{Rect, Size};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use tokio::sync::Notify;

use crate::fault;
use crate::program;
use crate::tui::app::words;
use crate::tui::chrome;
use crate::tui::core::draw;
use crate::tui::core::model::Model;
use crate::tui::dashboard::state::StartView;

use super::environment;
use super::environment::NoTerminal;
use super::width_safe_backend;
use super::width_safe_backend::{UnevenRow, WidthSafeBackend};

/// The terminal is taken. Static because the panic hook needs it.
static TAKEN: AtomicBool = AtomicBool::new(false);
/// Features that were turned on and must be turned off: the kitty keyboard protocol and the title.
static KITTY: AtomicBool = AtomicBool::new(false);
static TITLED: AtomicBool = AtomicBool::new(false);
/// A panic outside the screen's thread, not reported yet.
static STUMBLED: Notify = Notify::const_new();

/// Reports of buttons and wheel with unlimited coordinates; no motion, which is not used.
const MOUSE_ON: &str = "\x1b[?1000h\x1b[?1006h";
const MOUSE_OFF: &str = "\x1b[?1006l\x1b[?1000l";
/// Selects ASCII instead of a line-drawing character set.
const TEXT_CHARACTERS: &str = "\x1b(B\x0f";
/// Resets modes that another program may leave on: modifyOtherKeys, colours, insert and origin mode, margins,
/// application keys, mouse motion and mouse encodings.
const DEFAULT_MODES: &str = "\x1b[>4m\x1b[0m\x1b[4l\x1b[?6l\x1b[r\x1b[?1l\x1b>\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[?1015l\x1b[?1016l";
/// Answered with `ESC ] 11;rgb:...`, which the decoder separates from the keys.
const WHICH_BACKGROUND: &str = "\x1b]11;?\x1b\\";
/// Distinguishes keys that legacy terminals report alike, and reports the shifted character; text stays text.
const KITTY_KEYS: KeyboardEnhancementFlags = KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES
    .union(KeyboardEnhancementFlags::REPORT_ALTERNATE_KEYS);

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Modes {
    pub mouse: bool,
    pub kitty_keys: bool,
    pub title: bool,
}

/// Raw mode and the alternate screen, restored on drop.
#[derive(Debug)]
pub(crate) struct Screen {
    terminal: Terminal<WidthSafeBackend<Stdout>>,
    modes: Modes,
    title: String,
    /// The line settings when the terminal was lent.
    lent: Option<Termios>,
    /// Rows of the last frame with characters of uncertain width.
    uneven: Vec<UnevenRow>,
}

impl Screen {
    pub(crate) fn take(modes: Modes) -> anyhow::Result<Self> {
        check(StartView::Inbox)?;
        restore_on_panic();
        enter(modes).context(words::TERMINAL_NOT_TAKEN)?;
        let terminal = Terminal::new(WidthSafeBackend::new(io::stdout())).inspect_err(|_| give_back())?;
        Ok(Self { terminal, modes, title: String::new(), lent: None, uneven: Vec::new() })
    }

    pub(crate) fn size(&self) -> io::Result<Size> {
        self.terminal.size()
    }

    pub(crate) fn draw(&mut self, model: &Model) -> io::Result<()> {
        let title = chrome::words::title(model);
        queue!(self.terminal.backend_mut(), BeginSynchronizedUpdate)?;
        if self.modes.title && title != self.title {
            TITLED.store(true, Ordering::SeqCst);
            queue!(self.terminal.backend_mut(), SetTitle(&title))?;
            self.title = title;
        }
        let drawn = self.terminal.draw(|frame| {
            if let Some(cursor) = draw::view(model, frame.area(), frame.buffer_mut()) {
                frame.set_cursor_position(cursor);
            }
            self.uneven = width_safe_backend::redraw_uneven(frame.buffer_mut(), &self.uneven);
        });
        let drawn = drawn.map(drop);
        execute!(self.terminal.backend_mut(), EndSynchronizedUpdate)?;
        drawn
    }

    /// Redraws every cell with the next frame. `Terminal::clear` would ask for the cursor's position and wait two
    /// seconds for an answer that may not come.
    pub(crate) fn repaint(&mut self) -> io::Result<()> {
        let size = self.size()?;
        self.uneven.clear();
        self.terminal.resize(Rect::new(0, 0, size.width, size.height))
    }

    /// Gives the terminal to a program that may change its modes.
    pub(crate) fn lend(&mut self) {
        give_back();
        self.lent = tcgetattr(io::stdin()).ok();
    }

    /// Takes the terminal again after [`Screen::lend`], [`give_back`] or an external stop.
    pub(crate) fn resume(&mut self) -> io::Result<()> {
        if let Some(lines) = self.lent.take() {
            tcsetattr(io::stdin(), OptionalActions::Now, &lines)?;
        }
        enter(self.modes)?;
        self.terminal.backend_mut().forget();
        self.title.clear();
        self.repaint()
    }

    pub(crate) fn mouse(&mut self, on: bool) -> io::Result<()> {
        self.modes.mouse = on;
        self.write(if on { MOUSE_ON } else { MOUSE_OFF })
    }

    /// Asks for the background colour. The reply comes among the keys, or never.
    pub(crate) fn ask_background(&mut self) -> io::Result<()> {
        self.write(WHICH_BACKGROUND)
    }

    /// Writes a sequence that draws nothing, unless another program has the terminal.
    pub(crate) fn write(&mut self, sequence: &str) -> io::Result<()> {
        if !TAKEN.load(Ordering::SeqCst) {
            return Ok(());
        }
        execute!(self.terminal.backend_mut(), Print(sequence))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// Time in which the opener of a terminal sets its size. `docker exec` does so after the start.
const SIZED: Duration = Duration::from_millis(500);
const GLANCE: Duration = Duration::from_millis(20);

/// Checks that standard input and output are terminals of a known size.
#[expect(clippy::disallowed_methods, reason = "nothing else runs before the first frame")]
pub(crate) fn check(opens: StartView) -> Result<(), NoTerminal> {
    match opens {
        _ if io::stdin().is_terminal() && io::stdout().is_terminal() => {
            let end = Instant::now() + SIZED;
            while environment::size().is_none() && Instant::now() < end {
                std::thread::sleep(GLANCE);
            }
            environment::size().map(drop).ok_or(NoTerminal::Size)
        }
        StartView::Inbox => Err(NoTerminal::Inbox),
        StartView::Watch => Err(NoTerminal::Watch),
    }
}

/// Returns true if the terminal still exists. After a lost connection, reads spin and signals may not arrive.
pub(crate) fn is_there() -> bool {
    io::stdin().is_terminal()
}

/// Waits until a task has panicked; the log has its message.
pub(crate) async fn stumbled() {
    STUMBLED.notified().await;
}

/// Returns true if a shell with job control started this program. Otherwise a stopped program would stay stopped.
pub(crate) fn has_shell() -> bool {
    rustix::process::getsid(None).is_ok_and(|session| session != rustix::process::getpgrp())
}

/// Stops the process group like the terminal's Ctrl-Z. Returns when it continues.
pub(crate) fn stop_process() -> io::Result<()> {
    let mut command = std::process::Command::new("sh");
    program::without_secrets(&mut command);
    command.args(["-c", "kill -s TSTP 0"]).status().map(drop)
}

/// Sets every mode again, because a shell may have changed any of them while the process was stopped.
fn enter(modes: Modes) -> io::Result<()> {
    TAKEN.store(true, Ordering::SeqCst);
    // First, because in the background this stops the process before it writes. crossterm remembers raw mode and would
    // not set it twice.
    disable_raw_mode()?;
    enable_raw_mode()?;
    let mut out = io::stdout();
    // Entering the alternate screen saves the character set. Without line wrap, text that the terminal draws wider than
    // expected ends at the edge.
    queue!(out, Print(TEXT_CHARACTERS), EnterAlternateScreen, Print(DEFAULT_MODES), DisableLineWrap)?;
    queue!(
        out,
        EnableFocusChange,
        EnableBracketedPaste,
        Print(if modes.mouse { MOUSE_ON } else { MOUSE_OFF })
    )?;
    // On the alternate screen, because terminals keep the protocol's state per screen.
    if modes.kitty_keys {
        if KITTY.swap(true, Ordering::SeqCst) {
            queue!(out, PopKeyboardEnhancementFlags)?;
        }
        queue!(out, PushKeyboardEnhancementFlags(KITTY_KEYS))?;
    }
    out.flush()
}

/// Gives the terminal back, turning features off in reverse order. Idempotent. Errors are ignored, because the terminal
/// is gone then.
pub(crate) fn give_back() {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut out = io::stdout();
    if KITTY.swap(false, Ordering::SeqCst) {
        let _ = queue!(out, PopKeyboardEnhancementFlags);
    }
    let _ = queue!(
        out,
        Print(MOUSE_OFF),
        DisableBracketedPaste,
        DisableFocusChange,
        EndSynchronizedUpdate,
        EnableLineWrap,
        Show
    );
    // The previous title cannot be read; after an empty one, terminals and shells set their own.
    if TITLED.swap(false, Ordering::SeqCst) {
        let _ = queue!(out, SetTitle(""));
    }
    let _ = execute!(out, LeaveAlternateScreen);
    fault::point("teardown.middle");
    let _ = disable_raw_mode();
    let _ = out.flush();
}

/// Installs a panic hook. A panic of the screen's thread gives the terminal back before its message; a panic in another
/// task ends only that task and is logged.
fn restore_on_panic() {
    static HOOK: Once = Once::new();
    let screen = std::thread::current().id();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if std::thread::current().id() == screen || !TAKEN.load(Ordering::SeqCst) {
                give_back();
                before(info);
            } else {
                tracing::error!(%info, "a task panicked");
                STUMBLED.notify_one();
            }
        }));
    });
}
