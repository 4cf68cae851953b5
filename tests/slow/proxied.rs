//! A proxy from the environment is used only if the source's configuration says so.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use super::support::home::Home;

/// Starts a proxy that answers 502, and returns its URL and the request lines it gets.
fn proxy() -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&asked);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut head = [0; 2_048];
            let read = stream.read(&mut head).unwrap_or(0);
            let text = String::from_utf8_lossy(&head[..read]);
            log.lock().unwrap().push(text.lines().next().unwrap_or_default().to_owned());
            drop(stream.write_all(b"HTTP/1.1 502 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"));
        }
    });
    (url, asked)
}

/// Lists a source and returns the request lines that the proxy got.
fn asked_for(url: &str, setting: &str) -> Vec<String> {
    let source = format!("[[source]]\nname = \"team\"\nkind = \"gate\"\nurl = \"{url}\"\n{setting}\n");
    let home = Home::with_config(&source);
    let (proxy, asked) = proxy();
    let mut command = home.command(&["list"]);
    for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
        command.env(name, &proxy);
    }
    let output = command.output().unwrap();
    assert!(!output.status.success(), "{output:?}");
    let asked = asked.lock().unwrap();
    asked.clone()
}

#[test]
fn environment_proxy_is_used_only_on_request_and_never_locally() {
    // The name never resolves (RFC 6761).
    let (http, https) = ("http://gate.invalid:7878", "https://gate.invalid");

    for (url, setting) in [(http, ""), (https, ""), ("http://127.0.0.1:1", "env_proxy = true")] {
        assert_eq!(asked_for(url, setting), Vec::<String>::new(), "{url} {setting}");
    }
    for (url, first) in [(http, "GET http://gate.invalid:7878/"), (https, "CONNECT gate.invalid:443")] {
        let asked = asked_for(url, "env_proxy = true");
        assert!(asked.iter().any(|line| line.starts_with(first)), "{url}: {asked:?}");
    }
}

#[test]
fn token_over_plain_http_needs_insecure_http() {
    let source =
        "[[source]]\nname = \"team\"\nkind = \"gate\"\nurl = \"http://gate.invalid\"\ntoken_env = \"T\"\n";
    for (setting, starts) in [("", false), ("insecure_http = true\n", true)] {
        let home = Home::with_config(&format!("{source}{setting}"));
        for args in [["config", "check"].as_slice(), &["list"]] {
            let output = home.command(args).env("T", "secret").output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let refused = said.contains("insecure_http = true") && said.contains("team");
            assert_eq!(!refused, starts, "{args:?} {setting}: {said}");
        }
    }
}
