//! What was typed into edit forms, and what the forms know.

use std::collections::HashMap;
use std::sync::Arc;

use crate::domain::{ActionKey, Edits, SourceName, Untrusted};
use crate::inbox::Tool;
use crate::journal::EditText;

#[derive(Clone, Debug, Default)]
pub(crate) struct EditState {
    /// Typed into edit forms and not staged.
    pub texts: HashMap<ActionKey, EditText>,
    /// What those texts would send, where that is known.
    pub drafted: HashMap<ActionKey, Edits>,
    /// What the sources know of their tools, as far as a form asked.
    pub tools: HashMap<(SourceName, Untrusted), Arc<Tool>>,
}
