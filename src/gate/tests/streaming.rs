//! `GET /api/pending-actions/events`.

use std::sync::Arc;

use reqwest::{Method, Response};
use serde_json::{Value, json};

use super::contract;
use super::support::{BORN, LIMIT, TestGate, plain};
use crate::gate::briefings::Counted;
use crate::gate::store::{Batches, Counts};

pub(super) struct Stream {
    response: Response,
    text: String,
}

#[derive(Debug)]
pub(super) struct Event {
    pub(super) name: String,
    pub(super) id: Option<String>,
    pub(super) data: Value,
}

impl Stream {
    pub(super) async fn open(gate: &TestGate, query: &str, last_event_id: Option<&str>) -> Self {
        let path = format!("/api/pending-actions/events?workspace_id=w{query}");
        let mut request = gate.request(Method::GET, &path, &gate.owner);
        if let Some(id) = last_event_id {
            request = request.header("last-event-id", id);
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["cache-control"], "no-cache");
        assert_eq!(response.headers()["x-accel-buffering"], "no");
        Self { response, text: String::new() }
    }

    /// Returns the next event, `None` if the stream ended.
    pub(super) async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| {
                    event
                        .lines()
                        .find_map(|line| line.strip_prefix(name))
                        .map(|value| value.trim().to_owned())
                };
                let data = serde_json::from_str(&field("data:").unwrap()).unwrap();
                let event = Event { name: field("event:").unwrap(), id: field("id:"), data };
                contract::check_event(&event.name, &event.data);
                self.text = rest.to_owned();
                return Some(event);
            }
            let chunk = tokio::time::timeout(LIMIT, self.response.chunk()).await.unwrap().unwrap()?;
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    async fn briefing(&mut self, revision: u64) -> Event {
        loop {
            let event = self.next().await.unwrap();
            if event.name == "briefing" && event.data["revision"].as_u64().unwrap() >= revision {
                return event;
            }
        }
    }
}

