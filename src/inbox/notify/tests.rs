use std::collections::HashSet;
use std::path::Path;
use std::sync::Mutex;

use axum::Router;
use axum::http::HeaderMap;
use axum::response::Redirect;
use axum::routing::post;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use hmac::{Hmac, Mac as _};
use sha2::Sha256;
use tokio::sync::mpsc;

use super::hook::Hook;
use super::*;
use crate::clock;
use crate::config::paths::Paths;
use crate::config::{NotifyOn, TokenFrom, Webhook, WebhookForm};
use crate::contract::time;
use crate::domain::{ActionId, ActionKey, AlertKind, Queue, SourceName, Status, Timestamp, Untrusted};
use crate::inbox::Connection;
use crate::inbox::figures::{
    About, Alert, Happening, HappeningKind, QueueLine, SourceBoard, Standing, ToolLine,
};
use crate::inbox::notices::CurrentEvent;
use crate::net::testing::{nobody, serve};

const LIMIT: Duration = Duration::from_mins(1);
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
/// 2026-11-20T12:00Z.
const NOON: i64 = 1_795_176_000_000;

fn notice(rule: usize) -> Notice {
    let told = CurrentEvent {
        on: NotifyOn::Alert(AlertKind::Failed),
        source: Some(SourceName::new("sagas")),
        in_queue: false,
        count: 3,
        words: "3 failed after approval".to_owned(),
    };
    Notice { rule, at: Timestamp::from_millis(NOON), told: vec![told], pending: 141, high: 4, oldest: None }
}

fn kept_in(folder: &Path) -> Undelivered {
    Undelivered::beside(&folder.join("journal.db"))
}

fn kept() -> Undelivered {
    kept_in(Path::new("/no-such-folder"))
}

fn secret(folder: &Path, text: &str) -> TokenFrom {
    use std::os::unix::fs::PermissionsExt as _;
    let file = folder.join("secret");
    std::fs::write(&file, text).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    TokenFrom::File(file)
}

type Got = Arc<Mutex<Vec<(HeaderMap, String)>>>;

/// Starts a receiver that answers with `statuses` in turn and repeats the last one.
async fn receiver(statuses: &'static [u16]) -> (String, Got) {
    let got = Got::default();
    let kept = Arc::clone(&got);
    let answer = move |headers: HeaderMap, body: String| {
        let mut kept = kept.lock().unwrap();
        kept.push((headers, body));
        let status = statuses[(kept.len() - 1).min(statuses.len() - 1)];
        std::future::ready(http::StatusCode::from_u16(status).unwrap())
    };
    let app = Router::new()
        .route("/hook", post(answer))
        .route("/away", post(|| async { Redirect::temporary("/hook") }));
    (serve(app).await, got)
}

fn hook(url: &str, secret: TokenFrom) -> Hook {
    let form = WebhookForm::Signed { url: url.to_owned(), secret };
    Hook::new(&Webhook { form, private: true }).unwrap().at_once()
}

/// Verifies the signature independently of placet's code.
fn is_signed(headers: &HeaderMap, body: &str) -> bool {
    let header = |name: &str| headers[name].to_str().unwrap().to_owned();
    let key = BASE64_STANDARD.decode(SECRET.strip_prefix("whsec_").unwrap()).unwrap();
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
    mac.update(format!("{}.{}.{body}", header("webhook-id"), header("webhook-timestamp")).as_bytes());
    let seconds: i64 = header("webhook-timestamp").parse().unwrap();
    let now = clock::now().as_millis() / 1_000;
    let given = header("webhook-signature");
    let given = BASE64_STANDARD.decode(given.strip_prefix("v1,").unwrap()).unwrap();
    (now - 60..=now).contains(&seconds) && mac.verify_slice(&given).is_ok()
}

