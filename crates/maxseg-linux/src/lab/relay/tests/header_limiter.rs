//! Headers of connections before and after their limits change.

use etherparse::{PacketBuilder, TcpHeader};

use super::{PORTS, SEQUENCE, checked, offloaded, on_the_wire};
use crate::lab::relay::header_limiter::{HeaderLimiter, HeaderLimits};
use crate::lab::relay::layout::Layout;
use crate::sys::VNET_HEADER;

/// A SYN-ACK of `PORTS.1` with MSS 1460, window 65 160 and a shift of 3, its checksum whole or left to be completed; or a
/// later segment with another window.
fn header(is_syn: bool, is_partial: bool) -> Vec<u8> {
    let mut tcp = TcpHeader::new(PORTS.1, PORTS.0, SEQUENCE, if is_syn { 65_160 } else { 9000 });
    (tcp.syn, tcp.ack) = (is_syn, true);
    if is_syn {
        tcp.set_options_raw(&[2, 4, 5, 180, 1, 3, 3, 3]).unwrap();
    }
    let mut packet = Vec::new();
    let ip = PacketBuilder::ipv4([10, 0, 0, 2], [10, 0, 0, 1], 64);
    ip.tcp_header(tcp).write(&mut packet, &[]).unwrap();
    if !is_partial {
        return [vec![0; VNET_HEADER], packet].concat();
    }
    let length = u32::try_from(packet.len()).unwrap() - 20;
    let pseudo =
        maxseg_wire::Sum::default().add_bytes(&packet[12..20]).add_number(length).add_number(6);
    packet[36..38].copy_from_slice(&pseudo.folded().to_be_bytes());
    offloaded(&packet, 20, (0, 0))
}

/// The header as it leaves the host: MSS option and window.
fn limited(limiter: &mut HeaderLimiter, is_syn: bool, is_partial: bool) -> (Option<u16>, u16) {
    let mut bytes = header(is_syn, is_partial);
    let layout = Layout::of(&bytes).unwrap();
    limiter.apply(&mut bytes, &layout);
    let (tcp, ..) = checked(&on_the_wire(&bytes, &layout, 0, false));
    let mss = tcp.options.get(2..4).map(|mss| u16::from_be_bytes([mss[0], mss[1]]));
    (mss, tcp.window_size)
}

#[test]
fn a_host_s_headers_say_no_more_than_its_limits() {
    let limits = HeaderLimits {
        sources: vec!["10.0.0.2".parse().unwrap()],
        mss: Some(500),
        window: Some(20_000),
        scales: true,
    };
    for is_partial in [false, true] {
        let mut limiter = HeaderLimiter::new(Some(limits.clone()));
        assert_eq!(limited(&mut limiter, false, is_partial), (None, 9000), "it began before");
        assert_eq!(limited(&mut limiter, true, is_partial), (Some(500), 20_000));
        assert_eq!(limited(&mut limiter, false, is_partial), (None, 20_000 >> 3));
        limiter.change(None);
        assert_eq!(limited(&mut limiter, false, is_partial), (None, 20_000 >> 3), "it goes on");
        assert_eq!(limited(&mut limiter, true, is_partial), (Some(1460), 65_160));
        assert_eq!(limited(&mut limiter, false, is_partial), (None, 9000));
    }
    let unscaled = HeaderLimits { scales: false, window: Some(8000), ..limits.clone() };
    let mut limiter = HeaderLimiter::new(Some(unscaled));
    limited(&mut limiter, true, false);
    assert_eq!(limited(&mut limiter, false, false), (None, 8000));
    let mut router = HeaderLimiter::new(Some(HeaderLimits { sources: Vec::new(), ..limits }));
    assert_eq!(limited(&mut router, true, false), (Some(1460), 65_160));
}
