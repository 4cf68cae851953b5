//! Registers this gate's policies for other gates on the database and compares theirs, at start and every 10 seconds.
//! Gates that differ keep running and log it: a rolling change of the configuration makes them differ.

use std::net::{IpAddr, SocketAddr};
use std::sync::PoisonError;
use std::time::Duration;

use tokio::time::MissedTickBehavior;
use uuid::Uuid;

use super::executor::restarting;
use super::policies::{Disagreement, Registered};
use super::state::Gate;
use super::store::StoreError;

const EVERY: Duration = Duration::from_secs(10);
/// Limit for unregistering at stop.
const GOODBYE: Duration = Duration::from_secs(2);

/// Beats until the gate drains. After that it decides and begins nothing, so its policies no longer matter.
pub(crate) async fn run(gate: Gate, address: SocketAddr) {
    let me = gate.inner.registered.get_or_init(|| registered(&gate, address)).id.clone();
    restarting(&gate.inner.draining, || beats(gate.clone())).await;
    let left = tokio::time::timeout(GOODBYE, gate.store().leave(&me)).await;
    if !matches!(left, Ok(Ok(()))) {
        tracing::debug!(?left, "the other gates find out by themselves that this one stops");
    }
}

fn registered(gate: &Gate, address: SocketAddr) -> Registered {
    Registered {
        id: Uuid::new_v4().simple().to_string(),
        name: name(address, rustix::system::uname().nodename().to_string_lossy().as_ref()),
        started_at: gate.inner.clock.now(),
        policies: gate.inner.tools.policies(),
    }
}

/// Returns the address, or machine name and port if it is a loopback or unspecified address.
fn name(address: SocketAddr, machine: &str) -> String {
    let nowhere = |ip: IpAddr| ip.is_loopback() || ip.is_unspecified();
    if nowhere(address.ip()) { format!("{machine}:{}", address.port()) } else { address.to_string() }
}

async fn beats(gate: Gate) {
    let mut failing = false;
    let mut timer = tokio::time::interval(EVERY);
    timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = gate.inner.draining.cancelled() => return,
            _ = timer.tick() => {}
        }
        let beat = beat(&gate).await;
        match &beat {
            Err(error) if !failing => tracing::warn!(%error, "cannot look which other gates there are"),
            Ok(()) if failing => tracing::info!("finds the other gates again"),
            _ => {}
        }
        failing = beat.is_err();
    }
}

/// Registers this gate. Logs a disagreement when it begins and when it ends.
pub(crate) async fn beat(gate: &Gate) -> Result<(), StoreError> {
    let Some(me) = gate.inner.registered.get() else { return Ok(()) };
    let others = gate.store().beat(me).await?;
    let now: Vec<_> = others.iter().filter_map(|other| Disagreement::between(me, other)).collect();
    let mut kept = gate.inner.disagreements.lock().unwrap_or_else(PoisonError::into_inner);
    for new in only_in(&now, &kept) {
        tracing::warn!(gate = new.gate, tools = ?new.tools, "gates differ: {}", new.message());
    }
    for gone in only_in(&kept, &now) {
        tracing::info!(gate = gone.gate, "gates differ no more: that one is gone");
    }
    *kept = now;
    Ok(())
}

fn only_in<'a>(some: &'a [Disagreement], others: &[Disagreement]) -> Vec<&'a Disagreement> {
    some.iter().filter(|it| !others.contains(it)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Timestamp;
    use crate::gate::policies::Policies;

    #[test]
    fn disagreement_is_logged_once_when_it_begins_and_ends() {
        let gate = |id: &str, policies: Policies| {
            let started_at = Timestamp::from_millis(0);
            Registered { id: id.to_owned(), name: "db1:7878".to_owned(), started_at, policies }
        };
        let other = Policies { denied: ["t".to_owned()].into(), ..Policies::default() };
        let me = gate("me", Policies::default());
        // `second` is the same gate after a restart.
        let [first, again, second] =
            ["1", "1", "2"].map(|id| Disagreement::between(&me, &gate(id, other.clone())).unwrap());

        let beat = |before: &[Disagreement], now: &[Disagreement]| {
            [only_in(now, before), only_in(before, now)].map(|told| told.len())
        };

        assert_eq!(beat(&[], std::slice::from_ref(&first)), [1, 0]);
        assert_eq!(beat(std::slice::from_ref(&first), &[again]), [0, 0]);
        assert_eq!(beat(std::slice::from_ref(&first), &[second]), [1, 1]);
        assert_eq!(beat(&[first], &[]), [0, 1]);
    }

    #[test]
    fn gate_on_common_address_is_named_by_machine() {
        let name = |address: &str| name(address.parse().unwrap(), "db1");

        assert_eq!(["127.0.0.1:7878", "[::]:7"].map(name), ["db1:7878", "db1:7"]);
        assert_eq!(["10.0.0.2:7878", "[fd00::1]:7"].map(name), ["10.0.0.2:7878", "[fd00::1]:7"]);
    }
}
