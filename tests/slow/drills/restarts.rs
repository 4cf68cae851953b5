//! The database server crashes and is started again.

use super::crowd::{self, Crowd};
use super::{CONFIG, asked, blames_the_database, is_long, ready};
use crate::support::eventually;
use crate::support::lab::Node;
use crate::support::postgres::{How, Server};

#[test]
fn drill_crashing_server_under_load_loses_nothing() {
    let Some(programs) = asked("the server stops at once, and starts again") else { return };
    let server = Server::on_a_port(programs, &[]);
    let nodes = [Node::over(&server, CONFIG), Node::over(&server, CONFIG)];
    let crowd = Crowd::at(&nodes, 8);
    for _ in 0..if is_long() { 20 } else { 2 } {
        crowd.goes_on(40);

        server.stop(How::Immediate);

        for node in &nodes {
            let said = ready(node);
            assert!(blames_the_database(&said), "{}", said.body);
        }
        server.start();
        for node in &nodes {
            eventually("the gate is ready again", || (ready(node).status == 200).then_some(()));
        }
    }
    crowd.goes_on(40);
    let (told, refused) = crowd.ends();

    for reply in refused {
        assert!(blames_the_database(&reply), "{}", reply.body);
    }
    crowd::holds(&told, &nodes, &server);
}
