//! Tests of `[[notify]]`: parsed rules and mistakes.

use std::time::Duration;

use super::{parse, with_examples};
use crate::config::{NotifyOn, NotifyTo, Quiet, TokenFrom, Webhook, WebhookForm};
use crate::domain::{AlertKind, SourceName};

const SOURCE: &str = "[[source]]\nname = \"team\"\nkind = \"gate\"\nurl = \"http://127.0.0.1:1\"\n";

#[test]
fn the_example_rules_are_parsed() {
    let rules = parse(&with_examples()).unwrap().notify;

    assert_eq!(rules.len(), 4);
    assert_eq!(rules[0].to_string(), format!("notify rule 1 (terminal, line {})", rules[0].line));
    assert!(rules[0].line > 100 && rules[1].line > rules[0].line, "lines of their tables");
    assert_eq!(rules[0].on, [AlertKind::HighRisk, AlertKind::Down].map(NotifyOn::Alert));
    let days = [true, true, true, true, false, false, true];
    assert_eq!(rules[0].quiet, Some(Quiet { from: 22 * 60, until: 7 * 60, days }));
    assert_eq!((rules[1].source.clone(), rules[1].at_least), (Some(SourceName::new("team")), 10));
    let limit = Duration::from_secs(5);
    assert!(matches!(&rules[1].to, NotifyTo::Command { json: true, limit: it, .. } if *it == limit));
    let secret = TokenFrom::Env("PLACET_HOOK_SECRET".to_owned());
    let url = "https://hooks.example.com/placet".to_owned();
    let form = WebhookForm::Signed { url, secret };
    assert_eq!(rules[2].to, NotifyTo::Webhook(Webhook { form, private: false }));
    let url = TokenFrom::File("/etc/placet/slack-url".into());
    let form = WebhookForm::Slack { url, link: Some("https://placet.example.com".to_owned()) };
    assert_eq!(rules[3].to, NotifyTo::Webhook(Webhook { form, private: false }));
}

#[test]
fn a_rule_has_the_documented_defaults() {
    let rules = parse(
        "[[notify]]\non = [\"first\", \"first\"]\nto = \"bell\"\n\n[[notify]]\non = [\"failed\"]\nto = \"command\"\ncommand = [\"x\"]",
    );
    let rules = rules.unwrap().notify;

    assert_eq!(rules[0].on, [NotifyOn::First], "once");
    assert_eq!((rules[0].at_least, rules[0].every), (0, Duration::from_mins(10)));
    assert!(rules[0].unfocused_only && !rules[1].unfocused_only);
    assert_eq!((rules[0].number, rules[0].line, rules[1].number, rules[1].line), (1, 1, 2, 5));
    assert!(matches!(rules[1].to, NotifyTo::Command { json: false, .. }));
    assert_eq!(parse("").unwrap().notify, []);
}

