//! Tests of the gate over HTTP: a served gate on a free port, real requests, a database on disk.

mod approving;
mod backups;
mod batches;
mod callbacks;
mod calls;
mod claims;
mod contract;
mod counting;
mod deciding;
mod durability;
mod flows;
mod gates;
mod goals;
mod moving;
mod openapi;
mod people;
mod policy;
mod postgres;
mod postgres_tls;
mod proposing;
mod proxy;
mod pruning;
mod pulling;
mod reach;
mod reading;
mod refusing;
pub(crate) use crate::rounds;
mod running;
mod seed;
mod streaming;
mod support;
mod wall;

/// Opens a gate without serving it.
pub(super) async fn open(folder: &std::path::Path) -> super::Gate {
    super::Gate::open(&support::config(folder)).await.unwrap()
}

pub(super) fn settings(folder: &std::path::Path) -> crate::config::GateConfig {
    support::config(folder)
}
