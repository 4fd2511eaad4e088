//! Scenarios that come with the program.

/// Name and text of every shipped scenario.
pub(crate) const SCENARIOS: [(&str, &str); 15] = [
    ("slow-tunnel", include_str!("../../../scenarios/slow-tunnel.toml")),
    ("cellular-mss", include_str!("../../../scenarios/cellular-mss.toml")),
    ("cellular-udp", include_str!("../../../scenarios/cellular-udp.toml")),
    ("fddi-long-delay", include_str!("../../../scenarios/fddi-long-delay.toml")),
    ("freebsd-route-pipe", include_str!("../../../scenarios/freebsd-route-pipe.toml")),
    ("browse-while-downloading", include_str!("../../../scenarios/browse-while-downloading.toml")),
    ("slow-link-tune-up", include_str!("../../../scenarios/slow-link-tune-up.toml")),
    ("stcp-ftp", include_str!("../../../scenarios/stcp-ftp.toml")),
    ("open-transport-modem", include_str!("../../../scenarios/open-transport-modem.toml")),
    ("cellular-arq", include_str!("../../../scenarios/cellular-arq.toml")),
    ("fragmenting-router", include_str!("../../../scenarios/fragmenting-router.toml")),
    ("cellular-requests", include_str!("../../../scenarios/cellular-requests.toml")),
    ("cable-modem", include_str!("../../../scenarios/cable-modem.toml")),
    ("jumbo-frames", include_str!("../../../scenarios/jumbo-frames.toml")),
    ("jumbo-wan", include_str!("../../../scenarios/jumbo-wan.toml")),
];

/// The shipped scenario called `name`, with or without its ending.
pub(crate) fn scenario(name: &str) -> Option<&'static str> {
    let stem = name.strip_suffix(".toml").unwrap_or(name);
    SCENARIOS.iter().find(|(known, _)| *known == stem).map(|(_, text)| *text)
}
