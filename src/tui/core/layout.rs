//! Computes the areas of the screen, for both `update` (scrolling) and `view` (drawing), so that they cannot disagree.

use ratatui::layout::Rect;

use crate::text;
use crate::text::Shown;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Too small for a list; shows counts only.
    Counts,
    Stacked,
    TwoPanes,
    ThreePanes,
}

/// The areas of the screen; a missing part is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub shape: Shape,
    pub header: Rect,
    pub places: Rect,
    pub title: Rect,
    pub rows: Rect,
    /// Lines between panes, one column each.
    pub dividers: [Rect; 3],
    pub preview: Rect,
    /// Tool, risk and effect of approving; shown wherever a decision can be made.
    pub trusted: Rect,
    pub head: Rect,
    /// Warnings about deciding, above the text.
    pub notes: Rect,
    pub text: Rect,
    pub context: Rect,
    /// The current tab, and how far it is read.
    pub tabs: Rect,
    /// Staged decisions, or the last message.
    pub status: Rect,
    pub hints: Rect,
}

/// The requested division of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// The Context tab is shown next to the preview if it fits.
    WithContext,
    Panes,
    /// The preview is below the list at any width.
    Below,
    ListOnly,
    PreviewOnly,
    Places,
}

const PLACES_WIDTH: u16 = 26;
/// Width from which the trusted line fits into one line. Columns.
const ROOMY: u16 = 80;
/// Widest readable preview; the list takes the rest. Columns.
const PROSE: u16 = 100;
/// Width from which the Context tab is shown next to the preview. Columns.
const WITH_CONTEXT: u16 = 200;

pub(crate) fn layout(area: Rect, body: Body) -> Layout {
    let shape = match (area.width, area.height) {
        (..40, _) | (_, ..10) => Shape::Counts,
        (..90, _) => Shape::Stacked,
        (..140, _) => Shape::TwoPanes,
        _ => Shape::ThreePanes,
    };
    let mut rest = area;
    let header = take_top(&mut rest, 1);
    let hints = take_bottom(&mut rest, 1);
    let status = take_bottom(&mut rest, 1);
    let none = Rect { width: 0, height: 0, ..area };
    let frame = Layout {
        shape,
        header,
        places: none,
        title: none,
        rows: none,
        dividers: [none; 3],
        preview: none,
        trusted: none,
        head: none,
        notes: none,
        text: none,
        context: none,
        tabs: none,
        status,
        hints,
    };
    match (shape, body) {
        (Shape::Counts, _) => Layout { header: area, ..frame },
        (_, Body::PreviewOnly) => with_preview(frame, rest),
        (_, Body::Places) => {
            let trusted = take_bottom(&mut rest, trusted_lines(area.width));
            let places = take_left(&mut rest, PLACES_WIDTH.min(area.width / 2));
            let divider = take_left(&mut rest, 1);
            Layout { trusted, places, dividers: [divider, none, none], rows: rest, ..frame }
        }
        (Shape::Stacked, body) => stacked(frame, rest, body),
        (_, Body::ListOnly) => {
            let trusted = take_bottom(&mut rest, trusted_lines(area.width));
            Layout { trusted, rows: rest, ..frame }
        }
        (_, Body::Below) => {
            let height = rest.height / 2;
            let rows = take_top(&mut rest, height);
            with_preview(Layout { rows, ..frame }, rest)
        }
        (Shape::TwoPanes, Body::Panes | Body::WithContext) => two_panes(frame, rest),
        (Shape::ThreePanes, Body::Panes | Body::WithContext) => {
            let places = take_left(&mut rest, PLACES_WIDTH);
            let divider = take_left(&mut rest, 1);
            let frame = Layout { places, dividers: [divider, none, none], ..frame };
            if body == Body::WithContext && area.width >= WITH_CONTEXT {
                with_context(frame, rest)
            } else {
                two_panes(frame, rest)
            }
        }
    }
}

fn two_panes(frame: Layout, mut rest: Rect) -> Layout {
    let width = (rest.width * 56 / 100).max(rest.width.saturating_sub(PROSE));
    let rows = take_left(&mut rest, width);
    let divider = take_left(&mut rest, 1);
    with_preview(Layout { rows, dividers: [frame.dividers[0], divider, frame.dividers[2]], ..frame }, rest)
}

fn with_context(frame: Layout, mut rest: Rect) -> Layout {
    let others = rest.width - (rest.width * 30 / 100).min(PROSE / 2 + 10);
    let others = take_left(&mut rest, others);
    let divider = take_left(&mut rest, 1);
    let context = with_gutter(with_margin(rest));
    let [places, list, _] = frame.dividers;
    two_panes(Layout { dividers: [places, list, divider], context, ..frame }, others)
}

pub(crate) fn with_title(layout: Layout) -> Layout {
    let mut rows = layout.rows;
    let title = take_top(&mut rows, 1);
    Layout { title, rows, ..layout }
}

/// Reserves lines of the text for notes, at most a quarter of it.
pub(crate) fn with_notes(layout: Layout, lines: impl FnOnce(u16) -> usize) -> Layout {
    let most = layout.text.height / 4;
    if most == 0 {
        return layout;
    }
    let mut text = layout.text;
    let lines = u16::try_from(lines(text.width)).unwrap_or(u16::MAX);
    let notes = take_top(&mut text, lines.min(most));
    Layout { notes, text, ..layout }
}

