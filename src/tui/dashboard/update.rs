//! Updates the figures with every message, and handles the keys of the watch view. Does not decide or send anything.

use std::path::PathBuf;

use crossterm::event::KeyEvent;
use ratatui::layout::Position;

use crate::domain::{ActionKey, Flows, Minute, SourceName, Status, Untrusted};
use crate::inbox::figures::{self, Alert, AlertKind, BoardRequest, Happening, HappeningKind};
use crate::inbox::filter::Filter;
use crate::inbox::{EventKind, Problem, Sending};
use crate::text;
use crate::text::{Shown, count};
use crate::tui::chrome::state::Tone;
use crate::tui::core::command::{Command, Direction, KeyContext, shift};
use crate::tui::core::keymap::{Chord, Lookup};
use crate::tui::core::model::Model;
use crate::tui::core::msg::{Effect, What};
use crate::tui::dashboard::words;
use crate::tui::history;
use crate::tui::history::state::ViewKind;
use crate::tui::people;
use crate::tui::queue::state::Cursor;
use crate::tui::queue::{filter, sync};

use super::layout::WatchLayout;
use super::panels::{layout_on_screen, panels};
use super::state::{Alarms, Panel, RowId, StartView, Watch, visible_state};

pub(crate) fn open(model: &mut Model) {
    history::update::close(model);
    model.screen.message = None;
    let watch = &mut model.dashboard.watch;
    watch.open = true;
    watch.alerts_only = false;
    // Ask again without delay.
    watch.asking.clear();
    model.dashboard.figures.ask_again();
    if watch.frozen.is_none() {
        refresh_now(model);
    }
}

pub(crate) fn close(model: &mut Model) {
    if std::mem::take(&mut model.dashboard.watch.open) {
        // The queue's rows may have changed while they were hidden.
        model.decide.guard.changed(model.now);
    }
}

/// Runs a command of this view. Returns false for commands that work everywhere.
pub(crate) fn run(model: &mut Model, command: Command) -> bool {
    match command {
        Command::Down => step(model, Direction::Down, 1),
        Command::Up => step(model, Direction::Up, 1),
        Command::Top => step(model, Direction::Up, usize::MAX),
        Command::Bottom => step(model, Direction::Down, usize::MAX),
        Command::HalfDown => step(model, Direction::Down, page(model) / 2),
        Command::HalfUp => step(model, Direction::Up, page(model) / 2),
        Command::PageDown => step(model, Direction::Down, page(model)),
        Command::PageUp => step(model, Direction::Up, page(model)),
        Command::WatchOpen => open_row(model),
        Command::WatchPanel => tab(model, Direction::Down),
        Command::WatchPanelBack => tab(model, Direction::Up),
        Command::WatchSort => sort(model),
        Command::WatchWindow => window(model),
        Command::Freeze => freeze(model),
        Command::AlertsOnly => alerts_only(model),
        Command::Acknowledge => acknowledge(model),
        Command::Mute => mute(model),
        Command::WatchExport => export(model),
        Command::Reload => reload(model),
        Command::View(kind) => history::update::open(model, kind),
        Command::Back if model.dashboard.watch.alerts_only => model.dashboard.watch.alerts_only = false,
        Command::Quit if model.settings.opens == StartView::Watch => return false,
        Command::Inbox | Command::Back | Command::Quit => close(model),
        Command::Watch => {}
        Command::Help
        | Command::Palette
        | Command::Repaint
        | Command::Suspend
        | Command::Mouse
        | Command::Interrupt => return false,
        _ => refuse(model),
    }
    true
}

pub(crate) fn stray(model: &mut Model, key: KeyEvent) {
    let inbox = [KeyContext::List, KeyContext::Preview, KeyContext::Inbox];
    let meant = model.settings.keymap.lookup(&[Chord::from(key)], &inbox);
    if matches!(meant, Lookup::Command(command) if command.is_of_the_queue()) {
        refuse(model);
    }
}

