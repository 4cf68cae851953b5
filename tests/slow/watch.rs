//! `placet watch` for scripts and status bars, as a process.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::process::{Child, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};

use placet::for_tests::{Fields, json};
use rustix::process::{Pid, Signal, kill_process};

use super::support::gate::{Address, Gate};
use super::support::home::{Home, WRITE_FILE};
use super::support::{LIMIT, agent, ended, eventually};

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn served() -> (Home, Gate) {
    let home = Home::with_config(WRITE_FILE);
    let gate = Gate::serve(&home, &[]);
    let token = home.state().join("owner.token");
    add(&home, "team", &gate.address.url, &format!("token_file = \"{}\"", token.display()));
    (home, gate)
}

fn add(home: &Home, name: &str, url: &str, more: &str) {
    let config = std::fs::read_to_string(home.config()).unwrap();
    let source = format!("[[source]]\nname = \"{name}\"\nkind = \"gate\"\nurl = \"{url}\"\n{more}\n");
    std::fs::write(home.config(), source + &config).unwrap();
}

fn propose(address: &Address, more: &str) -> String {
    let body =
        format!(r#"{{"toolName":"write_note","workspaceId":"default","toolInput":{{"n":1.10}}{more}}}"#);
    agent::propose(address, &body)
}

/// Returns the URL of a port on which no one listens.
fn nobody() -> String {
    format!("http://{}", TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap())
}

#[test]
fn table_line_and_json_match_the_gate() {
    let (home, gate) = served();
    let first = propose(&gate.address, r#","agent":"refunds\u001b[2J\u009b""#);
    propose(&gate.address, "");
    let reject = format!("/api/pending-actions/{first}/reject");
    agent::request(&gate.address, &gate.address.owner_token, "POST", &reject, "{}");
    propose(&gate.address, r#","agent":"refunds\u001b[2J\u009b""#);

    let table = home.run(&["watch", "--once"]);
    let line = home.run(&["watch", "--once", "--line"]);
    let formatted = home.run(&["watch", "--once", "--line", "--format", "{pending}|{rejected}|{missing}"]);
    let board = home.run(&["watch", "--once", "--json", "--source", "team"]);

    for output in [&table, &line, &formatted, &board] {
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let bytes = [&output.stdout[..], &output.stderr[..]].concat();
        assert!(
            !String::from_utf8(bytes).unwrap().chars().any(|c| c.is_control() && c != '\n'),
            "{output:?}"
        );
    }
    let table = stdout(&table);
    assert!(table.starts_with("placet watch  2 pending, oldest "), "{table}");
    assert!(table.contains("\nteam ") && table.contains("\n  tool write_note "), "{table}");
    assert!(table.contains("\n  refunds⟦ESC⟧"), "{table}");
    assert_eq!(stdout(&line), "placet: 2 pending, oldest <1 m\n");
    assert_eq!(stdout(&formatted), "2|1|\n");
    let board = stdout(&board);
    assert_eq!(board.lines().count(), 1, "{board}");
    let fields = Fields::of(board.trim()).unwrap();
    assert_eq!((fields.number("version"), fields.flag("complete")), (Some(1), Some(true)));
    let outcomes = Fields::of(fields.raw("outcomes").unwrap()).unwrap();
    assert_eq!((outcomes.number("arrived"), outcomes.number("rejected")), (Some(3), Some(1)));
    assert_eq!(outcomes.number("edited"), Some(0), "the gate counts edited decisions");
}

#[test]
fn silent_source_delays_nothing_and_is_named() {
    let (home, gate) = served();
    propose(&gate.address, "");
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    add(&home, "dead", &nobody(), "");
    add(&home, "silent", &format!("http://{}", silent.local_addr().unwrap()), "");

    // A board may take a minute; waiting for all sources exceeds the limit here.
    let [line, dead, no_line] = [
        &["watch", "--line", "--once"][..],
        &["watch", "--once", "--source", "dead"],
        &["watch", "--once", "--line", "--source", "silent"],
    ]
    .map(|args| home.begin(args))
    .map(ended);

    assert_eq!(line.status.code(), Some(0));
    let said = stdout(&line);
    assert!(said.starts_with("placet: 1 pending, oldest <1 m ("), "{said}");
    assert!(said.contains("dead cannot be read") && said.contains("silent has not answered"), "{said}");
    assert_eq!((dead.status.code(), no_line.status.code()), (Some(5), Some(5)));
    let dead = stdout(&dead);
    assert!(dead.contains("dead ") && dead.contains("! dead cannot be reached"), "{dead}");
    assert_eq!(stdout(&no_line), "placet: no numbers (silent has not answered)\n");
}

struct Watching {
    child: Child,
    lines: Receiver<String>,
}

impl Watching {
    fn start(home: &Home, args: &[&str]) -> Self {
        let mut command = home.command(&[&["watch"], args].concat());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (lines, received) = channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in out.lines() {
                if lines.send(line.unwrap()).is_err() {
                    return;
                }
            }
        });
        Self { child, lines: received }
    }

    fn until(&self, what: &str, wanted: impl Fn(&str) -> bool) -> String {
        loop {
            let line = self.lines.recv_timeout(LIMIT).unwrap_or_else(|_| panic!("never came: {what}"));
            if wanted(&line) {
                return line;
            }
        }
    }

    fn ends(mut self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        let status = eventually("it ends", || self.child.try_wait().unwrap());
        assert_eq!(status.code(), Some(0), "{signal:?}");
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn pending(line: &str) -> Option<u64> {
    Fields::of(Fields::of(line)?.raw("total")?)?.number("pending")
}

#[test]
fn json_lines_follow_changes_until_a_signal() {
    let (home, gate) = served();
    let watching = Watching::start(&home, &["--json"]);
    let bar = Watching::start(&home, &["--line"]);
    let first = watching.until("a board", |_| true);
    assert_eq!(pending(&first), Some(0), "{first}");
    assert_eq!(bar.until("a line", |_| true), "placet: 0 pending");

    let id = propose(&gate.address, "");
    let event = watching.until("an event", |line| line.contains(r#""type":"event""#));
    assert!(event.contains(r#""event":"arrived""#) && event.contains(&id), "{event}");
    let board = watching.until("a board", |line| line.contains(r#""type":"board""#));
    assert_eq!(pending(&board), Some(1), "{board}");
    bar.until("a new line", |line| line == "placet: 1 pending, oldest <1 m");
    agent::request(&gate.address, &gate.address.owner_token, "POST", "/api/gate/pause", "");
    let event = watching.until("the pause", |line| line.contains(r#""event":"paused""#));
    assert_eq!(json::members(&event).map(|members| members.len()), Some(5), "{event}");

    watching.ends(Signal::TERM);
    bar.ends(Signal::INT);
}

#[test]
fn notify_rule_runs_its_command_while_watching() {
    for form in ["--json", "--line"] {
        let (home, gate) = served();
        let told = home.path().join("told");
        let rule = format!(
            "[[notify]]\non = [\"first\"]\nto = \"command\"\nstdin = \"text\"\n\
             command = [\"sh\", \"-c\", \"cat >> {0}.new; mv {0}.new {0}\"]\n",
            told.display()
        );
        let config = std::fs::read_to_string(home.config()).unwrap();
        std::fs::write(home.config(), rule + &config).unwrap();
        let watching = Watching::start(&home, &[form]);
        watching.until("a first look", |_| true);
        assert!(!told.exists(), "the rule ran too early");

        propose(&gate.address, r#","agent":"refunds""#);

        let said = eventually("the command runs", || std::fs::read_to_string(&told).ok());
        assert_eq!(said, "placet: 1 pending, oldest <1 m\n", "{form}: only counts");
        watching.ends(Signal::TERM);
    }
}

#[test]
fn closed_pipe_ends_watch_quietly() {
    let (home, _gate) = served();
    for form in ["--json", "--line"] {
        let mut command = home.command(&["watch", form]);
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        drop(out);

        let status = eventually("it ends", || child.try_wait().unwrap());

        let said = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
        assert_eq!((status.code(), said.as_str()), (Some(0), ""), "{form}");
    }
}

#[test]
fn wrong_arguments_are_refused_before_any_request() {
    let home = Home::with_config("");
    for args in [
        &["--once", "--window", "0"][..],
        &["--once", "--window", "1441"],
        &["--json", "--line"],
        &["--source", "team"],
        &["--window", "60"],
        &["--format", "{pending}"],
        &["--line", "--format", "{nothing}"],
        &["--once", "--source", "nobody"],
    ] {
        let refused = home.run(&[&["watch"], args].concat());
        assert_eq!((refused.status.code(), stdout(&refused).as_str()), (Some(2), ""), "{args:?}");
    }
}
