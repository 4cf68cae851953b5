//! Completion scripts, in a real bash.

use std::path::Path;
use std::process::{Command, Stdio};

use super::support::agent;
use super::support::gate::Gate;
use super::support::home::{Home, WRITE_FILE};
use super::support::team;

fn offered(home: &Home, words: &[&str]) -> Vec<String> {
    let bin = Path::new(env!("CARGO_BIN_EXE_placet")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    // This is how bash calls completions: it sets the COMP variables and passes the last two arguments.
    let script = r#"
        source <(placet completions bash)
        COMP_WORDS=(placet "$@"); COMP_CWORD=$#; COMP_TYPE=9
        _clap_complete_placet placet "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    let mut command = Command::new("bash");
    command.args(["--norc", "-c", script, "bash"]).args(words).env_clear().envs(home.env());
    let output = command.env("PATH", path).stdin(Stdio::null()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{words:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn bash_completes_commands_flags_names_and_current_ids() {
    let gate_home = Home::with_config(WRITE_FILE);
    let gate = Gate::serve(&gate_home, &[]);
    let filters =
        "[[filter]]\nname = \"old\"\ntext = \"age:>1h\"\n[[filter]]\nname = \"$(touch x)\"\ntext = \"a\"\n";
    let home = Home::with_config(&format!("{}{filters}", team(&gate, &gate_home)));
    let body = r#"{"toolName":"write_note","toolInput":{"n":1},"workspaceId":"default","title":"$(reboot)"}"#;
    let mut ids = [agent::propose(&gate.address, body), agent::propose(&gate.address, body)];
    ids.sort();

    assert_eq!(offered(&home, &["comp"]), ["completions"], "hidden commands are not offered");
    assert_eq!(offered(&home, &["list", "--col"]), ["--columns"]);
    assert_eq!(offered(&home, &["list", "--source", ""]), ["team"]);
    assert_eq!(offered(&home, &["log", "--source", "te"]), ["team"]);
    assert_eq!(offered(&home, &["list", "--filter", ""]), ["old"], "no shell metacharacters");
    assert_eq!(offered(&home, &["list", "--status", "e"]), ["executed", "expired"]);
    let mut shown = offered(&home, &["show", ids[0].get(..2).unwrap()]);
    shown.sort();
    assert!(shown.contains(&ids[0]) && shown.iter().all(|id| ids.contains(id)), "{shown:?}");
    let mut approved = offered(&home, &["decide", "--approve", ""]);
    approved.sort();
    assert_eq!(approved, ids);
}

#[test]
fn completion_without_a_gate_starts_nothing_and_is_silent() {
    let alone = Home::with_config("[gate]\nlisten = \"127.0.0.1:0\"\n");
    let away = "[[source]]\nname = \"away\"\nkind = \"gate\"\nurl = \"http://127.0.0.1:9\"\n";
    let (away, broken) = (Home::with_config(away), Home::with_config("[watch]\npoll_secnds = 3\n"));

    assert_eq!(offered(&alone, &["decide", "--approve", "x"]), Vec::<String>::new());
    assert_eq!(std::fs::read_dir(alone.state()).unwrap().count(), 0, "no gate, no journal, no log");
    assert_eq!(offered(&away, &["decide", "--reject", "x"]), Vec::<String>::new());
    assert_eq!(offered(&broken, &["list", "--source", "x"]), Vec::<String>::new());
}

#[test]
fn ids_of_a_local_gate_complete_without_a_configuration() {
    let home = Home::with_config(WRITE_FILE);
    let gate = Gate::serve(&home, &[]);
    let body = r#"{"toolName":"write_note","toolInput":{"n":1},"workspaceId":"default"}"#;
    let id = agent::propose(&gate.address, body);

    assert_eq!(offered(&home, &["show", id.get(..4).unwrap()]), std::slice::from_ref(&id));
    let (address, note) = (gate.listen(), home.state().join("gate.json"));
    gate.kill_9();
    let stranger = std::net::TcpListener::bind(&address).unwrap();
    stranger.set_nonblocking(true).unwrap();

    assert!(note.exists());
    assert_eq!(offered(&home, &["show", id.get(..4).unwrap()]), Vec::<String>::new());
    assert!(stranger.accept().is_err(), "a stranger on the port gets no connection");
}

#[test]
fn every_shell_has_a_script() {
    let home = Home::with_config("");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish", "nushell"] {
        let output = home.run(&["completions", shell]);
        assert_eq!(output.status.code(), Some(0), "{shell}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("placet"), "{shell}");
    }
}
