//! Health checks of a site: its address, abilities, host and user.

use super::client::{AgentsApi, NOT_OURS, READ_LIMIT};
use super::site;
use crate::contract::fields::Fields;
use crate::contract::pointer;
use crate::domain::{Check, Untrusted, Verdict};
use crate::net::http::Reply;
use crate::sources::{SourceError, Synced, answer, health_check};

impl AgentsApi {
    /// Stops at the first failure, because each check needs those before it.
    pub(super) async fn check_site(&self) -> Result<Vec<Check>, Vec<Check>> {
        let pairs = [("_fields", "name,authentication,namespaces")];
        let index = self.site.read("/", &pairs, READ_LIMIT).await;
        let index = index.map_err(|error| vec![health_check::failed("address", &error)])?;
        let mut checks = vec![address(&index).map_err(|check| vec![check])?];
        let summary = self.site.run(site::SUMMARY, "{}", READ_LIMIT).await;
        let abilities = abilities(&index, summary);
        let works = abilities.verdict == Verdict::Good;
        checks.push(abilities);
        if !works {
            return Err(checks);
        }
        checks.push(self.whoami().await);
        Ok(checks)
    }

    async fn whoami(&self) -> Check {
        match self.ask_resolver().await {
            Ok(who) => {
                Check::good("user", "decisions are sent under the name that the site gave").said(Some(who))
            }
            Err(error) => Check::bad(
                "user",
                format!("it does not say who this user is, so nothing can be decided: it {error}"),
                "let the user read /wp/v2/users/me (security plugins close it)",
            )
            .said(error.why().cloned()),
        }
    }
}

pub(super) fn creators(listed: &Result<Synced, SourceError>) -> Option<Check> {
    let Ok(Synced::All { rows, .. } | Synced::Changes { rows, .. }) = listed else { return None };
    let pending = rows.len();
    let foreign = rows.iter().filter(|row| row.can.notes.iter().any(|note| *note == NOT_OURS)).count();
    (foreign > 0).then(|| {
        Check::warn(
            "creators",
            format!("other users created {foreign} of {pending} pending; on Data Machine only the creator can decide"),
            "decide them as their creators, or let the site allow this user with the filter \
             datamachine_pending_action_current_scope",
        )
    })
}

fn address(index: &Reply) -> Result<Check, Check> {
    const WHAT: &str = "address";
    if !site::is_rest(index) {
        let found = format!("{} (HTTP {})", site::NO_REST, index.status);
        return Err(Check::bad(
            WHAT,
            found,
            "check `url`: it is the site's address, as a visitor has it (not /wp-admin)",
        ));
    }
    let name = Fields::of(&index.text).and_then(|fields| fields.text("name"));
    match index.status {
        200..=299 => Ok(Check::good(WHAT, "WordPress answers").said(name)),
        // The index is closed to strangers. The abilities check says more.
        _ => Ok(Check::warn(WHAT, "WordPress answers, and does not show its index", "")),
    }
}

fn abilities(index: &Reply, summary: Result<Reply, SourceError>) -> Check {
    const WHAT: &str = "abilities";
    let reply = match summary {
        Err(error) => return health_check::failed(WHAT, &error),
        Ok(reply) => reply,
    };
    let said = Some(answer::message(&reply));
    let bad = |found: &str, advice: &str| Check::bad(WHAT, found, advice).said(said.clone());
    match (reply.status, site::code(&reply).as_ref().map_or("", Untrusted::as_raw)) {
        (200..=299, _) => Check::good(WHAT, "they are there, a host answers, and this user may use them"),
        (401, _) if !has_passwords(index) => bad(
            "it offers no application passwords: it is not served over https, or a plugin switched them off",
            "serve the site over https, or switch application passwords on; then make one under Users, Profile",
        ),
        (401, _) => bad(
            "nobody is logged in: the user or the application password is missing or wrong, or something on the way takes the \
             Authorization header off (WordPress answers the same to all three)",
            "check `user` and the password (its blanks may stay), and that the web server passes Authorization on",
        ),
        (403, _) => bad(site::NO_RIGHTS, "give the user that right, or use the password of one who has it"),
        (404, "rest_ability_not_found") => {
            bad(site::TOO_OLD, "install agents-api 0.7 or newer, and activate it")
        }
        (404, "rest_no_route") => bad(site::NO_ABILITIES, "update WordPress"),
        (500, "agents_pending_action_no_store" | "agents_pending_action_no_resolver") => {
            bad(site::NO_HOST, "activate the plugin that gates writes here; agents-api alone keeps nothing")
        }
        _ => health_check::failed(WHAT, &site::refusal(&reply)),
    }
}

/// Returns true for a hidden index, which does not prove that they are missing.
fn has_passwords(index: &Reply) -> bool {
    let shown = pointer::find(&index.text, "/authentication").is_some();
    !shown || pointer::find(&index.text, "/authentication/application-passwords").is_some()
}
