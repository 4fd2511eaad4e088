//! `maxseg`.

use std::process::ExitCode;

fn main() -> ExitCode {
    maxseg::main()
}
