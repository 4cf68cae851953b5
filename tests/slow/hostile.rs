//! G6: the real binary on a terminal, against a gate full of hostile proposals and a server that sends hostile bytes.
//! Checks every byte it writes to the terminal, to scripts and to its log.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};

use serde::Deserialize;
use serde_json::{Value, json};

use super::job::confirm;
use super::oracle;
use super::support::agent;
use super::support::eventually;
use super::support::gate::{Address, Gate};
use super::support::home::Home;
use super::support::pty::Pty;
use super::terminal::left_behind;

const TOOLS: &str = r#"
[gate]
listen = "127.0.0.1:0"
[gate.tools.write_note]
executor = "command"
argv = ["sh", "-c", "cat > \"$OUT/$PLACET_ACTION_ID\""]
env = { OUT = "@OUT@" }
risk = "low"
[gate.tools.fails]
executor = "command"
argv = ["sh", "-c", "printf 'no \\033]0;approved\\007\\033[2J \\342\\200\\256room\\r\\n' >&2; exit 3"]
risk = "low"
"#;

#[derive(Deserialize)]
struct Case {
    cls: String,
    text: String,
}

/// Returns one text of each class; all texts in the long form.
fn texts() -> Vec<String> {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hostile/text.json");
    let cases: Vec<Case> = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let long = std::env::var_os("PLACET_LONG").is_some();
    let mut classes = Vec::new();
    let first = |case: &Case| {
        let known = classes.contains(&case.cls);
        classes.push(case.cls.clone());
        !known
    };
    let mut keep = first;
    cases.into_iter().filter(|case| long || keep(case)).map(|case| case.text).collect()
}

/// Removes U+0000, which the gate refuses outside the input.
fn around_input(text: &str) -> String {
    text.replace('\0', "")
}

fn proposal(tool: &str, title: &str, text: &str) -> String {
    let with = |member: &str, value: &str| format!("{}:{}", Value::from(member), Value::from(value));
    // A duplicate key, and a number beyond a double, must be kept as sent.
    let input = [
        with("title", title),
        with("body", text),
        with("body", "and again"),
        r#""n":18446744073709551616.10"#.to_owned(),
        with(text, "a key"),
        format!(r#""list":[{}]"#, Value::from(text)),
    ];
    let text = around_input(text);
    let around = json!({"toolName": tool, "workspaceId": "default", "missionId": format!("m {text}"), "agent": text,
        "batchId": format!("b {text}"), "summary": text});
    let around = around.to_string();
    format!(r#"{},"toolInput":{{{}}}}}"#, around.strip_suffix('}').unwrap(), input.join(","))
}

fn hostile_server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for (nth, stream) in listener.incoming().flatten().enumerate() {
            drop(answer(stream, nth));
        }
    });
    url
}

fn answer(mut stream: TcpStream, nth: usize) -> std::io::Result<()> {
    const BAD: &str = "\u{1b}]0;approved\u{7}\u{1b}[2J\u{9b}1m\u{202e}\r\nWARN forged: line\u{8}";
    let mut head = BufReader::new(stream.try_clone()?).lines().map_while(Result::ok);
    let streams = head.by_ref().take_while(|line| !line.is_empty()).any(|it| it.contains("event-stream"));
    let (status, kind, body) = match nth % 3 {
        _ if streams => ("200 OK", "text/event-stream", format!("event: {BAD}\ndata: {BAD}\nid: {BAD}\n\n")),
        0 => {
            let body = json!({"error": {"code": BAD, "message": BAD}}).to_string();
            ("500 Internal Server Error", "application/json", body)
        }
        1 => ("502 Bad Gateway", "text/html", BAD.to_owned()),
        _ => ("200 OK", "application/json", format!("{{\"items\":[{BAD}")),
    };
    let length = body.len();
    write!(stream, "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{body}")
}

