//! Explains TLS errors with advice, briefly, because a screen has 80 columns.

use std::error::Error;

use rustls::{CertificateError, InvalidMessage};

/// Describes an error; `None` if it is not about TLS.
pub(super) fn words(error: &reqwest::Error) -> Option<String> {
    let mut cause: Option<&(dyn Error + 'static)> = error.source();
    while let Some(error) = cause {
        if let Some(found) = error.downcast_ref() {
            return said(found);
        }
        // An I/O error displays the error it wraps, but does not return it as source.
        let wrapped = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        cause = match wrapped {
            Some(wrapped) => Some(wrapped),
            None => error.source(),
        };
    }
    None
}

const CERTIFICATE: &str = "its certificate ";

/// Whether the error is about the server's certificate, which means that its address is right.
pub fn is_about_certificate(why: &str) -> bool {
    why.starts_with(CERTIFICATE)
}

fn said(error: &rustls::Error) -> Option<String> {
    use rustls::Error as E;
    Some(match error {
        E::InvalidCertificate(why) => format!("{CERTIFICATE}{}", certificate(why)),
        E::InvalidMessage(InvalidMessage::InvalidContentType) => {
            "it does not speak TLS there; is the url to begin with http://, or is the port wrong?".to_owned()
        }
        E::AlertReceived(_) | E::PeerIncompatible(_) => format!("TLS was not agreed on: {error}"),
        _ => return None,
    })
}

const ONLY_TLS: &str = "it does not speak plain HTTP there";

/// Whether the error means that the URL needs `https`.
pub fn needs_https(why: &str) -> bool {
    why.starts_with(ONLY_TLS)
}

/// Recognises hyper's error for the answer of a TLS server.
pub(super) fn of_plain_http(cause: &str) -> Option<String> {
    (cause == "invalid HTTP version parsed")
        .then(|| format!("{ONLY_TLS}; is the url to begin with https://?"))
}

fn certificate(why: &CertificateError) -> String {
    use CertificateError as C;
    match why {
        C::Expired | C::ExpiredContext { .. } => "has expired: renew it, or set this clock right".to_owned(),
        C::NotValidYet | C::NotValidYetContext { .. } => {
            "is not valid yet: is this computer's clock right?".to_owned()
        }
        C::NotValidForName => "is for another name: use the name that it is for".to_owned(),
        C::NotValidForNameContext { expected, presented } => {
            let names = presented.iter().take(5).map(|name| for_people(name)).collect::<Vec<_>>().join(", ");
            let names = if names.is_empty() { "no name at all".to_owned() } else { names };
            format!("is for {names} and not for {}: use a name that it is for", expected.to_str())
        }
        C::UnknownIssuer => "has no trusted signer: name the signer's as ca_file".to_owned(),
        C::Revoked => "was revoked: get another one".to_owned(),
        C::BadEncoding | C::BadSignature => "is damaged: make it again".to_owned(),
        C::InvalidPurpose | C::InvalidPurposeContext { .. } => {
            "is not made for servers: it needs extendedKeyUsage serverAuth".to_owned()
        }
        // The certificate of an authority, as `openssl req -x509` creates by default.
        C::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => {
            "is an authority's: a server needs one with CA:FALSE".to_owned()
        }
        other => format!("is not accepted ({other})"),
    }
}

/// `DnsName("gate.example.com")` to `gate.example.com`.
fn for_people(name: &str) -> &str {
    name.split('"').nth(1).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rustls::OtherError;
    use rustls::pki_types::ServerName;
    use tokio::net::TcpListener;

    use super::*;
    use crate::net::http::{Ask, Http};

    #[tokio::test]
    async fn a_server_without_tls_is_recognised() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://{}", listener.local_addr().unwrap());
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            tokio::io::AsyncWriteExt::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n")
                .await
                .unwrap();
        });

        let ask =
            Ask { path: "/".to_owned(), body: None, key: None, limit: std::time::Duration::from_secs(10) };
        let error = Http::new(&url, None).unwrap().ask(&ask).await.unwrap_err().to_string();

        assert!(error.contains("does not speak TLS") && error.contains("http://"), "{error}");
    }

    #[test]
    fn each_common_certificate_error_has_a_message() {
        let name = || ServerName::try_from("gate.example.com").unwrap();
        let presented = vec!["DnsName(\"other.example.com\")".to_owned()];
        for (why, word) in [
            (CertificateError::Expired, "expired"),
            (CertificateError::NotValidYet, "clock"),
            (CertificateError::UnknownIssuer, "ca_file"),
            (CertificateError::Revoked, "revoked"),
            (CertificateError::BadSignature, "damaged"),
            (CertificateError::InvalidPurpose, "serverAuth"),
            (CertificateError::Other(OtherError(Arc::new(CaUsedAsEndEntity))), "CA:FALSE"),
            (CertificateError::NotValidForName, "another name"),
            (
                CertificateError::NotValidForNameContext { expected: name(), presented },
                "for other.example.com and not for gate.example.com",
            ),
        ] {
            let words = said(&rustls::Error::InvalidCertificate(why)).unwrap();
            assert!(words.contains(word) && is_about_certificate(&words), "{words}");
            assert!(words.len() <= 80 || words.contains("other.example.com"), "{words}");
            assert!(!words.contains("Other"), "{words}");
        }
    }

    /// Has the name that the certificate library uses.
    #[derive(Debug)]
    struct CaUsedAsEndEntity;

    impl std::fmt::Display for CaUsedAsEndEntity {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("CaUsedAsEndEntity")
        }
    }

    impl Error for CaUsedAsEndEntity {}

    #[tokio::test]
    async fn a_server_with_only_tls_is_recognised() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            tokio::io::AsyncReadExt::read(&mut stream, &mut [0; 4_096]).await.unwrap();
            // The alert of a TLS server that receives plain text.
            tokio::io::AsyncWriteExt::write_all(&mut stream, b"\x15\x03\x03\x00\x02\x02\x32").await.unwrap();
        });

        let ask =
            Ask { path: "/".to_owned(), body: None, key: None, limit: std::time::Duration::from_secs(10) };
        let error = Http::new(&url, None).unwrap().ask(&ask).await.unwrap_err().to_string();

        assert!(error.contains("does not speak plain HTTP") && error.contains("https://"), "{error}");
    }
}
