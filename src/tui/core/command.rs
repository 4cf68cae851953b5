//! The table of commands, used by the keymap, `[keys]`, the hint bar, the keys after a prefix, help, the palette, the
//! man pages and `docs/keys.md`.

use crate::config::{GroupBy, SortBy};
use crate::domain::DecisionKind;
use crate::tui::history::state::ViewKind;

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
    First,
    Mark,
    Range,
    RangeDown,
    RangeUp,
    MarkShown,
    Filter,
    SavedFilters,
    SaveFilter,
    RenameFilter,
    RemoveFilter,
    SortBy(SortBy),
    GroupBy(GroupBy),
    Freeze,
    Approve,
    ApproveRest,
    Exclude,
    ExcludeBecause,
    Comment,
    /// Stages a decision that hands the action back with a text.
    Ask(DecisionKind),
    ResolveUnknown,
    TakeBack,
    Claim,
    Snooze,
    Edit,
    EditOutside,
    Editor,
    FieldBack,
    RawJson,
    Clear,
    Undo,
    Redo,
    ReviewBatch,
    ReviewAll,
    LastReport,
    Reload,
    View(ViewKind),
    Inbox,
    Watch,
    WatchOpen,
    WatchPanel,
    WatchPanelBack,
    WatchSort,
    WatchWindow,
    AlertsOnly,
    Acknowledge,
    Mute,
    WatchExport,
    ScrollDown,
    ScrollUp,
    PageDown,
    PageUp,
    PreviewEnd,
    PreviousTab,
    NextTab,
    Diff,
    Zoom,
    FoldHere,
    Wrap,
    GoLeft,
    GoRight,
    HidePreview,
    PreviewBelow,
    ReadOn,
    Search,
    SwitchFocus,
    FocusPlaces,
    FocusList,
    FocusPreview,
    Help,
    Palette,
    Repaint,
    Suspend,
    Back,
    Quit,
    Interrupt,
    Mouse,
    CopyId,
    CopyJson,
    CopyText,
    CopyLink,
    CopyShell,
    OpenLink,
    CopyThisLink,
    Confirm,
    Accept,
    ShowFirst,
    ShowChanged,
    NextField,
    NextReason,
    PreviousField,
    Landed,
    NotLanded,
    RunAgain,
    ReviewInstead,
    ExportReport,
    CopyReport,
    Discard,
}

#[derive(Clone, Copy, Debug)]
pub struct Spec {
    pub command: Command,
    pub name: &'static str,
    pub group: Group,
    pub places: &'static [KeyContext],
    pub keys: &'static [&'static str],
    /// One or two words for the hint bar; empty if it is not shown there.
    pub hint: &'static str,
    pub help: &'static str,
    /// Further words that find it: synonyms, and other programs' names and keys.
    pub also: &'static str,
}

/// A row; `.hint("word")` adds it to the hint bar, `.also("words")` adds synonyms.
const fn spec(
    command: Command,
    name: &'static str,
    group: Group,
    places: &'static [KeyContext],
    keys: &'static [&'static str],
    help: &'static str,
) -> Spec {
    Spec { command, name, group, places, keys, hint: "", help, also: "" }
}

impl Spec {
    const fn hint(self, hint: &'static str) -> Self {
        Self { hint, ..self }
    }

    const fn also(self, also: &'static str) -> Self {
        Self { also, ..self }
    }
}

/// Contexts in which `Back` closes something.
const CLOSABLE: &[KeyContext] = &[
    KeyContext::Inbox,
    KeyContext::Search,
    KeyContext::Edit,
    KeyContext::Reason,
    KeyContext::Review,
    KeyContext::Report,
    KeyContext::ResolveUnknown,
    KeyContext::Links,
    KeyContext::Help,
    KeyContext::Palette,
    KeyContext::Quit,
    KeyContext::Filter,
    KeyContext::Places,
    KeyContext::Watch,
];
/// Contexts that can be longer than the screen.
const SCROLLS: &[KeyContext] = &[
    KeyContext::Inbox,
    KeyContext::Watch,
    KeyContext::Review,
    KeyContext::Report,
    KeyContext::Help,
    KeyContext::Palette,
];
const MOVES: &[KeyContext] = &[
    KeyContext::List,
    KeyContext::Preview,
    KeyContext::Places,
    KeyContext::Watch,
    KeyContext::Review,
    KeyContext::Report,
    KeyContext::Links,
    KeyContext::Help,
    KeyContext::Palette,
];