#[tokio::test]
async fn webhook_body_is_signed() {
    let folder = tempfile::tempdir().unwrap();
    let (base, got) = receiver(&[204]).await;
    let hook = hook(&format!("{base}/hook"), secret(folder.path(), SECRET));

    hook.tell(&notice(1)).await.unwrap();

    let got = got.lock().unwrap();
    let [(headers, body)] = got.as_slice() else { panic!("{got:?}") };
    assert!(is_signed(headers, body));
    assert!(!is_signed(headers, &body.replace('3', "4")), "a changed body must not verify");
    assert_eq!(headers["content-type"], "application/json");
    assert!(headers["webhook-id"].to_str().unwrap().starts_with("msg_"));
    assert_eq!(*body, notice(1).json());
    assert!(!headers.contains_key("authorization") && !headers.contains_key("cookie"));
}

#[tokio::test]
async fn slack_gets_one_escaped_text() {
    let folder = tempfile::tempdir().unwrap();
    let (base, got) = receiver(&[500, 200]).await;
    let link = Some("https://placet.example.com/?a=1&b=2".to_owned());
    let url = secret(folder.path(), &format!("{base}/hook"));
    let webhook = Webhook { form: WebhookForm::Slack { url: url.clone(), link }, private: true };
    let mut notice = notice(7);
    notice.told[0].source = Some(SourceName::new("<!channel> <https://evil.example|&ok>\n*now*\u{1b}[2J\""));

    Hook::new(&webhook).unwrap().at_once().tell(&notice).await.unwrap();

    let got = std::mem::take(&mut *got.lock().unwrap());
    assert_eq!(got.len(), 2, "retried once");
    let (headers, body) = &got[1];
    assert_eq!(headers["content-type"], "application/json");
    assert!(!headers.contains_key("webhook-signature"), "Slack has no signing key");
    let text = "placet: 3 failed after approval (&lt;!channel&gt; &lt;https://evil.example|&amp;ok&gt; *now* [2J\"); 141 pending, 4 high\nnotify rule 7 · <https://placet.example.com/?a=1&amp;b=2>";
    let told: serde_json::Value = serde_json::from_str(body).unwrap();
    let sent =
        serde_json::json!({"text": text, "mrkdwn": false, "unfurl_links": false, "unfurl_media": false});
    assert_eq!(told, sent);
    assert!(!self::notice(7).slack(None).contains(['<', '>', '&']), "no link without a configured URL");
    let public = Hook::new(&Webhook { private: false, ..webhook }).unwrap();
    let refused = public.check().await.unwrap_err();
    assert!(refused.starts_with("the url is refused: its host is not public"), "{refused}");
    assert!(!format!("{public:?}{refused}").contains(&base), "the URL must stay secret");
}

#[tokio::test]
async fn temporary_failure_is_retried_once_under_the_same_id() {
    let folder = tempfile::tempdir().unwrap();
    for (statuses, tries, ends) in [
        (&[500, 204][..], 2, Ok(())),
        (&[503, 503, 204], 2, Err("the receiver answered HTTP 503")),
        (&[410], 1, Err("the receiver answered HTTP 410")),
        (&[429, 200], 2, Ok(())),
    ] {
        let (base, got) = receiver(statuses).await;
        let hook = hook(&format!("{base}/hook"), secret(folder.path(), SECRET));

        let told = hook.tell(&notice(1)).await;

        assert_eq!(told, ends.map_err(str::to_owned), "{statuses:?}");
        let got = got.lock().unwrap();
        let ids: HashSet<_> = got.iter().map(|(headers, _)| headers["webhook-id"].clone()).collect();
        assert_eq!((got.len(), ids.len()), (tries, 1), "{statuses:?}");
        assert!(got.iter().all(|(headers, body)| is_signed(headers, body)));
    }
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let (base, got) = receiver(&[204]).await;
    let away = hook(&format!("{base}/away"), secret(folder.path(), SECRET)).tell(&notice(1)).await;
    assert_eq!(away.unwrap_err(), "the receiver answered HTTP 307; redirects are not followed");
    assert!(got.lock().unwrap().is_empty());

    let gone = hook(&nobody().await, secret(folder.path(), SECRET)).tell(&notice(1)).await.unwrap_err();
    assert_eq!(gone, "the receiver cannot be reached; the log says more");
    let missing = TokenFrom::File(folder.path().join("none"));
    let missing = hook(&base, missing).tell(&notice(1)).await.unwrap_err();
    assert!(missing.contains("its secret cannot be had: cannot read"), "{missing}");
}

