//! How many keys a job takes: one table, in which words that are typed (a count, a reason) are one key.

use super::desk::{Desk, few};

/// What is done, on which desk, with which keys; and how many those are. `{...}` is typed as one word.
struct Job {
    what: &'static str,
    keys: &'static str,
    count: usize,
}

const SEEN: Job = Job { what: "approve 10 plain actions of one batch, all seen", keys: "Asy", count: 3 };
const FRESH: Job =
    Job { what: "approve 10 plain actions of one batch, fresh", keys: "*as{10}<Enter>", count: 5 };

/// Keys, and words as one.
fn count(keys: &str) -> usize {
    let (mut n, mut rest) = (0, keys);
    while let Some(c) = rest.chars().next() {
        let end = match c {
            '<' => rest.find('>'),
            '{' => rest.find('}'),
            _ => None,
        };
        rest = &rest[end.unwrap_or(0) + 1..];
        n += 1;
    }
    n
}

fn does(desk: &mut Desk, job: &Job) {
    assert_eq!(count(job.keys), job.count, "{}", job.what);
    for (nth, part) in job.keys.replace('}', "{").split('{').enumerate() {
        // A sheet takes no keys in its first moments.
        let in_sheet = part.find(['s', 'S']).map_or(part.len(), |at| at + 1);
        let (before, after) = if nth % 2 == 0 { part.split_at(in_sheet) } else { (part, "") };
        desk.press(before);
        desk.wait(500);
        desk.press(after);
    }
    assert_eq!(
        desk.submitted.last().map(crate::domain::Submission::len),
        Some(10),
        "{}: {}",
        job.what,
        desk.screen()
    );
}

#[test]
fn ten_plain_approvals_that_were_seen_take_three_keys() {
    let mut desk = Desk::new(100, 30, few(10));
    desk.press("jjjjjjjjj");
    does(&mut desk, &SEEN);
}

#[test]
fn ten_fresh_ones_take_five_and_the_count_is_one_of_them() {
    let mut desk = Desk::new(100, 30, few(10));
    does(&mut desk, &FRESH);
}
