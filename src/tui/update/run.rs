//! From a command to the room that does it.

use crate::domain::Finding;
use crate::journal::Says;
use crate::tui::command::Command;
use crate::tui::model::{Focus, Modal, Model};
use crate::tui::msg::Effect;

use super::{
    copy, decide, edit, export, filter, find, jump, leave, list, order, overlay, preview, queue, reader,
    reason, report, review, settle, stage, views, watch, window,
};

/// The router of commands: one line each, exhaustive.
#[allow(clippy::too_many_lines, reason = "a table: one line a command, and no command can be forgotten")]
pub(super) fn run(model: &mut Model, command: Command) -> Vec<Effect> {
    if model.overlay.is_some() {
        return overlay::run(model, command);
    }
    if model.watches()
        && model.modal.is_none()
        && let Some(effects) = watch::run(model, command)
    {
        return effects;
    }
    match command {
        Command::Down => list::down(model, 1),
        Command::Up => list::up(model, 1),
        Command::Top => list::top(model),
        Command::Bottom => list::bottom(model),
        Command::HalfDown => list::half(model, list::Way::Down),
        Command::HalfUp => list::half(model, list::Way::Up),
        Command::Open => list::open(model),
        Command::Fold => list::fold(model),
        Command::Unfold => list::unfold(model),
        Command::FoldAll => list::fold_all(model, true),
        Command::UnfoldAll => list::fold_all(model, false),
        Command::NextUndecided if find::is_on(model) => find::next(model, list::Way::Down),
        Command::PreviousUndecided if find::is_on(model) => find::next(model, list::Way::Up),
        Command::NextUndecided => list::next_undecided(model, list::Way::Down),
        Command::PreviousUndecided => list::next_undecided(model, list::Way::Up),
        Command::Mark => list::mark(model),
        Command::Range => list::range(model),
        Command::RangeDown => list::extend(model, list::Way::Down),
        Command::RangeUp => list::extend(model, list::Way::Up),
        Command::MarkShown => list::mark_shown(model),
        Command::Filter => filter::open(model),
        Command::SavedFilters => filter::open_saved(model),
        Command::SortBy(by) => order::sort(model, by),
        Command::GroupBy(by) => order::group(model, by),
        Command::Freeze => order::freeze(model),
        Command::Approve => decide::approve(model),
        Command::ApproveRest => decide::approve_rest(model),
        Command::Exclude => decide::exclude(model),
        Command::ExcludeBecause => reason::open(model, Says::Reason),
        Command::Comment => reason::comment(model),
        Command::Retry => reason::open(model, Says::Guidance),
        Command::ExportReport => export::export(model),
        Command::CopyReport => export::copy(model),
        Command::ReviewInstead => leave::review(model),
        Command::Discard => leave::discard(model),
        Command::ShowFirst => jump::first(model),
        Command::ShowChanged => jump::changed(model),
        Command::NextReason => reason::next_template(model),
        Command::Settle => settle::open(model),
        Command::Landed => settle::pick(model, Finding::Landed),
        Command::NotLanded => settle::pick(model, Finding::NotLanded),
        Command::RunAgain => settle::pick(model, Finding::RunAgain),
        Command::Edit => edit::open(model),
        Command::EditOutside => edit::open_outside(model),
        Command::Editor => edit::editor(model),
        Command::FieldBack => edit::field_back(model),
        Command::RawJson => edit::raw(model),
        Command::Clear => decide::clear(model),
        Command::Undo => stage::undo(model),
        Command::Redo => stage::redo(model),
        Command::ReviewBatch => review::open_batch(model),
        Command::ReviewAll => review::open_all(model),
        Command::LastReport => report::reopen(model),
        Command::View(kind) => views::open(model, kind),
        Command::Inbox => {
            watch::close(model);
            views::close(model)
        }
        Command::Watch => watch::open(model),
        Command::Reload if model.view.is_some() => views::reload(model),
        Command::Reload => queue::reload(model),
        Command::ScrollDown => preview::scroll(model, list::Way::Down, 1),
        Command::ScrollUp => preview::scroll(model, list::Way::Up, 1),
        Command::PageDown | Command::ReadOn => preview::page(model, list::Way::Down),
        Command::PageUp => preview::page(model, list::Way::Up),
        Command::PreviewEnd => preview::end(model),
        Command::PreviousTab => preview::tab(model, list::Way::Up),
        Command::NextTab => preview::tab(model, list::Way::Down),
        Command::Diff => preview::diff(model),
        Command::Zoom => list::zoom(model, !model.zoom),
        Command::FoldHere => reader::fold(model),
        Command::Wrap => reader::wrap(model),
        Command::GoLeft => reader::sideways(model, list::Way::Up),
        Command::GoRight => reader::sideways(model, list::Way::Down),
        Command::HidePreview => reader::hide(model),
        Command::PreviewBelow => reader::below(model),
        Command::Search => find::open(model),
        Command::SwitchFocus => list::switch_focus(model),
        Command::FocusList => list::focus(model, Focus::List),
        Command::FocusPreview => list::focus(model, Focus::Preview),
        Command::Help => overlay::help(model),
        Command::Palette => overlay::palette(model),
        Command::CopyId => copy::id(model),
        Command::CopyJson => copy::json(model),
        Command::CopyText => copy::text(model),
        Command::CopyLink => copy::link(model),
        Command::CopyShell => copy::command(model),
        Command::OpenLink => copy::links(model),
        Command::CopyThisLink => copy::this_link(model),
        Command::Mouse => window::toggle_mouse(model),
        Command::Repaint => vec![Effect::Repaint],
        Command::Suspend => leave::suspend(model),
        Command::Back => leave::back(model),
        Command::Quit => leave::quit(model),
        Command::Interrupt => leave::interrupt(model),
        Command::Confirm => confirm(model),
        Command::Accept => accept(model),
        Command::NextField if settle::is_open(model) => settle::to_reason(model),
        Command::NextField => edit::next_field(model, list::Way::Down),
        Command::PreviousField => edit::next_field(model, list::Way::Up),
        // On their own view alone.
        Command::WatchOpen
        | Command::WatchPanel
        | Command::WatchPanelBack
        | Command::WatchSort
        | Command::WatchWindow
        | Command::AlertsOnly
        | Command::Acknowledge
        | Command::Mute
        | Command::WatchExport => Vec::new(),
    }
}

/// Enter, in what is open.
fn accept(model: &mut Model) -> Vec<Effect> {
    match &model.modal {
        None if find::is_typing(model) => find::keep(model),
        Some(Modal::Review(_)) => review::enter(model),
        Some(Modal::Reason(_)) => reason::accept(model),
        Some(Modal::Links(_)) => copy::open(model),
        Some(Modal::Settle(_) | Modal::Report(_)) => leave::back(model),
        Some(Modal::Quit(_)) => leave::enter(model),
        Some(Modal::Filter(_)) => filter::keep(model),
        Some(Modal::Saved | Modal::Edit(_) | Modal::EditSoon { .. }) | None => Vec::new(),
    }
}

/// The confirm key, in what is open.
fn confirm(model: &mut Model) -> Vec<Effect> {
    if settle::is_open(model) { settle::confirm(model) } else { review::confirm(model) }
}
