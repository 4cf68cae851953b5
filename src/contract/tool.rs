//! What is known of a tool: risk, effect, a title, what approving does, and a preview. Data in `assets/tools`, one file a tool.
//!
//! The gate titles proposals with it; the inbox uses the same definitions where a source has none.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

pub use super::show::{Field, Form, Reversible, Showing, Unit};

use super::show::FileField;
use crate::domain::{Effect, PreviewShape, Risk, json};

/// Longest title, in characters. Longer ones are cut with `…`: a title is a label, the input is what counts.
pub const TITLE_MAX: usize = 200;

#[derive(Clone, Debug)]
pub struct Definition {
    pub risk: Risk,
    pub effect: Option<Effect>,
    /// Text with `{path.in.input}` and `{#path}` (how many) for the title.
    pub title: Option<String>,
    /// What approving does, in a short phrase.
    pub approving: Option<String>,
    /// What a gate shows of the input beside it; `None` or empty: the proposer's own preview.
    pub preview: Option<PreviewShape>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    risk: String,
    effect: String,
    title: String,
    approving: String,
    reversible: String,
    preview: Option<FilePreview>,
    #[serde(default)]
    show: Vec<FileField>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct FilePreview {
    fields: Vec<String>,
    items: Option<String>,
    item_fields: Vec<String>,
}

static UNKNOWN: Definition =
    Definition { risk: Risk::Medium, effect: None, title: None, approving: None, preview: None };

const FILES: [&str; 12] = [
    include_str!("../../assets/tools/create_github_issue.toml"),
    include_str!("../../assets/tools/create_linear_comment.toml"),
    include_str!("../../assets/tools/create_linear_issue.toml"),
    include_str!("../../assets/tools/google_drive_batch_import.toml"),
    include_str!("../../assets/tools/google_drive_update.toml"),
    include_str!("../../assets/tools/google_drive_write.toml"),
    include_str!("../../assets/tools/refund_payment.toml"),
    include_str!("../../assets/tools/save_document.toml"),
    include_str!("../../assets/tools/save_insights.toml"),
    include_str!("../../assets/tools/save_recommendations.toml"),
    include_str!("../../assets/tools/send_email.toml"),
    include_str!("../../assets/tools/update_linear_issue.toml"),
];

static DEFINITIONS: LazyLock<BTreeMap<String, (Definition, Showing)>> = LazyLock::new(|| {
    let files = FILES.iter().filter_map(|text| toml::from_str::<File>(text).ok());
    files.map(|mut file| (file.name.clone(), (file.showing(), file))).map(read).collect()
});

fn read((name, (showing, file)): (String, (Showing, File))) -> (String, (Definition, Showing)) {
    (name, (file.into(), showing))
}

impl File {
    fn showing(&mut self) -> Showing {
        Showing {
            fields: std::mem::take(&mut self.show).into_iter().map(Into::into).collect(),
            reversible: Reversible::parse(&self.reversible),
        }
    }
}

impl From<File> for Definition {
    fn from(file: File) -> Self {
        Self {
            risk: Risk::parse(&file.risk),
            effect: Some(Effect::parse(&file.effect)),
            title: Some(file.title),
            approving: Some(file.approving),
            preview: file.preview.map(|preview| PreviewShape {
                fields: preview.fields,
                items: preview.items,
                item_fields: preview.item_fields,
            }),
        }
    }
}

/// What is known of the tool; medium risk and nothing else for an unknown one.
pub fn definition(tool: &str) -> &'static Definition {
    DEFINITIONS.get(tool).map_or(&UNKNOWN, |(definition, _)| definition)
}

/// How the tool's input is laid out for deciding; `None` for an unknown one.
pub fn showing(tool: &str) -> Option<&'static Showing> {
    DEFINITIONS.get(tool).map(|(_, showing)| showing)
}

impl Definition {
    /// The same for a backend whose tools nobody described: without anything telling it is the call, as in `scrap machine=lathe-2`.
    pub fn title_of_call(&self, tool: &str, input: &str) -> String {
        let title = self.title(tool, input);
        if title == tool { bounded(&call(tool, input)) } else { title }
    }

    /// One line for a list. Never fails: without a fitting template it is a telling field of the input, or the tool's name.
    pub fn title(&self, tool: &str, input: &str) -> String {
        let filled = self.title.as_deref().and_then(|template| fill(template, input));
        let title = filled.or_else(|| telling_field(input)).unwrap_or_else(|| tool.to_owned());
        bounded(&title)
    }
}

/// On one line, and no longer than a title may be.
fn bounded(title: &str) -> String {
    let title: String = title.split_whitespace().collect::<Vec<_>>().join(" ");
    if title.chars().count() <= TITLE_MAX {
        return title;
    }
    title.chars().take(TITLE_MAX - 1).chain(['…']).collect()
}

