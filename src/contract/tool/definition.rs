//! Loads the definitions of tools (`assets/tools`), and titles proposals with them.

use std::sync::{Arc, LazyLock};

use serde::Deserialize;

use super::money;
use super::said::{cut, said};
use super::telling::{self, Part};
use super::totals::{Count, Sum, Totals};
use crate::contract::show::{FileField, Reversible, Showing};
use crate::domain::{ByTool, Effect, PreviewShape, RawJson, Risk, Untrusted, json};

/// Maximum characters of a title; longer ones are cut with `…`.
pub const TITLE_MAX: usize = 200;

#[derive(Clone, Debug)]
pub struct Definition {
    pub risk: Risk,
    pub effect: Option<Effect>,
    /// Template of the title: `{path.in.input}`, `{#path}` (count), `{^path}` (first line), `{+path}` (files of a
    /// patch).
    pub title: Option<String>,
    /// Short phrase for the effect of approving.
    pub approving: Option<String>,
    /// Preview built by the gate. If `None` or empty, the proposer's preview is shown.
    pub preview: Option<PreviewShape>,
    /// Input fields that name the workspace. The gate refuses values other than the token's workspace.
    pub identity: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// Name or pattern of tools.
    name: String,
    #[serde(default)]
    also: Vec<String>,
    risk: String,
    effect: String,
    title: String,
    approving: String,
    reversible: String,
    preview: Option<FilePreview>,
    #[serde(default)]
    identity: Vec<String>,
    #[serde(default)]
    show: Vec<FileField>,
    #[serde(default)]
    sum: Vec<Sum>,
    #[serde(default)]
    count: Vec<Count>,
}

struct Known {
    definition: Definition,
    showing: Showing,
    sums: Vec<Sum>,
    counts: Vec<Count>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct FilePreview {
    fields: Vec<String>,
    items: Option<String>,
    item_fields: Vec<String>,
}

static UNKNOWN: Definition = Definition {
    risk: Risk::Medium,
    effect: None,
    title: None,
    approving: None,
    preview: None,
    identity: Vec::new(),
};

const FILES: [&str; 25] = [
    include_str!("../../../assets/tools/apply_patch.toml"),
    include_str!("../../../assets/tools/claude_edit.toml"),
    include_str!("../../../assets/tools/claude_multi_edit.toml"),
    include_str!("../../../assets/tools/claude_notebook_edit.toml"),
    include_str!("../../../assets/tools/claude_web_fetch.toml"),
    include_str!("../../../assets/tools/claude_write.toml"),
    include_str!("../../../assets/tools/create_github_issue.toml"),
    include_str!("../../../assets/tools/create_linear_comment.toml"),
    include_str!("../../../assets/tools/create_linear_issue.toml"),
    include_str!("../../../assets/tools/google_drive_batch_import.toml"),
    include_str!("../../../assets/tools/google_drive_update.toml"),
    include_str!("../../../assets/tools/google_drive_write.toml"),
    include_str!("../../../assets/tools/mcp_create_directory.toml"),
    include_str!("../../../assets/tools/mcp_edit_file.toml"),
    include_str!("../../../assets/tools/mcp_move_file.toml"),
    include_str!("../../../assets/tools/mcp_write_file.toml"),
    include_str!("../../../assets/tools/opencode_edit.toml"),
    include_str!("../../../assets/tools/opencode_write.toml"),
    include_str!("../../../assets/tools/refund_payment.toml"),
    include_str!("../../../assets/tools/save_document.toml"),
    include_str!("../../../assets/tools/save_insights.toml"),
    include_str!("../../../assets/tools/save_recommendations.toml"),
    include_str!("../../../assets/tools/send_email.toml"),
    include_str!("../../../assets/tools/shell.toml"),
    include_str!("../../../assets/tools/update_linear_issue.toml"),
];

static DEFINITIONS: LazyLock<ByTool<Arc<Known>>> = LazyLock::new(|| {
    let files = FILES.iter().filter_map(|text| toml::from_str::<File>(text).ok());
    let named = files.flat_map(|mut file| {
        let names = std::iter::once(file.name.clone()).chain(std::mem::take(&mut file.also));
        let known = Arc::new(Known::from(file));
        names.map(move |name| (name, Arc::clone(&known))).collect::<Vec<_>>()
    });
    named.collect()
});

impl From<File> for Known {
    fn from(mut file: File) -> Self {
        let showing = Showing {
            fields: std::mem::take(&mut file.show).into_iter().map(Into::into).collect(),
            reversible: Reversible::parse(&file.reversible),
        };
        let (sums, counts) = (std::mem::take(&mut file.sum), std::mem::take(&mut file.count));
        Self { definition: file.into(), showing, sums, counts }
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
            identity: file.identity,
        }
    }
}

