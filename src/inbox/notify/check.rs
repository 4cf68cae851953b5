//! Checks whether the rules would work, without sending anything.

use crate::config::{NotifyRule, NotifyTo};
use crate::domain::{Check, Timestamp};
use crate::program;

use super::hook::Hook;
use super::undelivered::Undelivered;

/// Returns a sentence for each rule that would not work, with its name.
pub async fn mistakes(rules: &[NotifyRule]) -> Vec<String> {
    let mut found = Vec::new();
    for rule in rules {
        if let Err((what, advice)) = one(rule).await {
            found.push(format!("{rule}: {what}; {advice}"));
        }
    }
    found
}

/// Checks every rule for `placet doctor`, and reports rules whose last notice was not delivered.
pub async fn look(
    rules: &[NotifyRule],
    undelivered: &Undelivered,
    moment: fn(Timestamp) -> String,
) -> Vec<Check> {
    const WHAT: &str = "notify";
    const ADVICE: &str = "look at the receiver and at placet.log; this goes when a notice gets through";
    let failures = undelivered.read();
    let mut checks = Vec::new();
    for rule in rules {
        checks.push(match one(rule).await {
            Ok(()) => match failures.get(&rule.to_string()) {
                Some((at, why)) => {
                    let found = format!("{rule}: its last notice, {}, was not delivered: {why}", moment(*at));
                    Check::warn(WHAT, found, ADVICE)
                }
                None => Check::good(WHAT, rule.to_string()),
            },
            Err((what, advice)) => Check::bad(WHAT, format!("{rule}: {what}"), advice),
        });
    }
    checks
}

/// The error has the mistake and the advice.
async fn one(rule: &NotifyRule) -> Result<(), (String, &'static str)> {
    match &rule.to {
        NotifyTo::Terminal | NotifyTo::Bell => Ok(()),
        NotifyTo::Command { argv, .. } => {
            program::check(argv, None, "command").map_err(|what| (what, "until then the rule tells nothing"))
        }
        NotifyTo::Webhook(webhook) => {
            let hook = Hook::new(webhook).map_err(|what| (what, "until then placet does not start"))?;
            hook.check().await.map_err(|what| (what, "check secret_env, secret_file or secret_command"))
        }
    }
}
