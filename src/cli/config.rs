//! `placet config path|check|example`.

use anyhow::Context as _;

use crate::config::Config;
use crate::config::paths::Paths;
use crate::gate;
use crate::inbox::notify;
use crate::sources;
use crate::text;

use super::{Exit, output};

/// Prints where the configuration is read from, whether it is there or not.
pub fn path(paths: &Paths) -> anyhow::Result<Exit> {
    output::line(&paths.config.display().to_string())?;
    Ok(Exit::Done)
}

/// Prints every key with its default.
pub fn example() -> anyhow::Result<Exit> {
    output::line(include_str!("../../config.example.toml").trim_end())?;
    Ok(Exit::Done)
}

/// Reads the configuration as the inbox would, keys, certificates and tokens included, and says what it found. `keys` is the inbox's own check
/// of the key bindings.
pub async fn check(paths: &Paths, keys: impl Fn(&Config) -> anyhow::Result<()>) -> anyhow::Result<Exit> {
    let config = Config::load(paths)?;
    keys(&config).with_context(|| format!("the configuration {} has a mistake", paths.config.display()))?;
    for source in &config.sources {
        sources::open(source)?;
        let Some(token) = &source.token else { continue };
        token.read().map_err(|error| anyhow::anyhow!("source {:?}: {error}", source.name.as_str()))?;
    }
    notify::check(&config.notify).await.map_err(anyhow::Error::msg)?;
    gate::check(&config.gate)?;
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