/// Returns the definition of a tool; medium risk only for an unknown one.
pub fn definition(tool: &str) -> &'static Definition {
    DEFINITIONS.get(tool).map_or(&UNKNOWN, |known| &known.definition)
}

pub fn showing(tool: &str) -> Option<&'static Showing> {
    DEFINITIONS.get(tool).map(|known| &known.showing)
}

impl Totals {
    /// Adds what this input comes to. `preview` is the agent's.
    pub fn add(&mut self, tool: &Untrusted, input: &RawJson, preview: Option<&RawJson>) {
        let Some(members) = json::members(inner(input.as_str())) else { return };
        match DEFINITIONS.get(tool.as_raw()) {
            Some(known) => self.add_defined(&members, &known.sums, &known.counts),
            None => self.add_undefined(&members, preview.map(RawJson::as_str)),
        }
    }
}

impl Definition {
    /// Returns the title together with the agent's description, or only the description if it contains all telling
    /// fields.
    pub fn title_beside(&self, tool: &str, input: &str, words: &str) -> String {
        let telling = telling::said_fields(inner(input));
        let all_said = |parts: &[String]| parts.iter().all(|part| words.contains(part.as_str()));
        if !telling.is_empty() && !all_said(&telling) {
            return bounded(&format!("{} · {words}", self.title(tool, input)));
        }
        match text_of(&telling::plain(inner(input))) {
            plain if telling.is_empty() && !plain.is_empty() => bounded(&format!("{words} · {plain}")),
            _ => bounded(words),
        }
    }

    /// Returns a one-line title from the input, so that actions of one tool differ. Without a matching template it is
    /// the tool's name with the telling fields of the input, else its first plain ones (`scrap machine=lathe-2`).
    pub fn title(&self, tool: &str, input: &str) -> String {
        bounded(&text_of(&self.parts(tool, input)))
    }

    pub(super) fn parts(&self, tool: &str, input: &str) -> Vec<Part> {
        let filled = self.title.as_deref().and_then(|template| fill(template, input));
        filled.unwrap_or_else(|| telling::title(tool, inner(input)))
    }

    /// Appends the amount in the agent's preview to a title, if the tool has no definition and its input no amount with
    /// a currency.
    pub fn with_preview(&self, title: String, input: &str, preview: Option<&str>) -> String {
        let Some(preview) = preview.filter(|_| self.title.is_none()) else { return title };
        let members = json::members(inner(input)).unwrap_or_default();
        let amounts = money::of_agent(&members, Some(preview));
        let Some(said) = amounts.iter().find(|amount| amount.decimal.is_some()) else { return title };
        let said = format!(" · agent says {}", said.text());
        let room = TITLE_MAX - said.chars().count();
        cut(&title, room) + &said
    }
}

/// Returns the field at the beginning of the title from this input, if it is an amount.
pub fn leading_amount(tool: &Untrusted, input: &RawJson) -> Option<String> {
    let parts = definition(tool.as_raw()).parts(tool.as_raw(), input.as_str());
    let (first, amounts) = (parts.into_iter().find_map(|part| part.key)?, money::amounts(&input.members()?));
    amounts.into_iter().map(|amount| amount.key).find(|key| *key == first)
}

pub(super) fn text_of(parts: &[Part]) -> String {
    parts.iter().map(|part| part.text.as_str()).collect()
}

/// Whether placet made this title from fields that identify a call, so that an equal title suggests a duplicate. Plain
/// fields (`scrap machine=lathe-2`) can be equal in different calls.
pub fn tells(tool: &Untrusted, title: &Untrusted) -> bool {
    let (tool, title) = (tool.as_raw(), title.as_raw());
    match title.strip_prefix(tool).and_then(|rest| rest.strip_prefix(' ')) {
        Some(rest) => rest.split_whitespace().next().is_some_and(|word| !word.contains('=')),
        None => title != tool && definition(tool).title.is_some(),
    }
}

pub fn titled(tool: &Untrusted, input: &RawJson) -> Untrusted {
    definition(tool.as_raw()).title(tool.as_raw(), input.as_str()).into()
}

/// Unwraps the arguments from an object with a single member.
pub(super) fn inner(input: &str) -> &str {
    match json::members(input).as_deref() {
        Some([only]) if only.value.starts_with('{') => only.value,
        _ => input,
    }
}

/// Reduces to one line of at most `TITLE_MAX` characters.
pub(super) fn bounded(title: &str) -> String {
    cut(&title.split_whitespace().collect::<Vec<_>>().join(" "), TITLE_MAX)
}

