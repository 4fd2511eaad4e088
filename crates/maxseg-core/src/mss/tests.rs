use proptest::prelude::*;

use super::*;
use crate::units::{Bytes, Mss, Mtu};

fn mtu(n: u64) -> Mtu {
    Mtu::new(n).unwrap()
}

fn value(derivation: &Derivation) -> (u64, Cause) {
    (derivation.value().get(), derivation.winner())
}

fn ethernet() -> rfc::Inputs {
    rfc::Inputs {
        ip: IpVersion::V4,
        local_mtu: Mtu::ETHERNET,
        peer_option: Some(1460),
        path_mtu: None,
        user_mss: None,
        ip_options: Bytes::ZERO,
        tcp_options: Bytes::new(12),
    }
}

#[test]
fn the_rfc_decision_says_who_won() {
    let effective = |inputs| value(&rfc::decide(&inputs).effective);
    let plain = ethernet();
    assert_eq!(effective(plain), (1448, Cause::PeerOption));
    let path_mtu = Some(mtu(1006));
    assert_eq!(effective(rfc::Inputs { path_mtu, ..plain }), (954, Cause::PathMtu));
    assert_eq!(effective(rfc::Inputs { peer_option: None, ..plain }), (524, Cause::NoPeerOption));
    let user_mss = Some(Mss::new(1400).unwrap());
    assert_eq!(effective(rfc::Inputs { user_mss, ..plain }), (1388, Cause::UserMss));
    let local_mtu = mtu(576);
    assert_eq!(effective(rfc::Inputs { local_mtu, ..plain }), (524, Cause::InterfaceMtu));
}

#[test]
fn the_option_is_never_reduced_for_options() {
    let decision = rfc::decide(&rfc::Inputs { ip_options: Bytes::new(40), ..ethernet() });
    assert_eq!(value(&decision.advertised), (1460, Cause::InterfaceMtu));
    assert_eq!(decision.effective.value(), Bytes::new(1408));
    assert_eq!(decision.packet, Bytes::new(1500));
}

fn linux_inputs() -> linux::Inputs {
    linux::Inputs {
        ip: IpVersion::V4,
        device_mtu: Mtu::ETHERNET,
        route_mtu: None,
        route_advmss: None,
        user_mss: None,
        peer_option: Some(1460),
        timestamps: true,
        ip_options: Bytes::ZERO,
        peer_max_window: Some(Bytes::new(65_160)),
    }
}

#[test]
fn linux_halves_a_small_window() {
    let mss = |window| {
        let peer_max_window = Some(Bytes::new(window));
        let inputs = linux::Inputs { timestamps: false, peer_max_window, ..linux_inputs() };
        value(&linux::decide(&inputs).mss_cache)
    };
    assert_eq!(mss(64_240), (1460, Cause::InterfaceMtu));
    assert_eq!(mss(1460), (730, Cause::PeerWindow));
    assert_eq!(mss(536), (536, Cause::PeerWindow));
    assert_eq!(mss(10), (48, Cause::Floor));
    assert_eq!(mss(0), (1460, Cause::InterfaceMtu), "no window was seen yet");
}

/// `max_t(int, cutoff, 68U - tp->tcp_header_len)`: the derivation and the number agree.
#[test]
fn a_tiny_window_leaves_68_bytes_less_the_header() {
    for (timestamps, window, mss) in
        [(false, 40, 48), (true, 40, 40), (true, 20, 36), (false, 60, 60), (true, 1460, 730)]
    {
        let (window, options) = (Bytes::new(window), if timestamps { 12 } else { 0 });
        let inputs = linux::Inputs { timestamps, peer_max_window: Some(window), ..linux_inputs() };
        assert_eq!(linux::decide(&inputs).mss_cache.value().get(), mss, "{window}");
        let full = Bytes::new(1460 - options);
        let bound = linux::bound_to_half_window(full, window, Bytes::new(options));
        assert_eq!(bound.get(), mss, "{window}");
    }
}

#[test]
fn a_route_s_advmss_limits_only_what_the_peer_sends() {
    let inputs = linux::Inputs { route_advmss: Some(1000), ..linux_inputs() };
    let decision = linux::decide(&inputs);
    assert_eq!(value(&decision.advertised), (1000, Cause::RouteAdvmss));
    assert_eq!(value(&decision.mss_cache), (1448, Cause::InterfaceMtu));
    let small = linux::Inputs { device_mtu: mtu(200), ..linux_inputs() };
    assert_eq!(value(&linux::decide(&small).advertised), (256, Cause::Floor));
}

fn fddi(size: u64, route_pipe: Option<u64>) -> freebsd::Inputs {
    let buffer = freebsd::Buffer {
        size: Bytes::new(size),
        is_default: false,
        route_pipe: route_pipe.map(Bytes::new),
    };
    freebsd::Inputs {
        mtu: mtu(4352),
        peer_option: Some(4312),
        timestamps: true,
        send: buffer,
        receive: buffer,
        buffer_limit: Bytes::new(256 << 10),
    }
}

