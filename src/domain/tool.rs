//! A source's knowledge of a tool.

use super::{Effect, PreviewShape, RawJson, Risk, Untrusted};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownTool {
    pub name: Untrusted,
    pub risk: Risk,
    pub effect: Option<Effect>,
    pub approving: Option<Untrusted>,
    pub preview: Option<PreviewShape>,
    pub schema: Option<RawJson>,
}
