//! Refuses requests by Host, Origin and content type, so that web pages cannot reach the gate.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::body::HttpBody as _;
use axum::extract::Request;
use axum::http::header::{HOST, ORIGIN};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::error::{ApiError, FORBIDDEN};
use super::routes::sent::is_json;

const PROBES: [&str; 2] = ["/healthz", "/readyz"];

#[derive(Debug, Clone)]
pub(super) struct Door {
    /// Listens only on loopback, where DNS rebinding would lead a browser.
    loopback: bool,
    names: Arc<[String]>,
}

impl Door {
    pub(super) fn new(address: SocketAddr, names: &[String]) -> Self {
        Self { loopback: address.ip().is_loopback(), names: names.into() }
    }

    /// Names must be configured, because anyone can point a name at this address. On loopback, addresses must be
    /// loopback.
    fn knows(&self, host: &str) -> bool {
        let Some(name) = name_of(host) else { return false };
        let address = name.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(name).parse();
        let ours = |address: IpAddr| !self.loopback || address.is_loopback();
        address.is_ok_and(ours)
            || name.eq_ignore_ascii_case("localhost")
            || self.names.iter().any(|known| known.eq_ignore_ascii_case(name))
    }
}

/// Pages must not reach the gate by DNS rebinding or from their own origin. The gate serves no HTML and sets no
/// cookies.
pub(super) async fn reject_browsers(door: Door, request: Request, next: Next) -> Response {
    let headers = request.headers();
    if headers.contains_key(ORIGIN) {
        let refused = "requests from web pages are refused; call the gate from a program";
        return ApiError::new(FORBIDDEN, refused).into_response();
    }
    let mut hosts = headers.get_all(HOST).iter();
    let host = hosts.next().map_or(Some(""), |host| host.to_str().ok());
    // Health checks of load balancers may omit Host; browsers always send it.
    let is_probe = host == Some("") && PROBES.contains(&request.uri().path());
    // With two, another server in the chain may have read the other one.
    if hosts.next().is_some() || !(is_probe || host.is_some_and(|host| door.knows(host))) {
        return ApiError::misdirected().into_response();
    }
    // Also where the route ignores the body: an HTML form cannot send JSON.
    if !request.body().is_end_stream() && !is_json(headers) {
        return ApiError::unsupported_type().into_response();
    }
    next.run(request).await
}

fn name_of(host: &str) -> Option<&str> {
    let end = match host.find(']') {
        Some(end) if host.starts_with('[') => end + 1,
        _ => host.find(':').unwrap_or(host.len()),
    };
    let (name, port) = host.split_at_checked(end)?;
    let digits = port.is_empty() || port.strip_prefix(':')?.bytes().all(|byte| byte.is_ascii_digit());
    (digits && !name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::Door;

    const OURS: [&str; 5] = ["localhost", "LOCALHOST:80", "127.0.0.1:7878", "[::1]:7878", "127.1.2.3"];
    const NEVER: [&str; 12] = [
        "evil.example",
        "evil.example:7878",
        "localhost.evil.example",
        "localhost:80@evil.example",
        "gate.example.com.evil.example",
        "xgate.example.com",
        "",
        "::",
        "[::1",
        "[::1]x",
        ":7878",
        "localhost:x",
    ];

    fn door(listen: &str) -> Door {
        Door::new(listen.parse().unwrap(), &["gate.example.com".to_owned()])
    }

    #[test]
    fn loopback_gate_accepts_loopback_and_configured_names() {
        let door = door("127.0.0.1:7878");
        for host in OURS.into_iter().chain(["gate.example.com", "GATE.example.com:443"]) {
            assert!(door.knows(host), "{host}");
        }
        for host in NEVER.into_iter().chain(["10.0.0.1", "0.0.0.0", "[2001:db8::1]"]) {
            assert!(!door.knows(host), "{host}");
        }
    }

    #[test]
    fn public_gate_accepts_any_address_and_configured_names() {
        let door = door("0.0.0.0:7878");
        for host in OURS.into_iter().chain(["gate.example.com:7878", "10.0.0.1", "[2001:db8::1]:7878"]) {
            assert!(door.knows(host), "{host}");
        }
        for host in NEVER {
            assert!(!door.knows(host), "{host}");
        }
    }
}
