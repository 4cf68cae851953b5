//! Drills: gates and clients while their PostgreSQL server fails.
//!
//! They run with `PLACET_NEEDS_POSTGRES` and report as skipped without it. `PLACET_LONG` selects the long form.

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

/// The tools have no executor, so an approval is final. The limits allow any number of proposals.
const CONFIG: &str = r#"
[gate]
listen = "127.0.0.1:0"
[gate.limits]
proposals_per_minute = 4000000000
proposal_burst = 4000000000
pending_per_workspace = 1000000
"#;

const PROPOSALS: &str = "/api/pending-actions";

/// Returns the server's programs; `None` without `PLACET_NEEDS_POSTGRES`.
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

fn ready(node: &Node) -> Reply {
    try_request(&node.address, "", "GET", "/readyz", "").expect("the gate does not answer")
}

/// Returns whether placet's refusal names the database as the reason.
fn blames_the_database(reply: &Reply) -> bool {
    reply.status == 503
        && reply.body.contains(r#""code":"UNAVAILABLE""#)
        && ["database server", "database cannot be reached", "connection to the database"]
            .iter()
            .any(|words| reply.body.contains(words))
}
