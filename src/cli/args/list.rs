//! `placet list` and `placet show`.

use clap::{Args as ClapArgs, ValueEnum};

/// What `placet list` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Listed {
    Pending,
    Unknown,
}

#[derive(Debug, ClapArgs)]
pub struct ListArgs {
    /// Which actions: those that are pending, or those whose outcome nobody knows
    #[arg(long, value_enum, default_value_t = Listed::Pending)]
    pub status: Listed,
    /// Only this source
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, ClapArgs)]
pub struct ShowArgs {
    /// The action's id
    pub id: String,
    /// The source it is in, when several know the id
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}
