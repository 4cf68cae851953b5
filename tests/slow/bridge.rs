//! The Python bridge against a real gate, with the README's agent and the lines of docs/agents.md as written.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use placet::for_tests::{Fields, json};

use super::support::gate::Gate;
use super::support::home::Home;
use super::support::{agent, eventually};

/// `leased` is retried after its lease ends. Every other tool waits for its agent, as without configuration.
const PULL: &str =
    "[gate]\nlisten = \"127.0.0.1:0\"\n[gate.tools.leased]\nexecutor = \"pull\"\nretry = \"safe\"\n";

/// Start of the line with which the README's agent reports a queued call.
const SIGNAL: &str = "refund did not run. It waits for a human";

const COMMAND: &str =
    "[gate]\nlisten = \"127.0.0.1:0\"\n[gate.tools.refund]\nexecutor = \"command\"\nargv = [\"cat\"]\n";

const LIMIT: Duration = Duration::from_mins(2);

struct Python {
    child: Child,
    out: PathBuf,
    err: PathBuf,
}

impl Python {
    fn start(home: &Home, args: &[&str], env: &[(&str, &str)]) -> Self {
        Self::start_program(home, "python3", args, env)
    }

    fn start_program(home: &Home, program: &str, args: &[&str], env: &[(&str, &str)]) -> Self {
        let (out, err) = (home.path().join("python.out"), home.path().join("python.err"));
        let child = Command::new(program)
            .current_dir(home.path())
            .args(args)
            .env_clear()
            .envs(home.env())
            .envs(env.iter().copied())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("PYTHONIOENCODING", "utf-8")
            .env("PYTHONUNBUFFERED", "1")
            .stdin(Stdio::null())
            .stdout(File::create(&out).unwrap())
            .stderr(File::create(&err).unwrap())
            .spawn()
            .unwrap();
        Self { child, out, err }
    }

    fn out(&self) -> String {
        fs::read_to_string(&self.out).unwrap()
    }

    fn err(&self) -> String {
        fs::read_to_string(&self.err).unwrap()
    }

    /// Waits for a successful end and returns standard output and standard error.
    fn finish(mut self) -> (String, String) {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                assert!(status.success(), "{status}:\n{}{}", self.out(), self.err());
                return (self.out(), self.err());
            }
            assert!(started.elapsed() < LIMIT, "it does not end:\n{}{}", self.out(), self.err());
            std::thread::park_timeout(Duration::from_millis(20));
        }
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn bridge_works_with_a_real_gate() {
    let home = Home::with_config(PULL);
    let gate = Gate::serve(&home, &[]);
    let (agent, owner) = (home.state().join("agent.token"), home.state().join("owner.token"));

    for file in ["test_gated.py", "test_hold.py"] {
        let tests = root().join("tests/bridges").join(file);
        let python = Python::start(
            &home,
            &["-W", "error", tests.to_str().unwrap()],
            &[
                ("PLACET_URL", &gate.address.url),
                ("PLACET_TOKEN_FILE", agent.to_str().unwrap()),
                ("OWNER_TOKEN_FILE", owner.to_str().unwrap()),
            ],
        );

        let (_, said) = python.finish();
        assert!(said.contains("Ran ") && said.contains("OK") && !said.contains("skipped"), "{said}");
    }
}

#[test]
fn readme_agent_waits_for_approval_and_runs() {
    let home = Home::with_config(PULL);
    let gate = Gate::serve(&home, &[]);
    let python = start_readme_agent(&home);
    let id = queued(&gate, &python);

    approve(&gate, &id);

    assert_ran(&python.finish());
}

#[test]
fn readme_agent_waits_through_a_gate_restart() {
    let home = Home::with_config(PULL);
    let first = Gate::serve(&home, &[]);
    let python = start_readme_agent(&home);
    let (listen, id) = (first.listen(), queued(&first, &python));

    first.kill_9();
    let second = Gate::serve(&home, &["--listen", &listen]);
    approve(&second, &id);

    assert_ran(&python.finish());
}

