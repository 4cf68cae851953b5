//! A connection to the database server breaks during a commit. The key settles whether the commit was kept.

use placet::for_tests::Fields;

use super::crowd::{self, Crowd};
use super::{CONFIG, PROPOSALS, asked, blames_the_database, is_long};
use crate::support::agent::{Reply, try_keyed};
use crate::support::gate::Address;
use crate::support::lab::Node;
use crate::support::postgres::Server;
use crate::support::relay::Lose;

/// Repeats `ask` until its commit is the one lost, not one of the gate's own. Returns the number of tries and the answer.
fn in_doubt(node: &Node, lose: Lose, ask: impl Fn(usize) -> Reply) -> (usize, Reply) {
    for nth in 0.. {
        node.way.lose_the_next_write(lose);
        let reply = ask(nth);
        if reply.status == 503 {
            assert!(node.way.has_lost());
            return (nth, reply);
        }
    }
    unreachable!()
}

fn id(reply: &Reply) -> String {
    Fields::of(&reply.body).unwrap().text("pending_action_id").unwrap().as_raw().to_owned()
}

#[test]
fn drill_key_settles_a_write_in_doubt_at_any_gate() {
    let Some(programs) = asked("a connection breaks in the middle of a commit") else { return };
    let server = Server::on_a_port(programs, &[]);
    let nodes = [Node::over(&server, CONFIG), Node::over(&server, CONFIG)];
    let ways = crowd::ways(&nodes);
    for (lose, was_kept) in [(Lose::Answer, true), (Lose::Request, false)] {
        let propose = |way: &Address, nth: usize| {
            let title = format!("{lose:?} {nth}");
            let body = format!(
                r#"{{"workspaceId":"default","toolName":"other","toolInput":{{"title":"{title}"}}}}"#
            );
            try_keyed(way, &way.agent_token, &format!("p-{lose:?}-{nth}"), ("POST", PROPOSALS), &body)
                .unwrap()
        };
        let count = |nth: usize| {
            let asked =
                format!("SELECT count(*) FROM placet.payloads WHERE input LIKE '%\"{lose:?} {nth}\"%'");
            server.sql(&asked)
        };

        let (nth, doubt) = in_doubt(&nodes[0], lose, |nth| propose(&ways[0], nth));

        assert!(blames_the_database(&doubt), "{}", doubt.body);
        assert!(doubt.body.contains("it may have been done"), "{}", doubt.body);
        assert_eq!(count(nth), if was_kept { "1" } else { "0" }, "{lose:?}");
        let again: Vec<_> = [&ways[1], &ways[0]].iter().map(|way| propose(way, nth)).collect();
        assert!(again.iter().all(|reply| reply.status == 202), "{again:?}");
        assert_eq!(id(&again[0]), id(&again[1]));
        assert_eq!(count(nth), "1", "{lose:?}");

        decided_once(&nodes, &ways, lose, |nth| id(&propose(&ways[1], 1_000 + nth)));
    }
}

/// Decisions: a retry under a key gets the first answer, one without a key is refused as already done.
fn decided_once(nodes: &[Node], ways: &[Address], lose: Lose, new: impl Fn(usize) -> String) {
    for key in ["d", ""] {
        let proposed: Vec<_> = (0..8).map(|nth| new(if key.is_empty() { 10 + nth } else { nth })).collect();
        let approve = |way: &Address, nth: usize| {
            let key = if key.is_empty() { String::new() } else { format!("{lose:?}-{nth}") };
            let path = format!("{PROPOSALS}/{}/approve", proposed[nth]);
            try_keyed(way, &way.owner_token, &key, ("POST", &path), "{}").unwrap()
        };

        let (nth, doubt) = in_doubt(&nodes[0], lose, |nth| approve(&ways[0], nth));

        assert!(blames_the_database(&doubt), "{}", doubt.body);
        let again = [approve(&ways[1], nth), approve(&ways[0], nth)];
        let statuses = again.each_ref().map(|reply| reply.status);
        match (key, lose) {
            ("d", _) => {
                assert_eq!(statuses, [200, 200], "{lose:?}: {again:?}");
                assert_eq!(again[0].body, again[1].body);
            }
            (_, Lose::Answer) => assert_eq!(statuses, [409, 409], "{again:?}"),
            (_, Lose::Request) => assert_eq!(statuses, [200, 409], "{again:?}"),
        }
        assert!(again.iter().all(|reply| reply.body.contains(r#""status":"approved""#)), "{again:?}");
    }
}

#[test]
fn drill_broken_connections_under_load_double_nothing() {
    let Some(programs) = asked("connections break under load") else { return };
    let server = Server::on_a_port(programs, &[]);
    let nodes = [Node::over(&server, CONFIG), Node::over(&server, CONFIG)];
    let crowd = Crowd::at(&nodes, 8);
    for nth in 0..if is_long() { 400 } else { 40 } {
        crowd.goes_on(2);
        let node = &nodes[nth % 2];
        match nth % 4 {
            0 | 1 => node.way.cut(),
            2 => node.way.lose_the_next_write(Lose::Answer),
            _ => node.way.lose_the_next_write(Lose::Request),
        }
    }
    let (told, refused) = crowd.ends();

    for reply in refused {
        assert!(blames_the_database(&reply), "{}", reply.body);
    }
    crowd::holds(&told, &nodes, &server);
}
