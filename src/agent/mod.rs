//! Entry points for agents: hooks and the MCP proxy. Every error denies the call.

mod call;
mod client_files;
pub mod clients;
pub mod hook;
mod lasting;
pub mod mcp;
mod mission;
mod outcome;

pub use call::{Answer, Caller, LEASE, ToolCall};
pub use lasting::lasting;
pub use mission::mission;
