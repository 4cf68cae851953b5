//! A silent connection to the database server: open, but without data. Also stale connections that a router dropped.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::crowd::{self, Crowd};
use super::{CONFIG, PROPOSALS, asked, blames_the_database, is_long, ready};
use crate::support::agent::{Reply, approve, propose, try_request};
use crate::support::eventually;
use crate::support::lab::Node;
use crate::support::postgres::Server;

/// Time limit for a refusal: the gate's longest limit (20 s) plus the delays of a busy machine.
const ANSWERED: Duration = Duration::from_secs(100);
/// More concurrent requests than a gate has connections.
const AT_ONCE: usize = 24;

fn stream(node: &Node) -> TcpStream {
    let host = node.address.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let token = &node.address.owner_token;
    let head =
        format!("GET {PROPOSALS}/events HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut first = [0; 4_096];
    let read = stream.read(&mut first).unwrap();
    assert!(first[..read].starts_with(b"HTTP/1.1 200"));
    stream
}

/// Sends `AT_ONCE` requests, each to be answered in time, and returns the replies.
fn all_at_once(node: &Node) -> Vec<Reply> {
    let one = || try_request(&node.address, &node.address.owner_token, "GET", PROPOSALS, "");
    let begun = Instant::now();
    let replies = std::thread::scope(|scope| {
        let asked: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(one)).collect();
        asked.into_iter().map(|one| one.join().unwrap().expect("the gate does not answer")).collect()
    });
    assert!(begun.elapsed() < ANSWERED, "answered after {:?}", begun.elapsed());
    replies
}

#[test]
fn drill_gate_with_a_silent_database_refuses_and_recovers() {
    let Some(programs) = asked("the way to the server falls silent") else { return };
    let server = Server::on_a_port(programs, &[]);
    let nodes = [Node::over(&server, CONFIG), Node::over(&server, CONFIG)];
    let mut stream = stream(&nodes[0]);
    let crowd = Crowd::at(&nodes, 8);
    crowd.goes_on(40);
    let fell_silent = Instant::now();

    nodes[0].way.fall_silent();

    // Transactions of the silent gate must not block the other gate for long.
    let meanwhile = propose(
        &nodes[1].address,
        r#"{"workspaceId":"default","toolName":"other","toolInput":{"title":"meanwhile"}}"#,
    );
    let said = ready(&nodes[0]);
    assert!(blames_the_database(&said), "{}", said.body);
    for reply in all_at_once(&nodes[0]) {
        assert!(blames_the_database(&reply), "{}", reply.body);
    }
    if is_long() {
        nodes[1].way.fall_silent();
        // An inbox sees the stream end and cannot reopen it.
        stream.set_read_timeout(Some(ANSWERED)).unwrap();
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).unwrap();
        let minute = Duration::from_mins(1).saturating_sub(fell_silent.elapsed());
        std::thread::park_timeout(minute);
        for node in &nodes {
            assert_eq!(ready(node).status, 503);
            node.way.speak();
        }
    }
    nodes[0].way.speak();
    for node in &nodes {
        eventually("the gate is ready again", || (ready(node).status == 200).then_some(()));
        assert!(all_at_once(node).iter().all(|reply| reply.status == 200));
    }
    crowd.goes_on(40);
    let (mut told, refused) = crowd.ends();
    for reply in refused {
        assert!(blames_the_database(&reply), "{}", reply.body);
    }
    approve(&nodes[1].address, &meanwhile);
    told.insert("meanwhile".to_owned(), (meanwhile, "approved"));
    crowd::holds(&told, &nodes, &server);
}

#[test]
fn drill_stale_connections_leave_the_pool() {
    let Some(programs) = asked("a router forgets the connections to the server") else { return };
    let server = Server::on_a_port(programs, &[]);
    let nodes = [Node::over(&server, CONFIG), Node::over(&server, CONFIG)];
    let crowd = Crowd::at(&nodes, AT_ONCE);
    crowd.goes_on(100);

    nodes[0].way.forget();
    crowd.goes_on(200);
    let (told, refused) = crowd.ends();
    nodes[1].way.forget();

    for node in &nodes {
        eventually("the gate is ready again", || (ready(node).status == 200).then_some(()));
        let refused = |reply: &Reply| {
            let is_taken = reply.status == 200;
            assert!(is_taken || blames_the_database(reply), "{}", reply.body);
            !is_taken
        };
        eventually("no connection is stale", || (!all_at_once(node).iter().any(refused)).then_some(()));
        let told: Vec<_> = all_at_once(node).into_iter().map(|reply| reply.status).collect();
        assert_eq!(told, [200; AT_ONCE]);
    }
    for reply in refused {
        assert!(blames_the_database(&reply), "{}", reply.body);
    }
    crowd::holds(&told, &nodes, &server);
}
