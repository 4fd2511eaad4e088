//! Linux's decision: the option of the SYN, and `mss_cache`.

use super::{Cause, Derivation, default_mss};
use crate::framing::{IpVersion, TCP_HEADER, TCP_TIMESTAMPS, ip_header};
use crate::units::{Bytes, Mss, Mtu};

/// What the decision depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inputs {
    /// Which IP.
    pub ip: IpVersion,
    /// The MTU of the device.
    pub device_mtu: Mtu,
    /// `mtu` of the route, where it is set, or what path MTU discovery has found.
    pub route_mtu: Option<Mtu>,
    /// `advmss` of the route, where it is set.
    pub route_advmss: Option<u16>,
    /// `TCP_MAXSEG`, where it was set before the connection began.
    pub user_mss: Option<Mss>,
    /// The peer's MSS option as it came. One of 0 counts as none.
    pub peer_option: Option<u16>,
    /// Whether every segment carries timestamps.
    pub timestamps: bool,
    /// Options of the IP header, or extension headers (`icsk_ext_hdr_len`).
    pub ip_options: Bytes,
    /// The largest window that the peer has offered (`max_window`); `None` before there was any.
    pub peer_max_window: Option<Bytes>,
}

/// What follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The option of the SYN.
    pub advertised: Derivation,
    /// `mss_cache`: payload of a full segment without SACK blocks; `getsockopt(TCP_MAXSEG)` gives it
    /// once the connection stands.
    pub mss_cache: Derivation,
}

/// `net.ipv4.route.min_adv_mss`.
const MIN_ADV_MSS: Bytes = Bytes::new(256);
/// What an IPv6 host advertises at least (`net.ipv6.route.min_adv_mss`).
const MIN_ADV_MSS_V6: Bytes = Bytes::new(1220);
/// `TCP_MIN_MSS`.
const TCP_MIN_MSS: Bytes = Bytes::new(88);
/// `net.ipv4.tcp_min_snd_mss`: 40 bytes of options and 8 of data.
const MIN_SND_MSS: Bytes = Bytes::new(48);
/// The largest packet that the window's bound leaves, less its TCP header (`tcp_bound_to_half_wnd`).
const LEAST_BOUND: Bytes = Bytes::new(48);
/// Up to this, a window bounds as a whole (`TCP_MSS_DEFAULT`).
const SMALL_WINDOW: Bytes = Bytes::new(536);

/// `ipv4_default_advmss`, `tcp_sync_mss` with `__tcp_mtu_to_mss`, and `tcp_bound_to_half_wnd`, as of
/// Linux 6.12.
pub fn decide(inputs: &Inputs) -> Decision {
    let user = inputs.user_mss.map(Mss::bytes);
    let (mtu, source) = match inputs.route_mtu {
        Some(mtu) => (mtu.bytes(), Cause::RouteMtu),
        None => (inputs.device_mtu.bytes(), Cause::InterfaceMtu),
    };
    let payload = || {
        Derivation::begin(source, mtu)
            .less(Cause::IpHeader, ip_header(inputs.ip))
            .less(Cause::TcpHeader, TCP_HEADER)
    };
    let floor = match inputs.ip {
        IpVersion::V4 => MIN_ADV_MSS,
        IpVersion::V6 => MIN_ADV_MSS_V6,
    };
    let by_mtu = || {
        let largest = Bytes::new(u64::from(Mss::MAX));
        payload().at_least(Cause::Floor, floor).at_most(Cause::Format, largest)
    };
    let advertised = inputs
        .route_advmss
        .map_or_else(by_mtu, |advmss| {
            Derivation::begin(Cause::RouteAdvmss, Bytes::new(u64::from(advmss)))
        })
        .at_least(Cause::Floor, TCP_MIN_MSS)
        .at_most_if(Cause::UserMss, user);
    let (clamp, clamped_by) = match inputs.peer_option {
        Some(option) if option > 0 => (u32::from(option), Cause::PeerOption),
        Some(_) | None => (default_mss(inputs.ip), Cause::NoPeerOption),
    };
    let timestamps = if inputs.timestamps { TCP_TIMESTAMPS } else { Bytes::ZERO };
    let mss = payload()
        .at_most(clamped_by, Bytes::new(u64::from(clamp)))
        .at_most_if(Cause::UserMss, user)
        .less(Cause::IpOptions, inputs.ip_options)
        .at_least(Cause::Floor, MIN_SND_MSS)
        .less(Cause::TcpOptions, timestamps);
    Decision { advertised, mss_cache: bound_to_half_window(mss, inputs, timestamps) }
}

/// So that at least two segments fit the window, unless it is too small to be cut in two.
fn bound_to_half_window(mss: Derivation, inputs: &Inputs, timestamps: Bytes) -> Derivation {
    let Some(window) = inputs.peer_max_window.filter(|window| *window > Bytes::ZERO) else {
        return mss;
    };
    let cut = if window > SMALL_WINDOW { Bytes::new(window.get() / 2) } else { window };
    if mss.value() <= cut {
        return mss.at_most(Cause::PeerWindow, cut);
    }
    let least = LEAST_BOUND.saturating_sub(timestamps);
    mss.at_most(Cause::PeerWindow, cut).at_least(Cause::Floor, least)
}