fn refuse(model: &mut Model) {
    let inbox = model.settings.keymap.key(Command::Inbox);
    model.warn(words::nothing_decided_here(&inbox));
}

fn step(model: &mut Model, way: Direction, by: usize) {
    let watch = &mut model.dashboard.watch;
    watch.go_to(shift(watch.at(watch.focus()), way, by.max(1)));
}

fn page(model: &Model) -> usize {
    let focus = model.dashboard.watch.focus();
    layout_on_screen(model).room(focus, model.dashboard.watch.len(focus)).max(1)
}

fn tab(model: &mut Model, way: Direction) {
    model.dashboard.watch.alerts_only = false;
    let panels = panels(model);
    let watch = &mut model.dashboard.watch;
    let at = panels.iter().position(|panel| *panel == watch.panel).unwrap_or_default();
    let next = match way {
        Direction::Down => at + 1,
        Direction::Up => at + panels.len() - 1,
    };
    focus(watch, panels.get(next % panels.len().max(1)).copied().unwrap_or(Panel::Queues));
}

fn focus(watch: &mut Watch, panel: Panel) {
    watch.panel = panel;
    if panel != Panel::Queues {
        watch.below = panel;
    }
}

/// Focuses a panel, unless only alerts are shown.
fn focus_on(model: &mut Model, panel: Panel) {
    if panel != Panel::Alerts {
        focus(&mut model.dashboard.watch, panel);
    }
}

fn sort(model: &mut Model) {
    model.dashboard.watch.sort = model.dashboard.watch.sort.next();
    model.dashboard.watch.settle();
    model.say(format!("sorted: {}", model.dashboard.watch.sort.word()));
}

fn window(model: &mut Model) {
    let windows = Watch::WINDOWS;
    let at = windows.iter().position(|window| *window == model.dashboard.watch.window).unwrap_or_default();
    if model.dashboard.watch.frozen.is_some() {
        let key = model.settings.keymap.key(Command::Freeze);
        model.warn(words::figures_frozen(&key));
        return;
    }
    model.dashboard.watch.window =
        windows.get((at + 1) % windows.len()).copied().unwrap_or(model.dashboard.watch.window);
    // Another window needs other counts from the sources.
    model.dashboard.watch.asking.clear();
    refresh_now(model);
    model.say(words::last_minutes(model.dashboard.watch.window));
}

fn freeze(model: &mut Model) {
    if model.dashboard.watch.frozen.take().is_some() {
        refresh_now(model);
        model.say("live");
    } else {
        model.dashboard.watch.frozen = Some(model.dashboard.watch.board.at);
        let key = model.settings.keymap.key(Command::Freeze);
        model.say(words::frozen_until(&key));
    }
}

fn alerts_only(model: &mut Model) {
    model.dashboard.watch.alerts_only = !model.dashboard.watch.alerts_only;
    model.dashboard.watch.settle();
}

/// Returns the alerts that `K` and `m` apply to: the one under the cursor, or else all open ones.
fn meant(model: &Model) -> Vec<Alert> {
    let (watch, alerts) = (&model.dashboard.watch, &model.dashboard.watch.board.alerts);
    if !watch.alerts_only {
        return alerts.iter().filter(|alert| !watch.alarms.is_quiet(alert)).cloned().collect();
    }
    let Some(RowId::Alert(kind, source)) = watch.here() else { return Vec::new() };
    alerts.iter().filter(|alert| alert.kind == kind && alert.source == source).cloned().collect()
}

fn acknowledge(model: &mut Model) {
    let meant = meant(model);
    let alarms = &mut model.dashboard.watch.alarms;
    match meant.as_slice() {
        [only] if alarms.is_acknowledged(only) => {
            alarms.recall(only);
            model.say(words::NOT_ACKNOWLEDGED_ANY_MORE);
        }
        [] => model.say(words::NO_ALERT_IS_OPEN),
        many => {
            for alert in many {
                alarms.acknowledge(alert);
            }
            let n = count(many.len(), "alert");
            model.say(words::acknowledged(&n));
        }
    }
}

