//! Another way to a gate, or to a database server, which can end, break, fall silent, lead elsewhere, or lose an answer.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use super::gate::Gate;

pub(crate) struct Relay {
    /// To a gate.
    pub(crate) url: String,
    pub(crate) address: String,
    state: Arc<State>,
    accepting: std::thread::JoinHandle<()>,
}

/// What is lost of a write: of a POST to a gate, or of a COMMIT to PostgreSQL.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Lose {
    /// All of it: the other end hears nothing.
    Request,
    /// The other end did it.
    Answer,
}

#[derive(Default)]
struct State {
    to: Mutex<String>,
    is_over: AtomicBool,
    silence: Mutex<Silence>,
    heard: Condvar,
    loses: Mutex<Option<Lose>>,
    open: Mutex<Vec<TcpStream>>,
}

#[derive(Default)]
struct Silence {
    /// Nothing passes on any connection.
    everywhere: bool,
    /// Nothing passes ever again on the first so many connections.
    first: u64,
    connections: u64,
}

impl Relay {
    pub(crate) fn start(gate: &Gate) -> Self {
        Self::to(&gate.listen())
    }

    /// A way to this host and port.
    pub(crate) fn to(other: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let state = Arc::new(State { to: Mutex::new(other.to_owned()), ..State::default() });
        let shared = Arc::clone(&state);
        let accepting = std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if shared.is_over.load(Ordering::SeqCst) {
                    return;
                }
                let to = shared.to.lock().unwrap().clone();
                // Where nobody listens, the client finds its connection closed.
                let Ok(other) = TcpStream::connect(to) else { continue };
                shared.open.lock().unwrap().extend([client.try_clone().unwrap(), other.try_clone().unwrap()]);
                shared.carry(client, other);
            }
        });
        Self { url: format!("http://{address}"), address, state, accepting }
    }

    /// The connection of the next write breaks before the other end hears it, or once it has answered.
    pub(crate) fn lose_the_next_write(&self, lose: Lose) {
        *self.state.loses.lock().unwrap() = Some(lose);
    }

    pub(crate) fn has_lost(&self) -> bool {
        self.state.loses.lock().unwrap().is_none()
    }

    /// Nothing passes any more, in either direction, and nobody is told: as when a cable is pulled.
    pub(crate) fn fall_silent(&self) {
        self.state.silence.lock().unwrap().everywhere = true;
    }

    /// What was held back passes now, and everything after it.
    pub(crate) fn speak(&self) {
        self.state.silence.lock().unwrap().everywhere = false;
        self.state.heard.notify_all();
    }

    /// Nothing passes any more on the connections that are open now, and nobody is told; new ones are as ever. As when a router forgets.
    pub(crate) fn forget(&self) {
        let mut silence = self.state.silence.lock().unwrap();
        silence.first = silence.connections;
    }

    /// Breaks every connection that is open now.
    pub(crate) fn cut(&self) {
        self.state.open.lock().unwrap().drain(..).for_each(|stream| close(&stream));
    }

    /// Leads elsewhere from now on, and breaks every connection: as an address that moves to another machine.
    pub(crate) fn lead_to(&self, other: &str) {
        other.clone_into(&mut self.state.to.lock().unwrap());
        self.cut();
    }

    /// Ends as a killed process does: nobody listens, and every connection breaks.
    pub(crate) fn end(self) {
        self.state.is_over.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(&self.address));
        self.accepting.join().unwrap();
        self.state.open.lock().unwrap().iter().for_each(close);
    }
}

impl State {
    fn carry(self: &Arc<Self>, mut client: TcpStream, mut other: TcpStream) {
        let unanswered = Arc::new(AtomicBool::new(false));
        let nth = self.next();
        let (mut asked, mut answered) = (client.try_clone().unwrap(), other.try_clone().unwrap());
        let (state, loses) = (Arc::clone(self), Arc::clone(&unanswered));
        std::thread::spawn(move || {
            copy(&mut asked, &mut other, |bytes| {
                state.wait_heard(nth);
                if !is_write(bytes) {
                    return true;
                }
                let lose = state.loses.lock().unwrap().take();
                loses.store(lose.is_some(), Ordering::SeqCst);
                lose != Some(Lose::Request)
            });
        });
        let state = Arc::clone(self);
        std::thread::spawn(move || {
            copy(&mut answered, &mut client, |_| {
                state.wait_heard(nth);
                !unanswered.load(Ordering::SeqCst)
            });
        });
    }

    fn next(&self) -> u64 {
        let mut silence = self.silence.lock().unwrap();
        silence.connections += 1;
        silence.connections - 1
    }

    /// The nth connection; one that was forgotten is held back for ever.
    fn wait_heard(&self, nth: u64) {
        let is_silent = |silence: &mut Silence| silence.everywhere || nth < silence.first;
        drop(self.heard.wait_while(self.silence.lock().unwrap(), is_silent).unwrap());
    }
}

/// A POST, or a message of PostgreSQL that commits; no JSON holds a byte 0.
fn is_write(bytes: &[u8]) -> bool {
    bytes.starts_with(b"POST ") || bytes.windows(7).any(|text| text == b"COMMIT\0")
}

/// Until an end, or until `goes_on` says no.
fn copy(from: &mut TcpStream, to: &mut TcpStream, goes_on: impl Fn(&[u8]) -> bool) {
    let mut bytes = [0; 16_384];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        if !goes_on(&bytes[..read]) || to.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    close(from);
    close(to);
}

fn close(stream: &TcpStream) {
    drop(stream.shutdown(Shutdown::Both));
}
