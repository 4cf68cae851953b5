//! Two gates whose clocks are ten minutes apart: what expires, and what is run for how long, goes by the server's.

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
fn drill_clocks_that_differ_by_minutes_do_no_harm() {
    let Some(programs) = asked("the clocks of two gates are ten minutes apart") else { return };
    let server = Server::on_a_port(programs, &[]);
    // One configuration for both: what was approved at one gate is run by another only under the same terms.
    let folder = tempfile::tempdir().unwrap();
    let ran = folder.path().join("ran");
    let config = CONFIG.replace("@RAN@", ran.to_str().unwrap());
    let node = |ahead| Node::with_env(&server, &config, &[("PLACET_CLOCK_AHEAD", ahead)]);
    let mut nodes = [node("300000"), node("-300000")];
    let ways = crowd::ways(&nodes);

    // Each is run by some gate, once, for as long as its tool may take.
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

    // A time to live is counted from now, wherever it is asked for.
    for way in &ways {
        let id = propose(way, &proposal("other", r#","ttlSeconds":60"#));
        let off = format!(
            "SELECT abs(expires_at - created_at - 60000) < 5000 FROM placet.actions WHERE id = '{id}'"
        );
        assert_eq!(server.sql(&off), "t");
    }

    // A lease and an expiry, swept by one gate alone, the one whose clock is ahead and then the one whose clock is behind.
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
        assert_eq!(server.sql(&stands), "running", "its lease holds for a minute");
        nodes[1 - swept_by].serve();
    }
}
