//! The trait `Source` and its adapters: a folder for each kind of backend, and an arm for it in `with`.

use std::sync::Arc;
use std::time::Duration;

use crate::config::{SourceConfig, SourceKind};
use setup::Patience;

mod agent_client;
mod agents_api;
mod answer;
mod confused_ai;
mod dendrux;
mod error;
mod health_check;
mod pending_actions;
mod recent;
mod send_each;
mod setup;
mod signals;
mod source;
#[cfg(test)]
pub(crate) mod tests;
mod warden;

pub use agent_client::{AgentClient, Claim, RunOutcome, TokenOpens, Until};
pub use error::SourceError;
pub use health_check::clock;
pub use setup::OpenError;
pub use source::{
    Abilities, Connection, Context, EventKind, Figures, Full, History, Identity, Listed, Lookup, Outcomes,
    PagesEnd, ResolveUnknown, Source, SourceInfo, Synced, TakeBack, Timeline,
};

/// Opens the configured source. Does not connect or read a token yet, but reads `ca_file`.
pub fn open(config: &SourceConfig) -> Result<Arc<dyn Source>, OpenError> {
    with(config, Patience::USUAL)
}

/// Like [`open`], for a health check: no request takes more than ten seconds, so that the check that hangs can be
/// named.
pub fn open_to_look(config: &SourceConfig) -> Result<Arc<dyn Source>, OpenError> {
    with(config, Patience { request: Duration::from_secs(10), backoff: None })
}

fn with(config: &SourceConfig, patience: Patience) -> Result<Arc<dyn Source>, OpenError> {
    match &config.kind {
        SourceKind::Gate | SourceKind::Praxiom(_) => pending_actions::open(config, patience),
        SourceKind::Warden(_) => warden::open(config, patience),
        SourceKind::Dendrux(_) => dendrux::open(config, patience),
        SourceKind::AgentsApi(_) => agents_api::open(config, patience),
        SourceKind::ConfusedAi => confused_ai::open(config, patience),
    }
}

#[cfg(test)]
const WORLDS: [&[tests::Place]; 5] = [
    agents_api::world::WORLDS,
    confused_ai::world::WORLDS,
    dendrux::world::WORLDS,
    pending_actions::world::WORLDS,
    warden::world::WORLDS,
];

/// Like [`open`], for tests that break connections: requests take at most `limit`, and streams reconnect at once.
#[cfg(test)]
pub(crate) fn open_in_a_hurry(config: &SourceConfig, limit: Duration) -> Result<Arc<dyn Source>, OpenError> {
    let backoff = Some((Duration::from_millis(2), Duration::from_millis(20)));
    with(config, Patience { request: limit, backoff })
}
