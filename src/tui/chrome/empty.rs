//! The screen without pending actions. Tells a newcomer how to send a first proposal.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::domain::Untrusted;
use crate::inbox::Connection;
use crate::text;
use crate::tui::core::layout::Layout;
use crate::tui::core::model::Model;
use crate::tui::core::settings::{GatePlace, SessionInfo};

use super::pen::Pen;
use super::{theme, words};

pub(crate) fn draw(model: &Model, layout: &Layout, buf: &mut Buffer) {
    let top = layout.header.bottom() + 1;
    let bottom = layout.status.y;
    let body = Rect { y: top, height: bottom.saturating_sub(top), ..layout.header };
    let margin = if body.width >= 80 { 4 } else { 1 };
    let body = Rect { x: body.x + margin, width: body.width.saturating_sub(2 * margin), ..body };
    let mut nth = said(model, body, buf);
    for line in first_steps(&model.settings.place) {
        let indent = line.starts_with("  ");
        for row in text::Shown::ours(line).wrap(usize::from(body.width)) {
            Pen::new(buf, body, nth).shown(&row, if indent { theme::KEY } else { theme::PLAIN });
            nth += 1;
        }
    }
}

/// Draws whether nothing is pending or the sources have not answered. Returns the next free row.
fn said(model: &Model, body: Rect, buf: &mut Buffer) -> u16 {
    let mut nth = 0;
    let listed = model.list.sources.iter().all(|source| source.listed);
    let headline = match (model.list.sources.is_empty(), listed) {
        (true, _) => words::NO_SOURCE_IS_CONFIGURED,
        (false, true) => words::NOTHING_IS_PENDING,
        (false, false) => words::ASKING_WHAT_IS_PENDING,
    };
    Pen::new(buf, body, nth).ours(headline, theme::BOLD);
    nth += 2;
    for source in &model.list.sources {
        let (word, good) = words::connection(source, model.now);
        let style = if good { theme::GOOD } else { theme::WARN };
        let mut pen = Pen::new(buf, body, nth);
        pen.ours(&format!("{}  ", source.name), theme::PLAIN)
            .ours(&if good { word.to_lowercase() } else { word }, style);
        nth += 1;
        if let Connection::Retrying { why, .. } | Connection::Refused { why } | Connection::Stopped { why } =
            &source.connection
        {
            nth = below(why, body, nth, buf);
        }
        if let Some(problem) = &source.problem {
            Pen::new(buf, body, nth).ours("  ", theme::PLAIN).ours(&problem.what, theme::BAD);
            nth += 1;
            if let Some(why) = &problem.why {
                nth = below(why, body, nth, buf);
            }
        }
    }
    nth + 1
}

/// Draws a source's error in full, because it ends with what to do. Returns the next free row.
fn below(why: &Untrusted, body: Rect, mut nth: u16, buf: &mut Buffer) -> u16 {
    const INDENT: usize = 4;
    for row in text::line(why).wrap(usize::from(body.width).saturating_sub(INDENT)).into_iter().take(4) {
        Pen::new(buf, body, nth).ours("    ", theme::PLAIN).shown(&row, theme::PLAIN);
        nth += 1;
    }
    nth
}

fn first_steps(place: &SessionInfo) -> Vec<String> {
    let mut lines = Vec::new();
    // From another terminal, `placet propose` finds no gate of a demo.
    if let Some(gate) = place.gate.as_ref().filter(|_| place.demo.is_none()) {
        lines.extend(first_proposal(gate));
    }
    if let Some(folder) = &place.demo {
        lines.push(words::demo_folder(&folder.display()));
    }
    lines
}

fn first_proposal(gate: &GatePlace) -> Vec<String> {
    vec![
        words::PROPOSE_SOMETHING.to_owned(),
        "  echo '{\"title\":\"Hello\",\"team\":\"SUP\"}' |".to_owned(),
        words::PROPOSE_COMMAND.to_owned(),
        String::new(),
        words::agents_propose(&gate.url, &gate.agent_token.display()),
        words::kept_in(&gate.database.display()),
        when_closed(gate).to_owned(),
    ]
}

/// Returns what happens to agents when this inbox quits.
fn when_closed(gate: &GatePlace) -> &'static str {
    if gate.serving { words::WHEN_CLOSED } else { words::GATE_SERVED_ELSEWHERE }
}
