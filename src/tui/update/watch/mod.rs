//! The watch view: figures to look at. No key here decides, stages or sends anything.

use std::path::PathBuf;

use crossterm::event::KeyEvent;

use crate::domain::Untrusted;
use crate::inbox::figures::Alert;
use crate::text::{self, Shown, count};
use crate::tui::command::{Command, Place};
use crate::tui::keymap::{Chord, Lookup};
use crate::tui::layout::WatchShape;
use crate::tui::model::{Alarms, At, Model, Opens, Panel, Tone, Watch};
use crate::tui::msg::Effect;

use super::list::{Way, shift};
use super::{leave, queue, views};

mod go;
mod look;
mod mouse;

pub(in crate::tui) use look::ask_now;
pub(super) use look::{flowed, follow, heard};
pub(super) use mouse::{click, wheel};

/// In the place of a list of what is over, too.
pub(super) fn open(model: &mut Model) -> Vec<Effect> {
    drop(views::close(model));
    model.message = None;
    let watch = &mut model.watch;
    watch.open = true;
    watch.alerts_only = false;
    // From the newest.
    watch.asking.clear();
    model.figures.ask_again();
    if watch.frozen.is_none() {
        look::now(model);
    }
    Vec::new()
}

/// To the inbox, as it was left.
pub(super) fn close(model: &mut Model) {
    if std::mem::take(&mut model.watch.open) {
        // Its rows may have changed while they were not on screen.
        model.guard.changed(model.now);
    }
}

/// A command on this view; `None` for those that mean the same everywhere.
pub(super) fn run(model: &mut Model, command: Command) -> Option<Vec<Effect>> {
    match command {
        Command::Down => step(model, Way::Down, 1),
        Command::Up => step(model, Way::Up, 1),
        Command::Top => step(model, Way::Up, usize::MAX),
        Command::Bottom => step(model, Way::Down, usize::MAX),
        Command::HalfDown => step(model, Way::Down, page(model) / 2),
        Command::HalfUp => step(model, Way::Up, page(model) / 2),
        Command::PageDown => step(model, Way::Down, page(model)),
        Command::PageUp => step(model, Way::Up, page(model)),
        Command::WatchOpen => return Some(go::open(model)),
        Command::WatchPanel => tab(model, Way::Down),
        Command::WatchPanelBack => tab(model, Way::Up),
        Command::WatchSort => sort(model),
        Command::WatchWindow => window(model),
        Command::Freeze => freeze(model),
        Command::AlertsOnly => alerts_only(model),
        Command::Acknowledge => acknowledge(model),
        Command::Mute => mute(model),
        Command::WatchExport => return Some(export(model)),
        Command::Reload => return Some(reload(model)),
        Command::View(kind) => return Some(views::open(model, kind)),
        Command::Back if model.watch.alerts_only => model.watch.alerts_only = false,
        Command::Quit if model.settings.opens == Opens::Watch => return Some(leave::quit(model)),
        Command::Inbox | Command::Back | Command::Quit => close(model),
        Command::Watch => {}
        Command::Help
        | Command::Palette
        | Command::Repaint
        | Command::Suspend
        | Command::Mouse
        | Command::Interrupt => return None,
        _ => refuse(model),
    }
    Some(Vec::new())
}

/// A key that decides in the inbox, and means nothing here.
pub(super) fn stray(model: &mut Model, key: KeyEvent) {
    let inbox = [Place::List, Place::Preview, Place::Inbox];
    let meant = model.settings.keymap.lookup(&[Chord::from(key)], &inbox);
    if matches!(meant, Lookup::Command(command) if command.is_of_the_queue()) {
        refuse(model);
    }
}

fn refuse(model: &mut Model) {
    let inbox = model.settings.keymap.key(Command::Inbox);
    model.warn(format!("nothing is decided here: {inbox} goes to the inbox"));
}

fn step(model: &mut Model, way: Way, by: usize) {
    let watch = &mut model.watch;
    watch.go_to(shift(watch.at(watch.focus()), way, by.max(1)));
}

/// Rows of the panel that keys are for.
fn page(model: &Model) -> usize {
    let focus = model.watch.focus();
    model.watch_layout().room(focus, model.watch.len(focus)).max(1)
}

/// The next panel, or the one before, round the end. Where all are on screen, those without rows are left out.
fn tab(model: &mut Model, way: Way) {
    let all = model.watch_layout().shape == WatchShape::All;
    let watch = &mut model.watch;
    watch.alerts_only = false;
    let panels: Vec<Panel> = Panel::ALL.into_iter().filter(|panel| !all || panel.has_rows()).collect();
    let at = panels.iter().position(|panel| *panel == watch.panel).unwrap_or_default();
    let next = match way {
        Way::Down => at + 1,
        Way::Up => at + panels.len() - 1,
    };
    focus(watch, panels.get(next % panels.len().max(1)).copied().unwrap_or(Panel::Queues));
}

fn focus(watch: &mut Watch, panel: Panel) {
    watch.panel = panel;
    if panel != Panel::Queues {
        watch.beside = panel;
    }
}

