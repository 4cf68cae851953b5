//! G16: gates and reviewers killed at every named point and at random ones. Acknowledged data is kept, only approved
//! actions run, all of them are finished, and none that must not run twice is started twice.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use placet::for_tests::{Fields, GATE, INBOX};

use super::support::agent::{self, try_request};
use super::support::chance::Chance;
use super::support::eventually;
use super::support::gate::{Address, Gate};
use super::support::home::{Home, WAITS_FOR_GO};

const TOOLS: &str = r#"
[gate]
listen = "127.0.0.1:0"
[gate.tools.safe]
executor = "command"
argv = ["sh", "-c", "echo \"$PLACET_ACTION_ID\" >> \"$OUT/safe\""]
env = { OUT = "@OUT@" }
retry = "safe"
timeout_seconds = 1
[gate.tools.manual]
executor = "command"
argv = ["sh", "-c", "echo \"$PLACET_ACTION_ID\" >> \"$OUT/manual\""]
env = { OUT = "@OUT@" }
retry = "manual"
timeout_seconds = 1
"#;

/// Rounds in parallel, because a round mostly waits for a lease to end.
const AT_ONCE: usize = 8;

#[derive(Default)]
struct Acknowledged {
    proposed: BTreeSet<String>,
    approved: BTreeSet<String>,
    rejected: BTreeSet<String>,
}

#[test]
fn g16_killed_gate_loses_nothing_and_runs_only_approved_actions() {
    let long = std::env::var_os("PLACET_LONG").is_some();
    let seed: u64 = std::env::var("PLACET_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(2_026);
    println!("PLACET_SEED={seed}");
    let each = if long { 20 } else { 1 };
    let mut points: Vec<String> =
        GATE.iter().flat_map(|name| (1..=each).map(move |nth| format!("{name}:{nth}"))).collect();
    let mut state = seed;
    let random = (0..if long { 500 } else { 12 }).map(|_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("any:{}", 1 + (state >> 33) % 160)
    });
    points.extend(random);
    let points = Mutex::new(points);
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(point) = { points.lock().unwrap().pop() } {
                    round(&point);
                }
            });
        }
    });
}

fn round(point: &str) {
    let home = Home::with_config(TOOLS);
    let (mut child, address) = Gate::serve_until(&home, point);
    let mut said = Acknowledged::default();
    if let Some(address) = &address {
        work(address, &mut said);
    }
    if point.ends_with(":1") && !point.starts_with("any") {
        eventually(&format!("{point} is passed"), || child.try_wait().unwrap());
    }
    // The gate may never reach a point that often, so it is killed in any case.
    drop(child.kill());
    child.wait().unwrap();

    let gate = Gate::serve(&home, &[]);
    for id in &said.approved {
        eventually(&format!("{point}: {id} ends"), || {
            let status = agent::status(&gate.address, id);
            ["executed", "failed", "unknown"].contains(&status.as_str()).then_some(())
        });
    }
    for id in &said.rejected {
        assert_eq!(agent::status(&gate.address, id), "rejected", "{point}");
    }
    for id in &said.proposed {
        assert_eq!(agent::get(&gate.address, id).status, 200, "{point}: {id} is lost");
    }
    check(&home, point);
}

