//! The simple commands of a shell's command line, as far as a fence needs them: quotes, lists, pipes, substitutions, redirections and
//! here-documents. It expands no variables.

/// One program with its arguments.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) words: Vec<String>,
    /// Names that redirections open.
    pub(super) files: Vec<String>,
    /// Text of here-documents and here-strings.
    pub(super) input: Vec<String>,
}

/// The meaning of the next word.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Next {
    #[default]
    Argument,
    File,
    Input,
    /// The end of a here-document.
    End,
}

#[derive(Default)]
struct Reader {
    done: Vec<Command>,
    now: Command,
    word: Option<String>,
    next: Next,
    /// Here-documents that begin on the next line.
    ends: Vec<String>,
    /// How deep in substitutions it reads.
    depth: usize,
}

/// Deeper substitutions stay unread.
const DEPTH: usize = 8;

/// Reads a command line. Substitutions are commands of their own, and stay in the word around them as written.
pub(super) fn commands(line: &str) -> Vec<Command> {
    commands_at(line, 0)
}

fn commands_at(line: &str, depth: usize) -> Vec<Command> {
    let mut reader = Reader { depth, ..Reader::default() };
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        rest = reader.take(c, rest.get(c.len_utf8()..).unwrap_or_default());
    }
    reader.end_command();
    reader.done
}

impl Reader {
    /// Takes `c` and as much of what follows as belongs to it. Returns what is left.
    fn take<'a>(&mut self, c: char, rest: &'a str) -> &'a str {
        match c {
            '\\' => self.escaped(rest),
            '\'' => {
                let (inner, rest) = rest.split_once('\'').unwrap_or((rest, ""));
                self.word().push_str(inner);
                rest
            }
            '"' => self.quoted(rest),
            '`' => self.substitution(rest.split_once('`').unwrap_or((rest, ""))),
            '$' | '<' | '>' if rest.starts_with('(') => self.substitution(parenthesis(rest)),
            '#' if self.word.is_none() => rest.find('\n').and_then(|at| rest.get(at..)).unwrap_or_default(),
            '<' | '>' => self.redirection(c, rest),
            '&' if rest.starts_with('>') => rest,
            '\n' => {
                self.end_command();
                std::mem::take(&mut self.ends).iter().fold(rest, |rest, end| self.document(end, rest))
            }
            ';' | '&' | '|' | '(' | ')' => {
                self.end_command();
                rest
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
                '\\' => self.escaped(rest),
                '`' => self.substitution(rest.split_once('`').unwrap_or((rest, ""))),
                '$' if rest.starts_with('(') => self.substitution(parenthesis(rest)),
                c => {
                    self.word().push(c);
                    rest
                }
            };
        }
        rest
    }

    fn substitution<'a>(&mut self, (inner, rest): (&'a str, &'a str)) -> &'a str {
        if self.depth < DEPTH {
            self.done.extend(commands_at(inner, self.depth + 1));
        }
        self.word().push_str(inner);
        rest
    }

    fn redirection<'a>(&mut self, c: char, rest: &'a str) -> &'a str {
        // A number in front is the descriptor.
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

    /// A here-document up to its end.
    fn document<'a>(&mut self, end: &str, rest: &'a str) -> &'a str {
        let mut at = 0;
        let lines =
            rest.split_inclusive('\n').take_while(|line| line.trim_end().trim_start_matches('\t') != end);
        lines.for_each(|line| at += line.len());
        let (body, rest) = rest.split_at(at);
        if let Some(command) = self.done.last_mut() {
            command.input.push(body.to_owned());
        }
        rest.split_once('\n').map_or("", |(_, rest)| rest)
    }

    fn end_word(&mut self) {
        if let Some(word) = self.word.take() {
            match std::mem::take(&mut self.next) {
                Next::Argument => self.now.words.push(word),
                Next::File => self.now.files.push(word),
                Next::Input => self.now.input.push(word),
                Next::End => self.ends.push(word),
            }
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.done.push(std::mem::take(&mut self.now));
    }
}

/// Returns the inside of the parenthesis that `text` begins with, and the rest.
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
