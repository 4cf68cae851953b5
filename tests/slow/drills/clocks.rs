//! Two gates with clocks ten minutes apart: expiry and leases follow the database server's clock.

use std::collections::BTreeSet;

use super::{PROPOSALS, asked, crowd};
use crate::support::agent::{self, approve, propose, request, status};
use crate::support::eventually;
use crate::support::lab::Node;
use crate::support::postgres::Server;

const CONFIG: &str = r#"
[gate]
listen = "127.0.0.1:0"
[gate.tools.manual]
executor = "command"
argv = ["sh", "-c", "echo \"$PLACET_ACTION_ID\" >> \"$RAN\""]
env = { RAN = "@RAN@" }
retry = "manual"
timeout_seconds = 20
[gate.tools.pulled]
executor = "pull"
"#;

fn proposal(tool: &str, more: &str) -> String {
    format!(r#"{{"workspaceId":"default","toolName":"{tool}","toolInput":{{}}{more}}}"#)
}

#[test]
fn drill_clock_skew_of_minutes_does_no_harm() {
    let Some(programs) = asked("the clocks of two gates are ten minutes apart") else { return };
    let server = Server::on_a_port(programs, &[]);
    // Both gates share a configuration, because an action runs only under the terms it was approved under.
    let folder = tempfile::tempdir().unwrap();
    let ran = folder.path().join("ran");
    let config = CONFIG.replace("@RAN@", ran.to_str().unwrap());
    let node = |ahead| Node::with_env(&server, &config, &[("PLACET_CLOCK_AHEAD", ahead)]);
    let mut nodes = [node("300000"), node("-300000")];
    let ways = crowd::ways(&nodes);

    // Each action runs once, at either gate, within its timeout.
    let ids: Vec<_> = (0..20).map(|nth| propose(&ways[nth % 2], &proposal("manual", ""))).collect();
    for (nth, id) in ids.iter().enumerate() {
        approve(&ways[nth % 2], id);
    }
    for id in &ids {
        eventually("it has run", || {
            let status = status(&ways[0], id);
            assert!(["approved", "executed"].contains(&status.as_str()), "{}", agent::get(&ways[0], id).body);
            (status == "executed").then_some(())
        });
    }
    let ran = std::fs::read_to_string(ran).unwrap();
    let ran: Vec<_> = ran.lines().collect();
    assert_eq!((ran.len(), ran.iter().collect::<BTreeSet<_>>().len()), (20, 20), "{ran:?}");

    // A time to live starts at the server's current time.
    for way in &ways {
        let id = propose(way, &proposal("other", r#","ttlSeconds":60"#));
        let off = format!(
            "SELECT abs(expires_at - created_at - 60000) < 5000 FROM placet.actions WHERE id = '{id}'"
        );
        assert_eq!(server.sql(&off), "t");
    }

    // One gate alone sweeps a lease and an expiry: first the one ahead, then the one behind.
    for swept_by in [0, 1] {
        nodes[1 - swept_by].kill_9();
        let way = &ways[swept_by];
        let claimed = propose(way, &proposal("pulled", ""));
        approve(way, &claimed);
        let path = format!("{PROPOSALS}/{claimed}/claim");
        let claim = request(way, &way.agent_token, "POST", &path, r#"{"leaseSeconds":60}"#);
        assert_eq!(claim.status, 200, "{}", claim.body);
        let short = propose(way, &proposal("other", r#","ttlSeconds":1"#));
        let lost = propose(way, &proposal("pulled", ""));
        approve(way, &lost);
        let path = format!("{PROPOSALS}/{lost}/claim");
        assert_eq!(request(way, &way.agent_token, "POST", &path, r#"{"leaseSeconds":1}"#).status, 200);

        eventually("it has expired", || (status(way, &short) == "expired").then_some(()));
        eventually("its lease has run out", || (status(way, &lost) == "unknown").then_some(()));
        let stands = format!("SELECT status FROM placet.actions WHERE id = '{claimed}'");
        assert_eq!(server.sql(&stands), "running", "its lease lasts a minute");
        nodes[1 - swept_by].serve();
    }
}