#[test]
fn every_rule_mistake_has_line_and_advice() {
    let hook = "to = \"webhook\"\non = [\"failed\"]\n";
    let bell = "to = \"bell\"\non = [\"failed\"]\n";
    for (rule, says) in [
        ("to = \"bell\"\non = []".to_owned(), "`on` is empty; it says what to tell of"),
        (
            "to = \"bell\"\non = [\"overtarget\"]".to_owned(),
            "Unknown event \"overtarget\". Did you mean \"over-target\"?",
        ),
        (
            "to = \"bell\"\non = [\"zzz\"]".to_owned(),
            "Events: first, source-down, ran-other, failed, unknown",
        ),
        (bell.to_owned() + "source = \"tema\"", "source \"tema\" is none of those that there are: team"),
        (bell.to_owned() + "queue = \"q\"", "\"failed\" is known of whole sources only; take it out of `on`"),
        (bell.to_owned() + "at_least = 0", "at_least is 0; the least is 1"),
        ("to = \"bell\"\non = [\"first\"]\nat_least = 3".to_owned(), "give \"first\" a rule of its own"),
        (bell.to_owned() + "every_minutes = 0", "every_minutes must be 1 to 1440"),
        (bell.to_owned() + "every_minutes = 1441", "every_minutes must be 1 to 1440"),
        (bell.to_owned() + "quiet = \"22-7\"", "it is two times of a day, as in \"22:00-07:00\""),
        (bell.to_owned() + "quiet = \"22:00-22:00\"", "it is two times of a day"),
        (bell.to_owned() + "quiet = \"24:00-07:00\"", "it is two times of a day"),
        (bell.to_owned() + "quiet = \"22:60-07:00\"", "it is two times of a day"),
        (bell.to_owned() + "quiet = \"22:00-25:00\"", "it is two times of a day"),
        (bell.to_owned() + "quiet_days = [\"mon\"]", "give quiet = \"22:00-07:00\", too"),
        (bell.to_owned() + "quiet = \"22:00-07:00\"\nquiet_days = [\"monday\"]", "is none of mon, tue, wed"),
        (bell.to_owned() + "quiet = \"22:00-07:00\"\nquiet_days = []", "leave it out for every day"),
        (bell.to_owned() + "command = [\"x\"]", "command belongs to rules to command"),
        (hook.to_owned() + "unfocused_only = true", "unfocused_only belongs to rules to terminal and bell"),
        ("to = \"command\"\non = [\"failed\"]".to_owned(), "needs command = [\"program\", …]"),
        (
            "to = \"command\"\non = [\"failed\"]\ncommand = [\"x\"]\nlimit_seconds = 11".to_owned(),
            "limit_seconds must be 1 to 10",
        ),
        (hook.to_owned() + "secret_env = \"S\"", "needs url = \"https://…\""),
        (hook.to_owned() + "secret_env = \"S\"\nurl = \"http://h\"", "set allow_private = true if the way"),
        (
            hook.to_owned() + "secret_env = \"S\"\nurl = \"https://u:p@h\"",
            "must not carry a user or password",
        ),
        (hook.to_owned() + "url = \"https://h\"", "needs one of secret_env, secret_file and secret_command"),
        (
            hook.to_owned() + "url = \"https://h\"\nsecret_env = \"S\"\nsecret_file = \"f\"",
            "needs one of secret_env, secret_file and secret_command",
        ),
        (hook.to_owned() + "url = \"https://h\"\nsecret_command = []", "secret_command is empty"),
    ] {
        let message = parse(&format!("{SOURCE}\n[[notify]]\n{rule}")).unwrap_err();
        assert!(message.contains(says), "{rule}\ngave\n{message}");
        assert!(message.contains("line 6, notify rule 1: "), "{message}");
    }
    let off = "[ui]\nnotify = \"off\"\n[[notify]]\non = [\"failed\"]\nto = \"terminal\"";
    assert!(
        parse(off)
            .unwrap_err()
            .contains("line 3, notify rule 1: to = \"terminal\" goes the way of ui.notify")
    );
    assert!(parse("[[notify]]\non = [\"failed\"]").unwrap_err().contains("missing field `to`"));
}

#[test]
fn every_slack_rule_mistake_has_advice() {
    let hook = "to = \"webhook\"\non = [\"failed\"]\n";
    let slack = format!("{hook}format = \"slack\"\nsecret_env = \"S\"\n");
    let bell = "to = \"bell\"\non = [\"failed\"]\n";
    for (rule, says) in [
        (bell.to_owned() + "format = \"slack\"", "format belongs to rules to webhook"),
        (
            hook.to_owned() + "url = \"https://h\"\nsecret_env = \"S\"\nlink = \"https://h\"",
            "link belongs to format",
        ),
        (
            hook.to_owned() + "format = \"slack\"\nurl = \"https://h\"\nsecret_env = \"S\"",
            "takes no url: whoever knows it may post",
        ),
        (hook.to_owned() + "format = \"slack\"", "Slack's whole URL, which is a secret"),
        (slack.clone() + "link = \"https://h|x\"", "it is a URL, as in"),
        (slack.clone() + "link = \"https://h/ <!channel>\"", "it is a URL, as in"),
        (slack.clone() + "link = \"https://u:p@h\"", "it is a URL, as in"),
        (slack.clone() + "link = \"javascript:x\"", "it is a URL, as in"),
    ] {
        let message = parse(&format!("[[notify]]\n{rule}")).unwrap_err();
        assert!(message.contains(says), "{rule}\ngave\n{message}");
    }
}

#[test]
fn quiet_hours_may_last_past_midnight() {
    let quiet = |hours: &str, days: &str| {
        let rule = format!("[[notify]]\non = [\"failed\"]\nto = \"bell\"\nquiet = {hours:?}{days}");
        parse(&rule).unwrap().notify.remove(0).quiet.unwrap()
    };
    let night = quiet("22:00-07:00", "\nquiet_days = [\"fri\"]");
    for (day, minute, holds) in [
        (4, 22 * 60 - 1, false),
        (4, 22 * 60, true),
        (5, 0, true),
        (5, 7 * 60 - 1, true),
        (5, 7 * 60, false),
        (5, 22 * 60, false),
        (4, 60, false),
    ] {
        assert_eq!(night.holds(day, minute), holds, "day {day}, minute {minute}");
    }
    assert!(quiet("22:00-07:00", "\nquiet_days = [\"sun\"]").holds(0, 60), "Monday comes after Sunday");
    let weekend = quiet("00:00-24:00", "\nquiet_days = [\"sat\", \"sun\"]");
    assert!(
        weekend.holds(5, 0) && weekend.holds(6, 1_439) && !weekend.holds(0, 0) && !weekend.holds(4, 1_439)
    );
    let lunch = quiet("12:00-13:30", "");
    assert!(lunch.holds(3, 13 * 60 + 29) && !lunch.holds(3, 13 * 60 + 30));
}
