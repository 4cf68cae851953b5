//! Resolves unknown outcomes: a human reports the outcome once.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use tui_textarea::TextArea;

use crate::domain::{ActionKey, On, Outcome, Resolution, Resolved, Status, Timestamp, Untrusted};
use crate::inbox::Problem;
use crate::text;
use crate::text::Shown;
use crate::tui::chrome;
use crate::tui::chrome::pen::{Pen, sheet_frame};
use crate::tui::chrome::state::Tone;
use crate::tui::chrome::theme;
use crate::tui::core::command::{Command, KeyContext};
use crate::tui::core::keymap::bare;
use crate::tui::core::layout::Layout;
use crate::tui::core::model::{Keys, Model, Sheet};
use crate::tui::core::msg::Effect;
use crate::tui::decide::confirm_guard;
use crate::tui::decide::confirm_guard::is_burst;
use crate::tui::edit::view::{area_of, title};
use crate::tui::queue::groups::GroupKey;
use crate::tui::queue::slots::{Settled, State};
use crate::tui::submit::{report, words};

/// A key this soon after the sheet was drawn was not meant for it. Milliseconds.
const REST: i64 = 400;

#[derive(Clone, Debug)]
pub(crate) struct ResolveSheet {
    pub key: ActionKey,
    /// The selected finding, waiting for confirmation.
    pub picked: Option<Resolution>,
    pub area: TextArea<'static>,
    pub typing: bool,
    /// When it was first drawn in its current state.
    pub drawn: Option<Timestamp>,
}

impl Sheet for ResolveSheet {
    fn keys(&self) -> Keys {
        let contexts: &'static [KeyContext] = if self.typing {
            &[KeyContext::Reason, KeyContext::Anywhere]
        } else {
            &[KeyContext::ResolveUnknown, KeyContext::Anywhere]
        };
        Keys { takes_text: self.typing, typed, pasted, accept: back, confirm, back, ..Keys::of(contexts) }
    }

    fn draw(&self, model: &Model, _: &Layout, area: Rect, buf: &mut Buffer) -> Option<Position> {
        let size = (76.min(area.width.saturating_sub(2)), 13);
        let body = sheet_frame(model, area, size, words::WHAT_BECAME_OF_IT, words::LOOK_FIRST, buf);
        title(model, &self.key, &mut Pen::new(buf, body, 0));
        approved(model, self, &mut Pen::new(buf, body, 1));
        let keys = &model.settings.keymap;
        let ours = is_ours(model);
        // A lost decision is never sent a second time.
        let choices = CHOICES.into_iter().filter(|choice| !ours || choice.1 != Resolution::RunAgain);
        for (nth, (command, finding, says, follows)) in (3..).zip(choices) {
            let picked = self.picked == Some(finding);
            let style = if picked { theme::BOLD } else { theme::PLAIN };
            Pen::new(buf, body, nth)
                .ours(if picked { "> " } else { "  " }, theme::BOLD)
                .ours(&keys.key(command), theme::KEY)
                .ours(&format!("  {says:<17}"), style)
                .ours(follows, theme::DIM);
        }
        let mut pen = Pen::new(buf, body, 7);
        let (label, hint) = ("reason > ", words::ends_reason(&keys.key_in_text(Command::Accept)));
        pen.ours(label, if self.typing { theme::KEY } else { theme::DIM });
        if self.typing {
            pen.right(&hint, theme::DIM);
        }
        let taken = (label.len() + hint.len()) as u16;
        let field = Rect {
            x: body.x + label.len() as u16,
            y: body.y + 7,
            width: body.width.saturating_sub(taken),
            height: u16::from(body.height > 7),
        };
        let cursor = area_of(&self.area, field, self.typing, buf);
        let mut pen = Pen::new(buf, body, 9);
        match self.picked.and_then(|picked| CHOICES.iter().find(|choice| choice.1 == picked)) {
            _ if self.typing => {}
            Some((.., says, _)) => {
                let (confirm, back) = (keys.key(Command::Confirm), keys.key(Command::Back));
                pen.ours(&words::press_to_say(&confirm, says, &back), theme::BOLD);
            }
            None => {
                let line = words::resolve_keys(&keys.key(Command::NextField), &keys.key(Command::Back));
                pen.ours(&line, theme::DIM);
            }
        }
        cursor
    }

    fn drawn(&mut self) -> Option<&mut Option<Timestamp>> {
        Some(&mut self.drawn)
    }
}

fn typed(model: &mut Model, key: KeyEvent) {
    let Some(sheet) = sheet(model).filter(|sheet| sheet.typing) else {
        confirm_guard::absorbed(model);
        return;
    };
    if matches!(bare(key), KeyCode::Tab | KeyCode::BackTab) {
        back(model);
    } else {
        sheet.area.input(key);
    }
}

fn pasted(model: &mut Model, text: &str) -> bool {
    let Some(sheet) = sheet(model).filter(|sheet| sheet.typing) else { return false };
    sheet.area.insert_str(chrome::words::one_line(text));
    true
}

