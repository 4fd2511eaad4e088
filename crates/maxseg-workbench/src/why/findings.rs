//! What route, interface and firewall of this host show about a connection.

use maxseg_core::diagnose::{FindingKind, SocketFinding};
use maxseg_core::framing::IpVersion;
use maxseg_core::mss::default_mss;
use maxseg_core::why::{Chain, MssWhy, Source, WindowFacts, lasting_clamp};
use maxseg_linux::observe::path::PathReading;

/// The facts, the gravest first.
pub(super) fn of_path(
    facts: &WindowFacts,
    window: &Chain,
    mss: &MssWhy,
    path: &PathReading,
    is_held_by_route: bool,
) -> Vec<SocketFinding> {
    let clamped = if is_held_by_route { held_by_route(facts, window) } else { lasting(facts) };
    [clamped, small_mss(mss), locked_mtu(path)].into_iter().flatten().collect()
}

const fn found(kind: FindingKind, text: String) -> SocketFinding {
    SocketFinding { kind, text }
}

/// FreeBSD's PR 6032, on Linux.
fn held_by_route(facts: &WindowFacts, window: &Chain) -> Option<SocketFinding> {
    let (route, buffer) = (facts.route_window?.get(), facts.buffer?.get());
    let how = if window.winner().is_some_and(|link| link.source == Source::RouteWindow) {
        "clamps the window"
    } else {
        "has clamped the window at the SYN, and with it the window scale for good"
    };
    Some(found(
        FindingKind::WindowClamped,
        format!(
            "`window {route}` of the route {how}: at most {} bytes are offered, and the receive buffer has {buffer} \
             (FreeBSD PR 6032: a route's metric wins over SO_RCVBUF)",
            window.effective.get()
        ),
    ))
}

/// A window scale that was chosen for less than the host's buffers.
fn lasting(facts: &WindowFacts) -> Option<SocketFinding> {
    let carries = lasting_clamp(facts)?.get();
    // A window that is far from that is not held by it.
    (facts.grown.get() >= carries).then(|| {
        found(
            FindingKind::WindowClamped,
            format!(
                "the window scale carries {carries} bytes at most: it was chosen at the SYN for a smaller clamp or buffer than \
                 this host has now"
            ),
        )
    })
}

/// Segments as small as for a peer without an MSS option, on an MTU that would allow far more.
fn small_mss(mss: &MssWhy) -> Option<SocketFinding> {
    let winner = mss.sent.winner()?;
    let small = u64::from(default_mss(IpVersion::V4));
    // What probing has found, or a small window, is not of the handshake.
    let is_open = [Source::MtuProbing, Source::PeerWindow]
        .iter()
        .any(|source| winner.one_of.contains(source));
    let effective = mss.sent.effective;
    let is_small = winner.source == Source::MssClamp && !is_open && effective.get() <= small;
    // The kernel goes by what was learnt, else by the route, else by the interface.
    let by_mtu = [Source::PathMtu, Source::RouteMtu, Source::InterfaceMtu]
        .into_iter()
        .find_map(|source| mss.sent.link(source)?.allows)?;
    is_small.then(|| {
        found(
            FindingKind::SmallMss,
            format!(
                "segments carry {} bytes, as the handshake has it: the MTU allows {}",
                effective.get(),
                by_mtu.get()
            ),
        )
    })
}

/// A locked MTU clears DF.
fn locked_mtu(path: &PathReading) -> Option<SocketFinding> {
    let route = path.route.as_ref().ok().filter(|route| route.is_mtu_locked)?;
    Some(found(
        FindingKind::Fragmentation,
        format!(
            "`mtu lock {}` of the route clears DF: routers may fragment these packets, and path MTU discovery is off",
            route.metric("mtu").unwrap_or_default()
        ),
    ))
}
