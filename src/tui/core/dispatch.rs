//! Calls the function of each command.

use crate::domain::{DecisionKind, Resolution};
use crate::tui::chrome::state::Focus;
use crate::tui::chrome::{copy, leave, overlay, window};
use crate::tui::decide::{reason, stage, take_back};
use crate::tui::preview::page::made::Tab;
use crate::tui::preview::{links_sheet, reader};
use crate::tui::queue::{filter, places, saved_filters, sync};
use crate::tui::submit::{report, resolve_unknown, review};
use crate::tui::{claims, dashboard, decide, edit, history, preview, queue, snooze};

use super::command::{Command, Direction};
use super::model::Model;
use super::msg::Effect;

/// Runs a command. Exhaustive, one line each.
#[allow(clippy::too_many_lines, reason = "a table: one line a command, and no command can be forgotten")]
pub(crate) fn run(model: &mut Model, command: Command) {
    if model.screen.overlay.is_some() {
        if let Some(chosen) = overlay::run(model, command) {
            seeing(model, chosen);
        }
        return;
    }
    if model.watches() && model.sheet.is_none() && dashboard::update::run(model, command) {
        return;
    }
    match command {
        Command::Down => queue::update::go(model, Direction::Down, 1),
        Command::Up => queue::update::go(model, Direction::Up, 1),
        Command::Top => queue::update::go(model, Direction::Up, usize::MAX),
        Command::Bottom => queue::update::go(model, Direction::Down, usize::MAX),
        Command::HalfDown => queue::update::half(model, Direction::Down),
        Command::HalfUp => queue::update::half(model, Direction::Up),
        Command::Open if links_sheet::leads(model) => links_sheet::follow(model),
        Command::Open => queue::update::open(model),
        Command::Fold => queue::update::fold(model),
        Command::Unfold => queue::update::unfold(model),
        Command::FoldAll => queue::update::fold_all(model, true),
        Command::UnfoldAll => queue::update::fold_all(model, false),
        Command::NextUndecided if preview::search::is_on(model) => {
            preview::search::next(model, Direction::Down);
        }
        Command::PreviousUndecided if preview::search::is_on(model) => {
            preview::search::next(model, Direction::Up);
        }
        Command::NextUndecided => queue::update::next_undecided(model, Direction::Down),
        Command::PreviousUndecided => queue::update::next_undecided(model, Direction::Up),
        Command::First => queue::first::go(model),
        Command::Mark => queue::update::mark(model),
        Command::Range => queue::update::range(model),
        Command::RangeDown => queue::update::extend(model, Direction::Down),
        Command::RangeUp => queue::update::extend(model, Direction::Up),
        Command::MarkShown => queue::update::mark_shown(model),
        Command::Filter => filter::open(model),
        Command::SavedFilters => saved_filters::open_sheet(model),
        Command::SaveFilter => saved_filters::name_new(model),
        Command::RenameFilter => saved_filters::rename(model),
        Command::RemoveFilter => saved_filters::remove(model),
        Command::SortBy(by) => queue::update::sort(model, by),
        Command::GroupBy(by) => queue::update::group(model, by),
        Command::Freeze => queue::update::freeze(model),
        Command::Approve => decide::update::approve(model),
        Command::ApproveRest => decide::update::approve_rest(model),
        Command::Exclude => reason::exclude(model),
        Command::ExcludeBecause => reason::open(model, DecisionKind::Reject),
        Command::Comment => reason::comment(model),
        Command::Ask(kind) => reason::open(model, kind),
        Command::ExportReport => report::export(model),
        Command::CopyReport => report::copy(model),
        Command::ReviewInstead => leave::review(model),
        Command::Discard => leave::discard(model),
        Command::ShowFirst => review::first(model),
        Command::ShowChanged => review::changed(model),
        Command::NextReason => reason::next_template(model),
        Command::ResolveUnknown => resolve_unknown::open(model),
        Command::TakeBack => take_back::ask(model),
        Command::Landed => resolve_unknown::pick(model, Resolution::Landed),
        Command::NotLanded => resolve_unknown::pick(model, Resolution::NotLanded),
        Command::RunAgain => resolve_unknown::pick(model, Resolution::RunAgain),
        Command::Claim => claims::update::toggle(model),
        Command::Snooze => snooze::update::key(model),
        Command::Edit => edit::update::open(model),
        Command::EditOutside => edit::update::open_outside(model),
        Command::Editor => edit::update::editor(model),
        Command::FieldBack => edit::update::field_back(model),
        Command::RawJson => edit::update::raw(model),
        Command::Clear => decide::update::clear(model),
        Command::Undo => stage::undo(model),
        Command::Redo => stage::redo(model),
        Command::ReviewBatch => review::open_batch(model),
        Command::ReviewAll => review::open_all(model),
        Command::LastReport => report::reopen(model),
        Command::View(kind) => history::update::open(model, kind),
        Command::Inbox => {
            dashboard::update::close(model);
            history::update::close(model);
        }
        Command::Watch => dashboard::update::open(model),
        Command::Reload if model.history.open.is_some() => history::update::reload(model),
        Command::Reload => sync::reload(model),
        Command::ScrollDown => preview::update::scroll(model, Direction::Down, 1),
        Command::ScrollUp => preview::update::scroll(model, Direction::Up, 1),
        Command::PageDown | Command::ReadOn => preview::update::page(model, Direction::Down),
        Command::PageUp => preview::update::page(model, Direction::Up),
        Command::PreviewEnd => preview::update::end(model),
        Command::PreviousTab => preview::update::tab(model, Direction::Up),
        Command::NextTab => preview::update::tab(model, Direction::Down),
        Command::Diff => preview::update::diff(model),
        Command::Zoom => preview::update::zoom(model, !model.screen.zoom),
        Command::FoldHere if model.preview.tab == Tab::Context => links_sheet::follow(model),
        Command::FoldHere => reader::fold(model),
        Command::Wrap => reader::wrap(model),
        Command::GoLeft => reader::sideways(model, Direction::Up),
        Command::GoRight => reader::sideways(model, Direction::Down),
        Command::HidePreview => reader::hide(model),
        Command::PreviewBelow => reader::below(model),
        Command::Search => preview::search::open(model),
        Command::SwitchFocus => queue::update::switch_focus(model),
        Command::FocusPlaces => places::open(model),
        Command::FocusList if places::is_open(model) => places::keep(model, Focus::List),
        Command::FocusPreview if places::is_open(model) => places::keep(model, Focus::Preview),
        Command::FocusList => queue::update::focus(model, Focus::List),
        Command::FocusPreview => queue::update::focus(model, Focus::Preview),
        Command::Help => overlay::help(model),
        Command::Palette => overlay::palette(model),
        Command::CopyId => copy::id(model),
        Command::CopyJson => copy::json(model),
        Command::CopyText => copy::text(model),
        Command::CopyLink => copy::link(model),
        Command::CopyShell => copy::command(model),
        Command::OpenLink => copy::links(model),
        Command::CopyThisLink => links_sheet::this_link(model),
        Command::Mouse => window::toggle_mouse(model),
        Command::Repaint => model.effects.push(Effect::Repaint),
        Command::Suspend => leave::suspend(model),
        Command::Back => leave::back(model),
        Command::Quit => leave::quit(model),
        Command::Interrupt => leave::interrupt(model),
        Command::Confirm => confirm(model),
        Command::Accept => accept(model),
        Command::NextField if resolve_unknown::is_open(model) => resolve_unknown::to_reason(model),
        Command::NextField => edit::update::next_field(model, Direction::Down),
        Command::PreviousField => edit::update::next_field(model, Direction::Up),
        // Handled by the watch view.
        Command::WatchOpen
        | Command::WatchPanel
        | Command::WatchPanelBack
        | Command::WatchSort
        | Command::WatchWindow
        | Command::AlertsOnly
        | Command::Acknowledge
        | Command::Mute
        | Command::WatchExport => {}
    }
}

