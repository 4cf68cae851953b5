//! G32: a token stays where it was put and in the headers of its requests, through every kind of failure and with full
//! logging.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::support::agent;
use super::support::gate::Gate;
use super::support::home::{Home, WRITE_FILE};
use super::support::pty::Pty;

const CANARY: &str = "canary-5ec2e7-0f-a-t0ken";

/// Replies by the first part of the path. `@` stands for the request's `Authorization` header.
const ANSWERS: [(&str, &str); 20] = [
    (
        "e401",
        "HTTP/1.1 401 No\r\nContent-Length: 200\r\nConnection: close\r\n\r\n{\"error\":{\"code\":\"NO\",\"message\":\"@\"}}",
    ),
    (
        "e403",
        "HTTP/1.1 403 No\r\nConnection: close\r\n\r\n{\"error\":{\"code\":\"@\",\"message\":\"you sent @\"}}",
    ),
    ("e404", "HTTP/1.1 404 No\r\nConnection: close\r\n\r\n{\"error\":{\"code\":\"NO\",\"message\":\"@\"}}"),
    (
        "e409",
        "HTTP/1.1 409 No\r\nConnection: close\r\n\r\n{\"error\":{\"code\":\"NO\",\"message\":\"@\",\"resolvedBy\":\"@\"}}",
    ),
    ("e412", "HTTP/1.1 412 No\r\nConnection: close\r\n\r\n{\"detail\":\"@\"}"),
    ("e422", "HTTP/1.1 422 No\r\nConnection: close\r\n\r\n{\"detail\":[{\"msg\":\"@\"}]}"),
    ("e429", "HTTP/1.1 429 No\r\nRetry-After: 1\r\nConnection: close\r\n\r\n@"),
    ("e500", "HTTP/1.1 500 No\r\nConnection: close\r\n\r\nTraceback: headers={'Authorization': '@'}"),
    ("e502", "HTTP/1.1 502 @\r\nX-Request: @\r\nConnection: close\r\n\r\n<html>@</html>"),
    ("e503", "HTTP/1.1 503 No\r\nConnection: close\r\n\r\n\u{1b}[2J@"),
    ("moved", "HTTP/1.1 302 Found\r\nLocation: @ELSEWHERE@/stolen\r\nConnection: close\r\n\r\n@"),
    ("kept", "HTTP/1.1 307 Temporary\r\nLocation: @ELSEWHERE@/stolen\r\nConnection: close\r\n\r\n@"),
    ("odd", "HTTP/1.1 299 Odd\r\nConnection: close\r\n\r\n@"),
    ("html", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<p>you are @</p>"),
    ("shape", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"items\":\"@\"}"),
    ("cut", "HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n{\"items\":[\"@\""),
    ("close", ""),
    ("noise", "@ is no HTTP\r\n\r\n"),
    ("long", "HTTP/1.1 200 OK\r\nX-@: \u{1}\r\n\r\n"),
    ("chunk", "HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\nzz@\r\n"),
];

/// A server with all these replies. It counts requests with the token, and records redirected ones.
struct Server {
    url: String,
    asked: Arc<AtomicUsize>,
    stolen: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = Self { url, asked: Arc::default(), stolen: Arc::default() };
        let (asked, stolen, elsewhere) =
            (Arc::clone(&server.asked), Arc::clone(&server.stolen), server.url.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (asked, stolen, elsewhere) = (Arc::clone(&asked), Arc::clone(&stolen), elsewhere.clone());
                std::thread::spawn(move || answer(stream, &asked, &stolen, &elsewhere));
            }
        });
        server
    }
}

fn answer(mut stream: TcpStream, asked: &AtomicUsize, stolen: &Mutex<Vec<String>>, elsewhere: &str) {
    let mut head = String::new();
    let mut byte = [0];
    while !head.ends_with("\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n| n == 1) {
        if byte[0] == 0x16 {
            return;
        }
        head.push(char::from(byte[0]));
    }
    let header = head.lines().find_map(|line| line.strip_prefix("authorization: ")).unwrap_or_default();
    let path = head.split(['/', ' ', '?']).find(|part| !part.is_empty() && !["GET", "POST"].contains(part));
    if path == Some("stolen") {
        stolen.lock().unwrap().push(head);
        return;
    }
    let Some((_, reply)) = ANSWERS.iter().find(|(name, _)| path == Some(name)) else { return };
    if header.contains(CANARY) {
        asked.fetch_add(1, Ordering::SeqCst);
    }
    let reply = reply.replace("@ELSEWHERE@", elsewhere).replace('@', header);
    drop(stream.write_all(reply.as_bytes()));
}

const FROM: [&str; 3] = [
    "token_env = \"CANARY\"",
    "token_file = \"@HOME@/secret\"",
    "token_command = [\"cat\", \"@HOME@/secret\"]",
];

fn home(from: &str, url: &str) -> Home {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::with_config("");
    let secret = home.path().join("secret");
    std::fs::write(&secret, CANARY).unwrap();
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o600)).unwrap();
    configure(&home, from, url);
    home
}

fn configure(home: &Home, from: &str, url: &str) {
    let from = from.replace("@HOME@", home.path().to_str().unwrap());
    let source = format!("[[source]]\nname = \"team\"\nkind = \"gate\"\nurl = \"{url}\"\n{from}\n");
    std::fs::write(home.config(), source).unwrap();
}

fn run(home: &Home, args: &[&str]) -> String {
    let mut command = home.command(args);
    command.env("CANARY", CANARY).env("RUST_LOG", "trace").env("RUST_BACKTRACE", "full");
    let output = command.stdin(std::process::Stdio::null()).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    String::from_utf8_lossy(&said).into_owned()
}

