//! Where an action stands: a call of a run, at one of its pauses.

use crate::domain::{ActionId, BatchId};
use crate::net::url;

/// `RUN/PAUSE/CALL`, or `RUN/PAUSE` for a question. The pause is part of it because a call may wait twice: for approval, and then
/// for its result. A decision on the one must not be taken for one on the other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct CallId {
    /// Without a slash: the routes of a run could not be addressed with one.
    pub(super) run: String,
    /// The number of the event by which the run paused.
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

    /// All that is decided with it.
    pub(super) fn batch(&self) -> BatchId {
        BatchId::new(format!("{}/{}", self.run, self.pause))
    }
}

/// The routes of a run; `None` for an id that no route can hold.
pub(super) fn of_run(run: &str) -> Option<String> {
    Some(format!("/runs/{}", url::segment(run).filter(|_| !run.contains('/'))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_leads_back_to_its_call_and_any_other_nowhere() {
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
