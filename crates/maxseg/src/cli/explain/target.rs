//! What `maxseg explain` was given: a capture, or connections of this host.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;

#[cfg(feature = "lab")]
use maxseg_workbench::host_port::zone_of;
use maxseg_workbench::host_port::{host_and_port, without_zone};

/// Connections of this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum Target {
    /// Those of a process.
    Process(u32),
    /// The one between two ends.
    Ends(SocketAddr, SocketAddr),
    /// Those with this port at either end.
    Port(u16),
    /// Those to a host, at one of its ports where that is given.
    Host {
        /// Its name or address.
        name: String,
        /// Its port.
        port: Option<u16>,
    },
}

/// What captures are called.
const CAPTURES: [&str; 10] =
    ["pcap", "pcapng", "cap", "ntar", "dmp", "gz", "zst", "trc", "snoop", "json"];

impl Target {
    /// The connections that an argument names; `None` where it is a capture, or the name of one that is not there.
    pub(in crate::cli) fn of(argument: &str) -> Option<Self> {
        if argument == "-" || Path::new(argument).exists() {
            return None;
        }
        if let Ok(pid) = argument.parse() {
            return Some(Self::Process(pid));
        }
        if let Some(port) = any_host(argument) {
            return Some(Self::Port(port));
        }
        if let Some((local, remote)) = ends(argument) {
            return Some(Self::Ends(local, remote));
        }
        let (name, port) = parts(argument)?;
        Some(Self::Host { name, port })
    }
}

/// The zones of the addresses in an argument (RFC 4007 §11): names or numbers of interfaces.
#[cfg(feature = "lab")]
pub(super) fn zones(argument: &str) -> Vec<&str> {
    let each =
        halves(argument).map_or_else(|| vec![argument], |(local, remote)| vec![local, remote]);
    each.into_iter().filter_map(zone_of).collect()
}

/// A port of whatever host, as ss(8) writes it: `:443`, `*:443`.
fn any_host(argument: &str) -> Option<u16> {
    let port = argument.strip_prefix("*:").or_else(|| argument.strip_prefix(':'))?;
    port.parse().ok().filter(|port| *port > 0)
}

/// Two ends with a hyphen between them.
fn ends(argument: &str) -> Option<(SocketAddr, SocketAddr)> {
    let (local, remote) = halves(argument)?;
    Some((end(local)?, end(remote)?))
}

/// The texts of two ends. The name of an interface, which a zone is, may have hyphens, too.
fn halves(argument: &str) -> Option<(&str, &str)> {
    let mut split =
        argument.match_indices('-').map(|(at, _)| (&argument[..at], &argument[at + 1..]));
    split.find(|(local, remote)| end(local).is_some() && end(remote).is_some())
}

fn end(text: &str) -> Option<SocketAddr> {
    let end: SocketAddr = without_zone(text).parse().ok()?;
    Some(SocketAddr::new(end.ip().to_canonical(), end.port()))
}

/// A host and its port, of which neither looks like a capture.
fn parts(argument: &str) -> Option<(String, Option<u16>)> {
    let (name, port) = host_and_port(&without_zone(argument)).ok()?;
    if name.parse::<IpAddr>().is_ok() {
        return Some((name, port));
    }
    let is_name = name.starts_with(|first: char| first.is_ascii_alphanumeric());
    let extension = Path::new(&name).extension().and_then(|extension| extension.to_str());
    let is_capture = extension.is_some_and(|extension| {
        CAPTURES.iter().any(|known| extension.eq_ignore_ascii_case(known))
    });
    (is_name && !is_capture).then_some((name, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(name: &str, port: Option<u16>) -> Target {
        Target::Host { name: name.to_owned(), port }
    }

    #[test]
    fn connections_are_named_by_process_ends_or_host() {
        assert_eq!(Target::of("4711"), Some(Target::Process(4711)));
        for text in [":443", "*:443"] {
            assert_eq!(Target::of(text), Some(Target::Port(443)), "{text}");
        }
        let ends = |text: &str| match Target::of(text) {
            Some(Target::Ends(local, remote)) => [local.to_string(), remote.to_string()],
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(ends("10.0.0.1:80-10.0.0.2:443"), ["10.0.0.1:80", "10.0.0.2:443"]);
        assert_eq!(ends("[::1]:80-[::2]:443"), ["[::1]:80", "[::2]:443"]);
        let zones = "[fe80::1]%br-lan:80-[fe80::2%br-lan]:443";
        assert_eq!(ends(zones), ["[fe80::1]:80", "[fe80::2]:443"]);
        assert_eq!(super::zones(zones), ["br-lan", "br-lan"]);
        assert_eq!(super::zones("[fe80::7%eth0]:443"), ["eth0"]);
        assert_eq!(ends("[::ffff:10.0.0.1]:80-10.0.0.2:443"), ["10.0.0.1:80", "10.0.0.2:443"]);
        for (text, name, port) in [
            ("192.0.2.7", "192.0.2.7", None),
            ("192.0.2.7:443", "192.0.2.7", Some(443)),
            ("2001:db8::7", "2001:db8::7", None),
            ("[2001:db8::7]", "2001:db8::7", None),
            ("[2001:db8::7]:443", "2001:db8::7", Some(443)),
            ("[fe80::7%eth0]:443", "fe80::7", Some(443)),
            ("www.example.org:443", "www.example.org", Some(443)),
            ("db-1", "db-1", None),
        ] {
            assert_eq!(Target::of(text), Some(host(name, port)), "{text}");
        }
    }

    #[test]
    fn what_looks_like_a_file_is_none() {
        for text in [
            "-",
            "",
            "slow.pcap",
            "slow.pcapng.gz",
            "no/such/file",
            "a b",
            "x:y",
            "no\\xFFsuch.pcap",
            "x:99999",
            ":99999",
            ":0",
            "::443x",
            "\u{1b}[31m",
            "[x]:80",
            "/etc/hosts",
            ".hidden",
            "[::1",
            "Cargo.toml",
        ] {
            assert_eq!(Target::of(text), None, "{text}");
        }
    }
}
