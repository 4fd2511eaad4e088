//! What pages get of a connection.

use super::*;

/// A page has each SACK block once, and tells those of bytes that came twice.
#[test]
fn a_trace_has_the_sack_blocks_that_are_new() {
    // Two NOPs, then the option with the edges of a block.
    const SECOND: [u8; 12] = [1, 1, 5, 10, 0, 0, 4, 76, 0, 0, 4, 176];
    const TO_THIRD: [u8; 12] = [1, 1, 5, 10, 0, 0, 4, 76, 0, 0, 5, 20];
    const FIRST: [u8; 12] = [1, 1, 5, 10, 0, 0, 3, 232, 0, 0, 4, 76];
    let sack = |at: u64, n, options: &'static [u8]| Seen {
        options,
        ip_id: u16::try_from(at).ok(),
        ..ack(at, n)
    };
    let packets = [
        syn(0),
        syn_ack(100),
        data(200, 0),
        data(210, 1),
        data(220, 2),
        sack(300, 0, &SECOND),
        sack(310, 0, &SECOND),
        sack(320, 0, &TO_THIRD),
        Seen { ip_id: Some(900), ..data(400, 0) },
        ack(500, 3),
        sack(510, 3, &FIRST),
    ];
    let evidence = followed(&packets, true);
    let sacks = &evidence.forward.trace.as_ref().unwrap().sacks;
    let sacks: Vec<_> =
        sacks.iter().map(|one| (one.frame, one.offset, one.bytes, one.is_duplicate)).collect();
    assert_eq!(sacks, [(6, 100, 100, false), (8, 100, 200, false), (11, 0, 100, true)]);
}

/// A page has each window that was advertised, and names every packet: SYNs and probes as well.
#[test]
fn a_trace_has_every_window_and_every_packet() {
    let window = segment(0).window;
    let shut = |seen: Seen<'static>| Seen { window: 0, ..seen };
    let probe = Seen { seq: 1199, ip_id: Some(900), ..segment(900_000) };
    let packets = [
        syn(0),
        syn_ack(100),
        Seen { ip_id: Some(99), ..segment(150) },
        data(200, 0),
        data(210, 1),
        ack(300, 1),
        shut(ack(400, 2)),
        probe,
        Seen { ip_id: Some(901), ..shut(ack(900_100, 2)) },
        Seen { ip_id: Some(902), ..ack(1_500_000, 2) },
        Seen { flags: Flags::FIN | Flags::ACK, seq: 1200, ip_id: Some(903), ..segment(1_600_000) },
    ];
    let evidence = followed(&packets, true);
    let trace = evidence.forward.trace.as_ref().unwrap();
    assert_eq!(trace.first_window.map(|(_, bytes)| bytes), Some(window.into()));
    let windows: Vec<u64> =
        trace.acks.iter().filter_map(maxseg_core::evidence::AckPoint::window).collect();
    assert_eq!(windows, [window, 0, 0, window].map(u64::from));
    let in_flight: Vec<u64> = trace.in_flight.iter().map(|(_, bytes)| *bytes).collect();
    assert_eq!(in_flight, [100, 200, 100, 0], "it falls with each acknowledgement");
    let controls: Vec<(u64, ControlKind)> =
        trace.controls.iter().map(|control| (control.frame, control.kind)).collect();
    let wanted = [(1, ControlKind::Syn), (8, ControlKind::Probe), (11, ControlKind::Fin)];
    assert_eq!(controls, wanted);
    let back = evidence.reverse.trace.as_ref().unwrap();
    assert_eq!(back.controls.first().map(|control| control.kind), Some(ControlKind::SynAck));
    assert_eq!(followed(&packets, false).forward.trace, None);
}