/// Starts a gate with hostile proposals, and configures it and the hostile server as sources.
fn hostile_gate() -> (Home, Gate) {
    let home = Home::with_config(TOOLS);
    let gate = Gate::serve(&home, &[]);
    let token = home.run(&[
        "gate",
        "token",
        "create",
        "--scopes",
        "propose,read",
        "--workspace",
        "default",
        "--subject",
        "kim",
    ]);
    assert!(token.status.success(), "{}", String::from_utf8_lossy(&token.stderr));
    let agent_token = String::from_utf8(token.stdout).unwrap().trim().to_owned();
    let agent = Address { agent_token, ..gate.address.clone() };
    for (nth, text) in texts().iter().enumerate() {
        agent::propose(&agent, &proposal("write_note", &format!("{nth} {text}"), text));
    }
    agent::propose(&agent, &proposal("fails", "this one fails", "\u{1b}[2J"));
    agent::propose(&agent, &proposal("writ\u{435}_note", "another tool", "\u{1b}c"));
    let note = std::fs::read_to_string(home.state().join("gate.json")).unwrap();
    let note: Value = serde_json::from_str(&note).unwrap();
    let source = |name: &str, url: &str| {
        format!(
            "[[source]]\nname = \"{name}\"\nkind = \"gate\"\nurl = \"{url}\"\ntoken_file = {}\n",
            note["tokenFile"]
        )
    };
    let config = format!(
        "[ui]\nmouse = true\nhold_seconds = 0\n{}{}",
        source("team", &gate.address.url),
        source("other", &hostile_server())
    );
    std::fs::write(home.config(), config).unwrap();
    (home, gate)
}

fn assert_clean(what: &str, bytes: &[u8]) {
    let bad = oracle::judge(bytes);
    assert!(bad.is_empty(), "{what}: {bad:?}");
}

fn review(inbox: &mut Pty, count: usize) {
    for keys in
        ["z", "]", "]", "]", "]", "G", "\x1b", "e", "\t", "\x14", "\x1b", "\x1b", "?", "\x1b", ":", "\x1b"]
    {
        inbox.send(keys);
    }
    for _ in 0..count + 4 {
        inbox.send("j");
        assert_steady(inbox);
    }
    inbox.send("gg");
    inbox.send("/");
    inbox.send("fails\r");
    inbox.wait("this one fails");
    inbox.send("zG");
    inbox.wait("  read   1-");
    inbox.send("\x1ba");
    inbox.wait("staged 1");
    inbox.send("/\x15\r\x1b");
    inbox.wait_gone(" shown (");
    inbox.send("ggjjX");
    inbox.send("not this one\r");
    inbox.send("V\x1bgh\x1bzb\x1b,\x1b");
}

fn send_all(inbox: &mut Pty) {
    inbox.send("S");
    inbox.wait(&placet::for_tests::review_words::press("y"));
    assert_steady(inbox);
    confirm(inbox);
    // An extra `y` of `confirm` may have opened the copy menu.
    inbox.send("\x1b");
    // The status line shows the report; a later failure replaces it.
    inbox.wait_for("the answer", |it| {
        it.contains("1 approved · 1 rejected") || it.contains("FAILED after approval")
    });
    inbox.send("gr");
    inbox.wait_for("the report with what failed", |it| {
        it.contains("Enter closes") && it.contains("failed after approval")
    });
    assert_steady(inbox);
    inbox.send("\x1b");
    inbox.wait_gone("Enter closes");
    inbox.send("Gk");
    for _ in 0..5 {
        inbox.send("]");
        assert_steady(inbox);
    }
}

/// Checks that a full redraw changes nothing, even if the terminal measures a text differently.
fn assert_steady(inbox: &mut Pty) {
    let frames = |inbox: &Pty| inbox.bytes().windows(8).filter(|it| *it == b"\x1b[?2026l").count();
    let calm = |inbox: &Pty| {
        eventually("the screen is quiet", || {
            let drawn = frames(inbox);
            std::thread::park_timeout(std::time::Duration::from_millis(150));
            let screen = inbox.screen();
            (frames(inbox) == drawn && !screen.contains("loading")).then_some((screen, drawn))
        })
    };
    let (before, drawn) = calm(inbox);
    inbox.send("\x0c");
    eventually("it is drawn again", || (frames(inbox) > drawn).then_some(()));
    // Clocks and countdowns are outside the panes; ages and the marks of unread rows are inside.
    let panes = |screen: &str| -> Vec<String> {
        let rows: Vec<&str> = screen.lines().collect();
        let panes = rows.get(2..rows.len().saturating_sub(3)).unwrap_or_default();
        panes.iter().map(|row| row.replace("<1m", " 1m").replace('•', " ").trim_end().to_owned()).collect()
    };
    let drawn_again = inbox.screen();
    let after = if panes(&drawn_again) == panes(&before) { drawn_again } else { calm(inbox).0 };
    let odd: Vec<_> =
        panes(&before).into_iter().zip(panes(&after)).filter(|(before, after)| before != after).collect();
    assert!(odd.is_empty(), "{odd:#?}\n{after}");
}