/// In the order of the help, within each group, and of the hint bar. One line per command.
#[rustfmt::skip]
pub const COMMANDS: &[Spec] = &[
    spec(Command::Approve, "approve", Group::Decide, &[KeyContext::Inbox], &["a"], "approve; again to undo").hint("approve").also("accept yes ok allow"),
    spec(Command::Exclude, "exclude", Group::Decide, &[KeyContext::Inbox], &["x"], "exclude (reject); again to undo").hint("exclude").also("reject deny delete remove no"),
    spec(Command::ExcludeBecause, "exclude-because", Group::Decide, &[KeyContext::Inbox], &["X"], "exclude with a reason").also("reject deny delete why"),
    spec(Command::Comment, "comment", Group::Decide, &[KeyContext::Inbox], &["c"], "a comment beside the decision; on an undecided action: approve with a comment").also("note why"),
    spec(Command::Ask(DecisionKind::Retry), "retry", Group::Decide, &[KeyContext::Inbox], &["r"], "ask the agent to try again, with guidance, where the source can").hint("retry").also("again respond reply guidance"),
    spec(Command::ResolveUnknown, "settle", Group::Decide, &[KeyContext::Inbox], &["t"], "resolve an action whose outcome is unknown").hint("settle").also("unknown lost"),
    spec(Command::Claim, "claim", Group::Decide, &[KeyContext::Inbox], &["C"], "claim or release (not a lock)").also("assign take mine lock"),
    spec(Command::Snooze, "snooze-until", Group::Decide, &[KeyContext::Inbox], &["Z"], "snooze; on a snoozed action: wake it").also("later hide remind defer snooze"),
    spec(Command::Edit, "edit", Group::Decide, &[KeyContext::Inbox], &["e"], "edit the input before approving; marked: the same change").hint("edit").also("change modify"),
    spec(Command::EditOutside, "edit-outside", Group::Decide, &[KeyContext::Inbox], &["E"], "edit the input in $VISUAL or $EDITOR").also("vim nano external"),
    spec(Command::Clear, "clear", Group::Decide, &[KeyContext::Inbox], &["Backspace", "Delete"], "back to undecided").also("reset none"),
    spec(Command::Undo, "undo", Group::Decide, &[KeyContext::Inbox], &["u"], "undo the last staging step, or recall a held submission").hint("undo").also("back z revert mistake"),
    spec(Command::Redo, "redo", Group::Decide, &[KeyContext::Inbox], &["U"], "redo").also("again"),
    spec(Command::TakeBack, "take-back", Group::Decide, &[KeyContext::Inbox], &["g u"], "take your approval back, where more people must approve").also("approval two people withdraw"),
    spec(Command::ApproveRest, "approve-rest", Group::Decide, &[KeyContext::Inbox], &["A"], "approve what you have read here, except high risk").also("all batch"),
    spec(Command::ReviewBatch, "review-batch", Group::Submit, &[KeyContext::Inbox], &["s"], "review and submit this batch, or all batches of this group").hint("send").also("send commit flush"),
    spec(Command::ReviewAll, "review-all", Group::Submit, &[KeyContext::Inbox, KeyContext::Review], &["S"], "review and submit all batches").hint("send all").also("send commit flush everything"),
    spec(Command::LastReport, "last-report", Group::Submit, &[KeyContext::Inbox], &["g r"], "the report of the last submission").also("result sent"),
    spec(Command::Mark, "mark", Group::Move, &[KeyContext::List], &["Space"], "mark or unmark, and move down").hint("mark").also("select tick"),
    spec(Command::Range, "range", Group::Move, &[KeyContext::List], &["v"], "begin a range; again, or `mark`: its rows are marked; `back` drops it").also("visual select lines"),
    spec(Command::RangeDown, "range-down", Group::Move, &[KeyContext::List], &["Shift-Down"], "a range, one row further down").also("select"),
    spec(Command::RangeUp, "range-up", Group::Move, &[KeyContext::List], &["Shift-Up"], "a range, one row further up").also("select"),
    spec(Command::MarkShown, "mark-shown", Group::Move, &[KeyContext::List], &["*"], "mark all rows that the filter shows; again: unmark them").also("select all pattern"),
    spec(Command::NextUndecided, "next-undecided", Group::Move, &[KeyContext::Inbox], &["n"], "next undecided, across batches and folds; in a search: next match").hint("next").also("jump"),
    spec(Command::PreviousUndecided, "previous-undecided", Group::Move, &[KeyContext::Inbox], &["N"], "previous undecided action, or match"),
    spec(Command::First, "first", Group::Move, &[KeyContext::Inbox], &["F"], "the next row that is unknown, expires, blocks or is critical").hint("first").also("urgent expiring blocked critical unknown"),
    spec(Command::Down, "down", Group::Move, MOVES, &["j", "Down", "Ctrl-N"], "down"),
    spec(Command::Up, "up", Group::Move, MOVES, &["k", "Up", "Ctrl-P"], "up"),
    spec(Command::Top, "top", Group::Move, MOVES, &["g g", "Home"], "first").also("begin start"),
    spec(Command::Bottom, "bottom", Group::Move, MOVES, &["G", "End"], "last").also("end"),
    spec(Command::HalfDown, "half-page-down", Group::Move, &[KeyContext::List, KeyContext::Preview, KeyContext::Watch], &["Ctrl-D"], "half a page down"),
    spec(Command::HalfUp, "half-page-up", Group::Move, &[KeyContext::List, KeyContext::Preview, KeyContext::Watch], &["Ctrl-U"], "half a page up"),
    spec(Command::Open, "open", Group::Move, &[KeyContext::List], &["Enter"], "fold or unfold the group; on an action: preview in full").also("fold expand"),
    spec(Command::Unfold, "unfold", Group::Move, &[KeyContext::List], &["l", "Right"], "unfold the group; on an action: preview in full"),
    spec(Command::Fold, "fold", Group::Move, &[KeyContext::List], &["h", "Left"], "fold the group"),
    spec(Command::FoldAll, "fold-all", Group::Move, &[KeyContext::List, KeyContext::Preview], &["-"], "fold every group; in the Raw tab: every object and array"),
    spec(Command::UnfoldAll, "unfold-all", Group::Move, &[KeyContext::List, KeyContext::Preview], &["="], "unfold every group; in the Raw tab: everything"),
    spec(Command::PageDown, "page-down", Group::Move, SCROLLS, &["PageDown"], "a page down"),
    spec(Command::PageUp, "page-up", Group::Move, SCROLLS, &["PageUp"], "a page up"),
    spec(Command::SwitchFocus, "switch-focus", Group::Move, &[KeyContext::Inbox], &["Tab"], "between list and preview"),
    spec(Command::FocusPlaces, "focus-places", Group::Move, &[KeyContext::Inbox], &["1"], "to the places on the left: moving there narrows the list").also("sidebar folders sources agents tools"),
    spec(Command::FocusList, "focus-list", Group::Move, &[KeyContext::Inbox, KeyContext::Places], &["2"], "to the list"),
    spec(Command::FocusPreview, "focus-preview", Group::Move, &[KeyContext::Inbox, KeyContext::Places], &["3"], "to the preview"),
    spec(Command::Filter, "filter", Group::Find, &[KeyContext::List], &["/"], "narrow the list: words, tool: risk:>=high age:>1h is:unopened -word").hint("filter").also("search find limit query"),
    spec(Command::SavedFilters, "saved-filters", Group::Find, &[KeyContext::List], &["'"], "a saved filter: then its number, or this key again for none").also("views presets"),
    spec(Command::SaveFilter, "save-filter", Group::Find, &[KeyContext::List, KeyContext::Places], &["+"], "save the filter under a name; it is a place from then on").also("add new view preset"),
    spec(Command::RenameFilter, "rename-filter", Group::Find, &[KeyContext::Places], &["e"], "in the places: rename the saved filter").also("name"),
    spec(Command::RemoveFilter, "remove-filter", Group::Find, &[KeyContext::Places], &["x", "Delete"], "in the places: remove the saved filter").also("delete"),
    spec(Command::SortBy(SortBy::Age), "sort-by-age", Group::View, &[KeyContext::Inbox], &[", a"], "sort: oldest first").also("order time"),
    spec(Command::SortBy(SortBy::Risk), "sort-by-risk", Group::View, &[KeyContext::Inbox], &[", r"], "sort: most harmful first").also("order danger"),
    spec(Command::SortBy(SortBy::Expiry), "sort-by-expiry", Group::View, &[KeyContext::Inbox], &[", e"], "sort: next to expire first").also("order deadline"),
    spec(Command::SortBy(SortBy::Tool), "sort-by-tool", Group::View, &[KeyContext::Inbox], &[", t"], "sort: by tool").also("order"),
    spec(Command::SortBy(SortBy::Source), "sort-by-source", Group::View, &[KeyContext::Inbox], &[", s"], "sort: by source").also("order"),
    spec(Command::GroupBy(GroupBy::Batch), "group-by-batch", Group::View, &[KeyContext::Inbox], &[", b"], "group: by batch").also("default"),
    spec(Command::GroupBy(GroupBy::Mission), "group-by-mission", Group::View, &[KeyContext::Inbox], &[", m"], "group: by mission"),
    spec(Command::GroupBy(GroupBy::Checkpoint), "group-by-checkpoint", Group::View, &[KeyContext::Inbox], &[", c"], "group: by checkpoint, its batches together").also("subtask cascade"),
    spec(Command::GroupBy(GroupBy::Agent), "group-by-agent", Group::View, &[KeyContext::Inbox], &[", g"], "group: by agent"),
    spec(Command::GroupBy(GroupBy::Source), "group-by-source", Group::View, &[KeyContext::Inbox], &[", o"], "group: by source").also("origin backend"),
    spec(Command::GroupBy(GroupBy::Shape), "group-by-shape", Group::View, &[KeyContext::Inbox], &[", x"], "group: near-identical actions in one row").also("similar same duplicates"),
    spec(Command::Freeze, "freeze", Group::View, &[KeyContext::Inbox, KeyContext::Watch], &["f"], "freeze the rows while counts go on, or the watch view; again: live").also("follow pause live frozen stop updates"),
    spec(Command::ScrollDown, "scroll-down", Group::PieceKind, &[KeyContext::Inbox], &["J"], "scroll the preview down"),
    spec(Command::ScrollUp, "scroll-up", Group::PieceKind, &[KeyContext::Inbox], &["K"], "scroll the preview up"),
    spec(Command::PreviewEnd, "preview-end", Group::PieceKind, &[KeyContext::Inbox], &["g e"], "the preview's end"),
    spec(Command::PreviousTab, "previous-tab", Group::PieceKind, &[KeyContext::Inbox], &["["], "previous tab of the preview"),
    spec(Command::NextTab, "next-tab", Group::PieceKind, &[KeyContext::Inbox], &["]"], "next tab of the preview").hint("tabs"),
    spec(Command::Diff, "diff", Group::PieceKind, &[KeyContext::Inbox], &["d"], "before and after, and your edits; and back").also("changes compare"),
    spec(Command::Zoom, "zoom", Group::PieceKind, &[KeyContext::Inbox], &["z"], "preview in full, and back").hint("zoom").also("maximise full"),
    spec(Command::Search, "search-preview", Group::PieceKind, &[KeyContext::Preview], &["/"], "search in the preview; `next-undecided` goes on, `back` ends it").also("find text match grep"),
    spec(Command::ReadOn, "read-on", Group::PieceKind, &[KeyContext::Preview], &["Space"], "a page down in the preview").also("page pager"),
    spec(Command::FoldHere, "fold-here", Group::PieceKind, &[KeyContext::Preview], &["Enter"], "fold or unfold in Raw; in Context: where it leads; else: preview in full").also("collapse expand json object follow mission decided before"),
    spec(Command::Wrap, "wrap", Group::PieceKind, &[KeyContext::Inbox], &["w"], "wrap long lines of the preview, or let them go on to the right").also("long lines"),
    spec(Command::GoLeft, "go-left", Group::PieceKind, &[KeyContext::Inbox], &["H"], "the preview to the left, where lines do not wrap").also("sideways scroll"),
    spec(Command::GoRight, "go-right", Group::PieceKind, &[KeyContext::Inbox], &["L"], "the preview to the right, where lines do not wrap").also("sideways scroll"),
    spec(Command::HidePreview, "hide-preview", Group::View, &[KeyContext::Inbox], &["p"], "hide the preview, or show it").also("toggle pane list only"),
    spec(Command::PreviewBelow, "preview-below", Group::View, &[KeyContext::Inbox], &["P"], "the preview below the list, or beside it").also("right bottom pane position"),
    spec(Command::CopyId, "copy-id", Group::PieceKind, &[KeyContext::Inbox], &["y i"], "copy the action's id").also("yank clipboard"),
    spec(Command::CopyJson, "copy-json", Group::PieceKind, &[KeyContext::Inbox], &["y r"], "copy its input as JSON, raw, as it is").also("yank clipboard raw"),
    spec(Command::CopyText, "copy-text", Group::PieceKind, &[KeyContext::Inbox], &["y p"], "copy its preview as text").also("yank clipboard pretty"),
    spec(Command::CopyLink, "copy-link", Group::PieceKind, &[KeyContext::Inbox], &["y u"], "copy a link in its input").also("yank clipboard url"),
    spec(Command::CopyShell, "copy-command", Group::PieceKind, &[KeyContext::Inbox], &["y c"], "copy the command that shows it in a shell").also("yank clipboard cli"),
    spec(Command::OpenLink, "open-link", Group::PieceKind, &[KeyContext::Inbox], &["o"], "open a link in its input; its target is shown first").also("browser url"),
    spec(Command::Reload, "reload", Group::View, &[KeyContext::Inbox, KeyContext::Watch], &["R"], "reload: take in new actions, drop settled ones").also("refresh sync"),
    spec(Command::Inbox, "inbox", Group::View, &[KeyContext::Inbox, KeyContext::Watch], &["g i", "V p"], "back to pending actions, from history or the watch view").hint("inbox").also("pending queue home"),
    spec(Command::View(ViewKind::Approved), "view-approved", Group::View, &[KeyContext::Inbox], &["V a"], "approved and running actions").also("running list status"),
    spec(Command::View(ViewKind::Executed), "view-executed", Group::View, &[KeyContext::Inbox], &["V e"], "executed actions, with results").also("done list status audit"),
    spec(Command::View(ViewKind::Failed), "view-failed", Group::View, &[KeyContext::Inbox], &["V f"], "failed actions, with errors").also("error list status"),
    spec(Command::View(ViewKind::Unknown), "view-unknown", Group::View, &[KeyContext::Inbox], &["V u"], "actions with an unknown outcome").also("lost list status"),
    spec(Command::View(ViewKind::Rejected), "view-excluded", Group::View, &[KeyContext::Inbox], &["V r"], "excluded (rejected) actions, and why").also("denied list status"),
    spec(Command::View(ViewKind::Expired), "view-expired", Group::View, &[KeyContext::Inbox], &["V x"], "expired, withdrawn and superseded actions").also("over list status"),
    spec(Command::View(ViewKind::Decided), "view-decided", Group::View, &[KeyContext::Inbox], &["V d"], "decisions by anyone; / searches them").also("history past search"),
    spec(Command::View(ViewKind::Mine), "view-mine", Group::View, &[KeyContext::Inbox, KeyContext::Watch], &["g h", "V m"], "the history of decisions made here").also("my decisions log audit past"),
    spec(Command::Watch, "watch", Group::View, &[KeyContext::Inbox], &["g w"], "the watch view: every queue's figures, live; nothing is decided there").also("dashboard lead metrics figures rates"),
    spec(Command::WatchOpen, "watch-open", Group::View, &[KeyContext::Watch], &["Enter"], "in the watch view: the queue, tool, event or alert, in the inbox").hint("open"),
    spec(Command::WatchPanel, "watch-panel", Group::View, &[KeyContext::Watch], &["Tab"], "in the watch view: the next panel").hint("panel").also("tools age reviewers rates events"),
    spec(Command::WatchPanelBack, "watch-panel-back", Group::View, &[KeyContext::Watch], &["BackTab"], "in the watch view: the panel before"),
    spec(Command::WatchSort, "watch-sort", Group::View, &[KeyContext::Watch], &[","], "in the watch view: sort by pending, oldest, net, name").hint("sort").also("order"),
    spec(Command::WatchWindow, "watch-window", Group::View, &[KeyContext::Watch], &["w"], "in the watch view: the last 15, 60 or 1440 minutes").hint("window").also("time range day hour"),
    spec(Command::AlertsOnly, "watch-alerts", Group::View, &[KeyContext::Watch], &["A"], "in the watch view: alerts only, one by one; again: everything").hint("alerts").also("alarms warnings"),
    spec(Command::Acknowledge, "acknowledge", Group::View, &[KeyContext::Watch], &["K"], "in the watch view: seen until it grows, on this screen; [[notify]] rules go on").hint("seen").also("ack alert"),
    spec(Command::Mute, "mute", Group::View, &[KeyContext::Watch], &["m"], "in the watch view: (un)mute for an hour, on this screen; [[notify]] rules go on").hint("mute").also("silence snooze alert"),
    spec(Command::WatchExport, "watch-export", Group::View, &[KeyContext::Watch], &["e"], "in the watch view: the figures as JSON and CSV into new files").hint("export").also("save file"),
    spec(Command::Confirm, "confirm", Group::Sheet, &[KeyContext::Review, KeyContext::ResolveUnknown], &["y"], "send, where no count is asked for").also("yes send submit"),
    spec(Command::Landed, "landed", Group::Sheet, &[KeyContext::ResolveUnknown], &["e"], "settling: it ran (executed)"),
    spec(Command::NotLanded, "not-landed", Group::Sheet, &[KeyContext::ResolveUnknown], &["f"], "settling: it did not run (failed)"),
    spec(Command::RunAgain, "run-again", Group::Sheet, &[KeyContext::ResolveUnknown], &["r"], "settling: run it again"),
    spec(Command::Accept, "accept", Group::Sheet, &[KeyContext::Search, KeyContext::Review, KeyContext::Reason, KeyContext::Report, KeyContext::Links, KeyContext::Palette, KeyContext::Quit, KeyContext::Filter, KeyContext::Places], &["Enter"], "accept the text; from places to the list; open a link; keep and quit; run").also("ok"),
    spec(Command::CopyThisLink, "copy-this-link", Group::Sheet, &[KeyContext::Links], &["y"], "copy the link instead of opening it"),
    spec(Command::ExportReport, "export-report", Group::Sheet, &[KeyContext::Report], &["w"], "write the report as JSON to a new file in the state folder").also("save file"),
    spec(Command::CopyReport, "copy-report", Group::Sheet, &[KeyContext::Report], &["y"], "copy the report as text").also("yank clipboard"),
    spec(Command::ReviewInstead, "review-instead", Group::Sheet, &[KeyContext::Quit], &["r"], "when leaving: stay, review and submit").also("submit send"),
    spec(Command::Discard, "discard", Group::Sheet, &[KeyContext::Quit], &["D"], "when leaving: discard staged decisions, after typing their count, and quit").also("drop throw away"),
    spec(Command::NextField, "next-field", Group::Sheet, &[KeyContext::Edit, KeyContext::ResolveUnknown, KeyContext::Palette], &["Tab"], "next field or button; settling: the reason; in the palette: complete"),
    spec(Command::ShowFirst, "show-first", Group::Sheet, &[KeyContext::Review, KeyContext::Report], &["o"], "in the review: to the first never opened; in the report: to the first skipped").also("open jump"),
    spec(Command::ShowChanged, "show-changed", Group::Sheet, &[KeyContext::Review], &["d"], "in the review: to the first that changed").also("jump"),
    spec(Command::NextReason, "next-reason", Group::Sheet, &[KeyContext::Reason], &["Tab", "Ctrl-N"], "the next of the configured reasons").also("template canned"),
    spec(Command::PreviousField, "previous-field", Group::Sheet, &[KeyContext::Edit], &["BackTab"], "in the edit form: previous field or button"),
    spec(Command::Editor, "editor", Group::Sheet, &[KeyContext::Edit], &["Ctrl-G"], "in the edit form: the whole draft in $VISUAL or $EDITOR").also("vim nano external"),
    spec(Command::FieldBack, "field-back", Group::Sheet, &[KeyContext::Edit], &["Ctrl-R"], "in the edit form: the field back to proposed").also("revert reset"),
    spec(Command::RawJson, "raw-json", Group::Sheet, &[KeyContext::Edit], &["Ctrl-T"], "in the edit form: between fields and JSON text").also("raw source"),
    spec(Command::Help, "help", Group::Program, &[KeyContext::Anywhere], &["?", "F1"], "the keys that work here; type to find one").hint("help").also("keys which"),
    spec(Command::Palette, "palette", Group::Program, &[KeyContext::Inbox, KeyContext::Watch, KeyContext::Review, KeyContext::Report, KeyContext::ResolveUnknown], &[":"], "give any command by its name").also("command menu run"),
    spec(Command::Repaint, "repaint", Group::Program, &[KeyContext::Anywhere], &["Ctrl-L"], "draw the screen again").also("redraw refresh"),
    spec(Command::Suspend, "suspend", Group::Program, &[KeyContext::Anywhere], &["Ctrl-Z"], "back to the shell; `fg` returns").also("background"),
    spec(Command::Mouse, "mouse", Group::Program, &[KeyContext::Inbox, KeyContext::Watch, KeyContext::Review, KeyContext::Report], &["%"], "mouse on or off; off, the terminal selects text with it").also("select copy text wheel click"),
    spec(Command::Back, "back", Group::Program, CLOSABLE, &["Esc"], "one level back; never quits, never decides"),
    spec(Command::Quit, "quit", Group::Program, &[KeyContext::Inbox, KeyContext::Watch, KeyContext::Report], &["q"], "close, or quit from the list").hint("quit").also("exit leave"),
    spec(Command::Interrupt, "interrupt", Group::Program, &[KeyContext::Anywhere], &["Ctrl-C"], "close a sheet; twice within a second: keep and quit").also("exit abort"),
];

