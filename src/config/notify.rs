//! The tables `[[notify]]`: rules for notices and their receivers.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use toml::Spanned;

use super::check::{DAY, Mistakes, authority, line_of, misplaced, seconds, unknown};
use super::secret::TokenFrom;
use super::ui::Notify;
use crate::domain::time::minute_of_day;
use crate::domain::{AlertKind, SourceName};

/// A rule: notifies when an event of these kinds appears or grows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotifyRule {
    /// Number of the rule and line of its table (both from 1), for messages.
    pub number: usize,
    pub line: usize,
    pub on: Vec<NotifyOn>,
    /// `None` means every source.
    pub source: Option<SourceName>,
    /// Name of an agent, or else a tool; `None` means every queue.
    pub queue: Option<String>,
    /// Minimum count; for `growing` and `source-down`, minutes. 0 if not set.
    pub at_least: u64,
    pub to: NotifyTo,
    /// Minimum interval; at least a minute.
    pub every: Duration,
    pub quiet: Option<Quiet>,
    /// Does not notify while the window is focused. Only for terminal and bell.
    pub unfocused_only: bool,
}

/// Events, most serious first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NotifyOn {
    Alert(AlertKind),
    First,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotifyTo {
    Terminal,
    Bell,
    Command {
        argv: Vec<String>,
        /// Standard input is a JSON object instead of a line of text.
        json: bool,
        /// Killed after this time; 1 to 10 seconds.
        limit: Duration,
    },
    Webhook(Webhook),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    pub form: WebhookForm,
    /// May be on this machine or network, over http.
    pub private: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebhookForm {
    /// JSON, signed by <https://www.standardwebhooks.com>.
    Signed {
        url: String,
        /// The shared key: `whsec_` and base64, or any text.
        secret: TokenFrom,
    },
    /// An incoming webhook of Slack. It is not signed, so its URL is a secret.
    Slack {
        url: TokenFrom,
        /// A link of the operator at the end of each message.
        link: Option<String>,
    },
}

/// Hours without notices, in local time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quiet {
    /// Minute of the day, 0 to 1439.
    pub from: u16,
    /// The minute after the last quiet one, 1 to 1440; on the next day unless it is after `from`.
    pub until: u16,
    /// Days on which it begins, Monday first.
    pub days: [bool; 7],
}

impl NotifyOn {
    pub const fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Alert(kind) => kind.name(),
        }
    }

    pub fn all() -> impl Iterator<Item = Self> {
        std::iter::once(Self::First).chain(AlertKind::ALL.into_iter().map(Self::Alert))
    }

    /// Whether the event is known for single queues; others concern a whole source.
    pub const fn is_of_queues(self) -> bool {
        use AlertKind as A;
        matches!(self, Self::First | Self::Alert(A::HighRisk | A::OverTarget | A::Unknown | A::Growing))
    }
}

impl NotifyTo {
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::Bell => "bell",
            Self::Command { .. } => "command",
            Self::Webhook(_) => "webhook",
        }
    }

    pub const fn is_of_the_screen(&self) -> bool {
        matches!(self, Self::Terminal | Self::Bell)
    }
}

impl fmt::Display for NotifyRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "notify rule {} ({}, line {})", self.number, self.to.word(), self.line)
    }
}

impl Quiet {
    /// Whether a minute of the day is quiet. `day` is 0 on Monday.
    pub fn holds(&self, day: usize, minute: u16) -> bool {
        let on = |day: usize| self.days.get(day % 7).copied().unwrap_or_default();
        if self.from < self.until {
            return on(day) && (self.from..self.until).contains(&minute);
        }
        // Past midnight: hours that began yesterday continue.
        on(day) && minute >= self.from || on(day + 6) && minute < self.until
    }
}

/// Default minutes between notices of a rule.
const EVERY: u64 = 10;
/// Maximum and default seconds that a command may take.
const LONGEST: u64 = 10;
const USUAL: u64 = 5;

/// Name of the embedded gate, if no source is configured.
const OWN: &str = "gate";
const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawRule {
    on: Vec<String>,
    to: RawTo,
    source: Option<String>,
    queue: Option<String>,
    at_least: Option<u64>,
    every_minutes: Option<u64>,
    quiet: Option<String>,
    quiet_days: Option<Vec<String>>,
    unfocused_only: Option<bool>,
    // command
    command: Option<Vec<String>>,
    stdin: Option<RawStdin>,
    limit_seconds: Option<u64>,
    // webhook
    #[serde(default)]
    format: RawFormat,
    url: Option<String>,
    secret_env: Option<String>,
    secret_file: Option<PathBuf>,
    secret_command: Option<Vec<String>>,
    allow_private: Option<bool>,
    link: Option<String>,
}

