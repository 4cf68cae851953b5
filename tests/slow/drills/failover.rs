//! The database server is lost, and its standby takes over its address.

use super::crowd::{self, Crowd};
use super::{CONFIG, asked, blames_the_database, ready};
use crate::support::eventually;
use crate::support::lab::Node;
use crate::support::postgres::{How, Server};

#[test]
fn drill_promoted_standby_has_all_acknowledged_data() {
    let Some(programs) = asked("a standby takes the place of its server") else { return };
    let server = Server::on_a_port(programs, &[]);
    let standby = server.standby();
    // Every acknowledged write is on both.
    server.sql("ALTER SYSTEM SET synchronous_standby_names = '*'");
    server.sql("SELECT pg_reload_conf()");
    let is_sync = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
    eventually("the standby follows", || (server.sql(is_sync) == "1").then_some(()));
    let mut nodes = [Node::over(&server, CONFIG), Node::over(&server, CONFIG)];
    let crowd = Crowd::at(&nodes, 8);
    crowd.goes_on(40);

    server.stop(How::Immediate);
    nodes[1].kill_9();
    for node in &nodes {
        node.way.lead_to(&standby.address());
    }

    eventually("the gate says that it cannot write", || {
        let said = ready(&nodes[0]);
        assert!(blames_the_database(&said), "{}", said.body);
        said.body.contains("only reads").then_some(())
    });
    standby.promote();
    eventually("the gate is ready again", || (ready(&nodes[0]).status == 200).then_some(()));
    nodes[1].serve();
    crowd.goes_on(40);
    let (told, refused) = crowd.ends();
    for reply in refused {
        assert!(blames_the_database(&reply), "{}", reply.body);
    }
    crowd::holds(&told, &nodes, &standby);
}
