//! Reports skipped tests.

use std::io::Write as _;

/// Writes test name and reason to the real standard error, because the harness captures a passing test's output.
/// `tests/run` repeats these lines at its end.
pub(crate) fn skipped(why: &str) {
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("a test");
    drop(writeln!(std::io::stderr(), "SKIPPED {name}: {why}"));
}
