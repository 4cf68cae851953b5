//! Handles the edit form. It keeps a draft; only approving with these edits, or the approve key, stages.

use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use crate::contract::tool as tools;
use crate::domain::{ActionKey, Decision, Digest, On, SourceName, Untrusted, changed_keys, json, merge};
use crate::inbox::{Problem, Tool};
use crate::journal::EditText;
use crate::tui::core::command::{Command, Direction, KeyContext};
use crate::tui::core::keymap::bare;
use crate::tui::core::layout::Layout;
use crate::tui::core::model::{Keys, Model, Sheet};
use crate::tui::core::msg::Effect;
use crate::tui::decide;
use crate::tui::decide::advance::{move_on, targets};
use crate::tui::decide::confirm_guard::is_burst;
use crate::tui::decide::stage;
use crate::tui::edit::words;
use crate::tui::queue::slots::Slot;

use super::bulk::keep;
use super::field::{Field, Kind};
use super::form::{Bulk, EditField, EditForm, EditSoon};
use super::{bulk, view};

/// Largest input to edit in bytes; larger ones make every key slow.
const LARGEST: usize = 256 * 1024;
/// Maximum number of actions to edit together: leaves space for others in the cache.
const MOST: usize = 200;

impl Sheet for EditForm {
    fn keys(&self) -> Keys {
        Keys {
            takes_text: self.field == EditField::Text,
            typed,
            pasted,
            back: close,
            save,
            ..Keys::of(&[KeyContext::Edit, KeyContext::Anywhere])
        }
    }

    fn draw(&self, model: &Model, _: &Layout, area: Rect, buf: &mut Buffer) -> Option<Position> {
        view::draw(model, self, area, buf)
    }

    fn content(&self) -> Option<(ActionKey, Digest)> {
        Some((self.key.clone(), self.digest))
    }
}

impl Sheet for EditSoon {
    fn keys(&self) -> Keys {
        Keys { takes_text: true, typed: keep_typed, ..Keys::of(&[KeyContext::Edit, KeyContext::Anywhere]) }
    }

    fn draw(&self, model: &Model, _: &Layout, area: Rect, buf: &mut Buffer) -> Option<Position> {
        view::soon(model, self.keys.len(), area, buf);
        None
    }
}

/// Keeps characters only: a key that approves must not act before the form is visible.
fn keep_typed(model: &mut Model, key: KeyEvent) {
    if let Some(soon) = model.sheet.get_mut::<EditSoon>()
        && !soon.outside
        && matches!(key.code, KeyCode::Char(_) | KeyCode::Backspace)
    {
        soon.typed.push(key);
    }
}

pub(crate) fn open(model: &mut Model) {
    start(model, false);
}

fn start(model: &mut Model, outside: bool) {
    if stage::is_too_early(model) || is_burst(model) {
        return;
    }
    let keys = targets(model);
    match may_open(model, &keys) {
        Ok(()) => open_for(model, keys, outside),
        Err(why) => {
            model.warn(why);
        }
    }
}

fn may_open(model: &Model, keys: &[ActionKey]) -> Result<(), String> {
    if model.queue.marks.is_empty() && model.here().is_none() {
        return Err(words::NO_CURSOR.to_owned());
    }
    if keys.len() > MOST {
        return Err(words::too_many_marked(keys.len(), MOST));
    }
    let first = keys.first().and_then(|key| model.queue.get(key));
    let slot = first.ok_or(words::ONLY_PENDING)?;
    let can = slot.entry.row.can;
    if !can.can_decide() || !can.edit {
        return Err(can.why_not(On::Edit).to_owned());
    }
    Ok(())
}

/// Opens the form once the actions' contents are loaded. It gets the keys typed until then.
pub(crate) fn open_for(model: &mut Model, keys: Vec<ActionKey>, outside: bool) {
    let missing: Vec<ActionKey> =
        keys.iter().filter(|key| model.preview.cached(key).is_none()).cloned().collect();
    if missing.is_empty() {
        return try_open(model, keys, outside);
    }
    for key in &missing {
        model.preview.problems.remove(key);
    }
    model.sheet.open(EditSoon { keys, outside, typed: Vec::new() });
    model.effects.push(Effect::Load(missing));
}

/// Opens the form for an action that needs an answer, when the approve key is pressed.
pub(crate) fn open_for_answer(model: &mut Model, key: ActionKey) {
    open_for(model, vec![key], false);
    if model.sheet.is::<EditForm>() || model.sheet.is::<EditSoon>() {
        model.say(words::WRITE_THE_ANSWER);
    }
}