fn config(text: &str) -> Config {
    let paths = Paths {
        config: "c.toml".into(),
        config_named: false,
        state: "/state".into(),
        log: "/state/placet.log".into(),
    };
    Config::parse(text, &paths).unwrap()
}

#[tokio::test]
async fn private_receiver_must_be_allowed() {
    let rules = |more: &str| {
        let rule = "[[notify]]\non = [\"failed\"]\nto = \"bell\"\n[[notify]]\non = [\"failed\"]\nto = \"webhook\"\nsecret_env = \"PLACET_NO_SUCH\"";
        config(&format!("{rule}\n{more}")).notify
    };
    for host in ["127.0.0.1", "localhost", "10.0.0.1", "[::1]", "169.254.169.254"] {
        let error = Channels::new(&rules(&format!("url = \"https://{host}/x\""))).unwrap_err().to_string();
        assert!(
            error.starts_with("line 4, notify rule 2: the url is refused: its host is not public"),
            "{error}"
        );
        assert!(error.ends_with("set allow_private = true if it is meant"), "{error}");
        assert!(Channels::new(&rules(&format!("url = \"http://{host}/x\"\nallow_private = true"))).is_ok());
    }
    let error = mistakes(&rules("url = \"https://example.com\"")).await.join("; ");
    assert!(error.starts_with("notify rule 2 (webhook, line 4): its secret cannot be had"), "{error}");
    let program =
        config("[[notify]]\non = [\"failed\"]\nto = \"command\"\ncommand = [\"no-such-program-here\"]")
            .notify;
    assert!(mistakes(&program).await[0].contains("give its full path in command"));
    let looked = look(&program, &kept(), time::write).await;
    assert_eq!((looked[0].what, looked[0].verdict), ("notify", crate::domain::Verdict::Bad));
}

/// Returns a board with hostile text in every foreign field.
fn hostile(at: i64, count: u64) -> Board {
    let foreign = Untrusted::from("\u{1b}]9;pay me\u{7}\n{\"count\":0}");
    let standing = Standing { pending: 7, high: 2, over_target: count, ..Standing::default() };
    let queues = vec![QueueLine {
        queue: Queue::Agent(foreign.clone()),
        target: 3_600_000,
        standing: standing.clone(),
    }];
    let name = SourceName::new("gate");
    let key = ActionKey { source: name.clone(), id: ActionId::new("\u{7}") };
    let about = About { key, tool: foreign.clone(), title: foreign.clone(), rank: 2 };
    let failed = HappeningKind::Ended { status: Status::Failed, about: Box::new(about) };
    let stopped = Connection::Stopped { why: "\u{1b}]9;x\u{7}".into() };
    let at = Timestamp::from_millis(at);
    let source = SourceBoard {
        name: name.clone(),
        standing,
        connection: stopped,
        connected_at: at,
        heard: Some(at),
        stale: false,
        cut: false,
        truncated: false,
        paused: None,
        blocked: 0,
        queues,
    };
    let tool = ToolLine { tool: foreign, pending: 7, high: 2, oldest: None, decided: None };
    let alerts = (count > 0).then(|| Alert { kind: AlertKind::OverTarget, source: name.clone(), count });
    Board {
        at,
        sources: vec![source],
        tools: vec![tool],
        events: vec![Happening { at, source: name, what: failed }],
        alerts: alerts.into_iter().collect(),
        ..Board::default()
    }
}

