//! The status line and the hint bar.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use unicode_width::UnicodeWidthStr;

use crate::domain::{Confirm, DecisionKind};
use crate::tui::core::command::{COMMANDS, Command, Spec};
use crate::tui::core::keymap::{Keymap, short};
use crate::tui::core::layout::Layout;
use crate::tui::core::model::Model;
use crate::tui::decide::update::approval;
use crate::tui::history::state::ViewKind;
use crate::tui::preview::search;
use crate::tui::queue::places;
use crate::tui::queue::slots::Slot;
use crate::tui::queue::state::Cursor;
use crate::tui::submit::state::Held;
use crate::tui::submit::state::ReviewSheet;
use crate::tui::submit::{report_view, resolve_unknown};
use crate::tui::{dashboard, queue};

use super::pen::{Pen, draw_lines};
use super::state::{Focus, Tone};
use super::{theme, words};

pub(crate) fn draw(model: &Model, layout: &Layout, buf: &mut Buffer) {
    draw_hints(model, layout, buf);
    Pen::new(buf, layout.status, 0).base(theme::RAISED);
    // Unsaved decisions are always reported.
    let (saved, style) = saved(model);
    Pen::new(buf, layout.status, 0).right(&saved, style);
    let area = Rect { width: layout.status.width.saturating_sub(saved.width() as u16), ..layout.status };
    // A held submission is never covered by a message.
    if model.submit.held.is_some() || !message(model, area, buf) {
        staged(model, area, buf);
    }
}

/// Draws the last message, or the summary of the last submission. Returns false if there is neither.
pub(crate) fn message(model: &Model, area: Rect, buf: &mut Buffer) -> bool {
    if let Some(message) = &model.screen.message {
        let style = match message.tone {
            Tone::Plain => theme::PLAIN,
            Tone::Good => theme::GOOD,
            Tone::Bad => theme::WARN,
        };
        let mut pen = Pen::new(buf, area, 0);
        pen.ours(" ", theme::PLAIN);
        for part in &message.parts {
            pen.shown(part, style);
        }
        let staged = model.decide.tally.total.total();
        if staged > 0 && !model.watches() {
            pen.right(&format!("staged {staged} "), theme::DIM);
        }
        return true;
    }
    let sent = report_view::sent(model, usize::from(area.width));
    sent.is_some_and(|parts| {
        draw_lines(&[parts], area, buf);
        true
    })
}

/// Returns `sending 7 of 15 · gate`.
fn sending(model: &Model) -> String {
    let dot = theme::dot(model.settings.glyphs);
    let open = model.submit.progress.values().flatten().filter(|(_, (answered, all))| answered < all);
    let said = open.map(|(source, (answered, all))| format!("{answered} of {all}{dot}{source}"));
    let said = said.collect::<Vec<_>>().join("; ");
    if said.is_empty() { "sending…".to_owned() } else { format!("sending {said}") }
}

fn staged(model: &Model, area: Rect, buf: &mut Buffer) {
    let counts = model.decide.tally.total;
    let mut pen = Pen::new(buf, area, 0);
    pen.ours(" ", theme::PLAIN);
    if model.history.open.is_some() {
        let key = model.settings.keymap.key(Command::Inbox);
        let dot = theme::dot(model.settings.glyphs);
        pen.ours(&words::read_only(dot, &key), theme::KEY);
    }
    if let Some(held) = &model.submit.held {
        counting_down(model, held, &mut pen);
        return;
    }
    let dot = theme::dot(model.settings.glyphs);
    let mut parts: Vec<(String, Style)> = Vec::new();
    if model.is_sending() {
        parts.push((sending(model), theme::KEY));
    }
    if let Some(marked) = queue::view::marked(model) {
        parts.push((marked, theme::KEY));
    }
    let read_only = model.here().is_some_and(|slot| !slot.entry.row.can.can_decide());
    if counts.total() == 0 && model.history.open.is_none() && read_only {
        parts.push((words::TOKEN_CANNOT_DECIDE.to_owned(), theme::WARN));
    }
    let first = parts.len();
    let kinds = counts.each().filter(|(_, n)| *n > 0);
    parts.extend(kinds.map(|(kind, n)| (format!("{n} {}", kind.words().name), theme::decision(kind))));
    if let Some((said, _)) = parts.get_mut(first) {
        *said = format!("staged {said}");
    }
    let unread = model.decide.tally.unopened;
    if unread > 0 {
        parts.push((words::approved_unread(unread), theme::WARN));
    }
    let hidden = model.decide.spread.hidden();
    if hidden > 0 {
        parts.push((words::hidden_by_filter(hidden), theme::WARN));
    }
    if let Some(hint) = model.hint() {
        parts.push((hint, theme::PLAIN));
    }
    for (nth, (said, style)) in parts.iter().enumerate() {
        pen.ours(if nth == 0 { "" } else { dot }, theme::DIM).ours(said, *style);
    }
}

