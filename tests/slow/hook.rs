//! `placet hook` as a process: events in each client's format, against a real gate. `tests/reach` tests the clients.

use std::io::Write as _;
use std::process::{Child, Output, Stdio};

use placet::for_tests::Fields;

use super::support::agent::{approve, get, request, status};
use super::support::gate::Gate;
use super::support::home::Home;
use super::support::{ended, eventually};

const CONFIG: &str = "[gate]\nlisten = \"127.0.0.1:0\"\n";
const INPUT: &str = r#"{ "command": "echo 1",  "n": 1.10 }"#;

/// Returns an event of Claude Code; `more` are further members.
fn claude(event: &str, id: &str, more: &str) -> String {
    format!(
        r#"{{"session_id":"s1","cwd":"/","hook_event_name":"{event}","tool_name":"Bash","tool_input":{INPUT},"tool_use_id":"{id}"{more}}}"#
    )
}

fn begun(home: &Home, args: &[&str], event: &str) -> Child {
    let mut command = home.command(&["hook"]);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A hook that refuses early does not read all its input.
    drop(child.stdin.take().unwrap().write_all(event.as_bytes()));
    child
}

fn hook(home: &Home, args: &[&str], event: &str) -> Output {
    ended(begun(home, args, event))
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn blocks(output: &Output) -> String {
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!((output.status.code(), out(output).as_str()), (Some(2), ""), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    said
}

fn pending(gate: &Gate) -> String {
    let owner = &gate.address.owner_token;
    eventually("a proposal", || {
        let reply = request(&gate.address, owner, "GET", "/api/pending-actions?status=pending", "");
        let text = reply.body;
        let from = text.find(r#""id":""#)? + 6;
        Some(text[from..].split('"').next().unwrap().to_owned())
    })
}

#[test]
fn approved_bytes_and_reported_bytes_are_exact() {
    let home = Home::with_config(CONFIG);
    let gate = Gate::serve(&home, &[]);
    let asks = begun(&home, &[], &claude("PreToolUse", "t1", ""));
    let id = pending(&gate);
    assert!(get(&gate.address, &id).body.contains(INPUT));
    let path = format!("/api/pending-actions/{id}/approve");
    let edits = r#"{"userEdits":{"command":"echo 2"}}"#;
    request(&gate.address, &gate.address.owner_token, "POST", &path, edits);

    let answer = out(&ended(asks));

    assert!(answer.contains(r#""permissionDecision":"allow""#), "{answer}");
    assert!(answer.contains(r#""updatedInput":{ "command": "echo 2",  "n": 1.10 }"#), "{answer}");
    // A running call is reported as approved.
    assert_eq!(status(&gate.address, &id), "approved");
    let response = r#"{ "stdout":"2",  "n": 1.10 }"#;
    let ran =
        claude("PostToolUse", "t1", &format!(r#","tool_response":{response}"#)).replace("echo 1", "echo 2");
    let told = hook(&home, &[], &ran);
    assert!(told.status.success() && told.stdout.is_empty(), "{told:?}");
    assert!(get(&gate.address, &id).body.contains(&format!(r#""result":{response}"#)));
    assert_eq!(status(&gate.address, &id), "executed");
}

#[test]
fn same_call_again_is_denied_with_its_result() {
    let home = Home::with_config(CONFIG);
    let gate = Gate::serve(&home, &[]);
    let asks = begun(&home, &[], &claude("PreToolUse", "t1", ""));
    let id = pending(&gate);
    approve(&gate.address, &id);
    ended(asks);
    let running = out(&hook(&home, &[], &claude("PreToolUse", "t1", "")));
    assert!(
        running.contains(r#""permissionDecision":"deny""#) && running.contains("is being run"),
        "{running}"
    );
    hook(&home, &[], &claude("PostToolUse", "t1", r#","tool_response":"done""#));

    let again = out(&hook(&home, &[], &claude("PreToolUse", "t1", "")));

    assert!(again.contains(r#""permissionDecision":"deny""#), "{again}");
    assert!(again.contains("ran already and was not run again. Its result: done"), "{again}");
    assert!(status(&gate.address, &id) == "executed");
}

/// Proposes a call and approves it. Returns its id when the client may run it.
fn claimed(home: &Home, gate: &Gate, call: &str) -> String {
    let asks = begun(home, &[], &claude("PreToolUse", call, ""));
    let id = pending(gate);
    approve(&gate.address, &id);
    assert!(out(&ended(asks)).contains(r#""permissionDecision":"allow""#));
    id
}

#[test]
fn other_input_that_ran_is_recorded_and_reported() {
    let home = Home::with_config(CONFIG);
    let gate = Gate::serve(&home, &[]);
    for (nth, (event, more)) in
        [("PostToolUse", r#","tool_response":"2""#), ("PostToolUseFailure", r#","error":"no""#)]
            .into_iter()
            .enumerate()
    {
        let call = format!("t{nth}");
        let id = claimed(&home, &gate, &call);

        let told = hook(&home, &[], &claude(event, &call, more).replace("echo 1", "rm 1"));

        assert!(blocks(&told).contains("Something else ran than what was approved"), "{told:?}");
        assert_eq!(status(&gate.address, &id), "failed");
        let kept = get(&gate.address, &id).body;
        assert!(kept.contains(r#""error":"something else ran than what was approved""#), "{kept}");
        assert!(kept.contains(&format!(r#""effectiveInput":{INPUT}"#)), "{kept}");
        assert!(kept.contains(r#""result":{"ranInput":{ "command": "rm 1",  "n": 1.10 },"#), "{kept}");
    }
}

#[test]
fn outcome_over_16_mib_is_kept_without_its_text() {
    let home = Home::with_config(CONFIG);
    let gate = Gate::serve(&home, &[]);
    let long = "x".repeat(17 << 20);
    for (nth, (event, member, ended, kept)) in [
        ("PostToolUse", "tool_response", "executed", "it is longer than 16 MiB"),
        ("PostToolUseFailure", "error", "failed", "xxx"),
    ]
    .into_iter()
    .enumerate()
    {
        let call = format!("t{nth}");
        let id = claimed(&home, &gate, &call);

        let told = hook(&home, &[], &claude(event, &call, &format!(r#","{member}":"{long}""#)));

        assert!(told.status.success(), "{told:?}");
        assert_eq!(status(&gate.address, &id), ended);
        assert!(get(&gate.address, &id).body.contains(kept));
    }
}

#[test]
fn event_is_answered_while_its_input_stays_open() {
    let home = Home::with_config(CONFIG);
    let gate = Gate::serve(&home, &[]);
    let mut command = home.command(&["hook"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut asks = command.spawn().unwrap();
    let mut input = asks.stdin.take().unwrap();
    input.write_all(claude("PreToolUse", "t1", "").as_bytes()).unwrap();
    input.flush().unwrap();

    approve(&gate.address, &pending(&gate));

    assert!(out(&ended(asks)).contains(r#""permissionDecision":"allow""#));
    drop(input);
}

#[test]
fn call_without_an_id_is_reported_by_what_ran() {
    let home = Home::with_config(CONFIG);
    let gate = Gate::serve(&home, &[]);
    let event = |name: &str, more: &str| {
        claude(name, "", more)
            .replace(r#","tool_use_id":"""#, "")
            .replace("1.10", if more.is_empty() { "1.10" } else { "1.1" })
    };
    let asks = begun(&home, &["--client", "gemini"], &event("BeforeTool", ""));
    let id = pending(&gate);
    approve(&gate.address, &id);
    assert_eq!(out(&ended(asks)).trim(), r#"{"decision":"allow"}"#);

    let told =
        hook(&home, &["--client", "gemini"], &event("AfterTool", r#","tool_response":{"llmContent":"1"}"#));

    assert!(told.status.success(), "{told:?}");
    assert_eq!(status(&gate.address, &id), "executed");
}

#[test]
fn undecided_call_is_withdrawn_and_denied_even_with_defer() {
    let home = Home::with_config(CONFIG);
    let gate = Gate::serve(&home, &[]);
    // There is no evidence that Claude Code obeys `defer`, so `--defer` denies, too.
    for (nth, args) in [&["--wait", "1s"][..], &["--wait", "1s", "--defer"]].into_iter().enumerate() {
        let asks = begun(&home, args, &claude("PreToolUse", &format!("t{nth}"), ""));
        let id = pending(&gate);

        let answer = out(&ended(asks));

        assert!(answer.contains(r#""permissionDecision":"deny""#), "{answer}");
        assert!(answer.contains("Nobody decided within 1 s. The call did not run."), "{answer}");
        assert_eq!(status(&gate.address, &id), "withdrawn");
    }
}

#[test]
fn call_that_takes_too_long_to_judge_is_blocked() {
    let home = Home::with_config(CONFIG);
    // Each shell on a level parses the whole level below, so the work multiplies.
    let shells = "bash ".repeat(40);
    let nested = |line: String, _| format!("{shells}-c '{}'", line.replace('\'', r"'\''"));
    let line = (0..7).fold("a b".to_owned(), nested).replace('\\', r"\\");

    let said = blocks(&hook(&home, &[], &claude("PreToolUse", "t1", "").replace("echo 1", &line)));

    assert!(said.contains("takes too long to judge"), "{said}");
}

#[test]
fn every_fault_blocks_with_one_sentence() {
    let home = Home::with_config(CONFIG);
    let asks = claude("PreToolUse", "t1", "");
    assert!(blocks(&hook(&home, &[], &asks)).contains("No gate on this machine. Start `placet`."));

    let gate = Gate::serve(&home, &[]);
    for (event, why) in [
        (String::new(), "no JSON"),
        ("null".to_owned(), "no JSON"),
        (r#"{"hook_event_name":"Stop"}"#.to_owned(), "does not know the event"),
        (asks.replace(INPUT, "[1]"), "must be a JSON object"),
        (asks.replace("Bash", &"B".repeat(300)), "characters"),
        (asks.replace("echo 1", &"x".repeat(17 << 20)), "more than 16 MiB"),
        (claude("PostToolUse", "t9", r#","tool_response":1"#), "ran without placet"),
    ] {
        assert!(blocks(&hook(&home, &[], &event)).contains(why), "{why}");
    }
    for args in [["--client", "codex", "--defer"].as_slice(), &["--wait", "2"], &["--wait", "48h"]] {
        blocks(&hook(&home, args, &asks));
    }
    let mut command = home.command(&["hook"]);
    command.env("PLACET_URL", &gate.address.url).env("PLACET_TOKEN", "wrong");
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(asks.as_bytes()).unwrap();
    assert!(blocks(&ended(child)).contains("asks for a valid token"));
    let owner = &gate.address.owner_token;
    let list = request(&gate.address, owner, "GET", "/api/pending-actions?status=pending", "").body;
    assert!(Fields::of(&list).is_some_and(|fields| fields.raw("items") == Some("[]")), "{list}");
}
