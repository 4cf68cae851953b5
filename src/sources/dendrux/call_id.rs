//! Ids of waiting calls.

use crate::domain::{ActionId, BatchId};
use crate::net::url;

/// `RUN/PAUSE/CALL`, or `RUN/PAUSE` for a question. A call may wait twice, for approval and then for its result; the
/// pause tells the two apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct CallId {
    /// Without a slash, which the routes of a run cannot hold.
    pub(super) run: String,
    /// Number of the event that paused the run.
    pub(super) pause: u64,
    pub(super) call: Option<String>,
}

impl CallId {
    pub(super) fn of(id: &ActionId) -> Option<Self> {
        let mut parts = id.as_raw().splitn(3, '/');
        let (run, pause, call) = (parts.next()?, parts.next()?, parts.next());
        let number = pause.parse::<u64>().ok().filter(|number| number.to_string() == pause)?;
        Some(Self { run: run.to_owned(), pause: number, call: call.map(str::to_owned) })
    }

    pub(super) fn id(&self) -> ActionId {
        match &self.call {
            Some(call) => ActionId::new(format!("{}/{}/{call}", self.run, self.pause)),
            None => ActionId::new(format!("{}/{}", self.run, self.pause)),
        }
    }

    pub(super) fn batch(&self) -> BatchId {
        BatchId::new(format!("{}/{}", self.run, self.pause))
    }
}

/// Returns the path of a run; `None` for an id that no route can hold.
pub(super) fn of_run(run: &str) -> Option<String> {
    Some(format!("/runs/{}", url::segment(run).filter(|_| !run.contains('/'))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_round_trips_and_other_formats_are_refused() {
        let place = CallId { run: "R".to_owned(), pause: 3, call: Some("a/b".to_owned()) };
        assert_eq!(CallId::of(&place.id()), Some(place.clone()));
        let question = CallId { call: None, ..place };
        assert_eq!(CallId::of(&question.id()), Some(question.clone()));
        assert_eq!(question.id().as_raw(), question.batch().as_raw());

        for id in ["", "R", "R/", "R/x/c", "R/03/c", "R/+3/c", "R/-1/c"] {
            assert_eq!(CallId::of(&ActionId::new(id)), None, "{id}");
        }
        assert_eq!(of_run("a/b"), None);
        assert_eq!(of_run(".."), None);
        assert_eq!(of_run("a b"), Some("/runs/a%20b".to_owned()));
    }
}
