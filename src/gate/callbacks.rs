//! Reports decided and finished actions to callbacks: signed POSTs, resent under one id until they arrive, for a day.
//!
//! The transaction of the change also writes the message, so any gate can send it after a crash. Each receiver has its
//! own task, so a hanging one does not delay the others.

use std::time::Duration;

use futures_util::future::join_all;

use super::executor::restarting;
use super::receivers::Receiver;
use super::state::Gate;
use super::store::{Callback, Delivery, StoreError, SweptCallbacks};
use crate::contract::action::wire_status;
use crate::contract::callback::{CallbackBody, CallbackData};
use crate::contract::{time, traceparent};
use crate::domain::Status;
use crate::fault;
use crate::net::http::HttpError;

/// Maximum number of messages sent to one receiver in parallel.
const AT_ONCE: u32 = 16;
/// Limit for one exchange.
const LIMIT: Duration = Duration::from_secs(10);
/// Lease of a message in milliseconds; longer than `LIMIT`.
const LEASE_MILLIS: i64 = 30_000;
/// Interval of looking for due messages of other gates and for retries.
const EVERY: Duration = Duration::from_secs(5);
/// Pause before the second try, in milliseconds. Each later pause is four times as long, up to `LONGEST_MILLIS`.
const PAUSE_MILLIS: i64 = 5_000;
const LONGEST_MILLIS: i64 = 2 * 60 * 60 * 1_000;
/// Age in milliseconds at which an undelivered message is given up.
const DAY_MILLIS: i64 = 24 * 60 * 60 * 1_000;
/// Milliseconds for which finished messages are listed.
const LISTED_MILLIS: i64 = 7 * DAY_MILLIS;

pub(super) async fn run(gate: Gate) {
    let names: Vec<String> = gate.inner.receivers.names().cloned().collect();
    let senders = names.into_iter().map(|name| keep_sending(gate.clone(), name));
    join_all(senders).await;
}

async fn keep_sending(gate: Gate, name: String) {
    restarting(&gate.inner.draining, || sender(gate.clone(), name.clone())).await;
}

async fn sender(gate: Gate, name: String) {
    let Some(receiver) = gate.inner.receivers.get(&name) else { return };
    let mut called = gate.inner.events.watch_called();
    loop {
        called.mark_unchanged();
        tokio::select! {
            // The next gate resends a delivery in progress, under the same id.
            () = gate.inner.stopping.cancelled() => return,
            sent = send_due(&gate, &name, receiver) => if let Err(error) = sent {
                tracing::warn!(%error, callback = name, "cannot look for what a callback is to be told");
            }
        }
        tokio::select! {
            () = gate.inner.draining.cancelled() => return,
            _ = tokio::time::timeout(EVERY, called.changed()) => {}
        }
    }
}

async fn send_due(gate: &Gate, name: &str, receiver: &Receiver) -> Result<(), StoreError> {
    while !gate.inner.draining.is_cancelled() {
        let due = gate.store().take_callbacks(name.to_owned(), LEASE_MILLIS, AT_ONCE).await?;
        if due.is_empty() {
            return Ok(());
        }
        let sent = due.into_iter().map(|callback| send(gate, receiver, callback));
        for ended in join_all(sent).await {
            ended?;
        }
    }
    Ok(())
}

async fn send(gate: &Gate, receiver: &Receiver, callback: Callback) -> Result<(), StoreError> {
    fault::point("callback.taken");
    let how = attempt(gate, receiver, &callback).await;
    fault::point("callback.sent");
    let Callback { id, action, name, tries, traceparent, .. } = &callback;
    match &how {
        Delivery::Arrived => {
            tracing::debug!(id, action, callback = name, tries, traceparent, "told a callback");
        }
        Delivery::Failed { why, .. } | Delivery::Refused { why } => {
            tracing::warn!(why, id, action, callback = name, tries, traceparent, "a callback was not told");
        }
    }
    gate.store().end_callback(callback, how).await
}

