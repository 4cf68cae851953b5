//! Everything a key can ask for, once. This table feeds the keymap, the names in `[keys]`, the hint bar, the help overlay
//! and the README.

/// Something a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    Down,
    Up,
    Top,
    Bottom,
    HalfDown,
    HalfUp,
    Open,
    Fold,
    Unfold,
    FoldAll,
    UnfoldAll,
    NextUndecided,
    PreviousUndecided,
    Mark,
    Approve,
    ApproveRest,
    Exclude,
    ExcludeBecause,
    Settle,
    Edit,
    Clear,
    Undo,
    Redo,
    ReviewBatch,
    ReviewAll,
    LastReport,
    Reload,
    ScrollDown,
    ScrollUp,
    PageDown,
    PageUp,
    PreviewEnd,
    PreviousTab,
    NextTab,
    Diff,
    Zoom,
    SwitchFocus,
    FocusList,
    FocusPreview,
    Help,
    Repaint,
    Suspend,
    Back,
    Quit,
    Interrupt,
    Confirm,
    Accept,
    NextField,
    PreviousField,
    Landed,
    NotLanded,
    RunAgain,
}

/// Where a command can be given. A key may mean two things only in places that are never open together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// Everywhere, also in sheets and forms.
    Anywhere,
    /// The list and the preview.
    Inbox,
    List,
    Preview,
    Edit,
    Reason,
    Review,
    Report,
    Settle,
    Help,
    Quit,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    pub command: Command,
    /// The name in `[keys]`.
    pub name: &'static str,
    pub places: &'static [Place],
    pub keys: &'static [&'static str],
    /// One or two words for the hint bar; empty where it is not shown there.
    pub hint: &'static str,
    pub help: &'static str,
}

const fn spec(
    command: Command,
    name: &'static str,
    places: &'static [Place],
    keys: &'static [&'static str],
    hint: &'static str,
    help: &'static str,
) -> Spec {
    Spec { command, name, places, keys, hint, help }
}

/// Places where `Back` closes something.
const CLOSABLE: &[Place] = &[
    Place::Inbox,
    Place::Edit,
    Place::Reason,
    Place::Review,
    Place::Report,
    Place::Settle,
    Place::Help,
    Place::Quit,
];
/// Places that can be longer than the screen.
const SCROLLS: &[Place] = &[Place::Inbox, Place::Review, Place::Report, Place::Help];
const MOVES: &[Place] = &[Place::List, Place::Preview, Place::Review, Place::Report, Place::Help];

