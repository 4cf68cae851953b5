//! Every `--json` output matches `placet schema`.

use std::path::Path;
use std::process::Output;

use jsonschema::Validator;
use serde_json::Value;

use super::support::agent;
use super::support::gate::Gate;
use super::support::home::{Home, WRITE_FILE};
use super::support::team;

const INPUT: &str = r#"{"title":"from a shell","price":1.10}"#;

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn checked(home: &Home, command: &str, args: &[&str]) -> Vec<Value> {
    let words: Vec<&str> = command.split(' ').collect();
    let schema = stdout(&home.run(&[&["schema"], &words[..]].concat()));
    let schema: Validator = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    let output = home.run(&[&words[..], args].concat());
    let said = stdout(&output) + &String::from_utf8_lossy(&output.stderr);
    let lines: Vec<Value> = stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(!lines.is_empty(), "{command} {args:?}: {said}");
    for line in &lines {
        let wrong: Vec<String> =
            schema.iter_errors(line).map(|error| format!("{error} at {}", error.instance_path())).collect();
        assert!(wrong.is_empty(), "{command} {args:?}: {wrong:?}\n{line}");
    }
    lines
}

fn propose(gate: &Gate, title: &str) -> String {
    let body = serde_json::json!({
        "toolName": "write_note", "toolInput": {"title": title}, "workspaceId": "default", "missionId": "m",
        "agent": "writer", "summary": "a note", "ttlSeconds": 3600, "title": title,
    });
    agent::propose(&gate.address, &body.to_string())
}

fn write(path: &Path, text: &str) -> String {
    std::fs::write(path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Returns an action's digest, which approving a flagged action needs.
fn digest_of<'a>(listed: &'a Value, id: &str, of: usize) -> &'a Value {
    let items = listed["items"].as_array().unwrap();
    assert_eq!(items.len(), of);
    &items.iter().find(|item| item["id"] == id).unwrap()["digest"]
}

#[test]
fn commands_match_their_schemas() {
    let gate_home = Home::with_config(WRITE_FILE);
    let gate = Gate::serve(&gate_home, &[]);
    let home = Home::with_config(&format!(
        "{}[[source]]\nname = \"away\"\nkind = \"gate\"\nurl = \"http://127.0.0.1:9\"\n",
        team(&gate, &gate_home)
    ));
    let ids: Vec<String> = (0..5).map(|n| propose(&gate, &format!("note {n}\u{1b}[2J"))).collect();

    let listed = checked(&home, "list", &["--json"]);
    assert!(listed[0]["problems"][0].as_str().unwrap().starts_with("away"), "{listed:?}");
    let limited = checked(&home, "list", &["--json", "--limit", "2", "--sort", "age", "risk:<=medium"]);
    assert_eq!((&limited[0]["more"], limited[0]["items"].as_array().unwrap().len()), (&Value::Bool(true), 2));
    assert_eq!(limited[0]["items"][0]["id"], ids[0].as_str());
    assert_eq!(checked(&home, "show", &["--json", &ids[0], &ids[1]]).len(), 2);

    let digest = digest_of(&listed[0], &ids[0], 5);
    let decisions = write(
        &home.path().join("decisions.ndjson"),
        &format!(
            "{{\"id\":\"{}\",\"decision\":\"approve\",\"digest\":{digest},\"userEdits\":{{\"title\":\"x\"}}}}\n\
             {{\"id\":\"{}\",\"decision\":\"reject\",\"reason\":\"no\"}}\n",
            ids[0], ids[1]
        ),
    );
    let wrong = write(
        &home.path().join("wrong.json"),
        &format!(
            r#"[{{"id":"{}","decision":"approve","digest":"sha256:{}"}},{{"id":"nobody","decision":"approve"}}]"#,
            ids[2],
            "0".repeat(64)
        ),
    );
    let dry = checked(&home, "decide", &["--from", &decisions, "--dry-run", "--json", "--source", "team"]);
    assert_eq!(dry[0]["wouldSend"], true, "{dry:?}");
    let item = &dry[0]["batches"][0]["items"][0];
    assert!(item["digest"] != item["effectiveDigest"] || item["decision"] == "reject", "{item}");
    let refused = checked(&home, "decide", &["--from", &wrong, "--dry-run", "--json"]);
    assert_eq!(
        (&refused[0]["wouldSend"], refused[0]["refused"].as_array().unwrap().len()),
        (&Value::Bool(false), 1)
    );
    assert_eq!(refused[0]["missing"].as_array().unwrap().len(), 1, "{refused:?}");
    assert_eq!(checked(&home, "list", &["--json"])[0]["items"].as_array().unwrap().len(), 5);

    let decided = checked(&home, "decide", &["--from", &decisions, "--follow", "--json", "--source", "team"]);
    assert_eq!((&decided[0]["approved"], &decided[0]["rejected"]), (&1.into(), &1.into()));
    let late = checked(&home, "decide", &["--approve", &ids[1], "--dry-run", "--json"]);
    assert_eq!(
        (&late[0]["wouldSend"], &late[0]["skipped"][0]["resolvedBy"]),
        (&Value::Bool(false), &"owner".into())
    );
    let over = checked(&home, "list", &["--json", "--status", "executed,rejected"]);
    assert_eq!(over[0]["items"].as_array().unwrap().len(), 2, "{over:?}");

    let log = checked(&home, "log", &["--json"]);
    assert_eq!(log[0]["items"].as_array().unwrap().len(), 2);
    let submission = log[0]["items"][0]["submission"].as_str().unwrap().to_owned();
    let report = checked(&home, "log report", &[&submission, "--json"]);
    assert_eq!((&report[0]["approved"], &report[0]["submission"]), (&1.into(), &submission.as_str().into()));
    assert_eq!(report, checked(&home, "log report", &["last", "--json"]));
    checked(&home, "log verify", &["--json"]);
    assert!(checked(&home, "log export", &[]).len() >= 4);
    let doctor = checked(&home, "doctor", &["--json"]);
    assert_eq!(doctor[0]["version"], 1);
}

