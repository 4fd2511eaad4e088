#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| maxseg_wire::fuzz::btf(bytes));
