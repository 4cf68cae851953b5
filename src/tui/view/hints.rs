//! The hint bar: which keys do what here, from the table, as many as fit.

use ratatui::buffer::Buffer;

use crate::domain::Capabilities;
use crate::tui::command::{COMMANDS, Command, Spec};
use crate::tui::keymap::{Keymap, short};
use crate::tui::layout::Layout;
use crate::tui::model::{Cursor, Focus, Model, Slot, ViewKind};
use crate::tui::theme;

use super::pen::Pen;

/// The hints that a narrow screen keeps; the others follow in the order of the table.
const FIRST: [Command; 10] = [
    Command::Settle,
    Command::Approve,
    Command::Exclude,
    Command::Edit,
    Command::Retry,
    Command::Undo,
    Command::Mark,
    Command::NextUndecided,
    Command::ReviewBatch,
    Command::ReviewAll,
];

/// In the watch view, what looks and what answers an alert before what only arranges.
const WATCH: [(Command, &str); 12] = [
    (Command::WatchOpen, "open"),
    (Command::WatchPanel, "panel"),
    (Command::WatchSort, "sort"),
    (Command::WatchWindow, "window"),
    (Command::Freeze, "freeze"),
    (Command::AlertsOnly, "alerts"),
    (Command::Acknowledge, "seen"),
    (Command::Mute, "mute"),
    (Command::WatchExport, "export"),
    (Command::Inbox, "inbox"),
    (Command::View(ViewKind::Mine), "history"),
    (Command::Quit, "quit"),
];

/// Help is always among them.
pub(super) fn draw(model: &Model, layout: &Layout, buf: &mut Buffer) {
    let keymap = &model.settings.keymap;
    let mut pen = Pen::new(buf, layout.hints, 0);
    pen.ours(" ", theme::PLAIN);
    if model.modal.is_some() || model.overlay.is_some() {
        hint(keymap, Command::Back, "back", &mut pen);
        return;
    }
    let help = format!("{} help ", keymap.key(Command::Help));
    pen.shorten(help.len() + 1);
    let (lead, first) = here(model);
    pen.ours(&lead, theme::BOLD);
    let rest = rest(model).into_iter().map(|spec| (spec.command, spec.hint));
    let told: Vec<Command> = first.iter().map(|(command, _)| *command).collect();
    let rest = rest.filter(|(command, _)| !told.contains(command));
    for (command, word) in first.iter().copied().chain(rest) {
        if !hint(keymap, command, word, &mut pen) {
            break;
        }
    }
    Pen::new(buf, layout.hints, 0).right(&help, theme::PLAIN);
}

/// One hint; false where there is no room. A command without a key has none.
fn hint(keymap: &Keymap, command: Command, word: &str, pen: &mut Pen<'_>) -> bool {
    let Some(key) = keymap.keys(command).first().map(|key| short(key)) else { return true };
    if key.len() + word.len() + 3 > pen.left() {
        return false;
    }
    pen.ours(&key, theme::KEY).ours(&format!(" {word}  "), theme::PLAIN);
    true
}

/// What matters most where the cursor is, with the words for it there.
fn here(model: &Model) -> (String, Vec<(Command, &'static str)>) {
    use Command as C;
    let in_list = model.view.is_none() && model.focus == Focus::List && !model.zoom;
    let marked = model.queue.marks.len();
    let on_header = matches!(model.queue.cursor(), Some(Cursor::Header(_)));
    if model.watches() {
        return (String::new(), WATCH.to_vec());
    }
    if in_list && model.queue.has_range() {
        let words = vec![
            (C::Range, "marks it"),
            (C::Approve, "approve"),
            (C::Exclude, "exclude"),
            (C::Back, "drop it"),
        ];
        return ("range: ".to_owned(), words);
    }
    if in_list && marked > 0 {
        let words =
            vec![(C::Approve, "approve"), (C::Exclude, "exclude"), (C::Edit, "edit"), (C::Back, "unmark")];
        return (format!("{marked} marked: "), words);
    }
    if in_list && on_header {
        let folds = model.queue.group_here().is_some_and(|group| group.folded);
        let open = if folds { "unfold" } else { "fold" };
        return (
            String::new(),
            vec![(C::Open, open), (C::ApproveRest, "approve rest"), (C::ReviewBatch, "submit...")],
        );
    }
    (String::new(), Vec::new())
}

/// What the table has a word for and works here.
fn rest(model: &Model) -> Vec<&'static Spec> {
    let places = crate::tui::update::places(model);
    let lost = model.here().is_some_and(Slot::is_lost);
    let can = model.here().filter(|slot| model.queue.marks.is_empty() && slot.is_pending());
    let can = can.map(|slot| slot.entry.can);
    let may =
        |allowed: fn(&Capabilities) -> bool| can.as_ref().is_none_or(|can| can.can_decide() && allowed(can));
    let fits = |command: Command| match command {
        Command::Help => false,
        Command::Inbox => model.view.is_some() || model.watches(),
        Command::NextUndecided => model.view.is_none(),
        command if model.view.is_some() && command.is_of_the_queue() => false,
        Command::Settle => lost,
        Command::Approve => !lost && may(|_| true),
        Command::Exclude => !lost && may(|can| can.reject),
        Command::Edit => !lost && may(|can| can.edit),
        Command::Retry => !lost && can.is_some_and(|can| can.retry),
        _ => true,
    };
    let works = |spec: &&Spec| spec.places.iter().any(|place| places.contains(place));
    let mut specs: Vec<_> =
        COMMANDS.iter().filter(|spec| !spec.hint.is_empty() && fits(spec.command)).filter(works).collect();
    specs.sort_by_key(|spec| FIRST.iter().position(|first| *first == spec.command).unwrap_or(FIRST.len()));
    specs
}
