//! Commands of Linux that are safe as they stand: they raise what is too small, add a route beside the others, and do
//! nothing where nothing is to be done; `sh` and `bash` run them alike.

use std::fmt::Display;
use std::net::IpAddr;

use crate::framing::IpVersion;

/// Raises a limit of one number.
pub(in crate::advise) fn raise(key: &str, to: impl Display) -> String {
    format!("[ \"$(sysctl -n {key})\" -ge {to} ] || sysctl -w {key}={to}")
}

/// Raises the third number of a limit of three, as of `net.ipv4.tcp_rmem`: the first two stay as they are.
pub(in crate::advise) fn raise_third(key: &str, to: u64) -> String {
    // By a pipe: dash reads single bytes, and of a file of /proc/sys there is only the first.
    format!(
        "sysctl -n {key} | {{ read -r a b c && {{ [ \"$c\" -ge {to} ] || sysctl -w {key}=\"$a $b {to}\"; }}; }}"
    )
}

/// Raises the second number of a limit of three, and the third where it would be less.
pub(super) fn raise_second(key: &str, to: u64) -> String {
    format!(
        "sysctl -n {key} | {{ read -r a b c && {{ [ \"$b\" -ge {to} ] || sysctl -w {key}=\"$a {to} $((c > {to} ? c : {to}))\"; }}; }}"
    )
}

/// Adds a route to one host, a copy of the one in use with an attribute more; `ip route change` would drop the attributes
/// that it does not name. It fails where a route to that host exists.
pub(super) fn host_route(to: IpAddr, attribute: &str) -> String {
    add_host_route(to.into(), to, attribute)
}

/// The same, for an address or a word that stands for one.
pub(in crate::advise) fn add_host_route(
    version: IpVersion,
    to: impl Display,
    attribute: &str,
) -> String {
    let ip = ip(version);
    format!("{ip} route add {to} $({ip} -o route get fibmatch {to} | cut -d' ' -f2-) {attribute}")
}

/// What takes [`host_route`] back.
pub(super) fn host_route_undo(to: IpAddr) -> String {
    delete_host_route(to.into(), to)
}

/// What takes [`add_host_route`] back.
pub(in crate::advise) fn delete_host_route(version: IpVersion, to: impl Display) -> String {
    format!("{} route del {to}", ip(version))
}

/// `ping` for an address.
pub(super) const fn ping(to: IpAddr) -> &'static str {
    if to.is_ipv6() { "ping -6" } else { "ping" }
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
