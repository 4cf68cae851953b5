//! The configured callbacks: addresses and signing keys, by name.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use crate::config::secret::SecretError;
use crate::config::{CallbackConfig, ConfigError, GateConfig};
use crate::net::post::Targets;
use crate::net::webhook::Key;

const READ: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
pub(crate) struct Receivers(BTreeMap<String, Receiver>);

#[derive(Debug)]
pub(crate) struct Receiver {
    pub(crate) config: CallbackConfig,
    key: RwLock<Key>,
}

impl Receiver {
    pub(crate) fn key(&self) -> Key {
        self.key.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Receivers {
    /// Fails if an address is refused or a secret is invalid. Does not resolve names.
    pub(super) async fn open(config: &GateConfig, targets: &Targets) -> Result<Self, ConfigError> {
        if let Some(mistake) = refused(config, targets).into_iter().next() {
            return Err(mistake);
        }
        let mut all = BTreeMap::new();
        for (name, callback) in &config.callbacks {
            let key = read(callback).await.map_err(|why| config.callback_mistake(name, &why))?;
            all.insert(name.clone(), Receiver { config: callback.clone(), key: RwLock::new(key) });
        }
        Ok(Self(all))
    }

    /// Rereads all secrets. Keeps an old one if the new one is unusable; returns a sentence for each.
    pub(super) async fn renew(&self) -> Vec<String> {
        let mut problems = Vec::new();
        for (name, receiver) in &self.0 {
            match read(&receiver.config).await {
                Ok(key) => *receiver.key.write().unwrap_or_else(PoisonError::into_inner) = key,
                Err(why) => problems.push(format!("gate.callbacks.{name}: {why}")),
            }
        }
        problems
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Receiver> {
        self.0.get(name)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }
}

async fn read(callback: &CallbackConfig) -> Result<Key, String> {
    let secret = callback.secret.read_within(READ).await;
    secret.and_then(|secret| Key::parse(&secret)).map_err(|why| format!("its secret: {why}"))
}

/// Returns refused addresses and invalid secrets. Ignores unset variables, which may be set for the gate.
pub(super) fn mistakes(config: &GateConfig, targets: &Targets) -> Vec<ConfigError> {
    let secret = |(name, callback): (&String, &CallbackConfig)| {
        let why = match callback.secret.read() {
            Ok(secret) => Key::parse(&secret).err()?,
            Err(SecretError::NoVariable(_)) => return None,
            Err(error) => error.to_string(),
        };
        Some(config.callback_mistake(name, &format!("its secret: {why}")))
    };
    let mut found = refused(config, targets);
    found.extend(config.callbacks.iter().filter_map(secret));
    found
}

fn refused(config: &GateConfig, targets: &Targets) -> Vec<ConfigError> {
    let mistake = |(name, callback): (&String, &CallbackConfig)| {
        let why = targets.check(&callback.url).err()?;
        Some(config.callback_mistake(name, &why))
    };
    config.callbacks.iter().filter_map(mistake).collect()
}
