//! TLS in front of the gate's HTTP: the certificate of the configuration, and the handshake.

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

/// What a handshake needs, and where it comes from.
#[derive(Debug, Clone)]
pub(super) struct Tls {
    config: Arc<ServerConfig>,
    certificate: Arc<Renewable>,
    files: TlsFiles,
}

/// The certificate that the next handshake shows.
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

/// Reads certificate and key. Fails with a sentence for the operator, also when others can read the key.
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
    /// Reads certificate and key anew, for connections from now on. What cannot be used changes nothing, and the sentence says why.
    pub(super) fn renew(&self) -> Result<(), String> {
        let renewed = read(&self.files, self.config.crypto_provider())?;
        *self.certificate.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(renewed);
        Ok(())
    }

    /// Why no client takes the certificate at this moment, as far as its dates say.
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

/// Why another server was not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TlsFault {
    Signer,
    Name,
    Dates,
    /// Anything else about the certificate.
    Certificate,
    /// The two sides speak differently.
    Agreement,
}

/// What an error of a connection says about TLS; `None`: it is about something else.
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
/// The version, which the oldest certificates leave out.
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// From when until when a certificate is valid (RFC 5280, 4.1): nothing else of it is looked at here.
fn validity(der: &[u8]) -> Option<(Timestamp, Timestamp)> {
    let (certificate, _) = value(der, SEQUENCE)?;
    let (mut rest, _) = value(certificate, SEQUENCE)?;
    if let Some((_, after)) = value(rest, VERSION) {
        rest = after;
    }
    // Its number, the algorithm, and who issued it.
    for tag in [INTEGER, SEQUENCE, SEQUENCE] {
        (_, rest) = value(rest, tag)?;
    }
    let (dates, _) = value(rest, SEQUENCE)?;
    let (from, rest) = moment(dates)?;
    let (until, _) = moment(rest)?;
    Some((from, until))
}

/// The value with this tag that stands first, and what follows it.
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

/// `YYMMDDHHMMSSZ` from 1950 on, or `YYYYMMDDHHMMSSZ`.
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

/// Shakes hands with a client. The caller sets the limit.
pub(super) async fn shake<S: AsyncRead + AsyncWrite + Unpin>(
    tls: &Tls,
    stream: S,
) -> std::io::Result<TlsStream<S>> {
    TlsAcceptor::from(Arc::clone(&tls.config)).accept(stream).await
}
