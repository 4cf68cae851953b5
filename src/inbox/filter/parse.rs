//! Parses filters.

use crate::domain::time::time_sum;
use crate::domain::{DecisionKind, Effect, Risk};

use super::{
    ApprovedBy, ClaimedBy, Compare, Expiry, Field, FieldText, Filter, FilterError, Is, Mistake, Part, Term,
    Want, Word,
};

struct FieldSpec {
    name: &'static str,
    takes: &'static str,
    read: Read,
}

#[derive(Clone, Copy)]
enum Read {
    Text(Field),
    Risk,
    Effect,
    Age,
    Expires,
    Is,
    Kind,
    Claimed,
    Approvals,
}

const TEXT: &str = "text, or = and all of the text, or == and exactly the text, or its beginning and *";

const FIELDS: &[FieldSpec] = &[
    FieldSpec { name: "tool", takes: TEXT, read: Read::Text(Field::Tool) },
    FieldSpec {
        name: "risk",
        takes: "low, medium, high or critical, with > >= < or <= before it",
        read: Read::Risk,
    },
    FieldSpec { name: "age", takes: "> or < and a time in s, m, h, d or w, as in age:>1h", read: Read::Age },
    FieldSpec {
        name: "expires",
        takes: "never, or > or < and a time in s, m, h, d or w, as in expires:<30m",
        read: Read::Expires,
    },
    FieldSpec {
        name: "is",
        takes: "unopened, opened, staged, undecided, marked, flagged, high, new, unknown, stale, settled or snoozed",
        read: Read::Is,
    },
    FieldSpec { name: "source", takes: TEXT, read: Read::Text(Field::Source) },
    FieldSpec { name: "agent", takes: TEXT, read: Read::Text(Field::Agent) },
    FieldSpec { name: "mission", takes: TEXT, read: Read::Text(Field::Mission) },
    FieldSpec { name: "batch", takes: TEXT, read: Read::Text(Field::Batch) },
    FieldSpec { name: "checkpoint", takes: TEXT, read: Read::Text(Field::Checkpoint) },
    FieldSpec { name: "run", takes: TEXT, read: Read::Text(Field::Run) },
    FieldSpec { name: "session", takes: TEXT, read: Read::Text(Field::Session) },
    FieldSpec { name: "workspace", takes: TEXT, read: Read::Text(Field::Workspace) },
    FieldSpec { name: "status", takes: TEXT, read: Read::Text(Field::Status) },
    FieldSpec { name: "by", takes: TEXT, read: Read::Text(Field::By) },
    FieldSpec {
        name: "claimed",
        takes: "me, none, or the beginning of a name or subject",
        read: Read::Claimed,
    },
    FieldSpec {
        name: "approvals",
        takes: "waiting, none, me, or the beginning of a name or subject",
        read: Read::Approvals,
    },
    FieldSpec { name: "kind", takes: DecisionKind::NAMES, read: Read::Kind },
    FieldSpec {
        name: "effect",
        takes: "read, write, external or destructive, with > >= < or <= before it",
        read: Read::Effect,
    },
    FieldSpec { name: "title", takes: TEXT, read: Read::Text(Field::Title) },
    FieldSpec { name: "id", takes: TEXT, read: Read::Text(Field::Id) },
];

const STATES: &[(&str, Is)] = &[
    ("unopened", Is::Unopened),
    ("opened", Is::Opened),
    ("staged", Is::Staged),
    ("undecided", Is::Undecided),
    ("marked", Is::Marked),
    ("flagged", Is::Flagged),
    ("high", Is::High),
    ("new", Is::New),
    ("unknown", Is::Unknown),
    ("stale", Is::Stale),
    ("settled", Is::Settled),
    ("snoozed", Is::Snoozed),
];

/// Kinds under the names of the counts.
fn kinds() -> [(&'static str, DecisionKind); DecisionKind::ALL.len()] {
    DecisionKind::ALL.map(|kind| (kind.words().name, kind))
}

impl Filter {
    /// Parses a filter. An error has its position and the nearest field.
    pub fn parse(text: &str) -> Result<Self, FilterError> {
        let mut reader = Reader { rest: text, at: 1 };
        let mut terms = Vec::new();
        while let Some(term) = reader.term()? {
            terms.push(term);
        }
        terms.sort_by_key(|term| match term.want {
            Want::Is(_) | Want::Kind(_) | Want::Claimed(_) | Want::Approvals(_) => 1,
            Want::Risk(_) | Want::Effect(_) | Want::Age(_) | Want::Expires(_) => 0,
            Want::Field(..) => 2,
            Want::Exact(_) => 3,
            Want::Fuzzy(_) => 4,
        });
        Ok(Self { text: text.trim().to_owned(), terms })
    }

    /// Returns the first part that only a screen can answer, as written: `is:marked`, `kind:`.
    pub fn only_on_screen(&self) -> Option<String> {
        self.terms.iter().find_map(|term| match &term.want {
            Want::Is(states) => states.iter().find(|state| !state.is_of_the_row()).map(|it| written(*it)),
            Want::Kind(_) => Some("kind:".to_owned()),
            _ => None,
        })
    }
}

struct Reader<'a> {
    rest: &'a str,
    /// Characters from 1.
    at: usize,
}

