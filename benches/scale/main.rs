//! Measures several gates: two on one PostgreSQL against one on SQLite and against bare commits, a million settled
//! actions, and a long run with kills. Prints Markdown, the figures of `docs/scale.md`.
//!
//! `cargo bench --bench scale` measures 100,000 actions and two minutes of kills. After `--`: `--quick` takes about two
//! minutes in all, `--full` has the sizes of docs/scale.md and takes about two hours; `rates`, `briefings`, `actions`
//! and `history` select parts; `--write` puts the figures into docs/scale.md; `--actions N`, `--minutes N` and `--seed
//! N` override sizes.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it prints what it measured, and how far it is"
)]
#![allow(
    clippy::cast_precision_loss,
    clippy::format_push_string,
    clippy::assigning_clones,
    clippy::similar_names,
    clippy::struct_field_names,
    reason = "figures for people, and a text of a few lines"
)]

mod actions;
mod briefings;
mod history;
mod killing;
mod lab;
mod lives;
#[path = "../../tests/slow/support/postgres.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod postgres;
mod rates;
mod report;
#[path = "../served/mod.rs"]
mod served;

use std::time::Duration;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    /// Duration of one measurement of a rate.
    pub(crate) spell: Duration,
    /// Repetitions of each rate.
    pub(crate) rounds: usize,
    pub(crate) briefings: usize,
    pub(crate) actions: usize,
    /// Requests of each kind in the long history.
    pub(crate) requests: usize,
    pub(crate) killing: Duration,
    pub(crate) seed: u64,
}

const QUICK: Scale = Scale {
    spell: Duration::from_secs(2),
    rounds: 1,
    briefings: 10,
    actions: 5_000,
    requests: 20,
    killing: Duration::from_secs(20),
    seed: 1,
};
const USUAL: Scale = Scale {
    spell: Duration::from_secs(5),
    rounds: 1,
    briefings: 50,
    actions: 100_000,
    requests: 100,
    killing: Duration::from_mins(2),
    seed: 1,
};
const FULL: Scale = Scale {
    spell: Duration::from_secs(10),
    rounds: 3,
    briefings: 200,
    actions: 1_000_000,
    requests: 200,
    killing: Duration::from_mins(30),
    seed: 1,
};

const PARTS: [&str; 4] = ["rates", "briefings", "actions", "history"];

#[tokio::main]
async fn main() {
    rustls::crypto::ring::default_provider().install_default().ok();
    // The PostgreSQL data must be on a disk, too.
    tempfile::env::override_temp_dir(env!("CARGO_TARGET_TMPDIR").as_ref()).ok();
    // Cargo passes `--bench`.
    let given: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let has = |name: &str| given.iter().any(|arg| arg == name);
    let number = |name: &str| {
        let at = given.iter().position(|arg| arg == name)?;
        Some(given.get(at + 1)?.parse::<u64>().unwrap_or_else(|_| panic!("{name} takes a number")))
    };
    let mut scale = match (has("--quick"), has("--full")) {
        (true, _) => QUICK,
        (_, true) => FULL,
        _ => USUAL,
    };
    scale.actions = number("--actions").map_or(scale.actions, |actions| actions as usize);
    scale.killing = number("--minutes").map_or(scale.killing, |minutes| Duration::from_secs(minutes * 60));
    scale.seed = number("--seed").unwrap_or(scale.seed);
    let parts: Vec<&str> = PARTS.into_iter().filter(|part| has(part)).collect();
    let parts = if parts.is_empty() { PARTS.to_vec() } else { parts };
    let mut sections = Vec::new();
    for part in parts {
        eprintln!("== {part}");
        let section = match part {
            "rates" => rates::measure(&scale).await,
            "briefings" => briefings::measure(&scale).await,
            "actions" => actions::measure(&scale).await,
            _ => killing::measure(&scale).await,
        };
        println!("{section}");
        sections.push(section);
    }
    if has("--write") {
        report::write(&sections);
    }
}
