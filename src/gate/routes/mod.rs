//! One file per route: reads the request, calls the store, writes the reply. Rules live in the store.

pub(crate) mod batch;
pub(crate) mod changes;
pub(crate) mod checkpoint;
pub(crate) mod claims;
pub(crate) mod counts;
pub(crate) mod decide;
pub(crate) mod flows;
pub(crate) mod get;
pub(crate) mod list;
pub(crate) mod metrics;
pub(crate) mod openapi;
pub(crate) mod owner;
pub(crate) mod propose;
pub(crate) mod pull;
pub(crate) mod reply;
pub(crate) mod sent;
pub(crate) mod stream;
pub(crate) mod tools;