#[test]
fn g6_hostile_bytes_do_not_reach_the_terminal_raw() {
    let sizes: &[(u16, u16)] = if std::env::var_os("PLACET_LONG").is_some() {
        &[(80, 24), (160, 45), (40, 12)]
    } else {
        &[(100, 30)]
    };
    for size in sizes {
        let (home, gate) = hostile_gate();
        let mut inbox = Pty::start(&home, *size, &[]);
        inbox
            .wait_for("the proposals and the failing source", |it| it.contains("m-") || it.contains("RETRY"));
        review(&mut inbox, texts().len());
        send_all(&mut inbox);
        assert_steady(&mut inbox);
        inbox.send("\x1b\x1b\x03\x03");
        inbox.wait_end();

        eventually("the terminal is restored", || left_behind(&inbox).is_empty().then_some(()));
        assert_clean("the session", &inbox.bytes());
        gate.kill_9();
    }
}

fn raw_controls(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let odd = text.chars().filter(|c| c.is_control() && *c != '\n');
    odd.map(|c| c.escape_unicode().to_string()).collect()
}

#[test]
fn g6_hostile_bytes_do_not_reach_tables_scripts_or_logs() {
    let (home, gate) = hostile_gate();
    let run = |args: &[&str]| {
        let mut command = home.command(args);
        command.env("RUST_LOG", "debug").stdin(std::process::Stdio::null());
        let output = command.output().unwrap();
        assert_clean(&format!("{args:?}"), &output.stderr);
        output.stdout
    };

    let listed = run(&["list", "--json"]);
    assert_eq!(raw_controls(&listed), Vec::<String>::new());
    let listed: Value = serde_json::from_slice(&listed).unwrap();
    let items = listed["items"].as_array().unwrap();
    let sent = texts();
    assert_eq!(items.len(), sent.len() + 2);
    assert!(!listed["problems"].as_array().unwrap().is_empty(), "the other source's problem is listed");
    for (nth, text) in sent.iter().enumerate() {
        let mission = format!("m {}", around_input(text));
        let item = items.iter().find(|it| it["missionId"] == mission.as_str());
        let item = item.unwrap_or_else(|| panic!("{nth} {text:?} did not come back as it was sent"));
        let id = item["id"].as_str().unwrap();
        let shown = run(&["show", id, "--json"]);
        assert_eq!(raw_controls(&shown), Vec::<String>::new());
        let shown: Value = serde_json::from_slice(&shown).unwrap();
        assert_eq!(shown["action"]["toolInput"]["list"][0], text.as_str());
        assert_clean("show", &run(&["show", id]));
    }
    assert_clean("list", &run(&["list"]));
    let first = items[0]["id"].as_str().unwrap();
    run(&["decide", "--reject", first, "--reason", "no"]);
    assert_clean("log", &run(&["log"]));
    let log: Result<Value, _> = serde_json::from_slice(&run(&["log", "--json"]));
    assert!(log.is_ok());

    gate.kill_9();
    let mut logs = 0;
    for entry in std::fs::read_dir(home.state()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|it| it == "log") {
            logs += 1;
            let written = std::fs::read(&path).unwrap();
            assert_eq!(raw_controls(&written), Vec::<String>::new(), "{}", path.display());
            let text = String::from_utf8(written).unwrap();
            assert!(!text.lines().any(|line| line.starts_with("WARN forged")), "{text}");
        }
    }
    assert!(logs > 0);
}
