//! Starts gates on a new store, and measures each process.

use std::path::Path;
use std::process::Command;

use crate::postgres::{Server, programs};
use crate::served::{CONFIG, Client, Gate, cpu_of, placet, stat};

/// Settings besides the defaults: memory for a million actions, and rare checkpoints.
pub(crate) const SETTINGS: [(&str, &str); 3] =
    [("shared_buffers", "1GB"), ("max_wal_size", "4GB"), ("max_connections", "200")];

pub(crate) fn server() -> Server {
    Server::on_a_socket(programs().expect("PostgreSQL; install Debian's package postgresql"), &SETTINGS)
}

pub(crate) fn database(server: &Server, name: &str) -> String {
    server.sql(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"));
    server.sql(&format!("CREATE DATABASE {name}"));
    let url = server.url();
    let (base, _) = url.rsplit_once('/').unwrap();
    format!("{base}/{name}")
}

#[derive(Clone, Debug)]
pub(crate) enum Store {
    Sqlite,
    Postgres(String),
}

impl Store {
    /// Options for placet's commands.
    pub(crate) fn arguments(&self) -> Vec<&str> {
        match self {
            Self::Sqlite => Vec::new(),
            Self::Postgres(url) => vec!["--database", url],
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres(_) => "PostgreSQL",
        }
    }
}

/// Gates on one store, and for each workspace a client that uses them in turn.
pub(crate) struct Gates {
    pub(crate) store: Store,
    pub(crate) gates: Vec<Gate>,
    pub(crate) clients: Vec<Client>,
}

impl Gates {
    pub(crate) fn serve(store: Store, gates: usize, workspaces: usize) -> Self {
        let gates: Vec<_> = (0..gates).map(|_| Gate::serve_with(CONFIG, &store.arguments())).collect();
        let mut clients = vec![gates[0].client.clone()];
        for nth in 1..workspaces {
            clients.push(client_of(gates[0].folder.path(), &store, &gates[0], &format!("w{nth}")));
        }
        for client in &mut clients {
            client.urls = gates.iter().map(|gate| gate.client.urls[0].clone()).collect();
        }
        Self { store, gates, clients }
    }
}

pub(crate) fn client_of(folder: &Path, store: &Store, gate: &Gate, workspace: &str) -> Client {
    let token = |scopes: &str, subject: &str| {
        let create =
            ["gate", "token", "create", "--scopes", scopes, "--subject", subject, "--workspace", workspace];
        said(&mut placet(folder, &[&create, store.arguments().as_slice()].concat()))
    };
    let (agent, owner) =
        (token("propose,read,execute", "agent"), token("read,decide,execute,admin", "owner"));
    Client::new(&gate.client.urls[0], workspace, &agent, &owner)
}

pub(crate) fn said(command: &mut Command) -> String {
    let said = command.output().unwrap();
    assert!(said.status.success(), "{command:?}: {}", String::from_utf8_lossy(&said.stderr));
    String::from_utf8_lossy(&said.stdout).trim().to_owned()
}

/// Processor time in milliseconds.
#[derive(Clone, Copy, Default)]
pub(crate) struct Cpu {
    pub(crate) client: f64,
    pub(crate) gates: f64,
    pub(crate) server: f64,
}

impl Cpu {
    pub(crate) fn now(gates: &[Gate], server: Option<&Server>) -> Self {
        let postmaster = server.and_then(|server| {
            let text = std::fs::read_to_string(server.data().join("postmaster.pid")).ok()?;
            text.lines().next()?.parse().ok()
        });
        Self {
            client: cpu_of(std::process::id()),
            gates: gates.iter().map(|gate| cpu_of(gate.child.id())).sum(),
            server: postmaster.map_or(0.0, |pid| cpu_of(pid) + children(pid).map(cpu_of).sum::<f64>()),
        }
    }

    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            client: self.client - before.client,
            gates: self.gates - before.gates,
            server: self.server - before.server,
        }
    }
}

fn children(of: u32) -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(move |pid| stat(*pid).is_some_and(|fields| fields[1] == of.to_string()))
}
