//! Handles a submission's report: the source's counts, then each decision until it is final.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use crate::domain::{
    ActionKey, BatchKey, Entry, Followed, Outcome, Report, ReportLine, Row, SourceName, Status, SubmissionId,
    Untrusted,
};
use crate::inbox::{Problem, Reconciled, Sending, report_json};
use crate::text;
use crate::text::Shown;
use crate::tui::chrome::state::Tone;
use crate::tui::core::command::KeyContext;
use crate::tui::core::layout::{Layout, Scroll};
use crate::tui::core::model::{Keys, Model, Sheet};
use crate::tui::core::msg::{Clip, Effect, SheetLines};
use crate::tui::decide::stage::settle;
use crate::tui::queue::filter;
use crate::tui::queue::slots::{Settled, Slot, State};
use crate::tui::submit::state::ReportSheet;
use crate::tui::submit::{report_view, words};

/// Time until an unknown outcome is first checked again; the inbox then sets the next. Milliseconds.
const LOOK_AGAIN: i64 = 10_000;

impl Sheet for ReportSheet {
    fn keys(&self) -> Keys {
        Keys { accept: |model| model.sheet.close(), ..Keys::of(&[KeyContext::Report, KeyContext::Anywhere]) }
    }

    fn draw(&self, model: &Model, _: &Layout, area: Rect, buf: &mut Buffer) -> Option<Position> {
        report_view::draw(model, self, area, buf);
        None
    }

    fn extent(&self, model: &Model, area: Rect) -> SheetLines {
        report_view::extent(model, self, area)
    }

    fn scrolled(&mut self) -> Option<&mut Scroll> {
        Some(&mut self.scroll)
    }
}

pub(crate) fn submitted(model: &mut Model, id: &SubmissionId, answer: Result<Report, Problem>) {
    if model.submit.sending.as_ref() == Some(id) {
        model.submit.sending = None;
    }
    let rest = model.submit.unanswered.remove(id);
    model.submit.progress.remove(id);
    match answer {
        Ok(report) => take(model, report, rest.as_ref()),
        Err(problem) => {
            // The submission was not sent, so all decisions stay staged.
            let sending: Vec<ActionKey> = model
                .queue
                .slots
                .iter()
                .filter(|slot| slot.state == State::Sending)
                .map(|slot| slot.entry.key.clone())
                .collect();
            for key in &sending {
                model.queue.set_state(key, State::Pending);
            }
            model.list.elsewhere.sent.retain(|key| !sending.contains(key));
            model.tell_problem(words::NOTHING_SENT, &problem);
        }
    }
}

/// Handles the progress of a submission: counts, or the answers of some sources.
pub(crate) fn sending(model: &mut Model, id: &SubmissionId, told: Sending) {
    match told {
        Sending::Partly(report) => partly(model, id, report),
        Sending::Answered(source, n) => {
            let of = model.submit.progress.get_mut(id).and_then(|progress| progress.get_mut(&source));
            if let Some((answered, _)) = of {
                *answered = n;
            }
        }
    }
}

/// Acts on the answers of some sources while others are still missing.
fn partly(model: &mut Model, id: &SubmissionId, report: Report) {
    let came: HashSet<ActionKey> = report.lines.iter().map(|line| line.key.clone()).collect();
    let (news, rest) = match model.submit.unanswered.get(id) {
        Some(before) => (&came & before, before - &came),
        None if model.submit.sending.as_ref() == Some(id) => {
            model.submit.sending = None;
            let elsewhere = |key: &ActionKey| model.submit.unanswered.values().any(|rest| rest.contains(key));
            let sending = model.queue.slots.iter().filter(|slot| slot.state == State::Sending);
            let rest =
                sending.map(|slot| &slot.entry.key).filter(|key| !came.contains(*key) && !elsewhere(key));
            let rest = rest.cloned().collect();
            (came, rest)
        }
        None => return,
    };
    model.submit.unanswered.insert(id.clone(), rest);
    take(model, report, Some(&news));
}

