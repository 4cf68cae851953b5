//! Drills: what becomes of gates, their clients and what they acknowledged when the PostgreSQL beneath them fails.
//!
//! They run where `PLACET_NEEDS_POSTGRES` asks for them, and say what they left out elsewhere. `PLACET_LONG` has the long form.

mod clocks;
mod crowd;
mod disk;
mod doubt;
mod failover;
mod restarts;
mod silence;

use std::path::PathBuf;

use super::support::agent::{Reply, try_request};
use super::support::lab::Node;
use super::support::postgres::programs;
use super::support::skipped;

/// Tools that nothing here runs: an approval is the end. Every proposal is welcome.
const CONFIG: &str = r#"
[gate]
listen = "127.0.0.1:0"
[gate.limits]
proposals_per_minute = 4000000000
proposal_burst = 4000000000
pending_per_workspace = 1000000
"#;

const PROPOSALS: &str = "/api/pending-actions";

/// The server's programs; `None` where nobody asked for drills.
pub(crate) fn asked(drill: &str) -> Option<PathBuf> {
    if std::env::var_os("PLACET_NEEDS_POSTGRES").is_none() {
        skipped(&format!(
            "{drill}; PLACET_NEEDS_POSTGRES=1 asks for it, and needs Debian's package postgresql"
        ));
        return None;
    }
    Some(programs().expect("there is no PostgreSQL"))
}

fn is_long() -> bool {
    std::env::var_os("PLACET_LONG").is_some()
}

/// What `/readyz` of a gate says.
fn ready(node: &Node) -> Reply {
    try_request(&node.address, "", "GET", "/readyz", "").expect("the gate answers")
}

/// A refusal that says that the database is the reason, in words of ours.
fn blames_the_database(reply: &Reply) -> bool {
    reply.status == 503
        && reply.body.contains(r#""code":"UNAVAILABLE""#)
        && ["database server", "database cannot be reached", "connection to the database"]
            .iter()
            .any(|words| reply.body.contains(words))
}
