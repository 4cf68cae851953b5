//! A relay to a gate or database server that can end, break, fall silent, move, or lose an answer.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use super::gate::Gate;

pub(crate) struct Relay {
    pub(crate) url: String,
    pub(crate) address: String,
    state: Arc<State>,
    accepting: std::thread::JoinHandle<()>,
}

/// Which half of a write is lost: a POST to a gate, or a COMMIT to PostgreSQL.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Lose {
    /// The request: the other end does not receive it.
    Request,
    /// The answer: the other end has done it.
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
    /// Blocks all connections.
    everywhere: bool,
    /// Number of oldest connections that stay blocked for good.
    first: u64,
    connections: u64,
}

impl Relay {
    pub(crate) fn start(gate: &Gate) -> Self {
        Self::to(&gate.listen())
    }

    /// Starts a relay to `other`, a host and port.
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
                // The client sees a closed connection if the other end does not listen.
                let Ok(other) = TcpStream::connect(to) else { continue };
                shared.open.lock().unwrap().extend([client.try_clone().unwrap(), other.try_clone().unwrap()]);
                shared.carry(client, other);
            }
        });
        Self { url: format!("http://{address}"), address, state, accepting }
    }

    /// Breaks the connection of the next write, before the other end receives it or after it answers.
    pub(crate) fn lose_the_next_write(&self, lose: Lose) {
        *self.state.loses.lock().unwrap() = Some(lose);
    }

    pub(crate) fn has_lost(&self) -> bool {
        self.state.loses.lock().unwrap().is_none()
    }

    /// Blocks both directions without closing anything, like a pulled cable.
    pub(crate) fn fall_silent(&self) {
        self.state.silence.lock().unwrap().everywhere = true;
    }

    /// Ends the silence and passes what was held back.
    pub(crate) fn speak(&self) {
        self.state.silence.lock().unwrap().everywhere = false;
        self.state.heard.notify_all();
    }

    /// Blocks the current connections without closing them, like a router that forgot them. New ones work.
    pub(crate) fn forget(&self) {
        let mut silence = self.state.silence.lock().unwrap();
        silence.first = silence.connections;
    }

    pub(crate) fn cut(&self) {
        self.state.open.lock().unwrap().drain(..).for_each(|stream| close(&stream));
    }

    /// Leads to `other` from now on and breaks every connection, like an address that moves.
    pub(crate) fn lead_to(&self, other: &str) {
        other.clone_into(&mut self.state.to.lock().unwrap());
        self.cut();
    }

    /// Ends like a killed process: stops listening and breaks every connection.
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

    /// Waits while the nth connection is blocked; a forgotten one waits for ever.
    fn wait_heard(&self, nth: u64) {
        let is_silent = |silence: &mut Silence| silence.everywhere || nth < silence.first;
        drop(self.heard.wait_while(self.silence.lock().unwrap(), is_silent).unwrap());
    }
}

/// Returns whether `bytes` are a POST or a PostgreSQL commit. JSON contains no zero byte.
fn is_write(bytes: &[u8]) -> bool {
    bytes.starts_with(b"POST ") || bytes.windows(7).any(|text| text == b"COMMIT\0")
}

/// Copies until the end, or until `goes_on` returns false.
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
