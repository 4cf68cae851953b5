//! Reads the review list, and steps by their ids.

use std::collections::HashSet;

use futures_util::stream::{self, StreamExt as _};

use super::client::Warden;
use super::notes;
use super::sent::{Sent, Waiting};
use super::standing;
use super::step_id::StepId;
use super::undo::Undo;
use super::wire::{self, PAGE, PAGE_WORD, Page, Step, WaitingStep};
use crate::config::ReviewKind;
use crate::contract::action::Unreadable;
use crate::contract::tool;
use crate::domain::{ActionId, BatchId, PendingAction, Row, Status, Untrusted};
use crate::net::url;
use crate::sources::answer::{self, success};
use crate::sources::source::permit;
use crate::sources::{Full, SourceError, Synced};

/// Rows by which pages overlap. The list is newest first and moves while it is read, and a row missed between two pages
/// would count as settled.
const OVERLAP: usize = 10;
/// Consecutive full pages without a new step after which the engine is taken to ignore the offset. One can occur while
/// steps arrive.
const STALE: usize = 3;
const PAGES_MAX: usize = 1_000;
/// Number of steps from which the list is read instead of each run.
const LIST_FROM: usize = 6;
const GETS: usize = 4;

type Listed = Result<WaitingStep, Unreadable>;

impl Warden {
    /// Lists everything that waits for a human, except steps that were just decided from here.
    pub(super) async fn list(&self) -> Result<Synced, SourceError> {
        let (mut held, mut unreadable) = (Vec::new(), Vec::new());
        for item in self.pages(&self.filters()).await? {
            match item {
                Ok(item) => held.push(item),
                Err(bad) => unreadable.push(bad),
            }
        }
        let traces: HashSet<&str> = held.iter().map(|held| held.place.trace.as_str()).collect();
        self.names.keep(&traces);
        self.learn_names(&traces).await;
        self.sent.keep_spent(&held.iter().map(|held| held.place.id()).collect());
        let mut rows = Vec::new();
        for held in held {
            let waiting = self.waiting(&held);
            if waiting != Waiting::Sent {
                let can = notes::of(&held, self.sent.is_spent(&held.place.id()), waiting);
                rows.push(Row { can, ..self.called(&held) });
            }
        }
        permit([], &mut unreadable, notes::plain);
        Ok(Synced::All { rows, unreadable, revision: None })
    }

    pub(super) async fn read(&self, ids: &[ActionId]) -> Result<Vec<Full>, SourceError> {
        let mut places: Vec<StepId> = ids.iter().filter_map(StepId::of).collect();
        let mut found = Vec::new();
        if places.len() >= LIST_FROM {
            let wanted: HashSet<ActionId> = places.iter().map(StepId::id).collect();
            let listed = self.pages(&self.filters()).await?;
            let listed = listed.into_iter().filter(|item| id(item).is_some_and(|id| wanted.contains(id)));
            let listed: Vec<Listed> = listed.collect();
            let met: HashSet<ActionId> = listed.iter().filter_map(|item| id(item).cloned()).collect();
            places.retain(|place| !met.contains(&place.id()));
            let traces = listed.iter().flatten().map(|held| held.place.trace.as_str());
            self.learn_names(&traces.collect()).await;
            found.extend(listed.into_iter().map(|item| item.map(|held| self.held_action(held))));
        }
        let asks: Vec<_> = places.iter().map(|place| self.read_one(place)).collect();
        let answers: Vec<Result<Option<_>, SourceError>> =
            stream::iter(asks).buffer_unordered(GETS).collect().await;
        for answer in answers {
            found.extend(answer?);
        }
        permit([], found.iter_mut().filter_map(|one| one.as_mut().err()), notes::plain);
        Ok(found)
    }

    async fn read_one(&self, place: &StepId) -> Result<Option<Full>, SourceError> {
        match self.find(place).await? {
            Found::WaitingStep(held) => {
                self.learn_names(&HashSet::from([place.trace.as_str()])).await;
                Ok(Some(Ok(self.held_action(*held))))
            }
            Found::Unreadable(bad) => Ok(Some(Err(bad))),
            Found::Settled(step) => {
                self.learn_names(&HashSet::from([place.trace.as_str()])).await;
                let sent = self.sent.get(&place.id());
                let action = standing::settled(&step, sent.as_ref(), self.now());
                let row = self.titled(action.row, action.input.as_str(), &step.place, step.step_id());
                let can = notes::plain(&row);
                let fails = matches!(row.status, Status::Rejected | Status::Failed);
                let undo = if fails { self.undo(place).await } else { Undo::default() };
                let errors: Vec<_> = [action.error, undo.error].into_iter().flatten().collect();
                let error = errors.iter().map(Untrusted::as_raw).collect::<Vec<_>>().join("; ");
                let error = (!error.is_empty()).then(|| error.into());
                let row = Row { can, ..row };
                Ok(Some(Ok(PendingAction { row, error, goes_on: undo.goes_on, ..action })))
            }
            Found::Nowhere => Ok(None),
        }
    }

    pub(super) async fn find(&self, place: &StepId) -> Result<Found, SourceError> {
        // A step may come back to the list while it is looked up elsewhere.
        for _ in 0..2 {
            match self.held(place).await? {
                Some(Ok(held)) => return Ok(Found::WaitingStep(Box::new(held))),
                Some(Err(bad)) => return Ok(Found::Unreadable(bad)),
                None => {}
            }
            match self.step(place).await? {
                Some(step) if step.status.as_raw() != wire::AWAITING => {
                    return Ok(Found::Settled(Box::new(step)));
                }
                Some(_) => {}
                None => return Ok(Found::Nowhere),
            }
        }
        let what = "it waits for a human, but the review list does not have it";
        Ok(Found::Unreadable(Unreadable::under(Some(place.id()), what, Untrusted::default())))
    }

