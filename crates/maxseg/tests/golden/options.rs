//! Headers, byte by byte.

use maxseg_wire::options::walk;

use super::row::{Row, Rule};

pub(crate) const TCP_OPTIONS_DECODE: Rule =
    Rule { file: "tcp_options_decode", check: tcp_options_decode };

fn tcp_options_decode(row: &mut Row) {
    let digits = row.text("option_bytes_hex");
    let bytes: Vec<u8> = (0..digits.len() / 2)
        .map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap())
        .collect();
    row.expect_count("length_bytes", bytes.len() as u64);
    let words: Vec<String> = walk(&bytes).map(|item| item.to_string()).collect();
    row.expect_text("decoded", &words.join(" "));
}
