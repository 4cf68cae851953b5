//! Keys in the edit form.
//!
//! The fast path: the form opens at its title with the caret at the end, and Enter in a field of one line approves with these
//! edits. Where Enter is a line break, Tab goes on to the button, or Esc and the approve key do the same.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::tui::command::Command;
use crate::tui::model::{EditField, EditForm, Field, Kind, Modal, Model};
use crate::tui::msg::Effect;
use crate::tui::update::leave;
use crate::tui::update::list::Way;

use super::{approve, bulk};

const BUTTONS: [EditField; 3] = [EditField::Approve, EditField::Revert, EditField::Close];

/// What a key comes to.
enum Meant {
    Nothing,
    Approve,
    Say(&'static str),
}

pub(in crate::tui::update) fn typed(model: &mut Model, key: KeyEvent) -> Vec<Effect> {
    let Some(Modal::Edit(form)) = &mut model.modal else { return Vec::new() };
    if form.lists() {
        return bulk::key(model, key);
    }
    let meant = if form.is_raw() { in_text(form, key) } else { in_field(form, key) };
    match meant {
        Meant::Nothing => Vec::new(),
        Meant::Approve => approve_changed(model),
        Meant::Say(what) => {
            model.warn(what);
            Vec::new()
        }
    }
}

/// Enter in a field: only where something was changed, so that a stray one approves nothing.
fn approve_changed(model: &mut Model) -> Vec<Effect> {
    let Some(Modal::Edit(form)) = &model.modal else { return Vec::new() };
    if form.check == Ok(None) && form.fields.iter().all(|field| field.wrong.is_none()) {
        let asks = model.queue.get(&form.key).is_some_and(|slot| slot.entry.can.answer);
        let keys = &model.settings.keymap;
        let (back, approve) = (keys.key_in_text(Command::Back), keys.key(Command::Approve));
        model.say(if asks {
            format!("the answer is not written yet: write it, then Enter approves with it; {back} closes")
        } else {
            format!("nothing is changed; {back} closes, and {approve} approves it as proposed")
        });
        return Vec::new();
    }
    approve(model)
}

fn in_text(form: &mut EditForm, key: KeyEvent) -> Meant {
    if key.code == KeyCode::Char('u') && key.modifiers == KeyModifiers::CONTROL {
        form.area.delete_line_by_head();
        form.changed();
    } else if form.area.input(key) {
        form.changed();
    }
    Meant::Nothing
}

fn in_field(form: &mut EditForm, key: KeyEvent) -> Meant {
    let Some(field) = form.here() else { return Meant::Nothing };
    if field.is_locked() {
        return match key.code {
            KeyCode::Up | KeyCode::Down => beside(form, key.code),
            KeyCode::Enter => Meant::Approve,
            KeyCode::Char(_) => Meant::Say("this key says whose action it is: it cannot be edited"),
            _ => Meant::Nothing,
        };
    }
    match field.kind {
        Kind::Choice(_) => in_choice(form, key),
        Kind::List => in_list(form, key),
        Kind::Text | Kind::Number | Kind::Json => in_line(form, key),
    }
}

fn in_choice(form: &mut EditForm, key: KeyEvent) -> Meant {
    match key.code {
        KeyCode::Left => form.with_field(|field, _| field.cycle(false)),
        KeyCode::Right | KeyCode::Char(' ') => form.with_field(|field, _| field.cycle(true)),
        KeyCode::Char(c) if plain(key) => form.with_field(|field, _| field.jump(c)),
        KeyCode::Up | KeyCode::Down => return beside(form, key.code),
        KeyCode::Enter => return Meant::Approve,
        _ => {}
    }
    Meant::Nothing
}

fn in_list(form: &mut EditForm, key: KeyEvent) -> Meant {
    let last = form.here().map_or(0, |field| field.elements().len().saturating_sub(1));
    match key.code {
        KeyCode::Up if form.element > 0 => form.element -= 1,
        KeyCode::Down if form.element < last => form.element += 1,
        KeyCode::Up | KeyCode::Down => return beside(form, key.code),
        KeyCode::Char(' ') | KeyCode::Delete => form.with_field(Field::toggle),
        KeyCode::Right => form.as_json(),
        KeyCode::Enter => return Meant::Approve,
        KeyCode::Char(_) => {
            return Meant::Say("Space drops an element or restores it; Right edits the list as JSON");
        }
        _ => {}
    }
    Meant::Nothing
}

fn in_line(form: &mut EditForm, key: KeyEvent) -> Meant {
    let lines = form.area.lines().len();
    let control = key.modifiers == KeyModifiers::CONTROL;
    let text = form.here().is_some_and(|field| field.kind != Kind::Number);
    match key.code {
        KeyCode::Up if form.area.cursor().0 == 0 => return beside(form, key.code),
        KeyCode::Down if form.area.cursor().0 + 1 >= lines => return beside(form, key.code),
        // A line break on purpose, also where there is none yet.
        KeyCode::Char('j') if control && text => form.area.insert_newline(),
        KeyCode::Enter if key.modifiers.contains(KeyModifiers::ALT) && text => form.area.insert_newline(),
        KeyCode::Enter if !form.has_lines() => return Meant::Approve,
        KeyCode::Char('u') if control && lines == 1 => {
            form.area = tui_textarea::TextArea::default();
        }
        KeyCode::Char('u') if control => drop(form.area.delete_line_by_head()),
        KeyCode::Char('m') if control => return Meant::Nothing,
        KeyCode::Char(c) if plain(key) && form.here().is_some_and(|field| !field.takes(c)) => {
            return Meant::Say("a number is asked for here");
        }
        _ if !form.area.input(key) => return Meant::Nothing,
        _ => {}
    }
    form.typed();
    Meant::Nothing
}

fn plain(key: KeyEvent) -> bool {
    !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT)
}

