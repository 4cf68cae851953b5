//! Handles the review sheet: loads the staged actions again and freezes them when confirmed. Decisions are sent only
//! from here.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use crate::domain::{
    ActionKey, BatchKey, Binding, Confirm, Outcome, PendingAction, Refusal, Risk, SourceName, Staged,
    StagedCounts, Submission, SubmissionId, Timestamp, Together, Untrusted, Weight, confirm_by, freeze,
    in_sending_order,
};
use crate::inbox::with_edited_titles;
use crate::text;
use crate::tui::chrome;
use crate::tui::core::command::{Command, KeyContext};
use crate::tui::core::keymap::{Chord, bare};
use crate::tui::core::layout::{Layout, Scroll};
use crate::tui::core::model::{Keys, Model, Sheet};
use crate::tui::core::msg::{Effect, Loaded, SheetLines};
use crate::tui::decide::confirm_guard;
use crate::tui::decide::lock::{lock_fresh, seen_fresh};
use crate::tui::preview;
use crate::tui::preview::page::made::{Cached, Tab};
use crate::tui::queue::groups::Group;
use crate::tui::queue::marks::by_tool;
use crate::tui::queue::slots::State;
use crate::tui::submit::state::{Refused, ReportSheet, Review, ReviewSheet, SentWith};
use crate::tui::submit::words;

use super::judging::OfDraft;
use super::{hold, judging, review_view};

/// A key this soon after the sheet was drawn was not meant for it. Milliseconds.
const SETTLE: i64 = 400;
/// Actions that expire within this time are listed in the review. Milliseconds.
const EXPIRES_SOON: i64 = 600_000;

impl Sheet for ReviewSheet {
    fn keys(&self) -> Keys {
        Keys { typed, accept, confirm, back, ..Keys::of(&[KeyContext::Review, KeyContext::Anywhere]) }
    }

    fn draw(&self, model: &Model, _: &Layout, area: Rect, buf: &mut Buffer) -> Option<Position> {
        review_view::draw(model, self, area, buf)
    }

    fn extent(&self, model: &Model, area: Rect) -> SheetLines {
        review_view::extent(model, self, area)
    }

    fn scrolled(&mut self) -> Option<&mut Scroll> {
        Some(&mut self.scroll)
    }

    fn drawn(&mut self) -> Option<&mut Option<Timestamp>> {
        self.review.is_some().then_some(&mut self.drawn)
    }

    fn covered(&mut self) {
        self.drawn = None;
        self.typed.clear();
    }
}

fn typed(model: &mut Model, key: KeyEvent) {
    let Some(review) = open_review(model) else { return too_early(model) };
    let asks = matches!(review.confirm, Confirm::Count(..));
    let Some(sheet) = model.sheet.get_mut::<ReviewSheet>() else { return };
    match (Chord::from(key).char(), bare(key)) {
        (Some(digit), _) if asks && digit.is_ascii_digit() && sheet.typed.len() < 7 => {
            sheet.typed.push(digit);
        }
        (_, KeyCode::Backspace) if asks => drop(sheet.typed.pop()),
        _ => confirm_guard::absorbed(model),
    }
}

fn accept(model: &mut Model) {
    let count = match open_review(model).map(|review| &review.confirm) {
        Some(Confirm::Count(count, _)) => *count,
        Some(Confirm::Key) => return confirm_guard::absorbed(model),
        None => return too_early(model),
    };
    if is_hasty(model) {
        return confirm_guard::absorbed(model);
    }
    let Some(sheet) = model.sheet.get_mut::<ReviewSheet>() else { return };
    if sheet.typed == count.to_string() {
        return send(model);
    }
    sheet.typed.clear();
    model.warn(words::wrong_count(count));
}

fn confirm(model: &mut Model) {
    match &open_review(model).map(|review| review.confirm.clone()) {
        Some(Confirm::Key) if is_hasty(model) => confirm_guard::absorbed(model),
        Some(Confirm::Key) => send(model),
        Some(Confirm::Count(count, _)) => {
            let (count, accept) = (*count, model.settings.keymap.key(Command::Accept));
            model.warn(words::type_to_send(count, &accept));
        }
        None => too_early(model),
    }
}

