//! Arguments of `placet completions` and of the requests of its scripts.

use clap::{Args as ClapArgs, ValueEnum};

use super::args::Completed;

/// Print the script that completes commands, names and ids in a shell
#[derive(Debug, ClapArgs)]
#[command(after_help = EACH_SHELL)]
pub struct CompletionsArgs {
    #[arg(value_enum)]
    pub shell: CompletedShell,
}

const EACH_SHELL: &str = "Once, and again after an update:
  bash        placet completions bash > ~/.local/share/bash-completion/completions/placet
  zsh         `source <(placet completions zsh)` in ~/.zshrc, behind compinit
  fish        placet completions fish > ~/.config/fish/completions/placet.fish
  powershell  placet completions powershell >> $PROFILE
  elvish      placet completions elvish >> ~/.config/elvish/rc.elv
  nushell     placet completions nushell | save placet.nu, and `source placet.nu` in config.nu
Ids of pending actions are asked for while you type, of the configured sources or the gate that runs here, for 1.5 s at most. \
A source with token_command is not asked.";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompletedShell {
    Bash,
    Elvish,
    Fish,
    Nushell,
    Powershell,
    Zsh,
}

/// Print values for a completion script
#[derive(Debug, ClapArgs)]
pub struct CompleteArgs {
    #[arg(value_enum)]
    pub values: Completed,
}
