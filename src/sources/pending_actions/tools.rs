//! What the backend knows of its tools.

use super::{Dialect, GET_LIMIT, PendingActions, answer};
use crate::contract::fields::Fields;
use crate::domain::{Effect, KnownTool, PreviewShape, Risk, json};
use crate::sources::SourceError;

impl PendingActions {
    /// Empty where the backend tells nothing: Praxiom, and gates from before the route.
    pub(super) async fn learn_tools(&self) -> Result<Vec<KnownTool>, SourceError> {
        if self.dialect == Dialect::Praxiom {
            return Ok(Vec::new());
        }
        let reply = self.ask("/api/tools".to_owned(), GET_LIMIT).await?;
        match reply.status {
            200 => read(&reply.text).ok_or_else(|| answer::nonsense("its tools are no list")),
            404 => Ok(Vec::new()),
            _ => Err(answer::refusal(&reply)),
        }
    }
}

/// A tool that cannot be read is left out: the form does without, and the gate still judges.
fn read(text: &str) -> Option<Vec<KnownTool>> {
    let items = json::elements(Fields::of(text)?.raw("items")?)?;
    Some(items.into_iter().filter_map(tool).collect())
}

fn tool(text: &str) -> Option<KnownTool> {
    let fields = Fields::of(text)?;
    Some(KnownTool {
        name: fields.text("toolName")?,
        risk: fields.text("risk").map_or(Risk::Medium, |word| Risk::parse(word.as_raw())),
        effect: fields.text("effect").map(|word| Effect::parse(word.as_raw())),
        approving: fields.text("approving"),
        preview: fields.raw("preview").and_then(shape),
        schema: fields.json("schema"),
    })
}

fn shape(text: &str) -> Option<PreviewShape> {
    let fields = Fields::of(text)?;
    let names = |name| {
        let list = fields.raw(name).and_then(json::elements).unwrap_or_default();
        list.into_iter().map(|one| json::decode(one).text.into_owned()).collect()
    };
    Some(PreviewShape {
        fields: names("fields"),
        items: fields.text("items").map(|key| key.as_raw().to_owned()),
        item_fields: names("itemFields"),
    })
}
