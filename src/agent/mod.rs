//! The doors for agents: whatever an agent's tool calls come through, each is proposed, waited for, claimed, run and reported in
//! one way, and every fault lets nothing run.

mod call;
mod client_files;
pub mod hook;
mod lasting;
pub mod mcp;
mod mission;
mod outcome;

pub use call::{Answer, Caller, LEASE, ToolCall};
pub use lasting::lasting;
pub use mission::mission;