fn unanswered(model: &Model, id: &SubmissionId) -> Vec<(SourceName, usize)> {
    let mut waits: BTreeMap<SourceName, usize> = BTreeMap::new();
    for key in model.submit.unanswered.get(id).into_iter().flatten() {
        *waits.entry(key.source.clone()).or_default() += 1;
    }
    waits.into_iter().collect()
}

/// Acts on the report's lines; `only` restricts it to new ones.
fn take(model: &mut Model, mut report: Report, only: Option<&HashSet<ActionKey>>) {
    let mut done = Vec::new();
    let mut follow = Vec::new();
    let mut lost = false;
    for line in report.lines.iter().filter(|line| only.is_none_or(|only| only.contains(&line.key))) {
        let state = state_after(model, line);
        model.queue.note_edited(line);
        if !matches!(line.outcome, Outcome::Failed { .. }) {
            done.push(line.key.clone());
        }
        if line.outcome == Outcome::Approved || line.outcome.is_accepted() {
            follow.push(line.key.clone());
        }
        lost |= matches!(state, State::Unknown | State::ToResolve);
        model.queue.set_state(&line.key, state);
    }
    forget(model, &done);
    settle(model, &done);
    if lost {
        put_lost_first(model, Vec::new());
    }
    model.recount();
    note_unknown(model, &report);
    report.left_pending = left_pending(model, &report);
    let waits = unanswered(model, &report.id);
    keep(
        model,
        ReportSheet { report, at: model.now, followed: HashMap::new(), scroll: Scroll::default(), waits },
    );
    if !follow.is_empty() {
        model.effects.push(Effect::Follow(follow));
    }
}

/// Reads decided actions again, because their pages change.
fn forget(model: &mut Model, decided: &[ActionKey]) {
    for key in decided {
        model.preview.forget(key);
    }
}

/// Keeps the report as the last one and shows its summary. Opens no sheet, because keys pressed now are meant for the
/// screen as it is. An open sheet of the same submission is updated.
fn keep(model: &mut Model, mut sheet: ReportSheet) {
    if let Some(last) = model.submit.last_report.as_ref().filter(|last| last.report.id == sheet.report.id) {
        sheet.followed.clone_from(&last.followed);
    }
    if let Some(open) = model.sheet.get_mut::<ReportSheet>()
        && open.report.id == sheet.report.id
    {
        *open = ReportSheet { scroll: open.scroll, ..sheet.clone() };
    }
    model.submit.last_report = Some(sheet);
    model.submit.sent_line = true;
    model.screen.message = None;
}

/// Returns the current number of pending undecided actions in the submitted batches.
fn left_pending(model: &Model, report: &Report) -> u64 {
    let batches: HashSet<&BatchKey> = report.lines.iter().map(|line| &line.batch).collect();
    let undecided = |slot: &&Slot| slot.is_pending() && model.decide.draft.get(&slot.entry.key).is_none();
    let listed = model.queue.slots.iter().filter(undecided).map(|slot| &*slot.entry);
    listed.chain(model.queue.held_pending()).filter(|entry| batches.contains(&entry.batch())).count() as u64
}

fn state_after(model: &Model, line: &ReportLine) -> State {
    let settled = |status: Option<Status>, by, ours| {
        State::Settled(Box::new(Settled { status, by, at: Some(model.now), ours, error: None }))
    };
    let lost = |slot: &Slot| slot.entry.row.status == Status::Unknown;
    match &line.outcome {
        // Its outcome became unknown before the answer arrived.
        _ if model.queue.get(&line.key).is_some_and(lost) => State::ToResolve,
        Outcome::Approved => settled(Some(Status::Approved), None, true),
        Outcome::Rejected => settled(Some(Status::Rejected), None, true),
        Outcome::Accepted => settled(Some(Status::Other("accepted".into())), None, true),
        Outcome::Skipped { status, by } => settled(status.clone(), by.clone(), false),
        Outcome::Failed { .. } | Outcome::PartlyApproved { .. } => State::Pending,
        Outcome::Unknown { .. } => State::Unknown,
    }
}

