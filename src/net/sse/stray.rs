//! Fuzzes the event stream with any bytes in chunks of any size, against a second implementation of the standard.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use eventsource_client::{Client as _, ClientBuilder, ReconnectOptions, SSE};
use futures_util::{StreamExt as _, stream};
use launchdarkly_sdk_transport::{HttpTransport, ResponseFuture};

use super::clean::StreamMeta;
use super::transport::{Broken, guarded};

/// Larger than any fuzz input, except for those that test the limit.
const MAX_EVENT: usize = 4_096;

type StrayEvent = (String, String);

#[derive(Clone)]
struct Canned {
    chunks: Vec<Bytes>,
    said: Arc<StreamMeta>,
}

impl HttpTransport for Canned {
    fn request(&self, _: http::Request<Option<Bytes>>) -> ResponseFuture {
        let chunks = stream::iter(self.chunks.clone().into_iter().map(Ok));
        let body = guarded(chunks, Arc::clone(&self.said), Duration::from_secs(45), MAX_EVENT);
        let body = Box::pin(sync_wrapper::SyncStream::new(body));
        Box::pin(sync_wrapper::SyncFuture::new(async move { Ok(http::Response::new(body as _)) }))
    }
}

/// Runs a fuzz input, whose first byte is the chunk size.
pub fn run(data: &[u8]) {
    let Some((&size, bytes)) = data.split_first() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let (want, last_id) = standard(bytes);
    for size in [usize::from(size).max(1), 1, bytes.len().max(1)] {
        let said = Arc::new(StreamMeta::default());
        let (got, whole) = runtime.block_on(events(bytes, size, &said));
        assert!(want.starts_with(&got), "in pieces of {size}: {got:?}, not {want:?}");
        if whole {
            assert_eq!(got, want, "in pieces of {size}");
            assert_eq!(said.last_id(), last_id, "in pieces of {size}");
        }
    }
}

/// Returns the parser's events, and whether it read everything.
async fn events(bytes: &[u8], size: usize, said: &Arc<StreamMeta>) -> (Vec<StrayEvent>, bool) {
    let chunks = bytes.chunks(size).map(Bytes::copy_from_slice).collect();
    let once = ReconnectOptions::reconnect(false).retry_initial(false).build();
    let builder = ClientBuilder::for_url("http://transport.invalid").expect("an address").reconnect(once);
    let client = builder.build_with_transport(Canned { chunks, said: Arc::clone(said) });
    let mut events = client.stream();
    let mut told = Vec::new();
    while let Some(event) = events.next().await {
        match event {
            Ok(SSE::Event(event)) => told.push((event.event_type, event.data)),
            Ok(SSE::Connected(_) | SSE::Comment(_)) => {}
            Err(error) => return (told, matches!(Broken::from(error), Broken::Ended)),
        }
    }
    (told, true)
}

/// Parses complete input by WHATWG HTML, 9.2.6, into events and last id. Drops ids over 1,024 bytes, unlike the
/// standard.
fn standard(bytes: &[u8]) -> (Vec<StrayEvent>, String) {
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).replace("\r\n", "\n").replace('\r', "\n");
    let (mut told, mut last_id) = (Vec::new(), String::new());
    let (mut kind, mut data, mut id) = (String::new(), None::<String>, None::<String>);
    // Text after the last line end is not a line yet.
    let complete = text.rfind('\n').map_or("", |end| &text[..end]);
    for line in complete.split('\n').take(if text.contains('\n') { usize::MAX } else { 0 }) {
        if line.is_empty() {
            last_id = id.take().unwrap_or(last_id);
            if let Some(data) = data.take() {
                let kind = if kind.is_empty() { "message".to_owned() } else { kind.clone() };
                told.push((kind, data));
            }
            kind.clear();
            continue;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut kind),
            "data" => match &mut data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => data = Some(value.to_owned()),
            },
            "id" if value.len() > 1_024 => id = Some(String::new()),
            "id" if !value.contains('\0') => id = Some(value.to_owned()),
            _ => {}
        }
    }
    (told, last_id)
}
