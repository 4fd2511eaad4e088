//! A cpio archive as the kernel unpacks it (`Documentation/driver-api/early-userspace/buffer-format.rst`,
//! "newc").

use std::collections::BTreeSet;
use std::path::Path;

/// What is written so far.
#[derive(Default)]
pub(super) struct Archive {
    bytes: Vec<u8>,
    entries: u32,
    folders: BTreeSet<String>,
}

const FOLDER: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;

impl Archive {
    /// A folder and those above it; the path is absolute.
    pub(super) fn folder(&mut self, path: &str) {
        let path = path.trim_matches('/');
        if path.is_empty() || !self.folders.insert(path.to_owned()) {
            return;
        }
        if let Some(above) = Path::new(path).parent().and_then(Path::to_str) {
            self.folder(above);
        }
        self.entry(path, FOLDER, &[]);
    }

    /// A file that may be run, in its folders.
    pub(super) fn file(&mut self, path: &str, content: &[u8]) {
        if let Some(above) = Path::new(path).parent().and_then(Path::to_str) {
            self.folder(above);
        }
        self.entry(path.trim_matches('/'), PROGRAM, content);
    }

    /// The whole archive.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, &[]);
        self.bytes
    }

    fn entry(&mut self, name: &str, mode: u32, content: &[u8]) {
        self.entries += 1;
        let length = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX);
        // Inode, mode, owner and group, links, time, size, four device numbers, size of the name with
        // its NUL, no checksum.
        let (size, name_size) = (length(content.len()), length(name.len() + 1));
        let fields = [self.entries, mode, 0, 0, 1, 0, size, 0, 0, 0, 0, name_size, 0];
        self.bytes.extend_from_slice(b"070701");
        for field in fields {
            self.bytes.extend_from_slice(format!("{field:08X}").as_bytes());
        }
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend_from_slice(content);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_come_before_what_is_in_them_and_everything_is_aligned() {
        let mut archive = Archive::default();
        archive.file("/usr/bin/x", b"abc");
        archive.file("/usr/y", b"");
        let bytes = archive.finish();
        assert_eq!(bytes.len() % 4, 0);
        let text = String::from_utf8_lossy(&bytes);
        let place = |name: &str| text.find(name).unwrap();
        assert!(place("usr\0") < place("usr/bin\0"));
        assert!(place("usr/bin\0") < place("usr/bin/x\0"));
        assert!(place("usr/bin/x\0") < place("usr/y\0"));
        assert_eq!(text.matches("070701").count(), 5, "two folders, two files, the end");
        // The third entry: a file of 3 bytes with a name of 10.
        let header = &text[place("usr/bin/x\0") - 110..];
        assert_eq!(&header[..6], "070701");
        assert_eq!((&header[54..62], &header[94..102]), ("00000003", "0000000A"));
    }
}
