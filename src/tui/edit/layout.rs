//! Where the parts of an edit form are.

use ratatui::layout::Rect;

use crate::tui::core::layout::{sheet, take_bottom, take_top};

/// Rows of the foot: what is wrong, what is sent, what the schema says, keys, buttons.
const FOOT: u16 = 5;
const SMALL_FOOT: u16 = 2;
/// Longest column for keys.
const KEYS: usize = 24;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) head: Rect,
    /// The names of the columns.
    pub(crate) columns: Rect,
    pub(crate) rows: Rect,
    /// What the field is.
    pub(crate) says: Rect,
    pub(crate) editor: Rect,
    pub(crate) foot: Rect,
    /// Columns for the key, and for the proposed value.
    pub(crate) key: usize,
    pub(crate) proposed: usize,
}

/// The whole form: as tall as what is in it, with room for more.
pub(crate) fn outer(area: Rect, fields: usize, lines: usize) -> Rect {
    let rows = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
    let height = if fields == 0 {
        rows(lines).saturating_add(14)
    } else {
        rows(fields).saturating_add(rows(lines)).saturating_add(FOOT + 6)
    };
    sheet(area, area.width.saturating_sub(4).min(120), height.min(area.height.saturating_sub(1)))
}

/// The parts inside. Without fields, the editor has all the room there is.
pub(crate) fn parts(body: Rect, fields: usize, lines: usize, widest: usize) -> Form {
    let mut rest = body;
    if fields == 0 {
        let head = take_top(&mut rest, 2);
        let foot = take_bottom(&mut rest, FOOT);
        return Form { head, foot, editor: rest, ..Form::default() };
    }
    // On a small screen: the field, its text, what is sent, and the buttons.
    let (small, tiny) = (body.height < 13, body.height < 8);
    let head = take_top(&mut rest, u16::from(!tiny));
    let columns = take_top(&mut rest, u16::from(!small));
    let foot = take_bottom(&mut rest, if small { SMALL_FOOT } else { FOOT });
    let below = rest.height.saturating_sub(2);
    let most = (below / 2).max(1);
    let editor = take_bottom(&mut rest, u16::try_from(lines).unwrap_or(u16::MAX).clamp(1, most));
    let says = take_bottom(&mut rest, u16::from(!tiny));
    let rows = take_top(&mut rest, u16::try_from(fields).unwrap_or(u16::MAX));
    // `> ` before the key, two columns between the others, and one for the `*`.
    let width = usize::from(body.width).saturating_sub(2);
    let key = widest.clamp(5, KEYS.min(width / 3).max(5));
    let proposed = width.saturating_sub(key + 5) / 2;
    Form { head, columns, rows, says, editor, foot, key, proposed }
}
