//! G29: after any trouble with stream and requests, a working stream makes the list equal the server's.

pub(crate) mod server;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tempfile::TempDir;
use tokio::sync::mpsc;

use crate::config::{SourceConfig, SourceKind};
use crate::domain::SourceName;
use crate::inbox::{Event, Inbox, Problem, Synced};
use crate::journal::Journal;
use crate::rounds::{Random, rounds};
use crate::sources;
use crate::tui::core::msg::{Effect, What};
use crate::tui::queue::list::Syncing;
use crate::tui::testing::{CAN, Desk, source};
use crate::tui::tests::continuity::server::Server;

/// Polling interval, long enough that only the stream reports changes.
const NEVER: Duration = Duration::from_hours(1);
/// Maximum number of scripts played at a time.
const AT_ONCE: usize = 6;
const LIMIT: Duration = Duration::from_secs(10);

struct Client {
    desk: Desk,
    inbox: Inbox,
    events: mpsc::Receiver<Event>,
    tell: mpsc::Sender<(SourceName, Result<Synced, Problem>)>,
    synced: mpsc::Receiver<(SourceName, Result<Synced, Problem>)>,
    _folder: TempDir,
}

impl Client {
    async fn start(url: &str) -> Self {
        let config = SourceConfig { name: source(), ..SourceConfig::of("s", SourceKind::Gate, url) };
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(&folder.path().join("journal.db")).await.unwrap();
        let gate = sources::open_in_a_hurry(&config, LIMIT).unwrap();
        let inbox = Inbox::open(vec![gate], journal, NEVER, None);
        let mut desk = Desk::with(80, 24, Vec::new(), CAN);
        desk.answers = false;
        desk.model.list.sources[0].revision = None;
        desk.model.list.sources[0].listed = false;
        desk.effects.clear();
        let (tell, synced) = mpsc::channel(16);
        Self { desk, events: inbox.watch(), inbox, tell, synced, _folder: folder }
    }

    /// Handles one event; returns false if none came within `patience`.
    async fn step(&mut self, patience: Duration) -> bool {
        for effect in std::mem::take(&mut self.desk.effects) {
            if let Effect::Sync { source, since } = effect {
                let (inbox, tell) = (self.inbox.clone(), self.tell.clone());
                tokio::spawn(async move {
                    let answer = inbox.sync(&source, since).await;
                    tell.send((source, answer)).await.ok();
                });
            }
        }
        let what = tokio::select! {
            event = self.events.recv() => What::Source(event.unwrap()),
            Some((name, answer)) = self.synced.recv() => What::Synced(name, answer),
            () = tokio::time::sleep(patience) => return false,
        };
        self.desk.say(what);
        true
    }

    fn list(&self) -> BTreeMap<String, String> {
        let queue = &self.desk.model.queue;
        let shown = queue.slots.iter().filter(|slot| slot.counts_as_pending()).map(|slot| &*slot.entry);
        shown
            .chain(queue.held_pending())
            .map(|entry| (entry.key.id.as_raw().to_owned(), entry.row.title.as_raw().to_owned()))
            .collect()
    }

    fn is_idle(&self) -> bool {
        self.desk.model.list.sources[0].syncing == Syncing::No && self.desk.model.list.sources[0].listed
    }
}

async fn play(seed: u64) {
    let mut chance = Random::of(seed);
    let server = Arc::new(Server::default());
    let url = Arc::clone(&server).serve().await;
    let mut client = Client::start(&url).await;
    let mut script = Vec::new();
    for _ in 0..20 + chance.below(60) {
        script.push(server.happens(&mut chance));
        for _ in 0..chance.below(4) {
            client.step(Duration::from_millis(1)).await;
        }
        if chance.below(3) == 0 {
            // While the list is touched, arrivals are held back. They still count.
            client.desk.model.list.touched = !client.desk.model.list.touched;
        }
    }

    server.recovers();

    let same = async {
        while !client.is_idle() || client.list() != server.pending() || !server.is_watched() {
            client.step(Duration::from_millis(50)).await;
        }
    };
    let came = tokio::time::timeout(LIMIT, same).await;
    let (has, holds) = (client.list(), server.pending());
    assert!(came.is_ok(), "seed {seed}: {script:?}\nhas   {has:?}\nholds {holds:?}");
    // Late messages must not undo the list.
    while client.step(Duration::from_millis(5)).await {}
    assert_eq!(client.list(), server.pending(), "seed {seed}: {script:?}");
}

#[tokio::test]
async fn g29_list_equals_the_servers_after_any_stream_trouble() {
    let mut chance = Random::seeded();

    // The scripts wait most of the time, so several run at once.
    let seeds: Vec<u64> = (0..rounds(16, 1_000)).map(|_| chance.below(1 << 30) as u64).collect();
    for seeds in seeds.chunks(AT_ONCE) {
        join_all(seeds.iter().map(|seed| play(*seed))).await;
    }
}