fn confirm(model: &mut Model) {
    if !is_meant(model) {
        return;
    }
    if let Some(finding) = sheet(model).and_then(|sheet| sheet.picked) {
        send(model, finding);
    }
}

/// Goes back from the reason to the choice, and from there closes the sheet.
fn back(model: &mut Model) {
    let Some(sheet) = sheet(model) else { return };
    sheet.drawn = None;
    if sheet.typing {
        sheet.typing = false;
    } else if sheet.picked.take().is_none() {
        model.sheet.close();
        model.say(words::NOTHING_WAS_SETTLED);
    }
}

pub(crate) fn open(model: &mut Model) {
    match target(model) {
        Ok(key) => {
            let area = TextArea::default();
            let sheet = ResolveSheet { key, picked: None, area, typing: false, drawn: None };
            model.sheet.open(sheet);
        }
        Err(why) => model.warn(why),
    }
}

pub(crate) fn target(model: &Model) -> Result<ActionKey, String> {
    let here = model.here().filter(|slot| slot.is_lost());
    let group = model.queue.group_here().map(|group| &group.key);
    match here {
        None if group == Some(&GroupKey::ToResolve) => {
            Err(words::select_unknown(&model.settings.keymap.key(Command::ResolveUnknown)))
        }
        None => Err(words::ONLY_UNKNOWN.to_owned()),
        Some(_) if model.submit.resolving.is_some() => Err(words::STILL_ANSWERING.to_owned()),
        // A lost decision is resolved in the journal, which no source has to support.
        Some(slot) if slot.state == State::Unknown => Ok(slot.entry.key.clone()),
        Some(slot) if !slot.entry.row.can.settle => {
            let can = slot.entry.row.can;
            let other = words::TAKES_NO_ANSWER;
            Err(if can.can_decide() { other } else { can.why_not(On::Any) }.to_owned())
        }
        Some(slot) => Ok(slot.entry.key.clone()),
    }
}

pub(crate) fn is_open(model: &Model) -> bool {
    model.sheet.is::<ResolveSheet>()
}

fn sheet(model: &mut Model) -> Option<&mut ResolveSheet> {
    model.sheet.get_mut()
}

/// Returns true for a lost decision: it is resolved in the journal and not at the source.
fn is_ours(model: &Model) -> bool {
    let Some(sheet) = model.sheet.get::<ResolveSheet>() else { return false };
    model.queue.get(&sheet.key).is_some_and(|slot| slot.state == State::Unknown)
}

/// Returns true if the key was pressed at the sheet as it is now. Any other key restarts the sheet's reading time.
fn is_meant(model: &mut Model) -> bool {
    let now = model.now;
    let meant = !is_burst(model)
        && !model.decide.guard.is_hasty()
        && sheet(model).and_then(|sheet| sheet.drawn).is_some_and(|drawn| now.since(drawn) >= REST);
    if !meant {
        confirm_guard::absorbed(model);
    }
    meant
}

/// Selects a finding. One with consequences needs a confirming key.
pub(crate) fn pick(model: &mut Model, finding: Resolution) {
    if !is_meant(model) {
        return;
    }
    if finding == Resolution::RunAgain && is_ours(model) {
        model.warn(words::NOT_SENT_TWICE);
        return;
    }
    if finding == Resolution::NotLanded {
        return send(model, finding);
    }
    if let Some(sheet) = sheet(model) {
        sheet.picked = Some(finding);
        sheet.drawn = None;
    }
}

fn send(model: &mut Model, finding: Resolution) {
    let Some(sheet) = model.sheet.take::<ResolveSheet>() else { return };
    let reason = sheet.area.lines().join(" ").trim().to_owned();
    tell_source(model, sheet.key, finding, Some(reason).filter(|reason| !reason.is_empty()));
}

/// Resolves without a sheet, with all values given.
pub(crate) fn given(model: &mut Model, finding: Resolution, reason: Option<String>) {
    match target(model) {
        Ok(key) => tell_source(model, key, finding, reason),
        Err(why) => {
            model.warn(why);
        }
    }
}

fn tell_source(model: &mut Model, key: ActionKey, finding: Resolution, reason: Option<String>) {
    let ours = model.queue.get(&key).is_some_and(|slot| slot.state == State::Unknown);
    model.submit.resolving = Some(key.clone());
    model.say(if ours { words::WRITING_IT_DOWN } else { words::TELLING_THE_SOURCE });
    model.effects.push(Effect::ResolveUnknown { key, finding, reason });
}

pub(crate) fn to_reason(model: &mut Model) {
    if let Some(sheet) = sheet(model) {
        sheet.typing = true;
    }
}

/// Closes the sheet if the outcome was settled meanwhile.
pub(crate) fn settled_elsewhere(model: &mut Model) {
    let Some(key) = sheet(model).map(|sheet| sheet.key.clone()) else { return };
    let Some(slot) = model.queue.get(&key).filter(|slot| !slot.is_lost()) else { return };
    let title = text::line(&model.title_of(slot)).cut(40);
    let status = text::status_word(&slot.entry.row.status);
    model.sheet.close();
    model.tell(Tone::Bad, vec![title, Shown::ours(words::SETTLED_MEANWHILE), status, Shown::ours(" now")]);
}

