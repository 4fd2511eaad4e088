//! Commands of FreeBSD, macOS and Windows that differ by the version of IP.

use std::fmt::Display;
use std::net::IpAddr;

use crate::framing::IpVersion;

/// Looks up the route to a host, of FreeBSD and macOS: `route` takes an address for one of IPv4. `to` is an address or a word that
/// stands for one.
pub(in crate::advise) fn get_route(version: IpVersion, to: impl Display) -> String {
    format!("route -n get {}{to}", family(version))
}

/// Changes an attribute of the route to a host.
pub(in crate::advise) fn change_route(
    version: IpVersion,
    to: impl Display,
    attribute: &str,
) -> String {
    format!("route change {}-host {to} {attribute}", family(version))
}

const fn family(version: IpVersion) -> &'static str {
    match version {
        IpVersion::V4 => "",
        IpVersion::V6 => "-inet6 ",
    }
}

/// `ping` of FreeBSD and macOS for an address.
pub(super) const fn ping(to: IpAddr) -> &'static str {
    if to.is_ipv6() { "ping6" } else { "ping" }
}

/// Shows the MTUs of the interfaces of Windows.
pub(in crate::advise) fn show_interfaces(version: IpVersion) -> String {
    format!("netsh interface ipv{} show subinterfaces", version.number())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_name_the_version_of_ip_where_they_must() {
        let (four, six) = (IpVersion::V4, IpVersion::V6);
        assert_eq!(get_route(four, "192.0.2.1"), "route -n get 192.0.2.1");
        assert_eq!(get_route(six, "2001:db8::1"), "route -n get -inet6 2001:db8::1");
        assert_eq!(
            change_route(six, "2001:db8::1", "-mtu 1400"),
            "route change -inet6 -host 2001:db8::1 -mtu 1400"
        );
        assert_eq!(show_interfaces(six), "netsh interface ipv6 show subinterfaces");
        let of = |address: &str| address.parse().map(ping);
        assert_eq!([of("192.0.2.1"), of("2001:db8::1")], [Ok("ping"), Ok("ping6")]);
    }
}
