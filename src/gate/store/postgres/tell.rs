//! Notifies the other gates of commits, and receives their notifications.
//!
//! After the commit, because a notification inside a transaction serializes all commits of the server. The sweep, every
//! few seconds, finds lost ones.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgConnection, PgListener, PgPoolOptions};
use sqlx::{ConnectOptions as _, Connection as _, Executor as _};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::gate::audit::WHOLE_GATE;
use crate::gate::events::Events;
use crate::gate::store::ops::tx::Wakes;

const CHANNEL: &str = "placet";
/// Minimum time between notifications: each wakes the server and every gate.
const APART: Duration = Duration::from_millis(10);
const REST: Duration = Duration::from_secs(1);
/// After this long without a notification, it tests the connection, for at most [`SILENCE`].
const QUIET: Duration = Duration::from_secs(15);
const SILENCE: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct Teller {
    events: Events,
    /// `None` once stopped.
    wakes: Mutex<Option<mpsc::UnboundedSender<Wakes>>>,
    tasks: TaskTracker,
    stopping: CancellationToken,
}

impl Teller {
    /// Sends through `pooler`, and receives at `listen`. With `None` it does not receive, and only the sweep finds
    /// changes.
    pub(super) fn start(
        (options, pooler): (PgConnectOptions, bool),
        listen: Option<PgConnectOptions>,
        events: Events,
    ) -> Self {
        let (wakes, inbox) = mpsc::unbounded_channel();
        let (tasks, stopping) = (TaskTracker::new(), CancellationToken::new());
        tasks.spawn(tell(options, pooler, inbox));
        if let Some(listen) = listen {
            tasks.spawn(stopping.clone().run_until_cancelled_owned(hear(listen, events.clone())));
        }
        tasks.close();
        Self { events, wakes: Mutex::new(Some(wakes)), tasks, stopping }
    }

    /// Wakes this gate now, and the others soon.
    pub(super) fn tell(&self, wakes: Wakes) {
        wake(&self.events, &wakes);
        if let Some(inbox) = &*self.wakes.lock().unwrap_or_else(PoisonError::into_inner) {
            // It fails only after the stop.
            inbox.send(wakes).ok();
        }
    }

    /// Sends queued notifications, unless that takes too long.
    pub(super) async fn stop(&self) {
        self.stopping.cancel();
        drop(self.wakes.lock().unwrap_or_else(PoisonError::into_inner).take());
        tokio::time::timeout(REST, self.tasks.wait()).await.ok();
    }
}

fn wake(events: &Events, wakes: &Wakes) {
    for (workspace, revision) in &wakes.revisions {
        events.publish(workspace, *revision);
    }
    if wakes.approved {
        events.approved();
    }
    if wakes.called {
        events.called();
    }
    for workspace in &wakes.claimed {
        events.claimed(workspace);
    }
}

async fn tell(options: PgConnectOptions, pooler: bool, mut inbox: mpsc::UnboundedReceiver<Wakes>) {
    let mut conn = None;
    while let Some(mut wakes) = inbox.recv().await {
        while let Ok(more) = inbox.try_recv() {
            wakes.add(more);
        }
        let open = match conn.take() {
            Some(open) => Ok(open),
            None => options.connect().await,
        };
        let told = async { notify(open?, &wakes, pooler).await };
        match tokio::time::timeout(SILENCE, told).await {
            Ok(Ok(open)) => {
                conn = Some(open);
                tokio::time::sleep(APART).await;
            }
            Ok(Err(error)) => tracing::debug!(%error, "nobody is told"),
            Err(_) => tracing::debug!("nobody is told: the server is silent"),
        }
    }
}

/// Behind a pooler the statement and its parameters must be in one transaction.
async fn notify(mut conn: PgConnection, wakes: &Wakes, pooler: bool) -> Result<PgConnection, sqlx::Error> {
    let notify = sqlx::query("SELECT pg_notify($1, told) FROM unnest($2::text[]) AS t (told)");
    let notify = notify.bind(CHANNEL).bind(payloads(wakes)).persistent(!pooler);
    if pooler {
        let mut tx = conn.begin_with("BEGIN").await?;
        notify.execute(&mut *tx).await?;
        tx.commit().await?;
    } else {
        notify.execute(&mut conn).await?;
    }
    Ok(conn)
}

/// Formats payloads: `r` or `-` (an action may run or not), revision, workspace; or `c`, 0, and a workspace with
/// changed claims.
fn payloads(wakes: &Wakes) -> Vec<String> {
    let run = if wakes.approved { 'r' } else { '-' };
    let changed = wakes.revisions.iter().map(|(workspace, revision)| format!("{run} {revision} {workspace}"));
    changed.chain(wakes.claimed.iter().map(|workspace| format!("c 0 {workspace}"))).collect()
}

fn read(payload: &str) -> Option<Wakes> {
    let (run, rest) = payload.split_once(' ')?;
    let (revision, workspace) = rest.split_once(' ')?;
    let (workspace, revision) = (workspace.to_owned(), revision.parse().ok()?);
    Some(if run == "c" {
        Wakes { claimed: [workspace].into(), ..Wakes::default() }
    } else {
        Wakes { revisions: [(workspace, revision)].into(), approved: run == "r", ..Wakes::default() }
    })
}

async fn hear(options: PgConnectOptions, events: Events) {
    loop {
        if let Err(error) = listen(&options, &events).await {
            tracing::warn!(%error, "cannot hear what other gates do; the sweep finds it");
        }
        tokio::time::sleep(REST).await;
    }
}

async fn listen(options: &PgConnectOptions, events: &Events) -> Result<(), sqlx::Error> {
    let pool = PgPoolOptions::new().max_connections(1).connect_with(options.clone()).await?;
    let mut listener = PgListener::connect_with(&pool).await?;
    listener.listen(CHANNEL).await?;
    loop {
        let told = tokio::time::timeout(QUIET, listener.recv()).await;
        let Ok(told) = told else {
            // The other gates are silent, or the network is down.
            let asked = tokio::time::timeout(SILENCE, listener.execute("SELECT 1")).await;
            asked.map_err(|_| sqlx::Error::PoolTimedOut)??;
            continue;
        };
        if let Some(mut wakes) = read(told?.payload()) {
            // A gate also receives its own notifications. It woke its streams when it sent them.
            wakes
                .revisions
                .retain(|workspace, revision| workspace == WHOLE_GATE || !events.told(workspace, *revision));
            wake(events, &wakes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_what_is_heard() {
        let revisions = [("a workspace".to_owned(), 7)].into();
        let claimed = ["a workspace".to_owned()].into();
        let told = payloads(&Wakes { revisions, approved: true, claimed, ..Wakes::default() });

        let [heard, claimed] = [0, 1].map(|nth| read(&told[nth]).unwrap());

        assert_eq!((heard.revisions["a workspace"], heard.approved), (7, true));
        assert!(heard.claimed.is_empty() && claimed.revisions.is_empty() && !claimed.approved);
        assert!(claimed.claimed.contains("a workspace"));
        assert!(read("").is_none() && read("r x w").is_none());
    }
}
