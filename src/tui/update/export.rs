//! The report leaves the screen: as JSON in a file, or as text through the clipboard.

use std::path::PathBuf;

use crate::domain::{Outcome, ReportLine, Untrusted};
use crate::inbox::ReportJson;
use crate::text::{self, Shown};
use crate::tui::model::{Modal, Model, Tone};
use crate::tui::msg::{Clip, Effect};

pub(super) fn export(model: &mut Model) -> Vec<Effect> {
    let Some(Modal::Report(sheet)) = &model.modal else { return Vec::new() };
    let folder = model.settings.place.state.clone();
    match serde_json::to_string(&ReportJson::of(&sheet.report, &sheet.followed)) {
        Ok(json) => vec![Effect::Export { folder, text: format!("{json}\n") }],
        Err(error) => exported(model, Err(error.to_string())),
    }
}

pub(super) fn exported(model: &mut Model, answer: Result<PathBuf, String>) -> Vec<Effect> {
    let (tone, word, what) = match answer {
        Ok(path) => (Tone::Good, "report written to ", path.display().to_string()),
        Err(why) => (Tone::Bad, "report not written: ", why),
    };
    model.tell(tone, vec![Shown::ours(word), text::line(&Untrusted::from(what))]);
    Vec::new()
}

/// The counts, and a line a decision; hidden characters visible.
pub(super) fn copy(model: &mut Model) -> Vec<Effect> {
    let Some(Modal::Report(sheet)) = &model.modal else { return Vec::new() };
    let mut lines = vec![super::report::summary(&sheet.report)];
    lines.extend(sheet.report.lines.iter().map(line));
    vec![Effect::Copy(Clip { what: "the report", text: lines.join("\n") })]
}

fn line(line: &ReportLine) -> String {
    let why = |word: &str, why: &Untrusted| format!("{word}, {}", text::line(why).plain());
    let outcome = match &line.outcome {
        Outcome::Approved => "approved".to_owned(),
        Outcome::Rejected => "rejected".to_owned(),
        Outcome::Accepted => "accepted".to_owned(),
        Outcome::Skipped { status, by } => {
            format!("skipped, {}", text::skipped(line.decision, status.as_ref(), by.as_ref()).plain())
        }
        Outcome::Failed { why: said } => why("failed", said),
        Outcome::Unknown { why: said } => why("unknown", said),
    };
    format!(
        "{}  {}  {outcome}",
        text::identifier(line.key.id.untrusted()).plain(),
        text::line(&line.title).plain()
    )
}
