#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| maxseg_workbench::fuzz::documents(bytes));
