//! Tests a site that deletes an action whose run failed. Its reply is the only record, so placet must journal it before
//! a crash.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use placet::for_tests::json;

use super::support::home::Home;

/// Starts a site with one pending action; approving it fails and deletes it.
fn site() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut is_there = true;
        for stream in listener.incoming().flatten() {
            drop(answer(stream, &mut is_there));
        }
    });
    url
}

fn answer(mut stream: TcpStream, is_there: &mut bool) -> std::io::Result<()> {
    const ACTION: &str = r#"{"action_id":"act_1","kind":"publish_post","summary":"Publish","preview":null,"apply_input":{"title":"x"},"workspace":[],"agent":null,"creator":"user:7","status":"pending","created_at":"2026-11-21 20:37:34","expires_at":null,"metadata":{"effect":"write"}}"#;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut length = 0;
    for head in reader.by_ref().lines().map_while(Result::ok).take_while(|head| !head.is_empty()) {
        if let Some(value) = head.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let action = if *is_there { ACTION } else { "null" };
    let (status, body) = if line.contains("/users/me") {
        ("200 OK", r#"{"id":7,"name":"Kim"}"#.to_owned())
    } else if line.contains("/list-pending-actions/") {
        ("200 OK", format!(r#"{{"actions":[{}]}}"#, if *is_there { ACTION } else { "" }))
    } else if line.contains("/get-pending-action/") {
        ("200 OK", format!(r#"{{"action":{action}}}"#))
    } else if line.contains("/resolve-pending-action/") {
        *is_there = false;
        let message = json::encode("It exploded.");
        let code = "pending_action_resolution_failed";
        let data = r#"{"status":400,"action_id":"act_1","kind":"publish_post"}"#;
        ("400 Bad Request", format!(r#"{{"code":"{code}","message":{message},"data":{data}}}"#))
    } else {
        ("200 OK", r#"{"name":"A Site"}"#.to_owned())
    };
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

fn home() -> Home {
    let config = format!("[[source]]\nname = \"site\"\nkind = \"agents-api\"\nurl = \"{}\"\n", site());
    Home::with_config(&config)
}

fn log(home: &Home) -> String {
    let output = home.run(&["log", "--json"]);
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn failure_that_the_site_forgets_is_printed_and_kept() {
    let home = home();

    let output = home.run(&["decide", "--approve", "act_1"]);

    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.contains("approved, then failed: HTTP 400: It exploded."), "{printed}");
    assert_eq!(output.status.code(), Some(1), "{printed}");
    let log = log(&home);
    assert!(log.contains(r#""status":"failed""#) && log.contains("It exploded."), "{log}");
}

#[test]
fn failure_that_the_site_forgets_is_journaled_before_a_crash() {
    let home = home();

    let output = home
        .command(&["decide", "--approve", "act_1"])
        .env("PLACET_KILL_AT", "submit.noted")
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();

    assert_eq!(output.status.code(), None, "it was killed");
    let log = log(&home);
    assert!(log.contains(r#""outcome":"approved""#), "{log}");
    assert!(log.contains(r#""status":"failed""#) && log.contains("It exploded."), "{log}");
    let verified = home.run(&["log", "verify"]);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
}
