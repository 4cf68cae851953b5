//! TLS in front of the gate's HTTP: the certificate of the configuration, and the handshake.

use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::config::TlsFiles;

/// What a handshake needs.
pub(super) type Tls = Arc<ServerConfig>;

/// Reads certificate and key. Fails with a sentence for the operator, also when others can read the key.
pub(super) fn load(files: &TlsFiles) -> Result<Tls, String> {
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
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, secret));
    let mut config = config.map_err(|error| match error {
        rustls::Error::InconsistentKeys(_) => {
            format!("gate.tls_key: {key} is not the key of {cert}; name the two that were made together")
        }
        error => format!("gate.tls_cert and gate.tls_key cannot be used: {error}"),
    })?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// Shakes hands with a client. The caller sets the limit.
pub(super) async fn shake<S: AsyncRead + AsyncWrite + Unpin>(
    tls: &Tls,
    stream: S,
) -> std::io::Result<TlsStream<S>> {
    TlsAcceptor::from(Arc::clone(tls)).accept(stream).await
}
