//! TLS in front of the gate's HTTP: the certificate of the configuration, and handshakes that hinder nobody.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::serve::Listener;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::server::at_once;
use crate::config::TlsFiles;

/// How long a client may take to shake hands.
const HANDSHAKE: Duration = Duration::from_secs(10);

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
    let mut config = config.map_err(|error| format!("gate.tls_cert and gate.tls_key do not do: {error}"))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// A listener whose connections have shaken hands.
pub(super) struct TlsListener {
    tcp: TcpListener,
    acceptor: TlsAcceptor,
    /// Beside each other: one that stalls keeps neither the others nor the next connection waiting.
    handshakes: JoinSet<Option<(TlsStream<TcpStream>, SocketAddr)>>,
}

impl TlsListener {
    pub(super) fn new(tcp: TcpListener, config: Tls) -> Self {
        Self { tcp, acceptor: config.into(), handshakes: JoinSet::new() }
    }
}

impl Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            tokio::select! {
                (mut stream, peer) = Listener::accept(&mut self.tcp) => {
                    at_once(&mut stream);
                    let handshake = self.acceptor.accept(stream);
                    self.handshakes.spawn(async move {
                        match tokio::time::timeout(HANDSHAKE, handshake).await {
                            Ok(Ok(stream)) => Some((stream, peer)),
                            Ok(Err(error)) => {
                                tracing::debug!(%peer, %error, "a TLS handshake failed");
                                None
                            }
                            Err(_) => None,
                        }
                    });
                }
                Some(ended) = self.handshakes.join_next() => {
                    if let Ok(Some(connection)) = ended {
                        return connection;
                    }
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.tcp.local_addr()
    }
}
