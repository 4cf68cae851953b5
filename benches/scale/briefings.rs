//! Measures the delay between a change at one gate and its briefing at another.

use std::time::{Duration, Instant};

use tokio::sync::mpsc;

use crate::Scale;
use crate::lab::{Gates, Store, database, server};
use crate::report::{section, table};
use crate::served::{APART, Client, listen, open_stream, until};

pub(crate) async fn measure(scale: &Scale) -> String {
    let server = server();
    let mut text = section("Briefings across gates");
    text.push_str(&format!(
        "{} changes of each kind, {} ms apart, nothing else at work. Counted from sending the request at the one gate until its \
         briefing came out of a stream at the other; and from the answer to the request.\n\n",
        scale.briefings,
        APART.as_millis(),
    ));
    let served = Gates::serve(Store::Postgres(database(&server, "briefings")), 2, 1);
    let mut rows = Vec::new();
    for (heard_at, where_heard) in [(1, "the other gate"), (0, "the same gate")] {
        let (told_at, heard_at) = (served.clients[0].at(0), served.clients[0].at(heard_at));
        let (proposals, decisions) = changes(&told_at, &heard_at, scale.briefings).await;
        for (what, came) in [("proposal", proposals), ("decision", decisions)] {
            let (sent, answered) = came.into_iter().unzip();
            rows.push(vec![what.to_owned(), where_heard.to_owned(), three(sent), three(answered)]);
        }
    }
    let head = ["change", "stream at", "from the request: p50 / p95 / most, ms", "from its answer, ms"];
    table(&mut text, &head, &rows);
    text
}

/// Milliseconds after the request and after its answer. Negative if the briefing came before the answer.
type Came = Vec<(f64, f64)>;

async fn changes(told_at: &Client, heard_at: &Client, count: usize) -> (Came, Came) {
    let (tell, mut heard) = mpsc::unbounded_channel();
    let listening = tokio::spawn(listen(open_stream(heard_at).await, tell, 0));
    let mut revision = told_at.revision().await;
    until(&mut heard, 1, revision).await;
    let (mut proposals, mut decisions) = (Vec::new(), Vec::new());
    for nth in 0..count {
        tokio::time::sleep(APART).await;
        revision += 1;
        let began = Instant::now();
        let ((id, took), came) = tokio::join!(told_at.propose(nth, "told"), until(&mut heard, 1, revision));
        proposals.push(came_after(came[0], began, took));
        tokio::time::sleep(APART).await;
        revision += 1;
        let began = Instant::now();
        let (took, came) = tokio::join!(told_at.approve(nth, &id), until(&mut heard, 1, revision));
        decisions.push(came_after(came[0], began, took));
    }
    listening.abort();
    (proposals, decisions)
}

fn came_after(came: Instant, began: Instant, took: Duration) -> (f64, f64) {
    let sent = came.duration_since(began).as_secs_f64() * 1_000.0;
    (sent, sent - took.as_secs_f64() * 1_000.0)
}

fn three(mut times: Vec<f64>) -> String {
    times.sort_unstable_by(f64::total_cmp);
    let at = |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)];
    format!("{:.1} / {:.1} / {:.1}", at(50), at(95), times[times.len() - 1])
}
