//! The callbacks that the configuration has: who may be told, by name.

use std::collections::BTreeMap;

use crate::config::{CallbackConfig, ConfigError, GateConfig};
use crate::net::post::Targets;

#[derive(Debug, Default)]
pub(crate) struct Receivers(BTreeMap<String, CallbackConfig>);

impl Receivers {
    /// Fails where an address is refused; where its name leads shows only when something is sent.
    pub(super) fn open(config: &GateConfig, targets: &Targets) -> Result<Self, ConfigError> {
        match mistakes(config, targets).into_iter().next() {
            Some(mistake) => Err(mistake),
            None => Ok(Self(config.callbacks.clone())),
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&CallbackConfig> {
        self.0.get(name)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }
}

/// One for each address that is refused.
pub(super) fn mistakes(config: &GateConfig, targets: &Targets) -> Vec<ConfigError> {
    let mistake = |(name, callback): (&String, &CallbackConfig)| {
        let why = targets.check(&callback.url).err()?;
        Some(config.callback_mistake(name, &why))
    };
    config.callbacks.iter().filter_map(mistake).collect()
}
