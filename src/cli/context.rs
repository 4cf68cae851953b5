//! The source's facts around an action, printed below it by `placet show`.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::contract::time;
use crate::domain::{ContextEntry, Fact, FactValue, json};
use crate::inbox::Problem;
use crate::text;

use super::output::{self, problem};

#[derive(Serialize)]
pub(super) struct PassageJson<'a> {
    title: &'static str,
    facts: Vec<FactJson<'a>>,
}

#[derive(Serialize)]
struct FactJson<'a> {
    name: &'a str,
    /// A string, or the source's own JSON, byte for byte.
    value: Box<RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
}

/// Returns the facts for scripts. Invalid JSON becomes a string.
pub(super) fn json(passages: &[ContextEntry]) -> anyhow::Result<Vec<PassageJson<'_>>> {
    passages
        .iter()
        .map(|passage| Ok(PassageJson { title: passage.title, facts: facts(&passage.facts)? }))
        .collect()
}

fn facts(facts: &[Fact]) -> anyhow::Result<Vec<FactJson<'_>>> {
    let one = |fact: &'_ Fact| -> anyhow::Result<_> {
        let string = |text: &str| serde_json::value::to_raw_value(text);
        let value = match &fact.value {
            FactValue::Text(value) | FactValue::Id(value) => string(value.as_raw())?,
            FactValue::Json(value) => {
                RawValue::from_string(value.as_str().trim().to_owned()).or_else(|_| string(value.as_str()))?
            }
        };
        Ok((value, fact.at.map(time::write)))
    };
    facts
        .iter()
        .map(|fact| one(fact).map(|(value, at)| FactJson { name: fact.name.as_raw(), value, at }))
        .collect()
}

/// Prints the facts for readers, with a bar before foreign text.
pub(super) fn text_form(context: &Result<Vec<ContextEntry>, Problem>) -> anyhow::Result<()> {
    let passages = match context {
        Ok(passages) => passages,
        Err(why) => {
            output::line("")?;
            return Ok(output::line(&format!("more context cannot be read: {}", problem(why)))?);
        }
    };
    for passage in passages {
        output::line("")?;
        output::line(&format!("{}:", passage.title))?;
        for fact in &passage.facts {
            self::fact(fact)?;
        }
    }
    Ok(())
}

fn fact(fact: &Fact) -> std::io::Result<()> {
    let name = output::shown(&fact.name);
    let at = fact.at.map_or_else(String::new, |at| format!("  ({})", output::moment(at)));
    let lines = match &fact.value {
        FactValue::Id(id) => vec![text::identifier(id)],
        FactValue::Text(value) => text::lines(value.as_raw()),
        FactValue::Json(value) => text::lines(&json::pretty(&json::legible(value.as_str()))),
    };
    if let [only] = lines.as_slice() {
        return output::line(&format!("│ {name:<18}  {}{at}", only.plain()));
    }
    output::line(&format!("│ {name}{at}"))?;
    lines.iter().try_for_each(|line| output::line(&format!("│   {}", line.plain())))
}
