//! Why TLS did not come about, and what to do about it.

use std::error::Error;

use rustls::{CertificateError, InvalidMessage};

/// In words; `None` when it was something else.
pub(super) fn words(error: &reqwest::Error) -> Option<String> {
    let mut cause: Option<&(dyn Error + 'static)> = error.source();
    while let Some(error) = cause {
        if let Some(found) = error.downcast_ref() {
            return said(found);
        }
        // An input error shows what it wraps, but does not name it as its cause.
        let wrapped = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        cause = match wrapped {
            Some(wrapped) => Some(wrapped),
            None => error.source(),
        };
    }
    None
}

fn said(error: &rustls::Error) -> Option<String> {
    use rustls::Error as E;
    Some(match error {
        E::InvalidCertificate(why) => format!("its certificate is not accepted: {}", certificate(why)),
        E::InvalidMessage(InvalidMessage::InvalidContentType) => {
            "it does not speak TLS there; is the url to begin with http://, or is the port wrong?".to_owned()
        }
        E::AlertReceived(_) | E::PeerIncompatible(_) => format!("TLS was not agreed on: {error}"),
        _ => return None,
    })
}

fn certificate(why: &CertificateError) -> String {
    use CertificateError as C;
    match why {
        C::Expired | C::ExpiredContext { .. } => {
            "it has expired; renew it there, or set this computer's clock right".to_owned()
        }
        C::NotValidYet | C::NotValidYetContext { .. } => {
            "it is not valid yet; is this computer's clock right?".to_owned()
        }
        C::NotValidForName => "it is for another name; use the name that it is for".to_owned(),
        C::NotValidForNameContext { expected, presented } => {
            let names = presented.iter().take(5).map(|name| for_people(name)).collect::<Vec<_>>().join(", ");
            let names = if names.is_empty() { "no name at all".to_owned() } else { names };
            format!("it is for {names} and not for {}; use a name that it is for", expected.to_str())
        }
        C::UnknownIssuer => {
            "nobody whom this computer trusts has signed it; if it is right, name the signer's certificate as ca_file"
                .to_owned()
        }
        C::Revoked => "it was revoked".to_owned(),
        other => other.to_string(),
    }
}

/// `DnsName("gate.example.com")` as `gate.example.com`.
fn for_people(name: &str) -> &str {
    name.split('"').nth(1).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use rustls::pki_types::ServerName;
    use tokio::net::TcpListener;

    use super::*;
    use crate::net::http::{Ask, Http};

    #[tokio::test]
    async fn a_server_without_tls_is_told_apart() {
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
    fn every_usual_fault_of_a_certificate_has_words_of_its_own() {
        let name = || ServerName::try_from("gate.example.com").unwrap();
        let presented = vec!["DnsName(\"other.example.com\")".to_owned()];
        for (why, word) in [
            (CertificateError::Expired, "expired"),
            (CertificateError::NotValidYet, "clock"),
            (CertificateError::UnknownIssuer, "ca_file"),
            (CertificateError::Revoked, "revoked"),
            (CertificateError::NotValidForName, "another name"),
            (
                CertificateError::NotValidForNameContext { expected: name(), presented },
                "for other.example.com and not for gate.example.com",
            ),
        ] {
            let words = said(&rustls::Error::InvalidCertificate(why)).unwrap();
            assert!(words.contains(word), "{words}");
        }
    }
}
