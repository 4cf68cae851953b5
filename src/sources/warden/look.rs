//! Looking an engine over, for whoever set it up.

use super::Warden;
use crate::contract::fields::Fields;
use crate::domain::Check;
use crate::sources::{answer, health_check};

impl Warden {
    pub(super) async fn look_over(&self) -> Vec<Check> {
        let mut checks = vec![self.way()];
        let health = self.health().await;
        let reached = health.verdict != crate::domain::Verdict::Bad;
        checks.push(health);
        if reached {
            checks.push(health_check::list(self.list().await));
            checks.push(self.definitions().await);
        }
        checks
    }

    /// It asks nobody who they are: whoever can reach it can decide.
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
        match self.ask("/v1/health".to_owned()).await {
            Ok(reply) if reply.status == 200 => {
                let said = Fields::of(&reply.text).and_then(|fields| fields.text("status"));
                match said {
                    Some(said) if said.as_raw() == "ok" => Check::good("health", "the engine is up"),
                    said => {
                        Check::warn("health", "the engine answers, and does not say ok", "look at its log")
                            .said(said)
                    }
                }
            }
            Ok(reply) => health_check::failed("health", &answer::refusal(&reply)),
            Err(error) => health_check::failed("health", &error),
        }
    }

    /// Without them, rows are called by their workers.
    async fn definitions(&self) -> Check {
        match self.ask("/v1/definitions/sagas?limit=1".to_owned()).await {
            Ok(reply) if reply.status == 200 => Check::good("definitions", "can be read"),
            Ok(reply) => Check::warn(
                "definitions",
                format!("HTTP {}: rows are named by their workers", reply.status),
                "let this address through to /v1/definitions/sagas",
            ),
            Err(error) => health_check::failed("definitions", &error),
        }
    }
}