/// Text without its quotes.
struct Value {
    text: String,
    at: usize,
    was_quoted: bool,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let c = chars.next()?;
        self.rest = chars.as_str();
        self.at += 1;
        Some(c)
    }

    fn takes(&mut self, wanted: char) -> bool {
        let is = self.peek() == Some(wanted);
        if is {
            self.take();
        }
        is
    }

    /// Parses the next term. Skips an unfinished one, such as a dash or an open quote.
    fn term(&mut self) -> Result<Option<Term>, FilterError> {
        loop {
            while self.peek().is_some_and(char::is_whitespace) {
                self.take();
            }
            if self.peek().is_none() {
                return Ok(None);
            }
            let negated = self.takes('-');
            let exact = self.takes('\'');
            let at = self.at;
            if !exact && let Some(name) = self.field() {
                let want = self.wanted(name, at)?;
                return Ok(Some(Term { negated, want }));
            }
            let value = self.value(false, |_| false);
            if value.text.is_empty() {
                continue;
            }
            let word = Word::smart(&value.text);
            let exact = exact || negated || value.was_quoted;
            return Ok(Some(Term {
                negated,
                want: if exact { Want::Exact(word) } else { Want::Fuzzy(word) },
            }));
        }
    }

    /// Parses a field's name and its colon. `https://…` and `10:30` are words.
    fn field(&mut self) -> Option<String> {
        let (name, after) = self.rest.split_once(':')?;
        let is_name = !name.is_empty() && name.chars().all(char::is_alphabetic) && !after.starts_with("//");
        if !is_name {
            return None;
        }
        let name = name.to_lowercase();
        while self.take().is_some_and(|c| c != ':') {}
        Some(name)
    }

    /// Parses up to a space or another end; quotes keep text together. `escapes`: a backslash in quotes escapes.
    fn value(&mut self, escapes: bool, ends: impl Fn(char) -> bool) -> Value {
        let mut value = Value { text: String::new(), at: self.at, was_quoted: false };
        while let Some(c) = self.peek().filter(|c| !c.is_whitespace() && !ends(*c)) {
            self.take();
            if c != '"' {
                value.text.push(c);
                continue;
            }
            value.was_quoted = true;
            while let Some(c) = self.take().filter(|c| *c != '"') {
                value.text.push(if escapes && c == '\\' { self.escaped() } else { c });
            }
        }
        value
    }

    /// Parses what follows a backslash: a quote, a backslash, or `u{202e}`. Otherwise the backslash is literal.
    fn escaped(&mut self) -> char {
        if let Some(c) = self.peek().filter(|c| ['"', '\\'].contains(c)) {
            self.take();
            return c;
        }
        let hex = self.rest.strip_prefix("u{").and_then(|rest| rest.split_once('}'));
        let number = hex.and_then(|(hex, _)| u32::from_str_radix(hex, 16).ok());
        let Some(c) = number.and_then(char::from_u32) else { return '\\' };
        while self.take().is_some_and(|c| c != '}') {}
        c
    }

    fn wanted(&mut self, name: String, at: usize) -> Result<Want, FilterError> {
        let Some(known) = FIELDS.iter().find(|known| known.name == name) else {
            return Err(FilterError { at, what: Mistake::UnknownField { nearest: nearest(&name), name } });
        };
        let mut values = Vec::new();
        loop {
            let how = self.compare();
            let value = self.value(how == Some(Compare::Same), |c| c == ',');
            values.push((how, value));
            if !self.takes(',') {
                break;
            }
        }
        // A trailing comma is not an error.
        if values.len() > 1 {
            values.retain(|(how, value)| how.is_some() || !value.text.is_empty());
        }
        known
            .read(&values)
            .map_err(|at| FilterError { at, what: Mistake::Value { field: known.name, takes: known.takes } })
    }

    fn compare(&mut self) -> Option<Compare> {
        let how = match self.peek()? {
            '>' => (Compare::More, Compare::AtLeast),
            '<' => (Compare::Less, Compare::AtMost),
            '=' => (Compare::Equal, Compare::Same),
            _ => return None,
        };
        self.take();
        Some(if self.takes('=') { how.1 } else { how.0 })
    }
}