/// The report of a shift is only available where decisions were made.
#[test]
fn claims_and_shift_reports_match_their_schemas() {
    let gate_home = Home::with_config(WRITE_FILE);
    let gate = Gate::serve(&gate_home, &[]);
    let away = "[[source]]\nname = \"away\"\nkind = \"gate\"\nurl = \"http://127.0.0.1:9\"\n";
    let home = Home::with_config(&format!("{}{away}", team(&gate, &gate_home)));
    let ids: Vec<String> = (0..3).map(|n| propose(&gate, &format!("note {n}"))).collect();
    home.run(&["decide", "--reject", &ids[2], "--source", "team"]);

    let claimed = checked(&home, "claim", &["--json", &ids[0], &ids[1]]);
    assert_eq!((claimed.len(), &claimed[0]["outcome"]), (2, &"claimed".into()));
    assert_eq!(checked(&home, "claim", &["--json", "--end", &ids[1]])[0]["outcome"], "ended");
    let shift = checked(&home, "log shift", &["--json"]);
    assert_eq!(shift[0]["handedOver"]["claimed"][0]["id"], ids[0].as_str(), "{shift:?}");
    assert_eq!(shift[0]["handedOver"]["problems"].as_array().map(Vec::len), Some(1), "away does not answer");
}

#[test]
fn board_matches_its_schema() {
    let gate_home = Home::with_config(WRITE_FILE);
    let gate = Gate::serve(&gate_home, &[]);
    let away = "[[source]]\nname = \"away\"\nkind = \"gate\"\nurl = \"http://127.0.0.1:9\"\n";
    let home = Home::with_config(&format!(
        "{}{away}[watch]\nreviewers = true\ngroups = true\n",
        team(&gate, &gate_home)
    ));
    let decided = propose(&gate, "one");
    propose(&gate, "two");
    home.run(&["decide", "--approve", &decided]);

    let board = checked(&home, "watch", &["--once", "--json"]);

    assert_eq!((&board[0]["complete"], &board[0]["total"]["pending"]), (&Value::Bool(false), &1.into()));
    assert_eq!(board[0]["reviewers"][0]["subject"], "owner", "{board:?}");
    assert_eq!((&board[0]["groups"][0]["approved"], board[0]["groups"][0].get("group")), (&1.into(), None));
}

#[test]
fn gate_commands_match_their_schemas() {
    let home = Home::with_config(WRITE_FILE);
    let gate = Gate::serve(&home, &[]);
    let input = write(&home.path().join("input.json"), INPUT);
    let token = home.state().join("agent.token");
    let url = gate.address.url.clone();
    let args =
        ["write_note", "--input", &input, "--url", &url, "--token-file", token.to_str().unwrap(), "--json"];

    let queued = checked(&home, "propose", &args);
    assert_eq!(queued[0]["status"], "queued");
    let waited = checked(&home, "propose", &[&args[..], &["--wait", "1"]].concat());
    assert_eq!((&waited[0]["status"], &waited[1]["status"]), (&"queued".into(), &"pending".into()));
    assert_eq!(waited[0]["pending_action_id"], waited[1]["pendingActionId"]);
    assert!(checked(&home, "gate token list", &["--json"]).len() >= 2);
    assert_eq!(checked(&home, "gate audit verify", &["--json"])[0]["ok"], true);
    checked(&home, "gate audit head", &[]);
}

#[test]
fn unknown_member_fails_the_check() {
    let home = Home::with_config("");
    let schema = stdout(&home.run(&["schema", "log", "verify"]));
    let schema = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    let mut verified = serde_json::json!({
        "version": 1, "ok": true, "receipts": 0, "decisions": 0, "problem": null, "at": null,
        "seq": null, "hash": null,
    });
    assert!(schema.is_valid(&verified));

    verified["news"] = true.into();

    assert!(!schema.is_valid(&verified));
}
