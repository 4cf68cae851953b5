//! Runs other programs: clipboard, browser, the reviewer's command; and writes exported reports.

use crate::tui::app::words;
use std::io;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::private;
use crate::program;
use crate::program::How;
pub(crate) use crate::program::Late;

// Other programs run off the screen's thread, without the terminal, and with a time limit.

const LIMIT: Duration = Duration::from_secs(2);

/// Runs a program with `input` on its standard input and drops its output. Fails if it cannot be run, fails, or takes
/// longer than two seconds.
pub(crate) async fn run(argv: &[String], input: &[u8], late: Late) -> io::Result<()> {
    program::run(argv, input, How { limit: LIMIT, late, bare: false }).await
}

/// Copies with the program for this display and returns its name. The error says why it failed; `None` if there is
/// none.
pub(crate) async fn copy(text: &str) -> Result<String, Option<String>> {
    let tool = clipboard(variable, is_there).ok_or(None)?;
    run(&tool, text.as_bytes(), Late::Killed).await.map_err(|error| Some(error.to_string()))?;
    Ok(tool.join(" "))
}

/// Opens a link with the system's opener. The error is a sentence.
pub(crate) async fn open(link: String) -> Result<(), String> {
    let mut opener = opener(variable, is_there).ok_or_else(|| words::NO_DISPLAY.to_owned())?;
    opener.push(link);
    match run(&opener, b"", Late::Left).await {
        // Some openers run until the browser is closed.
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

/// Returns the program for the local display, or else tmux, which passes the text to the outer terminal.
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

/// Returns the opener; `None` without a display, where it could start a browser in this terminal.
fn opener(variable: impl Fn(&str) -> Option<String>, there: impl Fn(&str) -> bool) -> Option<Vec<String>> {
    let set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    let name = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let display = cfg!(target_os = "macos") || set("WAYLAND_DISPLAY") || set("DISPLAY");
    (display && there(name)).then(|| vec![name.to_owned()])
}

// Exported files: new ones that only their owner can read.

/// Writes `report-YYYYMMDD-HHMMSS.json` in local time. Never overwrites a file. The error is a sentence.
pub(crate) fn write(folder: &Path, text: &str) -> Result<PathBuf, String> {
    new_file(folder, &format!("report-{}.json", moment()), text)
}

/// Writes `NAME-YYYYMMDD-HHMMSS.EXTENSION` for each extension.
pub(crate) fn write_all(
    folder: &Path,
    name: &str,
    files: &[(&'static str, String)],
) -> Result<Vec<PathBuf>, String> {
    let moment = moment();
    let write =
        |(extension, text): &(&str, String)| new_file(folder, &format!("{name}-{moment}.{extension}"), text);
    files.iter().map(write).collect()
}

fn moment() -> String {
    jiff::Zoned::now().strftime("%Y%m%d-%H%M%S").to_string()
}

fn new_file(folder: &Path, name: &str, text: &str) -> Result<PathBuf, String> {
    let path = folder.join(name);
    let written = private::folder(folder)
        .and_then(|()| private::options().write(true).create_new(true).open(&path))
        .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()));
    written.map(|()| path.clone()).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(not(target_os = "macos"))]
    #[test]
    fn display_selects_the_clipboard_program() {
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

    #[cfg(unix)]
    #[test]
    fn exported_report_is_private_to_its_owner() {
        use std::os::unix::fs::PermissionsExt as _;
        let root = tempfile::tempdir().unwrap();

        let path = write(&root.path().join("state"), "{}\n").unwrap();

        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{}\n");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
