//! How a token is sent with a request.

use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};

use super::exchange::HttpError;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Scheme {
    #[default]
    Bearer,
    /// `Authorization: Basic` with this user and the token as password.
    Basic(String),
    Header(String),
}

impl Scheme {
    pub(super) fn header(&self, token: &SecretString) -> Result<(HeaderName, HeaderValue), HttpError> {
        let wrong = |_| HttpError::Token("the token holds characters that no header can carry".to_owned());
        let (name, value) = match self {
            Self::Bearer => (AUTHORIZATION, format!("Bearer {}", token.expose_secret())),
            Self::Basic(user) => (AUTHORIZATION, format!("Basic {}", pair(user, token))),
            Self::Header(name) => {
                let name = HeaderName::try_from(name);
                let name = name.map_err(|_| HttpError::Token("its header has no usable name".to_owned()))?;
                (name, token.expose_secret().to_owned())
            }
        };
        let mut value = HeaderValue::try_from(value).map_err(wrong)?;
        value.set_sensitive(true);
        Ok((name, value))
    }

    /// Masks the token in a text, in each form that is sent.
    pub(super) fn masked(&self, text: &str, token: &SecretString) -> String {
        let text = text.replace(token.expose_secret(), "***");
        match self {
            Self::Basic(user) => text.replace(&pair(user, token), "***"),
            Self::Bearer | Self::Header(_) => text,
        }
    }
}

fn pair(user: &str, password: &SecretString) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(format!("{user}:{}", password.expose_secret()))
}