/// FreeBSD problem report 6032: 128 KiB asked for, 16 KiB on the route.
#[test]
fn a_route_shrank_the_window_until_it_was_patched() {
    use freebsd::Release::{Modern, V22, V22Patched};
    let inputs = fddi(128 << 10, Some(16 << 10));
    let buffer = |release| value(&freebsd::decide(release, &inputs).receive_buffer);
    assert_eq!(buffer(V22), (16 << 10, Cause::RoutePipe));
    assert_eq!(buffer(V22Patched), (128 << 10, Cause::SocketBuffer));
    assert_eq!(buffer(Modern), (133_672, Cause::Segments)); // 31 × 4312
    let maxseg = |release| value(&freebsd::decide(release, &inputs).maxseg);
    assert_eq!(maxseg(V22), (4096, Cause::Clusters));
    assert_eq!(maxseg(Modern), (4312, Cause::InterfaceMtu));
}

#[test]
fn a_buffer_below_a_segment_is_the_segment() {
    let decision = freebsd::decide(freebsd::Release::V22, &fddi(1000, None));
    assert_eq!(value(&decision.maxseg), (1000, Cause::SocketBuffer));
    assert_eq!(value(&decision.send_buffer), (1000, Cause::SocketBuffer));
    // A buffer that the application left alone takes the route's size.
    let mut inputs = fddi(32 << 10, Some(64 << 10));
    inputs.send.is_default = true;
    let decision = freebsd::decide(freebsd::Release::Modern, &inputs);
    assert_eq!(decision.send_buffer.value(), Bytes::new(16 * 4312));
    assert_eq!(decision.receive_buffer.value(), Bytes::new(8 * 4312));
}

#[test]
fn stcp_sends_536_off_its_subnet_whatever_is_offered() {
    let remote = stcp::Inputs {
        local_mtu: Mtu::ETHERNET,
        same_subnet: false,
        min_mtu: stcp::DEFAULT_MIN_MTU,
        peer_option: Some(1460),
    };
    let decision = stcp::decide(&remote);
    assert_eq!(value(&decision.advertised), (536, Cause::OffSubnet));
    assert_eq!(value(&decision.effective), (536, Cause::OffSubnet));
    let effective = |inputs| stcp::decide(&inputs).effective.value().get();
    assert_eq!(effective(stcp::Inputs { min_mtu: Bytes::new(1480), ..remote }), 1460);
    assert_eq!(effective(stcp::Inputs { same_subnet: true, ..remote }), 1460);
    let lower = stcp::Inputs { same_subnet: true, peer_option: Some(1370), ..remote };
    assert_eq!(effective(lower), 1370);
}

proptest! {
    /// Whatever the inputs, a full segment passes the interface and the path, and nothing panics.
    #[test]
    fn no_rule_sends_what_does_not_fit(
        v6: bool, local in 68..=65_535_u64, path in proptest::option::of(68..=65_535_u64),
        peer_option: Option<u16>, user in proptest::option::of(1..=65_495_u64),
        options in 0..=10_u64, window: Option<u32>
    ) {
        let ip = if v6 { IpVersion::V6 } else { IpVersion::V4 };
        let tcp_options = Bytes::new(4 * options);
        let (user_mss, path_mtu) = (user.map(|n| Mss::new(n).unwrap()), path.map(mtu));
        let local_mtu = mtu(local);
        let inputs = rfc::Inputs {
            ip, local_mtu, peer_option, path_mtu, user_mss, ip_options: Bytes::ZERO, tcp_options,
        };
        let decision = rfc::decide(&inputs);
        let least = path.map_or(local, |path| path.min(local));
        if decision.effective.value() > Bytes::ZERO {
            prop_assert!(decision.packet.get() <= least);
        }
        let steps = decision.effective.steps();
        prop_assert_eq!(steps.last().unwrap().value, decision.effective.value());
        let linux = linux::decide(&linux::Inputs {
            ip, device_mtu: local_mtu, route_mtu: path_mtu, route_advmss: None, user_mss, peer_option,
            timestamps: options > 0, ip_options: Bytes::ZERO,
            peer_max_window: window.map(|n| Bytes::new(u64::from(n))),
        });
        // 48 bytes, less timestamps, are sent even where they do not fit.
        let room = path.unwrap_or(local).saturating_sub(if v6 { 60 } else { 40 });
        prop_assert!(linux.mss_cache.value().get() <= room.max(48));
        for release in [freebsd::Release::V22, freebsd::Release::V22Patched, freebsd::Release::Modern] {
            let size = Bytes::new(u64::from(window.unwrap_or(0)));
            let buffer = freebsd::Buffer { size, is_default: v6, route_pipe: Some(Bytes::new(local)) };
            let _ = freebsd::decide(release, &freebsd::Inputs {
                mtu: local_mtu, peer_option, timestamps: options > 0, send: buffer, receive: buffer,
                buffer_limit: Bytes::new(path.unwrap_or(0)),
            });
        }
    }
}

#[test]
fn linux_learns_no_path_mtu_below_its_least() {
    let learn = |ip, known, told| {
        let linux::PathMtu { mtu, clears_df } = linux::learn(ip, mtu(known), mtu(told));
        (mtu.get(), clears_df)
    };
    assert_eq!(learn(IpVersion::V4, 1500, 1400), (1400, false));
    assert_eq!(learn(IpVersion::V4, 1500, 552), (552, false));
    assert_eq!(learn(IpVersion::V4, 1500, 68), (552, true));
    assert_eq!(learn(IpVersion::V4, 400, 68), (400, true), "a small link's own MTU stays");
    assert_eq!(learn(IpVersion::V4, 1400, 1450), (1400, false), "it never grows");
    assert_eq!(learn(IpVersion::V6, 1500, 1000), (1280, false));
}
