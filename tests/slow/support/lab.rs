//! Several gates on one PostgreSQL, each a process with a home of its own and a way of its own to the server, which can break or fall
//! silent. `benches/scale` includes this folder too.

use super::gate::{Address, Gate};
use super::home::Home;
use super::postgres::Server;
use super::relay::Relay;

/// One gate, which may be dead for a while.
pub(crate) struct Node {
    pub(crate) home: Home,
    /// To the server; the gate has no other.
    pub(crate) way: Relay,
    /// The same before and after a restart.
    pub(crate) address: Address,
    env: Vec<(String, String)>,
    gate: Option<Gate>,
}

impl Node {
    /// A gate over `server`, with the configuration of [`Home::with_config`].
    pub(crate) fn over(server: &Server, config: &str) -> Self {
        Self::with_env(server, config, &[])
    }

    /// The same with more in its environment.
    pub(crate) fn with_env(server: &Server, config: &str, env: &[(&str, &str)]) -> Self {
        let (home, way) = (Home::with_config(config), Relay::to(&server.address()));
        let env: Vec<_> = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let gate = Gate::serve_with(&home, &["--database", &database(&way)], &env);
        Self { home, address: gate.address.clone(), env, gate: Some(gate), way }
    }

    /// As nothing can prevent.
    pub(crate) fn kill_9(&mut self) {
        if let Some(gate) = self.gate.take() {
            gate.kill_9();
        }
    }

    /// Starts it again at its address, once it was killed.
    pub(crate) fn serve(&mut self) {
        let listen = self.address.url.strip_prefix("http://").unwrap();
        let args = ["--database", &database(&self.way), "--listen", listen];
        self.gate = Some(Gate::serve_with(&self.home, &args, &self.env));
    }
}

fn database(way: &Relay) -> String {
    format!("postgres://placet@{}/postgres", way.address)
}
