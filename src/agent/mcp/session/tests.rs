use super::*;
use crate::config::McpTools;
use crate::domain::Status;

mod new_protocol;

const SECOND: Duration = Duration::from_secs(1);

/// A client with a server `fs` that has a read-only tool `read` and a tool `write`.
struct Harness {
    session: Session,
    now: Instant,
    done: Vec<Effect>,
}

impl Harness {
    fn bare(wait: Wait) -> Self {
        let tools = Tools::new(Some("fs".to_owned()), std::iter::empty::<(String, McpTools)>().collect());
        let session = Session::new(tools, wait, "proxy".to_owned(), 1 << 30);
        Self { session, now: Instant::now(), done: Vec::new() }
    }

    fn new(client: &str) -> Self {
        let mut it = Self::bare(Wait::Auto);
        it.client(&format!(
            r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"clientInfo":{{"name":"{client}"}}}}}}"#
        ));
        it.server(r#"{"jsonrpc":"2.0","id":0,"result":{"serverInfo":{"name":"other"}}}"#);
        it.client(r#"{"jsonrpc":"2.0","id":"l","method":"tools/list"}"#);
        it.server(
            r#"{"jsonrpc":"2.0","id":"l","result":{"tools":[{"name":"read","annotations":{"readOnlyHint":true}},{"name":"write"}]}}"#,
        );
        it.done.clear();
        it
    }

    fn take(&mut self) {
        self.done.extend(self.session.effects());
    }

    fn client(&mut self, line: &str) {
        self.session.client_said(line.as_bytes(), self.now);
        self.take();
    }

    fn server(&mut self, line: &str) {
        self.session.server_said(line.as_bytes());
        self.take();
    }

    fn tick(&mut self, passed: Duration) {
        self.now += passed;
        self.session.tick(self.now);
        self.take();
    }

    fn queued(&mut self, ticket: Ticket) {
        self.session.queued(ticket, format!("action-{ticket}"));
        self.take();
    }

    fn answered(&mut self, ticket: Ticket, answer: Result<Answer, String>) {
        self.session.answered(ticket, answer, self.now);
        self.take();
    }

    fn approved(&mut self, ticket: Ticket, input: &str, edited: bool) {
        let input = RawValue::from_string(input.to_owned()).unwrap();
        self.answered(ticket, Ok(Answer::Run { fence: 7, input, edited }));
    }

    fn done(&mut self) -> Vec<String> {
        let said = |line: Vec<u8>| String::from_utf8(line).unwrap();
        let outcome = |outcome: RunOutcome| match outcome {
            RunOutcome::Result(json) => json.get().to_owned(),
            RunOutcome::Error(why) => format!("error: {why}"),
        };
        let short = |effect| match effect {
            Effect::ToClient(line) => format!("client {}", said(line)),
            Effect::ToServer(line) => format!("server {}", said(line)),
            Effect::Ask(ticket, Asked { agent, session, call, limit }) => {
                let limit = if limit == Duration::MAX { 0 } else { limit.as_secs() };
                let input = call.input.get();
                format!("ask {ticket} {agent}/{session}/{} {} {input} {limit}", call.id, call.tool)
            }
            Effect::AskAgain { ticket, action, .. } => format!("ask {ticket} again {action}"),
            Effect::StopAsking(ticket) => format!("stop {ticket}"),
            Effect::Abandon { action, why } => format!("abandon {action}: {why}"),
            Effect::Renew { action, fence } => format!("renew {action} {fence}"),
            Effect::Report { action, fence, outcome: ended } => {
                format!("report {action} {fence} {}", outcome(ended))
            }
            Effect::Warn(sentence) => format!("warn {sentence}"),
        };
        self.done.drain(..).map(short).collect()
    }
}

const WRITE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write","arguments":{"a": 1.0},"_meta":{"progressToken":5}}}"#;
const WROTE: &str = r#"{"jsonrpc":"2.0","id":1073741824,"result":{"content":[{"type":"text","text":"ok"}],"structuredContent":{"x":1}}}"#;
const CANCEL: &str = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;

fn result_asked(id: u8) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"placet_result","arguments":{{"id":"action-0"}}}}}}"#
    )
}

