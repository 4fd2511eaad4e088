//! Sysctls that old guides set and that do nothing any more.

/// The name, and what became of it (`Documentation/networking/ip-sysctl.rst` of the kernel, and its history).
const RETIRED: [(&str, &str); 2] = [
    (
        "net.ipv4.tcp_low_latency",
        "it has had no effect since Linux 4.14, and only the machine's first network namespace has it: leave it out",
    ),
    (
        "net.ipv4.tcp_tw_recycle",
        "Linux 4.12 removed it, as it refused connections of hosts behind one NAT: leave it out",
    ),
];

/// What became of a sysctl that does nothing any more; `None` of others.
pub fn retired(name: &str) -> Option<&'static str> {
    RETIRED.iter().find(|(old, _)| *old == name).map(|(_, what)| *what)
}
