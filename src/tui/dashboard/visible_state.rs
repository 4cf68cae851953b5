//! Whether another board would look otherwise: what is not said in full may differ in silence.

use crate::domain::{Minute, Rate, Timestamp, Trend};
use crate::inbox::figures::{Board, SourceBoard, Standing, words};

/// A board without what nobody can see of it. `still`: words that no second changes.
pub(crate) fn visible_state(board: &Board, still: bool) -> (Board, Vec<String>) {
    let mut face = board.clone();
    let at = board.at;
    face.at = Minute::of(at).start();
    settle(&mut face.total, at);
    let states = face.sources.iter_mut().map(|source| source_face(source, at, still)).collect();
    for tool in &mut face.tools {
        tool.oldest = tool.oldest.map(|oldest| shown_age(oldest, at));
    }
    let minutes = |millis: i64| millis / Minute::MILLIS;
    face.ages.median = face.ages.median.map(minutes);
    face.ages.p90 = face.ages.p90.map(minutes);
    (face, states)
}

fn source_face(source: &mut SourceBoard, at: Timestamp, still: bool) -> String {
    let (state, _) = words::state(source, at, still);
    source.heard = None;
    settle(&mut source.standing, at);
    source.queues.iter_mut().for_each(|line| settle(&mut line.standing, at));
    state
}

fn settle(standing: &mut Standing, at: Timestamp) {
    standing.oldest = standing.oldest.map(|oldest| shown_age(oldest, at));
    standing.rate = standing.rate.map(|rate| Rate {
        arrived: rate.arrivals(),
        resolved: rate.resolves(),
        over: rate.net(),
    });
    if let Trend::ClearsIn(millis) = standing.trend {
        standing.trend = Trend::ClearsIn(millis.saturating_add(Minute::MILLIS - 1) / Minute::MILLIS);
    }
}

/// The minutes that it is old.
fn shown_age(from: Timestamp, at: Timestamp) -> Timestamp {
    Timestamp::from_millis(at.since(from) / Minute::MILLIS)
}
