//! The binary. Everything is in the library, where it can be tested.

use std::process::ExitCode;

fn main() -> ExitCode {
    placet::run()
}
