//! Topologies that cannot be imported. Names are shown as plain text, without control characters.

/// Why a topology gives no scenario.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The file is empty.
    #[error("{file} is empty")]
    Empty {
        /// The file.
        file: String,
    },
    /// The file is not JSON.
    #[error("{file}:{line}:{column}: {what}")]
    NotJson {
        /// The file.
        file: String,
        /// From 1.
        line: usize,
        /// From 1, in bytes.
        column: usize,
        /// What is wrong there.
        what: String,
        /// What the file may be instead.
        guess: &'static str,
    },
    /// The file is JSON, and not what MiniEdit saves.
    #[error("{file} is not a MiniEdit topology: {what}")]
    NotMiniedit {
        /// The file.
        file: String,
        /// What is wrong with it.
        what: String,
    },
    /// An option of a link has a value that it cannot have.
    #[error("{file}: `{key}` {is}; it takes {takes}")]
    WrongOption {
        /// The file.
        file: String,
        /// Where in the file, as in `links[0].opts.bw`.
        key: String,
        /// The link's nodes and the value, as JSON: `of h1 - s1 is "fast"`.
        is: String,
        /// What the option takes.
        takes: &'static str,
        /// A line that works.
        example: &'static str,
    },
    /// The topology has no host.
    #[error("this topology has no host")]
    NoHost,
    /// The topology has a single host.
    #[error("this topology has one host, {host}")]
    OneHost {
        /// Its name.
        host: String,
    },
    /// More than two hosts, and the ends are not chosen.
    #[error("this topology has {count} hosts: {hosts}")]
    ManyHosts {
        /// How many.
        count: usize,
        /// Their names.
        hosts: String,
    },
    /// Both ends are one host.
    #[error("--from and --to are the same host")]
    SameHost {
        /// The hosts' names.
        hosts: String,
    },
    /// An end is a switch.
    #[error("{name} is not a host but a switch")]
    NotAHost {
        /// Its name.
        name: String,
        /// The hosts' names.
        hosts: String,
    },
    /// An end is not there.
    #[error("there is no host {name}")]
    UnknownHost {
        /// Its name.
        name: String,
        /// A name that is close to it.
        similar: Option<String>,
        /// The hosts' names.
        hosts: String,
    },
    /// The links do not join the ends.
    #[error("no path leads from {from} to {to}")]
    NoPath {
        /// The sender.
        from: String,
        /// The receiver.
        to: String,
        /// Where the links lead from the sender; `None` where it has no link.
        reached: Option<String>,
    },
    /// The links make a loop.
    #[error("more than one path leads from {from} to {to}: {path}, and {around}")]
    ManyPaths {
        /// The sender.
        from: String,
        /// The receiver.
        to: String,
        /// One path.
        path: String,
        /// Another.
        around: String,
    },
}

impl ImportError {
    pub(super) fn hint(&self) -> String {
        match self {
            Self::Empty { .. } => {
                "MiniEdit of Mininet 2.3.0 saves empty files under Python 3 (Mininet's issue 1086): \
                 save the topology again with a newer one"
                    .to_owned()
            }
            Self::NotJson { guess, .. } => (*guess).to_owned(),
            Self::NotMiniedit { .. } => {
                "MiniEdit's File > Save writes a table with `hosts`, `switches` and `links`".to_owned()
            }
            Self::WrongOption { example, .. } => {
                format!("for example {example}; or take it out: the link then has Mininet's default")
            }
            Self::NoHost => {
                "a path needs two: add them in MiniEdit, each with a link to a switch".to_owned()
            }
            Self::OneHost { .. } => "a path needs two: add another in MiniEdit".to_owned(),
            Self::ManyHosts { .. } => {
                "a scenario has two: choose them with --from HOST --to HOST".to_owned()
            }
            Self::SameHost { hosts }
            | Self::NotAHost { hosts, .. }
            | Self::UnknownHost { similar: None, hosts, .. } => format!("hosts: {hosts}"),
            Self::UnknownHost { similar: Some(similar), hosts, .. } => {
                format!("did you mean {similar}? hosts: {hosts}")
            }
            Self::NoPath { from, reached: None, .. } => {
                format!("{from} has no link: join it in MiniEdit")
            }
            Self::NoPath { from, reached: Some(reached), .. } => {
                format!("from {from} the links lead to {reached}; a host between passes nothing on")
            }
            Self::ManyPaths { .. } => {
                "a scenario is a chain: take a link of the loop out in MiniEdit, or choose other hosts \
                 with --from HOST --to HOST"
                    .to_owned()
            }
        }
    }
}