fn back(model: &mut Model) {
    model.sheet.close();
    model.say(chrome::words::NOTHING_WAS_SENT);
}

pub(crate) fn open_batch(model: &mut Model) {
    let staged = |group: &Group| {
        let mut batches = model.queue.batches_of(group);
        batches.retain(|batch| model.decide.tally.batch(batch).total() > 0);
        Some(batches).filter(|batches| !batches.is_empty())
    };
    let decided_in = model.decide.decided_in.as_ref().and_then(|key| model.queue.find_group(key));
    let here = || model.queue.group_here().and_then(staged);
    let scope = decided_in.and_then(staged).or_else(here);
    let elsewhere = scope.is_none() && !model.decide.draft.is_empty();
    open(model, scope);
    if elsewhere && model.sheet.is::<ReviewSheet>() {
        model.say(words::EVERYTHING_STAGED);
    }
}

pub(crate) fn open_all(model: &mut Model) {
    open(model, None);
}

/// Opens a review of these batches, or of everything. After a decision moved the cursor to another batch, everything is
/// reviewed.
fn open(model: &mut Model, scope: Option<HashSet<BatchKey>>) {
    if hold::is_in_the_way(model) {
        return;
    }
    if model.submit.sending.is_some() {
        model.say(words::STILL_SENDING);
        return;
    }
    let inside = |staged: &Staged| scope.as_ref().is_none_or(|scope| scope.contains(&staged.batch));
    let sending = |key: &ActionKey| model.queue.get(key).is_some_and(|slot| slot.state == State::Sending);
    let chosen = model.decide.draft.iter().filter(|(key, staged)| inside(staged) && !sending(key));
    let mut keys: Vec<ActionKey> = chosen.map(|(key, _)| key.clone()).collect();
    if keys.is_empty() {
        let keys = &model.settings.keymap;
        let (approve, exclude) = (keys.key(Command::Approve), keys.key(Command::Exclude));
        model.say(words::nothing_staged(&approve, &exclude));
        return;
    }
    keys.sort();
    model.submit.reviews += 1;
    let sheet = ReviewSheet {
        number: model.submit.reviews,
        scope,
        keys: keys.clone(),
        review: None,
        drawn: None,
        typed: String::new(),
        scroll: Scroll::default(),
    };
    model.sheet.open(sheet);
    model.effects.push(Effect::LoadForReview { review: model.submit.reviews, keys });
}

/// Takes the loaded actions and freezes the submission. An answer to a closed sheet is dropped, because it must not
/// change this one under the reviewer's finger.
pub(crate) fn loaded(model: &mut Model, number: u64, id: &SubmissionId, actions: Vec<Loaded>) {
    let Some(sheet) = model.sheet.get::<ReviewSheet>() else { return };
    if sheet.number != number {
        return;
    }
    let keys = sheet.keys.clone();
    let mut fresh: HashMap<ActionKey, PendingAction> = HashMap::new();
    let mut unread: HashMap<ActionKey, String> = HashMap::new();
    for (key, answer) in actions {
        match answer {
            Ok(action) => drop(fresh.insert(key, action)),
            Err(problem) => {
                let what = format!("{} {}", key.source, problem.what);
                unread.insert(key, what);
            }
        }
    }
    let review = review(model, id, &keys, &fresh, &unread);
    for (key, action) in fresh {
        model.preview.keep(&key, Arc::new(Cached::new(action)));
    }
    if let Some(sheet) = model.sheet.get_mut::<ReviewSheet>() {
        sheet.review = Some(review);
        // This content has not been on screen yet.
        sheet.covered();
    }
}

