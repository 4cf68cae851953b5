//! Scenarios between a reviewer and a backend. Each checks the backend's records and returns its result in a few words.

use futures_util::future::BoxFuture;

use super::World;

mod deciding;
mod elsewhere;
mod listing;
mod lost;
mod refused;

#[derive(Clone, Copy)]
pub(super) struct Scenario {
    pub(super) name: &'static str,
    pub(super) play: fn(&dyn World) -> BoxFuture<'_, String>,
}

macro_rules! scenarios {
    ($($name:literal => $play:path,)*) => {
        pub(super) const SCENARIOS: &[Scenario] =
            &[$(Scenario { name: $name, play: |world| Box::pin($play(world)) },)*];
    };
}

scenarios! {
    "list, look and doctor" => listing::listed,
    "malformed row among good ones" => listing::malformed,
    "unknown fields and statuses" => listing::unknown_words,
    "1,000 actions" => listing::a_thousand,
    "approve" => deciding::approved,
    "approve with edits" => deciding::edited,
    "approve with a comment" => deciding::commented,
    "reject" => deciding::rejected,
    "reject with a reason" => deciding::reasoned,
    "retry with guidance" => deciding::retried,
    "the same submission again" => deciding::again,
    "race with a second reviewer" => elsewhere::race,
    "already settled" => elsewhere::settled,
    "gone" => elsewhere::gone,
    "expired" => elsewhere::expired,
    "content changed since seen" => elsewhere::changed,
    "401" => refused::unauthorized,
    "403" => refused::forbidden,
    "404" => refused::not_found,
    "409" => refused::conflict,
    "422" => refused::invalid,
    "429" => refused::too_many,
    "500" => refused::broken,
    "timeout after the deed" => lost::after,
    "timeout before the deed" => lost::before,
    "no answer to anything" => lost::silence,
}
