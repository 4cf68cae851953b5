//! What doctor says of the terminal, by the same words of the environment that the screen goes by.

use super::host::Host;
use super::theme::Depth;
use crate::config::Keyboard;
use crate::domain::Check;

/// `is_terminal`: output goes to one, and is not read by a program.
pub(super) fn checks(
    keyboard: Keyboard,
    variable: impl Fn(&str) -> Option<String>,
    is_terminal: bool,
) -> Vec<Check> {
    const WHAT: &str = "terminal";
    let host = Host::of(&variable);
    let term = variable("TERM").unwrap_or_default();
    let colours = match Depth::of(&variable) {
        Depth::None => "no colours (NO_COLOR)",
        Depth::Names => "16 colours",
        Depth::Indexed => "256 colours",
        Depth::Full => "all colours",
    };
    let keys = if host.uses_kitty_keys(keyboard) {
        "keys by the kitty protocol"
    } else {
        "keys as every terminal reports them"
    };
    let found = format!("TERM={term:?}, {colours}, {keys}");
    let first = match term.as_str() {
        "" | "dumb" => Check::warn(
            WHAT,
            format!("TERM={term:?}: the inbox opens in typed words"),
            "set TERM to what this terminal is, or use --plain on purpose",
        ),
        _ if !is_terminal => Check::good(WHAT, format!("{found}; this output goes elsewhere")),
        _ => Check::good(WHAT, found),
    };
    let tmux = host.tmux.then(|| {
        Check::good(
            "tmux",
            "copying and notifications need `set -g set-clipboard on` and `set -g allow-passthrough on` there",
        )
    });
    [first].into_iter().chain(tmux).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(variables: &[(&str, &str)], is_terminal: bool) -> Vec<String> {
        let of = |name: &str| {
            variables.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned())
        };
        checks(Keyboard::Auto, of, is_terminal).into_iter().map(|check| check.found).collect()
    }

    #[test]
    fn the_terminal_is_told_as_the_screen_will_treat_it() {
        assert_eq!(
            told(&[("TERM", "xterm-kitty"), ("COLORTERM", "truecolor")], true),
            [r#"TERM="xterm-kitty", all colours, keys by the kitty protocol"#]
        );
        let tmux = told(&[("TERM", "tmux-256color"), ("TMUX", "/tmp/1"), ("NO_COLOR", "1")], false);
        assert_eq!(
            tmux[0],
            r#"TERM="tmux-256color", no colours (NO_COLOR), keys as every terminal reports them; this output goes elsewhere"#
        );
        assert!(tmux[1].contains("allow-passthrough"), "{tmux:?}");
        assert_eq!(told(&[], true), [r#"TERM="": the inbox opens in typed words"#]);
    }
}
