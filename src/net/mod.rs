//! HTTP and server-sent events; the only module that uses reqwest and eventsource-client. Callers interpret statuses.

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