#[derive(Deserialize, Clone, Copy, Default, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum RawFormat {
    #[default]
    Placet,
    Slack,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum RawTo {
    Terminal,
    Bell,
    Command,
    Webhook,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum RawStdin {
    Text,
    Json,
}

pub(super) struct Around<'a> {
    /// The whole file, to find line numbers.
    pub(super) text: &'a str,
    pub(super) folder: &'a Path,
    pub(super) sources: &'a [&'a SourceName],
    pub(super) way: &'a Notify,
}

pub(super) fn rules(
    raw: Vec<Spanned<RawRule>>,
    around: &Around<'_>,
    mistakes: &mut Mistakes,
) -> Vec<NotifyRule> {
    let numbered = raw.into_iter().zip(1..);
    let rules = numbered.filter_map(|(raw, number)| {
        let line = line_of(around.text, raw.span().start);
        let wrong = |what: String| format!("line {line}, notify rule {number}: {what}");
        mistakes.take(raw.into_inner().validate(number, line, around).map_err(wrong))
    });
    rules.collect()
}

impl RawRule {
    fn validate(self, number: usize, line: usize, around: &Around<'_>) -> Result<NotifyRule, String> {
        self.check_keys()?;
        let on = words(&self.on)?;
        if let (Some(_), Some(whole)) = (&self.queue, on.iter().find(|on| !on.is_of_queues())) {
            return Err(format!(
                "{:?} is known of whole sources only; take it out of `on`, or leave out `queue`",
                whole.name()
            ));
        }
        let source = self.source.as_deref().map(|name| known_source(name, around.sources)).transpose()?;
        let quiet = quiet(self.quiet.as_deref(), self.quiet_days.as_deref())?;
        let of_screen = matches!(self.to, RawTo::Terminal | RawTo::Bell);
        if self.to == RawTo::Terminal && *around.way == Notify::Off {
            return Err("to = \"terminal\" goes the way of ui.notify, which is \"off\"; change one of them"
                .to_owned());
        }
        let every = seconds("every_minutes", self.every_minutes.unwrap_or(EVERY), DAY / 60)? * 60;
        match self.at_least {
            Some(0) => {
                return Err("at_least is 0; the least is 1, and without it any number is told".to_owned());
            }
            Some(_) if on.contains(&NotifyOn::First) => {
                return Err("at_least says nothing of \"first\"; give \"first\" a rule of its own".to_owned());
            }
            _ => {}
        }
        Ok(NotifyRule {
            number,
            line,
            on,
            source,
            queue: self.queue.clone(),
            at_least: self.at_least.unwrap_or(0),
            every,
            quiet,
            unfocused_only: of_screen && self.unfocused_only.unwrap_or(true),
            to: self.to(around.folder)?,
        })
    }

    fn to(self, folder: &Path) -> Result<NotifyTo, String> {
        match self.to {
            RawTo::Terminal => Ok(NotifyTo::Terminal),
            RawTo::Bell => Ok(NotifyTo::Bell),
            RawTo::Command => {
                let argv = self.command.unwrap_or_default();
                if argv.first().is_none_or(String::is_empty) {
                    return Err("to = \"command\" needs command = [\"program\", …]".to_owned());
                }
                let limit = seconds("limit_seconds", self.limit_seconds.unwrap_or(USUAL), LONGEST)?;
                Ok(NotifyTo::Command { argv, json: self.stdin == Some(RawStdin::Json), limit })
            }
            RawTo::Webhook => self.webhook(folder).map(NotifyTo::Webhook),
        }
    }

    fn webhook(self, folder: &Path) -> Result<Webhook, String> {
        let private = self.allow_private.unwrap_or(false);
        let file = self.secret_file.map(|path| folder.join(path));
        let secret = (self.secret_env, file, self.secret_command);
        if self.format == RawFormat::Slack {
            const NEEDS: &str = "format = \"slack\" needs one of secret_env, secret_file and secret_command: Slack's whole URL, which is a secret";
            if self.url.is_some() {
                return Err("format = \"slack\" takes no url: whoever knows it may post; put it where secret_file says".to_owned());
            }
            let url = TokenFrom::one_of("secret", secret, NEEDS)?.ok_or(NEEDS)?;
            let link = self.link.map(link).transpose()?;
            return Ok(Webhook { form: WebhookForm::Slack { url, link }, private });
        }
        if self.link.is_some() {
            return Err("link belongs to format = \"slack\"".to_owned());
        }
        let url = self.url.unwrap_or_default();
        let authority = authority(&url).ok_or("to = \"webhook\" needs url = \"https://…\"")?;
        if authority.contains('@') {
            return Err("url must not carry a user or password; what is sent is signed".to_owned());
        }
        if url.starts_with("http://") && !private {
            return Err("url is not https; set allow_private = true if the way there is safe".to_owned());
        }
        let needs = "to = \"webhook\" needs one of secret_env, secret_file and secret_command: what is sent is signed with it";
        let secret = TokenFrom::one_of("secret", secret, needs)?.ok_or(needs)?;
        Ok(Webhook { form: WebhookForm::Signed { url, secret }, private })
    }

