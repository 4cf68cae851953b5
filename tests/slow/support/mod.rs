//! Support for slow tests: terminal, gate, agent, home. Every wait has a condition and a limit.

pub(crate) mod agent;
pub(crate) mod chance;
pub(crate) mod gate;
pub(crate) mod home;
pub(crate) mod lab;
#[allow(dead_code, reason = "the gate's own tests and the benches use the rest")]
pub(crate) mod postgres;
pub(crate) mod pty;
pub(crate) mod relay;
mod skipped;
pub(crate) mod svg;
pub(crate) mod witness;

use std::process::{Child, Output};
use std::time::{Duration, Instant};

pub(crate) use self::skipped::skipped;

/// Maximum wait in a test. It is generous, because it costs time only on failure.
pub(crate) const LIMIT: Duration = Duration::from_mins(2);

/// Repeats `probe` until it returns a value.
pub(crate) fn eventually<T>(what: &str, mut probe: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = probe() {
            return found;
        }
        assert!(started.elapsed() < LIMIT, "never happened: {what}");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

/// Waits for a process that ends by itself. Its output must fit into the pipe's buffer.
pub(crate) fn ended(mut child: Child) -> Output {
    eventually("it ends", || child.try_wait().unwrap());
    child.wait_with_output().unwrap()
}

/// Returns a configuration whose only source is `gate`, as its owner.
pub(crate) fn team(gate: &gate::Gate, gate_home: &home::Home) -> String {
    format!(
        "[ui]\nhold_seconds = 0\n[[source]]\nname = \"team\"\nkind = \"gate\"\nurl = \"{}\"\ntoken_file = \"{}\"\n",
        gate.address.url,
        gate_home.state().join("owner.token").display()
    )
}
