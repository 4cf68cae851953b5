//! What a store needs of its gate.

use std::sync::Arc;

use crate::gate::clock::Clock;
use crate::gate::events::Events;
use crate::gate::tool::Tools;

#[derive(Debug, Clone)]
pub(crate) struct Context {
    /// Woken after each commit.
    pub(crate) events: Events,
    pub(crate) clock: Clock,
    pub(crate) tools: Arc<Tools>,
}
