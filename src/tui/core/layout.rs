//! Computes where each part of the screen stands. `update` (to scroll and to page) and `view` (to draw) both call it, so that they
//! cannot disagree.

use ratatui::layout::Rect;

use crate::text;
use crate::text::Shown;

/// How the body is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Too small for a list: counts only.
    Counts,
    /// List above, preview below.
    Stacked,
    TwoPanes,
    ThreePanes,
}

/// What is drawn where. A missing part is an empty rectangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub shape: Shape,
    pub header: Rect,
    /// The left pane.
    pub places: Rect,
    /// What the list is, where it is not the inbox.
    pub title: Rect,
    /// The rows of the list.
    pub rows: Rect,
    /// Lines between panes, one column each.
    pub dividers: [Rect; 3],
    pub preview: Rect,
    /// Tool, risk and what approving does: wherever a decision is taken.
    pub trusted: Rect,
    /// The title.
    pub head: Rect,
    /// Above the text: what to know before the action is decided.
    pub notes: Rect,
    /// The preview's text.
    pub text: Rect,
    /// The Context tab, beside the others.
    pub context: Rect,
    /// Which page of the preview it is, and how far it is read.
    pub tabs: Rect,
    /// What is staged; for a moment, what happened.
    pub status: Rect,
    pub hints: Rect,
}

/// What takes the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// The Context tab beside the preview, where there is room.
    WithContext,
    Panes,
    /// The preview below the list, whatever the width.
    Below,
    ListOnly,
    PreviewOnly,
    /// The left pane and the list.
    Places,
}

const PLACES_WIDTH: u16 = 26;
/// From so many columns on, tool, risk and what approving does fit in one line.
const ROOMY: u16 = 80;
/// A preview that is wider is hard to read: the list takes the rest.
const PROSE: u16 = 100;
/// From so many columns on, the Context tab stands beside the preview.
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

/// The list and the preview as before, in less room, and what stands around the action at the right.
fn with_context(frame: Layout, mut rest: Rect) -> Layout {
    let others = rest.width - (rest.width * 30 / 100).min(PROSE / 2 + 10);
    let others = take_left(&mut rest, others);
    let divider = take_left(&mut rest, 1);
    let context = with_gutter(with_margin(rest));
    let [places, list, _] = frame.dividers;
    two_panes(Layout { dividers: [places, list, divider], context, ..frame }, others)
}

/// Takes the first row of the list for its title.
pub(crate) fn with_title(layout: Layout) -> Layout {
    let mut rows = layout.rows;
    let title = take_top(&mut rows, 1);
    Layout { title, rows, ..layout }
}

/// Takes rows off the text for so many lines of notes, a quarter of it at most.
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

/// The list above, the preview below; the trusted line divides them.
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

/// One column less on either side, where there are enough.
fn with_margin(area: Rect) -> Rect {
    let margin = u16::from(area.width > 4);
    Rect { x: area.x + margin, width: area.width - 2 * margin, ..area }
}

/// Two columns less at the left: the gutter, which marks what came from outside and which nothing of it reaches, and the place of
/// the cursor.
fn with_gutter(area: Rect) -> Rect {
    let gutter = if area.width > 4 { 2 } else { 0 };
    Rect { x: area.x + gutter, width: area.width - gutter, ..area }
}

/// Inside a frame.
pub(crate) fn inner(area: Rect) -> Rect {
    if area.width < 2 || area.height < 2 {
        return Rect { width: 0, height: 0, ..area };
    }
    Rect { x: area.x + 1, y: area.y + 1, width: area.width - 2, height: area.height - 2 }
}

/// A sheet in the middle, at most this large.
pub(crate) fn sheet(area: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(area.width), height.min(area.height));
    Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height }
}

/// The room for a sheet's text, with a margin.
pub(crate) fn sheet_text(outer: Rect) -> Rect {
    let text = inner(outer);
    let margin = u16::from(text.width > 40) * 2;
    Rect { x: text.x + margin, width: text.width.saturating_sub(2 * margin), ..text }
}

/// Where sheets may stand: above the last message.
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

/// A line of a text area as it is drawn. One column stays free for the cursor.
pub(crate) fn wrapped(line: &str, width: u16) -> Vec<Shown> {
    let line = text::lines(line).into_iter().next().unwrap_or_default();
    line.wrap(usize::from(width.saturating_sub(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_stays_inside_every_screen() {
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
    fn breakpoints_are_those_of_the_design() {
        let shape = |width, height| layout(Rect::new(0, 0, width, height), Body::Panes).shape;

        assert_eq!(shape(39, 24), Shape::Counts);
        assert_eq!(shape(80, 9), Shape::Counts);
        assert_eq!(shape(40, 10), Shape::Stacked);
        assert_eq!(shape(89, 24), Shape::Stacked);
        assert_eq!(shape(90, 24), Shape::TwoPanes);
        assert_eq!(shape(140, 45), Shape::ThreePanes);
    }
}
