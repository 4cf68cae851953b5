//! Tests that were not run, and why.

use std::io::Write as _;

/// Writes the test's name and the reason to standard error itself, because the harness hides what a passing test prints.
/// `tests/run` repeats these lines at its end.
pub(crate) fn skipped(why: &str) {
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("a test");
    drop(writeln!(std::io::stderr(), "SKIPPED {name}: {why}"));
}
