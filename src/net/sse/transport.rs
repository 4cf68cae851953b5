//! The transport of eventsource-client: [`Http`] with the checks that the parser lacks.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use eventsource_client::Error as ParserError;
use futures_util::{Stream, StreamExt as _};
use launchdarkly_sdk_transport::{ByteStream, HttpTransport, ResponseFuture, TransportError};
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue};
use secrecy::SecretString;

use super::clean::{Cleaner, StreamMeta};
use crate::net::http::{Http, HttpError, describe, retry_after};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Broken {
    #[error("the server answered {status}")]
    Status { status: u16, retry_after: Option<Duration> },
    #[error("the server did not answer with text/event-stream")]
    NoEvents,
    #[error("the server answered compressed, which nobody asked for")]
    Encoded,
    #[error("nothing came for {0:?}")]
    Silent(Duration),
    #[error("nothing but comments came for {0:?}")]
    NoPulse(Duration),
    #[error("an event is larger than {0} bytes")]
    TooLarge(usize),
    #[error("the stream ended")]
    Ended,
    #[error("{0}")]
    Http(HttpError),
    #[error("{0}")]
    Parser(String),
}

#[derive(Clone, Debug)]
pub(super) struct Transport {
    pub(super) http: Http,
    pub(super) address: usize,
    pub(super) path: String,
    pub(super) token: Option<SecretString>,
    pub(super) said: Arc<StreamMeta>,
    /// Longest wait for the headers and for each chunk.
    pub(super) idle: Duration,
    pub(super) max_event: usize,
}

impl From<ParserError> for Broken {
    fn from(error: ParserError) -> Self {
        match error {
            ParserError::Eof | ParserError::UnexpectedEof => Self::Ended,
            ParserError::Transport(error) => match error.inner().downcast_ref::<Self>() {
                Some(broken) => broken.clone(),
                None => Self::Parser(error.to_string()),
            },
            // The parser's own timeout error does not occur, because `Silent` comes first.
            other => Self::Parser(other.to_string()),
        }
    }
}

impl HttpTransport for Transport {
    fn request(&self, _: http::Request<Option<Bytes>>) -> ResponseFuture {
        let transport = self.clone();
        Box::pin(sync_wrapper::SyncFuture::new(async move {
            transport.connect().await.map_err(TransportError::new)
        }))
    }
}

impl Transport {
    async fn connect(self) -> Result<http::Response<ByteStream>, Broken> {
        let opening = self.http.open(self.address, &self.path, self.headers(), self.token.as_ref());
        let opened = tokio::time::timeout(self.idle, opening).await;
        let response = opened.map_err(|_| Broken::Silent(self.idle))?.map_err(Broken::Http)?;
        let status = response.status().as_u16();
        if status != 200 {
            return Err(Broken::Status { status, retry_after: retry_after(response.headers()) });
        }
        if !is_event_stream(response.headers()) {
            return Err(Broken::NoEvents);
        }
        // Compressed bytes would be parsed as events. Not unpacking also rules out decompression bombs.
        let encoding = response.headers().get(CONTENT_ENCODING);
        if encoding.is_some_and(|name| !name.as_bytes().eq_ignore_ascii_case(b"identity")) {
            return Err(Broken::Encoded);
        }
        let lost = |error: reqwest::Error| HttpError::Lost(describe(&error));
        let chunks = response.bytes_stream().map(move |chunk| chunk.map_err(lost));
        let chunks = guarded(chunks, self.said, self.idle, self.max_event);
        let body: ByteStream = Box::pin(sync_wrapper::SyncStream::new(chunks));
        Ok(http::Response::new(body))
    }

    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert("accept", HeaderValue::from_static("text/event-stream"));
        headers.insert("cache-control", HeaderValue::from_static("no-cache"));
        // An id that no header can carry is not sent; a full briefing follows.
        if let Ok(id) = HeaderValue::from_bytes(self.said.last_id().as_bytes())
            && !id.is_empty()
        {
            headers.insert("last-event-id", id);
        }
        headers
    }
}

/// Passes a connection's bytes to the parser, cleaned and bounded.
pub(super) fn guarded(
    chunks: impl Stream<Item = Result<Bytes, HttpError>> + Send + 'static,
    said: Arc<StreamMeta>,
    idle: Duration,
    max_event: usize,
) -> impl Stream<Item = Result<Bytes, TransportError>> + Send + 'static {
    async_stream::stream! {
        // The parser forgets the last id between connections, and without an id it rejects a block of unknown fields.
        yield Ok(Bytes::from(format!("id: {}\n\n", said.last_id())));
        let mut cleaner = Cleaner::new(max_event, &said);
        let mut chunks = Box::pin(chunks);
        loop {
            let chunk = match tokio::time::timeout(idle, chunks.next()).await {
                Err(_) => Err(Broken::Silent(idle)),
                Ok(None) => break,
                Ok(Some(Err(error))) => Err(Broken::Http(error)),
                Ok(Some(Ok(chunk))) => cleaner.clean(&chunk).map_err(|_| Broken::TooLarge(max_event)),
            };
            let over = chunk.is_err();
            yield chunk.map_err(TransportError::new);
            if over {
                break;
            }
        }
    }
}

fn is_event_stream(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = content_type.split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("text/event-stream")
}
