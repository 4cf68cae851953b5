//! `placet mcp`: a proxy for an MCP server on standard input and output. It holds writing tool calls until a human
//! decides, changes the list of tools, and passes all other lines unchanged.
//!
//! `session` is pure: it takes lines, the gate's answers and the time, and returns effects that `pump` performs.

mod answers;
mod calls;
mod gate;
mod ids;
mod line;
mod lookup;
mod pump;
mod session;
mod tools;
mod wait;
pub mod wrap;

pub use gate::{FindGate, Found};
pub use pump::{Ended, Proxy};
pub use wait::Wait;