impl Command {
    /// Returns true if the command acts on pending actions and therefore does nothing in a list of ended ones.
    pub fn is_of_the_queue(self) -> bool {
        let of = |group| COMMANDS.iter().any(|spec| spec.command == self && spec.group == group);
        match self {
            Self::LastReport | Self::Filter => false,
            Self::Mark => true,
            _ => of(Group::Decide) || of(Group::Submit) || of(Group::Find),
        }
    }
}

impl Command {
    /// Returns true if the command neither changes nor depends on staged decisions: cursor moves, scrolling, display.
    pub(crate) const fn leaves_the_draft_alone(self) -> bool {
        matches!(
            self,
            Self::Down
                | Self::Up
                | Self::Top
                | Self::Bottom
                | Self::HalfDown
                | Self::HalfUp
                | Self::Fold
                | Self::Unfold
                | Self::ScrollDown
                | Self::ScrollUp
                | Self::PageDown
                | Self::PageUp
                | Self::PreviewEnd
                | Self::PreviousTab
                | Self::NextTab
                | Self::Wrap
                | Self::GoLeft
                | Self::GoRight
                | Self::HidePreview
                | Self::PreviewBelow
                | Self::FocusPlaces
                | Self::FocusList
                | Self::FocusPreview
                | Self::Help
                | Self::Repaint
        )
    }
}

