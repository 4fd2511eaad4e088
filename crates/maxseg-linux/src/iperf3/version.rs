//! The version of the installed iperf3.

use std::fmt;
use std::io;
use std::process::{Command, Stdio};

use thiserror::Error;

/// A version of iperf3. 3.12 is newer than 3.9.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// Major number: 3.
    pub major: u32,
    /// Minor number: 12 in `3.12`.
    pub minor: u32,
    /// Patch number: 3 in `3.1.3`; 0 if absent.
    pub patch: u32,
}

/// The oldest supported version: the first with `--congestion` and the JSON keys of a [`Report`](super::Report) that are needed. Keys
/// of later versions are `None` in it.
pub const OLDEST: Version = Version { major: 3, minor: 1, patch: 0 };

/// Why iperf3 cannot be used.
#[derive(Debug, Error)]
pub enum VersionError {
    /// It cannot be started.
    #[error("iperf3 cannot be run: {0}")]
    NotRun(#[from] io::Error),
    /// Its output is not a version.
    #[error("`iperf3 --version` prints `{0}`, which is not a version of iperf3")]
    Another(String),
    /// It is older than [`OLDEST`].
    #[error("iperf3 {0} is installed; {OLDEST} or later is needed")]
    TooOld(Version),
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)?;
        if self.patch > 0 { write!(f, ".{}", self.patch) } else { Ok(()) }
    }
}

/// Runs `command --version` and parses the output.
///
/// # Errors
/// It does not run, is another program, or is too old.
pub fn version_of(command: &mut Command) -> Result<Version, VersionError> {
    let output = command.arg("--version").stdin(Stdio::null()).output()?;
    Version::accepted(&String::from_utf8_lossy(&output.stdout))
}

impl Version {
    /// Parses the output of `iperf3 --version`.
    fn accepted(text: &str) -> Result<Self, VersionError> {
        let first = text.lines().next().unwrap_or_default();
        let Some(version) = Self::parse(first) else {
            return Err(VersionError::Another(first.chars().take(60).collect()));
        };
        if version < OLDEST { Err(VersionError::TooOld(version)) } else { Ok(version) }
    }

    /// Parses `iperf 3.12 (cJSON 1.7.15)`. Suffixes as in `3.17.1+` and `3.1b3` are ignored; iperf 2 prints
    /// `iperf version 2.1.8`.
    fn parse(line: &str) -> Option<Self> {
        let version = line.strip_prefix("iperf ")?.split_whitespace().next()?;
        let mut numbers = version.split('.').map(|part| {
            let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
            part.get(..end)?.parse().ok()
        });
        let (major, minor) = (numbers.next()??, numbers.next()??);
        let patch = numbers.next().flatten().unwrap_or(0);
        (major == OLDEST.major).then_some(Self { major, minor, patch })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn versions_as_they_are_printed() {
        let cases = [
            ("iperf 3.12 (cJSON 1.7.15)\nLinux host …", "3.12"),
            ("iperf 3.1.3\n", "3.1.3"),
            ("iperf 3.17.1+ (cJSON 1.7.15)", "3.17.1"),
            ("iperf 3.0.7", "iperf3 3.0.7 is installed; 3.1 or later is needed"),
            (
                "iperf version 2.1.8 (12 August 2022) pthreads",
                "`iperf3 --version` prints `iperf version 2.1.8 (12 August 2022) pthreads`, which is not a version of iperf3",
            ),
            (
                "iperf 4.0",
                "`iperf3 --version` prints `iperf 4.0`, which is not a version of iperf3",
            ),
            ("iperf 3", "`iperf3 --version` prints `iperf 3`, which is not a version of iperf3"),
            ("", "`iperf3 --version` prints ``, which is not a version of iperf3"),
        ];
        for (text, want) in cases {
            let said = match Version::accepted(text) {
                Ok(version) => version.to_string(),
                Err(error) => error.to_string(),
            };
            assert_eq!(said, want);
        }
        let newer = |a, b| Version::accepted(a).unwrap() > Version::accepted(b).unwrap();
        assert!(newer("iperf 3.12", "iperf 3.9"));
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error() {
        let error = version_of(&mut Command::new("/no/such/iperf3")).unwrap_err();
        assert!(matches!(error, VersionError::NotRun(_)), "{error}");
    }

    proptest! {
        #[test]
        fn any_answer_is_judged(text: String, number in "iperf [0-9.+a-z]{0,30}") {
            let _ = (Version::accepted(&text), Version::accepted(&number));
        }
    }
}
