//! What must hold for any bytes at all: the bodies of the fuzzers in `fuzz/`. `cargo test` replays what they have found worth
//! keeping, so that no find is lost between releases.

mod json;
mod merge;

/// Panics where something does not hold.
pub type Run = fn(&[u8]);

/// A fuzzer's name and what it runs.
pub const TARGETS: [(&str, Run); 5] = [
    ("display", crate::text::inverse::run),
    ("json", json::run),
    ("keys", crate::tui::testing::random_input::run),
    ("merge", merge::run),
    ("sse", crate::net::sse::stray::run),
];

/// Runs one of them. Unknown names are a mistake in `fuzz/`.
pub fn run(target: &str, data: &[u8]) {
    let found = TARGETS.iter().find(|(name, _)| *name == target);
    found.expect("a fuzzer of this name").1(data);
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;
    use crate::rounds::runner;

    /// A taste of what the fuzzers do for hours.
    #[test]
    fn any_bytes_do() {
        let bytes = prop::collection::vec(any::<u8>(), 0..600);
        let ran = runner(12, 2_000).run(&bytes, |data| {
            for (_, run) in TARGETS {
                run(&data);
            }
            Ok(())
        });
        ran.unwrap();
    }

    #[test]
    fn what_the_fuzzers_keep_is_replayed() {
        let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
        for (name, run) in TARGETS {
            assert!(fuzz.join(format!("fuzz_targets/{name}.rs")).is_file(), "{name} has no target");
            let corpus = fuzz.join("corpus").join(name);
            let files: Vec<_> = fs::read_dir(&corpus).unwrap().map(|file| file.unwrap().path()).collect();
            assert!(!files.is_empty(), "nothing in {}", corpus.display());
            for file in files {
                run(&fs::read(&file).unwrap());
            }
        }
    }
}
