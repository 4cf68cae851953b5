//! Flows: arrivals and decisions as counted by the gate.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::absent::without_nulls;
use super::fields::Fields;
use super::time;
use crate::domain::{
    Decider, Flow, Flows, Minute, Queue, QueueFlow, Timestamp, ToolDecided, Untrusted, json,
};

/// `GET /api/flows`: flows per minute since `from`, and pending counts, as of one moment of the gate's clock. At most
/// 64 queues; others are summed as `rest`. `truncated`: only the 500 most decided tools, or the newest 20,000 decisions
/// of reviewers, are included.
pub fn write(workspace: &str, flows: &Flows) -> Value {
    let (rest, queues): (Vec<_>, Vec<_>) = flows.queues.iter().partition(|queue| queue.queue == Queue::Rest);
    let tool = |it: &ToolDecided| {
        json!({
            "toolName": it.tool.as_raw(),
            "approved": it.approved,
            "edited": it.edited,
            "rejected": it.rejected,
            "failed": it.failed,
        })
    };
    let deciders = |of: &[Decider], name| of.iter().map(|it| write_decider(it, name)).collect::<Vec<_>>();
    without_nulls(json!({
        "workspaceId": workspace,
        "at": time::write(flows.at),
        "from": time::write(flows.from),
        "queues": queues.into_iter().map(write_queue).collect::<Vec<_>>(),
        "rest": rest.into_iter().map(write_queue).next(),
        "tools": flows.tools.iter().map(tool).collect::<Vec<_>>(),
        "reviewers": deciders(&flows.reviewers, "subject"),
        "groups": deciders(&flows.groups, "group"),
        "truncated": flows.truncated,
    }))
}

/// `name` is the member for the name, absent for reviewers without a group.
fn write_decider(of: &Decider, name: &str) -> Value {
    let mut written = json!({
        "approved": of.approved,
        "edited": of.edited,
        "rejected": of.rejected,
        "medianWaitMs": of.median_wait,
        "lastAt": time::write(of.last),
    });
    if let Some(members) = written.as_object_mut().filter(|_| !of.name.is_empty()) {
        members.insert(name.to_owned(), of.name.as_raw().into());
    }
    written
}

fn write_queue(queue: &QueueFlow) -> Value {
    let (agent, tool) = match &queue.queue {
        Queue::Agent(name) => (Some(name.as_raw()), None),
        Queue::Tool(name) => (None, Some(name.as_raw())),
        Queue::Rest => (None, None),
    };
    let minutes = queue.minutes.iter().map(|(minute, flow)| {
        let at = ("at".to_owned(), Value::from(time::write(minute.start())));
        let counts = named(flow).into_iter().filter(|(_, count)| *count > 0);
        let counts = counts.map(|(name, count)| (name.to_owned(), count.into()));
        std::iter::once(at).chain(counts).collect::<Value>()
    });
    json!({"agent": agent, "tool": tool, "pending": queue.pending, "minutes": minutes.collect::<Vec<_>>()})
}