async fn attempt(gate: &Gate, receiver: &Receiver, callback: &Callback) -> Delivery {
    let body = match body(callback) {
        Ok(body) => body,
        Err(error) => return Delivery::Refused { why: error.to_string() },
    };
    let key = receiver.key();
    let mut headers = key.headers(&callback.id, gate.inner.clock.now().as_millis() / 1_000, &body).to_vec();
    headers.extend(callback.traceparent.clone().map(|trace| (traceparent::HEADER, trace)));
    match gate.inner.tools.targets().notify(&receiver.config.url, &headers, body, LIMIT).await {
        Ok((200..=299, _)) => Delivery::Arrived,
        // HTTP 410 Gone: in Standard Webhooks, the receiver wants no more messages.
        Ok((410, _)) => Delivery::Refused { why: "the receiver answered HTTP 410".to_owned() },
        Ok((status, wait)) => {
            let moved = if matches!(status, 300..=399) { "; redirects are not followed" } else { "" };
            let why = format!("the receiver answered HTTP {status}{moved}");
            let wait = wait.map(|wait| i64::try_from(wait.as_millis()).unwrap_or(i64::MAX).min(DAY_MILLIS));
            match wait.filter(|millis| *millis > PAUSE_MILLIS) {
                Some(pause) => Delivery::Failed { why, pause, held: true },
                None => again(callback, why),
            }
        }
        Err(error) => {
            tracing::debug!(%error, callback = callback.name, "a callback was not sent, or not answered");
            let why = match error {
                HttpError::NotSent(_) => "the receiver cannot be reached",
                _ => "the receiver gave no answer",
            };
            again(callback, why.to_owned())
        }
    }
}

fn again(callback: &Callback, why: String) -> Delivery {
    let shift = u32::try_from(callback.tries.saturating_sub(1)).unwrap_or(u32::MAX).min(10);
    Delivery::Failed { why, pause: (PAUSE_MILLIS << (2 * shift)).min(LONGEST_MILLIS), held: false }
}

fn body(callback: &Callback) -> serde_json::Result<String> {
    serde_json::to_string(&CallbackBody {
        kind: CallbackBody::KIND,
        timestamp: time::write(callback.at),
        data: CallbackData {
            pending_action_id: &callback.action,
            workspace_id: &callback.workspace,
            revision: callback.revision,
            status: wire_status(&Status::parse(&callback.status)),
            resolved_by: callback.who.as_deref(),
        },
    })
}

/// Gives up old messages and drops some finished ones. Returns the number dropped.
pub(super) async fn sweep(gate: &Gate) -> Result<u64, StoreError> {
    let SweptCallbacks { given_up, dropped } =
        gate.store().sweep_callbacks(DAY_MILLIS, LISTED_MILLIS).await?;
    if given_up > 0 {
        tracing::warn!(given_up, "callbacks were not told within a day; `placet gate callbacks` lists them");
    }
    Ok(dropped)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Timestamp;

    #[test]
    fn pauses_grow_to_a_maximum() {
        let mut callback = Callback {
            workspace: String::new(),
            revision: 1,
            id: String::new(),
            name: String::new(),
            action: String::new(),
            status: String::new(),
            who: None,
            at: Timestamp::from_millis(0),
            traceparent: None,
            tries: 0,
            next_at: None,
            error: None,
            ended_at: None,
            held_until: None,
        };
        let mut pauses = Vec::new();
        while pauses.iter().sum::<i64>() < DAY_MILLIS {
            callback.tries += 1;
            let Delivery::Failed { pause, .. } = again(&callback, String::new()) else { panic!() };
            pauses.push(pause);
        }
        assert_eq!(pauses[..4], [5_000, 20_000, 80_000, 320_000]);
        assert!(pauses.is_sorted() && pauses.len() == 18, "{pauses:?}");
        callback.tries = u64::MAX;
        assert!(matches!(again(&callback, String::new()), Delivery::Failed { pause: LONGEST_MILLIS, .. }));
    }
}
