//! Paths of files and folders: XDG folders, each of which can be moved.

use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// The configuration file; may not exist.
    pub config: PathBuf,
    /// Whether the file was named explicitly, and so must exist.
    pub config_named: bool,
    /// Folder of journal, gate database, tokens, lock and log.
    pub state: PathBuf,
    pub log: PathBuf,
}

#[derive(Debug, thiserror::Error)]
#[error("no home folder is known; set HOME, or PLACET_CONFIG and PLACET_STATE_DIR")]
pub struct NoHome;

impl Paths {
    /// Finds the paths: `--config`, then `PLACET_CONFIG`, `PLACET_STATE_DIR` and `PLACET_LOG`, else the XDG folders.
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
