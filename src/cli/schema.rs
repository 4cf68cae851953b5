//! `placet schema`: the JSON Schema of every `--json` output.

use anyhow::Context as _;
use clap::Args as ClapArgs;
use serde_json::{Map, Value};

use super::exit::{Exit, Usage};
use super::output;

/// Print the JSON Schema of what the commands print for programs
#[derive(Debug, ClapArgs)]
pub struct SchemaArgs {
    /// The words of one command, like `list` or `log verify` [default: all of them]
    command: Vec<String>,
}

const SCHEMA: &str = include_str!("../../assets/contract/cli.schema.json");

pub fn run(SchemaArgs { command }: &SchemaArgs) -> anyhow::Result<Exit> {
    if command.is_empty() {
        output::line(SCHEMA.trim_end())?;
    } else {
        output::json(&of(&command.join(" "))?)?;
    }
    Ok(Exit::Done)
}

pub(super) fn of(command: &str) -> anyhow::Result<Map<String, Value>> {
    let mut schema: Map<String, Value> = serde_json::from_str(SCHEMA).context("the schema is broken")?;
    let commands = commands(&schema);
    if !commands.iter().any(|known| known == command) {
        let commands = commands.join(", ");
        return Err(Usage(format!("there is no schema of {command:?}; there are: {commands}")).into());
    }
    schema.insert("title".to_owned(), format!("What `placet {command}` prints for programs").into());
    schema.insert("$ref".to_owned(), format!("#/$defs/{}", command.replace(' ', "%20")).into());
    Ok(schema)
}

/// Returns the definitions that describe a command's output, without their parts.
fn commands(schema: &Map<String, Value>) -> Vec<String> {
    let is_command = |of: &Value| {
        let about = of.get("description").and_then(Value::as_str);
        about.is_some_and(|about| about.starts_with("`placet "))
    };
    let defs = schema.get("$defs").and_then(Value::as_object).into_iter().flatten();
    defs.filter(|(_, of)| is_command(of)).map(|(name, _)| name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Args;
    use clap::CommandFactory as _;

    fn with_json(command: &clap::Command, words: &str, all: &mut Vec<String>) {
        if command.get_arguments().any(|arg| arg.get_id() == "json") {
            all.push(words.trim().to_owned());
        }
        for sub in command.get_subcommands() {
            with_json(sub, &format!("{words} {}", sub.get_name()), all);
        }
    }

    #[test]
    fn every_command_that_takes_json_has_a_schema() {
        let mut all = Vec::new();
        with_json(&Args::command(), "", &mut all);

        assert!(all.len() > 8, "{all:?}");
        for command in all {
            assert!(of(&command).is_ok(), "{command} has no entry in assets/contract/cli.schema.json");
        }
        assert!(of("row").unwrap_err().is::<Usage>());
    }

    #[test]
    fn nothing_that_the_schema_does_not_know_goes_by_unseen() {
        let schema: Value = serde_json::from_str(SCHEMA).unwrap();
        for (name, of) in schema["$defs"].as_object().unwrap() {
            let is_object = of.get("type").is_some_and(|of| of == "object");
            assert!(!is_object || of["additionalProperties"] == false, "{name}");
            assert!(is_object || of.get("anyOf").is_some() || of.get("$ref").is_some(), "{name}");
        }
    }
}