fn work(address: &Address, said: &mut Acknowledged) {
    for n in 0..10 {
        let tool = if n % 2 == 0 { "safe" } else { "manual" };
        let body = format!(r#"{{"toolName":"{tool}","toolInput":{{"n":{n}}},"workspaceId":"default"}}"#);
        let proposed = try_request(address, &address.agent_token, "POST", "/api/pending-actions", &body);
        let Some(proposed) = proposed.filter(|reply| reply.status == 202) else { return };
        let id = Fields::of(&proposed.body).unwrap().text("pending_action_id").unwrap().as_raw().to_owned();
        said.proposed.insert(id.clone());
        let verb = if n % 5 == 4 { "reject" } else { "approve" };
        let path = format!("/api/pending-actions/{id}/{verb}");
        let decided = try_request(address, &address.owner_token, "POST", &path, "");
        if decided.is_none_or(|reply| reply.status != 200) {
            return;
        }
        if verb == "approve" {
            said.approved.insert(id)
        } else {
            said.rejected.insert(id)
        };
    }
    for id in &said.approved {
        let path = format!("/api/pending-actions/{id}?wait=1s&until=final");
        if try_request(address, &address.owner_token, "GET", &path, "").is_none() {
            return;
        }
    }
}

/// Compares runs with the audit's approvals, and verifies the audit.
fn check(home: &Home, point: &str) {
    let export = home.run(&["gate", "audit", "export"]);
    let mut approved: BTreeMap<String, u32> = BTreeMap::new();
    for line in String::from_utf8(export.stdout).unwrap().lines() {
        let fields = Fields::of(line).unwrap();
        if fields.text("event").unwrap().as_raw() == "approved" {
            *approved.entry(fields.text("pendingActionId").unwrap().as_raw().to_owned()).or_default() += 1;
        }
    }
    assert!(approved.values().all(|&times| times == 1), "{point}: an action was decided twice");
    for tool in ["safe", "manual"] {
        let ran = std::fs::read_to_string(home.out().join(tool)).unwrap_or_default();
        let mut times: BTreeMap<&str, u32> = BTreeMap::new();
        for id in ran.lines() {
            assert!(approved.contains_key(id), "{point}: {id} ran without an approval");
            *times.entry(id).or_default() += 1;
        }
        assert!(tool == "safe" || times.values().all(|&n| n == 1), "{point}: started twice: {times:?}");
    }
    let verified = home.run(&["gate", "audit", "verify"]);
    assert!(verified.status.success(), "{point}: {}", String::from_utf8_lossy(&verified.stdout));
}

#[test]
fn command_gets_its_whole_input_from_a_killed_gate() {
    let home = Home::with_config(WAITS_FOR_GO);
    let gate = Gate::serve(&home, &[]);
    let input = format!(r#"{{"text":"{}"}}"#, "x".repeat(1_000_000));
    let body = format!(r#"{{"toolName":"wait","workspaceId":"default","toolInput":{input}}}"#);
    let id = agent::propose(&gate.address, &body);
    agent::approve(&gate.address, &id);
    eventually("the command runs", || home.out().join("begun").exists().then_some(()));

    gate.kill_9();
    std::fs::write(home.out().join("go"), "").unwrap();

    let got = eventually("the command has read", || std::fs::read_to_string(home.out().join("got")).ok());
    assert_eq!((got.len(), got == input), (input.len(), true));
}

/// `slow` takes the given seconds and may run again; `hangs` never ends. Each run records its start, and whether an
/// earlier run of the same action is still alive.
const LONG_RUNS: &str = r#"
[gate]
listen = "127.0.0.1:0"
[gate.tools.slow]
executor = "command"
argv = ["sh", "@OUT@/run", "slow"]
env = { OUT = "@OUT@" }
retry = "safe"
timeout_seconds = 5
[gate.tools.hangs]
executor = "command"
argv = ["sh", "@OUT@/run", "hangs"]
env = { OUT = "@OUT@" }
timeout_seconds = 1
"#;
const RUN: &str = r#"
id=$PLACET_ACTION_ID
if kill -0 "$(cat "$OUT/$id.pid" 2>/dev/null)" 2>/dev/null; then echo "$id" >> "$OUT/twice"; fi
echo $$ > "$OUT/$id.pid"
echo "$id" >> "$OUT/begun"
[ "$1" = hangs ] && exec sleep 600
sleep "$(tr -dc 0-9.)"
echo "$id"
"#;

#[test]
fn runs_of_a_killed_gate_neither_overlap_nor_exceed_limits() {
    let seed = std::env::var("PLACET_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(2_026);
    println!("PLACET_SEED={seed}");
    let mut chance = Chance::new(seed);
    let rounds = if std::env::var_os("PLACET_LONG").is_some() { 100 } else { 5 };
    let home = Home::with_config(LONG_RUNS);
    std::fs::write(home.out().join("run"), RUN).unwrap();
    let lines = |name: &str| std::fs::read_to_string(home.out().join(name)).unwrap_or_default();
    let is_alive = |id: &str| {
        let pid = lines(&format!("{id}.pid"));
        let signal = Command::new("kill").args(["-0", pid.trim()]).stderr(Stdio::null()).status();
        !pid.is_empty() && signal.unwrap().success()
    };
    let (mut slow, mut hanging) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let gate = Gate::serve(&home, &[]);
        let begun = lines("begun").lines().count();
        for n in 0..4 {
            let (tool, ids) = if n == 3 { ("hangs", &mut hanging) } else { ("slow", &mut slow) };
            let seconds = format!("0.{}", 1 + chance.below(9));
            let body =
                format!(r#"{{"toolName":"{tool}","workspaceId":"default","toolInput":{{"s":{seconds}}}}}"#);
            let id = agent::propose(&gate.address, &body);
            agent::approve(&gate.address, &id);
            ids.push(id);
        }
        let more = usize::try_from(chance.below(4)).unwrap();
        eventually("some runs begin", || (lines("begun").lines().count() >= begun + more).then_some(()));
        gate.kill_9();
    }

    let last = hanging.last().unwrap();
    eventually("the last one ends without any gate", || (!is_alive(last)).then_some(()));
    let gate = Gate::serve(&home, &[]);
    for (ids, end) in [(&slow, "executed"), (&hanging, "unknown")] {
        for id in ids {
            eventually(&format!("{id} is {end}"), || (agent::status(&gate.address, id) == end).then_some(()));
            assert!(!is_alive(id), "{id} still runs");
        }
    }
    let begun = lines("begun");
    for id in slow.iter().chain(&hanging) {
        assert!(
            begun.lines().filter(|line| line == id).count() <= 1,
            "{id} ran again: its end was not recorded"
        );
    }
    assert_eq!(lines("twice"), "", "overlapping runs");
}

#[test]
fn g16_killed_reviewer_decides_once_and_learns_the_outcome() {
    for point in INBOX {
        let gate_home = Home::with_config(TOOLS);
        let gate = Gate::serve(&gate_home, &[]);
        let token = gate_home.state().join("owner.token");
        let home = Home::with_config(&format!(
            "[[source]]\nname = \"team\"\nkind = \"gate\"\nurl = \"{}\"\ntoken_file = \"{}\"\n",
            gate.address.url,
            token.display()
        ));
        let propose = |n: u32| {
            let body = format!(r#"{{"toolName":"safe","toolInput":{{"n":{n}}},"workspaceId":"default"}}"#);
            agent::propose(&gate.address, &body)
        };
        let ids = [propose(1), propose(2)];
        let decide = |kill: Option<&str>| {
            let mut command = home.command(&["decide", "--approve", &ids[0], "--reject", &ids[1], "--json"]);
            command.envs(kill.map(|point| ("PLACET_KILL_AT", point)));
            command.stdin(Stdio::null()).output().unwrap()
        };

        // `reconcile.middle` needs an unfinished submission.
        if point == "reconcile.middle" {
            assert!(decide(Some("submit.answered")).status.code().is_none());
        }
        assert!(decide(Some(point)).status.code().is_none(), "{point} was not passed");
        let after = decide(None);

        let said = String::from_utf8_lossy(&after.stdout).into_owned();
        // Killed before sending: this run sends the decisions. Killed later: this run finds them decided.
        let expected = if ["submit.before", "submit.kept"].contains(&point) { 0 } else { 3 };
        assert_eq!(after.status.code(), Some(expected), "{point}: {said}");
        let told = String::from_utf8_lossy(&after.stderr).contains("earlier decisions, read again");
        assert_eq!(told, point != "submit.before", "{point}");
        eventually(&format!("{point}: it runs"), || {
            (agent::status(&gate.address, &ids[0]) == "executed").then_some(())
        });
        assert_eq!(agent::status(&gate.address, &ids[1]), "rejected");
        check(&gate_home, point);
    }
}
