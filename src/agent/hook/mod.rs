//! Hooks of agents' clients: the client asks before a tool runs, and tells how it went.
//!
//! A client takes silence, exit code 1 and a killed hook for a yes. So every fault here is an error, which the command that is
//! installed turns into exit code 2, and nothing runs.

mod before;
mod check;
mod defer;
mod event;
mod fence;
mod notes;
mod reply;
mod run;
pub mod settings;

pub use check::check;
pub use defer::is_headless;
pub use event::{EVENT_MAX, Event, HookCall, HookClient, first, read};
pub use fence::Fence;
pub use notes::{Deferred, Notes};
pub use run::{GRACE, HookWait, after, before, denied};
