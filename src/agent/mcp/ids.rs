//! Creates ids for the requests that placet itself sends to a server.

use std::collections::HashSet;

use super::line::RequestId;

/// Digits of placet's integer ids. Clients count from 0 and stay below.
const DIGITS: usize = 10;

/// Each id has the type of the client's own id, because some servers never answer a request with a string id.
#[derive(Debug)]
pub(super) struct Ids {
    prefix: String,
    next_text: u64,
    next_number: u32,
    own: HashSet<RequestId>,
    /// Unanswered client requests whose ids could collide with placet's.
    open: HashSet<RequestId>,
}

impl Ids {
    /// `first` is the first integer and at least 2^30.
    pub(super) fn new(prefix: String, first: u32) -> Self {
        Self { prefix, next_text: 1, next_number: first, own: HashSet::new(), open: HashSet::new() }
    }

    pub(super) fn next(&mut self, like: &RequestId) -> RequestId {
        let id = loop {
            let id = match like {
                RequestId::Text(_) => RequestId::Text(format!("{}-{}", self.prefix, self.next_text)),
                RequestId::Number(_) => RequestId::Number(self.next_number.to_string()),
            };
            match like {
                RequestId::Text(_) => self.next_text += 1,
                RequestId::Number(_) => self.next_number = self.next_number.wrapping_add(1).max(1 << 30),
            }
            if !self.open.contains(&id) {
                break id;
            }
        };
        self.own.insert(id.clone());
        id
    }

    /// Returns whether the id is placet's, its string form, or reserved for placet.
    pub(super) fn is_own(&self, id: &RequestId) -> bool {
        let is_own_text = |text: &String| {
            text.starts_with(&self.prefix) || self.own.contains(&RequestId::Number(text.clone()))
        };
        self.own.contains(id) || matches!(id, RequestId::Text(text) if is_own_text(text))
    }

    pub(super) fn passed(&mut self, id: &RequestId) {
        if id.as_str().len() == DIGITS {
            self.open.insert(RequestId::Number(id.as_str().to_owned()));
        }
    }

    pub(super) fn answered(&mut self, id: &RequestId) {
        self.open.remove(&RequestId::Number(id.as_str().to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_the_clients_type_and_skip_open_requests() {
        let mut ids = Ids::new("p".to_owned(), 1 << 30);
        let number = |n: &str| RequestId::Number(n.to_owned());
        ids.passed(&number("1073741825"));
        ids.passed(&number("7"));
        ids.passed(&RequestId::Text("1073741827".to_owned()));

        assert_eq!(ids.next(&number("7")), number("1073741824"));
        assert_eq!(ids.next(&number("7")), number("1073741826"));
        assert_eq!(ids.next(&RequestId::Text("x".to_owned())), RequestId::Text("p-1".to_owned()));
        assert!(ids.is_own(&number("1073741826")) && ids.is_own(&RequestId::Text("p-9".to_owned())));
        assert_eq!(ids.next(&number("7")), number("1073741828"));
        assert!(ids.is_own(&RequestId::Text("1073741828".to_owned())));
        assert!(!ids.is_own(&RequestId::Text("1073741827".to_owned())));
        ids.answered(&number("1073741825"));
        assert!(!ids.is_own(&number("1073741825")) && !ids.is_own(&number("7")));
    }
}