fn mute(model: &mut Model) {
    let (meant, now, only) = (meant(model), model.now, model.dashboard.watch.alerts_only);
    let Watch { alarms, board, .. } = &mut model.dashboard.watch;
    let muted = |alarms: &Alarms, alert: &Alert| alarms.muted_until(alert).is_some();
    let of: Vec<&Alert> = if meant.is_empty() && !only {
        // If no alert is left to mute, muted alerts are unmuted.
        board.alerts.iter().filter(|alert| muted(alarms, alert)).collect()
    } else {
        meant.iter().collect()
    };
    let n = count(of.len(), "alert");
    if of.is_empty() {
        model.say(words::NO_ALERT_IS_OPEN);
    } else if of.iter().all(|alert| muted(alarms, alert)) {
        for alert in of {
            alarms.unmute(alert);
        }
        model.say(words::unmuted(&n));
    } else {
        for alert in of {
            alarms.mute(alert, now);
        }
        model.say(words::muted(&n));
    }
}

fn reload(model: &mut Model) {
    model.dashboard.watch.asking.clear();
    model.dashboard.figures.ask_again();
    people::update::ask_again(model);
    model.sync_all();
    if model.dashboard.watch.frozen.is_none() {
        refresh_now(model);
    }
}

fn export(model: &mut Model) {
    let folder = model.settings.place.state.clone();
    let board = &model.dashboard.watch.board;
    let (json, csv) = (format!("{}\n", board.json(|_| None)), board.to_csv());
    model.effects.push(Effect::ExportBoard { folder, json, csv });
}

pub(crate) fn exported(model: &mut Model, answer: Result<Vec<PathBuf>, String>) {
    let (tone, word, what) = match answer {
        Ok(paths) => {
            // The files differ only in their extensions.
            let ends = paths.iter().skip(1).filter_map(|path| path.extension());
            let ends: Vec<String> = ends.map(|end| format!(" and .{}", end.display())).collect();
            let first = paths.first().map_or_else(String::new, |path| path.display().to_string());
            (Tone::Good, words::FIGURES_WRITTEN_TO, format!("{first}{}", ends.concat()))
        }
        Err(why) => (Tone::Bad, words::FIGURES_NOT_WRITTEN, why),
    };
    model.tell(tone, vec![Shown::ours(word), text::line(&Untrusted::from(what))]);
}

pub(crate) fn open_row(model: &mut Model) {
    match model.dashboard.watch.here() {
        Some(RowId::Queue(source, Some(queue))) => narrow(model, Filter::of_queue(&source, &queue)),
        Some(RowId::Queue(source, None)) => narrow(model, Filter::of_source(&source)),
        Some(RowId::Tool(tool)) => narrow(model, Filter::of_tool(&tool)),
        Some(RowId::Event(happening)) => event(model, &happening),
        Some(RowId::Alert(kind, source)) => alert(model, kind, &Filter::of_source(&source)),
        Some(RowId::Reviewer(..) | RowId::Group(..)) | None => {
            model.say(words::NOTHING_TO_OPEN);
        }
    }
}

fn narrow(model: &mut Model, filter: Filter) {
    close(model);
    sync::take_in(model);
    filter::show(model, Some(filter));
    let keys = &model.settings.keymap;
    let (watch, all) = (keys.key(Command::Watch), keys.key(Command::Back));
    model.say(words::only_these(&all, &watch));
}

fn alert(model: &mut Model, kind: AlertKind, source: &Filter) {
    let targets = model.settings.targets;
    match kind {
        AlertKind::RanOther | AlertKind::Failed => history::update::open(model, ViewKind::Failed),
        AlertKind::Lapsing => history::update::open(model, ViewKind::Approved),
        AlertKind::Unknown => narrow(model, source.and("is:unknown")),
        AlertKind::HighRisk => {
            narrow(model, source.and(&words::older_high_risk(&figures::words::limit(targets.high_risk))));
        }
        AlertKind::OverTarget => {
            narrow(model, source.and(&format!("age:>{}", figures::words::limit(targets.age))));
        }
        AlertKind::Expiring => {
            narrow(model, source.and(&format!("expires:<{}", figures::words::limit(targets.expiring))));
        }
        AlertKind::Down | AlertKind::Growing | AlertKind::Blocked => narrow(model, source.clone()),
    }
}