fn text(id: u8, said: &str, is_error: bool) -> String {
    format!("client {}", Outcome::words(said, is_error).line(&id.to_string()))
}

#[test]
fn other_lines_pass_byte_for_byte() {
    let mut it = Harness::new("claude-code");
    for line in [
        r#"{"jsonrpc":"2.0", "id":3,"method":"tools/call","params":{"name":"read","arguments":{"n":1.10}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#,
        r#"{"jsonrpc":"2.0","id":"s1","result":{"roots":[]},"extra":[1,1.0]}"#,
        r#"[{"jsonrpc":"2.0","id":4,"method":"ping"},{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"read"}}]"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#,
    ] {
        it.client(line);
        assert_eq!(it.done(), [format!("server {line}")]);
    }
    for line in [
        r#"{"jsonrpc":"2.0","id":3, "result":{"content":[],"structuredContent":{"x":1}}}"#,
        r#"{"jsonrpc":"2.0","id":"s1","method":"roots/list"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"x":1,"x":2}}"#,
        "not json at all",
    ] {
        it.server(line);
        assert_eq!(it.done(), [format!("client {line}")]);
    }
}

#[test]
fn approved_call_runs_under_an_own_id() {
    let mut it = Harness::new("codex-mcp-client");
    it.client(WRITE);
    assert_eq!(it.done(), [r#"ask 0 codex/proxy/1 fs.write {"a": 1.0} 240"#]);
    it.queued(0);
    it.approved(0, r#"{"a": 1.0}"#, false);
    let sent = WRITE.replace("\"id\":1", "\"id\":1073741824");
    assert_eq!(it.done(), [format!("server {sent}")]);

    // Both sides may use the same id for their own requests.
    it.server(r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#);
    it.done();
    it.server(WROTE);

    let told = r#"client {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"ok"}]}}"#;
    let kept = r#"report action-0 7 {"content":[{"type":"text","text":"ok"}],"structuredContent":{"x":1}}"#;
    assert_eq!(it.done(), [kept, told]);
    assert!(!it.session.is_busy());
    it.server(WROTE);
    assert_eq!(it.done(), [""; 0], "a second answer is dropped");
}

#[test]
fn edited_call_runs_with_the_edit_and_notes_it() {
    let mut it = Harness::new("opencode");
    it.client(WRITE);
    it.queued(0);
    it.done();
    it.approved(0, "{\n\"a\": \"\u{2028}\"}", true);
    let sent =
        WRITE.replace("\"id\":1", "\"id\":1073741824").replace("{\"a\": 1.0}", "{ \"a\": \"\\u2028\"}");
    assert_eq!(it.done(), [format!("server {sent}")]);
    it.server(WROTE);
    let told = it.done().pop().unwrap();
    assert!(told.contains("A human changed this call before it ran. It ran with: {"), "{told}");
}

#[test]
fn call_and_session_ids_come_from_the_request() {
    let mut it = Harness::new("claude-code");
    it.client(&WRITE.replace("\"progressToken\"", "\"claudecode/toolUseId\":\"toolu_1\",\"progressToken\""));
    assert_eq!(it.done(), [r#"ask 0 claude-code/proxy/toolu_1 fs.write {"a": 1.0} 0"#]);
    let codex = WRITE.replace("\"progressToken\"", "\"callId\":\"c\",\"sessionId\":\"s\",\"progressToken\"");
    it.client(&codex.replace("\"id\":1", "\"id\":2"));
    assert_eq!(it.done(), [r#"ask 1 claude-code/s/c fs.write {"a": 1.0} 0"#]);
    it.client(r#"{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"new"}}"#);
    assert_eq!(it.done(), ["ask 2 claude-code/proxy/x fs.new {} 45"]);
}

#[test]
fn hostile_line_does_not_reach_the_server() {
    let mut it = Harness::new("evil");
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call","params":{"name":"write"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","name":"write"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read\ud800"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":["write"]}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write","arguments":[1]}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write","arguments":{"a":NaN}}}"#,
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"write"}}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"write"}}"#,
        r#"{"jsonrpc":"2.0","id":1.5,"method":"tools/call","params":{"name":"write"}}"#,
        r#"{"jsonrpc":"2.0","id":"proxy-1","method":"ping"}"#,
        r#"[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write"}}]"#,
        r#"[{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"tools/list"}]"#,
        r#"[[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write"}}]]"#,
        "{\"method\":\"x\",\"params\":\r{\"method\":\"tools/call\",\"params\":{\"name\":\"write\"}}\r}",
        "{",
    ] {
        it.client(line);
        let done = it.done();
        assert_eq!(done.len(), 1, "{line}: {done:?}");
        assert!(done[0].starts_with("client ") && done[0].contains("\"error\""), "{line}: {done:?}");
    }
    // Node's readline ends a line at U+2028.
    it.client("{\"method\":\"x\",\"params\":\"\u{2028}{\\\"method\\\":1}\u{2029}\"}");
    assert_eq!(it.done(), [r#"server {"method":"x","params":"\u2028{\"method\":1}\u2029"}"#]);
    it.client(r#"{"jsonrpc":"2.0","id":1,"m\u0065thod":"tools\/call","params":{"name":"wr\u0069te"}}"#);
    assert!(it.done()[0].starts_with("ask 0 "), "an escaped method is recognized");
}

#[test]
fn refused_batch_answers_each_request() {
    let mut it = Harness::new("c");
    it.client(
        r#"[{"id":2,"method":"ping"},{"method":"n"},{"id":"a","method":"tools/call","params":{"name":"write"}}]"#,
    );

    let done = it.done();
    assert!(done[0].contains(r#""id":2,"error""#) && done[0].contains(r#""id":"a","error""#), "{done:?}");
}

#[test]
fn call_without_approval_does_not_run() {
    let mut it = Harness::new("c");
    it.client(WRITE);
    it.done();
    it.answered(0, Err("No gate at URL. Start `placet`.".to_owned()));
    assert_eq!(it.done(), [text(1, "No gate at URL. Start `placet`.", true)]);

    it.client(WRITE);
    it.queued(1);
    it.done();
    it.answered(
        1,
        Ok(Answer::Denied { why: "A human rejected this call: no.".to_owned(), status: Status::Rejected }),
    );
    assert_eq!(it.done(), [text(1, "A human rejected this call: no.", true)]);

    it.client(WRITE);
    it.queued(2);
    it.done();
    it.answered(2, Err("gone".to_owned()));
    assert_eq!(it.done(), ["abandon action-2: The gate could not be asked.", &text(1, "gone", true)]);
    assert!(!it.session.is_busy());
}

#[test]
fn server_error_is_reported_and_passed() {
    let mut it = Harness::new("c");
    it.client(WRITE);
    it.queued(0);
    it.approved(0, "{}", false);
    it.done();
    it.server(r#"{"jsonrpc":"2.0","id":1073741824,"error":{"code":-1,"message":"no","data":[1.0]}}"#);
    let told = r#"client {"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no","data":[1.0]}}"#;
    assert_eq!(it.done(), ["report action-0 7 error: no", told]);

    it.client(WRITE);
    it.queued(1);
    it.approved(1, "{}", false);
    it.done();
    let failed = r#"{"content":[{"type":"text","text":"full"}],"isError":true}"#;
    it.server(&format!(r#"{{"jsonrpc":"2.0","id":1073741825,"result":{failed}}}"#));
    assert_eq!(
        it.done(),
        [
            "report action-1 7 error: full",
            &format!("client {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{failed}}}")
        ]
    );
}

#[test]
fn waiting_call_sends_progress_every_five_seconds() {
    let mut it = Harness::new("opencode");
    it.client(WRITE);
    it.done();
    it.tick(4 * SECOND);
    assert_eq!(it.done(), [""; 0]);
    it.tick(SECOND);
    assert_eq!(it.done(), [format!("client {}", answers::progress("5", 1, "Looking for the gate."))]);
    it.queued(0);
    it.tick(SECOND);
    it.tick(5 * SECOND);
    assert_eq!(
        it.done(),
        [format!("client {}", answers::progress("5", 2, "Waits for a human as action-0."))]
    );
    it.approved(0, "{}", false);
    it.done();
    it.tick(5 * SECOND);
    assert_eq!(it.done(), [""; 0], "the server sends its own progress");

    it.client(&WRITE.replace("\"id\":1", "\"id\":2").replace(",\"_meta\":{\"progressToken\":5}", ""));
    it.done();
    it.tick(10 * SECOND);
    assert_eq!(it.done(), [""; 0], "the client sent no progress token");
}

#[test]
fn parked_call_runs_once() {
    let mut it = Harness::new("codex-mcp-client");
    it.client(WRITE);
    it.queued(0);
    it.done();
    it.answered(0, Ok(Answer::Waiting));
    assert_eq!(it.done(), [text(1, &answers::parked("action-0"), false)]);

    it.client(&result_asked(2));
    assert_eq!(it.done(), ["ask 0 again action-0"]);
    it.client(&result_asked(3));
    assert_eq!(it.done(), [""; 0], "the second question joins the first");
    it.answered(0, Ok(Answer::Waiting));
    let waits = answers::parked("action-0");
    assert_eq!(it.done(), [text(2, &waits, false), text(3, &waits, false)]);

    it.client(&result_asked(4));
    it.done();
    it.approved(0, "{}", false);
    assert!(it.done()[0].starts_with("server "));
    it.server(WROTE);
    let outcome = |id: u8| {
        format!(
            r#"client {{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"ok"}}]}}}}"#
        )
    };
    assert_eq!(it.done().pop(), Some(outcome(4)));
    it.client(&result_asked(5));
    assert_eq!(it.done(), [outcome(5)], "it ran once");
}

#[test]
fn call_that_is_not_parked_has_no_outcome() {
    let mut it = Harness::new("c");
    it.client(WRITE);
    it.queued(0);
    it.done();

    it.client(&result_asked(2));

    assert_eq!(it.done(), [text(2, "No call of this session waits as action-0.", true)], "not parked yet");
}

#[test]
fn cancel_withdraws_an_open_call_only() {
    let mut it = Harness::new("opencode");
    it.client(WRITE);
    it.queued(0);
    it.done();
    it.client(CANCEL);
    let why = "The agent cancelled this call before it ran.";
    assert_eq!(it.done(), ["stop 0", &format!("abandon action-0: {why}")]);
    it.client(CANCEL);
    it.answered(0, Ok(Answer::Waiting));
    assert_eq!(it.done(), [""; 0], "a cancelled request gets no answer");
    assert!(!it.session.is_busy());

    it.client(WRITE);
    it.queued(1);
    it.approved(1, "{}", false);
    it.server(WROTE);
    it.done();
    it.client(CANCEL);
    assert_eq!(it.done(), [""; 0], "the request was answered before");
}

#[test]
fn call_cancelled_early_or_late_does_not_run() {
    let mut it = Harness::new("c");
    it.client(WRITE);
    it.client(CANCEL);
    it.done();
    it.queued(0);
    let why = "The agent cancelled this call before it ran.";
    assert_eq!(it.done(), [format!("abandon action-0: {why}")], "cancelled before the gate recorded it");
    it.approved(0, "{}", false);
    assert_eq!(it.done(), [format!("report action-0 7 error: {why}")], "cancelled after the claim");
}

#[test]
fn running_call_is_cancelled_at_the_server_and_reported() {
    let mut it = Harness::new("c");
    it.client(WRITE);
    it.queued(0);
    it.approved(0, "{}", false);
    it.done();
    it.client(CANCEL);
    assert_eq!(it.done(), [format!("server {}", answers::cancelled("1073741824"))]);
    it.server(WROTE);
    let done = it.done();
    assert!(done.len() == 1 && done[0].starts_with("report action-0 7 {"), "{done:?}");

    it.client(WRITE);
    it.queued(1);
    it.approved(1, "{}", false);
    it.client(CANCEL);
    it.done();
    it.tick(30 * SECOND);
    assert_eq!(it.done(), [format!("report action-1 7 error: {}", answers::CANCELLED_RUNNING)]);
}

#[test]
fn cancelled_question_does_not_withdraw_the_call() {
    let mut it = Harness::new("c");
    it.client(WRITE);
    it.queued(0);
    it.answered(0, Ok(Answer::Waiting));
    it.client(&result_asked(2));
    it.done();
    it.client(&CANCEL.replace('1', "2"));
    assert_eq!(it.done(), ["stop 0"]);
    it.answered(0, Ok(Answer::Waiting));
    assert_eq!(it.done(), [""; 0]);
    it.client(&result_asked(3));
    assert_eq!(it.done(), ["ask 0 again action-0"]);
}

#[test]
fn lease_is_renewed_while_its_call_runs() {
    let mut it = Harness::new("c");
    it.client(WRITE);
    it.queued(0);
    it.approved(0, "{}", false);
    it.done();
    it.tick(899 * SECOND);
    assert_eq!(it.done(), [""; 0]);
    it.tick(SECOND);
    it.tick(SECOND);
    assert_eq!(it.done(), ["renew action-0 7"]);
}

#[test]
fn client_end_withdraws_waiting_calls_only() {
    let mut it = Harness::new("c");
    for (id, ticket) in [("1", 0), ("2", 1), ("3", 2), ("4", 3)] {
        it.client(&WRITE.replace("\"id\":1", &format!("\"id\":{id}")));
        if ticket < 3 {
            it.queued(ticket);
        }
    }
    it.answered(1, Ok(Answer::Waiting));
    it.approved(2, "{}", false);
    it.done();

    it.session.client_ended();
    it.take();

    let why = "The agent ended before this call ran.";
    let abandoned = |action: &str| format!("abandon {action}: {why}");
    assert_eq!(
        it.done(),
        ["stop 0".to_owned(), abandoned("action-0"), abandoned("action-1"), "stop 3".to_owned()]
    );
    it.answered(0, Ok(Answer::Waiting));
    it.answered(3, Err("The agent does not wait for this call.".to_owned()));
    assert_eq!(it.done(), [""; 0]);
    assert!(it.session.is_busy(), "one call runs");
    it.server(WROTE);
    assert!(it.done()[0].starts_with("report action-2 7 {"));
    assert!(!it.session.is_busy());
}

#[test]
fn call_that_outlasts_its_client_is_reported_as_lost() {
    let mut it = Harness::new("c");
    it.client(WRITE);
    it.queued(0);
    it.approved(0, "{}", false);
    it.session.client_ended();
    it.session.give_up();
    it.take();

    assert!(
        it.done().contains(&format!("report action-0 7 error: {}", answers::CLIENT_ENDED_RUNNING)),
        "it may have run"
    );
}

#[test]
fn server_end_answers_all_calls() {
    let mut it = Harness::new("c");
    it.client(WRITE);
    it.client(&WRITE.replace("\"id\":1", "\"id\":2"));
    it.queued(0);
    it.queued(1);
    it.approved(0, "{}", false);
    it.done();

    it.session.server_ended();
    it.take();

    let error = |id: &str, why| format!("client {}", Outcome::error(INTERNAL, why).line(id));
    assert_eq!(
        it.done(),
        [
            "report action-0 7 error: The MCP server ended before it answered. The call may have run."
                .to_owned(),
            error("1", answers::SERVER_ENDED),
            error("2", answers::SERVER_ENDED_BEFORE),
            "stop 1".to_owned(),
            format!("abandon action-1: {}", answers::SERVER_ENDED_BEFORE),
        ]
    );
    it.approved(1, "{}", false);
    assert_eq!(it.done(), [format!("report action-1 7 error: {}", answers::SERVER_ENDED_BEFORE)]);
}

#[test]
fn id_of_a_waiting_call_is_refused() {
    let mut it = Harness::new("c");
    it.client(WRITE);
    it.done();
    it.client(&WRITE.replace("\"write\"", "\"read\""));
    assert!(it.done()[0].contains("A call with this id waits already."));
}

#[test]
fn shadowed_result_tool_is_warned_of_once() {
    let mut it = Harness::bare(Wait::Never);
    for id in [1, 2] {
        it.client(&format!(r#"{{"id":{id},"method":"tools/list"}}"#));
        it.server(&format!(r#"{{"id":{id},"result":{{"tools":[{{"name":"placet_result"}}]}}}}"#));
    }
    let done = it.done();
    assert_eq!(done.iter().filter(|done| done.starts_with("warn ")).count(), 1, "{done:?}");
}

#[test]
fn overlong_line_is_answered() {
    let mut it = Harness::bare(Wait::Auto);
    it.session.client_said_too_much("null");
    it.take();
    assert!(it.done()[0].contains("This line is longer than 16 MiB."));
}
