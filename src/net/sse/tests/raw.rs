//! A server that sends fixed bytes, then closes, waits or repeats.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

#[derive(Clone, Copy, Debug)]
pub(super) enum Then {
    Close,
    Hold,
    /// Sends this while the client reads.
    Repeat(&'static [u8]),
}

pub(super) type Written = Arc<AtomicUsize>;

pub(super) async fn serve_raw(says: Vec<u8>, then: Then) -> (String, Written, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (written, heads) = (Written::default(), Arc::<Mutex<Vec<String>>>::default());
    let (counts, seen) = (Arc::clone(&written), Arc::clone(&heads));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let (says, counts, seen) = (says.clone(), Arc::clone(&counts), Arc::clone(&seen));
            tokio::spawn(async move {
                let head = head(&mut stream).await;
                seen.lock().unwrap().push(head);
                let _ = answer_raw(&mut stream, &says, then, &counts).await;
            });
        }
    });
    (url, written, heads)
}

async fn head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while let Ok(byte) = stream.read_u8().await {
        head.push(byte);
        if head.ends_with(b"\r\n\r\n") {
            break;
        }
    }
    String::from_utf8_lossy(&head).into_owned()
}

async fn answer_raw(
    stream: &mut TcpStream,
    says: &[u8],
    then: Then,
    written: &AtomicUsize,
) -> std::io::Result<()> {
    stream.write_all(says).await?;
    match then {
        Then::Close => stream.shutdown().await,
        Then::Hold => std::future::pending().await,
        Then::Repeat(bytes) => loop {
            // Far more than any test waits for.
            if written.load(Ordering::Relaxed) > 200 << 20 {
                return stream.shutdown().await;
            }
            let n = stream.write(bytes).await?;
            written.fetch_add(n, Ordering::Relaxed);
        },
    }
}

pub(super) const OK: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";

pub(super) fn ok(headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    [format!("{OK}{headers}\r\n").as_bytes(), body.as_ref()].concat()
}

/// Bytes that the buffers of two sockets hold on this machine.
pub(super) fn sockets_hold() -> usize {
    let largest = |name: &str| -> Option<usize> {
        let sizes = std::fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).ok()?;
        sizes.split_whitespace().next_back()?.parse().ok()
    };
    let both = largest("tcp_rmem").zip(largest("tcp_wmem")).map_or(0, |(read, written)| read + written);
    (2 * both).clamp(32 << 20, 150 << 20)
}
