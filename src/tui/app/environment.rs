//! Derives the terminal's features from the environment. Asking the terminal instead would cost time on a slow line,
//! and its replies arrive among the keys.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use ratatui::layout::Size;

use crate::config::{Keyboard, Notify};
use crate::domain::Check;
use crate::tui::app::words;
use crate::tui::chrome::theme::Depth;

/// Output or input is not a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoTerminal {
    #[error(
        "the inbox needs a terminal; in scripts and pipes use `placet list --json` and `placet decide`, or `placet --plain` for its words"
    )]
    Inbox,
    #[error(
        "the watch view needs a terminal; in scripts and pipes use `placet watch --once`, `--json` or `--line`"
    )]
    Watch,
    #[error("{}; {}", words::NO_SIZE, words::SET_SIZE)]
    Size,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Host {
    pub tmux: bool,
    /// Supports the kitty keyboard protocol, or ignores its sequences.
    kitty_keys: bool,
    osc9: bool,
}

/// Terminals with the kitty keyboard protocol, by a prefix of TERM and by TERM_PROGRAM.
const KITTY_TERMS: [&str; 6] = ["xterm-kitty", "xterm-ghostty", "foot", "alacritty", "rio", "contour"];
const KITTY_PROGRAMS: [&str; 4] = ["ghostty", "kitty", "rio", "WezTerm"];
const OSC9_TERMS: [&str; 3] = ["xterm-kitty", "xterm-ghostty", "foot"];
const OSC9_PROGRAMS: [&str; 4] = ["ghostty", "kitty", "WezTerm", "iTerm.app"];

pub(crate) fn size() -> Option<Size> {
    known_size(crossterm::terminal::size().ok(), |name| std::env::var(name).ok())
}

/// Returns the measured size, or else that of COLUMNS and LINES. `None` if there is neither: with a guessed size, lines
/// beyond the screen would count as read.
fn known_size(measured: Option<(u16, u16)>, variable: impl Fn(&str) -> Option<String>) -> Option<Size> {
    let number = |name: &str| variable(name)?.trim().parse().ok();
    let usable = |&(columns, rows): &(u16, u16)| columns > 0 && rows > 0;
    let told = || Some((number("COLUMNS")?, number("LINES")?));
    measured.filter(usable).or_else(|| told().filter(usable)).map(Size::from)
}

impl Host {
    pub(crate) fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        let (term, program) = (variable("TERM").unwrap_or_default(), variable("TERM_PROGRAM"));
        let is = |terms: &[&str], programs: &[&str]| {
            terms.iter().any(|known| term.starts_with(known))
                || program.as_deref().is_some_and(|program| programs.contains(&program))
        };
        let tmux = variable("TMUX").is_some_and(|it| !it.is_empty());
        Self {
            tmux,
            kitty_keys: !tmux && is(&KITTY_TERMS, &KITTY_PROGRAMS),
            osc9: is(&OSC9_TERMS, &OSC9_PROGRAMS),
        }
    }

    pub(crate) fn uses_kitty_keys(self, keyboard: Keyboard) -> bool {
        match keyboard {
            Keyboard::Auto => self.kitty_keys,
            Keyboard::Kitty => true,
            Keyboard::Legacy => false,
        }
    }

    /// Returns the sequence that shows `text`, which contains no foreign text, as a notification. Inside tmux the outer
    /// terminal is unknown, so the bell, which tmux passes on, rings, too.
    pub(crate) fn notification(self, how: &Notify, text: &str) -> String {
        let sequence = match how {
            Notify::Auto if self.osc9 || self.tmux => format!("\x1b]9;{text}\x07"),
            Notify::Osc9 => format!("\x1b]9;{text}\x07"),
            Notify::Osc777 => format!("\x1b]777;notify;placet;{text}\x07"),
            Notify::Osc99 => format!("\x1b]99;;{text}\x1b\\"),
            Notify::Auto | Notify::Bell => return "\x07".to_owned(),
            Notify::Command(_) | Notify::Off => return String::new(),
        };
        if self.tmux { format!("{}\x07", through_tmux(&sequence)) } else { sequence }
    }
}

impl Host {
    pub(crate) fn copying(self, text: &str) -> String {
        let sequence = format!("\x1b]52;c;{}\x07", BASE64_STANDARD.encode(text));
        if self.tmux { through_tmux(&sequence) } else { sequence }
    }

    pub(crate) const fn copies_by(self) -> &'static str {
        if self.tmux { words::OSC52_TMUX } else { words::OSC52 }
    }
}

/// Wraps a sequence for the terminal around tmux; tmux unwraps it if `allow-passthrough` is on.
pub(crate) fn through_tmux(sequence: &str) -> String {
    format!("\x1bPtmux;{}\x1b\\", sequence.replace('\x1b', "\x1b\x1b"))
}

// The terminal checks of `placet doctor`, based on the same variables.

