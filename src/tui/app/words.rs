//! Texts about the terminal and other programs.

use std::fmt::Display;

pub(crate) const FAILED_INSIDE: &str = "failed inside placet; see the log";
pub(crate) const NO_LONGER_THERE: &str = "no longer knows this action";

pub(crate) const OSC52_TMUX: &str = "OSC 52 through tmux, if both allow it";
pub(crate) const OSC52: &str = "OSC 52, if the terminal allows it";
pub(crate) const NO_COLOURS: &str = "no colours (NO_COLOR)";
pub(crate) const ALL_COLOURS: &str = "all colours";
pub(crate) const KITTY_KEYS: &str = "keys by the kitty protocol";
pub(crate) const PLAIN_KEYS: &str = "standard keys";
pub(crate) const SET_TERM: &str = "set TERM to match this terminal, or use --plain";
pub(crate) const NO_SIZE: &str = "this terminal does not say how large it is";
pub(crate) const SET_SIZE: &str = "run `stty cols 80 rows 24`, export COLUMNS and LINES, or use --plain";
pub(crate) const TMUX_SETTINGS: &str =
    "copying and notifications need `set -g set-clipboard on` and `set -g allow-passthrough on` there";

pub(crate) const NO_EDITOR_FOUND: &str = "no editor found: set $VISUAL or $EDITOR";
pub(crate) const THERE_IS_NO_EDITOR: &str = "there is no editor";
pub(crate) const NO_FILE_MADE: &str = "cannot create a file for the editor";
pub(crate) const FILE_NOT_WRITTEN: &str = "cannot write the file for the editor";
pub(crate) const TEXT_NOT_READ: &str = "the edited text cannot be read";
pub(crate) const NOT_UTF8: &str = "the edited text is not UTF-8; nothing was changed";
pub(crate) const NO_DISPLAY: &str = "no display here to open a browser";

pub(crate) const NO_SHELL: &str = "No shell to return to: q quits";
pub(crate) const CANNOT_SUSPEND: &str = "cannot suspend";
pub(crate) const TERMINAL_NOT_TAKEN_AGAIN: &str = "cannot take the terminal again";

pub(crate) const NO_SIGNALS: &str = "cannot listen for signals";

pub(crate) const TERMINAL_NOT_TAKEN: &str = "cannot take the terminal";

sentences! {
    no_answer_for(seconds: u64) => "could not be read: no answer for {seconds} s";

    dumb_terminal(term: &str) => "TERM={term:?}: the inbox opens in plain mode";
    goes_elsewhere(found: &str) => "{found}; output is not a terminal";

    not_a_command(name: &str, line: &str, why: &str) => "${name} cannot be read as a command ({why}): {line}";
    not_set(name: &str) => "${name} is not set";
    editing_failed(what: &str, error: &impl Display) => "{what}: {error}; nothing was changed";
    editor_did_not_start(program: &str) => "the editor {program} did not start";
    returned_at_once(program: &str, file: &impl Display) => "{program} returned at once; add --wait? File kept: {file}";
    editor_ended(program: &str, ended: &impl Display) => "the editor {program} ended with {ended}; nothing was changed";
}
