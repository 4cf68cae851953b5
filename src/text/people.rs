//! Names people on screen: by the source's name if it is unambiguous, else by their subject.

use std::collections::HashMap;

use super::class::is_mark;
use super::identifier::name;
use super::shown::Shown;
use crate::domain::subject::folded;
use crate::domain::{Person, Untrusted};

/// Words of placet that appear in place of a name.
const OURS: [&str; 6] = ["you", "me", "none", "nobody", "someone else", "the source"];

#[derive(Clone, Debug, Default)]
pub struct People {
    names: HashMap<Untrusted, Option<Untrusted>>,
    looks: HashMap<String, Owner>,
}

/// The subject that a look belongs to, whether several share it, and whether it is a name.
#[derive(Clone, Debug)]
struct Owner {
    subject: String,
    several: bool,
    is_name: bool,
}

impl People {
    pub fn of(all: impl IntoIterator<Item = Person>) -> Self {
        let mut people = Self::default();
        for Person { subject, name } in all {
            people.look(&subject, &subject, false);
            if let Some(name) = &name {
                people.look(name, &subject, true);
            }
            people.names.insert(subject, name);
        }
        people
    }

    fn look(&mut self, text: &Untrusted, subject: &Untrusted, is_name: bool) {
        let subject = folded(subject.as_raw());
        let new = Owner { subject: subject.clone(), several: false, is_name };
        let owner = self.looks.entry(look(text)).or_insert(new);
        owner.several |= owner.subject != subject;
        owner.is_name |= is_name;
    }

    /// Whether the source listed this subject, with or without a name.
    pub fn knows(&self, subject: &Untrusted) -> bool {
        self.names.contains_key(subject)
    }

    /// The source's name, for JSON and filters.
    pub fn name(&self, subject: &Untrusted) -> Option<&Untrusted> {
        self.names.get(subject)?.as_ref()
    }

    /// Returns subject and name of those with a name, sorted and without duplicates, for JSON.
    pub fn named<'a>(
        &'a self,
        subjects: impl IntoIterator<Item = &'a Untrusted>,
    ) -> Vec<(&'a Untrusted, &'a Untrusted)> {
        let named = subjects.into_iter().filter_map(|subject| Some((subject, self.name(subject)?)));
        let mut named: Vec<_> = named.collect();
        named.sort();
        named.dedup();
        named
    }

    /// Shows a person in `room` columns: the name, with the subject in brackets if the name is ambiguous, or the
    /// subject if that does not fit. A name is never cut, because its beginning could be another name.
    pub fn called(&self, subject: &Untrusted, room: usize) -> Shown {
        let in_brackets = || Shown::ours("(").followed_by(name(subject)).followed_by(Shown::ours(")"));
        let with = |text: &Untrusted| name(text).followed_by(Shown::ours(" ")).followed_by(in_brackets());
        // A subject that is another person's name always has brackets.
        let pretends = is_ours(subject) || self.is_named_by_another(subject);
        let full = match self.name(subject) {
            Some(known) if self.is_unmistakable(known) => name(known),
            Some(known) => with(known),
            None if pretends => with(subject),
            None => name(subject),
        };
        let short = if pretends { in_brackets() } else { name(subject) };
        if full.width() <= room { full } else { short.cut(room) }
    }

    /// Whether a name has only usual characters and no other person's look.
    fn is_unmistakable(&self, known: &Untrusted) -> bool {
        let text = known.as_raw();
        let inner = |c: char| c.is_alphanumeric() || is_mark(c) || matches!(c, ' ' | '.' | '-' | '\'' | '’');
        text.starts_with(char::is_alphanumeric)
            && !text.ends_with(' ')
            && !text.contains("  ")
            && text.chars().all(inner)
            && !is_ours(known)
            && self.looks.get(&look(known)).is_some_and(|owner| !owner.several)
    }

    /// Whether another person has this subject as a name.
    fn is_named_by_another(&self, subject: &Untrusted) -> bool {
        !self.looks.is_empty()
            && self.looks.get(&look(subject)).is_some_and(|owner| {
                owner.is_name && (owner.several || owner.subject != folded(subject.as_raw()))
            })
    }
}

fn is_ours(text: &Untrusted) -> bool {
    OURS.iter().any(|word| word.eq_ignore_ascii_case(text.as_raw().trim()))
}