pub(crate) fn summary(report: &Report) -> String {
    let counts = report.counts();
    let left = (words::LEFT_PENDING, counts.left_pending);
    let all = counts.each().map(|(look, n)| (look.word, n)).into_iter().chain([left]);
    let said: Vec<String> = all.filter(|(_, n)| *n > 0).map(|(word, n)| format!("{n} {word}")).collect();
    if counts.failed == report.lines.len() as u64 {
        return words::nothing_landed(&said.join(", "));
    }
    format!("sent: {}", said.join(", "))
}

/// Takes the progress of an approved action into its row and the report; failures are reported in the status line, too.
pub(crate) fn followed(model: &mut Model, followed: &Followed) {
    if let Some(Outcome::Skipped { status, by }) = &followed.outcome {
        not_ours(model, followed, status.as_ref(), by.as_ref());
        return;
    }
    model.preview.forget(&followed.key);
    let state = model.queue.get(&followed.key).map(|slot| slot.state.clone());
    if matches!(state, Some(State::Settled(_))) && followed.status == Status::Unknown {
        model.queue.set_state(&followed.key, State::ToResolve);
        put_lost_first(model, Vec::new());
    } else if let Some(State::Settled(settled)) = state {
        let status = Some(followed.status.clone());
        let settled = State::Settled(Box::new(Settled { status, error: followed.error.clone(), ..*settled }));
        let again = followed.status.is_pending();
        model.queue.set_state(&followed.key, if again { State::Pending } else { settled });
        if again {
            waits_again(model, followed);
        }
    }
    if matches!(followed.outcome, Some(Outcome::Unknown { .. })) {
        model.queue.set_state(&followed.key, State::Unknown);
        put_lost_first(model, Vec::new());
        model.submit.look_again = Some(model.now.plus_millis(LOOK_AGAIN));
    }
    if followed.is_trouble() {
        let what = match followed.status {
            _ if matches!(followed.outcome, Some(Outcome::Unknown { .. })) => words::RETRY_LOST_ALERT,
            Status::Unknown => words::UNKNOWN_ALERT,
            Status::Rejected => words::UNDO_FAILED_ALERT,
            _ => words::FAILED_ALERT,
        };
        let mut parts = vec![Shown::ours(what), text::line(&followed.title).cut(40)];
        if let Some(error) = &followed.error {
            parts.extend([Shown::ours(": "), text::line(error).cut(60)]);
        }
        model.tell(Tone::Bad, parts);
    }
    if let Some(sheet) = model.sheet.get_mut::<ReportSheet>() {
        let _ = note(sheet, followed);
    }
    if let Some(sheet) = &mut model.submit.last_report {
        let ours = note(sheet, followed);
        // The summary is shown again because of a later problem.
        model.submit.sent_line |= ours && followed.is_trouble();
    }
}

/// Handles an accepted decision that was overruled by somebody else's.
fn not_ours(model: &mut Model, followed: &Followed, status: Option<&Status>, by: Option<&Untrusted>) {
    let settled =
        Settled { status: status.cloned(), by: by.cloned(), at: Some(model.now), ours: false, error: None };
    model.queue.set_state(&followed.key, State::Settled(Box::new(settled)));
    let open = model.sheet.get_mut::<ReportSheet>();
    for sheet in open.into_iter().chain(model.submit.last_report.as_mut()) {
        // The summary is shown again because of a later problem.
        model.submit.sent_line |= note(sheet, followed);
    }
    let by = model.people.who(&followed.key, by);
    let why = text::skipped(status, by);
    let title = text::line(&followed.title).cut(40);
    model.tell(Tone::Bad, vec![Shown::ours(words::SKIPPED_NOT_OURS), title, Shown::ours(": "), why.cut(60)]);
}