/// Keys are for this panel from now on; where only alerts are on screen, they stay.
fn focus_on(model: &mut Model, panel: Panel) {
    if panel != Panel::Alerts {
        focus(&mut model.watch, panel);
    }
}

fn sort(model: &mut Model) {
    model.watch.sort = model.watch.sort.next();
    model.watch.settle();
    model.say(format!("sorted: {}", model.watch.sort.word()));
}

fn window(model: &mut Model) {
    let windows = Watch::WINDOWS;
    let at = windows.iter().position(|window| *window == model.watch.window).unwrap_or_default();
    if model.watch.frozen.is_some() {
        let key = model.settings.keymap.key(Command::Freeze);
        model.warn(format!("the figures are frozen: {key} makes them live, and then the window can change"));
        return;
    }
    model.watch.window = windows.get((at + 1) % windows.len()).copied().unwrap_or(model.watch.window);
    // Counts of another time: asked for at once.
    model.watch.asking.clear();
    look::now(model);
    model.say(format!("the last {} minutes", model.watch.window));
}

/// Frozen: every number stays as it is. Live again: as it is now.
fn freeze(model: &mut Model) {
    if model.watch.frozen.take().is_some() {
        look::now(model);
        model.say("live");
    } else {
        model.watch.frozen = Some(model.watch.board.at);
        let key = model.settings.keymap.key(Command::Freeze);
        model.say(format!("frozen: no number changes until {key} is pressed again"));
    }
}

fn alerts_only(model: &mut Model) {
    model.watch.alerts_only = !model.watch.alerts_only;
    model.watch.settle();
}

/// What `K` and `m` are about: the alert under the cursor; where no cursor is on one, all that are not quiet.
fn meant(model: &Model) -> Vec<Alert> {
    let (watch, alerts) = (&model.watch, &model.watch.board.alerts);
    if !watch.alerts_only {
        return alerts.iter().filter(|alert| !watch.alarms.is_quiet(alert)).cloned().collect();
    }
    let Some(At::Alert(kind, source)) = watch.here() else { return Vec::new() };
    alerts.iter().filter(|alert| alert.kind == kind && alert.source == source).cloned().collect()
}

fn acknowledge(model: &mut Model) {
    let meant = meant(model);
    let alarms = &mut model.watch.alarms;
    match meant.as_slice() {
        [only] if alarms.is_acknowledged(only) => {
            alarms.recall(only);
            model.say("not acknowledged any more");
        }
        [] => model.say("no alert is open"),
        many => {
            for alert in many {
                alarms.acknowledge(alert);
            }
            let n = count(many.len(), "alert");
            model.say(format!("{n} acknowledged, until one grows, or goes away and comes back"));
        }
    }
}

fn mute(model: &mut Model) {
    let (meant, now, only) = (meant(model), model.now, model.watch.alerts_only);
    let Watch { alarms, board, .. } = &mut model.watch;
    let muted = |alarms: &Alarms, alert: &Alert| alarms.muted_until(alert).is_some();
    let of: Vec<&Alert> = if meant.is_empty() && !only {
        // Nothing is left to mute: what was muted speaks again.
        board.alerts.iter().filter(|alert| muted(alarms, alert)).collect()
    } else {
        meant.iter().collect()
    };
    let n = count(of.len(), "alert");
    if of.is_empty() {
        model.say("no alert is open");
    } else if of.iter().all(|alert| muted(alarms, alert)) {
        for alert in of {
            alarms.unmute(alert);
        }
        model.say(format!("{n} not muted any more"));
    } else {
        for alert in of {
            alarms.mute(alert, now);
        }
        model.say(format!("{n} muted for an hour"));
    }
}

/// Everything anew: lists, counts, figures.
fn reload(model: &mut Model) -> Vec<Effect> {
    model.watch.asking.clear();
    model.figures.ask_again();
    let effects = queue::sync_all(model);
    if model.watch.frozen.is_none() {
        look::now(model);
    }
    effects
}

fn export(model: &mut Model) -> Vec<Effect> {
    let folder = model.settings.place.state.clone();
    match model.watch.board.to_json() {
        Ok(json) => {
            let csv = model.watch.board.to_csv();
            vec![Effect::ExportBoard { folder, json: format!("{json}\n"), csv }]
        }
        Err(error) => exported(model, Err(error.to_string())),
    }
}

pub(super) fn exported(model: &mut Model, answer: Result<Vec<PathBuf>, String>) -> Vec<Effect> {
    let (tone, word, what) = match answer {
        Ok(paths) => {
            // They differ in their ends alone.
            let ends = paths.iter().skip(1).filter_map(|path| path.extension());
            let ends: Vec<String> = ends.map(|end| format!(" and .{}", end.display())).collect();
            let first = paths.first().map_or_else(String::new, |path| path.display().to_string());
            (Tone::Good, "figures written to ", format!("{first}{}", ends.concat()))
        }
        Err(why) => (Tone::Bad, "figures not written: ", why),
    };
    model.tell(tone, vec![Shown::ours(word), text::line(&Untrusted::from(what))]);
    Vec::new()
}
