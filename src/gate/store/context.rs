//! The parts of the gate that a store uses.

use std::sync::Arc;

use crate::gate::clock::Clock;
use crate::gate::events::Events;
use crate::gate::tool::Tools;

#[derive(Debug, Clone)]
pub(crate) struct Context {
    pub(crate) events: Events,
    pub(crate) clock: Clock,
    pub(crate) tools: Arc<Tools>,
}
