//! The handover of a shift, to read or to act on by the ids.

use jiff::tz::TimeZone;
use serde_json::{Value, json};

use crate::cli::columns::ShortIds;
use crate::cli::output::{self, formatted, problem};
use crate::contract::absent::without_nulls;
use crate::contract::time;
use crate::domain::Untrusted;
use crate::inbox::{HandedOver, Left, WhyLeft};
use crate::text;

/// Maximum number of actions of a kind to name.
const NAMED: usize = 10;
const TITLE: usize = 60;

/// Returns a line per action, grouped under their reasons.
pub(super) fn lines(all: &HandedOver, zone: &TimeZone) -> Vec<String> {
    let of = |kind: fn(&WhyLeft) -> bool| all.left.iter().filter(|left| kind(&left.why)).collect::<Vec<_>>();
    let kinds = [
        ("claimed", of(|why| matches!(why, WhyLeft::Claimed { .. }))),
        ("snoozed here", of(|why| matches!(why, WhyLeft::Snoozed { .. }))),
        ("approved, and waiting for more people", of(|why| matches!(why, WhyLeft::Approved { .. }))),
    ];
    let ids = ShortIds::of(all.left.iter().map(|left| left.key.id.untrusted()));
    let mut lines = vec![String::new(), format!("handed over at {}", formatted(all.at, zone, "%H:%M"))];
    if all.left.is_empty() {
        lines.push("nothing is claimed, snoozed or waiting for one more approval".to_owned());
    }
    for (kind, left) in kinds.iter().filter(|(_, left)| !left.is_empty()) {
        lines.push(format!("{kind}: {}", left.len()));
        lines.extend(left.iter().take(NAMED).map(|left| line(left, &ids, zone)));
        let more = left.len().saturating_sub(NAMED);
        lines.extend((more > 0).then(|| format!("  and {more} more")));
    }
    lines.extend(all.problems.iter().map(|why| format!("! not known: {}", problem(why))));
    lines
}

fn line(left: &Left, ids: &ShortIds, zone: &TimeZone) -> String {
    let id = ids.short(left.key.id.untrusted()).plain();
    let title = left.title.as_ref();
    let title = title.map_or_else(|| "title not known".to_owned(), |it| text::line(it).cut(TITLE).plain());
    let why = match &left.why {
        WhyLeft::Claimed { by, since } => {
            format!("{} since {}", output::name(by), formatted(*since, zone, "%H:%M"))
        }
        WhyLeft::Snoozed { until } => format!("until {}", formatted(*until, zone, "%Y-%m-%d %H:%M")),
        WhyLeft::Approved { by, needed } => {
            let names: Vec<_> = by.iter().map(output::name).collect();
            format!("by {}; {}", names.join(", "), text::partly_approved(by.len() as u64, *needed))
        }
    };
    format!("  {id}  {title}  ({why})")
}

pub(super) fn json(all: &HandedOver) -> Value {
    let (mut claimed, mut snoozed, mut approvals) = (Vec::new(), Vec::new(), Vec::new());
    for left in &all.left {
        let (source, id) = (left.key.source.as_str(), left.key.id.as_raw());
        let title = left.title.as_ref().map(Untrusted::as_raw);
        match &left.why {
            WhyLeft::Claimed { by, since } => claimed.push(json!({
                "source": source, "id": id, "title": title, "claimedBy": by.as_raw(), "claimedAt": time::write(*since),
            })),
            WhyLeft::Snoozed { until } => {
                let until = time::write(*until);
                snoozed.push(without_nulls(json!({"source": source, "id": id, "title": title, "until": until})));
            }
            WhyLeft::Approved { by, needed } => {
                let by: Vec<&str> = by.iter().map(Untrusted::as_raw).collect();
                approvals.push(json!({
                    "source": source, "id": id, "title": title, "given": by.len(), "needed": needed, "by": by,
                }));
            }
        }
    }
    json!({
        "at": time::write(all.at),
        "claimed": claimed,
        "snoozed": snoozed,
        "approvals": approvals,
        "problems": all.problems.iter().map(problem).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{ActionId, ActionKey, SourceName, Timestamp};
    use crate::inbox::Problem;

    /// 2026-11-20T14:00Z.
    const NOW: Timestamp = Timestamp::from_millis(1_795_183_200_000);

    fn left(id: &str, title: Option<&str>, why: WhyLeft) -> Left {
        let key = ActionKey { source: SourceName::new("gate"), id: ActionId::new(id) };
        Left { key, title: title.map(Untrusted::from), why }
    }

    fn all() -> HandedOver {
        let since = NOW.plus_millis(-120_000);
        let by = vec!["kim".into(), "l\u{202e}ee".into()];
        HandedOver {
            at: NOW,
            left: vec![
                left("a1", Some("Refund\u{1b}[2J 42"), WhyLeft::Claimed { by: "kim".into(), since }),
                left("b2", None, WhyLeft::Snoozed { until: NOW.plus_millis(19 * 3_600_000) }),
                left("c3", Some("Pay"), WhyLeft::Approved { by, needed: 3 }),
            ],
            problems: vec![Problem::silent(&SourceName::new("away"), std::time::Duration::from_secs(5))],
        }
    }

    #[test]
    fn handover_lists_id_title_and_reason() {
        assert_eq!(
            lines(&all(), &TimeZone::UTC).join("\n"),
            "
handed over at 14:00
claimed: 1
  a1  Refund⟦ESC⟧[2J 42  (kim since 13:58)
snoozed here: 1
  b2  title not known  (until 2026-11-21 09:00)
approved, and waiting for more people: 1
  c3  Pay  (by kim, l⟦U+202E⟧ee; 2 of 3: 1 more person must approve)
! not known: away did not answer within 5 s and is left out"
        );
        let nothing = HandedOver { at: NOW, ..HandedOver::default() };
        assert_eq!(lines(&nothing, &TimeZone::UTC).len(), 3);
    }

    #[test]
    fn programs_get_it_by_kind() {
        let told = json(&all());

        let id = |kind: &str| told[kind][0]["id"].clone();
        assert_eq!([id("claimed"), id("snoozed"), id("approvals")], ["a1", "b2", "c3"].map(Value::from));
        assert_eq!(told["snoozed"][0].get("title"), None);
        assert_eq!((&told["approvals"][0]["given"], &told["approvals"][0]["needed"]), (&json!(2), &json!(3)));
        assert_eq!(told["claimed"][0]["claimedAt"], "2026-11-20T13:58:00.000Z");
    }
}