impl Command {
    pub(crate) const fn only_moves(self) -> bool {
        matches!(
            self,
            Self::Down
                | Self::Up
                | Self::Top
                | Self::Bottom
                | Self::HalfDown
                | Self::HalfUp
                | Self::ScrollDown
                | Self::ScrollUp
                | Self::PageDown
                | Self::PageUp
                | Self::PreviewEnd
                | Self::GoLeft
                | Self::GoRight
        )
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArgumentCommand {
    Help,
    Filter,
    Sort,
    Group,
    Snooze,
}

/// A row of the table of these commands. They are run by `ask` in `chrome/overlay.rs`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AskSpec {
    pub ask: ArgumentCommand,
    pub name: &'static str,
    pub places: &'static [KeyContext],
    /// The argument's name in the palette: `WORD`.
    pub argument: &'static str,
    /// All allowed values; empty for free text.
    pub values: &'static [&'static str],
    pub help: &'static str,
}

#[rustfmt::skip]
pub(crate) const ARGUMENT_COMMANDS: &[AskSpec] = &[
    AskSpec { ask: ArgumentCommand::Filter, name: "filter", places: &[KeyContext::Inbox], argument: "TEXT", values: &[], help: "filter the list by this text" },
    AskSpec { ask: ArgumentCommand::Sort, name: "sort", places: &[KeyContext::Inbox], argument: "BY", values: &["age", "risk", "expiry", "tool", "source"], help: "sort the list" },
    AskSpec { ask: ArgumentCommand::Group, name: "group", places: &[KeyContext::Inbox], argument: "BY", values: &["batch", "mission", "checkpoint", "agent", "source", "shape"], help: "group the list" },
    AskSpec { ask: ArgumentCommand::Snooze, name: "snooze", places: &[KeyContext::Inbox], argument: "UNTIL", values: &[], help: "hide until: 1h, 17:00, tomorrow 9:00, mon; off wakes all" },
    AskSpec { ask: ArgumentCommand::Help, name: "help", places: &[KeyContext::Anywhere], argument: "WORD", values: &[], help: "help on a word or a key" },
];

