//! Several gates on one PostgreSQL server, each with its own process, home and relay to the server. `benches/scale` includes
//! this folder, too.

use super::gate::{Address, Gate};
use super::home::Home;
use super::postgres::Server;
use super::relay::Relay;

/// One gate, which may be stopped.
pub(crate) struct Node {
    pub(crate) home: Home,
    /// The gate's only connection to the server.
    pub(crate) way: Relay,
    /// The same address after a restart.
    pub(crate) address: Address,
    env: Vec<(String, String)>,
    gate: Option<Gate>,
}

impl Node {
    /// Starts a gate on `server`, configured like [`Home::with_config`].
    pub(crate) fn over(server: &Server, config: &str) -> Self {
        Self::with_env(server, config, &[])
    }

    pub(crate) fn with_env(server: &Server, config: &str, env: &[(&str, &str)]) -> Self {
        let (home, way) = (Home::with_config(config), Relay::to(&server.address()));
        let env: Vec<_> = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let gate = Gate::serve_with(&home, &["--database", &database(&way)], &env);
        Self { home, address: gate.address.clone(), env, gate: Some(gate), way }
    }

    pub(crate) fn kill_9(&mut self) {
        if let Some(gate) = self.gate.take() {
            gate.kill_9();
        }
    }

    /// Starts a killed gate again at its address.
    pub(crate) fn serve(&mut self) {
        let listen = self.address.url.strip_prefix("http://").unwrap();
        let args = ["--database", &database(&self.way), "--listen", listen];
        self.gate = Some(Gate::serve_with(&self.home, &args, &self.env));
    }
}

fn database(way: &Relay) -> String {
    format!("postgres://placet@{}/postgres", way.address)
}
