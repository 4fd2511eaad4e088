//! The layers.

/// A crate's modules in groups, each using only those of groups to its left.
#[derive(Debug)]
pub(super) struct Layers {
    /// The crate.
    pub(super) name: &'static str,
    /// The modules at its root.
    pub(super) groups: &'static [&'static [&'static str]],
}

/// Made evidence and rows: the tests of every crate may use it, those of the core included.
pub(super) const TESTKIT: &str = "maxseg-testkit";

/// The crates: each depends only on those above it.
pub(super) const CRATES: [Layers; 7] = [
    Layers {
        name: "maxseg-core",
        groups: &[
            &["units", "similar", "excerpt"],
            &["stats", "rng", "framing", "tunables"],
            &["errors", "mss", "window"],
            &["path", "path_mtu", "settings"],
            &["scenario", "outcome", "evidence"],
            &["engine", "diagnose"],
            &["results", "why"],
            &["compare"],
            &["link"],
            &["tcp"],
            &["model", "sim"],
            &["advise", "rfc6349", "tune"],
        ],
    },
    Layers {
        name: "maxseg-testkit",
        groups: &[&["captures", "connections", "everybody", "flights", "rows", "sample", "spoil"]],
    },
    Layers {
        name: "maxseg-wire",
        groups: &[
            &["btf", "error", "checksum", "numbers", "pcap", "procnet"],
            &["fields", "link_type", "options", "tcp_info"],
            &["inet_diag", "ip", "pcapng"],
            &["bpf", "icmp", "tcp", "udp", "capture_file", "responder"],
            &["encapsulation", "path_probe", "synthetic"],
            &["flow"],
            &["joined", "tshark"],
            &["fuzz", "reading"],
        ],
    },
    Layers {
        name: "maxseg-linux",
        groups: &[
            &["sys"],
            &["netlink", "iperf3", "transfer"],
            &["observe"],
            &["probe"],
            &["far_end", "responder", "tune"],
            &["lab"],
            &["doctor"],
        ],
    },
    Layers {
        name: "maxseg-workbench",
        groups: &[
            &["file_error", "host_port", "json_words"],
            &["error", "environment", "whole_file"],
            &["parallel"],
            &["engines"],
            &["experiment", "calc", "connections", "explain", "import", "measured"],
            &["capture", "compare", "path", "tune", "why"],
            &["advise", "fuzz"],
            &["report", "runner"],
        ],
    },
    Layers {
        name: "maxseg",
        groups: &[
            &["failure", "shipped", "growing_file", "interrupt", "roff", "wrap"],
            &["printer"],
            &["calc", "monitor", "progress", "reference", "top"],
            &["report"],
            &["cli"],
        ],
    },
    Layers {
        name: "xtask",
        groups: &[
            &["check_licences", "layers", "parallel", "sysctls", "tables"],
            &["results", "fuzz", "linux", "ns2", "ns3", "packetdrill", "bench"],
            &["draws"],
            &["advise", "experiments", "generate", "explain", "lab", "path", "rfc6349", "validate"],
            &["gain"],
            &["test"],
            &["mutants", "qemu"],
        ],
    },
];

impl Layers {
    /// Where its sources are, below the repository's root.
    pub(super) fn source(&self) -> String {
        if self.name == "xtask" {
            return "xtask/src".to_owned();
        }
        format!("crates/{}/src", self.name)
    }

    /// The place of a module's group; `None` for one that is in no group.
    pub(super) fn rank(&self, module: &str) -> Option<usize> {
        self.groups.iter().position(|group| group.contains(&module))
    }

    /// Every module that is listed.
    pub(super) fn modules(&self) -> impl Iterator<Item = &'static str> {
        self.groups.iter().flat_map(|group| group.iter().copied())
    }
}
