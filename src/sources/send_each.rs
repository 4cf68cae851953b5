//! Sends decisions, and stops after an error that the rest would meet too.

use futures_util::future::join_all;

use super::{Outcomes, SourceError, answer};
use crate::domain::{Item, Outcome};

/// Sends each decision by itself, `at_a_time` concurrently; see [`send_parts`].
pub(super) async fn send_each<'a, F>(
    items: &'a [Item],
    at_a_time: usize,
    send: impl Fn(&'a Item) -> F,
) -> Result<Outcomes, SourceError>
where
    F: Future<Output = Result<Outcome, SourceError>>,
{
    let items: Vec<&Item> = items.iter().collect();
    let send = |item: &&'a Item| {
        let (item, outcome) = (*item, send(item));
        async move { Ok(same(&[item], &outcome.await?)) }
    };
    send_parts(&items, at_a_time, |item| vec![*item], send).await
}

/// Sends all parts, `at_a_time` concurrently. After an error that the next part would meet too, the rest is not sent.
/// Returns the error of a single part, and one that kept the first parts from landing and would keep the rest.
pub(super) async fn send_parts<'a, P, F>(
    parts: &'a [P],
    at_a_time: usize,
    items: impl Fn(&'a P) -> Vec<&'a Item>,
    send: impl Fn(&'a P) -> F,
) -> Result<Outcomes, SourceError>
where
    F: Future<Output = Result<Outcomes, SourceError>>,
{
    let (mut outcomes, mut stopped) = (Outcomes::new(), None::<SourceError>);
    for some in parts.chunks(at_a_time) {
        if let Some(error) = &stopped {
            let why = format!("not sent, because the source {error}").into();
            let not_sent = Outcome::Failed { why };
            outcomes.extend(some.iter().flat_map(|part| same(&items(part), &not_sent)));
            continue;
        }
        let answers = join_all(some.iter().map(&send)).await;
        // A `Forbidden` may concern one decision only.
        let keeps_all = |error: &SourceError| {
            error.stops_the_rest() && !error.lost_sight() && !matches!(error, SourceError::Forbidden { .. })
        };
        let none_landed = answers.iter().all(|answer| answer.as_ref().is_err_and(keeps_all));
        if outcomes.is_empty() && none_landed {
            return answers.into_iter().next().unwrap_or(Ok(outcomes));
        }
        for (part, answer) in some.iter().zip(answers) {
            match answer {
                Ok(told) => outcomes.extend(told),
                Err(error) if parts.len() == 1 => return Err(error),
                Err(error) => {
                    outcomes.extend(same(&items(part), &answer::outcome(&error)));
                    stopped = Some(error).filter(SourceError::stops_the_rest).or(stopped);
                }
            }
        }
    }
    Ok(outcomes)
}

pub(super) fn same(items: &[&Item], outcome: &Outcome) -> Outcomes {
    items.iter().map(|item| (item.id.clone(), outcome.clone())).collect()
}
