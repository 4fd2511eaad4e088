//! Whether a next hop answers address resolution, by the kernel's entries of every age. Needs root: skipped aloud without.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "tests")]
#![expect(clippy::print_stdout, reason = "what is skipped is said")]

mod hosts;

use std::net::{IpAddr, Ipv4Addr};

use maxseg_linux::probe::{NextHop, next_hop};

use hosts::TwoHosts;

const A: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 8, 0, 1));
const B: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 8, 0, 2));
/// That of B.
const LINK_ADDRESS: &str = "02:00:00:00:00:0b";
const NOBODY: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 8, 0, 3));

#[test]
fn a_stale_entry_is_asked_once_more() {
    let Some(TwoHosts { a, b }) = TwoHosts::new() else { return };
    b.must(&format!("ip link set vb address {LINK_ADDRESS}"));
    let answers = Some(NextHop {
        address: B,
        interface: "va".to_owned(),
        link_address: LINK_ADDRESS.to_owned(),
    });
    let ask = |of| a.run(|| next_hop(of, A).unwrap());
    assert_eq!(ask(B), answers, "nothing is known of it yet");
    let made_stale = |of, address: &str| {
        a.must(&format!("ip neigh replace {of} lladdr {address} dev va nud stale"));
    };
    made_stale(B, LINK_ADDRESS);
    assert_eq!(ask(B), answers);
    // Of a host that was switched off since, and of one that was never there.
    made_stale(NOBODY, "02:00:00:00:00:99");
    assert_eq!(ask(NOBODY), None);
    assert_eq!(ask(IpAddr::V4(Ipv4Addr::new(10, 8, 0, 4))), None);
    // An entry that was set by hand.
    a.must("ip neigh replace 10.8.0.2 lladdr 02:00:00:00:00:99 dev va nud permanent");
    assert_eq!(ask(B), None);
}
