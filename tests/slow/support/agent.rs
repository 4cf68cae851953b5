//! An agent with plain HTTP over a socket, independent of placet's client.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use placet::for_tests::Fields;

use super::LIMIT;
use super::gate::Address;

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: String,
}

/// Sends one request on its own connection. Panics without an answer.
pub(crate) fn request(address: &Address, token: &str, method: &str, path: &str, body: &str) -> Reply {
    try_request(address, token, method, path, body).unwrap()
}

/// Sends one request on its own connection; `None` without a whole answer.
pub(crate) fn try_request(
    address: &Address,
    token: &str,
    method: &str,
    path: &str,
    body: &str,
) -> Option<Reply> {
    try_keyed(address, token, "", (method, path), body)
}

/// Sends one request with an `Idempotency-Key`, unless `key` is empty.
pub(crate) fn try_keyed(
    address: &Address,
    token: &str,
    key: &str,
    (method, path): (&str, &str),
    body: &str,
) -> Option<Reply> {
    let key = if key.is_empty() { String::new() } else { format!("Idempotency-Key: {key}\r\n") };
    let host = address.url.strip_prefix("http://")?;
    let mut stream = TcpStream::connect(host).ok()?;
    stream.set_read_timeout(Some(LIMIT)).ok()?;
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n{key}\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all((head + body).as_bytes()).ok()?;
    let mut reply = String::new();
    stream.read_to_string(&mut reply).ok()?;
    let (head, body) = reply.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some(Reply { status, body: body.to_owned() })
}

pub(crate) fn propose(address: &Address, body: &str) -> String {
    let reply = request(address, &address.agent_token, "POST", "/api/pending-actions", body);
    assert_eq!(reply.status, 202, "{}", reply.body);
    Fields::of(&reply.body).unwrap().text("pending_action_id").unwrap().as_raw().to_owned()
}

pub(crate) fn approve(address: &Address, id: &str) {
    let path = format!("/api/pending-actions/{id}/approve");
    let reply = request(address, &address.owner_token, "POST", &path, "");
    assert_eq!(reply.status, 200, "{}", reply.body);
}

pub(crate) fn get(address: &Address, id: &str) -> Reply {
    request(address, &address.owner_token, "GET", &format!("/api/pending-actions/{id}"), "")
}

pub(crate) fn status(address: &Address, id: &str) -> String {
    Fields::of(&get(address, id).body).unwrap().text("status").unwrap().as_raw().to_owned()
}