/// Returns the decisions in sending order: oldest first, ties in list order.
fn staged_in_order<'a>(
    model: &'a Model,
    keys: &'a [ActionKey],
    fresh: &HashMap<ActionKey, PendingAction>,
) -> Vec<OfDraft<'a>> {
    let mut staged: Vec<OfDraft<'a>> =
        keys.iter().filter_map(|key| Some((key, model.decide.draft.get(key)?))).collect();
    staged.sort_by_key(|(key, _)| model.queue.get(key).map(|slot| slot.rank));
    in_sending_order(&mut staged, fresh);
    staged
}

fn titled(
    model: &Model,
    (key, why): (ActionKey, String),
    fresh: &HashMap<ActionKey, PendingAction>,
    unread: &HashMap<ActionKey, String>,
) -> Refused {
    let title = fresh.get(&key).map(|action| action.row.title.clone());
    let title = title.or_else(|| model.queue.get(&key).map(|slot| model.title_of(slot)));
    let why = unread.get(&key).cloned().unwrap_or(why);
    Refused { title: title.unwrap_or_else(|| key.id.untrusted().clone()), key, why }
}

fn review(
    model: &Model,
    id: &SubmissionId,
    keys: &[ActionKey],
    fresh: &HashMap<ActionKey, PendingAction>,
    unread: &HashMap<ActionKey, String>,
) -> Review {
    let fresh = &with_edited_titles(fresh, &model.decide.draft);
    let staged = staged_in_order(model, keys, fresh);
    let (staged, locked) = unlocked(model, staged, fresh);
    let open = open_in(model);
    let pending_in = |batch: &BatchKey| open.get(batch).copied().unwrap_or_default();
    let freezing =
        |staged: &[OfDraft<'_>]| freeze(id.clone(), staged.iter().copied(), fresh, pending_in, model.now);
    let (submission, refused) = frozen(&staged, fresh, &freezing, &|batch| grown(model, batch));
    let refused: Vec<Refused> =
        refused.into_iter().chain(locked).map(|refused| titled(model, refused, fresh, unread)).collect();
    let out: HashSet<&ActionKey> = refused.iter().map(|refused| &refused.key).collect();
    let sent: Vec<(&ActionKey, &Staged)> = staged.into_iter().filter(|(key, _)| !out.contains(key)).collect();
    let (batches, left_pending) = touched(&open, &sent);
    let approvals = || {
        sent.iter()
            .filter(|(_, staged)| staged.decision.kind().approves())
            .filter_map(|(key, _)| Some((*key, fresh.get(*key)?)))
    };
    let seen = &model.reader.seen;
    let unseen = |key: &ActionKey, action: &PendingAction| seen_fresh(model, key, action).is_none();
    let title = |action: &PendingAction| action.row.title.clone();
    let changed = |key: &ActionKey, action: &PendingAction| {
        seen.last(key)
            .is_some_and(|(digest, _)| digest != action.digest() && Some(digest) != action.approved_digest())
    };
    let edit = |(key, staged): &OfDraft<'_>| Some((title(fresh.get(*key)?), staged.decision.edits()?.keys()));
    let counts = StagedCounts::of(sent.iter().map(|(_, staged)| staged.decision.kind()));
    let critical = approvals().filter(|(_, action)| action.row.risk == Risk::Critical).count();
    let high_risk = approvals().filter(|(_, action)| action.row.risk.is_high()).count() - critical;
    let unopened = approvals().filter(|(key, action)| unseen(key, action));
    let unopened: Vec<_> = unopened.map(|(_, action)| title(action)).collect();
    let rows = sent.iter().filter_map(|(key, _)| Some(&fresh.get(*key)?.row));
    Review {
        confirm: confirm_by(Weight { counts, high_risk, critical, unopened: unopened.len() }),
        left_pending,
        hidden: sent.iter().filter(|(key, _)| model.queue.is_filtered_out(key)).count(),
        bound: bound(model, &sent),
        told: goes(model, &sent).into_iter().chain(judging::people(&sent, fresh)).collect(),
        tools: by_tool(rows.map(|row| (&row.tool, &row.risk, 1))),
        sources: sent.iter().map(|(key, _)| &key.source).collect::<HashSet<_>>().len(),
        edited: sent.iter().filter_map(edit).collect(),
        expiring: expiring(&sent, fresh, model.now),
        changed: approvals().filter(|(key, action)| changed(key, action)).map(|(_, a)| title(a)).collect(),
        first_changed: approvals()
            .find(|(key, action)| changed(key, action))
            .map(|(key, _)| key.clone())
            .or_else(|| refused.first().map(|refused| to_look_at(model, refused))),
        first_unopened: approvals().find(|(key, action)| unseen(key, action)).map(|(key, _)| key.clone()),
        totals: judging::totals(&sent, fresh),
        same: judging::same(model, &sent, fresh),
        submission,
        refused,
        batches,
        counts,
        unopened,
        high_risk,
        critical,
    }
}

/// Splits decisions into those allowed by the loaded content and those that must be read first, with the reason.
fn unlocked<'a>(
    model: &Model,
    staged: Vec<OfDraft<'a>>,
    fresh: &HashMap<ActionKey, PendingAction>,
) -> (Vec<OfDraft<'a>>, Vec<(ActionKey, String)>) {
    let (mut free, mut locked) = (Vec::new(), Vec::new());
    for (key, staged) in staged {
        let approves = staged.decision.kind().approves();
        let action = fresh.get(key).filter(|_| approves);
        // A changed action is refused elsewhere.
        let action = action.filter(|action| staged.digest.is_none_or(|digest| digest == action.digest()));
        match action.and_then(|action| lock_fresh(model, key, action)) {
            Some(why) => locked.push((key.clone(), chrome::words::unread(&why))),
            None => free.push((key, staged)),
        }
    }
    (free, locked)
}

