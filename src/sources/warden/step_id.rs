//! Ids of steps.

use crate::domain::ActionId;
use crate::net::url;

/// A step of a run. The engine reuses it after a retry, so it does not identify the content.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct StepId {
    pub(super) namespace: String,
    pub(super) trace: String,
    pub(super) span: String,
}

/// The only things that this client may POST to; a test enforces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Decision,
    Retry,
}

impl Verb {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Decision => "decision",
            Self::Retry => "retry",
        }
    }
}

impl StepId {
    /// Returns `None` if a part cannot be used in a URL or would run into another.
    pub(super) fn new(namespace: &str, trace: &str, span: &str) -> Option<Self> {
        let usable = |part: &str| !part.contains('/') && url::segment(part).is_some();
        let whole = !namespace.is_empty() && usable(trace) && usable(span);
        whole.then(|| Self { namespace: namespace.into(), trace: trace.into(), span: span.into() })
    }

    pub(super) fn of(id: &ActionId) -> Option<Self> {
        let mut parts = id.as_raw().rsplitn(3, '/');
        let (span, trace, namespace) = (parts.next()?, parts.next()?, parts.next()?);
        Self::new(namespace, trace, span)
    }

    /// Returns whether an engine can have such a step: hex in lower case, of the length of its ids.
    pub(super) fn is_regular(&self) -> bool {
        let is_hex = |text: &str, length| {
            text.len() == length && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        };
        let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        is_hex(&self.trace, 32) && is_hex(&self.span, 16) && self.namespace.bytes().all(is_name)
    }

    pub(super) fn id(&self) -> ActionId {
        ActionId::new(format!("{}/{}/{}", self.namespace, self.trace, self.span))
    }

    pub(super) fn path(&self) -> String {
        self.under("")
    }

    /// Returns the path of a decision. Names the namespace always, because the engine assumes `default` without it.
    pub(super) fn post(&self, verb: Verb) -> String {
        self.under(&format!("/{}", verb.word()))
    }

    /// Describes how an operator runs this undo step again: by the engine's route or its command.
    pub(super) fn undo_route(&self) -> String {
        let (route, Self { trace, span, .. }) = (self.under("/retry-compensation"), self);
        format!("POST {route}, or warden saga retry-compensation {trace} {span}")
    }

    fn under(&self, rest: &str) -> String {
        let (trace, span) = (url::encode(&self.trace), url::encode(&self.span));
        let query = url::query(&[("namespace", &self.namespace)]);
        format!("/v1/sagas/{trace}/steps/{span}{rest}{query}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_names_a_step_and_nothing_else() {
        let place = StepId::new("team/a", "4bf9", "00f0").unwrap();

        assert_eq!(place.id(), ActionId::new("team/a/4bf9/00f0"));
        assert_eq!(StepId::of(&place.id()), Some(place.clone()));
        assert_eq!(place.post(Verb::Decision), "/v1/sagas/4bf9/steps/00f0/decision?namespace=team%2Fa");
        for odd in ["", "a/b", "a/b/", "/b/c", "a/../c", "a/b/."] {
            assert_eq!(StepId::of(&ActionId::new(odd)), None, "{odd}");
        }
        assert_eq!(StepId::new("default", "4bf9/steps", "00f0"), None);
    }
}
