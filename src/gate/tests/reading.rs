use reqwest::Method;

use super::support::{Answer, BORN, answer, ids, plain, script, with_tool};
use crate::config::ToolConfig;
use crate::contract::briefing;
use crate::domain::{Outstanding, PreviewShape};
use crate::gate::Scope;

fn revisions(changes: &Answer) -> Vec<u64> {
    let changes = changes.json()["changes"].as_array().cloned().unwrap();
    changes.iter().map(|change| change["revision"].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn list_is_newest_first_and_pages_without_gaps() {
    let (_folder, gate) = plain().await;
    let mut all = Vec::new();
    for n in 0..7 {
        all.insert(0, gate.propose("t", &format!(r#"{{"n":{n}}}"#)).await);
    }

    let mut found = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = gate.list(&format!("&status=pending&view=row&limit=3{cursor}")).await;
        // New actions come before the first page and do not shift later pages.
        gate.propose("late", "{}").await;
        found.extend(ids(&page));
        match page.json()["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }

    assert_eq!(found, all);
}

#[tokio::test]
async fn rows_omit_the_input_and_full_actions_hold_it() {
    let (_folder, gate) = plain().await;
    let long = "x".repeat(300);
    let input = format!(r#"{{"title":"Hello","body":"{long}"}}"#);
    gate.propose_with("t", &input, r#","preview":{"n": 1.0},"risk":"high","agent":"a","summary":"s""#).await;

    let row = gate.list("&view=row").await;
    let full = gate.list("").await;

    assert!(!row.text.contains("toolInput") && !row.text.contains(&long), "{}", row.text);
    assert!(full.text.contains(&format!(r#""toolInput":{input},"preview":{{"n": 1.0}}"#)), "{}", full.text);
    for list in [&row, &full] {
        let facts =
            ["title", "risk", "agent", "size", "status"].map(|name| list.at(&format!("/items/0/{name}")));
        assert_eq!(facts, ["t Hello", "high", "a", "327", "pending"]);
        assert_eq!(list.at("/revision"), (BORN + 1).to_string());
    }
}

#[tokio::test]
async fn rows_can_omit_nulls() {
    let (_folder, gate) = plain().await;
    gate.propose_with("t", "{}", r#","agent":"a""#).await;
    let other = gate.propose_with("t", "{}", r#","missionId":"m","sessionId":"s""#).await;
    gate.reject(&other, "").await;

    let mut rows = gate.list("&view=row").await.json()["items"].clone();
    let short = gate.list("&view=row&nulls=false").await.json()["items"].clone();

    for row in rows.as_array_mut().unwrap() {
        row.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    }
    assert_eq!(short, rows);
    assert_eq!(gate.list("&view=row&nulls=true").await.text, gate.list("&view=row").await.text);
}

#[tokio::test]
async fn filters_find_matching_actions_only() {
    let (_folder, gate) = plain().await;
    let a = gate.propose_with("ta", "{}", r#","missionId":"m1","runId":"r","risk":"critical""#).await;
    let b = gate.propose_with("tb", "{}", r#","sessionId":"s","agent":"x","batchId":"b""#).await;
    gate.reject(&b, "").await;

    for (query, want) in [
        ("&tool_name=ta".to_owned(), vec![&a]),
        ("&mission_id=m1&run_id=r".to_owned(), vec![&a]),
        ("&session_id=s".to_owned(), vec![&b]),
        ("&agent=x&batch_id=b".to_owned(), vec![&b]),
        ("&risk=critical".to_owned(), vec![&a]),
        ("&status=pending".to_owned(), vec![&a]),
        ("&status=rejected,pending".to_owned(), vec![&b, &a]),
        (format!("&ids={b},none"), vec![&b]),
        ("&ids=".to_owned(), vec![]),
        ("&ids=,".to_owned(), vec![]),
        ("&ids=&view=row".to_owned(), vec![]),
        ("&ids=&status=pending".to_owned(), vec![]),
        ("&tool_name=none".to_owned(), vec![]),
    ] {
        assert_eq!(ids(&gate.list(&query).await).iter().collect::<Vec<_>>(), want, "{query}");
    }
}

#[tokio::test]
async fn changes_list_each_action_once_with_its_present_row() {
    let (_folder, gate) = plain().await;
    let (a, b) = (gate.propose("t", "{}").await, gate.propose("t", "{}").await);
    let changes = async |since: u64, limit: u32| {
        gate.get(&format!("/api/pending-actions/changes?workspace_id=w&since={since}&limit={limit}")).await
    };

    let all = changes(0, 10).await;
    gate.reject(&a, "").await;
    let later = changes(BORN + 2, 10).await;
    let first = changes(0, 1).await;
    let from_the_future = changes(99, 10).await;

    assert_eq!(revisions(&all), [BORN + 1, BORN + 2]);
    assert_eq!(
        (all.at("/revision"), all.at("/more"), all.at("/complete")),
        ((BORN + 2).to_string(), "false".into(), "true".into())
    );
    assert_eq!(revisions(&later), [BORN + 3]);
    assert_eq!((later.at("/changes/0/id"), later.at("/changes/0/row/status")), (a, "rejected".into()));
    assert_eq!(
        (first.at("/changes/0/id"), first.at("/revision"), first.at("/more")),
        (b, (BORN + 2).to_string(), "true".into())
    );
    assert_eq!(
        (from_the_future.at("/complete"), from_the_future.at("/revision")),
        ("false".into(), (BORN + 3).to_string())
    );
}

#[tokio::test]
async fn wait_ends_with_the_decision_or_its_time() {
    let (_folder, gate) = plain().await;
    let id = gate.propose("t", "{}").await;
    let path = format!("/api/pending-actions/{id}");

    let over = gate.get(&format!("{path}?wait=1ms")).await;
    let until_decided = format!("{path}?wait=15s&until=decided");
    let (waited, rejected) = tokio::join!(gate.get(&until_decided), gate.reject(&id, ""));
    let unreadable = gate.get(&format!("{path}?wait=soon")).await;

    assert_eq!(over.at("/status"), "pending");
    assert_eq!((rejected.status, waited.at("/status").as_str()), (200, "rejected"));
    assert_eq!(unreadable.code(), (422, "INVALID".to_owned()));
}

#[tokio::test]
async fn timeline_lists_events_and_people() {
    let (_folder, gate) = with_tool(script("cat")).await;
    let id = gate.propose("t", "{}").await;
    gate.approve(&id, "").await;
    gate.until_final(&id).await;

    let timeline = gate.get(&format!("/api/pending-actions/{id}/events")).await.json();

    let items = timeline["items"].as_array().unwrap();
    let told: Vec<_> =
        items.iter().map(|item| (item["event"].as_str().unwrap(), item["by"].as_str())).collect();
    let want =
        [("created", Some("agent")), ("approved", Some("owner")), ("dispatched", None), ("executed", None)];
    assert_eq!(told, want);
}

#[tokio::test]
async fn tools_and_workspaces_are_listed() {
    let shape = PreviewShape { fields: vec!["n".to_owned()], ..PreviewShape::default() };
    let (_folder, gate) = with_tool(ToolConfig { preview: Some(shape), ..script("cat") }).await;

    let tools = gate.get("/api/tools").await;
    let workspaces = gate.get("/api/workspaces").await;

    let tool = ["toolName", "risk", "executor", "retry"].map(|name| tools.at(&format!("/items/0/{name}")));
    assert_eq!(tool, ["t", "medium", "command", "manual"]);
    assert!(
        tools.text.contains(r#""preview":{"fields":["n"],"items":null,"itemFields":[]}"#),
        "{}",
        tools.text
    );
    assert!(!tools.text.contains("/bin/sh"), "command lines are not disclosed");
    assert_eq!(workspaces.at("/items/0/id"), "w");
}

#[tokio::test]
async fn counts_cover_the_callers_workspace() {
    let (_folder, gate) = plain().await;
    for (tool, risk) in [("t", "low"), ("t", "critical"), ("u", "high"), ("t", "high")] {
        gate.propose_with(tool, "{}", &format!(r#","risk":"{risk}""#)).await;
    }
    let stranger = gate.gate.create_token("stranger", "elsewhere", &[Scope::Read], None).await.unwrap();

    let mine = gate.get("/api/pending-actions/counts").await;
    let theirs = answer(gate.request(Method::GET, "/api/pending-actions/counts", &stranger)).await;

    let counts = briefing::read_counts(&mine.text).unwrap();
    let tools: Vec<_> =
        counts.tools.iter().map(|tool| (tool.tool.as_raw(), tool.pending, tool.high)).collect();
    assert_eq!((counts.pending, counts.high, counts.oldest.is_some()), (4, 3, true));
    assert_eq!(tools, [("t", 3, 2), ("u", 1, 1)]);
    assert_eq!(briefing::read_counts(&theirs.text), Some(Outstanding::default()));
}

#[tokio::test]
async fn id_prefix_lists_only_matching_ids() {
    let (_folder, gate) = plain().await;
    let (first, second) = (gate.propose("t", "{}").await, gate.propose("t", "{}").await);
    gate.reject(&first, "").await;
    let common = first.chars().zip(second.chars()).take_while(|(a, b)| a == b).count();
    let of = async |prefix: &str| {
        let mut found = ids(&gate.list(&format!("&view=row&id_prefix={prefix}")).await);
        found.sort();
        found
    };

    let mut both = vec![first.clone(), second.clone()];
    both.sort();
    assert_eq!(of(&first).await, [first.as_str()]);
    assert_eq!(of(&first[..=common]).await, [first.as_str()], "settled actions, too");
    assert_eq!(of(&first[..common]).await, both);
    assert_eq!(of(&first[1..]).await, Vec::<String>::new());
    assert_eq!(of("%25").await, Vec::<String>::new(), "the prefix is not a pattern");
    assert_eq!(gate.gate.ids_beginning(&first[..common], 1).await.unwrap(), [both[0].as_str()]);
}