fn counting_down(model: &Model, held: &Held, pen: &mut Pen<'_>) {
    let n = words::count(held.submission.len(), "decision");
    let line = match held.seconds(model.now) {
        Some(seconds) => words::sending_in(&n, seconds),
        None => format!("sending {n}"),
    };
    let key = model.settings.keymap.key(Command::Undo);
    pen.ours(&line, theme::BOLD)
        .ours("   ", theme::PLAIN)
        .ours(&key, theme::KEY)
        .ours(words::TAKES_THEM_BACK, theme::PLAIN);
}

fn saved(model: &Model) -> (String, Style) {
    let staged = model.decide.tally.total.total() > 0;
    let open = model.screen.saved.open + usize::from(model.decide.is_changing());
    match (&model.screen.saved.failed, open, model.screen.saved.last) {
        (Some(why), ..) => (format!("NOT SAVED: {why} "), theme::BAD),
        (None, 1.., _) => ("saving ".to_owned(), theme::DIM),
        (None, 0, Some(_)) if staged => ("saved ".to_owned(), theme::DIM),
        (None, 0, _) => (String::new(), theme::DIM),
    }
}

// The hint bar: as many hints of the command table as fit.

/// Hints that a narrow screen keeps; the others follow in table order.
const FIRST: [Command; 9] = [
    Command::ResolveUnknown,
    Command::Approve,
    Command::Exclude,
    Command::Edit,
    Command::Ask(DecisionKind::Retry),
    Command::Mark,
    Command::ReviewBatch,
    Command::Filter,
    Command::Undo,
];

const HINTS: usize = 8;

const WATCH: [(Command, &str); HINTS] = [
    (Command::WatchOpen, "open"),
    (Command::WatchPanel, "panel"),
    (Command::Inbox, "inbox"),
    (Command::WatchWindow, "window"),
    (Command::AlertsOnly, "alerts"),
    (Command::Mute, "mute"),
    (Command::WatchSort, "sort"),
    (Command::WatchExport, "export"),
];

const EMPTY: [(Command, &str); 4] = [
    (Command::View(ViewKind::Decided), "decided"),
    (Command::Watch, "watch"),
    (Command::Palette, "commands"),
    (Command::Quit, "quit"),
];

pub(crate) fn draw_hints(model: &Model, layout: &Layout, buf: &mut Buffer) {
    let keymap = &model.settings.keymap;
    let mut pen = Pen::new(buf, layout.hints, 0);
    pen.ours(" ", theme::PLAIN);
    let sheet = model.sheet.is_some() && !places::is_open(model);
    if sheet || model.screen.overlay.is_some() {
        if model.screen.overlay.is_none() && sends_with_a_key(model) {
            hint(keymap, Command::Confirm, "send", &mut pen);
        }
        hint(keymap, Command::Back, "back", &mut pen);
        return;
    }
    let help = keymap.key(Command::Help);
    pen.shorten(help.len() + words::ALL_KEYS.len() + 1);
    let (lead, first) = here(model);
    pen.ours(&lead, theme::BOLD);
    let rest = rest(model).into_iter().map(|spec| (spec.command, spec.hint));
    let told: Vec<Command> = first.iter().map(|(command, _)| *command).collect();
    let rest = rest.filter(|(command, _)| !told.contains(command));
    let some = model.queue.mark_sums().some.iter().filter(|key| !model.queue.is_filtered_out(key));
    let marked: Vec<&Slot> =
        some.filter_map(|key| model.queue.get(key)).filter(|slot| slot.is_pending()).collect();
    let hints = first.iter().copied().chain(rest).filter(|(command, _)| works(model, &marked, *command));
    for (command, word) in hints.take(HINTS) {
        if !hint(keymap, command, word, &mut pen) {
            break;
        }
    }
    let mut pen = Pen::new(buf, layout.hints, 0);
    pen.keep(help.len() + words::ALL_KEYS.len()).ours(&help, theme::KEY).ours(words::ALL_KEYS, theme::DIM);
}

/// Draws a hint. Returns false if it does not fit. Commands without a key are skipped.
fn hint(keymap: &Keymap, command: Command, word: &str, pen: &mut Pen<'_>) -> bool {
    let Some(key) = keymap.keys(command).first().map(|key| short(key)) else { return true };
    if key.len() + word.len() + 3 > pen.left() {
        return false;
    }
    pen.ours(&key, theme::KEY).ours(&format!(" {word}  "), theme::PLAIN);
    true
}

