//! Output to pipes and files contains no terminal codes, even with hostile actions.

use std::process::Output;

use super::support::agent;
use super::support::gate::Gate;
use super::support::home::{Home, WRITE_FILE};
use super::support::team;

const HOSTILE: &str = r#"{"toolName":"write_note\u001b[31m","toolInput":{"t":"\u001b]0;x\u0007\u009b2J"},"workspaceId":"default",
    "agent":"=cmd\u001b[2J","summary":"\u001b[2J","title":"\u001b[31m=1+1\u202e\r\n","missionId":"\u001b[2J"}"#;

fn both(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn commands_write_no_escape_codes_into_pipes() {
    let gate_home = Home::with_config(WRITE_FILE);
    let gate = Gate::serve(&gate_home, &[]);
    let home = Home::with_config(&team(&gate, &gate_home));
    let ids: Vec<String> = (0..2).map(|_| agent::propose(&gate.address, HOSTILE)).collect();
    let reason = ["--reason", "no\u{1b}[2J\u{9b}1m"];
    let runs: Vec<Vec<&str>> = vec![
        vec!["list"],
        vec!["list", "--csv"],
        vec!["list", "--json"],
        vec!["list", "--line"],
        vec!["list", "--columns", "id,agent,mission,batch,tool,title"],
        vec!["list", "title:\u{1b}[2J"],
        vec!["list", "colour\u{1b}[2J:x"],
        vec!["list", "--status", "executed,failed"],
        vec!["show", &ids[0]],
        vec!["show", &ids[0], &ids[1], "--json"],
        vec!["show", "no\u{1b}[2J"],
        [&["decide", "--reject", &ids[0], "--dry-run"][..], &reason].concat(),
        [&["decide", "--reject", &ids[0]][..], &reason].concat(),
        vec!["decide", "--approve", &ids[1], "--dry-run", "--json"],
        vec!["log"],
        vec!["log", "--csv"],
        vec!["log", "--json"],
        vec!["log", "report"],
        vec!["log", "report", "--csv"],
        vec!["log", "export"],
        vec!["log", "export", "--csv"],
        vec!["log", "verify"],
        vec!["watch", "--once"],
        vec!["watch", "--once", "--json"],
        vec!["watch", "--once", "--line"],
        vec!["doctor"],
        vec!["schema"],
        vec!["man", "list"],
        vec!["completions", "fish"],
        vec!["config", "check"],
        vec!["--help"],
        vec!["list", "--help"],
        vec!["frobnicate"],
        vec!["list", "--statsu", "x"],
        vec![],
    ];
    for args in runs {
        for no_color in [false, true] {
            let mut command = home.command(&args);
            command.env("TERM", "xterm-256color").env("COLORTERM", "truecolor");
            if no_color {
                command.env("NO_COLOR", "1");
            }
            let said = both(&command.stdin(std::process::Stdio::null()).output().unwrap());
            let obeyed = said.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t'));
            assert_eq!(obeyed, None, "{args:?}: {said:?}");
            assert!(!said.is_empty(), "{args:?}");
        }
    }
}

#[test]
fn csv_contains_no_formulas() {
    let gate_home = Home::with_config(WRITE_FILE);
    let gate = Gate::serve(&gate_home, &[]);
    let home = Home::with_config(&team(&gate, &gate_home));
    for agent in ["=1+1", "+1", "-1", "@SUM(A1)", "a \\\"b\\\", c"] {
        let body = format!(
            r#"{{"toolName":"write_note","toolInput":{{}},"workspaceId":"default","agent":"{agent}"}}"#
        );
        agent::propose(&gate.address, &body);
    }

    let csv = both(&home.run(&["list", "--csv", "--columns", "agent,risk", "--sort", "age"]));

    assert!(csv.starts_with("agent,risk\n"), "{csv}");
    for cell in ["'=1+1,low", "'+1,low", "'-1,low", "'@SUM(A1),low", "\"a \"\"b\"\", c\",low"] {
        assert!(csv.contains(&format!("{cell}\n")), "{cell}: {csv}");
    }
}

#[test]
fn printed_input_is_exact() {
    let gate_home = Home::with_config(WRITE_FILE);
    let gate = Gate::serve(&gate_home, &[]);
    let home = Home::with_config(&team(&gate, &gate_home));
    let input = "{\"price\":1.10, \"n\":18446744073709551616,\"a\":1,\"a\":2 ,\"t\":\"\u{202e}é\"}";
    let body = format!(r#"{{"toolName":"write_note","toolInput":{input},"workspaceId":"default"}}"#);
    let ids = [agent::propose(&gate.address, &body), agent::propose(&gate.address, &body)];

    let one = home.run(&["show", "--raw", &ids[0]]);
    let two = home.run(&["show", "--raw", &ids[0], &ids[1]]);

    assert_eq!(String::from_utf8(one.stdout).unwrap(), input);
    assert_eq!(String::from_utf8(two.stdout).unwrap(), format!("{input}\n{input}\n"));
}