fn event(model: &mut Model, happening: &Happening) {
    use HappeningKind as K;
    match &happening.what {
        K::Arrived { count: 1, first, .. } => action(model, &first.key, None),
        K::Arrived { queue, .. } => narrow(model, Filter::of_queue(&happening.source, queue)),
        K::Decided { status, about, .. } | K::Ended { status, about } => {
            action(model, &about.key, list_of(status));
        }
        K::Left { status, about } => {
            let list = status.as_ref().map_or(Some(ViewKind::Expired), list_of);
            action(model, &about.key, list);
        }
        K::DecidedMany { .. }
        | K::LeftMany { .. }
        | K::Connection(_)
        | K::Unreadable { .. }
        | K::Paused
        | K::Resumed => narrow(model, Filter::of_source(&happening.source)),
    }
}

fn list_of(status: &Status) -> Option<ViewKind> {
    ViewKind::BY_STATUS.into_iter().find(|kind| kind.statuses().contains(status))
}

/// Goes to an action in the inbox, or in the list if it has ended.
fn action(model: &mut Model, key: &ActionKey, list: Option<ViewKind>) {
    if model.queue.get(key).is_none() && model.queue.held.contains_key(key) {
        sync::take_in(model);
    }
    if model.queue.get(key).is_some() {
        close(model);
        if model.queue.is_filtered_out(key) {
            filter::clear(model);
        }
        model.queue.go_to_identity(&Cursor::Action(key.clone()));
        return;
    }
    let Some(list) = list else {
        model.say(words::IT_IS_NO_LONGER_IN);
        return;
    };
    history::update::open(model, list);
    if let Some(view) = &mut model.history.open {
        view.aim(key.clone());
    }
}

// When the board is updated, and when sources are asked for their counts.

/// Milliseconds between updates: after news, without news, and with reduced motion.
const NEWS: i64 = 1_000;
const USUAL: i64 = 2_000;
const STILL: i64 = 10_000;

pub(crate) fn heard(model: &mut Model, kind: Option<&EventKind>) {
    if matches!(kind, Some(EventKind::Tick)) {
        return;
    }
    model.dashboard.watch.news = true;
}

/// Runs after every message.
pub(crate) fn follow(model: &mut Model) {
    let (watch, now) = (&model.dashboard.watch, model.now);
    if !model.watches() {
        // An acknowledged alert is shown again when it grows, even while the view is closed.
        if !watch.alarms.is_empty() && now.since(watch.board.at) >= STILL && watch.frozen.is_none() {
            refresh_now(model);
        }
        // Without current counts, acknowledged alerts would seem to end and come back.
        return if model.dashboard.watch.alarms.is_empty() {
        } else {
            ask(model);
        };
    }
    let gap = match (model.settings.reduced_motion, watch.news) {
        (true, _) => STILL,
        (false, true) => NEWS,
        (false, false) => USUAL,
    };
    if watch.frozen.is_none() && now.since(watch.board.at) >= gap {
        refresh_now(model);
    }
    keep_in_view(model);
    ask(model);
}

/// Updates the board, and redraws if it changed visibly.
pub(crate) fn refresh_now(model: &mut Model) {
    let ask = BoardRequest { window: model.dashboard.watch.window, columns: Watch::COLUMNS };
    let board = model.dashboard.figures.board(ask, model.now);
    let still = model.settings.reduced_motion;
    let is_other = visible_state(&board, still) != visible_state(&model.dashboard.watch.board, still);
    let watch = &mut model.dashboard.watch;
    let alarms = watch.alarms.look(&board.alerts, model.now);
    watch.board = board;
    watch.news = false;
    watch.settle();
    model.screen.dirty |= (is_other || alarms) && model.watches();
}