/// Fills the template; `None` if the input lacks a value.
fn fill(template: &str, input: &str) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut rest = template;
    while let Some((before, hole)) = rest.split_once('{') {
        let (hole, after) = hole.split_once('}')?;
        let text = |path: &str| said(at(input, path)?);
        let (path, said) = match hole.split_at_checked(1) {
            Some(("#", path)) => (path, json::elements(at(input, path)?)?.len().to_string()),
            Some(("^", path)) => (path, telling::first_line(&text(path)?)),
            Some(("+", path)) => (path, telling::patched(&text(path)?)?),
            _ => (hole, text(hole)?),
        };
        let key = path.split('.').next().unwrap_or_default();
        parts.extend([Part::words(before), Part::value(key, said)]);
        rest = after;
    }
    parts.push(Part::words(rest));
    Some(parts)
}

/// Returns the value at a dotted path; numbers index arrays.
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
    use crate::contract::show::{Field, Form, Language, Unit};
    use crate::domain::RawJson;

    #[test]
    fn every_definition_is_read() {
        let names = FILES.map(|text| {
            let File { name, also, .. } = toml::from_str(text).unwrap();
            [vec![name], also].concat()
        });
        assert_eq!(DEFINITIONS.iter().count(), names.concat().len(), "two files define one name");
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/tools");
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), FILES.len(), "a file is not in FILES");
    }

    #[test]
    fn every_definition_has_a_layout_and_reversibility() {
        for (name, known) in DEFINITIONS.iter() {
            let showing = &known.showing;
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
    fn units_are_parsed_and_mistakes_are_refused() {
        let field = |text: &str| toml::from_str::<FileField>(text).map(Field::from);

        let unit = |unit: &str| field(&format!("field = 'x'\nunit = '{unit}'")).unwrap().unit.unwrap();
        assert_eq!(unit("{currency}"), Unit::Of("currency".to_owned()));
        assert_eq!((unit("cents"), unit("share")), (Unit::Cents, Unit::Share));
        assert_eq!(unit("minutes"), Unit::Word("minutes".to_owned()));
        assert!(field("field = 'x'\nlable = 'y'").is_err());
        assert!(field("field = 'x'\nas = 'chart'").is_err());
        assert!(field("field = 'x'\nlanguage = 'perl'").is_err());
        assert_eq!(field("field = 'x'\nlanguage = 'sql'").unwrap().language, Some(Language::Sql));
        assert_eq!(Reversible::parse("maybe"), None);
    }

    /// The action in the documentation of the first supported backend, with the preview that the backend built.
    const SEED: &str = include_str!("../../../tests/fixtures/save_recommendations.json");

    #[test]
    fn the_preview_of_recommendations_matches_its_backend() {
        let action = RawJson::parse(SEED).unwrap();
        let (input, want) = (action.member("toolInput").unwrap(), action.member("preview").unwrap());

        let built = definition("save_recommendations").preview.as_ref().unwrap().build(input).unwrap();

        assert_eq!(json::compact(built.as_str()), json::compact(want));
    }

    #[test]
    fn a_title_of_telling_fields_identifies_a_call() {
        let tells_of = |tool: &str, input: &str| {
            let tool = Untrusted::from(tool);
            tells(&tool, &titled(&tool, &RawJson::parse(input).unwrap()))
        };
        for (tool, input, want) in [
            ("refund_payment", r#"{"amount":5,"currency":"EUR","customer":"a@a.example"}"#, true),
            ("refund_payment", r#"{"reason":"none of the fields of the template"}"#, false),
            ("act", r#"{"subject":"Hello"}"#, true),
            ("act", r#"{"machine":"lathe-2"}"#, false),
            ("act", "{}", false),
        ] {
            assert_eq!(tells_of(tool, input), want, "{tool} {input}");
        }
        assert!(
            !tells(&"act".into(), &"whatever its backend calls it".into()),
            "a foreign title of an unknown tool"
        );
    }

    #[test]
    fn an_unknown_tool_is_titled_by_telling_fields() {
        let title = |input| definition("act").title("act", input);
        for (input, want) in [
            (
                r#"{"amount":129.90,"currency":"EUR","to":"ada@a.example","why":"x"}"#,
                "act 129.90 EUR to ada@a.example",
            ),
            (
                r#"{"subject":"Hello","to":["ada@a.example","bob@b.example"]}"#,
                "act Hello · to ada@a.example and 1 more",
            ),
            (r#"{"path":"/srv/a.txt","content":"…"}"#, "act /srv/a.txt"),
            (r#"{"name":"Caf\u00e9","id":7}"#, "act Café · id 7"),
            (r#"{"order_id":"O-9","customer":"Ada"}"#, "act to Ada · order_id O-9"),
            (r#"{"payload":{"title":"in it"}}"#, "act in it"),
            (r#"{"machine":"lathe-2","at":[1],"n":1.10,"why":null}"#, "act machine=lathe-2 at=[1] n=1.10"),
            (r#"{"a":{"b":"deep"},"c":1}"#, "act a.b=deep c=1"),
            ("{}", "act"),
            ("17", "act 17"),
        ] {
            assert_eq!(title(input), want, "{input}");
        }
    }

    #[test]
    fn titles_of_an_unknown_tool_are_distinct() {
        let inputs =
            (0..100).map(|n| format!(r#"{{"kind":"charge","order":{{"number":"O-{n}","items":[{n}]}}}}"#));
        let titles: std::collections::HashSet<_> =
            inputs.map(|input| definition("charge").title("charge", &input)).collect();

        assert_eq!(titles.len(), 100);
    }

    #[test]
    fn a_complete_description_replaces_the_title() {
        let beside = |input, words| definition("act").title_beside("act", input, words);

        assert_eq!(beside(r#"{"title":"Hello","post_status":"draft"}"#, "Publish Hello"), "Publish Hello");
        assert_eq!(beside(r#"{"title":"Hello"}"#, "Publish a post"), "act Hello · Publish a post");
        assert_eq!(beside(r#"{"n":[1,2]}"#, "Do it"), "Do it · n=[1,2]");
        assert_eq!(beside("[]", "Do it"), "Do it");
    }

    #[test]
    fn a_title_is_filled_from_the_input() {
        let input = r#"{"title":"a\nb","items":[{"name":"x"},{}],"n":1.10}"#;

        assert_eq!(
            text_of(&fill("{#items} items, first {items.0.name}, {n}", input).unwrap()),
            "2 items, first x, 1.10"
        );
        assert_eq!(fill("{missing}", input), None);
        assert_eq!(definition("no_such_tool").title("no_such_tool", input), "no_such_tool a b");
        assert_eq!(definition("no_such_tool").title("no_such_tool", "[]"), "no_such_tool");
        assert_eq!(
            definition("x").title("x", &format!("{{\"title\":\"{}\"}}", "é".repeat(500))).chars().count(),
            TITLE_MAX
        );
    }

    #[test]
    fn calls_of_coding_agents_have_title_and_risk() {
        let long = format!("echo {}", "x".repeat(300));
        let patch = r"*** Begin Patch\n*** Update File: src/a.rs\n@@\n-*** Add File: no\n+y\n*** Add File: b.rs\n*** Delete File: c.rs\n*** End Patch";
        for (tool, input, title, risk) in [
            ("Bash", r#"{"command":"ls -l","description":"lists"}"#, "Run ls -l", "high"),
            ("bash", r#"{"command":"\n  cd /srv \nrm -rf x\n\nls\n"}"#, "Run cd /srv … +2 lines", "high"),
            (
                "run_shell_command",
                r##"{"command":"# harmless\nrm -rf /"}"##,
                "Run rm -rf / … +1 line",
                "high",
            ),
            ("Edit", r#"{"file_path":"/a","old_string":"x","new_string":"y"}"#, "Edit /a", "medium"),
            ("replace", r#"{"file_path":"/a","old_string":"x","new_string":"y"}"#, "Edit /a", "medium"),
            ("MultiEdit", r#"{"file_path":"/a","edits":[{},{}]}"#, "Edit /a in 2 steps", "medium"),
            ("write", r#"{"filePath":"/a","content":""}"#, "Write /a", "medium"),
            ("fs.write_file", r#"{"path":"/a","content":""}"#, "Write /a", "medium"),
            ("write_file", r#"{"file_path":"/a","content":""}"#, "Write /a", "medium"),
            ("mcp__fs__move_file", r#"{"source":"a","destination":"b"}"#, "Move a to b", "medium"),
            ("mcp_fs_create_directory", r#"{"path":"a"}"#, "Create the directory a", "low"),
            ("replace", r#"{"table":"x","name":"y"}"#, "replace y", "medium"),
            (
                "apply_patch",
                &format!(r#"{{"command":"{patch}"}}"#),
                "Patch: update src/a.rs, add b.rs and 1 more",
                "medium",
            ),
            ("apply_patch", r#"{"command":"no patch"}"#, "apply_patch no patch", "medium"),
        ] {
            let known = definition(tool);
            assert_eq!(known.title(tool, input), title, "{tool} {input}");
            assert_eq!(known.risk.as_raw(), risk, "{tool}");
            assert!(known.approving.is_some(), "{tool}");
        }
        let title = definition("Bash").title("Bash", &format!(r#"{{"command":"{long}\nrm x"}}"#));
        assert!(title.ends_with("… +1 line") && title.chars().count() < TITLE_MAX, "{title}");
        assert!(definition("write_files").approving.is_none());
    }
}
