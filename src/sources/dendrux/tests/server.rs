//! The fake application over HTTP: the read router in both versions, and the bridge or an owner's routes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use serde_json::Value;

use super::house::{Call, Event, Kind, Run};
use super::writes;
use crate::contract::time;
use crate::sources::tests::{Fault, Faults};

pub(super) struct House {
    pub(super) kind: Kind,
    pub(super) faults: Faults,
    pub(super) runs: Mutex<Vec<Run>>,
    pub(super) seen: Mutex<Vec<String>>,
    /// Whether the owner's routes are missing.
    pub(super) unwritten: bool,
    pub(super) stream: Mutex<String>,
    /// Whether reads fail after the next conflict.
    pub(super) blinding: AtomicBool,
}

pub(super) fn router(house: Arc<House>) -> Router {
    Router::new().fallback(come).with_state(house)
}

async fn come(State(house): State<Arc<House>>, request: Request) -> Response {
    let post = request.method() == "POST";
    let path = request.uri().path().strip_prefix("/dendrux").unwrap_or_default().to_owned();
    let query = request.uri().query().unwrap_or_default().to_owned();
    let body = axum::body::to_bytes(request.into_body(), 1 << 22).await.unwrap();
    let body = String::from_utf8(body.to_vec()).unwrap();
    let line = format!("{} {path}?{query} {body}", if post { "POST" } else { "GET" });
    house.seen.lock().unwrap().push(line.trim_end_matches(['?', ' ']).to_owned());
    let bridge = house.kind.bridge();
    let refusal = |status: u16| refused(status, bridge, "failed", "as it was told");
    let deed = async { if post { writes::write(&house, &path, &body) } else { read(&house, &path, &query) } };
    let reply = house.faults.meet(post, refusal, deed).await;
    if reply.status() == 409 && house.blinding.swap(false, Ordering::SeqCst) {
        house.faults.every_request(Some(Fault::Status(503)));
    }
    reply
}