#[tokio::test]
async fn command_gets_only_counts_and_few_notices_in_a_storm() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let rule = |stdin: &str| {
        format!(
            "[[notify]]\non = [\"over-target\"]\nto = \"command\"\nstdin = \"{stdin}\"\ncommand = [\"sh\", \"-c\", \"cat >> {}\"]\n",
            file(stdin)
        )
    };
    let bell = "[[notify]]\non = [\"over-target\"]\nto = \"bell\"\n";
    let config = config(&format!("{bell}{}{}", rule("text"), rule("json")));
    let mut caller = Caller::new(&config, kept()).unwrap().unwrap();
    caller.look(&hostile(NOON, 0));

    for n in 1..11_400 {
        caller.look(&hostile(NOON + n * 100, n.unsigned_abs()));
    }
    caller.ways.telling.close();
    tokio::time::timeout(LIMIT, caller.ways.telling.wait()).await.unwrap();

    let mut lines: Vec<_> =
        std::fs::read_to_string(file("text")).unwrap().lines().map(str::to_owned).collect();
    lines.sort();
    assert_eq!(
        lines,
        ["placet: 10 over 1 h (gate); 7 pending, 2 high", "placet: 6010 over 1 h (gate); 7 pending, 2 high",]
    );
    let json = std::fs::read_to_string(file("json")).unwrap();
    let one = r#"{"version":1,"type":"placet.alert","at":"2026-11-20T12:00:01.000Z","kind":"over-target","source":"gate","count":10,"pending":7,"highRisk":2,"oldestSeconds":null}"#;
    assert!(json.lines().any(|line| line == one), "{json}");
    assert_eq!((json.lines().count(), json.ends_with('\n')), (2, true));
    assert!(Caller::new(&self::config(bell), kept()).unwrap().is_none(), "a bell needs a terminal");
}

#[tokio::test]
async fn doctor_names_a_rule_until_it_delivers() {
    let folder = tempfile::tempdir().unwrap();
    let there = folder.path().join("there");
    let script = format!("cat >/dev/null; test -e {}", there.display());
    let rule =
        format!("[[notify]]\non = [\"failed\"]\nto = \"command\"\ncommand = [\"sh\", \"-c\", {script:?}]");
    let rules = config(&rule).notify;
    let tell = async || {
        let ways = Channels::new(&rules).unwrap().remembering(kept_in(folder.path()));
        let (told, mut answers) = mpsc::channel(1);
        ways.tell(notice(1), move |answer| async move { drop(told.send(answer).await) });
        answers.recv().await.unwrap()
    };

    assert!(tell().await.is_err());
    let found = look(&rules, &kept_in(folder.path()), time::write).await.remove(0);
    assert_eq!(found.verdict, crate::domain::Verdict::Warn);
    assert!(found.found.starts_with("notify rule 1 (command, line 1): its last notice, "), "{}", found.found);
    assert!(found.found.contains("was not delivered: the command failed"), "{}", found.found);
    std::fs::write(there, "").unwrap();
    assert_eq!(tell().await, Ok(()));
    let found = look(&rules, &kept_in(folder.path()), time::write).await.remove(0);
    assert_eq!(found.verdict, crate::domain::Verdict::Good);
}

#[tokio::test]
async fn hanging_command_is_killed_with_its_children_on_exit() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let script = format!(
        "sleep 60 </dev/null >/dev/null 2>&1 & echo $! > {0}.new; mv {0}.new {0}; wait",
        file.display()
    );
    let rule = format!(
        "[[notify]]\non = [\"failed\"]\nto = \"command\"\ncommand = [\"sh\", \"-c\", {script:?}]\nlimit_seconds = 10"
    );
    let ways = Channels::new(&config(&rule).notify).unwrap();
    let (told, mut failures) = mpsc::channel(1);
    ways.tell(notice(1), move |answer| async move { drop(told.send(answer).await) });
    let until = |is_so: Box<dyn Fn() -> bool>| async move {
        let waiting = async {
            while !is_so() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(LIMIT, waiting).await.unwrap();
    };
    let there = file.clone();
    until(Box::new(move || there.exists())).await;

    ways.finish().await;

    // The rule's own 10 s limit would give another message.
    assert_eq!(failures.recv().await.unwrap().unwrap_err(), "notify rule 1 (command, line 1): placet ended");
    let helper = std::fs::read_to_string(file).unwrap().trim().to_owned();
    until(Box::new(move || {
        let stat = std::fs::read_to_string(format!("/proc/{helper}/stat"));
        stat.map_or(true, |stat| stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z')))
    }))
    .await;
    ways.tell(notice(1), |_| async { panic!("a notice after the end") });
}
