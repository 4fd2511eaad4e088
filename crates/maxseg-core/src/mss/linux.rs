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
/// What an IPv6 host advertises at least (`net.ipv6.route.min_adv_mss`: `IPV6_MIN_MTU` less the headers).
const MIN_ADV_MSS_V6: Bytes = Bytes::new(default_mss(IpVersion::V6) as u64);
/// What `TCP_MAXSEG` takes: `TCP_MIN_MSS` to `MAX_TCP_WINDOW` (`include/net/tcp.h`), in bytes.
pub const MAXSEG: std::ops::RangeInclusive<u64> = MIN_MSS..=32_767;
/// `TCP_MIN_MSS`, in bytes.
pub(crate) const MIN_MSS: u64 = 88;
const TCP_MIN_MSS: Bytes = Bytes::new(MIN_MSS);
/// `net.ipv4.route.min_pmtu`: the least path MTU that the kernel learns. A route's own may be smaller.
pub(crate) const MIN_PMTU: u16 = 552;
/// `net.ipv4.tcp_min_snd_mss`: 40 bytes of options and 8 of data.
pub const MIN_SND_MSS: Bytes = Bytes::new(48);
/// What the window's bound leaves of a segment at least, its TCP header's options included: 68 bytes less a header of 20
/// (`tcp_bound_to_half_wnd`).
const LEAST_BOUND: Bytes = Bytes::new(48);
/// `TCP_MSS_DEFAULT`, in bytes.
pub(crate) const MSS_DEFAULT: u64 = default_mss(IpVersion::V4) as u64;
/// Up to this, a window bounds as a whole.
const SMALL_WINDOW: Bytes = Bytes::new(MSS_DEFAULT);

/// The option of the SYN of a host whose route has this MTU (`ipv4_default_advmss`, `ip6_default_advmss`, `tcp_mss_clamp`).
pub fn advertised(
    ip: IpVersion,
    (mtu, source): (Mtu, Cause),
    route_advmss: Option<u16>,
    user_mss: Option<Mss>,
) -> Derivation {
    let floor = match ip {
        IpVersion::V4 => MIN_ADV_MSS,
        IpVersion::V6 => MIN_ADV_MSS_V6,
    };
    let by_mtu = || {
        let largest = Bytes::new(u64::from(Mss::MAX));
        payload(ip, (mtu, source)).at_least(Cause::Floor, floor).at_most(Cause::Format, largest)
    };
    route_advmss
        .map_or_else(by_mtu, |advmss| {
            Derivation::begin(Cause::RouteAdvmss, Bytes::new(u64::from(advmss)))
        })
        .at_least(Cause::Floor, TCP_MIN_MSS)
        .at_most_if(Cause::UserMss, user_mss.map(Mss::bytes))
}

fn payload(ip: IpVersion, (mtu, source): (Mtu, Cause)) -> Derivation {
    Derivation::begin(source, mtu.bytes())
        .less(Cause::IpHeader, ip_header(ip))
        .less(Cause::TcpHeader, TCP_HEADER)
}

/// What a host makes of a router's word that packets on a path may have so many bytes at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathMtu {
    /// What it takes the path's MTU for.
    pub mtu: Mtu,
    /// Whether that is more than it was told: it sends without DF from then on, and routers fragment (`rt_mtu_locked`).
    pub clears_df: bool,
}

/// What a host whose route has the MTU `known` learns from a router's word (`__ip_rt_update_pmtu`, `net/ipv4/route.c`;
/// `rt6_do_update_pmtu`, `net/ipv6/route.c`): nobody is to make it send small packets.
pub fn learn(ip: IpVersion, known: Mtu, told: Mtu) -> PathMtu {
    let (least, clears_df) = match ip {
        IpVersion::V4 => (MIN_PMTU, told.get() < MIN_PMTU),
        IpVersion::V6 => (Mtu::IPV6_MIN, false),
    };
    let least = Mtu::new(u64::from(least)).map_or(told, |least| told.max(least));
    PathMtu { mtu: known.min(least), clears_df }
}

/// `ipv4_default_advmss`, `tcp_sync_mss` with `__tcp_mtu_to_mss`, and `tcp_bound_to_half_wnd`, as of
/// Linux 6.12.
pub fn decide(inputs: &Inputs) -> Decision {
    let user = inputs.user_mss.map(Mss::bytes);
    let mtu = match inputs.route_mtu {
        Some(mtu) => (mtu, Cause::RouteMtu),
        None => (inputs.device_mtu, Cause::InterfaceMtu),
    };
    let advertised = advertised(inputs.ip, mtu, inputs.route_advmss, inputs.user_mss);
    let (clamp, clamped_by) = match inputs.peer_option {
        Some(option) if option > 0 => (u32::from(option), Cause::PeerOption),
        Some(_) | None => (default_mss(inputs.ip), Cause::NoPeerOption),
    };
    let timestamps = if inputs.timestamps { TCP_TIMESTAMPS } else { Bytes::ZERO };
    let mss = payload(inputs.ip, mtu)
        .at_most(clamped_by, Bytes::new(u64::from(clamp)))
        .at_most_if(Cause::UserMss, user)
        .less(Cause::IpOptions, inputs.ip_options)
        .at_least(Cause::Floor, MIN_SND_MSS)
        .less(Cause::TcpOptions, timestamps);
    Decision { advertised, mss_cache: bound_by_window(mss, inputs, timestamps) }
}

/// What `tcp_bound_to_half_wnd` (`include/net/tcp.h`) leaves of a segment whose TCP header has so many bytes of options: at least two
/// segments fit a window, unless it is too small to be cut in two.
pub fn bound_to_half_window(mss: Bytes, window: Bytes, options: Bytes) -> Bytes {
    if mss <= cutoff(window) || window == Bytes::ZERO {
        mss
    } else {
        most_by_window(window, options)
    }
}

/// The largest segment that this window leaves.
pub(crate) fn most_by_window(window: Bytes, options: Bytes) -> Bytes {
    cutoff(window).max(least_by_window(options))
}

fn cutoff(window: Bytes) -> Bytes {
    if window > SMALL_WINDOW { Bytes::new(window.get() / 2) } else { window }
}

const fn least_by_window(options: Bytes) -> Bytes {
    LEAST_BOUND.saturating_sub(options)
}

/// [`bound_to_half_window`] as a derivation.
fn bound_by_window(mss: Derivation, inputs: &Inputs, options: Bytes) -> Derivation {
    let Some(window) = inputs.peer_max_window.filter(|window| *window > Bytes::ZERO) else {
        return mss;
    };
    let is_cut = mss.value() > cutoff(window);
    let bound = mss.at_most(Cause::PeerWindow, cutoff(window));
    if is_cut { bound.at_least(Cause::Floor, least_by_window(options)) } else { bound }
}
