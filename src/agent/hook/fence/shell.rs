//! Splits a shell command line into simple commands, for the fence. Handles quotes, lists, pipes, substitutions,
//! redirections and here-documents, but expands no variables.

use std::rc::Rc;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) words: Vec<String>,
    /// File names in redirections.
    pub(super) files: Vec<String>,
    /// Text of here-documents, here-strings and the preceding commands of the pipeline.
    pub(super) input: Vec<Rc<str>>,
    is_piped: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Next {
    #[default]
    Argument,
    File,
    Input,
    /// The delimiter of a here-document.
    End,
}

#[derive(Default)]
struct Reader {
    done: Vec<Command>,
    inner: Vec<Command>,
    now: Command,
    word: Option<String>,
    next: Next,
    /// Delimiters of here-documents that begin on the next line, with the index of their command.
    ends: Vec<(String, usize)>,
    depth: usize,
}

/// Maximum number of commands in a group whose output is read.
const GROUP: usize = 8;
/// Maximum number of input texts of a command.
const TEXTS: usize = 64;
/// Maximum nesting depth of substitutions; deeper ones are not read.
const DEPTH: usize = 8;

/// Parses a command line. Returns each substitution as another command, and keeps its text in the enclosing word.
pub(super) fn commands(line: &str) -> Vec<Command> {
    commands_at(line, 0)
}

fn commands_at(line: &str, depth: usize) -> Vec<Command> {
    let mut reader = Reader { depth, ..Reader::default() };
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        rest = reader.take(c, rest.get(c.len_utf8()..).unwrap_or_default());
    }
    reader.end_command(false);
    feed(&mut reader.done);
    reader.done.extend(reader.inner);
    reader.done
}

/// Gives each command of a pipeline the text of the commands before it. A group outputs the text of all its commands.
fn feed(commands: &mut [Command]) {
    for nth in 1..commands.len() {
        let (before, rest) = commands.split_at_mut(nth);
        let (Some(last), Some(command)) = (before.last(), rest.first_mut()) else { continue };
        let is_group =
            matches!(last.words.first().map_or("", String::as_str), "" | "}" | "done" | "fi" | "esac");
        let from = if is_group { nth.saturating_sub(GROUP) } else { nth - 1 };
        if !last.is_piped {
            continue;
        }
        // Nearest first and without duplicates, because each command has the texts of those before it.
        for text in before.iter().skip(from).rev().flat_map(said) {
            if command.input.len() < TEXTS && !text.is_empty() && !command.input.contains(&text) {
                command.input.push(text);
            }
        }
    }
}

/// The texts that a command may output.
fn said(command: &Command) -> Vec<Rc<str>> {
    let words = command.words.get(1..).unwrap_or_default().join(" ");
    [words.into()].into_iter().chain(command.input.iter().cloned()).collect()
}

