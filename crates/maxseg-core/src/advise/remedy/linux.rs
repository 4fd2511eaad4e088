//! Commands of Linux that are safe as they stand: they raise what is too small, add a route beside the others, and do
//! nothing where nothing is to be done; `sh` and `bash` run them alike.

use std::fmt::Display;
use std::net::IpAddr;

use crate::framing::IpVersion;
use crate::mss::linux::MIN_PMTU;

/// Raises a limit of one number.
pub(in crate::advise) fn raise(key: &str, to: impl Display) -> String {
    format!("[ \"$(sysctl -n {key})\" -ge {to} ] || sysctl -w {key}={to}")
}

/// Raises the third number of a limit of three, as of `net.ipv4.tcp_rmem`: the first two stay as they are. Where it is as large
/// already, it says what holds a buffer then.
pub(in crate::advise) fn raise_third(key: &str, to: u64) -> String {
    let option = if key.ends_with("wmem") { "SO_SNDBUF" } else { "SO_RCVBUF" };
    // By a pipe: dash reads single bytes, and of a file of /proc/sys there is only the first.
    format!(
        "sysctl -n {key} | {{ read -r a b c && if [ \"$c\" -ge {to} ]; then echo \"{key} is large enough: look for {option}\"; \
         else sysctl -w {key}=\"$a $b {to}\"; fi; }}"
    )
}

/// Raises the second number of a limit of three, and the third where it would be less.
pub(in crate::advise) fn raise_second(key: &str, to: u64) -> String {
    format!(
        "sysctl -n {key} | {{ read -r a b c && {{ [ \"$b\" -ge {to} ] || sysctl -w {key}=\"$a {to} $((c > {to} ? c : {to}))\"; }}; }}"
    )
}

/// Who made a route that these lines add (`rtm_protocol`): a number that iproute2's `rt_protos` gives to nobody. What takes a
/// line back deletes no other route.
const PROTOCOL: u8 = 108;

/// The next-hop object of a route, which `ip` prints beside the next hop that it has, and does not read with it.
pub const NEXT_HOP_OBJECT: &str = "s/ nhid [^ ]*//";
/// What `ip` prints of a route and does not read, as commands of sed(1): line ends, states, the nexthop beside its id, and the word
/// `lock` of `rto_min`, which locks by itself.
pub const UNREADABLE_IN_ROUTE: [&str; 5] = [
    r"s/\\//g",
    "s/ linkdown//g",
    NEXT_HOP_OBJECT,
    "s/ expires [^ ]*//",
    "s/rto_min lock/rto_min/",
];

/// The route that packets to a host take, as `ip` reads it, without one attribute.
pub(super) fn route_in_use(version: IpVersion, to: impl Display, without: &str) -> String {
    let (ip, unreadable) = (ip(version), UNREADABLE_IN_ROUTE.join("; "));
    format!(
        r"$({ip} -o route get fibmatch {to} | sed '{unreadable}; s/ {without} \(lock \)*[^ ]*//')"
    )
}

/// Gives the route to one host an attribute more: a copy of the route in use, with all its next hops; `ip route change` would
/// drop the attributes that it does not name. A second line changes the copy of the first. Where a route to that host alone is
/// there already, or the route is of another table, it changes nothing, and says so. `to` is an address or a word that stands for one.
pub(in crate::advise) fn add_host_route(
    version: IpVersion,
    to: impl Display,
    attribute: &str,
) -> String {
    let name = attribute.split(' ').next().unwrap_or(attribute);
    let (route, ip) = (route_in_use(version, &to, name), ip(version));
    format!(
        "r=\"{route} \"; case \"$r\" in \"{to} \"*\"proto {PROTOCOL} \"*) {ip} route replace {attribute} $r;; \
         ' '|\"{to} \"*|*' table '*) echo 'no route to {to} that can be copied: set {attribute} by hand' >&2; false;; \
         *) {ip} route add {attribute} {to} proto {PROTOCOL} $(echo \"${{r#* }}\" | sed 's/proto [^ ]*//');; esac"
    )
}

/// The same by this program, which asks first, copies any route, and restores what was there.
pub(in crate::advise) fn tune_route(
    version: IpVersion,
    to: impl Display,
    attribute: &str,
) -> String {
    let bits = match version {
        IpVersion::V4 => 32,
        IpVersion::V6 => 128,
    };
    let (name, value) = attribute.split_once(' ').unwrap_or((attribute, ""));
    // ip-route(8) wants the unit of a time; this program has the kernel's own number.
    let value = if name == "rto_min" { value.trim_end_matches("ms") } else { value };
    format!("maxseg tune apply --set route.{to}/{bits}.{name}={value}")
}

/// Whether this program gives a route an attribute of this value. An MTU of IPv4 below the least that the kernel learns
/// (`net.ipv4.route.min_pmtu`) it refuses; `ip` sets it, and TCP goes by it.
pub(in crate::advise) fn is_taken_by_tune(version: IpVersion, attribute: &str) -> bool {
    let mtu = attribute.strip_prefix("mtu ").and_then(|mtu| mtu.parse::<u64>().ok());
    version == IpVersion::V6 || mtu.is_none_or(|mtu| mtu >= u64::from(MIN_PMTU))
}

