//! Bytes, as numbers and as characters.

use std::fmt::Write as _;

/// Bytes of a line.
const LINE: usize = 16;

/// Appends the bytes, sixteen a line, with their place before and their characters behind them.
pub(super) fn dump(bytes: &[u8], out: &mut String) {
    for (n, line) in bytes.chunks(LINE).enumerate() {
        let mut numbers = String::new();
        for pair in line.chunks(2) {
            let pair: String = pair.iter().map(|byte| format!("{byte:02x}")).collect();
            let _ = write!(numbers, "{pair:5}");
        }
        let is_shown = |byte: u8| byte.is_ascii_graphic() || byte == b' ';
        let character = |byte: &u8| if is_shown(*byte) { char::from(*byte) } else { '.' };
        let characters: String = line.iter().map(character).collect();
        let _ = writeln!(out, "    {:#06x}:  {numbers:40} {}", n * LINE, characters.trim_end());
    }
}

/// The bytes as digits.
pub(super) fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