/// Opens a waiting form if its contents have been loaded.
pub(crate) fn arrived(model: &mut Model) {
    let Some(EditSoon { keys, .. }) = model.sheet.get() else { return };
    let preview = &model.preview;
    let here = |key: &ActionKey| preview.cached(key).is_some() || preview.problems.contains_key(key);
    if !keys.iter().all(here) {
        return;
    }
    let Some(EditSoon { keys, outside, typed: waiting }) = model.sheet.take() else { return };
    model.screen.dirty = true;
    try_open(model, keys, outside);
    for key in waiting {
        typed(model, key);
    }
}

fn try_open(model: &mut Model, keys: Vec<ActionKey>, outside: bool) {
    let Some(key) = keys.iter().find(|key| model.preview.cached(key).is_some()).cloned() else {
        model.warn(words::CONTENT_NOT_READ_WHY);
        return;
    };
    let (Some(cached), Some(slot)) = (model.preview.cached(&key), model.queue.get(&key)) else {
        return;
    };
    let (input, digest) = (cached.action.input.clone(), cached.digest);
    if input.as_str().len() > LARGEST {
        model.warn(words::TOO_LARGE);
        return;
    }
    let (source, tool) = (key.source.clone(), slot.entry.row.tool.clone());
    let proposed = json::pretty(input.as_str());
    let text = match model.edit.texts.get(&key) {
        Some(draft) if draft.of == digest => draft.text.clone(),
        Some(_) | None => {
            let staged = model.decide.draft.get(&key).filter(|staged| staged.digest == Some(digest));
            let edits = match staged {
                Some(staged) => staged.decision.edits(),
                None => model.approved_edits(&key),
            };
            let merged = edits.and_then(|edits| merge(&input, edits).ok());
            merged.map_or(proposed, |merged| json::pretty(merged.as_str()))
        }
    };
    let known = model.edit.tools.get(&(source.clone(), tool.clone())).cloned();
    let asks = slot.entry.row.can.answer;
    let leading = tools::leading_amount(&tool, &input);
    let mut form = EditForm::new(key, digest, input, &text, known);
    if asks {
        form.begin_at_answer();
    } else if let Some(nth) = leading.and_then(|key| form.position(&key)) {
        form.select(nth);
    }
    if keys.len() > 1 {
        form.bulk = Some(Bulk { keys, rows: None, top: 0, since: model.now });
    }
    model.sheet.open(form);
    model.effects.push(Effect::LearnTool { source, tool });
    if outside {
        editor(model);
    }
}

/// Takes a tool's description. Without one, only the source validates the edits.
pub(crate) fn learnt(
    model: &mut Model,
    source: SourceName,
    tool: Untrusted,
    answer: Result<Option<Arc<Tool>>, Problem>,
) {
    let Ok(Some(known)) = answer else { return };
    if let Some(form) = model.sheet.get_mut::<EditForm>()
        && form.key.source == source
        && model.queue.get(&form.key).is_some_and(|slot| slot.entry.row.tool == tool)
    {
        form.learn(Arc::clone(&known));
    }
    model.edit.tools.insert((source, tool), known);
}

/// Handles Enter: stages an approval with the edits, or shows the preview of a bulk edit.
fn approve(model: &mut Model) {
    // A pasted line ends in Enter, too.
    if is_burst(model) {
        return;
    }
    let Some(form) = model.sheet.get::<EditForm>() else { return };
    if let Some(why) = form.refusal() {
        model.warn(words::cannot_be_sent(&why));
        return;
    }
    if form.bulk.is_some() {
        return bulk::show(model);
    }
    let (key, digest) = (form.key.clone(), form.digest);
    let edits = form.check.clone().ok().flatten();
    if let Err(why) = may_stage(model, &key, digest) {
        model.warn(why);
        return;
    }
    let comment = bulk::comment_of(model, &key);
    close(model);
    stage::stage(model, vec![(key, Some(Decision::Approve { edits, comment }))]);
    move_on(model);
}

fn may_stage(model: &Model, key: &ActionKey, digest: Digest) -> Result<(), String> {
    let slot = model.queue.get(key);
    if !slot.is_some_and(Slot::is_pending) {
        return Err(words::DECIDED_TEXT_KEPT.to_owned());
    }
    if model.preview.cached(key).is_none_or(|cached| cached.digest != digest) {
        return Err(words::PROPOSAL_CHANGED.to_owned());
    }
    match slot.and_then(|slot| decide::lock::lock(model, slot)) {
        Some(why) => Err(words::close_and_read(&why)),
        None => Ok(()),
    }
}

/// Closes the form and keeps its text, or returns from the preview of a bulk edit to the form.
fn close(model: &mut Model) {
    if let Some(form) = model.sheet.get_mut::<EditForm>()
        && let Some(bulk) = &mut form.bulk
        && bulk.rows.take().is_some()
    {
        return save(model);
    }
    save(model);
    if let Some(form) = model.sheet.take::<EditForm>() {
        match form.check {
            Ok(Some(edits)) => drop(model.edit.drafted.insert(form.key, edits)),
            Ok(None) | Err(_) => drop(model.edit.drafted.remove(&form.key)),
        }
    }
}

