//! The tables `[gate.callbacks.NAME]`: who is notified about the end of an action.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::check::authority;
use super::secret::TokenFrom;

/// A receiver of signed POSTs. Proposals refer to it by name, so an agent cannot choose an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallbackConfig {
    /// Line of its table in the file (from 1), for messages.
    pub line: usize,
    pub url: String,
    /// The shared key: `whsec_` and base64, or any text.
    pub secret: TokenFrom,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawCallback {
    url: String,
    secret_env: Option<String>,
    secret_file: Option<PathBuf>,
    secret_command: Option<Vec<String>>,
}

impl RawCallback {
    /// `line` is the line of its table; relative files are in `folder`.
    pub(super) fn validate(self, line: usize, folder: &Path) -> Result<CallbackConfig, String> {
        let authority = authority(&self.url).ok_or("url must start with http:// or https://")?;
        if authority.contains('@') {
            return Err("url must not carry a user or password; what is sent is signed".to_owned());
        }
        let needs = "give one of secret_env, secret_file and secret_command: what is sent is signed with it";
        let file = self.secret_file.map(|path| folder.join(path));
        let secret = TokenFrom::one_of("secret", (self.secret_env, file, self.secret_command), needs)?;
        Ok(CallbackConfig { line, url: self.url, secret: secret.ok_or(needs)? })
    }
}
