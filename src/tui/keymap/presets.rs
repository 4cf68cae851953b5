//! Presets: what `[ui] keymap` changes of the command table, and nothing else. `[keys]` stands above them.

use crate::config::Preset;
use crate::tui::command::Command;

/// A command and all its keys.
type Row = (Command, &'static [&'static str]);

/// vim's scrolling, folds and redo. `z` begins the folds there, so that zooming is `z z`.
#[rustfmt::skip]
const VIM: &[Row] = &[
    (Command::ScrollDown, &["J", "Ctrl-E"]),
    (Command::ScrollUp, &["K", "Ctrl-Y"]),
    (Command::PageDown, &["PageDown", "Ctrl-F"]),
    (Command::PageUp, &["PageUp", "Ctrl-B"]),
    (Command::Redo, &["Ctrl-R", "U"]),
    (Command::Zoom, &["z z"]),
    (Command::Unfold, &["l", "Right", "z o"]),
    (Command::Fold, &["h", "Left", "z c"]),
    (Command::UnfoldAll, &["=", "z R"]),
    (Command::FoldAll, &["-", "z M"]),
];

/// As mail and issue trackers on the web have it: `x` marks, `#` excludes, `z` undoes.
#[rustfmt::skip]
const WEB: &[Row] = &[
    (Command::Mark, &["x", "Space"]),
    (Command::Exclude, &["#"]),
    (Command::ExcludeBecause, &["!"]),
    (Command::Undo, &["z", "u"]),
    (Command::Zoom, &["Z"]),
];

pub(super) const fn rows(preset: Preset) -> &'static [Row] {
    match preset {
        Preset::Default => &[],
        Preset::Vim => VIM,
        Preset::Web => WEB,
    }
}