/// The template with its holes filled; `None` when the input lacks one of them.
fn fill(template: &str, input: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, hole)) = rest.split_once('{') {
        let (path, after) = hole.split_once('}')?;
        out.push_str(before);
        match path.strip_prefix('#') {
            Some(path) => out.push_str(&json::elements(at(input, path)?)?.len().to_string()),
            None => out.push_str(&said(at(input, path)?)?),
        }
        rest = after;
    }
    out.push_str(rest);
    Some(out)
}

fn telling_field(input: &str) -> Option<String> {
    ["title", "subject", "name", "summary", "path", "query", "id"]
        .iter()
        .find_map(|key| said(at(input, key)?))
}

/// The tool's name with what is plain in its input.
fn call(tool: &str, input: &str) -> String {
    let members = json::members(input).unwrap_or_default();
    let plain = members.into_iter().filter_map(|member| Some((member.key.text, said(member.value)?)));
    plain.take(4).fold(tool.to_owned(), |title, (key, value)| format!("{title} {key}={value}"))
}

/// A string's meaning or a number as written; nothing for containers, nulls and empty strings.
fn said(value: &str) -> Option<String> {
    let plain = !value.starts_with(['{', '[']) && value != "null";
    plain.then(|| json::decode(value).text.into_owned()).filter(|text| !text.trim().is_empty())
}

/// The value at a dotted path; numbers index arrays.
fn at<'a>(value: &'a str, path: &str) -> Option<&'a str> {
    path.split('.').try_fold(value, |value, part| match part.parse::<usize>() {
        Ok(index) => json::elements(value)?.get(index).copied(),
        Err(_) => {
            json::members(value)?.into_iter().rev().find(|member| member.key.text == part).map(|m| m.value)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::RawJson;

    #[test]
    fn every_definition_is_read() {
        for text in FILES {
            toml::from_str::<File>(text).unwrap();
        }
        assert_eq!(DEFINITIONS.len(), FILES.len());
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/tools");
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), FILES.len(), "a file that is not in the list");
    }

    #[test]
    fn every_tool_says_how_it_is_shown_and_whether_it_can_be_undone() {
        for (name, (_, showing)) in DEFINITIONS.iter() {
            assert!(showing.reversible.is_some(), "{name}: no, yes, or by hand: how");
            assert!(!showing.fields.is_empty(), "{name}");
            for field in &showing.fields {
                if let Form::Table(columns) = &field.form {
                    assert!(!columns.is_empty(), "{name}: {} has no columns", field.key);
                }
            }
        }
    }

    #[test]
    fn units_are_told_apart_and_a_mistake_is_one() {
        let field = |text: &str| toml::from_str::<FileField>(text).map(Field::from);

        let unit = |unit: &str| field(&format!("field = 'x'\nunit = '{unit}'")).unwrap().unit.unwrap();
        assert_eq!(unit("{currency}"), Unit::Of("currency".to_owned()));
        assert_eq!((unit("cents"), unit("share")), (Unit::Cents, Unit::Share));
        assert_eq!(unit("minutes"), Unit::Word("minutes".to_owned()));
        assert!(field("field = 'x'\nlable = 'y'").is_err());
        assert!(field("field = 'x'\nas = 'chart'").is_err());
        assert_eq!(Reversible::parse("maybe"), None);
    }

    /// The action in the documentation of the first gated backend, with the preview that its own code built.
    const SEED: &str = include_str!("../../tests/fixtures/save_recommendations.json");

    #[test]
    fn the_preview_of_recommendations_is_the_one_their_own_backend_builds() {
        let action = RawJson::parse(SEED).unwrap();
        let (input, want) = (action.member("toolInput").unwrap(), action.member("preview").unwrap());

        let built = definition("save_recommendations").preview.as_ref().unwrap().build(input).unwrap();

        assert_eq!(json::compact(built.as_str()), json::compact(want));
    }

    #[test]
    fn a_title_is_filled_from_the_input() {
        let input = r#"{"title":"a\nb","items":[{"name":"x"},{}],"n":1.10}"#;

        assert_eq!(
            fill("{#items} items, first {items.0.name}, {n}", input).unwrap(),
            "2 items, first x, 1.10"
        );
        assert_eq!(fill("{missing}", input), None);
        assert_eq!(definition("no_such_tool").title("no_such_tool", input), "a b");
        assert_eq!(definition("no_such_tool").title("no_such_tool", "[]"), "no_such_tool");
        let of_call = |input| definition("scrap").title_of_call("scrap", input);
        assert_eq!(
            of_call(r#"{"machine":"lathe-2","at":[1],"n":1.10,"why":null}"#),
            "scrap machine=lathe-2 n=1.10"
        );
        assert_eq!(of_call(r#"{"title":"a b"}"#), "a b");
        assert_eq!(of_call("{}"), "scrap");
        assert_eq!(
            definition("x").title("x", &format!("{{\"title\":\"{}\"}}", "é".repeat(500))).chars().count(),
            TITLE_MAX
        );
    }
}
