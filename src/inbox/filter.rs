//! The filter language, which selects the actions to show. Pure, for every shell.
//!
//! A filter is words and fields, all of which must hold: `outage risk:>=high -draft age:>1h`.
//!
//! | written | matches |
//! |---|---|
//! | `outage`, `outge` | an approximate word in title, tool, agent, mission or source (exact if it has a digit), or the beginning of an id |
//! | `'outage`, `"two words"` | this exact text in one of them, or in any id |
//! | `tool:linear,drive` | text of a field: `title tool agent mission batch checkpoint run session workspace source id status by`; `tool:=x` the whole field, `tool:x*` its beginning |
//! | `agent:=="Bob \"x\""` | the field character by character; quotes know the escapes `\"`, `\\` and `\u{202e}`; `agent:==""` matches an action without an agent |
//! | `risk:>=medium`, `effect:external` | an order: low, medium, high, critical; and read, write, external, destructive |
//! | `age:>1h30m`, `expires:<30m`, `expires:never` | a time in s, m, h, d, w |
//! | `is:unopened` | a state, see [`Is`] |
//! | `claimed:me`, `claimed:none`, `claimed:kim` | the holder of its claim, by name or subject |
//! | `approvals:waiting`, `approvals:none`, `approvals:me`, `approvals:kim` | actions that several people must approve: with some approvals, without any, or with that person's |
//! | `kind:exclude` | the kind of the staged decision |
//! | `-…` | everything that the rest does not match; a word after `-` is exact |
//!
//! A lower-case word ignores case. A comma means "or". Quotes keep spaces, commas and colons together.

use nucleo_matcher::{Config, Matcher, Utf32Str};

use crate::domain::{DecisionKind, Entry, SourceName, Timestamp, Untrusted, subject};

