//! A gate killed while it delivers a callback: the next gate delivers it under the same id.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

use placet::for_tests::{CALLBACK, Fields};

use super::support::gate::Gate;
use super::support::home::Home;
use super::support::{LIMIT, agent, eventually};

const CONFIG: &str = r#"
[gate]
listen = "127.0.0.1:0"
allow_targets = ["127.0.0.1"]
[gate.callbacks.orchestrator]
url = "http://@ADDRESS@/hook"
secret_command = ["printf", "%s", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]
"#;

/// Starts a receiver that answers 204 and reports ids and bodies.
fn receiver() -> (String, Receiver<(String, String)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (tell, got) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut reader = BufReader::new(stream.unwrap());
            let (mut id, mut length, mut line) = (String::new(), 0, String::new());
            while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                match line.trim().split_once(": ") {
                    Some(("webhook-id", value)) => value.clone_into(&mut id),
                    Some(("content-length", value)) => length = value.parse().unwrap(),
                    _ => {}
                }
                line.clear();
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            if tell.send((id, String::from_utf8(body).unwrap())).is_err() {
                return;
            }
            let answer = b"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n";
            reader.get_mut().write_all(answer).unwrap();
        }
    });
    (address, got)
}

#[test]
fn callback_of_a_killed_gate_is_delivered_under_its_id() {
    for (point, sent) in CALLBACK.into_iter().zip([0, 1]) {
        let (address, got) = receiver();
        let home = Home::with_config(&CONFIG.replace("@ADDRESS@", &address));
        let (mut child, at) = Gate::serve_until(&home, &format!("{point}:1"));
        let at = at.unwrap();
        let body = r#"{"toolName":"t","toolInput":{},"workspaceId":"default","callback":"orchestrator"}"#;
        let id = agent::propose(&at, body);
        // The gate may die before it answers.
        let path = format!("/api/pending-actions/{id}/reject");
        agent::try_request(&at, &at.owner_token, "POST", &path, "");
        eventually("the gate is killed", || child.try_wait().unwrap());
        let before: Vec<_> = got.try_iter().collect();

        // Past the lease of the killed gate.
        let later = ("PLACET_CLOCK_AHEAD".to_owned(), "60000".to_owned());
        let gate = Gate::serve_with(&home, &[], &[later]);
        let (webhook, told) = got.recv_timeout(LIMIT).unwrap();
        let listed = eventually("it arrived", || {
            let out = home.run(&["gate", "callbacks", "--json"]).stdout;
            String::from_utf8(out).ok().filter(|line| line.contains(r#""state":"arrived""#))
        });

        assert_eq!(before.len(), sent, "{point}");
        assert!(before.iter().all(|it| *it == (webhook.clone(), told.clone())), "{point}: {before:?}");
        assert!(told.contains(r#""status":"rejected""#) && told.contains(&id), "{told}");
        let listed = Fields::of(&listed).unwrap();
        assert_eq!(listed.text("id").unwrap().as_raw(), webhook);
        assert_eq!(
            (listed.number("tries"), listed.text("pendingActionId").unwrap().as_raw()),
            (Some(2), &*id)
        );
        assert_eq!(gate.address.owner_token, at.owner_token);
    }
}
