//! The one-line field for a reason, a comment, or guidance for a retry. Text for a single action is kept until the
//! action is settled, whether staged or not. Text for marked actions is kept only in their decisions.

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use tui_textarea::{CursorMove, TextArea};

use crate::domain::{ActionKey, Decision, DecisionKind, On, ReasonRule, Untrusted};
use crate::journal::Write;
use crate::text;
use crate::tui::chrome;
use crate::tui::chrome::pen::{Pen, sheet_frame};
use crate::tui::chrome::theme;
use crate::tui::core::command::{Command, KeyContext};
use crate::tui::core::keymap::Chord;
use crate::tui::core::layout::Layout;
use crate::tui::core::model::{Keys, Model, Sheet};
use crate::tui::decide::words;
use crate::tui::edit::view::{area_of, title};
use crate::tui::queue::slots::Slot;

use super::state::{FollowUp, Targets};
use super::update::{approval, begin_skipping, clear_targets, kind, ready, say_why_not, skip_with_text};
use super::{stage, turns, update};

#[derive(Clone, Debug)]
pub(crate) struct ReasonForm {
    pub says: DecisionKind,
    pub keys: Vec<ActionKey>,
    pub area: TextArea<'static>,
    pub rule: ReasonRule,
    /// For all marked actions instead of the one under the cursor.
    pub for_marks: bool,
    pub unsaved: bool,
}

const CONTEXTS: &[KeyContext] = &[KeyContext::Reason, KeyContext::Anywhere];

impl Sheet for ReasonForm {
    fn keys(&self) -> Keys {
        Keys { takes_text: true, typed, pasted, accept, back, save, ..Keys::of(CONTEXTS) }
    }

    fn draw(&self, model: &Model, _: &Layout, area: Rect, buf: &mut Buffer) -> Option<Position> {
        let words = self.says.words();
        let keys = &model.settings.keymap;
        let (accept, back) = (keys.key_in_text(Command::Accept), keys.key_in_text(Command::Back));
        let note = words::reason_note(&accept, words.does, &back);
        let reasons: &[String] = if self.says.rejects() { &model.settings.reasons } else { &[] };
        let listed = reasons.len().min(LISTED) as u16;
        let height = if listed > 0 { 9 + listed } else { 8 };
        let body = sheet_frame(
            model,
            area,
            (76.min(area.width.saturating_sub(2)), height),
            words.heading,
            &note,
            buf,
        );
        let mut pen = Pen::new(buf, body, 0);
        match self.keys.as_slice() {
            [only] => title(model, only, &mut pen),
            many => drop(pen.ours(&words::one_text(many.len()), theme::BOLD)),
        }
        Pen::new(buf, body, 1).ours(kept(self), theme::DIM);
        let field = Rect { y: body.y + 3, height: 1.min(body.height.saturating_sub(3)), ..body };
        let mark = Rect { width: 2, ..field };
        Pen::new(buf, mark, 0).ours("> ", theme::KEY);
        let field = Rect { x: field.x + 2, width: field.width.saturating_sub(2), ..field };
        for (nth, reason) in reasons.iter().take(LISTED).enumerate() {
            Pen::new(buf, body, 5 + nth as u16)
                .ours(&format!("{} ", nth + 1), theme::KEY)
                .shown(&text::line(&Untrusted::from(reason.as_str())), theme::PLAIN);
        }
        area_of(&self.area, field, true, buf)
    }
}

/// A digit in an empty field inserts the reason of that number.
fn typed(model: &mut Model, key: KeyEvent) {
    let Some(form) = model.sheet.get_mut::<ReasonForm>() else { return };
    let digit = Chord::from(key).char().and_then(|c| c.to_digit(10)).filter(|_| text_of(form).is_empty());
    let template = digit.and_then(|n| model.settings.reasons.get((n as usize).checked_sub(1)?));
    match template.filter(|_| form.says.rejects()) {
        Some(reason) => form.area = area(reason.clone()),
        None => drop(form.area.input(key)),
    }
    form.unsaved = true;
}

fn pasted(model: &mut Model, text: &str) -> bool {
    let Some(form) = model.sheet.get_mut::<ReasonForm>() else { return false };
    form.area.insert_str(chrome::words::one_line(text));
    form.unsaved = true;
    true
}

