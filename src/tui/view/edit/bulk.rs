//! The same change over several actions, action by action, before it is staged.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::domain::{Edits, Untrusted, json};
use crate::text::{self, Shown};
use crate::tui::command::Command;
use crate::tui::layout::sheet;
use crate::tui::model::{BulkRow, EditForm, Fate, Model, cell};
use crate::tui::theme;

use super::{Pen, body};

pub(super) fn draw(model: &Model, form: &EditForm, area: Rect, buf: &mut Buffer) {
    let Some(bulk) = &form.bulk else { return };
    let rows = bulk.rows.as_deref().unwrap_or_default();
    let height =
        u16::try_from(rows.len()).unwrap_or(u16::MAX).saturating_add(8).min(area.height.saturating_sub(1));
    let outer = sheet(area, area.width.saturating_sub(4).min(120), height);
    ratatui::widgets::Widget::render(ratatui::widgets::Clear, outer, buf);
    let note = "nothing is sent from here";
    super::frame(model, outer, "The same change, action by action", note, theme::PLAIN, buf);
    let inside = body(outer);
    let (applies, all) = (bulk.applies(), rows.len());
    let mut pen = Pen::new(buf, inside, 0);
    pen.ours(&format!("It applies to {applies} of {all} marked actions"), theme::BOLD);
    if applies < all {
        pen.ours(&format!("; {} are left out", all - applies), theme::WARN);
    }
    let list = Rect { y: inside.y + 2, height: inside.height.saturating_sub(4), ..inside };
    let shown = usize::from(list.height);
    let top = bulk.top.min(rows.len().saturating_sub(shown));
    for (nth, row) in rows.iter().skip(top).take(shown).enumerate() {
        line(model, row, &mut Pen::new(buf, list, nth as u16));
    }
    let foot = inside.height.saturating_sub(1);
    let mut pen = Pen::new(buf, inside, foot);
    if applies > 0 {
        let what = text::count(applies, "approval");
        let undo = model.settings.keymap.key(Command::Undo);
        let line = format!("Enter stages {what} with these edits; {undo} undoes them together. ");
        pen.ours(&line, theme::BOLD);
    }
    let back = model.settings.keymap.key_in_text(Command::Back);
    pen.ours(&format!("{back}: back to the form"), theme::DIM);
    if rows.len() > shown {
        pen.right(&format!("{}-{} of {}", top + 1, top + shown, rows.len()), theme::DIM);
    }
}

/// `title   field  proposed → new`
fn line(model: &Model, row: &BulkRow, pen: &mut Pen<'_>) {
    let title = model.queue.get(&row.key).map(|slot| text::line(&slot.entry.row.title)).unwrap_or_default();
    let width = (pen.left() / 3).max(12);
    match &row.fate {
        Fate::LeftOut(why) => {
            pen.ours("- ", theme::WARN).column(&title, width, theme::DIM).ours("  left out: ", theme::WARN);
            pen.shown(&text::line(&Untrusted::from(why.as_str())), theme::DIM);
        }
        Fate::Applies(None) => {
            pen.ours("= ", theme::DIM).column(&title, width, theme::PLAIN);
            pen.ours("  is like that already: approved as proposed", theme::DIM);
        }
        Fate::Applies(Some(edits)) => {
            pen.ours("* ", theme::GOOD).column(&title, width, theme::PLAIN);
            changes(model, row, edits, pen);
        }
    }
}

fn changes(model: &Model, row: &BulkRow, edits: &Edits, pen: &mut Pen<'_>) {
    let input = model.preview.cached(&row.key).map(|cached| cached.action.input.clone());
    let members = edits.as_json().members().unwrap_or_default();
    let each = pen.left() / members.len().max(1);
    for member in &members {
        let key = text::line(&Untrusted::from(member.key.text.as_ref()));
        let old = input.as_ref().and_then(|input| input.member(&member.key.text));
        let value = |raw: &str| cell(&json::pretty(raw)).shown;
        let old = old.map_or_else(|| Shown::ours("(none)"), value);
        let room = each.saturating_sub(key.width() + 7) / 2;
        pen.ours("  ", theme::PLAIN).shown(&key, theme::KEY).ours("  ", theme::PLAIN);
        pen.shown(&old.cut(room), theme::DIM).ours(" → ", theme::DIM);
        pen.shown(&value(member.value).cut(room), theme::GOOD);
    }
}
