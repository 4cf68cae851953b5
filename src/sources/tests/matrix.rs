//! Source × scenario as one table without an empty cell.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::stream::{self, StreamExt as _};

use crate::config::SourceKind;

use super::scenarios::{SCENARIOS, Scenario};
use super::{Place, worlds};

/// Number of parallel scenarios; each has its own servers.
const AT_ONCE: usize = 6;
/// Scenarios that mostly wait for late answers or retry delays; more of them run in parallel.
const WAITING: [&str; 4] =
    ["429", "timeout after the deed", "timeout before the deed", "no answer to anything"];
const WAITING_AT_ONCE: usize = 28;
const WIDTH: usize = 44;

/// Runs a scenario in a new world. A panic becomes its cell and fails the test at the end.
async fn cell(place: Place, scenario: Scenario) -> Result<String, String> {
    let played = tokio::spawn(async move {
        let world = (place.make)().await;
        assert!(place.name.starts_with(world.kind()), "{} is of kind {}", place.name, world.kind());
        (scenario.play)(world.as_ref()).await
    });
    match played.await {
        Ok(cell) if !cell.is_empty() => Ok(cell),
        Ok(_) => Err("the cell is empty".to_owned()),
        Err(error) => {
            let said = error.try_into_panic().ok();
            let text = said.as_ref().and_then(|said| said.downcast_ref::<String>().cloned());
            let text = text.or_else(|| said.as_ref()?.downcast_ref::<&str>().map(|it| (*it).to_owned()));
            Err(text.unwrap_or_else(|| "it ended without a message".to_owned()))
        }
    }
}

/// `PLACET_WORLD=praxiom` selects the worlds whose name starts with it.
fn wanted(place: &Place) -> bool {
    std::env::var("PLACET_WORLD").map_or(true, |wanted| place.name.starts_with(&wanted))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_scenario_ends_as_it_should_at_every_source() {
    let places: Vec<Place> = worlds().into_iter().filter(wanted).collect();
    let jobs = SCENARIOS.iter().flat_map(|&scenario| places.iter().map(move |&place| (place, scenario)));
    let (waiting, busy): (Vec<_>, Vec<_>) = jobs.partition(|(_, scenario)| WAITING.contains(&scenario.name));
    let play = async |jobs: Vec<(Place, Scenario)>, at_once: usize| {
        let cells = stream::iter(jobs).map(|(place, scenario)| async move {
            ((scenario.name, place.name), cell(place, scenario).await)
        });
        cells.buffer_unordered(at_once).collect::<Vec<_>>().await
    };
    let (waited, played) = tokio::join!(play(waiting, WAITING_AT_ONCE), play(busy, AT_ONCE));
    let cells: BTreeMap<(&str, &str), Result<String, String>> = waited.into_iter().chain(played).collect();

    let mut failed = Vec::new();
    println!("{}", row("scenario", places.iter().map(|place| place.name.to_owned())));
    for scenario in SCENARIOS {
        let told = places.iter().map(|place| match &cells[&(scenario.name, place.name)] {
            Ok(cell) => cell.clone(),
            Err(why) => {
                failed.push(format!("{} × {}: {why}", place.name, scenario.name));
                "FAILED".to_owned()
            }
        });
        println!("{}", row(scenario.name, told));
    }
    assert!(failed.is_empty(), "\n{}\n", failed.join("\n"));
}

fn row(name: &str, cells: impl Iterator<Item = String>) -> String {
    let fit = |cell: String| format!("{:WIDTH$}", cell.chars().take(WIDTH).collect::<String>());
    let cells: Vec<_> = cells.map(fit).collect();
    format!("{name:34} | {}", cells.join(" | ")).trim_end().to_owned()
}

#[test]
fn every_kind_of_source_has_a_world() {
    let kinds: BTreeSet<&str> =
        worlds().iter().filter_map(|place| place.name.split([',', ' ']).next()).collect();

    let words = SourceKind::words();
    assert_eq!(kinds, words.iter().map(String::as_str).collect());
}
