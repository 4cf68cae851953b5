//! `placet mcp`: a proxy in front of one MCP server on standard input and output. Lines pass both ways as they are. Only calls of
//! tools that write are held until a human decides, and only the list of tools is changed.
//!
//! The core (`session`) is pure: lines, answers of the gate and the time go in, and what is to be done comes out. `pump` does it.

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
