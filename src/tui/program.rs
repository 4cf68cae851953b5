//! Other programs: a clipboard, a browser, the reviewer's own. Never on the screen's thread, never with the terminal in their
//! hands, and never for long.

use std::io;
use std::time::Duration;

pub(super) use crate::program::Late;
use crate::program::{self, How};

/// Whoever takes longer hangs.
const LIMIT: Duration = Duration::from_secs(2);

/// Runs a program with `input` on its standard input; what it writes is thrown away. Fails when it cannot be run, fails, or
/// takes longer than two seconds.
pub(super) async fn run(argv: &[String], input: &[u8], late: Late) -> io::Result<()> {
    program::run(argv, input, How { limit: LIMIT, late, bare: false }).await
}

/// Copies with the program for this display; how it is called. The error is why that program failed, `None` where there is none.
pub(super) async fn copy(text: &str) -> Result<String, Option<String>> {
    let tool = clipboard(variable, is_there).ok_or(None)?;
    run(&tool, text.as_bytes(), Late::Killed).await.map_err(|error| Some(error.to_string()))?;
    Ok(tool.join(" "))
}

/// Opens a link with the system's own opener. Fails with a sentence.
pub(super) async fn open(link: String) -> Result<(), String> {
    let mut opener = opener(variable, is_there)
        .ok_or_else(|| "there is no display here to open a browser on".to_owned())?;
    opener.push(link);
    match run(&opener, b"", Late::Left).await {
        // Some openers stay until the browser is closed.
        Err(error) if error.kind() == io::ErrorKind::TimedOut => Ok(()),
        ended => ended.map_err(|error| error.to_string()),
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// A local program where there is a display, else tmux, which hands on to the terminal around it.
fn clipboard(variable: impl Fn(&str) -> Option<String>, there: impl Fn(&str) -> bool) -> Option<Vec<String>> {
    let set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    let mac = cfg!(target_os = "macos") && !set("SSH_CONNECTION");
    let all: [(bool, &[&str]); 5] = [
        (mac, &["pbcopy"]),
        (set("WAYLAND_DISPLAY"), &["wl-copy"]),
        (set("DISPLAY"), &["xclip", "-selection", "clipboard"]),
        (set("DISPLAY"), &["xsel", "--clipboard", "--input"]),
        (set("TMUX"), &["tmux", "load-buffer", "-w", "-"]),
    ];
    let fits = |(here, argv): &&(bool, &[&str])| *here && argv.first().is_some_and(|name| there(name));
    all.iter().find(fits).map(|(_, argv)| argv.iter().map(|&part| part.to_owned()).collect())
}

/// Without a display an opener would start a browser in this very terminal.
fn opener(variable: impl Fn(&str) -> Option<String>, there: impl Fn(&str) -> bool) -> Option<Vec<String>> {
    let set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    let name = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let display = cfg!(target_os = "macos") || set("WAYLAND_DISPLAY") || set("DISPLAY");
    (display && there(name)).then(|| vec![name.to_owned()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(not(target_os = "macos"))]
    #[test]
    fn the_display_chooses_the_clipboard() {
        let tool = |variables: &[&str], programs: &[&str]| {
            let variable = |name: &str| variables.contains(&name).then(|| ":0".to_owned());
            clipboard(variable, |name| programs.contains(&name)).map(|argv| argv.join(" "))
        };
        let all = ["wl-copy", "xclip", "xsel", "tmux"];

        assert_eq!(tool(&["WAYLAND_DISPLAY", "DISPLAY"], &all).as_deref(), Some("wl-copy"));
        assert_eq!(tool(&["DISPLAY", "TMUX"], &all).as_deref(), Some("xclip -selection clipboard"));
        assert_eq!(tool(&["DISPLAY"], &["xsel"]).as_deref(), Some("xsel --clipboard --input"));
        assert_eq!(tool(&["TMUX"], &all).as_deref(), Some("tmux load-buffer -w -"));
        assert_eq!(tool(&[], &all), None, "over ssh: the terminal copies");
        assert_eq!(opener(|_| None, |_| true), None, "no browser inside this terminal");
    }
}
