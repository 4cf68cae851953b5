//! TLS for the gate's HTTP: the configured certificate, and the handshake.

use std::sync::{Arc, PoisonError, RwLock};

use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::config::TlsFiles;
use crate::contract::time;
use crate::domain::Timestamp;

#[derive(Debug, Clone)]
pub(super) struct Tls {
    config: Arc<ServerConfig>,
    certificate: Arc<Renewable>,
    files: TlsFiles,
}

/// The certificate of the next handshake.
#[derive(Debug)]
struct Renewable(RwLock<Arc<CertifiedKey>>);

impl ResolvesServerCert for Renewable {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.get())
    }
}

impl Renewable {
    fn get(&self) -> Arc<CertifiedKey> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Refuses a key that others can read. The error is a sentence for the operator.
pub(super) fn load(files: &TlsFiles) -> Result<Tls, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let certificate = Arc::new(Renewable(RwLock::new(Arc::new(read(files, &provider)?))));
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("gate.tls_cert: {error}"))?;
    let resolver: Arc<dyn ResolvesServerCert> = Arc::clone(&certificate) as _;
    let mut config = config.with_no_client_auth().with_cert_resolver(resolver);
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Tls { config: Arc::new(config), certificate, files: files.clone() })
}

impl Tls {
    /// Rereads certificate and key for new connections. Keeps the old ones on errors.
    pub(super) fn renew(&self) -> Result<(), String> {
        let renewed = read(&self.files, self.config.crypto_provider())?;
        *self.certificate.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(renewed);
        Ok(())
    }

    /// Returns why clients reject the certificate now, judged by its dates.
    pub(super) fn outdated(&self, now: Timestamp) -> Option<String> {
        let certificate = self.certificate.get();
        let (from, until) = validity(certificate.end_entity_cert().ok()?)?;
        let what = match () {
            () if until < now => format!("expired at {}", time::write(until)),
            () if now < from => format!("is not valid before {}", time::write(from)),
            () => return None,
        };
        let cert = self.files.cert.display();
        Some(format!(
            "gate.tls_cert: the certificate in {cert} {what}, so no client accepts it; put a new one in its place and send the gate SIGHUP"
        ))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TlsFault {
    Signer,
    Name,
    Dates,
    /// Another fault of the certificate.
    Certificate,
    /// No common protocol version or cipher.
    Agreement,
}

/// Returns `None` if the error is not about TLS.
pub(crate) fn tls_fault(error: &std::io::Error) -> Option<TlsFault> {
    use rustls::CertificateError as C;
    match error.get_ref()?.downcast_ref()? {
        rustls::Error::InvalidCertificate(why) => Some(match why {
            C::UnknownIssuer => TlsFault::Signer,
            C::NotValidForName | C::NotValidForNameContext { .. } => TlsFault::Name,
            C::Expired | C::ExpiredContext { .. } | C::NotValidYet | C::NotValidYetContext { .. } => {
                TlsFault::Dates
            }
            _ => TlsFault::Certificate,
        }),
        _ => Some(TlsFault::Agreement),
    }
}

fn read(files: &TlsFiles, provider: &CryptoProvider) -> Result<CertifiedKey, String> {
    let (cert, key) = (files.cert.display(), files.key.display());
    let chain = CertificateDer::pem_file_iter(&files.cert).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let chain = chain.map_err(|error| format!("gate.tls_cert: cannot read {cert}: {error}"))?;
    if chain.is_empty() {
        return Err(format!("gate.tls_cert: {cert} holds no certificate in PEM"));
    }
    #[cfg(unix)]
    if std::fs::metadata(&files.key)
        .is_ok_and(|it| std::os::unix::fs::PermissionsExt::mode(&it.permissions()) & 0o077 != 0)
    {
        return Err(format!("gate.tls_key: {key} can be read by others; run: chmod 600 {key}"));
    }
    let secret = PrivateKeyDer::from_pem_file(&files.key)
        .map_err(|error| format!("gate.tls_key: cannot read a PEM key in {key}: {error}"))?;
    CertifiedKey::from_der(chain, secret, provider).map_err(|error| match error {
        rustls::Error::InconsistentKeys(_) => {
            format!("gate.tls_key: {key} is not the key of {cert}; name the two that were made together")
        }
        error => format!("gate.tls_cert and gate.tls_key cannot be used: {error}"),
    })
}

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
/// The version; absent in version 1 certificates.
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// Returns the validity period of a certificate (RFC 5280, 4.1).
fn validity(der: &[u8]) -> Option<(Timestamp, Timestamp)> {
    let (certificate, _) = value(der, SEQUENCE)?;
    let (mut rest, _) = value(certificate, SEQUENCE)?;
    if let Some((_, after)) = value(rest, VERSION) {
        rest = after;
    }
    // Serial number, signature algorithm, issuer.
    for tag in [INTEGER, SEQUENCE, SEQUENCE] {
        (_, rest) = value(rest, tag)?;
    }
    let (dates, _) = value(rest, SEQUENCE)?;
    let (from, rest) = moment(dates)?;
    let (until, _) = moment(rest)?;
    Some((from, until))
}

/// Returns the first value, which must have this tag, and the rest.
fn value(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&[found, length], rest) = der.split_first_chunk::<2>()?;
    let (length, rest) = match length {
        short @ 0..=0x7f => (usize::from(short), rest),
        long @ 0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(long & 0x7f))?;
            (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
        }
        _ => return None,
    };
    rest.split_at_checked(length).filter(|_| found == tag)
}

/// Parses `YYMMDDHHMMSSZ` (from 1950) or `YYYYMMDDHHMMSSZ`.
fn moment(der: &[u8]) -> Option<(Timestamp, &[u8])> {
    let ((text, rest), century) = match value(der, UTC_TIME) {
        Some((text, rest)) => ((text, rest), if text < b"50".as_slice() { "20" } else { "19" }),
        None => (value(der, GENERALIZED_TIME)?, ""),
    };
    let text = format!("{century}{}", std::str::from_utf8(text).ok()?);
    let part = |from: usize, to: usize| text.get(from..to);
    let (date, clock) =
        ((part(0, 4)?, part(4, 6)?, part(6, 8)?), (part(8, 10)?, part(10, 12)?, part(12, 14)?));
    let written = format!("{}-{}-{}T{}:{}:{}Z", date.0, date.1, date.2, clock.0, clock.1, clock.2);
    Some((time::read(&written)?, rest))
}

/// Accepts a handshake. The caller sets the time limit.
pub(super) async fn shake<S: AsyncRead + AsyncWrite + Unpin>(
    tls: &Tls,
    stream: S,
) -> std::io::Result<TlsStream<S>> {
    TlsAcceptor::from(Arc::clone(&tls.config)).accept(stream).await
}