fn keep_in_view(model: &mut Model) {
    let focused = model.dashboard.watch.focus();
    if focused != Panel::Alerts && !panels(model).contains(&focused) {
        model.dashboard.watch.panel = Panel::Queues;
    }
    let layout = layout_on_screen(model);
    for (panel, _) in &layout.panes {
        let room = layout.room(*panel, model.dashboard.watch.len(*panel));
        model.dashboard.watch.keep_in_view(*panel, room);
    }
}

/// Asks the gates for their counts when due, one request at a time.
fn ask(model: &mut Model) {
    let (now, window) = (model.now, model.dashboard.watch.window);
    for source in model.list.sources.iter().filter(|source| source.records.flows) {
        if model.dashboard.watch.asking.contains(&source.name) {
            continue;
        }
        let Some(asked) = model.dashboard.figures.flows_due(&source.name, window, now) else { continue };
        model.dashboard.watch.asking.insert(source.name.clone());
        model.effects.push(Effect::Flows { source: source.name.clone(), asked });
    }
}

/// Takes a gate's counts. If there are none, this client's own counts are used until the next request.
pub(crate) fn flowed(model: &mut Model, source: &SourceName, answer: Result<Option<Flows>, Problem>) {
    model.dashboard.watch.asking.remove(source);
    match answer {
        Ok(Some(flows)) => {
            model.dashboard.figures.told(source, flows, model.now);
            model.dashboard.watch.news = true;
        }
        Ok(None) => {}
        Err(problem) => {
            tracing::debug!(%source, what = problem.what, "a source did not tell its counts");
        }
    }
}

/// Asks for the counts once, without delay.
pub(crate) fn ask_now(model: &mut Model) {
    model.dashboard.figures.ask_again();
    ask(model);
}

pub(crate) fn wheel(model: &mut Model, at: Position, way: Direction, by: usize) {
    if let Some(panel) = under(&layout_on_screen(model), at) {
        focus_on(model, panel);
        step(model, way, by);
    }
}

pub(crate) fn click(model: &mut Model, at: Position) {
    let layout = layout_on_screen(model);
    let Some(panel) = under(&layout, at) else { return };
    focus_on(model, panel);
    let rows = layout.rows(panel);
    let row = model.dashboard.watch.top(panel) + usize::from(at.y.saturating_sub(rows.y));
    let shown = layout.room(panel, model.dashboard.watch.len(panel));
    let on_row = rows.contains(at) && usize::from(at.y - rows.y) < shown;
    if on_row && row < model.dashboard.watch.len(panel) {
        model.dashboard.watch.go_to(row);
    }
}

fn under(layout: &WatchLayout, at: Position) -> Option<Panel> {
    let panes = layout.panes.iter().filter(|(panel, area)| panel.has_rows() && area.contains(at));
    panes.map(|(panel, _)| *panel).next()
}

// Counting, whether the figures are shown or not.

pub(crate) fn feed(model: &mut Model, what: &What) {
    let now = model.now;
    let figures = &mut model.dashboard.figures;
    match what {
        What::Source(event) => figures.event(event, now),
        What::Synced(_, Ok(synced)) => figures.listed(synced, now),
        What::Synced(source, Err(problem)) => figures.not_listed(source, &problem.what, now),
        What::Sending(_, Sending::Partly(report)) | What::Submitted(_, Ok(report)) => {
            figures.submitted(report);
        }
        What::Followed(followed) => figures.followed(followed, now),
        What::KeptMinutes(kept) => figures.restore(kept),
        _ => {}
    }
}

/// Saves the figures once a minute, for a restart.
pub(crate) fn keep(model: &mut Model) {
    let minute = Minute::of(model.now);
    if model.dashboard.kept_at.replace(minute) == Some(minute) {
        return;
    }
    let kept = model.dashboard.figures.take_unkept(model.now);
    if !kept.is_empty() {
        model.effects.push(Effect::KeepMinutes(kept));
    }
}

pub(crate) fn end(model: &mut Model) {
    model.dashboard.kept_at = None;
    keep(model);
}