type Written = (Option<Compare>, Value);

impl FieldSpec {
    /// Parses the values of this field, or returns the position of the first that it does not accept.
    fn read(&self, values: &[Written]) -> Result<Want, usize> {
        Ok(match self.read {
            Read::Text(field) => Want::Field(field, values.iter().map(field_text).collect::<Result<_, _>>()?),
            Read::Risk => Want::Risk(each(values, |how, text| {
                let risk = ["low", "medium", "high", "critical"].iter().find(|word| begins(word, text))?;
                Some((how.unwrap_or(Compare::Equal), Risk::parse(risk).rank().into()))
            })?),
            Read::Effect => Want::Effect(each(values, |how, text| {
                let effect =
                    ["read", "write", "external", "destructive"].iter().find(|word| begins(word, text))?;
                Some((how.unwrap_or(Compare::Equal), Effect::parse(effect).rank().into()))
            })?),
            Read::Age => Want::Age(each(values, |how, text| Some((how?, time(text)?)))?),
            Read::Expires => Want::Expires(each(values, |how, text| match how {
                None => (text == "never").then_some(Expiry::Never),
                Some(how) => time(text).map(|than| Expiry::In(how, than)),
            })?),
            Read::Is => Want::Is(each(values, |how, text| named(STATES, how, text))?),
            Read::Claimed => Want::Claimed(each(values, |how, text| {
                let by = match text {
                    "" => return None,
                    "me" => ClaimedBy::Me,
                    "none" => ClaimedBy::None,
                    name => ClaimedBy::Name(Word::new(name, true)),
                };
                how.is_none().then_some(by)
            })?),
            Read::Approvals => Want::Approvals(each(values, |how, text| {
                let by = match text {
                    "" => return None,
                    "waiting" => ApprovedBy::Waiting,
                    "none" => ApprovedBy::None,
                    "me" => ApprovedBy::Me,
                    name => ApprovedBy::Name(Word::new(name, true)),
                };
                how.is_none().then_some(by)
            })?),
            Read::Kind => Want::Kind(each(values, |how, text| named(&kinds(), how, text))?),
        })
    }
}

/// Parses text, or returns its position if it is not accepted. A star in quotes is literal.
fn field_text((how, value): &Written) -> Result<FieldText, usize> {
    if *how == Some(Compare::Same) {
        let word = Word { text: value.text.clone(), any_case: false };
        return Ok(FieldText { word, part: Part::Same });
    }
    let (text, part) = match (how, value.text.strip_suffix('*')) {
        (Some(Compare::Equal), _) => (value.text.as_str(), Part::Whole),
        (Some(_), _) => return Err(value.at),
        (None, Some(beginning)) if !value.was_quoted => (beginning, Part::Beginning),
        (None, _) => (value.text.as_str(), Part::Any),
    };
    // Fields are names, so case does not matter.
    let word = Word::new(text, true);
    if text.is_empty() { Err(value.at) } else { Ok(FieldText { word, part }) }
}

fn written(state: Is) -> String {
    let name = STATES.iter().find(|(_, known)| *known == state).map_or("", |(name, _)| name);
    format!("is:{name}")
}

/// Parses all values, or returns the position of the first that `read` does not accept.
fn each<T>(values: &[Written], read: impl Fn(Option<Compare>, &str) -> Option<T>) -> Result<Vec<T>, usize> {
    values.iter().map(|(how, value)| read(*how, &value.text).ok_or(value.at)).collect()
}

fn named<T: Copy>(known: &[(&str, T)], how: Option<Compare>, text: &str) -> Option<T> {
    let text = text.to_lowercase();
    known.iter().find(|(name, _)| *name == text && how.is_none()).map(|(_, it)| *it)
}

/// `med` is enough for `medium`.
fn begins(word: &str, text: &str) -> bool {
    let text = text.to_lowercase();
    word == text || (text.len() >= 3 && word.starts_with(&text))
}

/// Milliseconds in `90s`, `1h30m`, `2d`.
fn time(text: &str) -> Option<i64> {
    time_sum(text)?.as_millis().try_into().ok()
}

fn nearest(name: &str) -> &'static str {
    let scored = FIELDS.iter().map(|known| (strsim::jaro_winkler(name, known.name), known.name));
    scored.max_by(|a, b| a.0.total_cmp(&b.0)).map_or("tool", |(_, name)| name)
}
