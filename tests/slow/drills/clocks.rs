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
argv = ["sh", "-c", "echo \"$PLACET_ACTION_ID\" >> \"$OUT/ran\""]
env = { OUT = "@OUT@" }
retry = "manual"
timeout_seconds = 20
"#;
const FIVE_MINUTES: &str = "300000";

fn proposal(tool: &str, more: &str) -> String {
    format!(r#"{{"workspaceId":"default","toolName":"{tool}","toolInput":{{}}{more}}}"#)
}

#[test]
fn drill_clocks_that_differ_by_minutes_do_no_harm() {
    let Some(programs) = asked("the clocks of two gates are ten minutes apart") else { return };
    let server = Server::on_a_port(programs, &[]);
    let ahead = [("PLACET_CLOCK_AHEAD", FIVE_MINUTES)];
    let behind = [("PLACET_CLOCK_AHEAD", "-300000")];
    let mut nodes = [Node::with_env(&server, CONFIG, &ahead), Node::with_env(&server, CONFIG, &behind)];
    let ways = crowd::ways(&nodes);

    // Each is run by some gate, once, for as long as its tool may take.
    let ids: Vec<_> = (0..20).map(|nth| propose(&ways[nth % 2], &proposal("manual", ""))).collect();
    for (nth, id) in ids.iter().enumerate() {
        approve(&ways[nth % 2], id);
    }
    for id in &ids {
        eventually("it has run", || {
            let status = status(&ways[0], id);
            assert_ne!(status, "unknown", "{}", agent::get(&ways[0], id).body);
            (status == "executed").then_some(())
        });
    }
    let ran =
        nodes.each_ref().map(|node| std::fs::read_to_string(node.home.out().join("ran")).unwrap_or_default());
    let ran: Vec<_> = ran.iter().flat_map(|text| text.lines()).collect();
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
    for (swept_by, other) in [(0, 1), (1, 0)] {
        nodes[other].kill_9();
        let way = &ways[swept_by];
        let claimed = propose(way, &proposal("other", ""));
        approve(way, &claimed);
        let path = format!("{PROPOSALS}/{claimed}/claim");
        let claim = request(way, &way.agent_token, "POST", &path, r#"{"leaseSeconds":60}"#);
        assert_eq!(claim.status, 200, "{}", claim.body);
        let short = propose(way, &proposal("other", r#","ttlSeconds":1"#));
        let lost = propose(way, &proposal("other", ""));
        approve(way, &lost);
        let path = format!("{PROPOSALS}/{lost}/claim");
        assert_eq!(request(way, &way.agent_token, "POST", &path, r#"{"leaseSeconds":1}"#).status, 200);

        eventually("it has expired", || (status(way, &short) == "expired").then_some(()));
        eventually("its lease has run out", || (status(way, &lost) == "unknown").then_some(()));
        let stands = format!("SELECT status FROM placet.actions WHERE id = '{claimed}'");
        assert_eq!(server.sql(&stands), "running", "its lease holds for a minute");
        nodes[other].serve();
    }
}
