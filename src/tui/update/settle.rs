//! Settling what nobody knows the outcome of: a human says what became of it, once.

use crossterm::event::{KeyCode, KeyEvent};
use tui_textarea::TextArea;

use crate::domain::{ActionKey, Finding, On, Outcome, Settling, Status, Untrusted};
use crate::inbox::Problem;
use crate::text::{self, Shown};
use crate::tui::command::Command;
use crate::tui::model::{GroupKey, Modal, Model, SettleSheet, Settled, State, Tone};
use crate::tui::msg::Effect;

use super::decide::is_burst;
use super::stage::tell_problem;

/// Keys this soon after the sheet was drawn were meant for something else.
const REST: i64 = 400;

pub(super) fn open(model: &mut Model) -> Vec<Effect> {
    match target(model) {
        Ok(key) => {
            let area = TextArea::default();
            let sheet = SettleSheet { key, picked: None, area, typing: false, drawn: None };
            model.modal = Some(Modal::Settle(Box::new(sheet)));
        }
        Err(why) => model.warn(why),
    }
    Vec::new()
}

fn target(model: &Model) -> Result<ActionKey, &'static str> {
    let here = model.here().filter(|slot| slot.is_lost());
    let group = model.queue.group_here().map(|group| &group.key);
    match here {
        None if group == Some(&GroupKey::ToSettle) => {
            Err("put the cursor on one that is UNKNOWN to settle it")
        }
        None => Err("only an action whose outcome is unknown is settled; this one is not"),
        Some(_) if model.settling.is_some() => Err("one moment: what you said of the last one is on its way"),
        // That is written down here: no source has to take it.
        Some(slot) if slot.state == State::Unknown => Ok(slot.entry.key.clone()),
        Some(slot) if !slot.entry.can.settle => {
            let can = slot.entry.can;
            let other = "its source does not let you say from here what became of it";
            Err(if can.can_decide() { other } else { can.why_not(On::Any) })
        }
        Some(slot) => Ok(slot.entry.key.clone()),
    }
}

pub(super) fn is_open(model: &Model) -> bool {
    matches!(model.modal, Some(Modal::Settle(_)))
}

fn sheet(model: &mut Model) -> Option<&mut SettleSheet> {
    match &mut model.modal {
        Some(Modal::Settle(sheet)) => Some(sheet),
        _ => None,
    }
}

/// It is a decision from here that was lost sight of: the journal is told, and not its source.
fn is_ours(model: &Model) -> bool {
    let Some(Modal::Settle(sheet)) = &model.modal else { return false };
    model.queue.get(&sheet.key).is_some_and(|slot| slot.state == State::Unknown)
}

/// Only a key that was pressed at the sheet as it stands counts. Any other starts its time anew.
fn is_meant(model: &mut Model) -> bool {
    let now = model.now;
    let meant = !is_burst(model)
        && sheet(model).and_then(|sheet| sheet.drawn).is_some_and(|drawn| now.since(drawn) >= REST);
    if !meant {
        absorbed(model);
    }
    meant
}

/// A key that the sheet takes and does nothing with.
pub(super) fn absorbed(model: &mut Model) {
    let now = model.now;
    if let Some(sheet) = sheet(model) {
        sheet.drawn = sheet.drawn.map(|_| now);
    }
}

/// What is done with the write is confirmed by another key; that it did not land does nothing more.
pub(super) fn pick(model: &mut Model, finding: Finding) -> Vec<Effect> {
    if !is_meant(model) {
        return Vec::new();
    }
    if finding == Finding::RunAgain && is_ours(model) {
        model.warn("a decision is not sent a second time: what did not land is decided anew");
        return Vec::new();
    }
    if finding == Finding::NotLanded {
        return super::alone::settle(model, finding);
    }
    if let Some(sheet) = sheet(model) {
        sheet.picked = Some(finding);
        sheet.drawn = None;
    }
    Vec::new()
}

pub(super) fn confirm(model: &mut Model) -> Vec<Effect> {
    if !is_meant(model) {
        return Vec::new();
    }
    match sheet(model).and_then(|sheet| sheet.picked) {
        Some(finding) => super::alone::settle(model, finding),
        None => Vec::new(),
    }
}

/// The key that confirmed stood alone. The sheet must be there still.
pub(super) fn send_confirmed(model: &mut Model, finding: Finding) -> Vec<Effect> {
    let Some(Modal::Settle(sheet)) = model.modal.take_if(|modal| matches!(modal, Modal::Settle(_))) else {
        return Vec::new();
    };
    let reason = sheet.area.lines().join(" ").trim().to_owned();
    tell_source(model, sheet.key, finding, Some(reason).filter(|reason| !reason.is_empty()))
}

/// Says it without a sheet, where all of it is given at once.
pub(super) fn given(model: &mut Model, finding: Finding, reason: Option<String>) -> Vec<Effect> {
    match target(model) {
        Ok(key) => tell_source(model, key, finding, reason),
        Err(why) => {
            model.warn(why);
            Vec::new()
        }
    }
}

fn tell_source(model: &mut Model, key: ActionKey, finding: Finding, reason: Option<String>) -> Vec<Effect> {
    let ours = model.queue.get(&key).is_some_and(|slot| slot.state == State::Unknown);
    model.settling = Some(key.clone());
    model.say(if ours { "writing it down" } else { "telling the source" });
    vec![Effect::Settle { key, finding, reason }]
}

pub(super) fn to_reason(model: &mut Model) -> Vec<Effect> {
    if let Some(sheet) = sheet(model) {
        sheet.typing = true;
    }
    Vec::new()
}

