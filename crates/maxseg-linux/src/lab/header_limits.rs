//! Bounds of the hosts' TCP headers: segment sizes and windows of the scenario, for programs that do not set them.

use std::net::IpAddr;

use maxseg_core::scenario::{End, Scenario};
use maxseg_core::settings::{SocketMemory, WindowScale};

use super::flows::is_foreign;
use super::host::largest_segment;
use super::relay::HeaderLimits;
use super::topology::{Side, every_address, host_of, settings_at};

/// The bounds of a link of a scenario, by hop and direction.
pub(super) type LimitsOf = fn(&Scenario, usize, End) -> Option<HeaderLimits>;

/// For any program in the hosts of a persistent lab.
pub(super) fn of_any_program(scenario: &Scenario, hop: usize, to: End) -> Option<HeaderLimits> {
    let limits = of_settings(scenario, hop, to)?;
    (limits.mss.is_some() || limits.window.is_some()).then_some(limits)
}

/// The least that sockets take for `TCP_WINDOW_CLAMP`, or less: `SOCK_MIN_RCVBUF` (`include/net/sock.h`), of which they take half
/// (`tcp_set_window_clamp`, `net/ipv4/tcp.c`).
const LEAST_CLAMP: u32 = 2304;

/// For the programs of a run: iperf3 sets the segment size itself, and this program's own flows their windows too, where the kernel
/// holds them that small.
pub(super) fn of_run(scenario: &Scenario, hop: usize, to: End) -> Option<HeaderLimits> {
    let runs_iperf3 = scenario.flows.iter().any(|flow| is_foreign(scenario, flow));
    let limits = HeaderLimits { mss: None, ..of_settings(scenario, hop, to)? };
    let is_needed = |window: u32| runs_iperf3 || window < LEAST_CLAMP;
    limits.window.is_some_and(is_needed).then_some(limits)
}

/// Of the host that sends on this link: the window is its own, and the MSS option tells its peers what they may send.
fn of_settings(scenario: &Scenario, hop: usize, to: End) -> Option<HeaderLimits> {
    let side = if to == End::Receiver { Side::Near } else { Side::Far };
    let host = host_of(hop, side);
    let (end, own) = settings_at(scenario, host)?;
    let peer = match end {
        End::Sender => &scenario.receiver,
        End::Receiver => &scenario.sender,
    };
    let window = SocketMemory::of(own, largest_segment(scenario)).clamp;
    let number = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
    let addresses = every_address(scenario).filter(|(of, _)| *of == host);
    Some(HeaderLimits {
        sources: addresses.map(|(_, address)| address).collect::<Vec<IpAddr>>(),
        mss: peer.mss.map(|mss| u16::try_from(mss.bytes().get()).unwrap_or(u16::MAX)),
        window: window.map(|window| number(window.get())),
        scales: [own, peer].iter().all(|settings| settings.window_scale != WindowScale::Off),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOPS: &str = "[[hop]]\nname = \"a\"\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n\
                        [[hop]]\nname = \"b\"\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n";

    fn limits(of: LimitsOf, hosts: &str) -> Vec<Option<(Option<u16>, Option<u32>)>> {
        let scenario = Scenario::from_toml("test", &format!("{HOPS}{hosts}")).unwrap();
        let links = [(0, End::Receiver), (0, End::Sender), (1, End::Receiver), (1, End::Sender)];
        let of_link = |(hop, to)| of(&scenario, hop, to);
        links.map(|link| of_link(link).map(|limits| (limits.mss, limits.window))).to_vec()
    }

    #[test]
    fn a_host_tells_its_peers_their_segment_size_and_its_own_window() {
        let hosts = "[sender]\nmss = 500\n[receiver]\nwindow = \"20 kB\"\n";
        let at_the_receiver = Some((Some(500), Some(20_000)));
        assert_eq!(limits(of_any_program, hosts), [None, None, None, at_the_receiver]);
        assert_eq!(limits(of_run, hosts), [None; 4]);
        let iperf3 = format!("{hosts}[lab]\ntraffic = \"iperf3\"\n");
        assert_eq!(limits(of_run, &iperf3), [None, None, None, Some((None, Some(20_000)))]);
        assert_eq!(limits(of_any_program, ""), [None; 4]);
        let small = limits(of_run, "[receiver]\nwindow = \"1000 B\"\n");
        assert_eq!(small, [None, None, None, Some((None, Some(1000)))]);
    }
}
