//! The Context tab for a call: its run, turn, conversation and events.

use async_trait::async_trait;

use super::call_id::{self, CallId};
use super::client::{Dendrux, Road};
use super::log;
use super::turn::Turn;
use crate::domain::{ActionId, ContextEntry, Fact, Row, Untrusted};
use crate::sources::{Context, SourceError};

/// Maximum numbers of messages and events to show, the newest.
const SAID: usize = 10;
const HAPPENED: usize = 40;
/// Messages per request, the router's maximum.
const PAGE: usize = 1_000;

#[async_trait]
impl Context for Dendrux {
    async fn context(&self, id: &ActionId, _: &[Row]) -> Result<Vec<ContextEntry>, SourceError> {
        let Some(place) = CallId::of(id) else { return Ok(Vec::new()) };
        let Some(route) = call_id::of_run(&place.run) else { return Ok(Vec::new()) };
        let Some(run) = self.found(route.clone(), log::run).await? else { return Ok(Vec::new()) };
        let turn = self.turn_of(&place, &run).await?;
        let said = self.found(format!("{route}/traces?limit={PAGE}"), log::conversation).await?;
        let happened = self.events(&route, None).await?;
        let mut passages = vec![about(&place, &run, turn.as_ref())];
        passages.extend(turn.as_ref().and_then(|turn| beside(turn, &place)));
        passages.extend(conversation(said.unwrap_or_default()));
        passages.extend(events(happened));
        Ok(passages)
    }
}

impl Dendrux {
    /// Returns the turn in which the call waits; `None` once it is decided.
    async fn turn_of(&self, place: &CallId, run: &log::Run) -> Result<Option<Turn>, SourceError> {
        let turn = match self.road().await? {
            Road::Bridge(_) => {
                self.waiting(&[&place.run]).await?.turns.into_iter().find(|turn| turn.run == place.run)
            }
            Road::Plain => {
                self.turn(&place.run, run.agent.as_ref(), run.parent.as_ref()).await?.and_then(Result::ok)
            }
        };
        Ok(turn.filter(|turn| turn.pause == place.pause))
    }
}

fn about(place: &CallId, run: &log::Run, turn: Option<&Turn>) -> ContextEntry {
    let mut facts = vec![Fact::id("run", place.run.as_str().into()).at(run.created)];
    let mut text = |name: &str, value: Option<Untrusted>| {
        facts.extend(value.map(|value| Fact::text(name, value)));
    };
    text("asked for", run.said.clone().or_else(|| turn?.said.clone()));
    text("status", Some(run.status.clone()));
    text("model", run.model.clone());
    text("answer", run.answer.clone());
    text("error", run.error.clone());
    text("failure", run.failure.clone());
    let parent = run.parent.clone().or_else(|| turn?.parent.clone());
    facts.extend(parent.map(|parent| Fact::id("parent run", parent)));
    facts.extend(turn.and_then(|turn| turn.tenant.clone()).map(|tenant| Fact::id("tenant", tenant)));
    facts.extend(turn.and_then(|turn| turn.metadata.clone()).map(|meta| Fact::json("metadata", meta)));
    ContextEntry { title: "Run", facts }
}

/// Lists the other calls of the turn. Calls that need no decision are held, too.
fn beside(turn: &Turn, place: &CallId) -> Option<ContextEntry> {
    let mut facts = Vec::new();
    for call in &turn.calls {
        if place.call.as_deref() == Some(&call.id) {
            facts.extend(call.reason.clone().map(|reason| Fact::text("why it is held", reason)));
            continue;
        }
        let what = match (call.gated || turn.held().count() == 0, call.client) {
            (true, _) => "decided with it",
            (false, false) => "held with it, runs when decided",
            (false, true) => "held with it, a client's call",
        };
        facts.push(Fact::id(what, call.name.clone()));
        facts.push(Fact::json("with", call.params.clone()));
    }
    (!facts.is_empty()).then_some(ContextEntry { title: "Its turn", facts })
}

fn conversation(said: Vec<log::Message>) -> Option<ContextEntry> {
    let before = said.len().saturating_sub(SAID);
    let fact = |said: log::Message| Fact::text(said.role, said.text).at(said.at);
    let facts: Vec<_> = said.into_iter().skip(before).map(fact).collect();
    (!facts.is_empty()).then_some(ContextEntry { title: "What was said", facts })
}

fn events(happened: Vec<log::Happened>) -> Option<ContextEntry> {
    let before = happened.len().saturating_sub(HAPPENED);
    let fact = |event: log::Happened| Fact::json(event.kind, event.data).at(event.at);
    let facts: Vec<_> = happened.into_iter().skip(before).map(fact).collect();
    (!facts.is_empty()).then_some(ContextEntry { title: "What happened", facts })
}