#[tokio::test]
async fn briefing_comes_on_connect_and_on_change() {
    let (_folder, gate) = plain().await;
    gate.propose_with("t", "{}", r#","missionId":"m","risk":"low""#).await;
    let mut stream = Stream::open(&gate, "", None).await;

    let first = stream.next().await.unwrap();
    let second = gate.propose_with("t", "{}", r#","missionId":"m","risk":"critical""#).await;
    let after = stream.briefing(BORN + 2).await;
    gate.reject(&second, "").await;
    let last = stream.briefing(BORN + 3).await;

    let born = (BORN + 1).to_string();
    assert_eq!((first.name.as_str(), first.id.as_deref()), ("briefing", Some(born.as_str())));
    assert_eq!(first.data["pending"], 1);
    let batch = &after.data["batches"][0];
    assert_eq!(after.data["pending"], 2);
    assert_eq!((&after.data["blockedMissions"], &after.data["truncated"]), (&1.into(), &false.into()));
    assert_eq!(
        (&batch["batchId"], &batch["pending"], &batch["highestRisk"]),
        (&"m:t".into(), &2.into(), &"critical".into())
    );
    assert_eq!((last.id.clone(), &last.data["pending"]), (Some((BORN + 3).to_string()), &1.into()));
}

#[tokio::test]
async fn many_changes_make_few_briefings() {
    let (_folder, gate) = plain().await;
    let mut stream = Stream::open(&gate, "", None).await;
    let started = std::time::Instant::now();

    for _ in 0..100 {
        gate.propose("t", "{}").await;
    }
    let mut told = 0;
    loop {
        let event = stream.next().await.unwrap();
        told += 1;
        if event.data["revision"] == BORN + 100 {
            assert_eq!(event.data["pending"], 100);
            break;
        }
    }

    let most = 2 + started.elapsed().as_millis() / 250;
    assert!(told <= most, "{told} briefings in {:?}", started.elapsed());
}

#[tokio::test]
async fn streams_share_a_count_until_a_change() {
    let (_folder, gate) = plain().await;
    let (briefings, store) = (&gate.gate.inner.briefings, gate.gate.store());
    let all = || briefings.desk(Counts::all("w"), Batches::All);
    let (one, another) = (all(), all());
    let session = Counts { session: Some("s".to_owned()), ..Counts::all("w") };
    let (session, fewer) =
        (briefings.desk(session, Batches::All), briefings.desk(Counts::all("w"), Batches::Top));

    let (first, same) = (one.briefing(store).await.unwrap(), another.briefing(store).await.unwrap());
    gate.propose("t", "{}").await;
    let changed = another.briefing(store).await.unwrap();
    let elsewhere = session.briefing(store).await.unwrap();
    let of_fewer = fewer.briefing(store).await.unwrap();

    assert!(Arc::ptr_eq(&first, &same));
    assert!(!Arc::ptr_eq(&changed, &of_fewer));
    assert_eq!((first.revision(), changed.revision(), elsewhere.revision()), (BORN, BORN + 1, BORN + 1));
    let told =
        |counted: &Counted, earlier| String::from_utf8(counted.event(earlier).unwrap().to_vec()).unwrap();
    assert!(told(&changed, None).contains("\"pending\":1"), "{}", told(&changed, None));
    assert!(told(&elsewhere, None).contains("\"pending\":0"), "{}", told(&elsewhere, None));
    // Each form is encoded once and reused.
    let places = |earlier| [(); 2].map(|()| changed.event(earlier).unwrap().as_ptr());
    let ([whole, again], [difference, once_more]) = (places(None), places(Some(&*first)));
    assert_eq!((whole, difference), (again, once_more));
    assert_ne!(whole, difference);
}

/// The query limits the batches, but not the counts.
#[tokio::test]
async fn briefing_lists_the_requested_batches() {
    let (_folder, gate) = plain().await;
    for nth in 0..21 {
        gate.propose_with("t", "{}", &format!(r#","batchId":"{nth}","missionId":"m""#)).await;
    }

    let told = async |query: &str| Stream::open(&gate, query, None).await.next().await.unwrap().data;
    let (default, all) = (told("").await, told("&batches=all").await);
    let (top, none) = (told("&batches=top").await, told("&batches=none").await);

    assert_eq!(default, all);
    let keys = |told: &Value| told.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let counts = ["workspaceId", "pending", "blockedMissions", "unknown", "lapsing", "ranOther"];
    assert_eq!(keys(&all), [&counts[..], &["batches", "truncated", "claims", "revision"]].concat());
    assert_eq!(keys(&none), [&counts[..], &["claims", "revision"]].concat());
    let listed = |told: &Value| {
        let batches = told["batches"].as_array().unwrap();
        (batches.len(), batches[0]["batchId"].clone(), told["truncated"].clone())
    };
    assert_eq!(listed(&all), (21, "0".into(), false.into()));
    assert_eq!(listed(&top), (20, "0".into(), true.into()));
    for told in [&all, &top, &none] {
        let counted = (&told["pending"], &told["blockedMissions"], &told["revision"]);
        assert_eq!(counted, (&21.into(), &1.into(), &(BORN + 21).into()));
    }
}

#[tokio::test]
async fn invalid_briefing_form_is_refused() {
    let (_folder, gate) = plain().await;
    for query in ["batches=some", "batches=", "changes=all", "batches=top&batches=all"] {
        let path = format!("/api/pending-actions/events?workspace_id=w&{query}");

        let refused = gate.get(&path).await;

        assert_eq!(refused.code(), (400, "BAD_REQUEST".to_owned()), "{query}");
    }
}

/// Applies a difference, like a client.
fn follow(listed: &mut Vec<Value>, told: &Event, revision: u64) {
    let (batches, gone) = (told.data["batches"].as_array().unwrap(), told.data["gone"].as_array().unwrap());
    let is_in = |ids: &[Value], batch: &Value| ids.iter().any(|it| it == batch || it["batchId"] == *batch);
    assert_eq!(told.data["since"], revision, "{}", told.data);
    listed.retain(|known| !is_in(batches, &known["batchId"]) && !is_in(gone, &known["batchId"]));
    listed.extend(batches.iter().cloned());
    listed.sort_by_key(|batch| batch["oldestAt"].as_str().unwrap().to_owned());
}

#[tokio::test]
async fn changes_only_stream_sends_differences() {
    let (_folder, gate) = plain().await;
    let clock = &gate.gate.inner.clock;
    clock.stop();
    // Batches are ordered by their oldest action.
    let propose = async |batch: &str, risk: &str| {
        clock.pass(1_000);
        let more = format!(r#","batchId":"{batch}","missionId":"m","risk":"{risk}""#);
        gate.propose_with("t", "{}", &more).await
    };
    let first = propose("a", "low").await;
    propose("b", "low").await;
    let mut changes = Stream::open(&gate, "&changes=only", None).await;

    let whole = changes.next().await.unwrap();
    propose("b", "critical").await;
    let raised = changes.briefing(BORN + 3).await;
    propose("c", "low").await;
    let new = changes.briefing(BORN + 4).await;
    gate.reject(&first, "").await;
    let gone = changes.briefing(BORN + 5).await;
    let now = Stream::open(&gate, "", None).await.next().await.unwrap();

    assert_eq!((&whole.data["since"], &whole.data["gone"]), (&Value::Null, &Value::Null));
    let told = |event: &Event| {
        let batches = event.data["batches"].as_array().unwrap();
        let batches: Vec<_> = batches.iter().map(|it| it["batchId"].as_str().unwrap().to_owned()).collect();
        (batches.join(","), event.data["gone"].to_string(), event.data["pending"].as_u64().unwrap())
    };
    assert_eq!(told(&raised), ("b".to_owned(), "[]".to_owned(), 3));
    assert_eq!(told(&new), ("c".to_owned(), "[]".to_owned(), 4));
    assert_eq!(told(&gone), (String::new(), r#"["a"]"#.to_owned(), 3));
    let mut listed = whole.data["batches"].as_array().unwrap().clone();
    for (nth, event) in [raised, new, gone].iter().enumerate() {
        follow(&mut listed, event, BORN + 2 + nth as u64);
    }
    assert_eq!(Value::from(listed), now.data["batches"]);
}

/// A difference holds everything but the batches in full.
#[tokio::test]
async fn difference_includes_claims_and_pauses() {
    let (_folder, gate) = plain().await;
    let id = gate.propose("t", "{}").await;
    let mut changes = Stream::open(&gate, "&changes=only", None).await;
    changes.next().await.unwrap();
    let mut told = async |is_told: fn(&Value) -> bool| loop {
        let event = changes.next().await.unwrap();
        if event.name == "briefing" && is_told(&event.data) {
            return event.data;
        }
    };
    let all_but_batches = |mut data: Value| {
        for of_a_difference in ["batches", "gone", "since", "truncated"] {
            data.as_object_mut().unwrap().remove(of_a_difference);
        }
        data
    };

    for path in [format!("/api/claims/{id}"), "/api/gate/pause".to_owned()] {
        assert_eq!(gate.post_as(&gate.owner, &path, "").await.status, 200, "{path}");
    }
    let held = told(|data| data["claims"] != json!([]) && data["pausedAt"].is_string()).await;
    let now = async || Stream::open(&gate, "", None).await.next().await.unwrap().data;
    assert_eq!(held["batches"], json!([]));
    assert_eq!(all_but_batches(held), all_but_batches(now().await));
    for path in [format!("/api/claims/{id}/end"), "/api/gate/resume".to_owned()] {
        assert_eq!(gate.post_as(&gate.owner, &path, "").await.status, 200, "{path}");
    }
    let ended = told(|data| data["claims"] == json!([]) && data["pausedAt"].is_null()).await;
    assert_eq!(all_but_batches(ended), all_but_batches(now().await));
}

/// The client has all counts anyway.
#[tokio::test]
async fn stream_without_batches_sends_no_differences() {
    let (_folder, gate) = plain().await;
    let mut stream = Stream::open(&gate, "&batches=none&changes=only", None).await;

    stream.next().await.unwrap();
    gate.propose("t", "{}").await;
    let after = stream.briefing(BORN + 1).await;

    assert_eq!((&after.data["pending"], &after.data["since"]), (&1.into(), &Value::Null));
    assert_eq!(after.data["batches"], Value::Null);
}

#[tokio::test]
async fn session_sees_its_own_counts() {
    let (_folder, gate) = plain().await;
    gate.propose_with("t", "{}", r#","sessionId":"s""#).await;
    gate.propose_with("t", "{}", r#","sessionId":"another""#).await;

    let mut stream = Stream::open(&gate, "&session_id=s", None).await;

    assert_eq!(stream.next().await.unwrap().data["pending"], 1);
}

#[tokio::test]
async fn stream_of_a_mission_counts_only_that_mission() {
    let (_folder, gate) = plain().await;
    for more in [
        r#","missionId":"m","sessionId":"s""#,
        r#","missionId":"m","sessionId":"another""#,
        r#","missionId":"another","sessionId":"s""#,
        "",
    ] {
        gate.propose_with("t", "{}", more).await;
    }

    let told = async |query: &str| {
        let data = Stream::open(&gate, query, None).await.next().await.unwrap().data;
        (data["pending"].clone(), data["blockedMissions"].clone(), data["batches"].as_array().unwrap().len())
    };

    assert_eq!(told("&mission_id=m").await, (2.into(), 1.into(), 1));
    assert_eq!(told("&missionId=m&session_id=s").await, (1.into(), 1.into(), 1));
    assert_eq!(told("&mission_id=none").await, (0.into(), 0.into(), 0));
}

#[tokio::test]
async fn client_with_another_history_gets_a_resync() {
    let (_folder, gate) = plain().await;
    gate.propose("t", "{}").await;

    let mut fresh = Stream::open(&gate, "", Some("1")).await;
    let mut lost = Stream::open(&gate, "", Some("999")).await;

    assert_eq!(fresh.next().await.unwrap().name, "briefing");
    assert_eq!(lost.next().await.unwrap().name, "resync");
    assert_eq!(lost.next().await.unwrap().name, "briefing");
}

#[tokio::test]
async fn streams_and_waits_end_when_the_gate_stops() {
    let (_folder, gate) = plain().await;
    let id = gate.propose("t", "{}").await;
    let mut stream = Stream::open(&gate, "", None).await;
    stream.next().await.unwrap();
    let wait = gate.request(Method::GET, &format!("/api/pending-actions/{id}?wait=60s"), &gate.owner);
    let waiting = tokio::spawn(wait.send());

    // Without an early end, the long poll would hold the gate for 60 s.
    gate.stop().await;

    assert!(stream.next().await.is_none());
    // It was answered, or did not arrive before the gate stopped.
    drop(waiting.await.unwrap());
}