fn accept(model: &mut Model) {
    let Some(form) = model.sheet.get::<ReasonForm>() else { return };
    let (says, rule, for_marks) = (form.says, form.rule, form.for_marks);
    let text = text_of(form).trim().to_owned();
    if text.is_empty() && rule == ReasonRule::Required {
        let wants = format!("say {}", says.words().wants);
        let rule = chrome::words::REASON_DEMANDED;
        model.warn(if says.hands_back() { wants } else { rule.to_owned() });
        return;
    }
    let keys = form.keys.clone();
    back(model);
    let said = Some(text.clone()).filter(|text| !text.is_empty());
    // Some actions may have been decided by others meanwhile.
    let pending = keys.into_iter().filter(|key| model.queue.get(key).is_some_and(Slot::is_pending));
    let mut wanted = Vec::new();
    let mut locked = None;
    for key in pending {
        let decision = if says.approves() {
            commented(model, &key, said.clone())
        } else {
            Decision::new(says, None, said.clone()).ok_or_else(|| format!("say {}", says.words().wants))
        };
        match decision {
            Ok(decision) => wanted.push((key, Some(decision))),
            Err(why) => locked = Some(why),
        }
    }
    if wanted.is_empty() {
        let gone = || words::DECIDED_MEANWHILE.to_owned();
        model.warn(locked.unwrap_or_else(gone));
        return;
    }
    // A comment on actions that were decided before does not move the cursor.
    let decided = says.approves() && wanted.iter().all(|(key, _)| model.decide.draft.get(key).is_some());
    let skipped = if for_marks { skip_with_text(model, &mut wanted) } else { 0 };
    let follow_up = FollowUp { skipped, moves_on: !decided, ..FollowUp::default() };
    stage::begin(model, Targets::Each(wanted.into_iter()), follow_up);
}

/// Closes the field and keeps its text for the next time it opens.
fn back(model: &mut Model) {
    save(model);
    model.sheet.close();
}

fn save(model: &mut Model) {
    let Some(form) = model.sheet.get_mut::<ReasonForm>() else { return };
    if !std::mem::take(&mut form.unsaved) {
        return;
    }
    let (keys, says) = (form.keys.clone(), form.says);
    // Text for all marked actions does not belong to a single one.
    if form.for_marks {
        return;
    }
    let text = Some(text_of(form)).filter(|text| !text.is_empty());
    let mut writes = Vec::new();
    for key in keys {
        match &text {
            Some(text) => drop(model.decide.reason_texts.insert((key.clone(), says), text.clone())),
            None => drop(model.decide.reason_texts.remove(&(key.clone(), says))),
        }
        writes.push(Write::ReasonText { key, says, text: text.clone() });
    }
    stage::save(model, writes);
}

pub(crate) fn open(model: &mut Model, says: DecisionKind) {
    let Some(targets) = ready(model) else { return };
    let targets = match says {
        kind if kind.approves() => Some(targets),
        kind if kind.rejects() => rejectable(model, targets),
        kind => takers(model, targets, kind),
    };
    let Some(targets) = targets else { return };
    let for_marks = !model.queue.marks.is_empty();
    open_for(model, says, targets, for_marks);
}

/// Returns the targets that can be rejected; `None` if none can, after saying why.
pub(crate) fn rejectable(model: &mut Model, targets: Vec<ActionKey>) -> Option<Vec<ActionKey>> {
    let cannot = |key: &ActionKey| {
        let can = model.queue.get(key).map(|slot| slot.entry.row.can)?;
        (!can.reject).then(|| can.why_not(On::Reject))
    };
    let any = model.queue.tally.any_can(|can| !can.reject);
    let why = targets.iter().filter(|_| any).find_map(cannot);
    let Some(why) = why else { return Some(targets) };
    let all = targets.len();
    let rest: Vec<ActionKey> = targets.into_iter().filter(|key| cannot(key).is_none()).collect();
    let left_out = all - rest.len();
    if rest.is_empty() {
        model.warn(why);
        return None;
    }
    model.warn(words::cannot_be_rejected(left_out, all, why));
    None
}

fn takers(model: &mut Model, targets: Vec<ActionKey>, kind: DecisionKind) -> Option<Vec<ActionKey>> {
    let can = |key: &ActionKey| model.queue.get(key).map(|slot| slot.entry.row.can);
    let Some(can) = targets.iter().filter_map(can).find(|can| !can.takes(kind)) else { return Some(targets) };
    let because = model.settings.keymap.key(Command::ExcludeBecause);
    let instead = if can.reject { words::excludes_with_reason(&because) } else { String::new() };
    model.warn(format!("{}{instead}", can.why_not(On::of(kind))));
    None
}

