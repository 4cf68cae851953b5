//! Health checks of the engine.

use super::client::Warden;
use crate::contract::fields::Fields;
use crate::domain::{Check, Verdict};
use crate::sources::health_check;

impl Warden {
    pub(super) async fn check_engine(&self) -> Result<Vec<Check>, Vec<Check>> {
        let checks = vec![self.way(), self.health().await];
        if checks.iter().any(|check| check.verdict == Verdict::Bad) { Err(checks) } else { Ok(checks) }
    }

    /// The engine has no authentication, so anyone who can reach it can decide.
    fn way(&self) -> Check {
        if self.http.in_the_clear() {
            return Check::warn(
                "way",
                "plain http to another machine, and the engine has no authentication of its own",
                "whoever reaches it can decide, and whoever is on the way can change what you see: put a proxy with TLS and a \
                 login in front of it, or reach it through a tunnel",
            );
        }
        Check::good("way", "this machine or https; the engine has no authentication of its own")
    }

    async fn health(&self) -> Check {
        let reply = self.ask("/v1/health".to_owned()).await;
        health_check::asked("health", &reply, |reply| {
            let said = Fields::of(&reply.text).and_then(|fields| fields.text("status"));
            (reply.status == 200).then(|| match said {
                Some(said) if said.as_raw() == "ok" => Check::good("health", "the engine is up"),
                said => Check::warn("health", "the engine answers, and does not say ok", "look at its log")
                    .said(said),
            })
        })
    }

    /// Without definitions, rows are named after their workers.
    pub(super) async fn definitions(&self) -> Check {
        let reply = self.ask("/v1/definitions/sagas?limit=1".to_owned()).await;
        health_check::asked("definitions", &reply, |reply| {
            Some(match reply.status {
                200 => Check::good("definitions", "can be read"),
                status => Check::warn(
                    "definitions",
                    format!("HTTP {status}: rows are named by their workers"),
                    "let this address through to /v1/definitions/sagas",
                ),
            })
        })
    }
}