const fn named(flow: &Flow) -> [(&'static str, u64); 8] {
    [
        ("approved", flow.approved),
        ("arrived", flow.arrived),
        ("edited", flow.edited),
        ("executed", flow.executed),
        ("failed", flow.failed),
        ("left", flow.left),
        ("rejected", flow.rejected),
        ("unknown", flow.unknown),
    ]
}

/// Maximum of a count, so that sums and products do not overflow.
const LARGEST: u64 = 100_000_000;

/// `None` without its period. Skips other parts that cannot be read.
pub fn read(text: &str) -> Option<Flows> {
    let fields = Fields::of(text)?;
    let elements = |name| fields.raw(name).and_then(json::elements).unwrap_or_default();
    let mut queues: Vec<QueueFlow> =
        elements("queues").into_iter().filter_map(Fields::of).filter_map(|it| queue(&it)).collect();
    let beyond = queues.split_off(queues.len().min(Queue::MOST));
    let rest = fields.raw("rest").and_then(Fields::of).map(|it| counted(&it, Queue::Rest));
    let beyond = beyond.into_iter().map(|it| QueueFlow { queue: Queue::Rest, ..it });
    queues.extend(rest.into_iter().chain(beyond).reduce(together));
    Some(Flows {
        at: fields.time("at")?,
        from: fields.time("from")?,
        queues,
        tools: elements("tools").into_iter().filter_map(Fields::of).filter_map(|it| tool(&it)).collect(),
        reviewers: elements("reviewers")
            .into_iter()
            .filter_map(Fields::of)
            .filter_map(|it| decider(&it, it.text("subject")?))
            .collect(),
        groups: elements("groups")
            .into_iter()
            .filter_map(Fields::of)
            .filter_map(|it| decider(&it, it.text("group").unwrap_or_else(|| "".into())))
            .collect(),
        truncated: fields.flag("truncated").unwrap_or_default(),
    })
}

fn queue(fields: &Fields<'_>) -> Option<QueueFlow> {
    let named = |name| fields.text(name).filter(|name: &Untrusted| !name.is_empty());
    let agent = named("agent").map(Queue::Agent);
    Some(counted(fields, agent.or_else(|| fields.text("tool").map(Queue::Tool))?))
}

fn counted(fields: &Fields<'_>, queue: Queue) -> QueueFlow {
    let mut minutes: BTreeMap<Minute, Flow> = BTreeMap::new();
    for minute in fields.raw("minutes").and_then(json::elements).unwrap_or_default() {
        if let Some((at, flow)) = Fields::of(minute).and_then(|it| Some((it.time("at")?, flow(&it)))) {
            minutes.insert(Minute::of(at), flow);
        }
    }
    minutes.retain(|_, flow| !flow.is_nothing());
    QueueFlow { queue, pending: count(fields, "pending"), minutes: minutes.into_iter().collect() }
}

fn together(one: QueueFlow, other: QueueFlow) -> QueueFlow {
    let mut minutes: BTreeMap<Minute, Flow> = one.minutes.into_iter().collect();
    for (minute, flow) in other.minutes {
        let sum = minutes.entry(minute).or_default();
        *sum = sum.plus(&flow);
    }
    let pending = one.pending + other.pending;
    QueueFlow { queue: Queue::Rest, pending, minutes: minutes.into_iter().collect() }
}

fn count(fields: &Fields<'_>, name: &str) -> u64 {
    fields.number(name).unwrap_or_default().min(LARGEST)
}

fn flow(fields: &Fields<'_>) -> Flow {
    Flow::of(|name| Ok::<_, std::convert::Infallible>(count(fields, name))).unwrap_or_default()
}

fn tool(fields: &Fields<'_>) -> Option<ToolDecided> {
    Some(ToolDecided {
        tool: fields.text("toolName")?,
        approved: count(fields, "approved"),
        edited: fields.number("edited").map(|edited| edited.min(LARGEST)),
        rejected: count(fields, "rejected"),
        failed: count(fields, "failed"),
    })
}

fn decider(fields: &Fields<'_>, name: Untrusted) -> Option<Decider> {
    Some(Decider {
        name,
        approved: count(fields, "approved"),
        edited: fields.number("edited").map(|edited| edited.min(LARGEST)),
        rejected: count(fields, "rejected"),
        median_wait: fields.number("medianWaitMs").and_then(|wait| i64::try_from(wait).ok())?,
        last: fields.time("lastAt").unwrap_or(Timestamp::from_millis(0)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told() -> Flows {
        let minute = |number, arrived, edited| {
            (Minute::new(number), Flow { arrived, approved: edited, edited, left: 2, ..Flow::default() })
        };
        let queue =
            |queue, pending| QueueFlow { queue, pending, minutes: vec![minute(7, 3, 0), minute(9, 0, 4)] };
        let group = |name: &str| Decider {
            name: name.into(),
            rejected: 2,
            median_wait: 9,
            last: Timestamp::from_millis(599_999),
            ..Decider::default()
        };
        Flows {
            at: Timestamp::from_millis(600_000),
            from: Timestamp::from_millis(60_000),
            queues: vec![
                queue(Queue::Agent("a\u{202e}\"".into()), 5),
                queue(Queue::Tool("".into()), 0),
                queue(Queue::Rest, 1),
            ],
            tools: vec![ToolDecided {
                tool: "t".into(),
                approved: 3,
                edited: Some(1),
                rejected: 2,
                failed: 1,
            }],
            reviewers: vec![Decider {
                name: "ada".into(),
                approved: 1,
                edited: None,
                rejected: 0,
                median_wait: 14_000,
                last: Timestamp::from_millis(599_999),
            }],
            groups: ["support", ""].map(group).to_vec(),
            truncated: false,
        }
    }

    #[test]
    fn written_flows_are_read_back() {
        let flows = told();
        let text = write("w", &flows).to_string();

        assert_eq!(read(&text), Some(flows), "{text}");
        assert!(text.contains(r#"{"at":"1970-01-01T00:07:00.000Z","arrived":3,"left":2}"#), "{text}");
    }

    #[test]
    fn unreadable_parts_are_skipped() {
        let text = r#"{"at":"1970-01-01T00:10:00Z","from":0,"more":[],"queues":[7,{"pending":3},{"agent":"","tool":"t",
            "pending":"4","minutes":[{"arrived":9},{"at":"1970-01-01T00:01:30Z","arrived":9,"left":-1},null,{"at":60}]}],
            "tools":[{"approved":1},{"tool_name":"t","approved":18446744073709551615}],"reviewers":{"a":1}}"#;
        let flows = read(text).unwrap();

        assert_eq!(flows.queues.len(), 1);
        assert_eq!(flows.queues[0].queue, Queue::Tool("t".into()));
        assert_eq!(flows.queues[0].pending, 4);
        assert!(flows.queues[0].minutes.is_empty(), "the repeated minute is empty");
        assert_eq!((flows.tools[0].approved, flows.tools[0].edited), (LARGEST, None));
        assert!(flows.reviewers.is_empty());
        assert_eq!(read(r#"{"at":"1970-01-01T00:10:00Z"}"#), None);
        assert_eq!(read("[]"), None);
    }

    #[test]
    fn queues_beyond_the_limit_are_summed_as_rest() {
        let minutes = r#""minutes":[{"at":60,"arrived":1}]"#;
        let queues: Vec<String> = (0..Queue::MOST + 3)
            .map(|nth| format!(r#"{{"agent":"a{nth}","pending":2,{minutes}}}"#))
            .collect();
        let text = format!(
            r#"{{"at":1,"from":0,"queues":[{}],"rest":{{"pending":5,{minutes}}}}}"#,
            queues.join(",")
        );

        let flows = read(&text).unwrap();

        assert_eq!(flows.queues.len(), Queue::MOST + 1);
        let rest = flows.queues.last().unwrap();
        let arrived = Flow { arrived: 4, ..Flow::default() };
        let want = QueueFlow { queue: Queue::Rest, pending: 11, minutes: vec![(Minute::new(1), arrived)] };
        assert_eq!(*rest, want);
    }
}
