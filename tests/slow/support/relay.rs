//! Another way to a gate, which can end, or lose an answer.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use super::gate::Gate;

pub(crate) struct Relay {
    pub(crate) url: String,
    address: String,
    state: Arc<State>,
    accepting: std::thread::JoinHandle<()>,
}

/// What is lost of a write.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Lose {
    /// All of it: the gate hears nothing.
    Request,
    /// The gate did it.
    Answer,
}

#[derive(Default)]
struct State {
    is_over: AtomicBool,
    loses: Mutex<Option<Lose>>,
    open: Mutex<Vec<TcpStream>>,
}

impl Relay {
    pub(crate) fn start(gate: &Gate) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (state, gate) = (Arc::<State>::default(), gate.listen());
        let shared = Arc::clone(&state);
        let accepting = std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if shared.is_over.load(Ordering::SeqCst) {
                    return;
                }
                let gate = TcpStream::connect(&gate).unwrap();
                shared.open.lock().unwrap().extend([client.try_clone().unwrap(), gate.try_clone().unwrap()]);
                shared.carry(client, gate);
            }
        });
        Self { url: format!("http://{address}"), address, state, accepting }
    }

    /// The connection of the next write breaks before the gate hears it, or once the gate has answered.
    pub(crate) fn lose_the_next_write(&self, lose: Lose) {
        *self.state.loses.lock().unwrap() = Some(lose);
    }

    pub(crate) fn has_lost(&self) -> bool {
        self.state.loses.lock().unwrap().is_none()
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
    fn carry(self: &Arc<Self>, mut client: TcpStream, mut gate: TcpStream) {
        let unanswered = Arc::new(AtomicBool::new(false));
        let (mut asked, mut answered) = (client.try_clone().unwrap(), gate.try_clone().unwrap());
        let (state, loses) = (Arc::clone(self), Arc::clone(&unanswered));
        std::thread::spawn(move || {
            copy(&mut asked, &mut gate, |bytes| {
                if !bytes.starts_with(b"POST ") {
                    return true;
                }
                let lose = state.loses.lock().unwrap().take();
                loses.store(lose.is_some(), Ordering::SeqCst);
                lose != Some(Lose::Request)
            });
        });
        std::thread::spawn(move || copy(&mut answered, &mut client, |_| !unanswered.load(Ordering::SeqCst)));
    }
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