/// Opens the field for the action under the cursor, or for its whole turn. A rejection's comment is its reason, a
/// retry's its guidance; an undecided action is approved with the comment.
pub(crate) fn comment(model: &mut Model) {
    let Some(slot) = model.here().filter(|slot| slot.is_pending()) else {
        say_why_not(model);
        return;
    };
    let key = slot.entry.key.clone();
    let says = match model.decide.draft.get(&key).map(|staged| staged.decision.kind()) {
        Some(kind) => kind.without_edits(),
        None if !update::may_decide(model, &key) => return,
        None => match approval(model, &key) {
            Ok(_) => DecisionKind::Approve,
            Err(why) => {
                model.warn(why);
                return;
            }
        },
    };
    let Some(keys) = turns::whole(model, vec![key]) else { return };
    open_for(model, says, keys, false);
}

pub(crate) fn open_for(model: &mut Model, says: DecisionKind, keys: Vec<ActionKey>, for_marks: bool) {
    let rule = |slot: &Slot| match says {
        kind if kind.rejects() => slot.entry.row.can.reason,
        kind if kind.hands_back() => ReasonRule::Required,
        _ if slot.entry.row.can.comment => ReasonRule::Optional,
        _ => ReasonRule::NotKept,
    };
    let rules = keys.iter().filter_map(|key| model.queue.get(key)).map(rule);
    let rule = rules.max_by_key(|rule| match rule {
        ReasonRule::NotKept => 0,
        ReasonRule::Optional => 1,
        ReasonRule::Required => 2,
    });
    let text = keys.iter().find_map(|key| model.decide.known_text(key, says)).unwrap_or_default();
    let rule = rule.unwrap_or(ReasonRule::NotKept);
    model.sheet.open(ReasonForm { says, keys, area: area(text), rule, for_marks, unsaved: false });
}

fn area(text: String) -> TextArea<'static> {
    let mut area = TextArea::new(vec![text]);
    area.move_cursor(CursorMove::End);
    area
}

/// Inserts the next configured reason, unless the field contains other text.
pub(crate) fn next_template(model: &mut Model) {
    let reasons = &model.settings.reasons;
    let Some(form) = model.sheet.get_mut::<ReasonForm>() else { return };
    let text = text_of(form);
    let at = reasons.iter().position(|reason| *reason == text);
    let free = at.is_some() || text.is_empty();
    let next = reasons.get(at.map_or(0, |at| (at + 1) % reasons.len().max(1)));
    if let Some(reason) = next.filter(|_| free && form.says.rejects()) {
        form.area = area(reason.clone());
        form.unsaved = true;
    } else if !free {
        model.say(words::OWN_TEXT_STAYS);
    }
}

pub(crate) fn commented(model: &Model, key: &ActionKey, comment: Option<String>) -> Result<Decision, String> {
    approval(model, key).map(|decision| match decision {
        Decision::Approve { edits, .. } => Decision::Approve { edits, comment },
        other => other,
    })
}

fn text_of(form: &ReasonForm) -> String {
    form.area.lines().join(" ")
}

/// Excludes the targets, or unstages them if all are excluded. Asks for a reason if a source requires one.
pub(crate) fn exclude(model: &mut Model) {
    let Some(targets) = ready(model) else { return };
    if targets.iter().all(|key| kind(model, key).is_some_and(DecisionKind::rejects)) {
        let moment = stage::moment(model);
        return clear_targets(model, targets, moment);
    }
    let Some(targets) = rejectable(model, targets) else { return };
    let demands = |key: &ActionKey| {
        model.queue.get(key).is_some_and(|slot| slot.entry.row.can.reason == ReasonRule::Required)
    };
    if model.queue.tally.any_can(|can| can.reason == ReasonRule::Required) && targets.iter().any(demands) {
        let for_marks = !model.queue.marks.is_empty();
        return open_for(model, DecisionKind::Reject, targets, for_marks);
    }
    // The last reason typed is used again, even if the exclusion was toggled meanwhile.
    let moment = stage::moment(model);
    begin_skipping(model, Targets::Exclude(targets.into_iter()), true, moment);
}

/// Number of configured reasons listed; Tab inserts the others, too.
const LISTED: usize = 9;

/// Returns a note on whether the source keeps the text.
const fn kept(form: &ReasonForm) -> &'static str {
    match (form.says, form.rule) {
        (DecisionKind::Reject, ReasonRule::NotKept) => words::REASON_NOT_KEPT,
        (DecisionKind::Reject, ReasonRule::Required) => words::REASON_DEMANDED_NOTE,
        (DecisionKind::Approve, ReasonRule::NotKept) => words::COMMENT_NOT_KEPT,
        (says, _) => says.words().kept,
    }
}
