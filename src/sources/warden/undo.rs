//! Undo steps, which the engine runs after a step of a run was rejected or failed.

use super::client::Warden;
use super::sent::BACK_WITHIN;
use super::step_id::StepId;
use super::wire::{self, PAGE_WORD};
use crate::contract::fields::Fields;
use crate::domain::{RawJson, Timestamp, Untrusted};
use crate::net::url;

/// Code on a completed step whose undo could not be started.
const NOT_BUILT: &str = "COMPENSATION_BUILD_ERROR";

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Undo {
    /// The undo steps that failed or do not end, and how an operator runs them again.
    pub(super) error: Option<Untrusted>,
    /// Further steps may be undone.
    pub(super) goes_on: bool,
}

impl Warden {
    /// Reads the undo steps of a step's run. Without an answer, they may continue.
    pub(super) async fn undo(&self, place: &StepId) -> Undo {
        let open = ["FAILED", "TIMED_OUT", "IN_PROGRESS", "COMPENSATING"].map(|word| ("status", word));
        let query = [&[("trace_id", place.trace.as_str()), ("limit", PAGE_WORD)], &open[..]].concat();
        match self.items(format!("/v1/sagas/steps{}", url::query(&query))).await {
            Ok(steps) => Undo::of(&steps, place, self.now()),
            Err(error) => Undo { goes_on: error.is_away(), ..Undo::default() },
        }
    }
}

impl Undo {
    fn of(steps: &[String], rejected: &StepId, now: Timestamp) -> Self {
        let (mut undo, mut errors) = (Self::default(), Vec::new());
        for text in steps {
            let Some(fields) = Fields::of(text) else { continue };
            let word = |name| fields.text(name).unwrap_or_default().as_raw().to_owned();
            let failure = RawJson::parse(text).ok().and_then(|raw| wire::failure(&raw)).unwrap_or_default();
            let is_undo = fields.raw("compensatesSpanId").is_some();
            let is_old = fields.time("startedAt").is_some_and(|at| now.since(at) >= BACK_WITHIN);
            let what = match word("status").as_str() {
                "FAILED" | "TIMED_OUT" if is_undo => "failed",
                "FAILED" if failure.code.as_ref().is_some_and(|code| code.as_raw() == NOT_BUILT) => {
                    "could not begin"
                }
                "COMPENSATED" | "COMPLETED" | "SKIPPED" => continue,
                _ if !is_undo => continue,
                _ => {
                    undo.goes_on = true;
                    if !is_old {
                        continue;
                    }
                    "does not end"
                }
            };
            let said = [&failure.code, &failure.message].into_iter().flatten().map(Untrusted::as_raw);
            let said: Vec<&str> = said.collect();
            let said = if said.is_empty() { String::new() } else { format!(" ({})", said.join(": ")) };
            let place = StepId { span: word("stepSpanId"), ..rejected.clone() };
            let again = if is_undo { place.undo_route() } else { "it has no undo step to retry".to_owned() };
            errors.push(format!("the undo of {:?} {what}{said}; for an operator: {again}", word("stepName")));
        }
        undo.error = (!errors.is_empty()).then(|| errors.join("; ").into());
        undo
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_795_000_000_000);

    fn undo(steps: &[&str]) -> Undo {
        let place = StepId::new("default", "4bf9", "00f0").unwrap();
        let steps: Vec<String> = steps.iter().map(|step| format!("{{{step}}}")).collect();
        Undo::of(&steps, &place, NOW)
    }

    #[test]
    fn failed_undo_names_its_step_and_the_operators_routes() {
        let rejected = r#""step_span_id":"00f0","step_name":"Pay","status":"FAILED","compensates_span_id":null,"error_details":{"code":"REVIEWER_REJECTED"}"#;
        let failed = r#""step_span_id":"00f1","step_name":"Book","status":"FAILED","compensates_span_id":"00e0","error_details":{"code":"TOOL","message":"no slot"}"#;
        let not_built = r#""step_span_id":"00e1","step_name":"Mail","status":"FAILED","error_details":{"code":"COMPENSATION_BUILD_ERROR","msg":"bad"}"#;

        assert_eq!(undo(&[rejected]), Undo::default());
        let error = undo(&[rejected, failed]).error.unwrap();
        assert_eq!(
            error.as_raw(),
            "the undo of \"Book\" failed (TOOL: no slot); for an operator: POST /v1/sagas/4bf9/steps/00f1/retry-compensation?namespace=default, or warden saga retry-compensation 4bf9 00f1"
        );
        let error = undo(&[not_built]).error.unwrap();
        assert!(error.as_raw().starts_with("the undo of \"Mail\" could not begin"), "{error:?}");
    }

    #[test]
    fn running_undo_goes_on_and_is_reported_after_two_minutes() {
        let running = |started: &str| {
            format!(
                r#""step_span_id":"00f1","step_name":"Book","status":"COMPENSATING","compensates_span_id":"00e0","started_at":"{started}""#
            )
        };
        let at = |millis| crate::contract::time::write(NOW.plus_millis(millis));

        assert_eq!(undo(&[&running(&at(-1_000))]), Undo { error: None, goes_on: true });
        let stuck = undo(&[&running(&at(-BACK_WITHIN))]);
        assert!(stuck.goes_on && stuck.error.unwrap().as_raw().contains("retry-compensation"));
        let done =
            r#""step_span_id":"00f1","step_name":"Book","status":"COMPENSATED","compensates_span_id":"00e0""#;
        assert_eq!(undo(&[done]), Undo::default());
    }
}
