//! Looking the backend over, from its address to the right to decide. Only reads.

use super::{Dendrux, GET_LIMIT, Road};
use crate::domain::{Check, Untrusted};
use crate::sources::health_check;

/// A run that nobody has: its routes can be asked for without touching any.
const NOBODY: &str = "/runs/placet-doctor";

impl Dendrux {
    pub(super) async fn look_over(&self) -> Vec<Check> {
        // A bridge that was mounted a moment ago is to be found.
        *super::lock(&self.road) = None;
        let road = match self.road().await {
            Ok(road) => road,
            Err(error) => return vec![health_check::failed("address", &error)],
        };
        let mut checks = Vec::new();
        match &road {
            Road::Bridge(report) => {
                let agents: Vec<_> = report.agents.iter().map(Untrusted::as_raw).collect();
                let said = format!("dendrux {}, for {}", report.dendrux.as_raw(), agents.join(", "));
                let found = format!("version {} is mounted", report.bridge);
                let check = match report.bridge {
                    1 => Check::good("bridge", found),
                    _ => Check::warn("bridge", found, "it is newer than this placet: update placet"),
                };
                checks.push(check.said(Some(said.into())));
                checks.push(Check::good("decisions", report.deciding()));
            }
            Road::Plain => {
                checks.push(Check::warn(
                    "bridge",
                    format!("not mounted at {}", self.path("/placet")),
                    "mount assets/bridges/dendrux in the agent's application: without it placet polls, a turn is decided as a whole, \
                     and a slow model holds up the answer to a decision",
                ));
            }
        }
        let list = self.list().await;
        let listed = list.is_ok();
        checks.push(health_check::list(list));
        if listed && matches!(road, Road::Plain) {
            checks.extend(self.write_routes().await);
        }
        checks
    }

    /// Whether somebody wrote the routes that take decisions: each of them takes POST alone, and says so to a GET.
    async fn write_routes(&self) -> Vec<Check> {
        let approval = &self.set.approval_path;
        let routes = [
            (
                "write route",
                approval.as_str(),
                "decisions",
                "write it as dendrux documents it, or set approval_path",
            ),
            ("results", "tool-results", "results of client calls", "write it, if the agent has client tools"),
            ("answers", "input", "answers to questions", "write it, if the agent asks questions"),
        ];
        let mut checks = Vec::new();
        for (what, route, takes, advice) in routes {
            let path = self.path(&format!("{NOBODY}/{route}"));
            let reply = self.ask(format!("{NOBODY}/{route}"), GET_LIMIT).await;
            checks.push(match reply {
                Ok(reply) if reply.status == 405 => Check::good(what, format!("{path} takes {takes}")),
                Ok(reply) if reply.status == 404 && what == "write route" => {
                    Check::bad(what, format!("there is none at {path}"), advice)
                }
                Ok(reply) if reply.status == 404 => {
                    Check::warn(what, format!("nothing at {path} takes {takes}"), advice)
                }
                Ok(reply) => {
                    Check::warn(what, format!("{path} answers {}: nobody can tell", reply.status), advice)
                }
                Err(error) => health_check::failed(what, &error),
            });
        }
        checks
    }
}
