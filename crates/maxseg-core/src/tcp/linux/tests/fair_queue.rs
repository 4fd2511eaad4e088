//! What `fq` holds of a socket at a time.

use super::{Host, MSS, Pair, Time, host};

/// Two packets are as much as TCP leaves there while it is slow: a socket counts a byte before it sends anything, so that two are more
/// than twice one (`tcp_small_queue_check`, `net/ipv4/tcp_output.c`; the kernel in virtual time has two there).
#[test]
fn a_slow_socket_has_two_packets_there() {
    let host = Host { fq: true, ..host() };
    let pair = Pair::new(host, 400 * MSS, &[]).run(Time::from_millis(80));
    let packet = 2 * MSS + host.skb_overhead();
    assert_eq!(pair.sender.fair_queue.bytes, 2 * packet);
}
