//! The commands without a screen: each reads arguments, asks the inbox or the gate, prints, and returns an exit code.
//!
//! Printed text is for people, with foreign text made safe. `--json` is for scripts, with exact values.

pub mod args;
mod claim;
mod columns;
mod config;
mod context;
mod decide;
mod doctor;
mod exit;
mod find;
mod gate;
mod hook;
mod input;
mod list;
mod log;
mod mcp;
mod moving;
mod output;
mod propose;
mod receipts;
mod report;
mod schema;
mod shift;
mod show;
mod watch;
mod whoami;

pub use claim::claim;
pub use config::{check as config_check, example as config_example, path as config_path};
pub use decide::decide;
pub use doctor::{Findings, chosen, doctor};
pub use exit::{Exit, Usage};
pub use gate::{backup, exists, migrate, owner};
pub use hook::{hook_install, hook_resume, hook_uninstall, hook_wait, lasting_program};
pub use list::{list, settle};
pub use log::log;
pub use mcp::{mcp_unwrap, mcp_wrap};
pub use moving::move_gate;
pub use output::{answer, complain, json, line, moment, pipe};
pub use propose::{Queue, propose};
pub use schema::schema;
pub use show::show;
pub use watch::{Watching, watch};
pub use whoami::whoami;
