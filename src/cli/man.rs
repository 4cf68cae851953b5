//! Arguments of `placet man`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

/// Print a page of the manual: `placet man | man -l -`
#[derive(Debug, ClapArgs)]
pub struct ManArgs {
    /// keys, config, or a command like `gate serve` [default: placet itself]
    pub page: Vec<String>,
    /// Write every page to this folder, for packages
    #[arg(long, value_name = "FOLDER", conflicts_with = "page")]
    pub write: Option<PathBuf>,
}
