//! `placet config path|check|example`.

use clap::Subcommand;

use crate::config::paths::Paths;
use crate::config::{Config, ConfigError, in_file_order};
use crate::gate;
use crate::inbox::notify;
use crate::sources;
use crate::text;

use super::exit::Exit;
use super::output;

/// Find and check the configuration
#[derive(Debug, Clone, Copy, Subcommand)]
pub enum ConfigCommand {
    /// Print where the configuration is read from
    Path,
    /// Read the configuration and say what is wrong with it
    Check,
    /// Print every key with its default, as a file to start from
    Example,
}

/// Prints the path of the configuration, even if the file does not exist.
pub fn path(paths: &Paths) -> anyhow::Result<Exit> {
    output::line(&paths.config.display().to_string())?;
    Ok(Exit::Done)
}

pub fn example() -> anyhow::Result<Exit> {
    output::line(include_str!("../../config.example.toml").trim_end())?;
    Ok(Exit::Done)
}

/// Reads the configuration with its keys, certificates and tokens, and reports all mistakes together. `screen` checks
/// the inbox's keys, filters and theme.
pub async fn check(paths: &Paths, screen: impl Fn(&Config) -> Vec<anyhow::Error>) -> anyhow::Result<Exit> {
    let (config, mut mistakes, text) = Config::load_what_is_right(paths)?;
    mistakes.extend(screen(&config).iter().map(|error| format!("{error:#}")));
    for source in &config.sources {
        let opened = sources::open(source).map(drop).map_err(|error| error.to_string());
        let name = source.name.as_str();
        let token = source.token.as_ref().map_or(Ok(()), |token| token.read().map(drop));
        mistakes.extend(opened.err());
        mistakes.extend(token.err().map(|error| format!("source {name:?}: {error}")));
    }
    mistakes.extend(notify::mistakes(&config.notify).await);
    mistakes.extend(gate::mistakes(&config.gate).into_iter().map(ConfigError::into_message));
    if !mistakes.is_empty() {
        return Err(ConfigError::of(mistakes, &text, paths).into());
    }
    for warning in in_file_order(gate::warnings(&config.gate), &text) {
        output::complain(&format!("warning: {warning}"));
    }
    let found = if paths.config.exists() { "is valid" } else { "does not exist; the defaults apply" };
    output::line(&format!("{} {found}", paths.config.display()))?;
    let sources = match config.sources.len() {
        0 => "sources: none configured, so the embedded gate".to_owned(),
        n => format!("sources: {n}"),
    };
    output::line(&sources)?;
    if !config.notify.is_empty() {
        output::line(&format!("notifications: {}", text::count(config.notify.len(), "rule")))?;
    }
    Ok(Exit::Done)
}