mod exact;
mod parse;
#[cfg(test)]
mod tests;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} (at character {at})")]
pub struct FilterError {
    /// Position in characters, from 1.
    pub at: usize,
    pub what: Mistake,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mistake {
    #[error("there is no field {name}:, did you mean {nearest}:? In quotes it is a word like any other")]
    UnknownField { name: String, nearest: &'static str },
    #[error("{field}: takes {takes}")]
    Value { field: &'static str, takes: &'static str },
    #[error("there is no source {name:?}; the sources are: {known}")]
    NoSource { name: String, known: String },
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    text: String,
    /// Cheapest first.
    terms: Vec<Term>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    negated: bool,
    want: Want,
}

/// One of several values is enough.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Want {
    Is(Vec<Is>),
    Kind(Vec<DecisionKind>),
    Claimed(Vec<ClaimedBy>),
    Approvals(Vec<ApprovedBy>),
    Risk(Vec<(Compare, i64)>),
    Effect(Vec<(Compare, i64)>),
    /// Milliseconds.
    Age(Vec<(Compare, i64)>),
    Expires(Vec<Expiry>),
    Field(Field, Vec<FieldText>),
    Exact(Word),
    Fuzzy(Word),
}

/// A state of an action. Only a screen knows most of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Is {
    /// Its current content was never on screen.
    Unopened,
    Opened,
    Staged,
    /// It can be decided, but no decision is staged.
    Undecided,
    Marked,
    /// It has hidden characters, duplicate keys or broken text in the loaded part.
    Flagged,
    High,
    /// It came with the last reload.
    New,
    Unknown,
    /// Its source has been silent for a while.
    Stale,
    /// It can no longer be decided.
    Settled,
    Snoozed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ClaimedBy {
    Me,
    None,
    Name(Word),
}

/// A value of `approvals:`, for actions that several people must approve.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ApprovedBy {
    Waiting,
    None,
    Me,
    Name(Word),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claimant<'a> {
    Me(&'a Untrusted),
    Other(&'a Untrusted),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compare {
    Less,
    AtMost,
    Equal,
    /// `==`: for text, character by character.
    Same,
    AtLeast,
    More,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expiry {
    Never,
    /// Milliseconds from now.
    In(Compare, i64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Title,
    Tool,
    Agent,
    Mission,
    Batch,
    Checkpoint,
    Run,
    Session,
    Workspace,
    Source,
    Id,
    Status,
    By,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct FieldText {
    word: Word,
    part: Part,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Any,
    Beginning,
    Whole,
    /// The whole field, character by character; empty if the field is missing.
    Same,
}

/// A text in the matcher's form.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Word {
    /// In lower case if case does not matter.
    text: String,
    any_case: bool,
}

/// An action as a filter sees it. Expensive properties are methods, called only if a filter names them.
pub trait Subject {
    fn entry(&self) -> &Entry;
    fn staged(&self) -> Option<DecisionKind>;
    fn is(&self, state: Is) -> bool;
    fn claimed(&self) -> Option<Claimant<'_>>;
    /// Returns our subject at its source, if known.
    fn me(&self) -> Option<&Untrusted>;
    fn name(&self, subject: &Untrusted) -> Option<&Untrusted>;
}

/// Matches filters. Reuses its memory, so make one for many actions.
#[derive(Clone, Debug)]
pub struct Finder {
    matcher: Matcher,
    hay: Vec<char>,
    needle: Vec<char>,
    folded: String,
    /// The last results for fields whose text many rows share.
    known: Vec<Known>,
}

#[derive(Clone, Debug)]
struct Known {
    field: Field,
    word: Word,
    hay: String,
    is_like: bool,
}

const KNOWN: usize = 64;

/// Longer words are searched literally, because nucleo-matcher counts scores in 16 bits and panics beyond.
const LONGEST: usize = 1_000;

/// Returns the matcher's score for a word of this length found literally inside another word. A scattered match must
/// score as much, or a word would match half of the list.
const fn worth(length: usize) -> usize {
    20 * length - 4
}

impl Filter {
    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Returns whether it asks for snoozed actions, which are hidden otherwise.
    pub fn shows_snoozed(&self) -> bool {
        let asks = |term: &Term| match &term.want {
            Want::Is(states) => states.contains(&Is::Snoozed),
            _ => false,
        };
        self.terms.iter().any(|term| !term.negated && asks(term))
    }

    /// Fails if the filter names a source that does not exist. It would match nothing without saying why.
    pub fn check_sources(&self, names: &[SourceName]) -> Result<(), FilterError> {
        let mut finder = Finder::default();
        let texts = self.terms.iter().filter_map(|term| match &term.want {
            Want::Field(Field::Source, texts) => Some(texts),
            _ => None,
        });
        for text in texts.flatten() {
            if !names.is_empty() && !names.iter().any(|name| finder.is_text(Some(name.as_str()), text)) {
                let known = names.iter().map(SourceName::as_str).collect::<Vec<_>>().join(", ");
                let before = self.text.find("source:").and_then(|at| self.text.get(..at)).unwrap_or_default();
                let what = Mistake::NoSource { name: text.word.text.clone(), known };
                return Err(FilterError { at: before.chars().count() + 1, what });
            }
        }
        Ok(())
    }

    /// Returns whether every match of this filter also matches `other`, so that only those need checking.
    pub fn narrows(&self, other: &Self) -> bool {
        other.terms.iter().all(|old| self.terms.iter().any(|new| new.implies(old)))
    }
}

impl Term {
    fn implies(&self, old: &Self) -> bool {
        let longer = |new: &Word, old: &Word| {
            let same: String =
                if old.any_case { new.text.chars().map(lower).collect() } else { new.text.clone() };
            (old.any_case || !new.any_case) && same.starts_with(&old.text)
        };
        match (&self.want, &old.want) {
            _ if self == old => true,
            _ if self.negated || old.negated => false,
            (Want::Fuzzy(new), Want::Fuzzy(old)) | (Want::Exact(new), Want::Exact(old)) => longer(new, old),
            _ => false,
        }
    }
}

impl Default for Finder {
    fn default() -> Self {
        Self {
            matcher: Matcher::new(Config::DEFAULT),
            hay: Vec::new(),
            needle: Vec::new(),
            folded: String::new(),
            known: Vec::new(),
        }
    }
}

impl Finder {
    /// Returns whether the filter matches an action. Takes a few hundred nanoseconds at most.
    pub fn holds(&mut self, filter: &Filter, subject: &impl Subject, now: Timestamp) -> bool {
        filter.terms.iter().all(|term| self.wanted(&term.want, subject, now) != term.negated)
    }

    fn wanted(&mut self, want: &Want, subject: &impl Subject, now: Timestamp) -> bool {
        let entry = subject.entry();
        let row = &entry.row;
        let any =
            |orders: &[(Compare, i64)], value: i64| orders.iter().any(|(how, than)| how.holds(value, *than));
        match want {
            Want::Is(states) => states.iter().any(|state| match state {
                Is::High => row.risk.is_high(),
                Is::Staged => subject.staged().is_some(),
                other => subject.is(*other),
            }),
            Want::Kind(kinds) => subject.staged().is_some_and(|staged| kinds.contains(&staged)),
            Want::Claimed(wanted) => wanted.iter().any(|by| match (by, subject.claimed()) {
                (ClaimedBy::Me, Some(Claimant::Me(_))) | (ClaimedBy::None, None) => true,
                (ClaimedBy::Name(word), Some(Claimant::Me(by) | Claimant::Other(by))) => {
                    self.is_called(by, word, subject)
                }
                _ => false,
            }),
            Want::Approvals(wanted) => wanted.iter().any(|by| self.approved(by, subject)),
            Want::Risk(orders) => any(orders, row.risk.rank().into()),
            Want::Effect(orders) => {
                row.effect.as_ref().is_some_and(|effect| any(orders, effect.rank().into()))
            }
            Want::Age(orders) => any(orders, now.since(row.created_at)),
            Want::Expires(wanted) => wanted.iter().any(|wanted| match (wanted, row.expires_at) {
                (Expiry::Never, at) => at.is_none(),
                (Expiry::In(how, than), Some(at)) => how.holds(at.since(now), *than),
                (Expiry::In(..), None) => false,
            }),
            Want::Field(field, texts) => {
                let found = field.of(entry);
                let name = row.resolved_by.as_ref().filter(|_| *field == Field::By);
                let name = name.and_then(|by| subject.name(by)).map(Untrusted::as_raw);
                let is_text = |text| self.is_text(found, text) || name.is_some() && self.is_text(name, text);
                texts.iter().any(is_text)
            }
            Want::Exact(word) => {
                Field::ALL.iter().any(|field| field.of(entry).is_some_and(|hay| self.contains(hay, word)))
            }
            Want::Fuzzy(word) => {
                let mut holds = |field: &Field| {
                    field.of(entry).is_some_and(|hay| match field {
                        Field::Title => self.is_like(hay, word),
                        field => self.is_like_still(*field, hay, word),
                    })
                };
                Field::NAMES.iter().any(&mut holds) || self.begins(entry.key.id.as_raw(), word)
            }
        }
    }

    fn approved(&mut self, by: &ApprovedBy, subject: &impl Subject) -> bool {
        let row = &subject.entry().row;
        let Some(approvals) = &row.approvals else { return false };
        let waits = row.status.is_pending() && approvals.given() < approvals.needed;
        match by {
            ApprovedBy::Waiting => waits && approvals.given() > 0,
            ApprovedBy::None => waits && approvals.given() == 0,
            ApprovedBy::Me => {
                subject.me().is_some_and(|me| approvals.by.iter().any(|by| subject::is_same(by, me)))
            }
            ApprovedBy::Name(word) => approvals.by.iter().any(|by| self.is_called(by, word, subject)),
        }
    }

    fn is_text(&mut self, found: Option<&str>, text: &FieldText) -> bool {
        let hay = found.unwrap_or_default();
        match text.part {
            Part::Same => hay == text.word.text,
            _ if found.is_none() => false,
            Part::Any => self.contains(hay, &text.word),
            Part::Beginning => self.begins(hay, &text.word),
            Part::Whole => self.is_all(hay, &text.word),
        }
    }

    fn contains(&mut self, hay: &str, word: &Word) -> bool {
        if hay.is_ascii() && word.text.len() <= LONGEST {
            return self.ask(hay, word, &word.text, Matcher::substring_match).is_some();
        }
        // nucleo-matcher 0.3.1 misses a match at the very end of such a text.
        self.folded.clear();
        self.folded.extend(hay.chars().map(nucleo_matcher::chars::normalize));
        if word.any_case {
            self.folded = self.folded.chars().map(lower).collect();
        }
        self.folded.contains(&word.text)
    }

    fn is_all(&mut self, hay: &str, word: &Word) -> bool {
        self.ask(hay, word, &word.text, Matcher::exact_match).is_some()
    }

    fn is_called(&mut self, by: &Untrusted, word: &Word, at: &impl Subject) -> bool {
        self.begins(by.as_raw(), word) || at.name(by).is_some_and(|name| self.begins(name.as_raw(), word))
    }

    fn begins(&mut self, hay: &str, word: &Word) -> bool {
        self.ask(hay, word, &word.text, Matcher::prefix_match).is_some()
    }

    /// Like [`is_like`](Self::is_like), for a field that mostly repeats its last text.
    fn is_like_still(&mut self, field: Field, hay: &str, word: &Word) -> bool {
        let nth = self.known.iter().position(|known| known.field == field && known.word == *word);
        if let Some(known) = nth.and_then(|nth| self.known.get(nth)).filter(|known| known.hay == hay) {
            return known.is_like;
        }
        let is_like = self.is_like(hay, word);
        let known = Known { field, word: word.clone(), hay: hay.to_owned(), is_like };
        match nth.and_then(|nth| self.known.get_mut(nth)) {
            Some(before) => *before = known,
            None => {
                if self.known.len() >= KNOWN {
                    self.known.clear();
                }
                self.known.push(known);
            }
        }
        is_like
    }

    /// Matches the word and each of its beginnings approximately, so that a longer word never matches more.
    fn is_like(&mut self, hay: &str, word: &Word) -> bool {
        if self.contains(hay, word) {
            return true;
        }
        // Numbers must match exactly.
        if word.text.contains(char::is_numeric) {
            return false;
        }
        let ends = word.text.char_indices().map(|(at, c)| at + c.len_utf8());
        ends.enumerate().collect::<Vec<_>>().into_iter().rev().all(|(nth, end)| {
            let beginning = word.text.get(..end).unwrap_or_default();
            let found = self.ask(hay, word, beginning, Matcher::fuzzy_match);
            found.is_some_and(|found| usize::from(found) >= worth(nth + 1))
        })
    }

    fn ask(
        &mut self,
        hay: &str,
        word: &Word,
        needle: &str,
        how: impl Fn(&mut Matcher, Utf32Str<'_>, Utf32Str<'_>) -> Option<u16>,
    ) -> Option<u16> {
        if needle.len() > LONGEST {
            return None;
        }
        self.matcher.config.ignore_case = word.any_case;
        let hay = Utf32Str::new(hay, &mut self.hay);
        how(&mut self.matcher, hay, Utf32Str::new(needle, &mut self.needle))
    }
}

impl Is {
    /// Returns whether the row alone shows the state.
    const fn is_of_the_row(self) -> bool {
        matches!(self, Self::High | Self::Unknown | Self::Settled)
    }
}

impl Compare {
    fn holds(self, value: i64, than: i64) -> bool {
        match self {
            Self::Less => value < than,
            Self::AtMost => value <= than,
            Self::Equal | Self::Same => value == than,
            Self::AtLeast => value >= than,
            Self::More => value > than,
        }
    }
}

impl Field {
    /// Fields in which a word is searched.
    const ALL: [Self; 11] = [
        Self::Title,
        Self::Tool,
        Self::Agent,
        Self::Mission,
        Self::Batch,
        Self::Checkpoint,
        Self::Run,
        Self::Session,
        Self::Workspace,
        Self::Source,
        Self::Id,
    ];
    /// Fields in which a word may match approximately.
    const NAMES: [Self; 5] = [Self::Title, Self::Tool, Self::Agent, Self::Mission, Self::Source];

    fn of(self, entry: &Entry) -> Option<&str> {
        let row = &entry.row;
        let text = match self {
            Self::Title => Some(&row.title),
            Self::Tool => Some(&row.tool),
            Self::Agent => row.agent.as_ref(),
            Self::Mission => row.mission.as_ref(),
            Self::Batch => row.batch.as_ref().map(crate::domain::BatchId::untrusted),
            Self::Checkpoint => row.checkpoint.as_ref(),
            Self::Run => row.run.as_ref(),
            Self::Session => row.session.as_ref(),
            Self::Workspace => row.workspace.as_ref(),
            Self::Source => return Some(entry.key.source.as_str()),
            Self::Id => Some(entry.key.id.untrusted()),
            Self::Status => return Some(row.status.as_raw()),
            Self::By => row.resolved_by.as_ref(),
        };
        text.map(Untrusted::as_raw)
    }
}

impl Word {
    /// Ignores case if the text is in lower case.
    fn smart(text: &str) -> Self {
        Self::new(text, !text.chars().any(char::is_uppercase))
    }

    fn new(text: &str, any_case: bool) -> Self {
        let plain = text.chars().map(nucleo_matcher::chars::normalize);
        let text = if any_case { plain.map(lower).collect() } else { plain.collect() };
        Self { text, any_case }
    }
}

fn lower(c: char) -> char {
    nucleo_matcher::chars::to_lower_case(c)
}
