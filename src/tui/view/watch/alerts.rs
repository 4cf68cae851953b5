//! What a lead should look at: in a line or two at the foot, or one by one.

use std::collections::BTreeMap;

use ratatui::buffer::Buffer;
use ratatui::style::Style;

use crate::domain::Timestamp;
use crate::inbox::figures::{Alert, AlertKind, words};
use crate::text::Shown;
use crate::tui::command::Command;
use crate::tui::layout::WatchLayout;
use crate::tui::model::{Model, Panel};
use crate::tui::theme;
use crate::tui::view::pen::Pen;
use crate::tui::view::words::moment;

use super::{on_screen, row};

/// The gravest first, alike ones of several sources together.
pub(super) fn line(model: &Model, layout: &WatchLayout, buf: &mut Buffer) {
    let (watch, area) = (&model.watch, layout.alerts);
    let mut kinds: BTreeMap<AlertKind, Vec<&Alert>> = BTreeMap::new();
    let open = watch.board.alerts.iter().filter(|alert| !watch.alarms.is_quiet(alert));
    open.for_each(|alert| kinds.entry(alert.kind).or_default().push(alert));
    let mut said: Vec<(String, Style)> =
        kinds.iter().map(|(kind, alerts)| (together(model, *kind, alerts), style(*kind))).collect();
    said.extend(not_notified(model).map(|words| (words, theme::WARN)));
    let quiet = quiet(model);
    let mut pen = Pen::new(buf, area, 0);
    if said.is_empty() {
        let style = if quiet.is_empty() { theme::GOOD } else { theme::PLAIN };
        pen.ours(" no alerts", style).ours(&quiet, theme::DIM);
        return;
    }
    pen.ours(" ALERTS", theme::WARN);
    let key = model.settings.keymap.key(Command::AlertsOnly);
    let (mut line, narrow) = (0, area.width < 90);
    for (nth, (words, style)) in said.iter().enumerate() {
        let last = line + 1 >= area.height;
        let rest =
            |n: usize| if narrow { format!("  +{n} ({key})") } else { format!("   and {n} more ({key})") };
        let left = said.len() - nth;
        let more = if left > 1 && last { rest(left - 1).len() } else { 0 };
        if pen.left() < words.len() + 3 + more {
            // The gravest is never left out.
            if last && nth == 0 {
                pen.shorten(more).ours("  ", theme::PLAIN).shown(&Shown::ours(words.as_str()), *style);
                if left > 1 {
                    Pen::new(buf, area, line).right(&rest(left - 1), theme::WARN);
                }
                return;
            }
            if last {
                pen.ours(&rest(left), theme::WARN);
                return;
            }
            line += 1;
            pen = Pen::new(buf, area, line);
            pen.ours("       ", theme::PLAIN);
        }
        pen.ours("   ", theme::PLAIN).ours(words, *style);
    }
    if pen.left() >= quiet.len() {
        pen.ours(&quiet, theme::DIM);
    }
}

/// `not notified: notify rule 1 (webhook, line 5): the receiver cannot be reached`: others may rely on being told.
fn not_notified(model: &Model) -> Option<String> {
    let mut failing = model.notices.failing();
    let (first, more) = (failing.next()?, failing.len());
    Some(if more == 0 {
        format!("not notified: {first}")
    } else {
        format!("{} rules cannot notify", more + 1)
    })
}

/// `   2 acknowledged, 1 muted`
fn quiet(model: &Model) -> String {
    let watch = &model.watch;
    let muted = watch.board.alerts.iter().filter(|alert| watch.alarms.muted_until(alert).is_some()).count();
    let seen = watch.board.alerts.iter().filter(|alert| watch.alarms.is_quiet(alert)).count() - muted;
    let said = [(seen, "acknowledged"), (muted, "muted")];
    let said: Vec<String> =
        said.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
    if said.is_empty() { String::new() } else { format!("   {}", said.join(", ")) }
}

fn together(model: &Model, kind: AlertKind, alerts: &[&Alert]) -> String {
    let targets = &model.settings.targets;
    let several = model.watch.board.sources.len() > 1;
    match alerts {
        [only] if several => format!("{} {}", only.source, words::alert(kind, only.count, targets)),
        [only] => words::alert(kind, only.count, targets),
        many => {
            let longest = many.iter().map(|alert| alert.count).max().unwrap_or_default();
            match kind {
                AlertKind::Down | AlertKind::Growing => {
                    format!("{} sources {}", many.len(), words::alert(kind, longest, targets))
                }
                _ => words::alert(kind, many.iter().map(|alert| alert.count).sum(), targets),
            }
        }
    }
}

/// What is lost, or may do harm, before what only waits. The words say the same.
const fn style(kind: AlertKind) -> Style {
    match kind {
        AlertKind::Down | AlertKind::Failed | AlertKind::Unknown | AlertKind::HighRisk => theme::WARN,
        _ => theme::BOLD,
    }
}

/// One by one, also those that are acknowledged or muted.
pub(super) fn list(model: &Model, layout: &WatchLayout, buf: &mut Buffer) {
    let (watch, rows) = (&model.watch, layout.rows(Panel::Alerts));
    if watch.board.alerts.is_empty() {
        Pen::new(buf, rows, 0).ours(" no alerts", theme::GOOD);
    }
    let width =
        model.watch.board.sources.iter().map(|source| source.name.as_str().len()).max().unwrap_or_default();
    for (nth, line, here) in on_screen(model, layout, Panel::Alerts, buf) {
        let Some(alert) = watch.board.alerts.get(nth) else { continue };
        let (said, quiet) = standing(model, alert);
        let mut pen = row(rows, line, here, buf);
        let style = if quiet { theme::DIM } else { style(alert.kind) };
        pen.ours(if quiet { "  " } else { "! " }, style);
        pen.ours(&format!("{:<width$}  ", alert.source.as_str()), theme::PLAIN);
        pen.ours(&words::alert(alert.kind, alert.count, &model.settings.targets), style);
        pen.right(&format!("{said} "), theme::DIM);
    }
}

/// What was said of it.
fn standing(model: &Model, alert: &Alert) -> (String, bool) {
    let alarms = &model.watch.alarms;
    let until = |until: Timestamp| format!("muted until {}", moment(model, until));
    match (alarms.muted_until(alert), alarms.is_acknowledged(alert)) {
        (Some(at), _) => (until(at), true),
        (None, true) => ("acknowledged".to_owned(), true),
        (None, false) => (String::new(), false),
    }
}