/// Returns the same text for all that readers confuse: letters and digits, case folded, lookalikes merged.
fn look(text: &Untrusted) -> String {
    let alike = |text: &str| unicode_security::skeleton(text).collect::<String>();
    // Other scripts are mapped to lookalikes before lowercasing. ASCII is lowercased first, because `I` looks like `l`.
    let latin = text
        .as_raw()
        .chars()
        .map(|c| if c.is_ascii() { c.into() } else { alike(c.encode_utf8(&mut [0; 4])) });
    let lower = latin.collect::<String>().to_lowercase();
    alike(&lower).to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn people(all: &[(&str, &str)]) -> People {
        People::of(all.iter().map(|(subject, name)| Person {
            subject: (*subject).into(),
            name: (!name.is_empty()).then(|| (*name).into()),
        }))
    }

    fn called(all: &[(&str, &str)]) -> Vec<String> {
        let people = people(all);
        all.iter().map(|(subject, _)| people.called(&(*subject).into(), 80).plain()).collect()
    }

    #[test]
    fn an_unambiguous_name_is_shown_alone() {
        let all = [
            ("kim", "Kim Example"),
            ("lee", ""),
            ("Özil", "Mesut Ö. Özil-O’Neill"),
            ("sam", "Sam"),
            ("KIM", "Kim Example"),
        ];

        assert_eq!(called(&all), ["Kim Example", "lee", "Mesut Ö. Özil-O’Neill", "Sam", "Kim Example"]);
        assert_eq!(people(&all).called(&"max".into(), 80).plain(), "max", "a subject that was not listed");
    }

    #[test]
    fn people_of_one_name_are_distinguished() {
        for name in ["Kim Example", "kim example", "Kim-Example", "Kim Exаmple", "Kim Εxample", "Kim Examp1e"]
        {
            let both = called(&[("kim", "Kim Example"), ("k2", name)]);
            assert_eq!(both[0], "Kim Example (kim)", "{name}");
            assert!(both[1].ends_with(" (k2)"), "{both:?}");
        }
    }

    #[test]
    fn a_name_never_pretends_to_be_another_person() {
        assert_eq!(called(&[("kim", ""), ("mallory", "kim")]), ["kim (kim)", "kim (mallory)"]);
        assert_eq!(called(&[("kim", "Kim"), ("mallory", "KIM")]), ["Kim (kim)", "KIM (mallory)"]);
        let subject = called(&[("kim", "Kim Example"), ("Kim Example", "")]);
        assert_eq!(subject, ["Kim Example (kim)", "Kim Example (Kim Example)"]);
        assert_eq!(called(&[("you", "")]), ["you (you)"]);
        let unknown = people(&[("kim", "Kim Example")]).called(&"Kim Example".into(), 80);
        assert_eq!(unknown.plain(), "Kim Example (Kim Example)");
        for name in
            ["Lee (lee)", "kim, lee", "you", "someone else", "kim · 2 min", " ", "x  y", "k\u{202e}im"]
        {
            assert!(called(&[("mallory", name)])[0].ends_with(" (mallory)"), "{name:?}");
        }
    }

    #[test]
    fn a_name_that_does_not_fit_becomes_the_subject() {
        let people = people(&[("kim", "Kim Example"), ("a-long-subject", "Ada"), ("k2", "Ada")]);
        let of = |subject: &str, room| people.called(&subject.into(), room).plain();

        assert_eq!([of("kim", 11), of("kim", 10), of("kim", 2)], ["Kim Example", "kim", "k…"]);
        assert_eq!([of("k2", 8), of("k2", 7)], ["Ada (k2)", "k2"]);
        assert_eq!(of("a-long-subject", 8), "a-long-…");
        assert_eq!(
            [of("Kim Example", 30), of("Kim Example", 13)],
            ["Kim Example (Kim Example)", "(Kim Example)"]
        );
        assert_eq!([of("Kim Example", 8), of("you", 6)], ["(Kim Ex…", "(you)"]);
    }

    #[test]
    fn a_name_is_foreign_text() {
        let shown = people(&[("m", "a\u{1b}[2J\u{202e}b")]).called(&"m".into(), 80);

        assert!(shown.is_foreign() && !shown.plain().contains(['\u{1b}', '\u{202e}']), "{shown:?}");
    }
}
