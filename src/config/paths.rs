//! Where things are: XDG folders, each of which can be moved.

use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;

/// The folders and files of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// The configuration file, whether it exists or not.
    pub config: PathBuf,
    /// `true` when somebody named the file: then it must exist.
    pub config_named: bool,
    /// Journal, gate database, tokens, lock, log.
    pub state: PathBuf,
    pub log: PathBuf,
}

/// There is no home folder to put things in.
#[derive(Debug, thiserror::Error)]
#[error("no home folder is known; set HOME, or PLACET_CONFIG and PLACET_STATE_DIR")]
pub struct NoHome;

impl Paths {
    /// `--config` first, then `PLACET_CONFIG`, `PLACET_STATE_DIR` and `PLACET_LOG`, else the XDG folders.
    pub fn find(config: Option<&Path>, env: impl Fn(&str) -> Option<PathBuf>) -> Result<Self, NoHome> {
        let xdg = etcetera::choose_base_strategy().map_err(|_| NoHome);
        let named = config.map(Path::to_owned).or_else(|| env("PLACET_CONFIG"));
        let config_named = named.is_some();
        let config = match named {
            Some(path) => path,
            None => xdg.as_ref().map_err(|_| NoHome)?.config_dir().join("placet/config.toml"),
        };
        let state = match env("PLACET_STATE_DIR") {
            Some(path) => path,
            None => {
                let xdg = xdg.as_ref().map_err(|_| NoHome)?;
                xdg.state_dir().unwrap_or_else(|| xdg.data_dir()).join("placet")
            }
        };
        let log = env("PLACET_LOG").unwrap_or_else(|| state.join("placet.log"));
        Ok(Self { config, config_named, state, log })
    }

    pub fn journal(&self) -> PathBuf {
        self.state.join("journal.db")
    }
}
