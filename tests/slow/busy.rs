//! The watch view during load: it answers keys throughout and ends with the gate's numbers.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::support::agent::{Reply, propose, request};
use super::support::gate::{Address, Gate};
use super::support::home::Home;
use super::support::pty::Pty;

const CONFIG: &str = r#"
[gate]
listen = "127.0.0.1:0"
[gate.limits]
proposals_per_minute = 600000
proposal_burst = 5000
"#;

/// Attempted events per second; a slow machine reaches fewer and takes longer.
const EVENTS: u64 = 500;
const CYCLE: usize = 3;
/// Number of agents. Each waits for its answers, so it takes several to keep the pace.
const AGENTS: u64 = 40;

#[derive(Default)]
struct Books {
    proposed: AtomicU64,
    rejected: AtomicU64,
}

/// Returns the number of events per agent: four seconds' worth, twenty in the long form.
fn events() -> u64 {
    let seconds = if std::env::var_os("PLACET_LONG").is_some() { 20 } else { 4 };
    seconds * EVENTS / AGENTS
}

fn agent(address: &Address, nth: u64, started: Instant, books: &Books) {
    let body = format!(
        r#"{{"toolName":"send_email","workspaceId":"default","agent":"agent-{nth}","toolInput":{{"to":"ilka@example.com"}}}}"#
    );
    let mut id = String::new();
    for event in 0..events() {
        let due = Duration::from_micros(event * AGENTS * 1_000_000 / EVENTS);
        std::thread::park_timeout(due.saturating_sub(started.elapsed()));
        if event % 5 == 4 {
            let path = format!("/api/pending-actions/{id}/reject");
            let Reply { status, body } = request(address, &address.owner_token, "POST", &path, "{}");
            assert_eq!(status, 200, "{body}");
            books.rejected.fetch_add(1, Ordering::SeqCst);
        } else {
            id = propose(address, &body);
            books.proposed.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// Returns the gate's own counts: pending now, arrived and rejected in the last hour.
fn counted(address: &Address) -> [u64; 3] {
    let reply = request(address, &address.owner_token, "GET", "/api/flows?workspace_id=default", "");
    assert_eq!(reply.status, 200, "{}", reply.body);
    let flows: serde_json::Value = serde_json::from_str(&reply.body).unwrap();
    let queues = flows["queues"].as_array().unwrap();
    let minutes = || queues.iter().flat_map(|queue| queue["minutes"].as_array().unwrap());
    let sum = |name: &str| minutes().map(|minute| minute[name].as_u64().unwrap_or_default()).sum();
    [
        queues.iter().map(|queue| queue["pending"].as_u64().unwrap_or_default()).sum(),
        sum("arrived"),
        sum("rejected"),
    ]
}

#[test]
fn watch_view_of_a_busy_gate_stays_responsive_and_correct() {
    let home = Home::with_config(CONFIG);
    let gate = Gate::serve(&home, &[]);
    let mut screen = Pty::start(&home, (160, 45), &["watch"]);
    screen.wait("60 min");
    let (books, started) = (Books::default(), Instant::now());
    let (mut keys, mut slowest) = (0, Duration::ZERO);

    std::thread::scope(|scope| {
        let agents: Vec<_> = (0..AGENTS)
            .map(|nth| {
                let (address, books) = (&gate.address, &books);
                scope.spawn(move || agent(address, nth, started, books))
            })
            .collect();
        while keys < CYCLE || agents.iter().any(|agent| !agent.is_finished()) {
            let next = ["the last 1440 minutes", "the last 15 minutes", "the last 60 minutes"][keys % 3];
            let pressed = Instant::now();
            screen.send("w");
            screen.wait(next);
            slowest = slowest.max(pressed.elapsed());
            keys += 1;
        }
    });

    let took = started.elapsed();
    let (proposed, rejected) = (books.proposed.load(Ordering::SeqCst), books.rejected.load(Ordering::SeqCst));
    let all = proposed + rejected;
    let pace = f64::from(u32::try_from(all).unwrap()) / took.as_secs_f64();
    eprintln!("{pace:.0} events a second; {keys} keys, the slowest answered after {slowest:?}");
    assert_eq!(all, AGENTS * events());
    assert_eq!(counted(&gate.address), [proposed - rejected, proposed, rejected]);
    screen.wait(&format!(" {} pending ", proposed - rejected));
    screen.wait(&format!(" {rejected} excluded"));
}
