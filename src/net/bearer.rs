//! The token of a backend, read on first use and again when the backend refuses it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use tokio::sync::Mutex;

use super::http::HttpError;

/// Reads the token. May block, so it runs on a blocking thread.
pub type ReadToken = Arc<dyn Fn() -> Result<SecretString, String> + Send + Sync>;

/// Limit for a token command, which may prompt for input and hang.
const READ_LIMIT: Duration = Duration::from_secs(30);

/// A token that can be read again. Clones share it.
#[derive(Clone)]
pub struct Bearer {
    read: ReadToken,
    current: Arc<Mutex<Option<SecretString>>>,
}

impl Bearer {
    pub fn new(read: ReadToken) -> Self {
        Self { read, current: Arc::default() }
    }

    pub(super) async fn token(&self) -> Result<SecretString, HttpError> {
        // The lock is held while reading, so that concurrent requests run the token command once.
        let mut current = self.current.lock().await;
        if let Some(token) = current.as_ref() {
            return Ok(token.clone());
        }
        let token = self.read().await?;
        *current = Some(token.clone());
        Ok(token)
    }

    /// Returns another token than `refused`, read again unless a concurrent request did; `None` if it is unchanged.
    pub(super) async fn renewed(&self, refused: &SecretString) -> Result<Option<SecretString>, HttpError> {
        let differs = |token: &SecretString| token.expose_secret() != refused.expose_secret();
        let mut current = self.current.lock().await;
        if let Some(token) = current.as_ref().filter(|token| differs(token)) {
            return Ok(Some(token.clone()));
        }
        let token = self.read().await?;
        *current = Some(token.clone());
        Ok(Some(token).filter(differs))
    }

    async fn read(&self) -> Result<SecretString, HttpError> {
        let read = Arc::clone(&self.read);
        let reading = tokio::task::spawn_blocking(move || read());
        match tokio::time::timeout(READ_LIMIT, reading).await {
            Ok(Ok(token)) => token.map_err(HttpError::Token),
            Ok(Err(_)) => Err(HttpError::Token("reading the token was interrupted".to_owned())),
            Err(_) => {
                Err(HttpError::Token(format!("the token was not there after {} s", READ_LIMIT.as_secs())))
            }
        }
    }
}

impl fmt::Debug for Bearer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bearer(…)")
    }
}
