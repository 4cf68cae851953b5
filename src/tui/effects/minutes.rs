//! Minutes of the figures, to and from the journal. Losing them costs history and nothing else: the log says so, not the screen.

use crate::domain::{KeptMinute, Minute};
use crate::inbox::figures::Figures;

use super::{Effects, What, caught, now};

pub(super) async fn restore(effects: Effects) {
    let inbox = effects.inbox.clone();
    let since = Minute::of(now()).plus(1 - i64::from(Figures::LONGEST));
    let kept = caught(async move { inbox.kept_minutes(since).await }).await;
    if let Err(problem) = &kept {
        tracing::warn!(what = problem.what, "the figures of before cannot be read");
    }
    effects.say(What::KeptMinutes(kept.unwrap_or_default())).await;
}

pub(super) async fn keep(effects: Effects, minutes: Vec<KeptMinute>) {
    let inbox = effects.inbox.clone();
    if let Err(problem) = caught(async move { inbox.keep_minutes(&minutes).await }).await {
        tracing::warn!(what = problem.what, "the figures of the last minute cannot be kept");
    }
}