/// Reports an action that is pending again: retried, or not picked up although accepted.
fn waits_again(model: &mut Model, followed: &Followed) {
    let what = Shown::ours(if followed.error.is_some() { "NOT TAKEN: " } else { words::WAITS_AGAIN });
    let mut parts = vec![what, text::line(&followed.title).cut(40)];
    if let Some(error) = &followed.error {
        parts.extend([Shown::ours(": "), text::line(error).cut(60)]);
    }
    model.tell(if followed.error.is_some() { Tone::Bad } else { Tone::Good }, parts);
    model.recount();
}

pub(crate) fn settled(model: &mut Model, key: &ActionKey) {
    let Some(State::Settled(settled)) = model.queue.get(key).map(|slot| &slot.state) else { return };
    let status = settled.status.clone();
    let open = model.sheet.get_mut::<ReportSheet>();
    for sheet in open.into_iter().chain(model.submit.last_report.as_mut()) {
        let lost = sheet.followed.get_mut(key).filter(|followed| followed.status == Status::Unknown);
        if let Some((followed, status)) = lost.zip(status.clone()) {
            (followed.status, followed.error) = (status, None);
        }
    }
}

/// Updates a report. Returns false if the action is not in it.
fn note(sheet: &mut ReportSheet, followed: &Followed) -> bool {
    let Some(line) = sheet.report.lines.iter_mut().find(|line| line.key == followed.key) else {
        return false;
    };
    if let Some(outcome) = &followed.outcome {
        line.outcome = outcome.clone();
    }
    // Actions decided by others are not followed.
    if !matches!(line.outcome, Outcome::Skipped { .. }) {
        sheet.followed.insert(followed.key.clone(), followed.clone());
    }
    true
}

/// Takes the outcomes of submissions that an earlier run left open.
pub(crate) fn reconciled(model: &mut Model, answer: Result<Vec<Reconciled>, Problem>) {
    match answer {
        Err(problem) => {
            model.tell_problem(words::EARLIER_NOT_CHECKED, &problem);
            model.submit.look_again = Some(model.now.plus_millis(LOOK_AGAIN));
        }
        Ok(all) => {
            let next = all.iter().filter_map(|one| one.next_look).min();
            if let Some(next) = next {
                model.submit.look_again = Some(model.submit.look_again.map_or(next, |at| at.min(next)));
            }
            show_lost(model, &all);
            for one in all {
                learnt(model, one);
            }
        }
    }
}

/// Lists actions with unknown outcomes, even if their source has no row for them.
fn show_lost(model: &mut Model, all: &[Reconciled]) {
    let lost = all.iter().flat_map(|one| &one.lost).filter(|entry| model.queue.get(&entry.key).is_none());
    // It is resolved here, unlike an outcome that is unknown at its source.
    let lost =
        lost.cloned().map(|entry| Entry { row: Row { status: Status::Pending, ..entry.row }, ..entry });
    let lost: Vec<Entry> = lost.collect();
    if !lost.is_empty() {
        put_lost_first(model, lost);
    }
}

/// Moves unknown outcomes to the top without waiting for a reload. The cursor stays on its row.
pub(crate) fn put_lost_first(model: &mut Model, without_row: Vec<Entry>) {
    let before = model.queue.cursor().cloned();
    model.queue.put_lost_first(without_row);
    filter::again(model);
    if before.is_some() && model.queue.cursor() != before.as_ref() {
        model.decide.guard.changed(model.now);
    }
    model.recount();
}

/// Takes new facts about a submission: delivered decisions are settled, undelivered ones staged again. Facts known
/// earlier are left alone.
fn learnt(model: &mut Model, Reconciled { report, learnt, .. }: Reconciled) {
    let learnt: HashSet<ActionKey> = learnt.into_iter().collect();
    let (mut done, mut failed, mut lost) = (Vec::new(), Vec::new(), false);
    for line in &report.lines {
        if !learnt.contains(&line.key) && !must_wait(model, line) {
            continue;
        }
        let state = state_after(model, line);
        model.queue.note_edited(line);
        lost |= matches!(state, State::Unknown | State::ToResolve);
        model.queue.set_state(&line.key, state);
        match line.outcome {
            Outcome::Failed { .. } => failed.push(line.key.clone()),
            _ => done.push(line.key.clone()),
        }
    }
    forget(model, &done);
    settle(model, &done);
    if lost {
        put_lost_first(model, Vec::new());
    }
    if !failed.is_empty() {
        model.effects.push(Effect::TakeBack { id: report.id.clone(), keys: failed });
    }
    if !learnt.is_empty() {
        model.recount();
        model.say(words::earlier_submission(&summary(&report)));
    }
    note_report(model, report);
}

