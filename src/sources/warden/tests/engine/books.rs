//! The engine's answers and its queue.

use std::collections::HashMap;

use super::{Answer, Books, Event, First, WaitingStep, answer, detail, moment};
use crate::contract::fields::Fields;
use crate::domain::{Untrusted, json};

impl Books {
    pub(super) fn get(&mut self, parts: &[&str], query: &HashMap<String, String>) -> Answer {
        match parts {
            ["health"] => answer(200, r#"{"status":"ok"}"#),
            ["sagas" | "definitions", ..]
                if self.nameless && parts != ["sagas", "pending-review"] && parts.len() < 4 =>
            {
                detail(500, "boom")
            }
            ["sagas", "pending-review"] => self.review(query),
            ["sagas"] => {
                let run = |step: &WaitingStep| {
                    let status = if step.status == "AWAITING_HUMAN" { "AWAITING_HUMAN" } else { "RUNNING" };
                    format!(
                        r#"{{"trace_id":"{}","namespace":"{}","definition_id":"d-{}","status":"{status}","started_at":"{}","start_idempotency_key":null}}"#,
                        step.trace,
                        step.namespace,
                        step.step,
                        moment(step.started)
                    )
                };
                self.list(query, run)
            }
            ["sagas", "steps"] => {
                let (status, text) = self.list(query, |step| format!("{{{}}}", step.line()));
                let undo = self.undo.iter().filter(|(trace, _)| query.get("trace_id") == Some(trace));
                let undo = undo.map(|(_, item)| item.clone() + ",").collect::<String>();
                (status, text.replacen("[{", &format!("[{undo}{{"), 1))
            }
            ["sagas", trace, "steps", _] if !is_hex(trace, 32) => {
                detail(422, "trace_id must be a 32-character lowercase hex string.")
            }
            ["sagas", _, "steps", span] if !is_hex(span, 16) => {
                detail(422, "step_span_id must be a 16-character lowercase hex string.")
            }
            ["sagas", trace, "steps", span] => {
                let found = self.steps.iter().find(|step| step.trace == *trace && step.span == *span);
                match found {
                    Some(step) => (200, step.details()),
                    None => detail(404, "Saga step instance not found."),
                }
            }
            ["definitions", "sagas"] => answer(200, r#"{"items":[],"limit":50,"offset":0}"#),
            ["definitions", "sagas", id] => (
                200,
                format!(
                    r#"{{"id":"{id}","namespace":"default","name":"answer-{id}","version":"0.3.0","is_active":true}}"#
                ),
            ),
            _ => detail(404, "Not Found"),
        }
    }

    /// Returns the answer in the form of a later revision.
    pub(super) fn worded(&self, (status, text): Answer) -> Answer {
        let body = Fields::of(&text).unwrap_or_default();
        let words = body.raw("detail").filter(|words| self.later && words.starts_with('"'));
        let text = match (words, text.strip_suffix('}')) {
            (Some(words), _) => {
                format!(r#"{{"detail":{{"code":"E{status}","message":{words},"status":{status}}}}}"#)
            }
            (None, Some(list)) if self.later && body.raw("items").is_some() => {
                let count = body.raw("items").and_then(json::elements).map_or(0, |items| items.len() as u64);
                let more = body.number("limit").is_some_and(|limit| count == limit);
                format!(r#"{list},"has_more":{more},"total":{}}}"#, self.steps.len())
            }
            _ => text,
        };
        (status, text)
    }

    fn list(&self, query: &HashMap<String, String>, write: impl Fn(&WaitingStep) -> String) -> Answer {
        let trace = query.get("trace_id");
        let steps = self.steps.iter().filter(|step| trace.is_none_or(|trace| *trace == step.trace));
        let items: Vec<String> = steps.map(write).collect();
        page(&items, query, None)
    }

    fn review(&mut self, query: &HashMap<String, String>) -> Answer {
        if query.get("kind").is_some_and(|kind| !["reason", "commit"].contains(&kind.as_str())) {
            return detail(422, "kind must be one of commit, reason.");
        }
        if self.later && query.get("trace_id").is_some_and(|trace| !is_hex(trace, 32)) {
            return detail(422, "trace_id must be a 32-character lowercase hex string.");
        }
        let is = |name: &str, value: &str| query.get(name).is_none_or(|wanted| wanted == value);
        let mut held: Vec<&WaitingStep> = self
            .steps
            .iter()
            .filter(|step| step.status == "AWAITING_HUMAN" || step.broken.is_some())
            .filter(|step| {
                is("namespace", &step.namespace) && is("trace_id", &step.trace) && is("kind", step.kind)
            })
            .collect();
        held.sort_by_key(|step| std::cmp::Reverse(step.started));
        let items: Vec<String> = held.into_iter().map(WaitingStep::item).collect();
        let answer = page(&items, query, self.page);
        let leaves = std::mem::take(&mut self.leaves_while_paging);
        self.steps.retain(|step| !leaves.contains(&step.id()));
        answer
    }

    pub(super) fn post(
        &mut self,
        trace: &str,
        span: &str,
        query: &HashMap<String, String>,
        verb: &str,
        body: &str,
    ) -> Answer {
        let Some(fields) = Fields::of(body) else {
            return answer(
                422,
                r#"{"detail":[{"type":"json_invalid","loc":["body",1],"msg":"JSON decode error","input":{}}]}"#,
            );
        };
        let at = self.steps.iter().position(|step| step.trace == trace && step.span == span);
        let key = match key(&fields, trace, span, verb) {
            Ok(key) => key,
            Err(refused) => return refused,
        };
        let said =
            |status: &str| answer(202, &format!(r#"{{"status":"{status}","idempotency_key":"{key}"}}"#));
        // The key is checked before state and namespace.
        if self.races && self.tokens.contains(&key) {
            return said("queued");
        }
        if self.tokens.contains(&key) {
            let Some(at) = at else { return said("already_queued") };
            let requeued = self.steps[at].first.as_mut().filter(|first| first.failed && verb == "decision");
            return match requeued {
                Some(first) => {
                    first.failed = false;
                    self.queue.push_back(Event::Decision(at));
                    said("requeued")
                }
                None => said("already_queued"),
            };
        }
        let namespace = query.get("namespace").map_or("default", String::as_str);
        let Some(at) = at.filter(|at| self.steps[*at].namespace == namespace) else {
            return detail(404, "Step not found.");
        };
        let step = &mut self.steps[at];
        if step.status != "AWAITING_HUMAN" {
            return detail(409, &format!("Step is not awaiting human review (status={}).", step.status));
        }
        if verb == "retry" && step.retries.0 >= step.retries.1 {
            let (used, most) = step.retries;
            return detail(409, &format!("HITL manual retry limit reached ({used} of {most} used)."));
        }
        *self.taken.entry(step.id()).or_default() += 1;
        let event = if verb == "retry" {
            Event::Retry(at, fields.text("guidance").map(|text| text.as_raw().to_owned()))
        } else {
            step.first = Some(First { body: body.to_owned(), failed: false });
            Event::Decision(at)
        };
        self.tokens.insert(key.clone());
        self.queue.push_back(event);
        self.lag = 1;
        said("queued")
    }

    pub(in crate::sources::warden::tests) fn drop_queue(&mut self) {
        self.queue.clear();
    }

    pub(super) fn work(&mut self, now: i64) {
        // Retried steps run first, so an event queued after the retry does not find the step held.
        let mut back = Vec::new();
        while let Some(event) = self.queue.pop_front() {
            let (Event::Decision(at) | Event::Retry(at, _)) = &event;
            let Some(step) = self.steps.get_mut(*at).filter(|step| step.status == "AWAITING_HUMAN") else {
                // The event is dropped, and its key stays used.
                continue;
            };
            match event {
                Event::Decision(_) => step.decide(),
                Event::Retry(at, guidance) => {
                    step.retries.0 += 1;
                    step.guidance = guidance;
                    step.status = "IN_PROGRESS".to_owned();
                    if step.kind == "commit" || self.mended {
                        back.push(at);
                    }
                }
            }
        }
        for at in back {
            let step: &mut WaitingStep = &mut self.steps[at];
            (step.status, step.started) = ("AWAITING_HUMAN".to_owned(), now);
        }
    }
}

impl WaitingStep {
    fn decide(&mut self) {
        let body = self.first.clone().unwrap().body;
        let fields = Fields::of(&body).unwrap();
        let given = |name: &str| fields.raw(name).map(str::to_owned);
        if fields.text("decision").unwrap().as_raw() == "REJECT" {
            self.status = "FAILED".to_owned();
            self.failure = given("errorDetails").or_else(|| Some(r#"{"code":"HUMAN_REJECTED"}"#.to_owned()));
            return;
        }
        if let Some(breaks) = self.breaks {
            self.status = "FAILED".to_owned();
            self.failure = Some(breaks.to_owned());
            return;
        }
        self.status = "COMPLETED".to_owned();
        // A given output replaces the agent's, even an empty one; a commit step ignores it.
        self.output = Some(match self.kind {
            "commit" => r#"{"data":{"number":41}}"#.to_owned(),
            _ => given("output").unwrap_or_else(|| self.payload.clone()),
        });
    }
}

fn page(items: &[String], query: &HashMap<String, String>, size: Option<usize>) -> Answer {
    let number = |name: &str, usual: usize| query.get(name).map_or(usual, |text| text.parse().unwrap());
    let (limit, offset) = (number("limit", 50), number("offset", 0));
    if !(1..=100).contains(&limit) {
        return detail(422, "limit must be between 1 and 100 (inclusive).");
    }
    let limit = size.unwrap_or(limit);
    let items: Vec<&str> = items.iter().skip(offset).take(limit).map(String::as_str).collect();
    (200, format!(r#"{{"items":[{}],"limit":{limit},"offset":{offset}}}"#, items.join(",")))
}

fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Returns the key of a request, or the error of an invalid one.
fn key(fields: &Fields<'_>, trace: &str, span: &str, verb: &str) -> Result<String, Answer> {
    let text = |name| fields.text(name).map_or_else(String::new, |text: Untrusted| text.as_raw().to_owned());
    let odd = |of: &str, what: &str| {
        let (kind, name) = of.split_once(' ').unwrap();
        let place = format!(r#""type":"{kind}","loc":["body","{name}"]"#);
        Err((422, format!(r#"{{"detail":[{{{place},"msg":"{what}","input":"?"}}]}}"#)))
    };
    if verb == "retry" {
        let token = text("retryToken");
        if !(8..=128).contains(&token.len()) {
            return odd("string_too_short retry_token", "String should have at least 8 characters");
        }
        return Ok(format!("human-retry:{trace}:{span}:{token}"));
    }
    if !["APPROVE", "REJECT"].contains(&text("decision").as_str()) {
        return odd("literal_error decision", "Input should be 'APPROVE' or 'REJECT'");
    }
    Ok(format!("human-decision-{trace}-{span}"))
}
