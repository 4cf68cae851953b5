//! The foot: what is staged, what happened last, and which keys do what.

use ratatui::buffer::Buffer;
use ratatui::style::Style;

use crate::domain::{Capabilities, DecisionKind};
use crate::tui::core::command::{COMMANDS, Command, Spec};
use crate::tui::core::keymap::{Keymap, short};
use crate::tui::core::layout::Layout;
use crate::tui::core::model::Model;
use crate::tui::history::state::ViewKind;
use crate::tui::queue::slots::Slot;
use crate::tui::queue::state::Cursor;
use crate::tui::submit::held::Held;
use crate::tui::submit::report_view;
use crate::tui::submit::review_view::draw_lines;

use super::pen::{Pen, rule};
use super::state::{Focus, Tone};
use super::{theme, words};

pub(crate) fn draw(model: &Model, layout: &Layout, buf: &mut Buffer) {
    rule(model, layout.rule, buf);
    staged(model, layout, buf);
    foot(model, layout, buf);
}

/// What happened last, and which keys do what.
pub(crate) fn foot(model: &Model, layout: &Layout, buf: &mut Buffer) {
    let apart = layout.message != layout.hints;
    let sent = report_view::sent(model, usize::from(layout.message.width))
        .filter(|_| model.screen.message.is_none());
    if apart || (model.screen.message.is_none() && sent.is_none()) {
        draw_hints(model, layout, buf);
    }
    match sent {
        Some(parts) => draw_lines(&[parts], layout.message, buf),
        None => message(model, layout, buf),
    }
}

fn staged(model: &Model, layout: &Layout, buf: &mut Buffer) {
    let counts = model.decide.tally.total();
    let narrow = layout.staged.width < 90;
    let mut pen = Pen::new(buf, layout.staged, 0);
    if model.history.open.is_some() {
        let key = model.settings.keymap.key(Command::Inbox);
        pen.ours(&format!(" FOR READING: {key} goes back to the inbox"), theme::KEY);
        if counts.total() > 0 {
            pen.ours(&format!(", where {} staged", words::staged(counts)), theme::PLAIN);
        }
    } else if counts.total() == 0 && model.here().is_some_and(|slot| !slot.entry.row.can.can_decide()) {
        pen.ours(" READ-ONLY: this token cannot decide", theme::WARN);
    } else if let Some(held) = &model.submit.held {
        counting_down(model, held, &mut pen);
    } else if counts.total() == 0 {
        pen.ours(" nothing staged", theme::DIM);
    } else if narrow {
        pen.ours(" STAGED ", theme::BOLD).ours(&words::staged(counts), theme::PLAIN);
    } else {
        pen.ours(" STAGED", theme::BOLD);
        for (kind, n) in counts.each().filter(|(_, n)| *n > 0) {
            pen.ours(&format!("  {n} {}", kind.words().terse), theme::PLAIN);
        }
    }
    let hidden = model.decide.spread.hidden();
    if hidden > 0 {
        let words = if narrow { "hidden" } else { "hidden by the filter" };
        pen.ours(&format!("  {hidden} {words}"), theme::WARN);
    }
    if model.is_sending() {
        pen.ours("   SENDING", theme::KEY);
    }
    let (saved, style) = saved(model);
    pen.ours(&saved, style);
    if counts.total() > 0 {
        let unopened = model.decide.tally.unopened();
        let style = if unopened > 0 { theme::WARN } else { theme::PLAIN };
        pen.right(&format!("unopened approvals {unopened} "), style);
    }
}

/// Nothing is sent before this has run out.
fn counting_down(model: &Model, held: &Held, pen: &mut Pen<'_>) {
    let n = words::count(held.submission.len(), "decision");
    let line = match held.seconds(model.now) {
        Some(seconds) => format!(" SENDING {n} in {seconds} s"),
        None => format!(" SENDING {n}"),
    };
    let key = model.settings.keymap.key(Command::Undo);
    pen.ours(&line, theme::BOLD)
        .ours("   ", theme::PLAIN)
        .ours(&key, theme::KEY)
        .ours(" recalls", theme::PLAIN);
}

fn saved(model: &Model) -> (String, Style) {
    match (&model.screen.saved.failed, model.screen.saved.open, model.screen.saved.last) {
        (Some(why), ..) => (format!("   NOT SAVED: {why}"), theme::BAD),
        (None, 1.., _) => ("   saving".to_owned(), theme::DIM),
        (None, 0, Some(at)) => (format!("   saved {}", words::clock(model, at)), theme::DIM),
        (None, 0, None) => (String::new(), theme::DIM),
    }
}

fn message(model: &Model, layout: &Layout, buf: &mut Buffer) {
    let Some(message) = &model.screen.message else {
        // Only in a line that is free.
        if let Some(hint) = model.hint().filter(|_| layout.message != layout.hints) {
            Pen::new(buf, layout.message, 0).ours(&format!(" {hint}"), theme::DIM);
        }
        return;
    };
    let style = match message.tone {
        Tone::Plain => theme::PLAIN,
        Tone::Good => theme::GOOD,
        Tone::Bad => theme::WARN,
    };
    let mut pen = Pen::new(buf, layout.message, 0);
    pen.ours(" ", theme::PLAIN);
    for part in &message.parts {
        pen.shown(part, style);
    }
}

// The hint bar: which keys do what here, from the table, as many as fit.

/// The hints that a narrow screen keeps; the others follow in the order of the table.
const FIRST: [Command; 10] = [
    Command::ResolveUnknown,
    Command::Approve,
    Command::Exclude,
    Command::Edit,
    Command::Ask(DecisionKind::Retry),
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
pub(crate) fn draw_hints(model: &Model, layout: &Layout, buf: &mut Buffer) {
    let keymap = &model.settings.keymap;
    let mut pen = Pen::new(buf, layout.hints, 0);
    pen.ours(" ", theme::PLAIN);
    if model.modal.is_some() || model.screen.overlay.is_some() {
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
    let in_list = model.history.open.is_none() && model.screen.focus == Focus::List && !model.screen.zoom;
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
    let places = model.places();
    let lost = model.here().is_some_and(Slot::is_lost);
    let can = model.here().filter(|slot| model.queue.marks.is_empty() && slot.is_pending());
    let can = can.map(|slot| slot.entry.row.can);
    let may =
        |allowed: fn(&Capabilities) -> bool| can.as_ref().is_none_or(|can| can.can_decide() && allowed(can));
    let fits = |command: Command| match command {
        Command::Help => false,
        Command::Inbox => model.history.open.is_some() || model.watches(),
        Command::NextUndecided => model.history.open.is_none(),
        command if model.history.open.is_some() && command.is_of_the_queue() => false,
        Command::ResolveUnknown => lost,
        Command::Approve => !lost && may(|_| true),
        Command::Exclude => !lost && may(|can| can.reject),
        Command::Edit => !lost && may(|can| can.edit),
        Command::Ask(kind) => !lost && can.is_some_and(|can| can.takes(kind)),
        _ => true,
    };
    let works = |spec: &&Spec| spec.places.iter().any(|place| places.contains(place));
    let mut specs: Vec<_> =
        COMMANDS.iter().filter(|spec| !spec.hint.is_empty() && fits(spec.command)).filter(works).collect();
    specs.sort_by_key(|spec| FIRST.iter().position(|first| *first == spec.command).unwrap_or(FIRST.len()));
    specs
}
