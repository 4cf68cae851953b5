//! Looks up the names of runs, which steps do not carry. A missing name does no harm.

use std::collections::HashSet;

use super::client::Warden;
use super::names::DEFINITIONS;
use super::wire::{self, PAGE, PAGE_WORD};
use crate::contract::fields::Fields;
use crate::domain::Untrusted;
use crate::net::url;

/// Number of unknown runs above which the list of runs in flight is read.
const ONE_BY_ONE: usize = 4;
const PAGES_MAX: usize = 20;

impl Warden {
    /// Learns the names of these runs. Stops at the first request that fails, so that names do not delay a list.
    pub(super) async fn learn_names(&self, traces: &HashSet<&str>) {
        let mut unknown = self.names.unknown_runs(traces);
        if unknown.len() > ONE_BY_ONE && self.learn_from_list(&mut unknown).await.is_none() {
            return;
        }
        for trace in unknown.into_iter().take(DEFINITIONS) {
            let path = format!("/v1/sagas{}", url::query(&[("trace_id", trace)]));
            let Some(runs) = self.runs(path).await else { return };
            let run = runs.into_iter().find(|(id, _)| id == trace);
            self.names.run(trace, run.and_then(|(_, definition)| definition));
        }
        for id in self.names.unknown_definitions() {
            let Some(segment) = url::segment(&id) else { continue };
            let Ok(reply) = self.ask(format!("/v1/definitions/sagas/{segment}")).await else { return };
            let name = Fields::of(&reply.text).filter(|_| reply.status == 200).and_then(|fields| {
                let name = fields.text("name")?;
                Some(match fields.text("version") {
                    Some(version) => Untrusted::from(format!("{}@{}", name.as_raw(), version.as_raw())),
                    None => name,
                })
            });
            if reply.status >= 500 {
                return;
            }
            self.names.definition(id, name);
        }
    }

    /// Returns `None` if the engine does not answer.
    async fn learn_from_list(&self, unknown: &mut HashSet<&str>) -> Option<()> {
        for nth in 0..PAGES_MAX {
            let offset = (nth * PAGE).to_string();
            let query = [("in_flight", "true"), ("limit", PAGE_WORD), ("offset", &*offset)];
            let runs = self.runs(format!("/v1/sagas{}", url::query(&query))).await?;
            let short = runs.len() < PAGE;
            for (trace, definition) in runs {
                if unknown.remove(trace.as_str()) {
                    self.names.run(&trace, definition);
                }
            }
            if short || unknown.is_empty() {
                break;
            }
        }
        Some(())
    }

    /// Returns runs with the ids of their definitions; `None` if the engine does not answer.
    async fn runs(&self, path: String) -> Option<Vec<(String, Option<String>)>> {
        let reply = self.ask(path).await.ok().filter(|reply| reply.status == 200)?;
        let page = wire::page(&reply.text, PAGE)?;
        let run = |text: &String| {
            let fields = Fields::of(text)?;
            let text = |name| fields.text(name).map(|text| text.as_raw().to_owned());
            Some((text("traceId")?, text("definitionId")))
        };
        Some(page.items.iter().filter_map(run).collect())
    }
}
