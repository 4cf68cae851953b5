//! MCP 2026-07-28: each request names its protocol and client, there is no `initialize`, and ids may repeat.

use super::*;

const META: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"my-agent"},"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;
const TAIL: &str = r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"files-server","v":1.0}}"#;

fn call(id: &str, tool: &str, more: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{}}{more},"_meta":{{"progressToken":9,{META}}}}}}}"#
    )
}

fn running() -> Harness {
    let mut it = Harness::new("old-client");
    it.client(&call("1", "write", ""));
    it.queued(0);
    it.approved(0, "{}", false);
    it.done();
    it
}

fn read(line: &str) -> (bool, String, String) {
    let line: serde_json::Value = serde_json::from_str(line.strip_prefix("client ").unwrap()).unwrap();
    let result = &line["result"];
    assert_eq!(result["resultType"], "complete", "{line}");
    let disposition = &result["_meta"]["io.modelcontextprotocol/tool-approval-disposition"];
    let text = &result["content"][0]["text"];
    (
        result["isError"] == true,
        disposition.as_str().unwrap_or_default().to_owned(),
        text.as_str().unwrap().to_owned(),
    )
}

#[test]
fn answer_has_the_form_of_its_request() {
    let why = || "A human rejected this call: no. Do not repeat it unchanged.".to_owned();
    let denied = || Ok(Answer::Denied { why: why(), status: Status::Rejected });
    let mut it = Harness::new("old-client");
    it.client(WRITE);
    it.client(&call("2", "write", ""));
    assert_eq!(
        it.done(),
        [r#"ask 0 old-client/proxy/1 fs.write {"a": 1.0} 0"#, "ask 1 my-agent/proxy/2-1 fs.write {} 0"]
    );

    it.answered(0, denied());
    it.answered(1, denied());

    let new = r#"client {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[{"type":"text","text":"This call did not run. A human rejected it: no. Do not repeat it unchanged."}],"isError":true,"_meta":{"io.modelcontextprotocol/tool-approval-disposition":"denied-not-executed"}}}"#;
    assert_eq!(it.done(), [text(1, &why(), true), new.to_owned()]);
}

#[test]
fn outcome_begins_with_whether_the_call_ran() {
    let told = |answer: Result<Answer, String>| {
        let mut it = Harness::new("c");
        it.client(&call("1", "write", ""));
        it.done();
        it.answered(0, answer);
        read(&it.done()[0])
    };
    let denied = |why: &str, status| Ok(Answer::Denied { why: why.to_owned(), status });
    let not_run = "This call did not run. ";
    for (answer, is_error, disposition, words) in [
        (denied("Nobody decided.", Status::Expired), true, "denied-not-executed", not_run),
        (denied("It was withdrawn.", Status::Withdrawn), true, "denied-not-executed", not_run),
        (Ok(Answer::Waiting), false, "", not_run),
        (Err("No gate on this machine.".to_owned()), true, "", "This call did not run. No gate"),
        (Err("This call did not run. The gate x.".to_owned()), true, "", "This call did not run. The gate x"),
        (denied("This call ran already and …", Status::Executed), true, "approved-executed", "This call ran"),
        (
            denied("This call ran already and failed: x", Status::Failed),
            true,
            "execution-error",
            "This call ran",
        ),
        (denied("x", Status::Unknown), true, "outcome-unknown", "This call was started and nobody knows"),
        (denied("This call was not started: x.", Status::Approved), true, "", "This call was not started"),
    ] {
        let (was_error, was, said) = told(answer);
        assert_eq!((was_error, was.as_str()), (is_error, disposition), "{said}");
        assert!(said.starts_with(words), "{said}");
    }
}

#[test]
fn results_and_errors_of_the_server_are_completed() {
    let mut it = running();
    it.server(&format!(
        r#"{{"jsonrpc":"2.0","id":1073741824,"result":{{"content":[{{"type":"text","text":"ok"}}],"resultType":"complete",{TAIL}}}}}"#
    ));
    let told = r#"client {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"ok"}],"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"files-server","v":1.0},"io.modelcontextprotocol/tool-approval-disposition":"approved-executed"}}}"#;
    assert_eq!(it.done()[1], told);

    let mut it = running();
    it.server(r#"{"jsonrpc":"2.0","id":1073741824,"error":{"code":-32000,"message":"full"}}"#);
    let (reported, told) = (it.done.remove(0), it.done());
    assert!(matches!(reported, Effect::Report { outcome: RunOutcome::Error(why), .. } if why == "full"));
    let refused = (true, "execution-error".to_owned(), "The server refused this call: full".to_owned());
    assert_eq!(read(&told[0]), refused);

    let mut it = running();
    it.server(r#"{"jsonrpc":"2.0","id":1073741824,"error":{"code":-32021,"message":"tasks"}}"#);
    assert!(read(&it.done()[1]).2.starts_with("This call did not run. "));
}

#[test]
fn unfinished_result_is_reported_as_error() {
    for result in [
        r#"{"resultType":"input_required","inputRequests":{},"requestState":"s"}"#,
        r#"{"resultType":"task","taskId":"t","status":"working"}"#,
        r#"{"resultType":"later","content":[]}"#,
        r#"{"resultType":"complete","resultType":"task","content":[]}"#,
        r#"{"resultType":7,"content":[]}"#,
        r#"{"task":{"taskId":"t","status":"working"}}"#,
        "7",
        "null",
    ] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":1073741824,"result":{result}}}"#);
        let mut it = running();
        it.server(&line);
        let done = it.done();
        assert!(done[0].starts_with("report action-0 7 error: "), "{result}: {done:?}");
        assert!(done[0].ends_with("The call may have run."), "{done:?}");
        let (is_error, disposition, said) = read(&done[1]);
        assert!(is_error && disposition == "outcome-unknown" && said.contains("nobody knows"), "{said}");

        let mut old = Harness::new("c");
        old.client(WRITE);
        old.queued(0);
        old.approved(0, "{}", false);
        old.done();
        old.server(&line);
        let done = old.done();
        assert!(done[0].starts_with("report action-0 7 error: "), "{result}: {done:?}");
        assert!(done[1].contains(r#""error":{"code":-32603,"message":"The MCP server"#), "{done:?}");
    }
}

#[test]
fn client_that_asked_for_a_task_gets_it() {
    let mut old = Harness::new("c");
    old.client(&WRITE.replace(r#""name":"write""#, r#""name":"write","task":{"ttl":1}"#));
    old.queued(0);
    old.approved(0, "{}", false);
    old.done();

    old.server(r#"{"jsonrpc":"2.0","id":1073741824,"result":{"task":{"taskId":"t"}}}"#);

    let done = old.done();
    assert!(done[0].starts_with("report action-0 7 error: "), "{done:?}");
    assert!(done[1].contains(r#""result":{"task":{"taskId":"t"}"#), "{done:?}");
}

#[test]
fn answer_with_float_or_text_id_is_recognized() {
    for id in ["1073741824.0", "1.073741824E9", r#""1073741824""#] {
        let mut it = Harness::new("c");
        it.client(WRITE);
        it.queued(0);
        it.approved(0, "{}", false);
        it.done();
        it.server(&WROTE.replace("1073741824", id));
        let done = it.done();
        assert!(done[0].starts_with("report action-0 7 {"), "{id}: {done:?}");
        assert!(
            done[1].starts_with(r#"client {"jsonrpc":"2.0","id":1,"#) && done.len() == 2,
            "{id}: {done:?}"
        );
    }
}

#[test]
fn repeated_call_with_an_answer_does_not_run() {
    for more in [r#","requestState":"s""#, r#","inputResponses":{}"#] {
        let mut it = Harness::new("c");
        it.client(&call("1", "write", more));
        let done = it.done();
        assert!(done.len() == 1 && read(&done[0]).2.starts_with("This call asked back before"), "{done:?}");
        it.client(&call("1", "read", more));
        assert!(it.done()[0].starts_with("server "), "an open tool may answer questions");
    }
}

#[test]
fn gated_calls_do_not_offer_tasks_to_the_server() {
    let mut it = Harness::new("c");
    it.client(&call("1", "write", ""));
    it.queued(0);
    it.done();
    it.approved(0, "{}", false);
    let sent = call("1073741824", "write", "").replace(r#""io.modelcontextprotocol/tasks":{}"#, "");
    assert_eq!(it.done(), [format!("server {sent}")]);

    it.client(&call("2", "read", ""));
    assert_eq!(it.done(), [format!("server {}", call("2", "read", ""))]);
}

#[test]
fn answered_id_may_repeat() {
    let mut it = running();
    it.server(r#"{"jsonrpc":"2.0","id":1073741824,"result":{"content":[]}}"#);
    it.done();

    it.client(&call("1", "write", ""));

    assert_eq!(it.done(), ["ask 1 my-agent/proxy/1-2 fs.write {} 0"]);
}

#[test]
fn upstream_ids_have_the_clients_type() {
    let mut it = Harness::new("c");
    it.client(&call("\"x\"", "write", ""));
    it.queued(0);
    it.done();
    it.approved(0, "{}", false);
    assert!(it.done()[0].contains(r#""id":"proxy-1""#));

    let mut it = running();
    it.client(r#"{"jsonrpc":"2.0","id":1073741824,"method":"ping"}"#);
    assert!(it.done()[0].contains("This id is placet's own."));
    it.client(r#"{"jsonrpc":"2.0","id":1073741825,"method":"ping"}"#);
    it.client(&call("2", "write", ""));
    it.queued(1);
    it.done();
    it.approved(1, "{}", false);
    assert!(it.done()[0].contains(r#""id":1073741826,"#));
}

#[test]
fn first_call_looks_up_tools_and_name() {
    let tools = Tools::new(None, std::iter::empty::<(String, McpTools)>().collect());
    let session = Session::new(tools, Wait::Auto, "proxy".to_owned(), 1 << 30);
    let mut it = Harness { session, now: Instant::now(), done: Vec::new() };

    it.client(&call("1", "write", ""));
    it.client(&call("2", "read", ""));
    let list = |id: u32, cursor: &str| {
        format!(
            r#"server {{"jsonrpc":"2.0","id":{id},"method":"tools/list","params":{{{cursor}"_meta":{{{META}}}}}}}"#
        )
    };
    assert_eq!(it.done(), [list(1_073_741_824, "")]);
    it.server(r#"{"jsonrpc":"2.0","id":1073741824,"result":{"tools":[{"name":"write"}],"nextCursor":""}}"#);
    assert_eq!(it.done(), [list(1_073_741_825, r#""cursor":"","#)]);
    it.server(
        r#"{"jsonrpc":"2.0","id":1073741825,"result":{"tools":[{"name":"read","annotations":{"readOnlyHint":true}}]}}"#,
    );
    let discover = format!(
        r#"server {{"jsonrpc":"2.0","id":1073741826,"method":"server/discover","params":{{"_meta":{{{META}}}}}}}"#
    );
    assert_eq!(it.done(), [discover]);
    it.server(&format!(r#"{{"jsonrpc":"2.0","id":1073741826,"result":{{"resultType":"complete",{TAIL}}}}}"#));
    assert_eq!(
        it.done(),
        ["ask 0 my-agent/proxy/1-1 files.write {} 0".to_owned(), format!("server {}", call("2", "read", "")),]
    );

    it.client(&call("3", "unlisted", ""));
    assert_eq!(it.done(), [list(1_073_741_827, "")]);
    it.server(r#"{"jsonrpc":"2.0","id":1073741827,"error":{"code":-32601,"message":"no"}}"#);
    assert_eq!(
        it.done(),
        ["ask 2 my-agent/proxy/3-2 files.unlisted {} 0"],
        "the name is not asked for again"
    );
}

#[test]
fn silent_server_delays_a_call_five_seconds() {
    let mut it = Harness::bare(Wait::Auto);
    it.client(&call("1", "write", ""));
    it.client(&call("2", "write", ""));
    it.client(&CANCEL.replace('1', "2"));
    it.done();
    it.tick(4 * SECOND);
    assert_eq!(it.done(), [""; 0]);

    it.tick(SECOND);

    let asked: Vec<_> = it.done().into_iter().filter(|done| done.starts_with("ask ")).collect();
    assert_eq!(asked, ["ask 0 my-agent/proxy/1-1 fs.write {} 0"], "the other call was cancelled");
    it.client(&call("3", "write", ""));
    it.done();
    it.session.server_ended();
    it.take();
    let done = it.done();
    assert!(
        done.iter().filter(|done| done.contains("This call did not run. The MCP server ended.")).count() == 2,
        "{done:?}"
    );
}

#[test]
fn held_call_ends_with_its_client() {
    let mut it = Harness::bare(Wait::Auto);
    it.client(&call("1", "write", ""));
    it.done();

    it.session.client_ended();
    it.take();

    assert!(it.done().is_empty() && !it.session.is_busy());
    it.server(r#"{"jsonrpc":"2.0","id":1073741824,"result":{"tools":[]}}"#);
    assert_eq!(it.done(), [""; 0]);
}

#[test]
fn server_name_comes_from_any_new_result() {
    let tools = Tools::new(None, std::iter::empty::<(String, McpTools)>().collect());
    let session = Session::new(tools, Wait::Auto, "proxy".to_owned(), 1 << 30);
    let mut it = Harness { session, now: Instant::now(), done: Vec::new() };
    it.client(&format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{"_meta":{{{META}}}}}}}"#
    ));
    it.server(&format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{{"name":"write"}}],{TAIL}}}}}"#));
    it.done();

    it.client(&call("2", "write", ""));
    assert_eq!(it.done(), ["ask 0 my-agent/proxy/2-1 files.write {} 0"]);
    it.answered(0, Err("No gate.".to_owned()));
    assert!(it.done()[0].contains(TAIL.strip_prefix(r#""_meta":{"#).unwrap().strip_suffix('}').unwrap()));
}

#[test]
fn progress_grows_over_the_whole_call() {
    let mut it = Harness::new("c");
    it.client(WRITE);
    it.queued(0);
    it.tick(15 * SECOND);
    it.done();
    it.approved(0, "{}", false);
    it.done();
    let progress = |token: &str, numbers: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},{numbers},"message":"m"}}}}"#
        )
    };

    it.server(&progress("5", r#""progress":1,"total":3"#));
    it.server(&progress("5", r#""progress":1.5,"total":null"#));
    it.server(&progress("6", r#""progress":1"#));

    let want = [
        progress("5", r#""progress":4,"total":6"#),
        progress("5", r#""progress":4.5,"total":null"#),
        progress("6", r#""progress":1"#),
    ];
    assert_eq!(it.done(), want.map(|line| format!("client {line}")));
    it.server(WROTE);
    it.done();
    it.server(&progress("5", r#""progress":2"#));
    assert_eq!(it.done(), [""; 0], "progress after the answer is dropped");
    it.client(&WRITE.replace("\"write\"", "\"read\""));
    it.done();
    it.server(&progress("5", r#""progress":1"#));
    assert_eq!(it.done().len(), 1, "the token is in use again");
}

#[test]
fn progress_of_a_parked_call_reaches_its_question() {
    let mut it = Harness::new("codex");
    it.client(WRITE);
    it.queued(0);
    it.answered(0, Ok(Answer::Waiting));
    it.client(&result_asked(2).replace("\"params\":{", "\"params\":{\"_meta\":{\"progressToken\":\"t\"},"));
    it.approved(0, "{}", false);
    it.done();

    it.server(
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":5,"progress":1}}"#,
    );

    let want = r#"client {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}"#;
    assert_eq!(it.done(), [want]);
}

#[test]
fn unreadable_answers_end_their_call() {
    let deep = "[".repeat(600) + &"]".repeat(600);
    for line in [
        format!(r#"{{"jsonrpc":"2.0","id":1073741824,"result":{deep}}}"#),
        format!(r#"{{"jsonrpc":"2.0","result":{deep},"id":1073741824}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":1073741824,"error":{deep}}}"#),
        r#"{"jsonrpc":"2.0","id":1073741824,"result":{"content":[}"#.to_owned(),
    ] {
        let mut it = running();
        it.server(&line);
        let done = it.done();
        assert_eq!(done[0], format!("report action-0 7 error: {}", answers::UNREADABLE));
        assert_eq!(read(&done[1]).1, "outcome-unknown");
    }
}

#[test]
fn lines_that_only_hold_the_id_end_no_call() {
    let mut it = running();
    for line in [
        "INFO handling request 1073741824 now",
        "1073741824",
        r#"{"level":"info","id":1073741824,"msg":"handling"}"#,
        r#"{"level":"info","msg":"handling 1073741824"#,
        r#"{"id":1073741824,"msg":"a"#,
        r#"{"id":"x","result":{"for":1073741824}"#,
        r#"["id",1073741824]"#,
    ] {
        it.server(line);
        assert_eq!(it.done(), [format!("client {line}")]);
    }

    it.server(&format!("\u{feff}{WROTE}"));

    let done = it.done();
    assert_eq!(done[0], format!("report action-0 7 {}", result_of(WROTE)));
    assert_eq!(read(&done[1]), (false, "approved-executed".to_owned(), "ok".to_owned()));
}

#[test]
fn answer_among_other_text_ends_its_call() {
    let answer = r#"{"jsonrpc": "2.0", "id": 1073741824, "result": {"content": []}}"#;
    for line in [format!("Loading… {answer}"), format!("[{answer}]"), format!("{answer}{answer}")] {
        let mut it = running();
        it.server(&line);
        let done = it.done();
        assert!(!done.is_empty() && !done.contains(&format!("client {line}")), "{done:?}");
    }
}

fn result_of(line: &str) -> &str {
    line.split_once(r#""result":"#).unwrap().1.strip_suffix('}').unwrap()
}

#[test]
fn deep_results_keep_their_outcome() {
    let deep = "[".repeat(600) + &"]".repeat(600);
    for (is_error, disposition) in [(false, "approved-executed"), (true, "execution-error")] {
        let mut it = running();
        it.server(&format!(
            r#"{{"jsonrpc":"2.0","id":1073741824,"result":{{"structuredContent":{deep},"isError":{is_error}}}}}"#
        ));
        let done = it.done();
        assert_eq!(done[0].starts_with("report action-0 7 error: "), is_error, "{done:?}");
        assert!(done[0].contains("512 levels deep"), "{done:?}");
        assert_eq!(read(&done[1]).1, disposition);
    }
}

#[test]
fn odd_values_do_not_change_an_outcome() {
    let mut it = running();
    let odd = r#"{"jsonrpc":"2.0","id":1073741824,"result":{"content":[{"type":"text","text":"x\ud800"}],"structuredContent":{"a":NaN}}}"#;
    it.server(odd);
    let done = it.done();
    assert_eq!(
        done[0],
        "report action-0 7 {\"content\":[{\"type\":\"text\",\"text\":\"x\u{fffd}\"}],\"structuredContent\":{\"a\":\"NaN\"}}"
    );
    assert!(done[1].contains("approved-executed"), "{done:?}");

    let mut it = running();
    it.session.server_said(b"{\"jsonrpc\":\"2.0\",\"id\":1073741824,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"\xff\"}]}}");
    it.take();
    assert!(it.done()[0].starts_with("report action-0 7 {\"content\""));

    let mut it = running();
    it.server(r#"{"jsonrpc":"2.0","id":1073741824,"error":{"code":1,"message":"bad\udc00"}}"#);
    assert_eq!(it.done()[0], "report action-0 7 error: bad\u{fffd}");
}

#[test]
fn result_tool_is_listed_on_the_first_page() {
    let mut it = Harness::new("c");
    let page = |it: &mut Harness, params: &str| {
        it.client(&format!(r#"{{"jsonrpc":"2.0","id":3,"method":"tools/list"{params}}}"#));
        it.done();
        it.server(r#"{"jsonrpc":"2.0","id":3,"result":{"tools":[],"nextCursor":""}}"#);
        it.done()[0].contains("placet_result")
    };

    assert!(page(&mut it, ""));
    assert!(page(&mut it, r#","params":{"cursor":null}"#));
    assert!(!page(&mut it, r#","params":{"cursor":""}"#));
}

#[test]
fn ambiguous_new_parameters_are_refused() {
    let mut it = Harness::new("c");
    for more in [
        r#","_meta":{}"#,
        r#","_Meta":{}"#,
        r#","requestState":"a","requestState":"b""#,
        r#","input_responses":{}"#,
    ] {
        it.client(&call("1", "write", more));
        let done = it.done();
        assert!(done.len() == 1 && done[0].contains("can be read in two ways"), "{more}: {done:?}");
    }
}