fn stacked(frame: Layout, body: Rect, what: Body) -> Layout {
    let mut rest = body;
    if body.height < 12 || what == Body::ListOnly {
        let trusted = take_bottom(&mut rest, trusted_lines(body.width));
        return Layout { rows: rest, trusted, ..frame };
    }
    let rows = take_top(&mut rest, body.height.div_ceil(2));
    let preview = rest;
    let trusted = take_top(&mut rest, trusted_lines(body.width));
    Layout { rows, preview, trusted, text: with_gutter(rest), ..frame }
}

fn with_preview(frame: Layout, preview: Rect) -> Layout {
    let mut text = preview;
    let trusted = take_top(&mut text, trusted_lines(preview.width));
    let head = with_margin(take_top(&mut text, 1));
    let tabs = with_margin(take_bottom(&mut text, 1));
    Layout { preview, trusted, head, text: with_gutter(with_margin(text)), tabs, ..frame }
}

const fn trusted_lines(width: u16) -> u16 {
    if width < ROOMY { 2 } else { 1 }
}

fn with_margin(area: Rect) -> Rect {
    let margin = u16::from(area.width > 4);
    Rect { x: area.x + margin, width: area.width - 2 * margin, ..area }
}

/// Reserves two columns at the left: the gutter that marks foreign text, and the cursor.
fn with_gutter(area: Rect) -> Rect {
    let gutter = if area.width > 4 { 2 } else { 0 };
    Rect { x: area.x + gutter, width: area.width - gutter, ..area }
}

pub(crate) fn inner(area: Rect) -> Rect {
    if area.width < 2 || area.height < 2 {
        return Rect { width: 0, height: 0, ..area };
    }
    Rect { x: area.x + 1, y: area.y + 1, width: area.width - 2, height: area.height - 2 }
}

pub(crate) fn sheet(area: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(area.width), height.min(area.height));
    Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height }
}

pub(crate) fn sheet_text(outer: Rect) -> Rect {
    let text = inner(outer);
    let margin = u16::from(text.width > 40) * 2;
    Rect { x: text.x + margin, width: text.width.saturating_sub(2 * margin), ..text }
}

/// The area for sheets, which leaves the last message visible.
pub(crate) fn above_message(layout: &Layout, area: Rect) -> Rect {
    Rect { height: layout.status.y.saturating_sub(area.y), ..area }
}

pub(crate) fn take_top(rest: &mut Rect, height: u16) -> Rect {
    let height = height.min(rest.height);
    let taken = Rect { height, ..*rest };
    rest.y += height;
    rest.height -= height;
    taken
}

pub(crate) fn take_bottom(rest: &mut Rect, height: u16) -> Rect {
    let height = height.min(rest.height);
    rest.height -= height;
    Rect { y: rest.y + rest.height, height, ..*rest }
}

pub(crate) fn take_left(rest: &mut Rect, width: u16) -> Rect {
    let width = width.min(rest.width);
    let taken = Rect { width, ..*rest };
    rest.x += width;
    rest.width -= width;
    taken
}

/// Wraps a line of a text area. One column stays free for the cursor.
pub(crate) fn wrapped(line: &str, width: u16) -> Vec<Shown> {
    let line = text::lines(line).into_iter().next().unwrap_or_default();
    line.wrap(usize::from(width.saturating_sub(1)))
}

/// The part of a sheet that is on screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scroll {
    pub top: usize,
    /// Lines per page, as last drawn.
    pub page: usize,
}

impl Default for Scroll {
    fn default() -> Self {
        Self { top: 0, page: 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout_parts_stay_inside_the_screen() {
        for (width, height) in (1..=200).flat_map(|w| (1..=60).map(move |h| (w, h))) {
            for body in [Body::Panes, Body::Below, Body::ListOnly, Body::PreviewOnly, Body::Places] {
                let area = Rect::new(0, 0, width, height);
                let l = layout(area, body);
                for part in [
                    l.header,
                    l.places,
                    l.rows,
                    l.preview,
                    l.trusted,
                    l.head,
                    l.text,
                    l.tabs,
                    l.status,
                    l.hints,
                    l.dividers[0],
                    l.dividers[1],
                ] {
                    assert!(part.is_empty() || area.intersection(part) == part, "{width}x{height}: {part:?}");
                }
                let [left, right, last] = l.dividers;
                let parts = [
                    l.header, l.places, left, l.rows, right, last, l.trusted, l.head, l.text, l.context,
                    l.tabs, l.status, l.hints,
                ];
                for (nth, part) in parts.iter().enumerate().filter(|_| l.shape != Shape::Counts) {
                    let apart = parts.iter().skip(nth + 1).all(|other| part.intersection(*other).is_empty());
                    assert!(apart, "{width}x{height}: {part:?}");
                }
                assert_eq!(l.trusted.is_empty(), l.shape == Shape::Counts, "{width}x{height} {body:?}");
            }
        }
    }

    #[test]
    fn layout_has_the_breakpoints_of_the_design() {
        let shape = |width, height| layout(Rect::new(0, 0, width, height), Body::Panes).shape;

        assert_eq!(shape(39, 24), Shape::Counts);
        assert_eq!(shape(80, 9), Shape::Counts);
        assert_eq!(shape(40, 10), Shape::Stacked);
        assert_eq!(shape(89, 24), Shape::Stacked);
        assert_eq!(shape(90, 24), Shape::TwoPanes);
        assert_eq!(shape(140, 45), Shape::ThreePanes);
    }
}
