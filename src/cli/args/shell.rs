//! `placet completions`, and what its scripts ask for.

use clap::ValueEnum;

/// Shells that placet completes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompletedShell {
    Bash,
    Elvish,
    Fish,
    Nushell,
    Powershell,
    Zsh,
}

/// What is only known when it is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Values {
    Sources,
    Filters,
    Ids,
}
