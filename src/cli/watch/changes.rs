//! Compares boards.

use std::time::Duration;

use crate::domain::{Timestamp, Untrusted};
use crate::inbox::Connection;
use crate::inbox::figures::Board;

/// Returns the figures whose change counts as a change of the board, without those that change with time alone.
pub(super) fn figures(board: &Board) -> Board {
    let mut figures = Board { at: Timestamp::default(), events: Vec::new(), ..board.clone() };
    (figures.ages.median, figures.ages.p90) = (None, None);
    for source in &mut figures.sources {
        source.heard = source.heard.map(|_| Timestamp::default());
        source.connected_at = Timestamp::default();
        if let Connection::Retrying { why, retry_in } = &mut source.connection {
            (*why, *retry_in) = (Untrusted::default(), Duration::ZERO);
        }
    }
    figures
}