/// The order here is the order in the help overlay, and of hints in the hint bar.
#[rustfmt::skip]
pub const COMMANDS: &[Spec] = &[
    spec(Command::Approve, "approve", &[Place::Inbox], &["a"], "approve", "approve this action or the marked ones; again: undecided"),
    spec(Command::Exclude, "exclude", &[Place::Inbox], &["x"], "exclude", "exclude (reject) this action or the marked ones; again: undecided"),
    spec(Command::ExcludeBecause, "exclude-because", &[Place::Inbox], &["X"], "", "exclude with a reason"),
    spec(Command::Settle, "settle", &[Place::Inbox], &["t"], "settle", "say what became of an action whose outcome is unknown"),
    spec(Command::Edit, "edit", &[Place::Inbox], &["e"], "edit", "edit the input before approving"),
    spec(Command::Clear, "clear", &[Place::Inbox], &["Backspace", "Delete"], "", "back to undecided"),
    spec(Command::Undo, "undo", &[Place::Inbox], &["u"], "undo", "undo the last staging step"),
    spec(Command::Redo, "redo", &[Place::Inbox], &["U"], "", "redo"),
    spec(Command::ApproveRest, "approve-rest", &[Place::Inbox], &["A"], "", "approve the rest of this batch: opened, not high-risk"),
    spec(Command::Mark, "mark", &[Place::List], &["Space"], "mark", "mark or unmark, and move down"),
    spec(Command::NextUndecided, "next-undecided", &[Place::Inbox], &["n"], "next", "next undecided action, across batches and folds"),
    spec(Command::PreviousUndecided, "previous-undecided", &[Place::Inbox], &["N"], "", "previous undecided action"),
    spec(Command::ReviewBatch, "review-batch", &[Place::Inbox], &["s"], "submit...", "review and submit this batch"),
    spec(Command::ReviewAll, "review-all", &[Place::Inbox], &["S"], "all...", "review and submit all batches"),
    spec(Command::LastReport, "last-report", &[Place::Inbox], &["g r"], "", "what became of the last submission"),
    spec(Command::Reload, "reload", &[Place::Inbox], &["R"], "", "reload, and take in what was held back"),
    spec(Command::Down, "down", MOVES, &["j", "Down", "Ctrl-N"], "", "down"),
    spec(Command::Up, "up", MOVES, &["k", "Up", "Ctrl-P"], "", "up"),
    spec(Command::Top, "top", MOVES, &["g g", "Home"], "", "first"),
    spec(Command::Bottom, "bottom", MOVES, &["G", "End"], "", "last"),
    spec(Command::HalfDown, "half-page-down", &[Place::List, Place::Preview], &["Ctrl-D"], "", "half a page down"),
    spec(Command::HalfUp, "half-page-up", &[Place::List, Place::Preview], &["Ctrl-U"], "", "half a page up"),
    spec(Command::Open, "open", &[Place::List], &["Enter"], "", "fold or unfold the batch; on an action: preview in full"),
    spec(Command::Unfold, "unfold", &[Place::List], &["l", "Right"], "", "unfold the batch; on an action: preview in full"),
    spec(Command::Fold, "fold", &[Place::List], &["h", "Left"], "", "fold the batch"),
    spec(Command::FoldAll, "fold-all", &[Place::List], &["-"], "", "fold every batch"),
    spec(Command::UnfoldAll, "unfold-all", &[Place::List], &["="], "", "unfold every batch"),
    spec(Command::ScrollDown, "scroll-down", &[Place::Inbox], &["J"], "", "scroll the preview down"),
    spec(Command::ScrollUp, "scroll-up", &[Place::Inbox], &["K"], "", "scroll the preview up"),
    spec(Command::PageDown, "page-down", SCROLLS, &["PageDown"], "", "a page down"),
    spec(Command::PageUp, "page-up", SCROLLS, &["PageUp"], "", "a page up"),
    spec(Command::PreviewEnd, "preview-end", &[Place::Inbox], &["g e"], "", "the preview's end"),
    spec(Command::PreviousTab, "previous-tab", &[Place::Inbox], &["["], "", "previous tab of the preview"),
    spec(Command::NextTab, "next-tab", &[Place::Inbox], &["]"], "tabs", "next tab of the preview"),
    spec(Command::Diff, "diff", &[Place::Inbox], &["d"], "", "what your edits change, and back"),
    spec(Command::Zoom, "zoom", &[Place::Inbox], &["z"], "zoom", "preview in full, and back"),
    spec(Command::SwitchFocus, "switch-focus", &[Place::Inbox], &["Tab"], "", "between list and preview"),
    spec(Command::FocusList, "focus-list", &[Place::Inbox], &["1", "2"], "", "to the list"),
    spec(Command::FocusPreview, "focus-preview", &[Place::Inbox], &["3"], "", "to the preview"),
    spec(Command::Confirm, "confirm", &[Place::Review, Place::Settle], &["y"], "", "send, where no count is asked for"),
    spec(Command::Landed, "landed", &[Place::Settle], &["e"], "", "settling: it landed (executed)"),
    spec(Command::NotLanded, "not-landed", &[Place::Settle], &["f"], "", "settling: it did not land (failed)"),
    spec(Command::RunAgain, "run-again", &[Place::Settle], &["r"], "", "settling: run it again"),
    spec(Command::Accept, "accept", &[Place::Review, Place::Reason, Place::Report, Place::Quit], &["Enter"], "", "in a sheet: take the count or reason; close; keep and quit"),
    spec(Command::NextField, "next-field", &[Place::Edit, Place::Settle], &["Tab"], "", "in the edit form: to the next button; settling: to the reason"),
    spec(Command::PreviousField, "previous-field", &[Place::Edit], &["BackTab"], "", "in the edit form: to the previous button"),
    spec(Command::Help, "help", &[Place::Inbox, Place::Help], &["?", "F1"], "help", "this help"),
    spec(Command::Repaint, "repaint", &[Place::Anywhere], &["Ctrl-L"], "", "draw the screen again"),
    spec(Command::Suspend, "suspend", &[Place::Anywhere], &["Ctrl-Z"], "", "back to the shell; `fg` returns"),
    spec(Command::Back, "back", CLOSABLE, &["Esc"], "", "one level back; never quits, never decides"),
    spec(Command::Quit, "quit", &[Place::Inbox, Place::Report, Place::Help], &["q"], "quit", "close, or quit from the list; what is staged is kept"),
    spec(Command::Interrupt, "interrupt", &[Place::Anywhere], &["Ctrl-C"], "", "close a sheet; twice within a second: keep and quit"),
];

impl Place {
    /// Both may be open at once, so that one key cannot mean two things.
    pub fn overlaps(self, other: Self) -> bool {
        use Place as P;
        self == other
            || self == P::Anywhere
            || other == P::Anywhere
            || matches!((self, other), (P::Inbox, P::List | P::Preview) | (P::List | P::Preview, P::Inbox))
    }
}
