//! What `ss -D` wrote.

use std::fs;
use std::path::Path;

use maxseg_workbench::connections::Listing;

use crate::failure::Failure;

/// The content of a file; of standard input for `-`.
pub(super) fn bytes_of(file: &Path) -> Result<Vec<u8>, Failure> {
    let bytes = if file.as_os_str() == "-" {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut std::io::stdin().lock(), &mut bytes).map(|_| bytes)
    } else {
        fs::read(file)
    };
    bytes.map_err(|error| Failure::file("read", file, &error))
}

pub(super) fn shown_name(file: &Path) -> std::path::Display<'_> {
    if file.as_os_str() == "-" { Path::new("standard input") } else { file }.display()
}

pub(super) fn read_dump<'b>(file: &Path, bytes: &'b [u8]) -> Result<Listing<'b>, Failure> {
    /// First bytes of pcapng, as recordings have them.
    const RECORDING: &[u8] = b"\n\r\r\n";
    Listing::from_dump(bytes).map_err(|(offset, error)| {
        if bytes.starts_with(RECORDING) {
            return Failure::with_hint(
                format!("{} is no socket dump, but pcapng", shown_name(file)),
                "a recording of sockets is listed by `maxseg connections --open FILE`, and shown by `maxseg top --open FILE`; a capture \
                 of packets by `maxseg explain FILE`",
            );
        }
        Failure::with_hint(
            format!("{}: byte {offset}: not a socket dump: {error}", shown_name(file)),
            "`ss -tinmO -D FILE` writes such a file; without -i and -m there is less to judge by",
        )
    })
}
