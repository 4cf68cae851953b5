//! `placet log`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

#[derive(Debug, ClapArgs)]
#[command(args_conflicts_with_subcommands = true)]
pub struct LogArgs {
    /// At most so many decisions, the newest
    #[arg(long, default_value_t = 50)]
    pub limit: u32,
    /// Only what was decided since: a time ago like 12h or 30d, or a moment like 2026-11-22T08:00:00Z
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only in this source
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
    #[command(subcommand)]
    pub command: Option<LogCommand>,
}

#[derive(Debug, Subcommand)]
pub enum LogCommand {
    /// Read every receipt and every decision, and say what was changed behind placet's back
    Verify {
        /// A head that was kept elsewhere: its hash, or a file whose last line is a receipt or a head; - is standard input
        #[arg(long, value_name = "FILE|HASH")]
        head: Option<String>,
        /// One JSON object; kept elsewhere, it is a head
        #[arg(long)]
        json: bool,
    },
    /// Print every receipt as JSON, one a line, oldest first; the last line is a head
    Export {
        /// Into this file instead, readable by its owner alone; it must not be there yet
        #[arg(long, value_name = "FILE")]
        to: Option<PathBuf>,
    },
}