/// Returns a refusal in the form of the bridge or of FastAPI.
pub(super) fn refused(status: u16, bridge: bool, code: &str, words: &str) -> Response {
    let text = match bridge {
        // An unhandled failure has no details.
        true if status == 500 && code == "failed" => "Internal Server Error".to_owned(),
        true => format!(r#"{{"detail":{{"code":"{code}","message":"{words}"}}}}"#),
        false => format!(r#"{{"detail":"{words}"}}"#),
    };
    answer(status, text)
}

pub(super) fn answer(status: u16, text: String) -> Response {
    let builder = Response::builder().status(status).header("content-type", "application/json");
    let builder = if status == 429 { builder.header("retry-after", "1") } else { builder };
    builder.body(Body::from(text)).unwrap()
}

fn read(house: &House, path: &str, query: &str) -> Response {
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    let runs = house.runs.lock().unwrap();
    let run = |id: &str| runs.iter().find(|run| run.id == id);
    let not_found = || refused(404, false, "", "Not Found");
    let of = |id: &str, text: fn(&Run, &str, Kind) -> String| match run(id) {
        Some(run) => answer(200, text(run, query, house.kind)),
        None => refused(404, false, "", "Run not found."),
    };
    match parts.as_slice() {
        ["placet", ..] if !house.kind.bridge() => not_found(),
        ["placet"] => answer(200, report(house.kind)),
        ["placet", "waiting"] => answer(200, waiting(&runs, query)),
        ["placet", "events"] => {
            let text = house.stream.lock().unwrap().clone();
            ([("content-type", "text/event-stream")], text).into_response()
        }
        ["placet", "runs", id] => of(id, |run, _, _| {
            let decided = serde_json::to_string(&run.decided).unwrap();
            format!(r#"{{"run_id":"{}","status":"{}","decided":{decided}}}"#, run.id, run.status)
        }),
        ["runs"] => answer(200, listed(&runs, query, house.kind)),
        ["runs", id] => of(id, detail),
        ["runs", id, "pauses"] if run(id).is_some_and(|run| run.broken) => refused(500, false, "", "boom"),
        ["runs", id, "pauses"] => of(id, pauses),
        ["runs", id, "events"] => of(id, events),
        ["runs", id, "tool-calls"] => of(id, tool_calls),
        ["runs", id, "traces"] => of(id, traces),
        ["runs", _, _] if !house.kind.bridge() && !house.unwritten => {
            refused(405, false, "", "Method Not Allowed")
        }
        _ => not_found(),
    }
}

fn report(kind: Kind) -> String {
    let (version, new) = if kind.old() { ("0.2.0a1", false) } else { ("0.4.1", true) };
    format!(
        r#"{{"bridge":1,"dendrux":"{version}","decisions":{new},"notes":{new},"agents":["Storekeeper"]}}"#
    )
}

/// Returns a date per event. Old versions omit the zone and the fractions.
fn date(index: usize, kind: Kind) -> String {
    let (minutes, seconds) = (index / 60 % 60, index % 60);
    if kind.old() {
        format!("2026-05-02T09:{minutes:02}:{seconds:02}")
    } else {
        format!("2026-05-02T09:{minutes:02}:{seconds:02}.250000Z")
    }
}

fn wants(query: &str, name: &str) -> Vec<String> {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.filter(|(key, _)| *key == name).map(|(_, value)| value.to_owned()).collect()
}

fn number(query: &str, name: &str, otherwise: usize) -> usize {
    wants(query, name).first().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn waiting(runs: &[Run], query: &str) -> String {
    let only = wants(query, "run_id");
    let waits = runs.iter().rev().filter(|run| run.status.starts_with("waiting_"));
    let mine: Vec<_> = waits.filter(|run| only.is_empty() || only.contains(&run.id)).collect();
    let turn = |run: &&&Run| {
        let calls: Vec<_> = run.calls.iter().map(|call| call_text(call, true)).collect();
        let question = run
            .question
            .map_or("null".to_owned(), |text| format!(r#"{{"text":"{text}","options":["yes","no"]}}"#));
        format!(
            r#"{{"run_id": "{}", "agent_name": "Storekeeper", "tenant_id": null, "parent_run_id": null, "status": "{}", "pause": {}, "paused_at": "{}", "created_at": null, "input": "order parts", "metadata": {{"ticket": "T-7"}}, "calls": [{}], "question": {question}{}}}"#,
            run.id,
            run.status,
            run.pause(),
            run.date.map_or_else(|| date(run.pause(), Kind::Bridge), str::to_owned),
            calls.join(", "),
            run.odd,
        )
    };
    let turns: Vec<_> = mine.iter().filter(|run| !run.broken).map(|run| turn(&run)).collect();
    let broken = mine.iter().filter(|run| run.broken);
    let broken: Vec<_> = broken.map(|run| format!(r#"{{"run_id":"{}","error":"boom"}}"#, run.id)).collect();
    format!(r#"{{"turns":[{}],"broken":[{}]}}"#, turns.join(","), broken.join(","))
}

fn call_text(call: &Call, bridge: bool) -> String {
    let target = if call.client { "client" } else { "server" };
    let reason = call.reason.map_or("null".to_owned(), |reason| format!("\"{reason}\""));
    let more = if bridge {
        format!(r#", "gated": {}, "gate_source": null, "reason": {reason}"#, call.gated)
    } else {
        String::new()
    };
    format!(
        r#"{{"id": "{}", "name": "{}", "params": {}, "target": "{target}"{more}}}"#,
        call.id, call.name, call.params
    )
}

fn listed(runs: &[Run], query: &str, kind: Kind) -> String {
    let statuses = wants(query, "status");
    let all: Vec<_> = runs.iter().rev().filter(|run| statuses.contains(&run.status)).collect();
    let (limit, offset) = (number(query, "limit", 50), number(query, "offset", 0));
    let item = |run: &&Run| {
        let id = if run.broken && run.id.is_empty() { "null".to_owned() } else { format!("\"{}\"", run.id) };
        // Whole seconds cannot distinguish two pauses of one run.
        let moved = date(if kind.old() { 0 } else { run.events.len() }, kind);
        let turn = run.pauses.len();
        format!(
            r#"{{"run_id":{id},"agent_name":"Storekeeper","status":"{}","created_at":"{}","updated_at":"{moved}","iteration_count":{turn},"parent_run_id":null}}"#,
            run.status,
            date(0, kind),
        )
    };
    let page: Vec<_> = all.iter().skip(offset).take(limit).map(item).collect();
    format!(r#"{{"items":[{}],"total":{},"limit":{limit},"offset":{offset}}}"#, page.join(","), all.len())
}

fn detail(run: &Run, _: &str, kind: Kind) -> String {
    let failure = run.failure.map_or("null".to_owned(), |word| format!("\"{word}\""));
    format!(
        r#"{{"run_id":"{}","agent_name":"Storekeeper","status":"{}","created_at":"{}","updated_at":"{}","model":"scripted","input_data":{{"input":"order parts"}},"answer":null,"error":null,"failure_reason":{failure}}}"#,
        run.id,
        run.status,
        date(0, kind),
        date(run.events.len(), kind),
    )
}

fn pauses(run: &Run, _: &str, kind: Kind) -> String {
    let resumed = |index: usize| run.events.iter().skip(index).position(|event| event.kind == "run.resumed");
    let item = |(index, calls): &(usize, Vec<Call>)| {
        let resumed = resumed(*index).map_or("null".to_owned(), |after| (index + after).to_string());
        let calls: Vec<_> = calls.iter().map(|call| call_text(call, false)).collect();
        let reason = run.events[*index].data["status"].as_str().unwrap();
        let at = run.date.map_or_else(|| date(*index, kind), str::to_owned);
        format!(
            r#"{{"pause_sequence_index":{index},"pause_at":"{at}","resume_sequence_index":{resumed},"resume_at":null,"reason":"{reason}","pending_tool_calls":[{}],"submitted_results":[],"user_input":null{}}}"#,
            calls.join(","),
            run.odd,
        )
    };
    let items: Vec<_> = run.pauses.iter().map(item).collect();
    format!(r#"{{"items":[{}]}}"#, items.join(","))
}

fn events(run: &Run, query: &str, kind: Kind) -> String {
    let from = wants(query, "after").first().map_or(0, |after| after.parse::<usize>().unwrap() + 1);
    let limit = number(query, "limit", 100);
    let item = |(index, event): (usize, &Event)| {
        let call = event.call.as_ref().map_or("null".to_owned(), |call| format!("\"{call}\""));
        format!(
            r#"{{"sequence_index":{index},"iteration_index":1,"event_type":"{}","correlation_id":{call},"data":{},"created_at":"{}"}}"#,
            event.kind,
            event.data,
            run.since.map_or_else(|| date(index, kind), time::write),
        )
    };
    let items: Vec<_> = run.events.iter().enumerate().skip(from).take(limit).map(item).collect();
    format!(r#"{{"items":[{}],"next_cursor":null}}"#, items.join(","))
}

fn tool_calls(run: &Run, _: &str, kind: Kind) -> String {
    let item = |row: &super::house::Row| {
        let error = row.error.as_ref().map_or(Value::Null, |error| Value::from(error.as_str()));
        format!(
            r#"{{"tool_call_id":"{}","success":{},"result":{},"error":{error},"created_at":"{}"}}"#,
            row.call,
            row.success,
            row.result,
            date(1, kind),
        )
    };
    let items: Vec<_> = run.rows.iter().map(item).collect();
    format!(r#"{{"items":[{}],"limit":1000,"offset":0}}"#, items.join(","))
}

fn traces(run: &Run, _: &str, kind: Kind) -> String {
    let said = run.question.unwrap_or("I order parts.");
    let at = date(0, kind);
    format!(
        r#"{{"items":[{{"role":"user","content":"order parts","created_at":"{at}"}},{{"role":"assistant","content":"{said}","created_at":"{at}"}}]}}"#
    )
}