    /// Finds a step on the review list, filtered by its run alone. Only this list has the output that would merge.
    async fn held(&self, place: &StepId) -> Result<Option<Listed>, SourceError> {
        let query = [("namespace", place.namespace.as_str()), ("trace_id", place.trace.as_str())];
        let wanted = place.id();
        let items = match self.pages(&query).await {
            Err(SourceError::Refused { .. }) if !place.is_regular() => return Ok(None),
            items => items?,
        };
        Ok(items.into_iter().find(|item| id(item) == Some(&wanted)))
    }

    /// Reads a step's details; `None` if the engine does not know it.
    pub(super) async fn step(&self, place: &StepId) -> Result<Option<Step>, SourceError> {
        let reply = self.ask(place.path()).await?;
        if reply.status == 404 || reply.status == 422 && !place.is_regular() {
            return Ok(None);
        }
        let text = success(reply)?;
        let step = Step::read(&text, place);
        let step = step.ok_or_else(|| answer::nonsense("the reply is not the step that was asked for"))?;
        if step.retried.as_ref().is_some_and(wire::Retried::is_spent) {
            self.sent.spend(&place.id());
        }
        Ok(Some(step))
    }

    async fn pages(&self, query: &[(&str, &str)]) -> Result<Vec<Listed>, SourceError> {
        let (mut all, mut seen, mut offset, mut stale) = (Vec::new(), HashSet::new(), 0_usize, 0);
        for _ in 0..PAGES_MAX {
            let at = offset.to_string();
            let paging = [("limit", PAGE_WORD), ("offset", at.as_str())];
            let query: Vec<_> = query.iter().copied().chain(paging).collect();
            let reply = self.ask(format!("/v1/sagas/pending-review{}", url::query(&query))).await?;
            let page = parse(success(reply)?).await?;
            let (count, mut news) = (page.items.len(), 0);
            for text in &page.items {
                let item = WaitingStep::read(text);
                // An item without an id is identified by its bytes.
                let name = id(&item).map_or_else(|| text.clone(), |id| id.as_raw().to_owned());
                if seen.insert(name) {
                    news += 1;
                    all.push(item);
                }
            }
            if count == 0 || page.more == Some(false) || (count < page.limit && page.more.is_none()) {
                return Ok(all);
            }
            stale = if news == 0 { stale + 1 } else { 0 };
            if stale == STALE {
                return Err(answer::in_a_circle());
            }
            // The pages do not overlap: more rows disappeared than the overlap covers.
            let gap = offset > 0 && news == count;
            let on = page.limit.min(count).saturating_sub(OVERLAP).max(1);
            offset = if gap { offset.saturating_sub(page.limit) } else { offset + on };
        }
        Err(answer::nonsense("its list does not end"))
    }

    fn filters(&self) -> Vec<(&str, &str)> {
        let kind = self.filter.review.map(|review| match review {
            ReviewKind::Reason => "reason",
            ReviewKind::Commit => "commit",
        });
        let all = [
            ("namespace", self.filter.namespace.as_deref()),
            ("trace_id", self.filter.trace_id.as_deref()),
            ("kind", kind),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }

    pub(super) fn waiting(&self, held: &WaitingStep) -> Waiting {
        Sent::waiting(self.sent.get(&held.place.id()).as_ref(), &held.started, self.now())
    }

    fn held_action(&self, held: WaitingStep) -> PendingAction {
        let waiting = self.waiting(&held);
        let row = Row {
            can: notes::of(&held, self.sent.is_spent(&held.place.id()), waiting),
            ..self.called(&held)
        };
        let error = match waiting {
            Waiting::NotTaken => Some(standing::NOT_TAKEN.into()),
            Waiting::Dropped => Some(standing::DROPPED.into()),
            Waiting::Sent | Waiting::No => None,
        };
        PendingAction { row, error, ..held.action }
    }

    fn called(&self, held: &WaitingStep) -> Row {
        self.titled(held.action.row.clone(), held.action.input.as_str(), &held.place, &held.step_id)
    }

    /// Groups a row by its definition and step, so that the steps that many runs hold at the same point are decided
    /// together. The engine has no title, so one is made from the input.
    fn titled(&self, row: Row, input: &str, place: &StepId, step: &Untrusted) -> Row {
        let definition = self.names.of(&place.trace);
        let definition = definition.or_else(|| row.agent.clone()).unwrap_or_else(|| "(no name)".into());
        let (definition, step) = (definition.as_raw(), step.as_raw());
        let name = row.tool.as_raw();
        let batch = Some(BatchId::new(format!("{definition}/{step}")));
        let call = tool::definition(name).title(name, input);
        let step = if name == step { String::new() } else { format!(" ({step})") };
        let title = format!("{call} · {definition}{step}");
        Row { title: title.into(), batch, ..row }
    }
}

pub(super) enum Found {
    WaitingStep(Box<WaitingStep>),
    Unreadable(Unreadable),
    Settled(Box<Step>),
    Nowhere,
}

fn id(item: &Listed) -> Option<&ActionId> {
    match item {
        Ok(held) => Some(&held.action.row.id),
        Err(bad) => bad.id.as_ref(),
    }
}

async fn parse(text: String) -> Result<Page, SourceError> {
    answer::parsed(text, "the reply is no list of the saga engine's", |text| wire::page(text, PAGE)).await
}
