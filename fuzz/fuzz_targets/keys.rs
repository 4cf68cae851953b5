#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| placet::fuzz::run("keys", data));