/// Returns true if the decision may still be in transit and must not be sent again.
fn must_wait(model: &Model, line: &ReportLine) -> bool {
    let free = model.queue.get(&line.key).is_some_and(Slot::is_pending)
        || model.decide.draft.get(&line.key).is_some();
    matches!(line.outcome, Outcome::Unknown { .. }) && free
}

/// Updates the open report and the last one. Ids sort by time, so an older report never replaces a newer one.
fn note_report(model: &mut Model, mut report: Report) {
    if let Some(sheet) = model.submit.last_report.as_ref().filter(|sheet| sheet.report.id == report.id) {
        // The journal only has the count from before the answer.
        report.left_pending = sheet.report.left_pending;
    }
    if let Some(sheet) = model.sheet.get_mut::<ReportSheet>()
        && sheet.report.id == report.id
    {
        sheet.report = report.clone();
    }
    match &mut model.submit.last_report {
        Some(sheet) if sheet.report.id == report.id => sheet.report = report,
        Some(sheet) if sheet.report.id > report.id => {}
        Some(_) | None => {
            let (followed, waits) = (HashMap::new(), Vec::new());
            let sheet = ReportSheet { report, at: model.now, followed, scroll: Scroll::default(), waits };
            model.submit.last_report = Some(sheet);
        }
    }
}

fn note_unknown(model: &mut Model, report: &Report) {
    if report.lines.iter().any(ReportLine::is_open) {
        model.submit.look_again = Some(model.now.plus_millis(LOOK_AGAIN));
    }
}

pub(crate) fn look_again(model: &mut Model) {
    if model.submit.look_again.is_none_or(|at| at > model.now) {
        return;
    }
    model.submit.look_again = None;
    model.effects.push(Effect::Reconcile);
}

pub(crate) fn reopen(model: &mut Model) {
    match model.submit.last_report.clone() {
        Some(sheet) => model.sheet.open(ReportSheet { scroll: Scroll::default(), ..sheet }),
        None => model.say(words::NOTHING_WAS_SENT_YET),
    }
}

pub(crate) fn export(model: &mut Model) {
    let Some(sheet) = model.sheet.get::<ReportSheet>() else { return };
    let folder = model.settings.place.state.clone();
    let text = format!("{}\n", report_json(&sheet.report, &sheet.followed));
    model.effects.push(Effect::Export { folder, text });
}

pub(crate) fn exported(model: &mut Model, answer: Result<PathBuf, String>) {
    let (tone, word, what) = match answer {
        Ok(path) => (Tone::Good, words::REPORT_WRITTEN_TO, path.display().to_string()),
        Err(why) => (Tone::Bad, words::REPORT_NOT_WRITTEN, why),
    };
    model.tell(tone, vec![Shown::ours(word), text::line(&Untrusted::from(what))]);
}

pub(crate) fn copy(model: &mut Model) {
    let Some(sheet) = model.sheet.get::<ReportSheet>() else { return };
    let mut lines = vec![summary(&sheet.report)];
    lines.extend(sheet.report.lines.iter().map(line));
    model.effects.push(Effect::Copy(Clip { what: words::THE_REPORT, text: lines.join("\n") }));
}

fn line(line: &ReportLine) -> String {
    let outcome = text::outcome(&line.outcome, line.outcome.by().map(text::name)).plain();
    format!(
        "{}  {}  {outcome}",
        text::identifier(line.key.id.untrusted()).plain(),
        text::line(&line.title).plain()
    )
}
