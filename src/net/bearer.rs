//! The token of one backend: read when it is first needed, and once more when the backend no longer takes it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use tokio::sync::Mutex;

use super::http::HttpError;

/// Reads the token from where it is. May block: it runs on a thread of its own.
pub type ReadToken = Arc<dyn Fn() -> Result<SecretString, String> + Send + Sync>;

/// A token command that asks a person for something must not hang a request for ever.
const READ_LIMIT: Duration = Duration::from_secs(30);

/// A token that can be read again. Cloning is cheap: every clone is the same token.
#[derive(Clone)]
pub struct Bearer {
    read: ReadToken,
    current: Arc<Mutex<Option<SecretString>>>,
}

impl Bearer {
    pub fn new(read: ReadToken) -> Self {
        Self { read, current: Arc::default() }
    }

    /// The token, read now if nobody read it before.
    pub(super) async fn token(&self) -> Result<SecretString, HttpError> {
        // An async lock, held while reading: ten requests at once run the token command once.
        let mut current = self.current.lock().await;
        if let Some(token) = current.as_ref() {
            return Ok(token.clone());
        }
        let token = self.read().await?;
        *current = Some(token.clone());
        Ok(token)
    }

    /// Another token than the `refused` one, read again unless somebody did meanwhile. `None`: it is still the same.
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
