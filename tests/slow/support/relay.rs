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

#[derive(Default)]
struct State {
    is_over: AtomicBool,
    loses: AtomicBool,
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

    /// The answer to the next write is lost, once the gate has given it. Whoever asks is not told, and nothing comes after.
    pub(crate) fn lose_the_next_write(&self) {
        self.state.loses.store(true, Ordering::SeqCst);
    }

    pub(crate) fn has_lost(&self) -> bool {
        !self.state.loses.load(Ordering::SeqCst)
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
        let lost = Arc::new(AtomicBool::new(false));
        let (mut asked, mut answered) = (client.try_clone().unwrap(), gate.try_clone().unwrap());
        let (state, loses) = (Arc::clone(self), Arc::clone(&lost));
        std::thread::spawn(move || {
            copy(&mut asked, &mut gate, |bytes| {
                if bytes.starts_with(b"POST ") && state.loses.swap(false, Ordering::SeqCst) {
                    loses.store(true, Ordering::SeqCst);
                }
                true
            });
        });
        std::thread::spawn(move || copy(&mut answered, &mut client, |_| !lost.load(Ordering::SeqCst)));
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