impl Reader {
    /// Consumes `c` and the characters of `rest` that belong to it, and returns the remainder.
    fn take<'a>(&mut self, c: char, rest: &'a str) -> &'a str {
        match c {
            '\\' => self.escaped(rest),
            '\'' => {
                let (inner, rest) = rest.split_once('\'').unwrap_or((rest, ""));
                self.word().push_str(inner);
                rest
            }
            '"' => self.quoted(rest),
            '`' => self.substitution(c, rest.split_once('`').unwrap_or((rest, ""))),
            '$' | '<' | '>' if rest.starts_with('(') => self.substitution(c, parenthesis(rest)),
            '#' if self.word.is_none() => rest.find('\n').and_then(|at| rest.get(at..)).unwrap_or_default(),
            '<' | '>' => self.redirection(c, rest),
            '&' if rest.starts_with('>') => rest,
            '$' if rest.starts_with('\'') => self.ansi_quoted(rest.get(1..).unwrap_or_default()),
            '$' if rest.starts_with('"') => rest,
            '\n' => {
                self.end_command(false);
                std::mem::take(&mut self.ends).iter().fold(rest, |rest, end| self.document(end, rest))
            }
            ';' | '&' | '|' | '(' | ')' => {
                let more = rest.strip_prefix(c).or_else(|| rest.strip_prefix('&').filter(|_| c == '|'));
                let is_pipe = c == '|' && !rest.starts_with('|');
                self.end_command(is_pipe);
                if matches!(c, '|' | '&') { more.unwrap_or(rest) } else { rest }
            }
            c if c.is_whitespace() => {
                self.end_word();
                rest
            }
            c => {
                self.word().push(c);
                rest
            }
        }
    }

    fn word(&mut self) -> &mut String {
        self.word.get_or_insert_default()
    }

    fn escaped<'a>(&mut self, rest: &'a str) -> &'a str {
        let Some(c) = rest.chars().next() else { return rest };
        if c != '\n' {
            self.word().push(c);
        }
        rest.get(c.len_utf8()..).unwrap_or_default()
    }

    fn quoted<'a>(&mut self, mut rest: &'a str) -> &'a str {
        self.word();
        while let Some(c) = rest.chars().next() {
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
            rest = match c {
                '"' => return rest,
                '\\' | '`' => self.take(c, rest),
                '$' if rest.starts_with('(') => self.take(c, rest),
                c => {
                    self.word().push(c);
                    rest
                }
            };
        }
        rest
    }

    /// Reads the rest of `$'...'`.
    fn ansi_quoted<'a>(&mut self, mut rest: &'a str) -> &'a str {
        self.word();
        while let Some(c) = rest.chars().next() {
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
            match c {
                '\'' => return rest,
                '\\' => {
                    let (c, after) = ansi_escape(rest);
                    self.word().extend(c);
                    rest = after;
                }
                c => self.word().push(c),
            }
        }
        rest
    }

    /// `<(...)` stands for the name of a file that holds the output of its commands.
    fn substitution<'a>(&mut self, c: char, (inner, rest): (&'a str, &'a str)) -> &'a str {
        let commands = if self.depth < DEPTH { commands_at(inner, self.depth + 1) } else { Vec::new() };
        if c == '<' {
            self.now.input.extend(commands.iter().flat_map(said).take(TEXTS));
            self.word().push_str("/dev/fd/63");
        } else {
            self.word().push_str(inner);
        }
        self.inner.extend(commands);
        rest
    }

    fn redirection<'a>(&mut self, c: char, rest: &'a str) -> &'a str {
        // A number before a redirection is a file descriptor.
        if self.word.as_ref().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        let more = rest.trim_start_matches(['<', '>', '|', '&']);
        self.next = match (c, rest.len() - more.len()) {
            ('<', 2) => Next::Input,
            ('<', 1) if rest.starts_with('<') => Next::End,
            _ => Next::File,
        };
        if self.next == Next::End { more.trim_start_matches('-') } else { more }
    }

    fn document<'a>(&mut self, (end, command): &(String, usize), rest: &'a str) -> &'a str {
        let mut at = 0;
        let lines =
            rest.split_inclusive('\n').take_while(|line| line.trim_end().trim_start_matches('\t') != *end);
        lines.for_each(|line| at += line.len());
        let (body, rest) = rest.split_at(at);
        if let Some(command) = self.done.get_mut(*command) {
            command.input.push(body.into());
        }
        rest.split_once('\n').map_or("", |(_, rest)| rest)
    }

    fn end_word(&mut self) {
        if let Some(word) = self.word.take() {
            match std::mem::take(&mut self.next) {
                Next::Argument => self.now.words.extend(braces(word)),
                Next::File => self.now.files.push(word),
                Next::Input => self.now.input.push(word.into()),
                Next::End => self.ends.push((word, self.done.len())),
            }
        }
    }

    fn end_command(&mut self, is_piped: bool) {
        self.end_word();
        self.now.is_piped = is_piped;
        self.done.push(std::mem::take(&mut self.now));
    }
}

/// Returns the character of an escape in `$'...'` and the text after it.
fn ansi_escape(text: &str) -> (Option<char>, &str) {
    let (start, most, radix) = match text.chars().next() {
        Some('x') => (1, 2, 16),
        Some('u') => (1, 4, 16),
        Some('U') => (1, 8, 16),
        Some('0'..='7') => (0, 3, 8),
        // The other escapes stand for characters that no name here has.
        c => return (c, text.get(c.map_or(0, char::len_utf8)..).unwrap_or_default()),
    };
    let rest = text.get(start..).unwrap_or_default();
    let digits = rest.chars().take(most).take_while(|c| c.is_digit(radix)).count();
    let (digits, after) = rest.split_at(digits);
    (u32::from_str_radix(digits, radix).ok().and_then(char::from_u32), after)
}

/// Expands a word that is one list in braces, such as `{placet,show}`.
fn braces(word: String) -> Vec<String> {
    let list = word.strip_prefix('{').and_then(|list| list.strip_suffix('}'));
    match list.filter(|list| list.contains(',') && !list.contains(['{', '}', ' ', '"', ':'])) {
        Some(list) => list.split(',').map(str::to_owned).collect(),
        None => vec![word],
    }
}

fn parenthesis(text: &str) -> (&str, &str) {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (text.get(1..at).unwrap_or_default(), text.get(at + 1..).unwrap_or_default());
        }
    }
    (text.get(1..).unwrap_or_default(), "")
}
