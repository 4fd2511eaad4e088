//! Errors of `tc`, with their hints.

use thiserror::Error;

use super::command::TcReply;

/// Why `tc` failed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TcError {
    /// The kernel has no such qdisc, neither built in nor as a module that it could load.
    #[error("this kernel has no such qdisc")]
    UnknownKind,
    /// `tc` itself does not know it.
    #[error("this tc does not know the qdisc `{0}`")]
    UnknownToTc(String),
    /// `tc` does not know a word of it.
    #[error("this tc does not know the option `{0}`")]
    UnknownOption(String),
    /// It takes `CAP_NET_ADMIN` in the interface's network namespace.
    #[error("this user may not change qdiscs here")]
    NotPermitted,
    /// There is no such interface in this namespace.
    #[error("there is no interface `{0}`")]
    NoDevice(String),
    /// There is a qdisc at this place already.
    #[error("there is a qdisc at this place already")]
    Occupied,
    /// Anything else, in its own words.
    #[error("tc: {0}")]
    Other(String),
}

impl TcError {
    /// Reads the error from the output of a failed `tc`.
    pub fn of(reply: &TcReply) -> Self {
        let said = reply.stderr.as_str();
        let has = |text: &str| said.contains(text);
        // Before Linux 4.16 and its extended acknowledgements, the error code is all there is.
        let no_module = "RTNETLINK answers: No such file or directory";
        if has("Specified qdisc kind is unknown") || has(no_module) {
            Self::UnknownKind
        } else if let Some(kind) = between(said, "Unknown qdisc \"", "\"") {
            Self::UnknownToTc(kind)
        } else if let Some(word) = between(said, "What is \"", "\"?") {
            Self::UnknownOption(word)
        } else if has("Operation not permitted") {
            Self::NotPermitted
        } else if let Some(device) = between(said, "Cannot find device \"", "\"") {
            Self::NoDevice(device)
        } else if has("Exclusivity flag on, cannot modify") || has("File exists") {
            Self::Occupied
        } else {
            let line = said.lines().find(|line| !line.trim().is_empty());
            Self::Other(line.unwrap_or("failed, and said nothing").trim().to_owned())
        }
    }

    /// How to fix it, where known.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::UnknownKind => Some(
                "as root, `modprobe sch_netem`; where there is no such module, install it: \
                 `linux-modules-extra-$(uname -r)` on Ubuntu, `kernel-modules-extra` on Fedora, in Debian's \
                 linux-image already. Or use the default backend, which needs none",
            ),
            Self::UnknownToTc(_) | Self::UnknownOption(_) => Some("install a newer iproute2"),
            Self::NotPermitted => {
                Some("run as root, or in a user namespace: `unshare --user --map-root-user --net`")
            }
            Self::Occupied => Some("take it out first: `tc qdisc del dev DEVICE root`"),
            Self::NoDevice(_) | Self::Other(_) => None,
        }
    }
}

fn between(text: &str, before: &str, after: &str) -> Option<String> {
    let (_, rest) = text.split_once(before)?;
    Some(rest.split_once(after)?.0.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tc_says_is_understood() {
        // What iproute2 6.1 wrote on kernel 6.18 (the first six), and iproute2 4.9 on 4.9.
        let cases = [
            ("Error: Specified qdisc kind is unknown.\n", TcError::UnknownKind),
            (
                "Unknown qdisc \"foo\", hence option \"limit\" is unparsable\n",
                TcError::UnknownToTc("foo".to_owned()),
            ),
            (
                "What is \"seed\"?\nUsage: ... netem [ limit PACKETS ]\n",
                TcError::UnknownOption("seed".to_owned()),
            ),
            ("RTNETLINK answers: Operation not permitted\n", TcError::NotPermitted),
            ("Cannot find device \"nodev\"\n", TcError::NoDevice("nodev".to_owned())),
            ("Error: Exclusivity flag on, cannot modify.\n", TcError::Occupied),
            ("RTNETLINK answers: No such file or directory\n", TcError::UnknownKind),
            ("RTNETLINK answers: File exists\n", TcError::Occupied),
            ("\nIllegal \"loss\"\n", TcError::Other("Illegal \"loss\"".to_owned())),
            ("", TcError::Other("failed, and said nothing".to_owned())),
            ("What is \"", TcError::Other("What is \"".to_owned())), // cut short
        ];
        for (stderr, want) in cases {
            let reply = TcReply { stderr: stderr.to_owned(), ..TcReply::default() };
            assert_eq!(TcError::of(&reply), want, "{stderr}");
        }
    }

    #[test]
    fn a_missing_module_is_named() {
        assert!(TcError::UnknownKind.hint().unwrap().contains("modprobe sch_netem"));
    }
}
