//! Decisions on the fake application: the bridge's three routes, or an owner's.

use axum::response::Response;
use serde_json::Value;
use serde_json::value::RawValue;

use super::house::{Run, Verdicts};
use super::server::{House, answer, refused};

pub(super) fn write(house: &House, path: &str, body: &str) -> Response {
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    let bridge = house.kind.bridge();
    let (id, verb) = match parts.as_slice() {
        ["placet", "runs", id, verb] if bridge => (*id, *verb),
        ["runs", id, verb] if !bridge && !house.unwritten => (*id, *verb),
        _ => return refused(404, false, "", "Not Found"),
    };
    let mut runs = house.runs.lock().unwrap();
    let Some(run) = runs.iter_mut().find(|run| run.id == id) else {
        return refused(404, bridge, "not_found", "there is no such run");
    };
    let status = match verb {
        "decide" | "approval" => "waiting_approval",
        "results" | "tool-results" => "waiting_client_tool",
        _ => "waiting_human_input",
    };
    let body: Value = serde_json::from_str(body).unwrap();
    if let Some(refusal) = unfit(run, status, &body, bridge) {
        return refusal;
    }
    let pause = run.pause();
    let done = match status {
        "waiting_approval" => decide(house, run, &body),
        "waiting_client_tool" => give(run, &body, bridge),
        _ => {
            run.answer(body["text"].as_str().unwrap());
            Ok(())
        }
    };
    match done {
        Err(words) => refused(400, bridge, "bad_decisions", words),
        Ok(()) if bridge => {
            run.decided
                .push(serde_json::json!({"pause": pause, "decided_by": body["decided_by"], "at": null}));
            answer(202, format!(r#"{{"status":"submitted","run_id":"{id}","pause":{pause}}}"#))
        }
        Ok(()) => answer(200, format!(r#"{{"status":"{}","answer":null}}"#, run.status)),
    }
}

/// Returns the package's error for a run that does not wait for this.
fn unfit(run: &Run, status: &str, body: &Value, bridge: bool) -> Option<Response> {
    let conflict = |code: &str, words: &str| Some(refused(409, bridge, code, words));
    match run.status.as_str() {
        "success" | "error" | "cancelled" => conflict("terminal", "is already terminal; cannot resume."),
        "running" => conflict("not_paused", "is not paused (current status: running)."),
        is if is != status => {
            conflict("mismatch", "is waiting for something else, but this method requires it.")
        }
        _ if bridge && body["pause"] != run.pause() => conflict("pause_moved", "the run has moved on"),
        _ => None,
    }
}

fn decide(house: &House, run: &mut Run, body: &Value) -> Result<(), &'static str> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let verdicts = match body.get("decisions").and_then(Value::as_object) {
        Some(_) if house.kind.old() => return Err("this version takes no decisions"),
        Some(each) => {
            let mut gated: Vec<_> = run.calls.iter().filter(|call| call.gated).map(|call| &call.id).collect();
            gated.sort();
            if each.keys().collect::<Vec<_>>() != gated {
                return Err("must cover exactly the approval-gated calls");
            }
            let verdict = |it: &Value| (it["approved"].as_bool().unwrap(), text(&it["reason"]));
            Verdicts::Each(each.iter().map(|(id, it)| (id.clone(), verdict(it))).collect())
        }
        None => Verdicts::Whole(body["approved"].as_bool().unwrap(), text(&body["rejection_reason"])),
    };
    run.said = text(&body["note"]);
    run.decide(&verdicts, house.kind.old());
    Ok(())
}

fn give(run: &mut Run, body: &Value, bridge: bool) -> Result<(), &'static str> {
    let list = if bridge { &body["results"] } else { body };
    let result = |it: &Value| {
        // The package takes JSON text, the bridge the value.
        let payload =
            if bridge { it["payload"].to_string() } else { it["payload"].as_str().unwrap().to_owned() };
        let _: Box<RawValue> = serde_json::from_str(&payload).unwrap();
        let id = it["call_id"].as_str().unwrap().to_owned();
        (id, payload, it["success"].as_bool().unwrap(), it["error"].as_str().map(str::to_owned))
    };
    let results: Vec<_> = list.as_array().unwrap().iter().map(result).collect();
    let mut given: Vec<_> = results.iter().map(|(id, ..)| id).collect();
    let mut asked: Vec<_> = run.calls.iter().map(|call| &call.id).collect();
    given.sort();
    asked.sort();
    if given != asked {
        return Err("missing or unexpected call_ids");
    }
    run.give(&results);
    Ok(())
}
