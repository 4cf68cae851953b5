//! Stores words that many rows share only once. Otherwise 100,000 rows would each have a copy of the same tool and
//! agent.

use std::collections::HashSet;

use crate::domain::{BatchId, Row, Untrusted};

/// Maximum number of words before the store is cleared.
const MOST: usize = 100_000;

#[derive(Debug, Default)]
pub struct Names(HashSet<Untrusted, foldhash::fast::RandomState>);

impl Names {
    pub fn share(&mut self, row: &mut Row) {
        if self.0.len() > MOST {
            self.0.clear();
        }
        self.word(&mut row.tool);
        let Row { checkpoint, workspace, mission, session, run, agent, resolved_by, .. } = row;
        let words = [checkpoint, workspace, mission, session, run, agent, resolved_by];
        for word in words.into_iter().flatten() {
            self.word(word);
        }
        if let Some(batch) = &mut row.batch {
            let mut word = batch.untrusted().clone();
            self.word(&mut word);
            *batch = BatchId::from(word);
        }
    }

    fn word(&mut self, word: &mut Untrusted) {
        match self.0.get(word) {
            Some(known) => known.clone_into(word),
            None => drop(self.0.insert(word.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::domain::ActionId;

    use super::*;

    #[test]
    fn words_of_two_rows_are_one() {
        let row = |id: &str| Row {
            batch: Some(BatchId::new("b-1")),
            agent: Some("agent".into()),
            ..Row::new(ActionId::new(id), "tool".into(), "title".into())
        };
        let (mut names, mut rows) = (Names::default(), [row("1"), row("2")]);

        for row in &mut rows {
            names.share(row);
        }

        let words = rows.each_ref().map(|row| {
            let batch = row.batch.as_ref().unwrap().as_raw().as_ptr();
            [row.tool.as_raw().as_ptr(), row.agent.as_ref().unwrap().as_raw().as_ptr(), batch]
        });
        assert_eq!(words[0], words[1]);
        assert_eq!(rows[1], row("2"));
    }
}
