//! The body of a callback: that an action was decided or finished, without its content.

use serde::Serialize;

/// In the form of <https://www.standardwebhooks.com>.
#[derive(Debug, Serialize)]
pub struct CallbackBody<'a> {
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub timestamp: String,
    pub data: CallbackData<'a>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallbackData<'a> {
    pub pending_action_id: &'a str,
    pub workspace_id: &'a str,
    /// Grows with each change in the workspace, so the message with the higher one is newer.
    pub revision: u64,
    pub status: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved_by: Option<&'a str>,
}

impl CallbackBody<'_> {
    pub const KIND: &'static str = "placet.action";
}
