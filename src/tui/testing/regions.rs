//! Cuts parts of the screen along its layout, and snapshots whole screens.

use std::panic::Location;
use std::path::Path;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use crate::domain::Timestamp;
use crate::tui::core::draw::view;
use crate::tui::core::layout::inner;
use crate::tui::core::model::Model;
use crate::tui::core::msg::{Msg, What};
use crate::tui::core::router::update;

use super::{Desk, cells};

impl Desk {
    pub(crate) fn header(&self) -> String {
        self.cut(self.model.layout().header)
    }

    pub(crate) fn status_line(&self) -> String {
        self.cut(self.model.layout().status)
    }

    pub(crate) fn hints(&self) -> String {
        self.cut(self.model.layout().hints)
    }

    pub(crate) fn places(&self) -> String {
        self.cut(self.model.layout().places)
    }

    pub(crate) fn list(&self) -> String {
        let layout = self.model.layout();
        self.cut(if layout.title.is_empty() { layout.rows } else { layout.title.union(layout.rows) })
    }

    pub(crate) fn row(&self, nth: usize) -> String {
        line(&self.list(), nth)
    }

    pub(crate) fn trusted(&self) -> String {
        self.cut(self.model.layout().trusted)
    }

    /// Returns the preview's head, notes and text, without the trusted line and the tabs.
    pub(crate) fn preview(&self) -> String {
        let layout = self.model.layout();
        let parts = [layout.head, layout.notes, layout.text].map(|part| self.cut(part));
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
    }

    pub(crate) fn preview_line(&self, nth: usize) -> String {
        line(&self.preview(), nth)
    }

    pub(crate) fn tabs(&self) -> String {
        self.cut(self.model.layout().tabs)
    }

    /// Returns the largest frame on screen: a sheet, a form or the help, with its titles.
    pub(crate) fn sheet(&self) -> String {
        let buffer = self.buffer();
        let frame = buffer.area.positions().filter_map(|at| frame(&buffer, at)).max_by_key(|it| it.area());
        let Some(frame) = frame else { panic!("no sheet:\n{}", self.screen()) };
        let border = |y| {
            self.cut(Rect { y, height: 1, ..frame }).trim_matches(['┌', '┐', '└', '┘', '─', ' ']).to_owned()
        };
        let parts = [border(frame.y), self.cut(inner(frame)), border(frame.bottom() - 1)];
        trimmed(&parts.join("\n"))
    }

    /// Returns a line of the sheet; 0 is the upper border with the title.
    pub(crate) fn sheet_line(&self, nth: usize) -> String {
        line(&self.sheet(), nth)
    }

    pub(crate) fn line(&self, nth: usize) -> String {
        line(&self.screen(), nth)
    }

    fn cut(&self, area: Rect) -> String {
        trimmed(&cells(&self.buffer(), area))
    }

    /// Compares the whole screen, at the three sizes of the design, with `snapshots/NAME@80x24.snap` next to the test.
    /// The desk keeps its size.
    #[track_caller]
    pub(crate) fn pictured(&self, name: &str) {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join(Location::caller().file());
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(here.with_file_name("snapshots"));
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        for (width, height) in [(80, 24), (100, 30), (160, 45)] {
            settings.set_snapshot_suffix(format!("{width}x{height}"));
            let screen = self.sized(width, height);
            settings.bind(|| insta::assert_snapshot!(name, screen));
        }
    }

    fn sized(&self, width: u16, height: u16) -> String {
        let mut model: Model = self.model.clone();
        let at = Timestamp::from_millis(self.at);
        drop(update(&mut model, Msg { at, what: What::Resize(width, height) }));
        let area = Rect::new(0, 0, width, height);
        let mut buffer = Buffer::empty(area);
        view(&model, area, &mut buffer);
        trimmed(&cells(&buffer, area))
    }
}

fn frame(buffer: &Buffer, at: Position) -> Option<Rect> {
    let is = |x, y, corner: &str| buffer.cell((x, y)).is_some_and(|cell| cell.symbol() == corner);
    if !is(at.x, at.y, "┌") {
        return None;
    }
    let right = (at.x..buffer.area.right()).find(|x| is(*x, at.y, "┐"))?;
    let bottom = (at.y..buffer.area.bottom()).find(|y| is(at.x, *y, "└") && is(right, *y, "┘"))?;
    Some(Rect::new(at.x, at.y, right - at.x + 1, bottom - at.y + 1))
}

fn line(text: &str, nth: usize) -> String {
    text.lines().nth(nth).unwrap_or_else(|| panic!("no line {nth}:\n{text}")).to_owned()
}

fn trimmed(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n").trim_end().to_owned()
}