pub(crate) fn answered(
    model: &mut Model,
    key: &ActionKey,
    finding: Resolution,
    answer: Result<Resolved, Problem>,
) {
    model.submit.resolving = None;
    let title = model.queue.get(key).map_or_else(|| key.id.untrusted().clone(), |slot| model.title_of(slot));
    let title = text::line(&title).cut(40);
    let again = model.settings.keymap.key(Command::Reload);
    let runs = finding == Resolution::RunAgain && matches!(answer, Ok(Resolved::Settled(_)));
    let (tone, parts) = match answer {
        Err(problem) => {
            model.tell_problem(words::IT_WAS_NOT_SETTLED, &problem);
            return model.sync(&key.source);
        }
        Ok(Resolved::Settled(_)) if finding == Resolution::RunAgain => {
            (Tone::Good, vec![title, Shown::ours(words::IS_RUN_AGAIN)])
        }
        Ok(Resolved::Settled(status)) => {
            said_by_hand(model, key, finding, &status);
            (
                Tone::Good,
                vec![Shown::ours(words::MARKED), text::status_word(&status), Shown::ours(": "), title],
            )
        }
        Ok(Resolved::Already { status, by }) => (Tone::Bad, already(title, status.as_ref(), by.as_ref())),
        Ok(Resolved::Lost { status: Some(status), .. }) if status != Status::Unknown => (
            Tone::Bad,
            vec![
                Shown::ours(words::NO_ANSWER_CAME_BUT),
                title,
                Shown::ours(" is "),
                text::status_word(&status),
                Shown::ours(" now"),
            ],
        ),
        Ok(Resolved::Lost { why, .. }) => {
            let asked = words::whether_settled(&again);
            (Tone::Bad, vec![Shown::ours("whether "), title, Shown::ours(asked), text::line(&why)])
        }
    };
    model.tell(tone, parts);
    model.sync(&key.source);
    model.effects.extend(runs.then(|| Effect::Follow(vec![key.clone()])));
}

/// Updates the row and the report after an outcome was resolved by hand.
fn said_by_hand(model: &mut Model, key: &ActionKey, finding: Resolution, status: &Status) {
    let Some(slot) = model.queue.get(key).filter(|slot| slot.is_lost()) else { return };
    let is_ours = slot.state == State::Unknown;
    let ours = is_ours && finding == Resolution::Landed;
    let settled = Settled { status: Some(status.clone()), by: None, at: Some(model.now), ours, error: None };
    model.queue.set_state(key, State::Settled(Box::new(settled)));
    model.preview.forget(key);
    report::settled(model, key);
    model.recount();
    if !is_ours {
        return;
    }
    let outcome = match (finding, status) {
        (Resolution::Landed, Status::Rejected) => Outcome::Rejected,
        (Resolution::Landed, _) => Outcome::Approved,
        (Resolution::NotLanded | Resolution::RunAgain, _) => {
            Outcome::Failed { why: words::NOT_LANDED_BY_HAND.into() }
        }
    };
    if let Some(sheet) = &mut model.submit.last_report
        && let Some(line) = sheet.report.lines.iter_mut().find(|line| line.key == *key)
    {
        line.outcome = outcome;
    }
}

/// Returns `TITLE was settled by lee already: it is failed`.
fn already(title: Shown, status: Option<&Status>, by: Option<&Untrusted>) -> Vec<Shown> {
    let mut parts = vec![title, Shown::ours(words::WAS_SETTLED)];
    if let Some(by) = by {
        parts.extend([Shown::ours(" by "), text::name(by).cut(30)]);
    }
    parts.push(Shown::ours(" already"));
    if let Some(status) = status {
        parts.extend([Shown::ours(words::IT_IS), text::status_word(status)]);
    }
    parts
}

const CHOICES: [(Command, Resolution, &str, &str); 3] = [
    (Command::Landed, Resolution::Landed, words::IT_RAN, "executed"),
    (Command::NotLanded, Resolution::NotLanded, words::IT_DID_NOT_RUN, words::NOT_LANDED_MEANS),
    (Command::RunAgain, Resolution::RunAgain, words::RUN_IT_AGAIN, words::RUN_AGAIN_MEANS),
];

/// Draws `approved by kim 2 m ago; nobody knows`.
fn approved(model: &Model, sheet: &ResolveSheet, pen: &mut Pen<'_>) {
    let Some(row) = model.queue.get(&sheet.key).map(|slot| &slot.entry.row) else { return };
    if is_ours(model) {
        pen.ours(words::SENT_AND_UNKNOWN, theme::DIM);
        return;
    }
    pen.ours("approved", theme::DIM);
    if let Some(by) = &row.resolved_by {
        let by = model.people.called(&sheet.key.source, by, 24);
        pen.ours(" by ", theme::DIM).shown(&by, theme::PLAIN);
    }
    if let Some(at) = row.resolved_at {
        pen.ours(&format!(" {} ago", chrome::words::age(at, model.now)), theme::DIM);
    }
    pen.ours(words::NOBODY_KNOWS, theme::DIM);
}
