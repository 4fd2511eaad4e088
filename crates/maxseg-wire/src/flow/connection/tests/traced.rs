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
    let wanted = [
        (1, ControlKind::Syn),
        (3, ControlKind::Ack),
        (8, ControlKind::Probe),
        (11, ControlKind::Fin),
    ];
    assert_eq!(controls, wanted);
    let back = evidence.reverse.trace.as_ref().unwrap();
    assert_eq!(back.controls.first().map(|control| control.kind), Some(ControlKind::SynAck));
    assert_eq!(followed(&packets, false).forward.trace, None);
}

/// Acknowledgements that were overtaken say nothing new, and are packets all the same.
#[test]
fn a_trace_has_acknowledgements_that_were_overtaken() {
    let late = Seen { ip_id: Some(502), ..ack(310, 1) };
    let packets = [syn(0), syn_ack(100), data(200, 0), data(210, 1), ack(300, 2), late];
    let evidence = followed(&packets, true);
    let frames =
        evidence.forward.trace.unwrap().acks.iter().map(|ack| ack.frame).collect::<Vec<_>>();
    assert_eq!(frames, [5]);
    let back = evidence.reverse.trace.unwrap();
    let last = back.controls.last().map(|control| (control.frame, control.kind));
    assert_eq!(last, Some((6, ControlKind::Ack)));
}

/// The number of a FIN is no byte of the payload, nor of the window behind it.
#[test]
fn the_window_that_acknowledges_a_fin_is_the_one_that_was_sent() {
    let fin = Seen { flags: Flags::FIN | Flags::ACK, seq: 1100, ip_id: Some(903), ..segment(300) };
    let answer = Seen { ack: 1101, ip_id: Some(502), ..answer(400) };
    let evidence = followed(&[syn(0), syn_ack(100), data(200, 0), fin, answer], true);
    let last = evidence.forward.trace.unwrap().acks.last().copied().unwrap();
    assert_eq!((last.offset, last.window()), (100, Some(u64::from(answer.window))));
}

/// Without the data no acknowledgement is known to be of data that is outstanding.
#[test]
fn acknowledgements_alone_are_duplicates_where_they_repeat() {
    let repeated = [1, 1, 1, 2].into_iter().zip(1..);
    let packets: Vec<Seen<'_>> = repeated
        .map(|(n, at)| Seen { ip_id: Some(500 + at), ..ack(1000 * u64::from(at), n) })
        .collect();
    assert_eq!(evidence(&packets).reverse.duplicate_acks, 2);
    let with_data: Vec<Seen<'_>> =
        [data(100, 0)].into_iter().chain(packets).chain([data(9000, 2)]).collect();
    assert_eq!(evidence(&with_data).reverse.duplicate_acks, 0, "nothing was outstanding");
}
