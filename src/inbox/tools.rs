//! Caches the sources' descriptions of their tools.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::problem::Problem;
use super::timeouts::{Wait, WithTimeouts};
use crate::domain::{ByTool, KnownTool, SourceName, Untrusted};
use crate::schema::Schema;

/// Time after which a changed gate configuration is noticed.
const FRESH: Duration = Duration::from_mins(1);

#[derive(Debug)]
pub struct Tool {
    pub known: KnownTool,
    /// `None` if the source sends no schema that this version can use.
    pub schema: Option<Schema>,
}

type All = Arc<ByTool<Arc<Tool>>>;

/// By source, with the time of the request.
#[derive(Debug, Default)]
pub(super) struct Tools(Mutex<HashMap<SourceName, (Instant, All)>>);

impl Tools {
    pub(super) async fn find(
        &self,
        source: &WithTimeouts,
        name: &Untrusted,
    ) -> Result<Option<Arc<Tool>>, Problem> {
        let tools = match self.of(source.name()) {
            Some(tools) => tools,
            None => {
                let known = source.ask_able(Wait::Look, |able| Some(able.lookup?.tools())).await;
                let known = known.map_err(|error| Problem::of(source.name(), &error))?.unwrap_or_default();
                let named = |known: KnownTool| (known.name.as_raw().to_owned(), Arc::new(Tool::new(known)));
                let tools: All = Arc::new(known.into_iter().map(named).collect());
                self.keep(source.name(), &tools);
                tools
            }
        };
        Ok(tools.get(name.as_raw()).cloned())
    }

    fn of(&self, source: &SourceName) -> Option<All> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(source).filter(|(at, _)| at.elapsed() < FRESH).map(|(_, tools)| Arc::clone(tools))
    }

    fn keep(&self, source: &SourceName, tools: &All) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.insert(source.clone(), (Instant::now(), Arc::clone(tools)));
    }
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