#[test]
fn python_line_waits_for_approval_and_runs() {
    let home = Home::with_config(PULL);
    let gate = Gate::serve(&home, &[]);
    copy_gate_py(&home);
    let line = line_of("Python");
    let program = format!(
        "from placet import Gate\ndef refund(to, cents):\n    print(to, cents)\n    return 'refunded'\n{line}\n"
    );
    let python = Python::start(&home, &["-c", &program], &[]);

    let id = eventually("it waits", || pending(&gate));
    approve(&gate, &id);

    assert_eq!(python.finish().0, "ilka 100\n");
    assert!(agent::get(&gate.address, &id).body.contains(r#""result":"refunded""#));
}

#[test]
fn shell_and_http_lines_are_recorded_and_run() {
    let binary = Path::new(env!("CARGO_BIN_EXE_placet")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    for who in ["a shell", "HTTP"] {
        let home = Home::with_config(COMMAND);
        let gate = Gate::serve(&home, &[]);
        fs::write(home.path().join("refund.json"), r#"{"to": "ilka", "cents": 100}"#).unwrap();
        let token = home.state().join("agent.token");
        let env = [
            ("PATH", path.as_str()),
            ("PLACET_URL", &gate.address.url),
            ("PLACET_TOKEN_FILE", token.to_str().unwrap()),
        ];
        let shell = Python::start_program(&home, "sh", &["-c", &line_of(who)], &env);

        let id = eventually("it waits", || pending(&gate));
        approve(&gate, &id);

        let (out, _) = shell.finish();
        assert!(out.contains(&id), "{who}: {out}");
        eventually("it ran", || (agent::status(&gate.address, &id) == "executed").then_some(()));
    }
}

#[test]
fn lines_for_coding_agents_change_their_settings() {
    let home = Home::with_config(PULL);
    let server = r#"{"mcpServers": {"NAME": {"command": "server", "args": ["here"]}}}"#;
    fs::write(home.path().join(".mcp.json"), server).unwrap();
    let binary = Path::new(env!("CARGO_BIN_EXE_placet")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    for (who, file, words) in [
        ("Claude Code", ".claude/settings.json", "hook --client claude-code"),
        ("Codex", ".codex/hooks.json", "hook --client codex"),
        ("Gemini CLI", ".gemini/settings.json", "hook --client gemini"),
        ("any MCP client", ".mcp.json", r#""mcp""#),
    ] {
        // There is no terminal to ask on.
        let line = format!("{} --yes", line_of(who));
        let (out, err) = Python::start_program(&home, "sh", &["-c", &line], &[("PATH", &path)]).finish();

        let settings = fs::read_to_string(home.path().join(file)).unwrap_or_default();
        assert!(settings.contains(words), "{who}: {settings}\n{out}\n{err}");
    }
}

fn line_of(who: &str) -> String {
    let page = fs::read_to_string(root().join("docs/agents.md")).unwrap();
    let row = page.lines().find_map(|line| line.strip_prefix(&format!("| {who} | `"))).unwrap();
    row.split_once('`').unwrap().0.to_owned()
}

fn pending(gate: &Gate) -> Option<String> {
    let path = "/api/pending-actions?status=pending&view=row";
    let body = agent::request(&gate.address, &gate.address.owner_token, "GET", path, "").body;
    let items = json::elements(Fields::of(&body).unwrap().raw("items").unwrap()).unwrap();
    assert!(items.len() < 2, "{body}");
    items.first().map(|item| Fields::of(item).unwrap().text("id").unwrap().as_raw().to_owned())
}

fn copy_gate_py(home: &Home) {
    let file = root().join("assets/bridges/python/src/placet/gate.py");
    fs::copy(file, home.path().join("placet.py")).unwrap();
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Starts the agent from the README next to a copy of the bridge. It finds the gate like any agent on this machine.
fn start_readme_agent(home: &Home) -> Python {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let (_, rest) = readme.split_once("<!-- agent: ").expect("the agent's start mark");
    let (_, rest) = rest.split_once("```python\n").expect("the agent's block");
    let (program, _) = rest.split_once("```\n<!-- /agent -->").expect("the agent's end mark");
    let path = home.path().join("agent.py");
    fs::write(&path, program).unwrap();
    copy_gate_py(home);
    Python::start(home, &[path.to_str().unwrap()], &[])
}

/// Returns the id of the proposed action, once the agent said that it is queued.
fn queued(gate: &Gate, python: &Python) -> String {
    eventually("the agent has its signal", || python.out().ends_with('\n').then_some(()));
    assert!(python.out().starts_with(SIGNAL) && python.out().lines().count() == 1, "{}", python.out());
    pending(gate).unwrap()
}

fn approve(gate: &Gate, id: &str) {
    let path = format!("/api/pending-actions/{id}/approve");
    let reply = agent::request(&gate.address, &gate.address.owner_token, "POST", &path, "{}");
    assert_eq!(reply.status, 200, "{}", reply.body);
}

fn assert_ran((out, err): &(String, String)) {
    let after = out.split_once('\n').map(|(_, after)| after);
    assert_eq!(after, Some("129.90 EUR to ilka@example.com\nexecuted: refunded\n"), "{out}{err}");
}