    fn check_keys(&self) -> Result<(), String> {
        use RawTo as T;
        let of: [(&str, bool, &[RawTo], &str); 11] = [
            ("unfocused_only", self.unfocused_only.is_some(), &[T::Terminal, T::Bell], "terminal and bell"),
            ("command", self.command.is_some(), &[T::Command], "command"),
            ("stdin", self.stdin.is_some(), &[T::Command], "command"),
            ("limit_seconds", self.limit_seconds.is_some(), &[T::Command], "command"),
            ("format", self.format != RawFormat::Placet, &[T::Webhook], "webhook"),
            ("link", self.link.is_some(), &[T::Webhook], "webhook"),
            ("url", self.url.is_some(), &[T::Webhook], "webhook"),
            ("secret_env", self.secret_env.is_some(), &[T::Webhook], "webhook"),
            ("secret_file", self.secret_file.is_some(), &[T::Webhook], "webhook"),
            ("secret_command", self.secret_command.is_some(), &[T::Webhook], "webhook"),
            ("allow_private", self.allow_private.is_some(), &[T::Webhook], "webhook"),
        ];
        match misplaced(&of, &self.to) {
            Some((key, to)) => Err(format!("{key} belongs to rules to {to}")),
            None => Ok(()),
        }
    }
}

/// Checks a link. Excludes the characters of Slack's markup except `&`.
fn link(url: String) -> Result<String, String> {
    let is_plain = |letter: char| letter.is_ascii_graphic() && !matches!(letter, '<' | '>' | '|' | '"');
    match authority(&url) {
        Some(authority) if !authority.contains('@') && url.chars().all(is_plain) => Ok(url),
        _ if url.contains('@') => {
            Err("link holds a user or password; it is a URL, as in \"https://placet.example.com\"".to_owned())
        }
        _ => Err(format!("link is {url:?}; it is a URL, as in \"https://placet.example.com\"")),
    }
}

/// Parses events, without duplicates, in written order.
fn words(given: &[String]) -> Result<Vec<NotifyOn>, String> {
    let mut on = Vec::new();
    for word in given {
        let meant = NotifyOn::all().find(|it| it.name() == word).ok_or_else(|| unknown_event(word))?;
        if !on.contains(&meant) {
            on.push(meant);
        }
    }
    if on.is_empty() {
        Err("`on` is empty; it says what to tell of, as in [\"over-target\"]".to_owned())
    } else {
        Ok(on)
    }
}

fn unknown_event(word: &str) -> String {
    unknown(["event", "Events"], word, &NotifyOn::all().map(NotifyOn::name).collect::<Vec<_>>())
}

fn known_source(name: &str, sources: &[&SourceName]) -> Result<SourceName, String> {
    let mut names: Vec<_> = sources.iter().map(|source| source.as_str()).collect();
    if names.is_empty() {
        names.push(OWN);
    }
    if names.contains(&name) {
        return Ok(SourceName::new(name));
    }
    Err(format!("source {name:?} is none of those that there are: {}", names.join(", ")))
}

fn quiet(hours: Option<&str>, days: Option<&[String]>) -> Result<Option<Quiet>, String> {
    let Some(hours) = hours else {
        return match days {
            Some(_) => {
                Err("quiet_days says on which days quiet begins; give quiet = \"22:00-07:00\", too"
                    .to_owned())
            }
            None => Ok(None),
        };
    };
    let wrong =
        || format!("quiet is {hours:?}; it is two times of a day, as in \"22:00-07:00\" or \"00:00-24:00\"");
    let (from, until) = hours.split_once('-').ok_or_else(wrong)?;
    let (from, until) = (minute_of_day(from).ok_or_else(wrong)?, minute_of_day(until).ok_or_else(wrong)?);
    if from == until || from == 1_440 || until == 0 {
        return Err(wrong());
    }
    let mut on = [days.is_none(); 7];
    for day in days.unwrap_or_default() {
        let at = DAYS.iter().position(|it| it == day);
        let place = at.and_then(|at| on.get_mut(at));
        *place.ok_or_else(|| format!("{day:?} in quiet_days is none of {}", DAYS.join(", ")))? = true;
    }
    if on == [false; 7] {
        return Err("quiet_days is empty; leave it out for every day".to_owned());
    }
    Ok(Some(Quiet { from, until, days: on }))
}
