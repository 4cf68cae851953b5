//! The gate: the durable server that holds proposed writes until a person decides, and runs approved ones.
//!
//! Implements the pending-actions contract ([`crate::contract`]) over HTTP. Approvals are committed first and scheduled
//! after; a reconciler picks up work that a crash left. The inbox uses HTTP even if both run in one process.

mod admin;
mod audit;
mod auth;
mod bodies;
mod bootstrap_tokens;
mod briefings;
mod callbacks;
mod clock;
mod connections;
mod error;
mod events;
mod executor;
mod heartbeat;
mod host_guard;
mod judging;
mod limits;
mod metrics;
mod open;
mod policies;
mod proxy;
mod prune;
mod receivers;
mod reconcile;
mod router;
mod routes;
mod server;
mod state;
mod store;
mod terms;
#[cfg(test)]
mod tests;
mod tls;
mod token;
mod tool;
mod trace;
mod which;

pub use self::audit::AuditHead;
pub use self::error::GateError;
pub use self::open::{check, mistakes, warnings};
pub use self::state::{Gate, Stop};
pub use self::store::OpenApproval;
pub use self::store::moving::{Move, Moved};
pub use self::token::{NewToken, Scope, Token, UnknownScope};
