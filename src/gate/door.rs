//! The door: which requests are heard at all, whatever they ask for.

use std::net::SocketAddr;

use axum::extract::Request;
use axum::http::header::{HOST, ORIGIN};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::error::ApiError;

/// Browsers have no business here: a page must not reach a gate on loopback by a name of its own (DNS rebinding), nor
/// from its own origin. There is no user interface in HTML and there are no cookies.
pub(crate) async fn no_browsers(address: SocketAddr, request: Request, next: Next) -> Response {
    let headers = request.headers();
    if headers.contains_key(ORIGIN) {
        let refused = "requests from web pages are refused; call the gate from a program";
        return ApiError::Forbidden(refused.to_owned()).into_response();
    }
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    if address.ip().is_loopback() && !host.is_some_and(is_loopback) {
        return ApiError::Misdirected.into_response();
    }
    next.run(request).await
}

/// `localhost` or a loopback address, with or without a port.
fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.chars().all(|c| c.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::is_loopback;

    #[test]
    fn only_loopback_names_are_ours() {
        for host in ["localhost", "LOCALHOST:80", "127.0.0.1:7878", "[::1]:7878", "127.1.2.3"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["evil.example", "evil.example:7878", "localhost.evil.example", "10.0.0.1", "", "::"] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