/// `screen`: whether the inbox could draw on this output.
pub(crate) fn checks(
    keyboard: Keyboard,
    variable: impl Fn(&str) -> Option<String>,
    screen: Result<(), NoTerminal>,
) -> Vec<Check> {
    const WHAT: &str = "terminal";
    let host = Host::of(&variable);
    let term = variable("TERM").unwrap_or_default();
    let colours = match Depth::of(&variable) {
        Depth::None => words::NO_COLOURS,
        Depth::Names => "16 colours",
        Depth::Indexed => "256 colours",
        Depth::Full => words::ALL_COLOURS,
    };
    let keys = if host.uses_kitty_keys(keyboard) { words::KITTY_KEYS } else { words::PLAIN_KEYS };
    let found = format!("TERM={term:?}, {colours}, {keys}");
    let first = match term.as_str() {
        "" | "dumb" => Check::warn(WHAT, words::dumb_terminal(&term), words::SET_TERM),
        _ => match screen {
            Ok(()) => Check::good(WHAT, found),
            Err(NoTerminal::Size) => Check::warn(WHAT, words::NO_SIZE, words::SET_SIZE),
            Err(_) => Check::good(WHAT, words::goes_elsewhere(&found)),
        },
    };
    let tmux = host.tmux.then(|| Check::good("tmux", words::TMUX_SETTINGS));
    [first].into_iter().chain(tmux).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(variables: &[(&str, &str)]) -> Host {
        Host::of(|name| {
            variables.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn notifications_go_the_way_the_terminal_knows() {
        let (kitty, plain) = (host(&[("TERM", "xterm-kitty")]), host(&[("TERM", "xterm-256color")]));
        let tmux = host(&[("TERM", "tmux-256color"), ("TMUX", "/tmp/tmux-0/default,1,0")]);

        assert_eq!(kitty.notification(&Notify::Auto, "placet: 3"), "\x1b]9;placet: 3\x07");
        assert_eq!(plain.notification(&Notify::Auto, "placet: 3"), "\x07");
        assert_eq!(
            tmux.notification(&Notify::Auto, "placet: 3"),
            "\x1bPtmux;\x1b\x1b]9;placet: 3\x07\x1b\\\x07",
            "wrapped, and the bell"
        );
        assert_eq!(tmux.notification(&Notify::Osc99, "x"), "\x1bPtmux;\x1b\x1b]99;;x\x1b\x1b\\\x1b\\\x07");
        assert_eq!(plain.notification(&Notify::Osc777, "x"), "\x1b]777;notify;placet;x\x07");
        assert_eq!(plain.notification(&Notify::Off, "x"), "");
    }

    #[test]
    fn copying_is_wrapped_inside_tmux() {
        assert_eq!(host(&[]).copying("id-1"), "\x1b]52;c;aWQtMQ==\x07");
        let tmux = host(&[("TMUX", "x")]);
        assert_eq!(tmux.copying("id-1"), "\x1bPtmux;\x1b\x1b]52;c;aWQtMQ==\x07\x1b\\");
        assert!(tmux.copies_by().contains("tmux"));
    }

    #[test]
    fn kitty_protocol_is_used_for_known_terminals() {
        let uses = |variables: &[(&str, &str)], keyboard| host(variables).uses_kitty_keys(keyboard);

        assert!(uses(&[("TERM", "xterm-kitty")], Keyboard::Auto));
        assert!(uses(&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "WezTerm")], Keyboard::Auto));
        assert!(!uses(&[("TERM", "xterm-256color")], Keyboard::Auto));
        assert!(!uses(&[("TERM", "xterm-kitty"), ("TMUX", "x")], Keyboard::Auto));
        assert!(uses(&[("TERM", "xterm")], Keyboard::Kitty));
        assert!(!uses(&[("TERM", "xterm-kitty")], Keyboard::Legacy));
    }

    #[test]
    fn variables_give_the_size_only_where_the_terminal_has_none() {
        let size = |measured, variables: &[(&str, &str)]| {
            known_size(measured, |name| {
                variables.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned())
            })
        };
        let both = [("COLUMNS", "100"), ("LINES", "30")];

        assert_eq!(size(Some((80, 24)), &both), Some(Size::new(80, 24)));
        for unsized_terminal in [Some((0, 0)), Some((80, 0)), Some((0, 24)), None] {
            assert_eq!(size(unsized_terminal, &both), Some(Size::new(100, 30)));
            assert_eq!(size(unsized_terminal, &both[..1]), None, "half a size");
            assert_eq!(size(unsized_terminal, &both[1..]), None, "half a size");
            for (columns, lines) in [("0", "30"), ("100", "0"), ("", ""), ("-1", "30"), ("wide", "30")] {
                assert_eq!(size(unsized_terminal, &[("COLUMNS", columns), ("LINES", lines)]), None);
            }
        }
    }

    fn told(variables: &[(&str, &str)], screen: Result<(), NoTerminal>) -> Vec<String> {
        let of = |name: &str| {
            variables.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned())
        };
        checks(Keyboard::Auto, of, screen).into_iter().map(|check| check.found).collect()
    }

    #[test]
    fn doctor_describes_the_terminal_like_the_screen_treats_it() {
        assert_eq!(
            told(&[("TERM", "xterm-kitty"), ("COLORTERM", "truecolor")], Ok(())),
            [r#"TERM="xterm-kitty", all colours, keys by the kitty protocol"#]
        );
        let tmux =
            told(&[("TERM", "tmux-256color"), ("TMUX", "/tmp/1"), ("NO_COLOR", "1")], Err(NoTerminal::Inbox));
        assert_eq!(
            tmux[0],
            r#"TERM="tmux-256color", no colours (NO_COLOR), standard keys; output is not a terminal"#
        );
        assert!(tmux[1].contains("allow-passthrough"), "{tmux:?}");
        assert_eq!(told(&[], Ok(())), [r#"TERM="": the inbox opens in plain mode"#]);
        assert_eq!(told(&[("TERM", "xterm")], Err(NoTerminal::Size)), [words::NO_SIZE]);
    }
}