/// What takes back what this program did last.
pub(in crate::advise) const TUNE_UNDO: &str = "maxseg tune undo";
/// When the lines without this program are of use.
pub(in crate::advise) const WITHOUT_TUNE: &str = "maxseg is not on that host";

/// What takes [`add_host_route`] back, with every attribute that such lines gave.
pub(in crate::advise) fn delete_host_route(version: IpVersion, to: impl Display) -> String {
    format!("{} route del {to} proto {PROTOCOL}", ip(version))
}

/// Takes an attribute from the route that packets to a host take.
pub(in crate::advise) fn without_attribute(
    version: IpVersion,
    to: impl Display,
    attribute: &str,
) -> String {
    format!("{} route replace {}", ip(version), route_in_use(version, to, attribute))
}

/// Bounds the window of what leaves for a host, whose route has `window` of the same size: by itself the kernel sets the window anew
/// with the first full segments (`tcp_measure_rcv_mss`, `net/ipv4/tcp_input.c`) and as the buffer grows (`tcp_rcv_space_adjust`), and of
/// the route's there remains the scale that it chose for it. A second line for that host takes the place of the first.
pub(in crate::advise) fn bound_window(version: IpVersion, to: impl Display, window: u64) -> String {
    let (table, ip) = (window_table(&to), nft_ip(version));
    let field = window >> scale_of(window);
    format!(
        "t={table} && nft \"add table inet $t; delete table inet $t; add table inet $t; \
         add chain inet $t out {{ type filter hook output priority mangle; }}; \
         add rule inet $t out {ip} daddr {to} tcp flags & (syn|rst) == 0 tcp window > {field} tcp window set {field}\""
    )
}

/// The window that a host then offers: the header's field in units of its scale.
pub(in crate::advise) const fn bounded_window(window: u64) -> u64 {
    window >> scale_of(window) << scale_of(window)
}

/// Takes [`bound_window`] back.
pub(in crate::advise) fn unbound_window(to: impl Display) -> String {
    format!("nft delete table inet \"{}\"", window_table(to))
}

/// A table of its own for each host, by its address without what names cannot have.
fn window_table(to: impl Display) -> String {
    format!("maxseg_window_$(echo {to} | tr .: __)")
}

/// The scale that Linux chooses where a route's `window` bounds what it may offer (`tcp_select_initial_window`,
/// `net/ipv4/tcp_output.c`).
const fn scale_of(window: u64) -> u32 {
    (u64::BITS - window.leading_zeros()).saturating_sub(FIELD_BITS)
}

/// Bits of the window in TCP's header (RFC 9293 §3.1).
const FIELD_BITS: u32 = 16;

const fn nft_ip(version: IpVersion) -> &'static str {
    match version {
        IpVersion::V4 => "ip",
        IpVersion::V6 => "ip6",
    }
}

/// `ping` for an address.
pub(super) const fn ping(to: IpAddr) -> &'static str {
    if to.is_ipv6() { "ping -6" } else { "ping" }
}

/// Shows what a firewall or NAT knows of connections between two hosts; by itself it is asked about IPv4.
pub(super) fn tracked(version: IpVersion, from: impl Display, to: impl Display) -> String {
    let family = match version {
        IpVersion::V4 => "",
        IpVersion::V6 => "-f ipv6 ",
    };
    format!("conntrack -L {family}-s {from} -d {to}")
}

/// Lets the receive buffer of a running connection grow again, which acts at once; its ends as an argument, this host's first.
pub(super) fn autotuned(ends: &str) -> String {
    format!("maxseg tune apply --connection {ends} --set rcvbuf=auto")
}

/// Lets the send buffer of a connection, this host's end first, grow by itself.
pub(super) fn send_autotuned(ends: &str) -> String {
    format!("maxseg tune apply --connection {ends} --set sndbuf=auto")
}

/// Shows what TCP knows of its connections to a host.
pub(super) fn show_tcp(to: IpAddr) -> String {
    if to.is_ipv6() { format!("ss -tin 'dst [{to}]'") } else { format!("ss -tin dst {to}") }
}

/// Shows the route that packets to a host take, with its attributes, and a path MTU that was learnt.
pub(super) fn show_route(to: IpAddr) -> String {
    look_up_route(to.into(), to)
}

/// The same, for an address or a word that stands for one.
pub(in crate::advise) fn look_up_route(version: IpVersion, to: impl Display) -> String {
    let ip = ip(version);
    format!("{ip} route get {to}; {ip} route get fibmatch {to}")
}

const fn ip(version: IpVersion) -> &'static str {
    match version {
        IpVersion::V4 => "ip",
        IpVersion::V6 => "ip -6",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `wscale_ok, ilog2(space) - 15`: 65 535 fits without a scale.
    #[test]
    fn a_bounded_window_is_in_units_of_the_scale_that_linux_chooses() {
        for (window, field, offered) in [
            (5792, 5792, 5792),
            (65_535, 65_535, 65_535),
            (65_536, 32_768, 65_536),
            (204_800, 51_200, 204_800),
            (204_801, 51_200, 204_800),
        ] {
            let line = bound_window(IpVersion::V6, "2001:db8::1", window);
            let rule = format!(
                "ip6 daddr 2001:db8::1 tcp flags & (syn|rst) == 0 tcp window > {field} tcp window set {field}"
            );
            assert!(line.contains(&rule), "{line}");
            assert_eq!(bounded_window(window), offered);
        }
    }
}
