use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use secrecy::SecretString;

use super::Bearer;

/// Serves until the test's runtime ends; returns the base URL.
pub(crate) async fn serve(app: axum::Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    url
}

/// Returns an address that refuses connections.
pub(crate) async fn nobody() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

/// A token that differs at each reading, until the last of `tokens`.
pub(crate) fn bearer(tokens: &'static [&'static str]) -> Bearer {
    let reads = AtomicUsize::new(0);
    Bearer::new(Arc::new(move || {
        let nth = reads.fetch_add(1, Ordering::SeqCst).min(tokens.len() - 1);
        Ok(SecretString::from(tokens[nth]))
    }))
}
