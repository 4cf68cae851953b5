//! A team's gate: concurrent commands on one database, and backups.

use std::process::Stdio;

use super::support::agent::{propose, request, status};
use super::support::gate::Gate;
use super::support::home::{Home, WRITE_FILE};

const TOKEN: [&str; 9] =
    ["gate", "token", "create", "--scopes", "read", "--subject", "kim", "--workspace", "default"];
const BODY: &str = r#"{"toolName":"write_note","workspaceId":"default","toolInput":{"n":1.10}}"#;

#[test]
fn commands_can_start_concurrently() {
    let home = Home::with_config(WRITE_FILE);
    let nowhere = home.run(&TOKEN);
    assert_eq!(nowhere.status.code(), Some(2), "a token needs an existing gate");
    for _ in 0..5 {
        let gate = Gate::serve(&home, &[]);
        let tokens = (0..4).map(|_| {
            let mut command = home.command(&TOKEN);
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        });
        for token in tokens.collect::<Vec<_>>() {
            let output = token.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let token = String::from_utf8(output.stdout).unwrap();
            assert_eq!(request(&gate.address, token.trim(), "GET", "/api/pending-actions", "").status, 200);
        }
        gate.kill_9();
    }
}

#[test]
fn backup_of_a_served_gate_can_be_served() {
    let home = Home::with_config(WRITE_FILE);
    let gate = Gate::serve(&home, &[]);
    let id = propose(&gate.address, BODY);
    let copy = home.path().join("copy.db");
    let copy = copy.to_str().unwrap();

    let made = home.run(&["gate", "backup", copy]);
    let refused = home.run(&["gate", "backup", copy]);
    let later = propose(&gate.address, BODY);
    let restored = Gate::serve(&home, &["--database", &format!("sqlite:{copy}")]);

    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("is there already"));
    let mut address = restored.address.clone();
    address.owner_token.clone_from(&gate.address.owner_token);
    assert_eq!(status(&address, &id), "pending");
    let path = format!("/api/pending-actions/{later}");
    assert_eq!(request(&address, &address.owner_token, "GET", &path, "").status, 404);
}