fn here(model: &Model) -> (String, Vec<(Command, &'static str)>) {
    use Command as C;
    let in_list = model.history.open.is_none() && model.screen.focus == Focus::List && !model.screen.zoom;
    let marked = model.queue.marks.len();
    let on_header = matches!(model.queue.cursor(), Some(Cursor::Header(_)));
    if model.watches() {
        return (String::new(), WATCH.to_vec());
    }
    if places::is_open(model) {
        return (String::new(), places::hints(model));
    }
    if is_empty(model) {
        return (String::new(), EMPTY.to_vec());
    }
    if in_list && model.queue.has_range() {
        let words = vec![
            (C::Range, words::MARKS_IT),
            (C::Approve, "approve"),
            (C::Exclude, "exclude"),
            (C::Back, words::DROP_IT),
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
            vec![(C::Open, open), (C::ApproveRest, words::APPROVE_REST), (C::ReviewBatch, "send")],
        );
    }
    (String::new(), Vec::new())
}

fn sends_with_a_key(model: &Model) -> bool {
    let Some(sheet) = model.sheet.get::<ReviewSheet>() else { return false };
    let review = sheet.review.as_ref().filter(|review| review.submission.is_some());
    review.is_some_and(|review| review.confirm == Confirm::Key)
}

fn is_empty(model: &Model) -> bool {
    let bare = model.sheet.is_none() && model.history.open.is_none() && !model.watches();
    bare && model.queue.slots.is_empty()
}

/// Returns the commands that have a hint in this context.
fn rest(model: &Model) -> Vec<&'static Spec> {
    let places = model.places();
    let fits = |command: Command| match command {
        Command::Help => false,
        _ if is_empty(model) => false,
        Command::Inbox => model.history.open.is_some() || model.watches(),
        command if model.history.open.is_some() && command.is_of_the_queue() => false,
        _ => true,
    };
    let works = |spec: &&Spec| spec.places.iter().any(|place| places.contains(place));
    let mut specs: Vec<_> =
        COMMANDS.iter().filter(|spec| !spec.hint.is_empty() && fits(spec.command)).filter(works).collect();
    specs.sort_by_key(|spec| FIRST.iter().position(|first| *first == spec.command).unwrap_or(FIRST.len()));
    specs
}

const LOOKED_AT: usize = 100;

/// Returns true if the command changes anything for the selection.
fn works(model: &Model, marked: &[&Slot], command: Command) -> bool {
    let queue = &model.queue;
    let target = |allowed: &dyn Fn(&Slot) -> bool| {
        let works = |slot: &Slot| slot.is_pending() && slot.entry.row.can.can_decide() && allowed(slot);
        if marked.is_empty() {
            model.here().is_some_and(works)
        } else {
            marked.iter().any(|slot| works(slot))
        }
    };
    let group = |works: &dyn Fn(&Slot) -> bool| {
        queue.group_here().is_some_and(|group| queue.rows_of(group).take(LOOKED_AT).any(works))
    };
    let staged = |slot: &Slot| model.decide.draft.get(&slot.entry.key).is_some();
    let approves = |slot: &Slot| approval(model, &slot.entry.key).is_ok();
    let clears =
        |slot: &Slot| model.decide.draft.get(&slot.entry.key).is_some_and(|it| it.decision.kind().approves());
    let is_free = model.submit.held.is_none();
    match command {
        Command::Approve => target(&|slot| clears(slot) || slot.entry.row.can.answer || approves(slot)),
        Command::ApproveRest => group(&|slot| {
            let is_read = !slot.entry.row.risk.is_high() && model.seen_of(slot).is_some();
            slot.is_pending() && !staged(slot) && is_read && approves(slot)
        }),
        Command::Exclude => target(&|slot| slot.entry.row.can.reject),
        Command::Edit => target(&|slot| slot.entry.row.can.edit),
        Command::Ask(kind) => target(&|slot| slot.entry.row.can.takes(kind)),
        Command::ResolveUnknown => resolve_unknown::target(model).is_ok(),
        Command::Mark if model.here().is_none() => group(&Slot::is_pending),
        Command::Mark => model.here().is_some_and(Slot::is_pending),
        Command::NextUndecided if search::is_on(model) => true,
        Command::NextUndecided => {
            let here = model.here().filter(|slot| slot.is_pending() && !staged(slot));
            let is_undecided = |index| queue.slot(index).is_some_and(|it| it.is_pending() && !staged(it));
            model.history.open.is_none()
                && model.undecided() > usize::from(here.is_some())
                && (!queue.is_filtered || queue.after_cursor().take(LOOKED_AT).any(is_undecided))
        }
        Command::First => model.history.open.is_none() && queue::first::leads_away(model),
        Command::Zoom => model.screen.zoom || model.here().is_some(),
        Command::NextTab => model.here().is_some(),
        Command::Undo => !is_free || model.decide.draft.last().is_some(),
        Command::ReviewBatch | Command::ReviewAll => {
            let here = if let Some(sheet) = model.sheet.get::<ReviewSheet>() { sheet.keys.len() } else { 0 };
            is_free && model.submit.sending.is_none() && model.unsent() > here
        }
        Command::View(ViewKind::Decided) => model.list.sources.iter().any(|source| source.records.lists),
        command => dashboard::panels::works(model, command),
    }
}
