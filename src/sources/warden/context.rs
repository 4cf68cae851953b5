//! The Context tab for a step: its run, the other steps, and the facts next to its data.

use async_trait::async_trait;

use super::client::Warden;
use super::read::Found;
use super::step_id::StepId;
use super::wire::{self, PAGE, PAGE_WORD, Step};
use crate::contract::fields::Fields;
use crate::domain::{ActionId, ContextEntry, Fact, Row, Untrusted};
use crate::net::url;
use crate::sources::answer::{self, success};
use crate::sources::{Context, SourceError};

#[async_trait]
impl Context for Warden {
    /// Leaves out parts that the engine does not return. Fails only if it returns none.
    async fn context(&self, id: &ActionId, _: &[Row]) -> Result<Vec<ContextEntry>, SourceError> {
        let Some(place) = StepId::of(id) else { return Ok(Vec::new()) };
        let (found, step, run, steps) =
            tokio::join!(self.find(&place), self.step(&place), self.run(&place), self.steps(&place));
        let mut passages = Vec::new();
        let mut failed = None;
        let mut add = |passage: Result<Option<ContextEntry>, SourceError>| match passage {
            Ok(passage) => passages.extend(passage),
            Err(error) => failed = Some(error),
        };
        add(found.map(|found| match found {
            Found::WaitingStep(held) => held.facts().map(|facts| ContextEntry {
                title: "facts, found by tools and kept as they are",
                facts: vec![Fact::json("facts", facts)],
            }),
            Found::Unreadable(_) | Found::Settled(_) | Found::Nowhere => None,
        }));
        add(step.map(|step| step.map(|step| details(&step))));
        add(run);
        add(steps);
        match failed {
            Some(error) if passages.is_empty() => Err(error),
            _ => Ok(passages),
        }
    }
}

impl Warden {
    async fn run(&self, place: &StepId) -> Result<Option<ContextEntry>, SourceError> {
        let query = url::query(&[("trace_id", &place.trace)]);
        let items = self.items(format!("/v1/sagas{query}")).await?;
        let name = self.names.of(&place.trace);
        let ours = |text: &String| {
            let fields = Fields::of(text)?;
            (fields.text("traceId")?.as_raw() == place.trace).then_some(text.clone())
        };
        let Some(text) = items.iter().find_map(ours) else { return Ok(None) };
        let fields = Fields::of(&text).unwrap_or_default();
        let mut facts: Vec<Fact> = Vec::new();
        facts.extend(name.map(|name| Fact::id("definition", name)));
        facts.extend(
            fields.text("status").map(|status| Fact::text("status", status).at(fields.time("startedAt"))),
        );
        facts.push(Fact::id("trace", place.trace.as_str().into()));
        facts.push(Fact::id("namespace", place.namespace.as_str().into()));
        Ok(Some(ContextEntry { title: "run", facts }))
    }

    async fn steps(&self, place: &StepId) -> Result<Option<ContextEntry>, SourceError> {
        let query = [("trace_id", place.trace.as_str()), ("limit", PAGE_WORD)];
        let items = self.items(format!("/v1/sagas/steps{}", url::query(&query))).await?;
        let mut steps: Vec<(u64, Fact)> = items.iter().filter_map(|text| step(text, place)).collect();
        steps.sort_by_key(|(order, _)| *order);
        let facts: Vec<Fact> = steps.into_iter().map(|(_, fact)| fact).collect();
        Ok((!facts.is_empty()).then_some(ContextEntry { title: "steps of the run", facts }))
    }

    pub(super) async fn items(&self, path: String) -> Result<Vec<String>, SourceError> {
        let text = success(self.ask(path).await?)?;
        let page = wire::page(&text, PAGE);
        Ok(page.ok_or_else(|| answer::nonsense("the reply is no list of the saga engine's"))?.items)
    }
}

fn step(text: &str, place: &StepId) -> Option<(u64, Fact)> {
    let fields = Fields::of(text)?;
    let word = |name| fields.text(name).unwrap_or_default();
    let here = if word("stepSpanId").as_raw() == place.span { " (this one)" } else { "" };
    let undoes = if fields.raw("compensatesSpanId").is_some() { "undoing, " } else { "" };
    let value = format!("{undoes}{}, {}{here}", word("stepKind").as_raw(), word("status").as_raw());
    let name = fields.text("stepName").unwrap_or_else(|| word("stepId"));
    let at = fields.time("endTime").or_else(|| fields.time("startedAt"));
    let order = fields.number("orderIndex").unwrap_or(u64::MAX);
    Some((order, Fact::text(name, Untrusted::from(value)).at(at)))
}

fn details(step: &Step) -> ContextEntry {
    let mut facts = vec![Fact::text("status", step.status.clone())];
    facts.push(Fact::id("step id", step.step_id().clone()));
    if let Some(retried) = &step.retried {
        let count = |count: Option<u64>| count.map_or_else(|| "?".to_owned(), |count| count.to_string());
        let value = format!("{} of {}", count(retried.attempt), count(retried.most));
        facts.push(Fact::text("retry", Untrusted::from(value)));
        facts.extend(retried.guidance.clone().map(|guidance| Fact::text("guidance", guidance)));
    }
    facts.extend(step.prompt().map(|prompt| Fact::text("prompt", prompt)));
    facts.extend(step.arguments.clone().map(|arguments| Fact::json("resolved arguments", arguments)));
    facts.extend(step.details().map(|details| Fact::json("error details", details)));
    ContextEntry { title: "step", facts }
}
