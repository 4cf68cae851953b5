//! What the sources know of their tools, asked for once in a while and kept.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::{Inbox, Problem};
use crate::domain::{KnownTool, SourceName, Untrusted};
use crate::schema::Schema;

/// A gate that was configured anew is believed after so long.
const FRESH: Duration = Duration::from_mins(1);

/// A tool, with its schema ready to judge.
#[derive(Debug)]
pub struct Tool {
    pub known: KnownTool,
    /// `None` when the source tells none, or one that this version cannot use.
    pub schema: Option<Schema>,
}

/// The tools of a source.
type All = Arc<[Arc<Tool>]>;

/// By source: when it was asked, and what it said.
#[derive(Debug, Default)]
pub(super) struct Tools(Mutex<HashMap<SourceName, (Instant, All)>>);

impl Tools {
    fn of(&self, source: &SourceName) -> Option<All> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(source).filter(|(at, _)| at.elapsed() < FRESH).map(|(_, tools)| Arc::clone(tools))
    }

    fn keep(&self, source: &SourceName, tools: &All) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.insert(source.clone(), (Instant::now(), Arc::clone(tools)));
    }
}

pub(super) async fn tool(
    inbox: &Inbox,
    source: &SourceName,
    name: &Untrusted,
) -> Result<Option<Arc<Tool>>, Problem> {
    let tools = match inbox.tools.of(source) {
        Some(tools) => tools,
        None => {
            let known = inbox.source(source)?.tools().await.map_err(|error| Problem::of(source, &error))?;
            let tools: All = known.into_iter().map(|known| Arc::new(Tool::new(known))).collect();
            inbox.tools.keep(source, &tools);
            tools
        }
    };
    Ok(tools.iter().find(|tool| tool.known.name == *name).cloned())
}

impl Tool {
    fn new(known: KnownTool) -> Self {
        let schema = known.schema.as_ref().and_then(|schema| match Schema::parse(schema.as_str()) {
            Ok(schema) => Some(schema),
            Err(what) => {
                tracing::warn!(tool = ?known.name, what, "a source sent a schema that cannot be used");
                None
            }
        });
        Self { known, schema }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{RawJson, Risk};

    #[test]
    fn a_schema_that_cannot_be_used_is_no_schema() {
        let tool = |schema: &str| {
            Tool::new(KnownTool {
                name: "t".into(),
                risk: Risk::Low,
                effect: None,
                approving: None,
                preview: None,
                schema: Some(RawJson::parse(schema).unwrap()),
            })
        };

        assert!(tool(r#"{"type":"object"}"#).schema.is_some());
        assert!(tool(r#"{"type":"strnig"}"#).schema.is_none());
    }
}