fn save(model: &mut Model) {
    let Some(form) = model.sheet.get_mut::<EditForm>() else { return };
    if !form.unsaved {
        return;
    }
    form.unsaved = false;
    let (key, of, text) = (form.key.clone(), form.digest, form.text());
    let text = (text != form.proposed()).then_some(EditText { text, of });
    keep(model, key, text);
}

/// Computes the edits of a draft whose action was loaded.
pub(crate) fn learn(model: &mut Model, key: &ActionKey) {
    let (Some(draft), Some(cached)) = (model.edit.texts.get(key), model.preview.cached(key)) else { return };
    if draft.of == cached.digest
        && let Ok(Some(edits)) = changed_keys(&cached.action.input, &draft.text)
    {
        model.edit.drafted.insert(key.clone(), edits);
    }
}

// Keys of the form. The quickest edit: the form opens at its title with the caret at the end, and Enter in a one-line
// field approves. In a text of several lines, Tab moves to the button, or Esc and the approve key do the same.

const BUTTONS: [EditField; 3] = [EditField::Approve, EditField::Revert, EditField::Close];

enum Meant {
    Nothing,
    Approve,
    Say(&'static str),
}

fn typed(model: &mut Model, key: KeyEvent) {
    let Some(form) = model.sheet.get_mut::<EditForm>() else { return };
    if form.lists() {
        return bulk::key(model, key);
    }
    if form.field != EditField::Text {
        return button_key(model, key);
    }
    let meant = if form.is_raw() { in_text(form, key) } else { in_field(form, key) };
    match meant {
        Meant::Nothing => {}
        Meant::Approve => approve_changed(model),
        Meant::Say(what) => {
            model.warn(what);
        }
    }
}

/// Handles Enter in a field. Approves only if something was changed, so that a stray key approves nothing.
fn approve_changed(model: &mut Model) {
    let Some(form) = model.sheet.get::<EditForm>() else { return };
    if form.check == Ok(None) && form.fields.iter().all(|field| field.wrong.is_none()) {
        let asks = model.queue.get(&form.key).is_some_and(|slot| slot.entry.row.can.answer);
        let keys = &model.settings.keymap;
        let (back, approve) = (keys.key_in_text(Command::Back), keys.key(Command::Approve));
        model.say(if asks {
            words::answer_not_written(&back)
        } else {
            words::nothing_changed(&back, &approve)
        });
        return;
    }
    approve(model);
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
        return match bare(key) {
            KeyCode::Up | KeyCode::Down => beside(form, key.code),
            KeyCode::Enter => Meant::Approve,
            KeyCode::Char(_) => Meant::Say(words::OWNER_LOCKED),
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
    match bare(key) {
        KeyCode::Left => form.with_field(|field, _| field.cycle(false)),
        KeyCode::Right | KeyCode::Char(' ') => form.with_field(|field, _| field.cycle(true)),
        KeyCode::Char(c) => form.with_field(|field, _| field.jump(c)),
        KeyCode::Up | KeyCode::Down => return beside(form, key.code),
        KeyCode::Enter => return Meant::Approve,
        _ => {}
    }
    Meant::Nothing
}

fn in_list(form: &mut EditForm, key: KeyEvent) -> Meant {
    let last = form.here().map_or(0, |field| field.elements().len().saturating_sub(1));
    match bare(key) {
        KeyCode::Up if form.element > 0 => form.element -= 1,
        KeyCode::Down if form.element < last => form.element += 1,
        KeyCode::Up | KeyCode::Down => return beside(form, key.code),
        KeyCode::Char(' ') | KeyCode::Delete => form.with_field(Field::toggle),
        KeyCode::Right => form.as_json(),
        KeyCode::Enter => return Meant::Approve,
        KeyCode::Char(_) => {
            return Meant::Say(words::LIST_KEYS);
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
        KeyCode::Char('j') if control && text => form.area.insert_newline(),
        KeyCode::Enter if key.modifiers.contains(KeyModifiers::ALT) && text => form.area.insert_newline(),
        KeyCode::Enter if bare(key) == KeyCode::Null => return Meant::Nothing,
        KeyCode::Enter if !form.has_lines() => return Meant::Approve,
        KeyCode::Char('u') if control && lines == 1 => {
            form.area = tui_textarea::TextArea::default();
        }
        KeyCode::Char('u') if control => drop(form.area.delete_line_by_head()),
        KeyCode::Char('m') if control => return Meant::Nothing,
        KeyCode::Char(c) if bare(key) == key.code && form.here().is_some_and(|field| !field.takes(c)) => {
            return Meant::Say(words::NUMBER_ONLY);
        }
        _ if !form.area.input(key) => return Meant::Nothing,
        _ => {}
    }
    form.typed();
    Meant::Nothing
}

fn beside(form: &mut EditForm, code: KeyCode) -> Meant {
    let to = if code == KeyCode::Up { form.at.checked_sub(1) } else { Some(form.at + 1) };
    if let Some(to) = to.filter(|to| *to < form.fields.len()) {
        form.select(to);
    }
    Meant::Nothing
}

fn pasted(model: &mut Model, text: &str) -> bool {
    let Some(form) = model.sheet.get_mut::<EditForm>() else { return false };
    let listed = form.lists();
    if listed || form.field != EditField::Text || !(form.is_raw() || form.has_text()) {
        model.warn(words::PASTE_IGNORED);
        return true;
    }
    if form.here().is_some_and(|field| !text.trim().chars().all(|c| field.takes(c))) {
        model.warn(words::PASTE_NO_NUMBER);
        return true;
    }
    let number = form.here().is_some_and(|field| field.kind == Kind::Number);
    form.area.insert_str(if number { text.trim() } else { text });
    if form.is_raw() {
        form.changed();
    } else {
        form.typed();
    }
    true
}

pub(crate) fn next_field(model: &mut Model, way: Direction) {
    let Some(form) = model.sheet.get_mut::<EditForm>() else { return };
    let fields = form.fields.len().max(1);
    let at = match BUTTONS.iter().position(|button| *button == form.field) {
        Some(button) => fields + button,
        None => form.at,
    };
    let all = fields + BUTTONS.len();
    let to = if way == Direction::Down { (at + 1) % all } else { (at + all - 1) % all };
    match to.checked_sub(fields) {
        Some(button) => form.field = BUTTONS.get(button).copied().unwrap_or(EditField::Text),
        None if form.is_raw() => form.field = EditField::Text,
        None => form.select(to),
    }
}

fn button_key(model: &mut Model, key: KeyEvent) {
    let Some(form) = model.sheet.get_mut::<EditForm>() else { return };
    match (bare(key), form.field) {
        (KeyCode::Enter, EditField::Approve) => approve(model),
        (KeyCode::Enter, EditField::Revert) => {
            let proposed = form.proposed();
            form.take(&proposed);
            form.field = EditField::Text;
            form.changed();
        }
        (KeyCode::Enter, EditField::Close) => close(model),
        (KeyCode::Right | KeyCode::Down, _) => next_field(model, Direction::Down),
        (KeyCode::Left | KeyCode::Up, _) => next_field(model, Direction::Up),
        _ => {}
    }
}

pub(crate) fn field_back(model: &mut Model) {
    let Some(form) = model.sheet.get_mut::<EditForm>() else { return };
    if form.lists() {
        return;
    }
    if form.is_raw() {
        let proposed = form.proposed();
        form.set_raw(&proposed);
        form.changed();
    } else {
        form.back_to_proposed();
    }
}

/// Switches between fields and JSON text of the same draft.
pub(crate) fn raw(model: &mut Model) {
    let Some(form) = model.sheet.get_mut::<EditForm>() else { return };
    if form.lists() {
        return;
    }
    let text = form.text();
    form.field = EditField::Text;
    if form.is_raw() {
        form.take(&text);
        if form.is_raw() {
            let why = form.check.as_ref().err().map(ToString::to_string).unwrap_or_default();
            model.warn(words::no_fields_yet(&why));
        }
    } else {
        form.set_raw(&text);
        form.judge();
    }
}

pub(crate) fn open_outside(model: &mut Model) {
    start(model, true);
}

pub(crate) fn editor(model: &mut Model) {
    let Some(form) = model.sheet.get::<EditForm>() else { return };
    if form.lists() {
        return;
    }
    model.effects.push(Effect::Editor { key: form.key.clone(), digest: form.digest, text: form.text() });
}

pub(crate) fn edited(model: &mut Model, key: &ActionKey, digest: Digest, answer: Result<String, String>) {
    let text = match answer {
        Ok(text) => text,
        Err(why) => {
            model.warn(why);
            return;
        }
    };
    let Some(form) = model.sheet.get_mut::<EditForm>() else { return };
    if form.key != *key || form.digest != digest {
        return;
    }
    if text.trim_end() == form.text().trim_end() {
        model.say(words::EDITOR_CHANGED_NOTHING);
        return;
    }
    form.take(text.trim_end());
    form.field = EditField::Text;
    form.changed();
    if form.is_raw() {
        let why = form.check.as_ref().err().map(ToString::to_string).unwrap_or_default();
        model.warn(words::came_back_broken(&why));
    }
}
