//! Signs messages by Standard Webhooks, so that the receiver can verify origin, content and time.
//!
//! <https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md>: HMAC-SHA256 over
//! `id.timestamp.body`, in base64 after `v1,`. The key is the base64 (either alphabet) after `whsec_`; any other text
//! is itself the key.

use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use hmac::{Hmac, Mac as _};
use secrecy::{ExposeSecret as _, SecretSlice, SecretString};
use sha2::Sha256;

/// Accepts both padded and unpadded secrets, because generators produce both.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

#[derive(Clone, Debug)]
pub struct Key(SecretSlice<u8>);

impl Key {
    /// The error is a sentence for the operator and does not repeat the secret.
    pub fn parse(secret: &SecretString) -> Result<Self, String> {
        // Some editors write a byte order mark.
        let secret = secret.expose_secret().trim_start_matches('\u{feff}').trim();
        let bytes = match secret.strip_prefix("whsec_") {
            Some(encoded) => {
                let alike = |c| match c {
                    '-' => '+',
                    '_' => '/',
                    c => c,
                };
                let encoded: String =
                    encoded.chars().filter(|c| !c.is_ascii_whitespace()).map(alike).collect();
                BASE64
                    .decode(encoded)
                    .map_err(|_| "the secret begins with whsec_, and what follows is no base64".to_owned())?
            }
            None => secret.as_bytes().to_vec(),
        };
        if bytes.is_empty() { Err("the secret is empty".to_owned()) } else { Ok(Self(bytes.into())) }
    }

    /// Returns the headers of a message. `id` is the same for each retry; `seconds` is the current Unix time.
    pub fn headers(&self, id: &str, seconds: i64, body: &str) -> [(&'static str, String); 4] {
        [
            ("content-type", "application/json".to_owned()),
            ("webhook-id", id.to_owned()),
            ("webhook-timestamp", seconds.to_string()),
            ("webhook-signature", self.signature(id, seconds, body)),
        ]
    }

    fn signature(&self, id: &str, seconds: i64, body: &str) -> String {
        // HMAC accepts keys of any length, so this does not fail.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(self.0.expose_secret()) else {
            return String::new();
        };
        mac.update(format!("{id}.{seconds}.").as_bytes());
        mac.update(body.as_bytes());
        format!("v1,{}", BASE64_STANDARD.encode(mac.finalize().into_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn key(secret: &str) -> Result<Key, String> {
        Key::parse(&SecretString::from(secret))
    }

    /// The test vector of the Standard Webhooks libraries.
    #[test]
    fn a_message_is_signed_by_standard_webhooks() {
        let key = key("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();

        let headers = key.headers("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, r#"{"test": 2432232314}"#);

        assert_eq!(headers[1], ("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek".to_owned()));
        assert_eq!(headers[2], ("webhook-timestamp", "1614265330".to_owned()));
        let signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=".to_owned();
        assert_eq!(headers[3], ("webhook-signature", signature));
    }

    #[test]
    fn spellings_of_a_secret_give_one_key() {
        let of = |secret: &str| key(secret).unwrap().signature("m", 1, "{}");
        let same = |spellings: &[&str]| spellings.iter().map(|it| of(it)).collect::<HashSet<_>>().len() == 1;

        assert!(same(&["whsec_+/+/+w==", "whsec_-_-_-w==", "whsec_+/+/+w", "whsec_-_-_-w", "whsec_-_+/+w="]));
        assert!(same(&["whsec_+/+/+w==", "\u{feff}whsec_+/+/+w==\r\n", "whsec_+/+/\n+w==\n"]));
        assert!(same(&["plain words", "\u{feff}plain words\n"]));
        assert!(!same(&["whsec_+/+/+w==", "whsec_+/+/+g=="]));
    }

    #[test]
    fn an_invalid_secret_is_refused_and_not_repeated() {
        // python3: hmac.new(b"plain words", b"m.1.{}", "sha256")
        let signature = key("plain words").unwrap().signature("m", 1, "{}");
        assert_eq!(signature, "v1,IW0mRJk8Kpj+P8OWjVW31LuuwQqebzr5ZhwPW0nHU1I=");
        let error = key("whsec_!hidden").unwrap_err();
        assert!(error.contains("no base64") && !error.contains("hidden"), "{error}");
        assert!(key("whsec_").unwrap_err().contains("empty"));
        assert!(!format!("{:?}", key("plain words").unwrap()).contains("plain"));
    }
}
