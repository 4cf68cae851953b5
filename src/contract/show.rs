//! How the input of a tool is laid out for deciding: names for its fields, their order, tables, units, and whether what
//! approving does can be undone. It arranges and explains; every value is still shown as it was written, and a field that is
//! not named here is shown after those that are.

use serde::Deserialize;

/// What is known of showing a tool's input. Nothing for an unknown tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Showing {
    /// In the order they are shown.
    pub fields: Vec<Field>,
    pub reversible: Option<Reversible>,
}

/// A field of an input, or a column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub key: String,
    /// `None`: the key says it.
    pub label: Option<String>,
    pub unit: Option<Unit>,
    pub form: Form,
    /// What its text is written in, where it is known.
    pub language: Option<Language>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    Value,
    /// Prose: a paragraph of its own, however short.
    Text,
    /// A list of objects, with these columns; the rest of each element stands below.
    Table(Vec<Field>),
}

/// What a text is written in, which chooses its colours. The definition of a tool says it, or the type of a value; the text itself
/// never does, because an agent wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    Json,
    /// A unified diff.
    Diff,
    Markdown,
    Yaml,
    Sql,
    Shell,
    Python,
    /// Code with the comments and strings of C.
    Code,
}

/// What a number counts. The number itself stays as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Said after the number: `minutes`.
    Word(String),
    /// The value of the field with this key says it: a currency.
    Of(String),
    /// Hundredths: `1250` is also shown as `12.50`.
    Cents,
    /// Between 0 and 1: `0.82` is also shown as `82 %`.
    Share,
}

/// Whether what approving does can be taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reversible {
    No,
    Yes,
    /// By somebody, in the target; how.
    ByHand(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileField {
    field: String,
    label: Option<String>,
    unit: Option<String>,
    #[serde(default, rename = "as")]
    form: FileForm,
    language: Option<Language>,
    #[serde(default)]
    columns: Vec<FileField>,
}

#[derive(Deserialize, Default, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum FileForm {
    #[default]
    Value,
    Text,
    Table,
}

impl From<FileField> for Field {
    fn from(file: FileField) -> Self {
        let form = match file.form {
            FileForm::Value => Form::Value,
            FileForm::Text => Form::Text,
            FileForm::Table => Form::Table(file.columns.into_iter().map(Self::from).collect()),
        };
        let unit = file.unit.as_deref().map(Unit::parse);
        Self { key: file.field, label: file.label, unit, form, language: file.language }
    }
}

impl Unit {
    fn parse(text: &str) -> Self {
        let hole = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        match (text, hole) {
            (_, Some(key)) => Self::Of(key.to_owned()),
            ("cents", _) => Self::Cents,
            ("share", _) => Self::Share,
            (word, _) => Self::Word(word.to_owned()),
        }
    }
}

impl Reversible {
    /// `no`, `yes`, or `by hand: ` and how; `None` for anything else.
    pub(super) fn parse(text: &str) -> Option<Self> {
        match (text, text.strip_prefix("by hand: ")) {
            ("no", _) => Some(Self::No),
            ("yes", _) => Some(Self::Yes),
            (_, Some(how)) if !how.is_empty() => Some(Self::ByHand(how.to_owned())),
            _ => None,
        }
    }
}