/// A context in which commands work. A key may have two meanings only in contexts that are never open together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyContext {
    /// Everywhere, including sheets and forms.
    Anywhere,
    Inbox,
    List,
    Preview,
    /// While a search text is typed.
    Search,
    Edit,
    Reason,
    Review,
    Report,
    ResolveUnknown,
    Links,
    Help,
    Palette,
    Quit,
    /// The filter line, and the list of saved filters.
    Filter,
    /// The left pane while it has the focus.
    Places,
    Watch,
}

/// The purpose of a command: headings of help, man page and `docs/keys.md`, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Group {
    Decide,
    Submit,
    Move,
    Find,
    PieceKind,
    View,
    /// Only in sheets and forms.
    Sheet,
    Program,
}

impl KeyContext {
    pub const fn title(self) -> &'static str {
        match self {
            Self::List => "the list",
            Self::Preview => "the preview",
            Self::Search => "searching in the preview",
            Self::Edit => "the edit form",
            Self::Reason => "the field for a reason",
            Self::Review => "the review sheet",
            Self::Report => "the report",
            Self::ResolveUnknown => "the settling sheet",
            Self::Links => "the links of an action",
            Self::Quit => "leaving",
            Self::Help => "the help",
            Self::Palette => "the palette",
            Self::Filter => "the filter line",
            Self::Places => "the places",
            Self::Watch => "the watch view",
            Self::Inbox | Self::Anywhere => "everywhere",
        }
    }

    /// Returns true if both can be open at once, so that a key must not have two meanings.
    pub fn overlaps(self, other: Self) -> bool {
        use KeyContext as P;
        self == other
            || self == P::Anywhere
            || other == P::Anywhere
            || matches!((self, other), (P::Inbox, P::List | P::Preview) | (P::List | P::Preview, P::Inbox))
    }
}

impl Group {
    pub const ALL: [Self; 8] = [
        Self::Decide,
        Self::Submit,
        Self::Move,
        Self::Find,
        Self::PieceKind,
        Self::View,
        Self::Sheet,
        Self::Program,
    ];

    pub const fn title(self) -> &'static str {
        match self {
            Self::Decide => "decide",
            Self::Submit => "submit",
            Self::Move => "move",
            Self::Find => "find",
            Self::PieceKind => "look closer",
            Self::View => "views",
            Self::Sheet => "in a sheet or form",
            Self::Program => "placet itself",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Down,
    Up,
}

pub(crate) fn shift(at: usize, way: Direction, by: usize) -> usize {
    match way {
        Direction::Down => at.saturating_add(by),
        Direction::Up => at.saturating_sub(by),
    }
}
