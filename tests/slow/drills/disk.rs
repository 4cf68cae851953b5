//! Full disks of the database server: for its data, and for its write-ahead log.

use std::path::{Path, PathBuf};
use std::process::Command;

use placet::for_tests::Fields;

use super::{CONFIG, PROPOSALS, asked, blames_the_database, ready};
use crate::support::agent::{Reply, get, propose, request, try_keyed};
use crate::support::chance::Chance;
use crate::support::eventually;
use crate::support::lab::Node;
use crate::support::postgres::{How, Server, owned_folder, user};
use crate::support::skipped;

/// A small disk that lives as long as this value. Mounting needs root.
struct Disk {
    folder: tempfile::TempDir,
}

impl Disk {
    fn of(megabytes: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let owner = user().map_or_else(String::new, |user| format!(",uid={user},gid={user}"));
        let size = format!("size={megabytes}m,mode=0700{owner}");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", &size, "none"]).arg(folder.path()).status();
        assert!(mounted.unwrap().success());
        Self { folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn filler(&self) -> PathBuf {
        self.path().join("filler")
    }

    fn fill(&self) {
        let filled = std::fs::File::create(self.filler())
            .and_then(|mut file| std::io::copy(&mut std::io::repeat(0), &mut file));
        assert_eq!(filled.unwrap_err().kind(), std::io::ErrorKind::StorageFull);
    }

    fn make_room(&self) {
        std::fs::remove_file(self.filler()).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("-l").arg(self.path()).status());
    }
}

fn mounts(drill: &str) -> Option<PathBuf> {
    let programs = asked(drill)?;
    if user().is_none() {
        skipped(&format!("{drill}; only root can make a small disk for it"));
        return None;
    }
    Some(programs)
}

/// Returns a large proposal of random letters, which do not compress.
fn large(nth: u64) -> String {
    let mut chance = Chance::new(nth);
    let text: String =
        (0..100_000).map(|_| char::from(b'a' + u8::try_from(chance.below(26)).unwrap())).collect();
    format!(r#"{{"workspaceId":"default","toolName":"other","toolInput":{{"title":"large{nth} {text}"}}}}"#)
}

/// Sends large proposals, each under a key, until one is refused. Returns the acknowledged ids and the refusal.
fn propose_until_full(node: &Node) -> (Vec<String>, Reply) {
    let mut ids = Vec::new();
    for nth in 0..2_000 {
        let key = format!("large-{nth}");
        let way = &node.address;
        let reply = try_keyed(way, &way.agent_token, &key, ("POST", PROPOSALS), &large(nth)).unwrap();
        if reply.status != 202 {
            return (ids, reply);
        }
        ids.push(id(&reply));
    }
    panic!("the disk is not full")
}

fn id(reply: &Reply) -> String {
    Fields::of(&reply.body).unwrap().text("pending_action_id").unwrap().as_raw().to_owned()
}

/// Checks that each acknowledged proposal was kept once, and that the refused one can be repeated.
fn nothing_large_is_lost(node: &Node, ids: &[String], server: &Server) {
    let (way, nth) = (&node.address, u64::try_from(ids.len()).unwrap());
    let key = format!("large-{nth}");
    let again = || try_keyed(way, &way.agent_token, &key, ("POST", PROPOSALS), &large(nth)).unwrap();
    assert_eq!((again().status, id(&again())), (202, id(&again())));
    for id in ids {
        assert_eq!(get(way, id).status, 200);
    }
    let number = "SELECT count(*) FROM placet.payloads WHERE input LIKE '%\"large%'";
    assert_eq!(server.sql(number), (ids.len() + 1).to_string());
}

#[test]
fn drill_full_data_disk_refuses_writes_and_loses_nothing() {
    let Some(programs) = mounts("the server's disk is full") else { return };
    let (disk, elsewhere) = (Disk::of(120), owned_folder());
    let server = Server::on_disks(programs, disk.path(), &elsewhere.path().join("wal"));
    let nodes = [Node::over(&server, CONFIG), Node::over(&server, CONFIG)];
    let known = propose(&nodes[0].address, r#"{"workspaceId":"default","toolName":"other","toolInput":{}}"#);

    disk.fill();
    let (ids, refused) = propose_until_full(&nodes[0]);

    assert!(blames_the_database(&refused), "{}", refused.body);
    assert!(
        refused.body.contains("the disk of the database server is full; make room there"),
        "{}",
        refused.body
    );
    let said = ready(&nodes[0]);
    assert!(blames_the_database(&said), "who met it says so: {}", said.body);
    for node in &nodes {
        assert_eq!(get(&node.address, &known).status, 200, "stored actions are readable");
        assert_eq!(request(&node.address, &node.address.owner_token, "GET", PROPOSALS, "").status, 200);
    }
    disk.make_room();
    for node in &nodes {
        eventually("it writes again", || {
            let body = r#"{"workspaceId":"default","toolName":"other","toolInput":{}}"#;
            let reply = request(&node.address, &node.address.agent_token, "POST", PROPOSALS, body);
            (reply.status == 202).then_some(())
        });
        eventually("it is ready", || (ready(node).status == 200).then_some(()));
    }
    nothing_large_is_lost(&nodes[1], &ids, &server);
}

#[test]
fn drill_full_log_disk_stops_the_server_and_loses_nothing() {
    let Some(programs) = mounts("the disk of the server's write-ahead log is full") else { return };
    let (disk, elsewhere) = (Disk::of(80), owned_folder());
    let server = Server::on_disks(programs, elsewhere.path(), &disk.path().join("wal"));
    let nodes = [Node::over(&server, CONFIG), Node::over(&server, CONFIG)];

    disk.fill();
    let (ids, refused) = propose_until_full(&nodes[0]);

    assert!(blames_the_database(&refused), "{}", refused.body);
    // The server may answer for a moment between two recovery attempts.
    eventually("the other gate refuses, too", || blames_the_database(&ready(&nodes[1])).then_some(()));
    disk.make_room();
    // PostgreSQL has ended by itself or tries to recover.
    server.stop(How::Immediate);
    server.start();
    for node in &nodes {
        eventually("the gate is ready again", || (ready(node).status == 200).then_some(()));
    }
    nothing_large_is_lost(&nodes[1], &ids, &server);
}