/// Returns each source of the submission and who compares the content there.
fn bound(model: &Model, sent: &[(&ActionKey, &Staged)]) -> Vec<(SourceName, Binding)> {
    let mut bound: Vec<(SourceName, Binding)> = Vec::new();
    for (key, _) in sent {
        let binding = model.queue.get(key).map(|slot| (key.source.clone(), slot.entry.row.can.binding));
        if let Some(binding) = binding.filter(|binding| !bound.contains(binding)) {
            bound.push(binding);
        }
    }
    bound
}

fn expiring(
    sent: &[(&ActionKey, &Staged)],
    fresh: &HashMap<ActionKey, PendingAction>,
    now: Timestamp,
) -> Vec<Untrusted> {
    let rows = sent.iter().filter_map(|(key, _)| fresh.get(*key)).map(|action| &action.row);
    let soon = rows.filter(|row| row.expires_at.is_some_and(|at| at.since(now) <= EXPIRES_SOON));
    soon.map(|row| row.title.clone()).collect()
}

/// Freezes the decisions. Refused ones stay staged; where a source takes a batch only as a whole, the whole batch is
/// refused.
fn frozen(
    staged: &[OfDraft<'_>],
    fresh: &HashMap<ActionKey, PendingAction>,
    freezing: &impl Fn(&[OfDraft<'_>]) -> Result<Submission, Refusal>,
    grown: &impl Fn(&[OfDraft<'_>]) -> Option<String>,
) -> (Option<Submission>, Vec<(ActionKey, String)>) {
    if let Ok(submission) = freezing(staged) {
        return (Some(submission), Vec::new());
    }
    let mut batches: BTreeMap<&BatchKey, Vec<OfDraft<'_>>> = BTreeMap::new();
    for one in staged {
        batches.entry(&one.1.batch).or_default().push(*one);
    }
    let is_bound = |key: &ActionKey| fresh.get(key).is_some_and(|it| it.row.can.together != Together::Free);
    let (mut sent, mut refused) = (Vec::new(), Vec::new());
    for batch in batches.into_values() {
        match freezing(&batch) {
            Ok(_) => sent.extend(batch),
            Err(refusal) if batch.iter().any(|(key, _)| is_bound(key)) => {
                let part = matches!(refusal, Refusal::PartOfTurn(..));
                let why = grown(&batch).filter(|_| part).unwrap_or_else(|| refusal.to_string());
                refused.extend(batch.iter().map(|(key, _)| ((*key).clone(), why.clone())));
            }
            Err(_) => {
                for one in batch {
                    match freezing(&[one]) {
                        Ok(_) => sent.push(one),
                        Err(refusal) => refused.push((one.0.clone(), refusal.to_string())),
                    }
                }
            }
        }
    }
    (freezing(&sent).ok(), refused)
}

/// Returns the number of pending actions of each batch, filtered or not.
fn open_in(model: &Model) -> HashMap<BatchKey, usize> {
    let mut open: HashMap<BatchKey, usize> = HashMap::new();
    let listed = model.queue.slots.iter().filter(|slot| slot.counts_as_pending()).map(|slot| &*slot.entry);
    for entry in listed.chain(model.queue.held_pending()) {
        *open.entry(entry.batch()).or_default() += 1;
    }
    open
}

/// Returns the number of batches, and of actions in them that stay undecided.
fn touched(open: &HashMap<BatchKey, usize>, sent: &[OfDraft<'_>]) -> (usize, usize) {
    let mut batches: HashMap<&BatchKey, usize> = HashMap::new();
    for (_, staged) in sent {
        *batches.entry(&staged.batch).or_default() += 1;
    }
    let left = |(batch, sent): (&&BatchKey, &usize)| {
        open.get(*batch).copied().unwrap_or_default().saturating_sub(*sent)
    };
    (batches.len(), batches.iter().map(left).sum())
}

/// Ignores a key that came before the sheet could be read, with a message.
fn too_early(model: &mut Model) {
    confirm_guard::absorbed(model);
    let Some(sheet) = model.sheet.get::<ReviewSheet>() else { return };
    if sheet.review.as_ref().is_none_or(|review| review.submission.is_some()) {
        model.say(words::TOO_EARLY);
    }
}

/// Returns true, with a warning, for keys from a paste or a terminal's reply.
fn is_hasty(model: &mut Model) -> bool {
    let hasty = model.decide.guard.is_hasty();
    if hasty {
        model.warn(chrome::words::KEYS_TOO_FAST);
    }
    hasty
}

/// Returns the review once it was on screen long enough.
fn open_review(model: &Model) -> Option<&Review> {
    let sheet = model.sheet.get::<ReviewSheet>()?;
    let settled = sheet.drawn.is_some_and(|at| model.now.since(at) >= SETTLE);
    sheet.review.as_ref().filter(|review| settled && review.submission.is_some())
}

fn reviewed(model: &Model) -> Option<&Review> {
    model.sheet.get::<ReviewSheet>()?.review.as_ref()
}

/// Handles an answer typed as a line: the exact text sends, any other cancels.
pub(crate) fn answered(model: &mut Model, answer: &str) {
    let Some(review) = reviewed(model) else { return };
    let right = match &review.confirm {
        Confirm::Key => answer == "yes",
        Confirm::Count(count, _) => answer == count.to_string(),
    };
    if right {
        send(model);
    } else {
        model.sheet.close();
        model.say(chrome::words::NOTHING_WAS_SENT);
    }
}

fn send(model: &mut Model) {
    let Some(review) = reviewed(model) else { return };
    let (Some(submission), left) = (review.submission.clone(), review.left_pending) else {
        return;
    };
    model.sheet.close();
    hold::confirmed(model, submission, left as u64);
}

/// Returns what accompanies the decisions, once per source and kind of decision.
pub(crate) fn goes(model: &Model, sent: &[OfDraft<'_>]) -> Vec<SentWith> {
    let mut told: Vec<SentWith> = Vec::new();
    for (key, staged) in sent {
        let Some(can) = model.queue.get(key).map(|slot| slot.entry.row.can) else { continue };
        let does = staged.decision.kind().words().doing;
        for words in can.told_of(&staged.decision) {
            let same =
                |goes: &&mut SentWith| goes.source == key.source && goes.does == does && goes.words == words;
            match told.iter_mut().find(same) {
                Some(goes) => goes.count += 1,
                None => told.push(SentWith { source: key.source.clone(), does, count: 1, words }),
            }
        }
    }
    told
}

/// Returns the first undecided call of a refused turn, or the refused action itself.
pub(crate) fn to_look_at(model: &Model, refused: &Refused) -> ActionKey {
    let slot = model.queue.get(&refused.key).filter(|slot| slot.entry.row.can.together != Together::Free);
    let calls = slot.map(|slot| model.queue.calls(&slot.entry.batch())).unwrap_or_default();
    let undecided = calls.iter().find(|call| model.decide.draft.get(&call.entry.key).is_none());
    undecided.map_or_else(|| refused.key.clone(), |call| call.entry.key.clone())
}

/// Returns a message if a turn got more calls after it was decided.
pub(crate) fn grown(model: &Model, batch: &[OfDraft<'_>]) -> Option<String> {
    let (_, staged) = batch.first()?;
    let since = batch.iter().map(|(_, staged)| staged.at).max()?;
    let held = model.queue.held_pending().filter(|entry| entry.batch() == staged.batch).count();
    let calls = model.queue.calls(&staged.batch);
    let open = calls.iter().filter(|call| model.decide.draft.get(&call.entry.key).is_none());
    let came = open
        .filter(|call| model.queue.is_fresh(call) && call.came.unwrap_or(call.entry.row.created_at) >= since)
        .count();
    let new = text::count(held + came, chrome::words::NEW_CALL);
    let key = model.settings.keymap.key(Command::Reload);
    (held + came > 0).then(|| words::turn_changed(&new, &key))
}

// Going to an action that a sheet warns about: the sheet closes and nothing is sent.

/// Goes to the first unopened approval of the review, or to the first skipped action of the report.
pub(crate) fn first(model: &mut Model) {
    if let Some(sheet) = model.sheet.get::<ReviewSheet>() {
        let key = sheet.review.as_ref().and_then(|review| review.first_unopened.clone());
        to(model, key, words::ALL_READ);
    } else if let Some(sheet) = model.sheet.get::<ReportSheet>() {
        let skipped = |outcome: &Outcome| matches!(outcome, Outcome::Skipped { .. });
        let line = sheet.report.lines.iter().find(|line| skipped(&line.outcome));
        to(model, line.map(|line| line.key.clone()), words::NOTHING_WAS_SKIPPED);
    }
}

/// Goes to the first action that changed since it was seen.
pub(crate) fn changed(model: &mut Model) {
    let Some(sheet) = model.sheet.get::<ReviewSheet>() else { return };
    let key = sheet.review.as_ref().and_then(|review| review.first_changed.clone());
    let compares = key.as_ref().is_some_and(|key| {
        let now = model.preview.cached(key).map(|cached| cached.digest);
        now.is_some_and(|now| model.seen_otherwise(key, &now).is_some())
    });
    to(model, key, words::NOTHING_CHANGED);
    if compares && model.sheet.is_none() && model.preview.tab != Tab::Diff {
        preview::update::diff(model);
    }
}

fn to(model: &mut Model, key: Option<ActionKey>, none: &str) {
    let Some(key) = key else {
        model.say(none);
        return confirm_guard::absorbed(model);
    };
    let Some(index) = model.queue.index(&key) else {
        model.say(words::NOT_IN_LIST);
        return;
    };
    if model.queue.is_filtered_out(&key) {
        model.warn(words::HIDDEN_BY_FILTER);
        return;
    }
    let was_review = model.sheet.is::<ReviewSheet>();
    model.sheet.close();
    model.queue.go_to_action(index);
    if was_review {
        let all = model.settings.keymap.key(Command::ReviewAll);
        model.say(words::comes_back(&all));
    }
}
