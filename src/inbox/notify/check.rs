//! Whether the rules would work: for whoever asks before something is due. Nothing is sent.

use crate::config::{NotifyRule, NotifyTo};
use crate::contract::time;
use crate::domain::Check;
use crate::program;

use super::hook::Hook;
use super::undelivered::Undelivered;

/// Rules that would not work, each with a sentence that names it.
pub async fn mistakes(rules: &[NotifyRule]) -> Vec<String> {
    let mut found = Vec::new();
    for rule in rules {
        if let Err((what, advice)) = one(rule).await {
            found.push(format!("{rule}: {what}; {advice}"));
        }
    }
    found
}

/// The same of every rule, for `placet doctor`, and which of them could not deliver their last notice.
pub async fn look(rules: &[NotifyRule], undelivered: &Undelivered) -> Vec<Check> {
    const WHAT: &str = "notify";
    const ADVICE: &str = "look at the receiver and at placet.log; this goes when a notice gets through";
    let failures = undelivered.read();
    let mut checks = Vec::new();
    for rule in rules {
        checks.push(match one(rule).await {
            Ok(()) => match failures.get(&rule.to_string()) {
                Some((at, why)) => {
                    let found = format!(
                        "{rule}: its last notice, {}, was not delivered: {why}",
                        time::for_people(*at)
                    );
                    Check::warn(WHAT, found, ADVICE)
                }
                None => Check::good(WHAT, rule.to_string()),
            },
            Err((what, advice)) => Check::bad(WHAT, format!("{rule}: {what}"), advice),
        });
    }
    checks
}

/// What is wrong, and what to do.
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
