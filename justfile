# Chores. `just check` is what CI runs.

# All that must pass before a commit lands.
check:
    .ci/run

# The quick loop: format, lints, quick tests.
quick:
    cargo fmt
    cargo clippy --all-targets -- -D warnings
    cargo test --lib --test fast

# The inbox on a temporary gate.
demo:
    cargo run --release -- demo

# Time of a key press and a frame at 1,000, 10,000 and 100,000 rows.
bench:
    cargo bench --bench inbox

# Load of a served gate, in a few minutes. `cargo test --bench gate -- --quick` only checks that the bench works.
bench-gate:
    cargo bench --bench gate

# Load of several gates, and a run with kills. `-- --full --write` measures docs/scale.md again, in two to three hours.
bench-scale:
    cargo bench --bench scale

# Licences, bans and sources of every dependency (needs cargo-deny).
deny:
    cargo deny check licenses bans sources
