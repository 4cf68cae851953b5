//! Hooks of agents' clients, called before and after a tool runs.
//!
//! A client allows the call when a hook is silent, exits with 1 or is killed. So every fault here is an error, which
//! the installed command turns into exit code 2.

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
pub use event::{EVENT_MAX, Event, HookCall, first, read};
pub use fence::Fence;
pub use notes::{Deferred, Notes};
pub use run::{GRACE, HookWait, after, before, denied};