/// To the field above or below, and no further.
fn beside(form: &mut EditForm, code: KeyCode) -> Meant {
    let to = if code == KeyCode::Up { form.at.checked_sub(1) } else { Some(form.at + 1) };
    if let Some(to) = to.filter(|to| *to < form.fields.len()) {
        form.select(to);
    }
    Meant::Nothing
}

pub(in crate::tui::update) fn pasted(model: &mut Model, text: &str) -> Vec<Effect> {
    let Some(Modal::Edit(form)) = &mut model.modal else { return Vec::new() };
    let listed = form.lists();
    if listed || form.field != EditField::Text || !(form.is_raw() || form.has_text()) {
        model.warn("ignored a paste: text goes into a text field only");
        return Vec::new();
    }
    if form.here().is_some_and(|field| !text.trim().chars().all(|c| field.takes(c))) {
        model.warn("ignored a paste that is no number");
        return Vec::new();
    }
    let number = form.here().is_some_and(|field| field.kind == Kind::Number);
    form.area.insert_str(if number { text.trim() } else { text });
    if form.is_raw() {
        form.changed();
    } else {
        form.typed();
    }
    Vec::new()
}

/// Through the fields, then the buttons, and around.
pub(in crate::tui::update) fn next_field(model: &mut Model, way: Way) -> Vec<Effect> {
    let Some(Modal::Edit(form)) = &mut model.modal else { return Vec::new() };
    let fields = form.fields.len().max(1);
    let at = match BUTTONS.iter().position(|button| *button == form.field) {
        Some(button) => fields + button,
        None => form.at,
    };
    let all = fields + BUTTONS.len();
    let to = if way == Way::Down { (at + 1) % all } else { (at + all - 1) % all };
    match to.checked_sub(fields) {
        Some(button) => form.field = BUTTONS.get(button).copied().unwrap_or(EditField::Text),
        None if form.is_raw() => form.field = EditField::Text,
        None => form.select(to),
    }
    Vec::new()
}

/// Arrows move between the buttons, Enter presses one. Nothing else does anything there.
pub(in crate::tui::update) fn button_key(model: &mut Model, key: KeyEvent) -> Vec<Effect> {
    let Some(Modal::Edit(form)) = &mut model.modal else { return Vec::new() };
    if form.lists() {
        return bulk::key(model, key);
    }
    match (key.code, form.field) {
        (KeyCode::Enter, EditField::Approve) => approve(model),
        (KeyCode::Enter, EditField::Revert) => {
            let proposed = form.proposed();
            form.take(&proposed);
            form.field = EditField::Text;
            form.changed();
            Vec::new()
        }
        (KeyCode::Enter, EditField::Close) => leave::back(model),
        (KeyCode::Right | KeyCode::Down, _) => next_field(model, Way::Down),
        (KeyCode::Left | KeyCode::Up, _) => next_field(model, Way::Up),
        _ => Vec::new(),
    }
}

/// The field back to proposed; in the JSON text, all of it.
pub(in crate::tui::update) fn field_back(model: &mut Model) -> Vec<Effect> {
    let Some(Modal::Edit(form)) = &mut model.modal else { return Vec::new() };
    if form.lists() {
        return Vec::new();
    }
    if form.is_raw() {
        let proposed = form.proposed();
        form.set_raw(&proposed);
        form.changed();
    } else {
        form.back_to_proposed();
    }
    Vec::new()
}

/// Between the fields and the JSON text, both of the same draft.
pub(in crate::tui::update) fn raw(model: &mut Model) -> Vec<Effect> {
    let Some(Modal::Edit(form)) = &mut model.modal else { return Vec::new() };
    if form.lists() {
        return Vec::new();
    }
    let text = form.text();
    form.field = EditField::Text;
    if form.is_raw() {
        form.take(&text);
        if form.is_raw() {
            let why = form.check.as_ref().err().map(ToString::to_string).unwrap_or_default();
            model.warn(format!("it cannot be shown as fields yet: {why}"));
        }
    } else {
        form.set_raw(&text);
        form.judge();
    }
    Vec::new()
}
