//! What a drawn run sends.

use serde::{Deserialize, Serialize};

/// Payload of a request.
const REQUEST_BYTES: u64 = 300;

/// What the application does.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Application {
    /// Writes as much as it can until the time is over.
    Bulk,
    /// Writes so much.
    Bytes(u64),
    /// Answers requests on one connection.
    Requests {
        /// Payload of each reply.
        reply_bytes: u64,
        /// From a request to its reply.
        think_s: f64,
    },
}

impl Application {
    /// Its flow in a scenario's file. Requests are asked by the receiver, so that their replies travel forward.
    pub(crate) fn to_flow(self) -> String {
        match self {
            Self::Bulk | Self::Bytes(_) => "[[flow]]\nkind = \"bulk\"\n".to_owned(),
            Self::Requests { reply_bytes, think_s } => format!(
                "[[flow]]\nkind = \"request\"\nfrom = \"receiver\"\nrequest = \"{REQUEST_BYTES} B\"\n\
                 reply = \"{reply_bytes} B\"\nthink = \"{:.3} ms\"\n",
                1000.0 * think_s
            ),
        }
    }

    /// When the run ends, in a scenario's file: after so long at most.
    pub(crate) fn to_until(self, seconds: f64) -> String {
        let bytes = match self {
            Self::Bytes(bytes) => format!("bytes = \"{bytes} B\"\n"),
            Self::Bulk | Self::Requests { .. } => String::new(),
        };
        format!("[until]\ntime = \"{seconds:.3} s\"\n{bytes}")
    }

    /// As the end of a list of parameters; nothing for bulk.
    pub(crate) fn in_words(self) -> String {
        match self {
            Self::Bulk => String::new(),
            Self::Bytes(bytes) => format!(", {:.0} kB", bytes as f64 / 1e3),
            Self::Requests { reply_bytes, think_s } => format!(
                ", replies of {:.1} kB after {:.0} ms",
                reply_bytes as f64 / 1e3,
                1000.0 * think_s
            ),
        }
    }
}
