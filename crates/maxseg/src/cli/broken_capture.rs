//! Captures that are broken in the middle: nothing of them is printed, and the hint is how to use what comes before.

use maxseg_wire::capture_file::Compression;
use maxseg_workbench::file_error::for_shell;

/// How to give `command` what comes before byte `offset` of `file`, counted in what it holds decompressed.
pub(super) fn hint(
    file: &str,
    compression: Option<Compression>,
    offset: u64,
    packets: u64,
    command: &str,
) -> String {
    if packets == 0 {
        return "no packet comes before that: capture again, as in maxseg capture -w new.pcapng"
            .to_owned();
    }
    let name = for_shell(file);
    let first = match compression {
        _ if file == "-" => format!("... | head -c {offset}"),
        None => format!("head -c {offset} {name}"),
        Some(Compression::Gzip) => format!("gzip -dc < {name} | head -c {offset}"),
        Some(Compression::Zstd) => format!("zstd -dc < {name} | head -c {offset}"),
    };
    format!("what comes before that is whole: {first} | maxseg {command}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_quotes_the_file_and_decompresses_it() {
        let of = |file, compression| hint(file, compression, 4711, 3, "explain -");
        assert!(of("a.pcap", None).ends_with(": head -c 4711 a.pcap | maxseg explain -"));
        assert!(of("it's", None).ends_with(r": head -c 4711 'it'\''s' | maxseg explain -"));
        let gzip = of("a.pcap.gz", Some(Compression::Gzip));
        assert!(gzip.ends_with(": gzip -dc < a.pcap.gz | head -c 4711 | maxseg explain -"));
        assert!(hint("a.pcap", None, 24, 0, "explain -").starts_with("no packet"));
    }
}