/// Panics if a file contains the secret, except those that should hold it. Returns the number of bytes searched.
fn search(folder: &Path, secret: &str) -> usize {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            bytes += search(&path, secret);
        } else if !is_its_place(&path) {
            let found = std::fs::read(&path).unwrap_or_default();
            let at = found.windows(secret.len()).position(|window| window == secret.as_bytes());
            let around = |at: usize| {
                String::from_utf8_lossy(&found[at.saturating_sub(200)..(at + 60).min(found.len())])
                    .into_owned()
            };
            assert!(at.is_none(), "{} holds it: {}", path.display(), at.map(around).unwrap_or_default());
            bytes += found.len();
        }
    }
    bytes
}

fn is_its_place(path: &Path) -> bool {
    path.ends_with("secret") || path.extension().is_some_and(|it| it == "token")
}

#[test]
fn g32_token_does_not_leak_through_failures() {
    let server = Server::start();
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut urls: Vec<String> = ANSWERS.iter().map(|(name, _)| format!("{}/{name}", server.url)).collect();
    urls.push(format!("http://{nobody}"));
    urls.push(server.url.replace("http:", "https:"));
    urls.push("http://[::1]:1".to_owned());
    let commands = [&["list", "--json"][..], &["show", "x"], &["decide", "--approve", "x", "--json"]];
    let (long, paths) = (std::env::var_os("PLACET_LONG").is_some(), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for (nth, from) in FROM.into_iter().enumerate() {
            let (urls, paths) = (&urls, &paths);
            scope.spawn(move || {
                let home = home(from, "http://127.0.0.1:1");
                for (at, url) in urls.iter().enumerate() {
                    configure(&home, from, url);
                    for (command, args) in commands.into_iter().enumerate() {
                        // The short form runs each failure with each command once, and with each source once.
                        if !long && (command + at) % FROM.len() != nth {
                            continue;
                        }
                        let said = run(&home, args);
                        assert!(!said.contains(CANARY), "{from}, {url}, {args:?}: {said}");
                        paths.fetch_add(1, Ordering::SeqCst);
                    }
                }
                let searched = search(home.path(), CANARY);
                assert!(searched > 100_000, "too little was searched: {searched}");
            });
        }
    });
    let asked = server.asked.load(Ordering::SeqCst);
    assert!(asked > 100, "too few requests had the token: {asked}");
    assert_eq!(*server.stolen.lock().unwrap(), [""; 0], "a redirect got the token");
    println!("{} paths, {asked} requests with the token", paths.into_inner());
}

#[test]
fn g32_token_in_the_configuration_is_not_repeated() {
    let home = Home::with_config("");
    let wrong = [
        format!("token = \"{CANARY}\""),
        format!("tokenfile = \"{CANARY}\" # no"),
        format!("authorization = \"Bearer {CANARY}\""),
        format!("token_command = \"echo {CANARY}\""),
        format!("token_env = [\"{CANARY}\"]"),
        format!("password = '{CANARY}'"),
        format!("url = \"http://me:{CANARY}@127.0.0.1:1\""),
        format!("url = \"ftp://me:{CANARY}@127.0.0.1:1\""),
    ];
    for line in wrong {
        let url = if line.starts_with("url") { "" } else { "url = \"http://127.0.0.1:1\"\n" };
        std::fs::write(home.config(), format!("[[source]]\nname = \"team\"\nkind = \"gate\"\n{url}{line}\n"))
            .unwrap();
        for args in [&["list"][..], &["config", "check"], &[]] {
            let said = run(&home, args);
            assert!(said.contains("line") || said.contains("url") || said.contains("terminal"), "{said}");
            assert!(!said.contains(CANARY), "{line}: {said}");
        }
    }
}

#[test]
fn g32_token_does_not_leak_from_sessions_and_panics() {
    let gate_home = Home::with_config(WRITE_FILE);
    let gate = Gate::serve(&gate_home, &[]);
    let token = gate.address.owner_token.clone();
    let home = home("token_env = \"OWNER\"", &gate.address.url);
    let propose = |n: u32| {
        let body = format!(r#"{{"toolName":"write_note","workspaceId":"default","toolInput":{{"n":{n}}}}}"#);
        agent::propose(&gate.address, &body)
    };
    propose(1);
    let env = [("OWNER", token.as_str()), ("RUST_LOG", "trace"), ("RUST_BACKTRACE", "full")];
    let mut inbox = Pty::start_with(&home, (100, 30), &[], &env);
    inbox.wait("  read   1-");
    let line = std::fs::read(format!("/proc/{}/cmdline", inbox.pid)).unwrap_or_default();
    assert!(!String::from_utf8_lossy(&line).contains(&token), "`ps` shows it");
    inbox.send("aq");
    let mut panics =
        Pty::start_with(&home, (100, 30), &[], &[&env[..], &[("PLACET_TEST_PANIC", "1")]].concat());
    panics.wait("1 to decide");
    panics.send("\x0c");
    panics.wait_end();
    let mut decide = home.command(&["decide", "--approve", &propose(2), "--json", "--follow"]);
    let decided = decide.envs(env).output().unwrap();
    assert_eq!(decided.status.code(), Some(0), "{}", String::from_utf8_lossy(&decided.stderr));
    let exported = home.run(&["log", "export"]);
    let audit = gate_home.run(&["gate", "audit", "export"]);

    for said in [inbox.bytes(), panics.bytes(), decided.stdout, decided.stderr, exported.stdout, audit.stdout]
    {
        let said = String::from_utf8_lossy(&said).into_owned();
        assert!(!said.contains(&token), "{said}");
    }
    assert!(search(home.path(), &token) > 10_000);
    assert!(search(gate_home.path(), &token) > 10_000);
}
