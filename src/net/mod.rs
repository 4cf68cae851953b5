//! HTTP and server-sent events: the only room that knows reqwest and eventsource-client.
//!
//! It carries text and bytes and judges nothing but the transport: what a status means is the business of whoever asked.

pub mod backoff;
pub mod http;
pub mod post;
pub mod sse;
pub mod url;
pub mod webhook;

mod bearer;
mod public;
#[cfg(test)]
pub(crate) mod testing;

pub use bearer::Bearer;