fn accept(model: &mut Model) {
    match model.sheet.keys() {
        Some(keys) => (keys.accept)(model),
        None if model.is_searching() => preview::search::keep(model),
        None => {}
    }
}

fn confirm(model: &mut Model) {
    if let Some(keys) = model.sheet.keys() {
        (keys.confirm)(model);
    }
}

/// Runs a command on a screen large enough to show its target.
pub(crate) fn seeing(model: &mut Model, command: Command) {
    let still_deciding = matches!(
        command,
        Command::Approve
            | Command::Exclude
            | Command::ExcludeBecause
            | Command::Comment
            | Command::Ask(_)
            | Command::NextReason
            | Command::Accept
            | Command::ReviewBatch
            | Command::Palette
    );
    if model.screen.overlay.is_none() && !still_deciding {
        model.decide.decided_in = None;
    }
    if model.history.open.is_some() && model.sheet.is_none() && command.is_of_the_queue() {
        return history::update::refuse(model);
    }
    queue::update::end_range(model, command);
    let learned = model.screen.overlay.is_none() && model.uses(command);
    run(model, command);
    model.effects.extend(learned.then(|| Effect::Learn(model.screen.learned.clone())));
    if model.decide.guard.is_wide_again(command) {
        decide::update::caps_lock(model);
    }
}