pub(super) fn typed(model: &mut Model, key: KeyEvent) -> Vec<Effect> {
    let Some(sheet) = sheet(model).filter(|sheet| sheet.typing) else {
        absorbed(model);
        return Vec::new();
    };
    if matches!(key.code, KeyCode::Tab | KeyCode::BackTab) {
        super::leave::back(model);
    } else {
        sheet.area.input(key);
    }
    Vec::new()
}

pub(super) fn pasted(model: &mut Model, text: &str) -> Vec<Effect> {
    if let Some(sheet) = sheet(model) {
        sheet.area.insert_str(super::places::one_line(text));
    }
    Vec::new()
}

/// From the reason, and from a pick, back to the choice; from there out.
pub(super) fn back(model: &mut Model) {
    let Some(sheet) = sheet(model) else { return };
    sheet.drawn = None;
    if sheet.typing {
        sheet.typing = false;
    } else if sheet.picked.take().is_none() {
        model.modal = None;
        model.say("nothing was settled");
    }
}

pub(super) fn drawn(model: &mut Model) {
    let now = model.now;
    if let Some(sheet) = sheet(model) {
        sheet.drawn.get_or_insert(now);
    }
}

/// It is not on screen now: its time starts anew when it is.
pub(super) fn hidden(model: &mut Model) {
    if let Some(sheet) = sheet(model) {
        sheet.drawn = None;
    }
}

/// Nothing is left to say of it: somebody was first, or its executor came back.
pub(super) fn settled_elsewhere(model: &mut Model) {
    let Some(key) = sheet(model).map(|sheet| sheet.key.clone()) else { return };
    let Some(slot) = model.queue.get(&key).filter(|slot| !slot.is_lost()) else { return };
    let title = text::line(&slot.entry.row.title).cut(40);
    let status = text::line(&slot.entry.row.status.word());
    model.modal = None;
    model.tell(
        Tone::Bad,
        vec![title, Shown::ours(" was settled meanwhile: it is "), status, Shown::ours(" now")],
    );
}

/// The source's answer. The list tells the rest.
pub(super) fn answered(
    model: &mut Model,
    key: &ActionKey,
    finding: Finding,
    answer: Result<Settling, Problem>,
) -> Vec<Effect> {
    model.settling = None;
    let title = model.queue.get(key).map_or_else(|| key.id.untrusted(), |slot| &slot.entry.row.title);
    let title = text::line(title).cut(40);
    let word = |status: &Status| text::line(&status.word());
    let again = model.settings.keymap.key(Command::Reload);
    let runs = finding == Finding::RunAgain && matches!(answer, Ok(Settling::Settled(_)));
    let (tone, parts) = match answer {
        Err(problem) => {
            tell_problem(model, "it was not settled: ", &problem);
            return super::queue::sync(model, &key.source);
        }
        Ok(Settling::Settled(_)) if finding == Finding::RunAgain => {
            (Tone::Good, vec![title, Shown::ours(" is run again")])
        }
        Ok(Settling::Settled(status)) => {
            said_by_hand(model, key, finding, &status);
            (Tone::Good, vec![title, Shown::ours(" is settled: "), word(&status)])
        }
        Ok(Settling::Already { status, by }) => (Tone::Bad, already(title, status.as_ref(), by.as_ref())),
        Ok(Settling::Lost { status: Some(status), .. }) if status != Status::Unknown => (
            Tone::Bad,
            vec![
                Shown::ours("no answer came, but "),
                title,
                Shown::ours(" is "),
                word(&status),
                Shown::ours(" now"),
            ],
        ),
        Ok(Settling::Lost { why, .. }) => {
            let asked = format!(" was settled is unknown ({again} looks again): ");
            (Tone::Bad, vec![Shown::ours("whether "), title, Shown::ours(asked), text::line(&why)])
        }
    };
    model.tell(tone, parts);
    let mut effects = super::queue::sync(model, &key.source);
    effects.extend(runs.then(|| Effect::Follow(vec![key.clone()])));
    effects
}

/// A decision of ours that was lost sight of is lost no more: its row and its report say what a human said.
fn said_by_hand(model: &mut Model, key: &ActionKey, finding: Finding, status: &Status) {
    if model.queue.get(key).is_none_or(|slot| slot.state != State::Unknown) {
        return;
    }
    let ours = finding == Finding::Landed;
    let settled = Settled { status: Some(status.clone()), by: None, at: Some(model.now), ours, error: None };
    model.queue.set_state(key, State::Settled(settled));
    let outcome = match (finding, status) {
        (Finding::Landed, Status::Rejected) => Outcome::Rejected,
        (Finding::Landed, _) => Outcome::Approved,
        (Finding::NotLanded | Finding::RunAgain, _) => {
            Outcome::Failed { why: "it did not land, said by hand".into() }
        }
    };
    if let Some(sheet) = &mut model.last_report
        && let Some(line) = sheet.report.lines.iter_mut().find(|line| line.key == *key)
    {
        line.outcome = outcome;
    }
    model.recount();
}

/// `TITLE was settled by lee already: it is failed`
fn already(title: Shown, status: Option<&Status>, by: Option<&Untrusted>) -> Vec<Shown> {
    let mut parts = vec![title, Shown::ours(" was settled")];
    if let Some(by) = by {
        parts.extend([Shown::ours(" by "), text::name(by).cut(30)]);
    }
    parts.push(Shown::ours(" already"));
    if let Some(status) = status {
        parts.extend([Shown::ours(": it is "), text::line(&status.word())]);
    }
    parts
}
