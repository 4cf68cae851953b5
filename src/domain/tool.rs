//! What is known of a tool.

use super::{Effect, PreviewShape, RawJson, Risk, Untrusted};

/// What a source knows of a tool, in the source's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownTool {
    pub name: Untrusted,
    pub risk: Risk,
    pub effect: Option<Effect>,
    /// What approving does.
    pub approving: Option<Untrusted>,
    /// What the source shows of an input beside it.
    pub preview: Option<PreviewShape>,
    /// The JSON Schema of its input.
    pub schema: Option<RawJson>,
}
