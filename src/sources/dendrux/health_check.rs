//! Health checks of the bridge and the write routes.

use super::client::{Dendrux, GET_LIMIT, Road, lock};
use crate::domain::{Check, Untrusted};
use crate::sources::health_check;

/// A run that does not exist, so that requests to its routes change nothing.
const NOBODY: &str = "/runs/placet-doctor";

impl Dendrux {
    pub(super) async fn check_road(&self) -> Result<Vec<Check>, Vec<Check>> {
        // Asks again, because a bridge may have been mounted meanwhile.
        *lock(&self.road) = None;
        let road = self.road().await.map_err(|error| vec![health_check::failed("address", &error)])?;
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
        Ok(checks)
    }

    /// Checks that the owner wrote the routes for decisions. They take only POST, so an existing one answers a GET with
    /// 405.
    pub(super) async fn write_routes(&self) -> Vec<Check> {
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
            checks.push(health_check::asked(what, &reply, |reply| {
                Some(match reply.status {
                    405 => Check::good(what, format!("{path} takes {takes}")),
                    404 if what == "write route" => {
                        Check::bad(what, format!("there is none at {path}"), advice)
                    }
                    404 => Check::warn(what, format!("nothing at {path} takes {takes}"), advice),
                    status => Check::warn(what, format!("{path} answers {status}: nobody can tell"), advice),
                })
            }));
        }
        checks
    }
}
