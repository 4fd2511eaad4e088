//! One direction alone.

use maxseg_core::units::Time;

use super::{Seen, ack, data, evidence, syn, syn_ack};

/// Fifty segments a millisecond apart, of which the twentieth is sent again at the end, or their acknowledgements.
fn fifty(of: impl Fn(u64, u32) -> Seen<'static>) -> Vec<Seen<'static>> {
    (0..50).map(|n| of(40_000 + 1000 * u64::from(n), n)).collect()
}

#[test]
fn data_alone_tells_the_round_trip_and_the_repair() {
    let mut packets = vec![syn(0)];
    packets.extend(fifty(data));
    let again = Seen { ip_id: Some(900), ..data(90_000, 20) };
    packets.push(again);
    let evidence = evidence(&packets);
    let alone = evidence.forward.alone.unwrap();
    assert_eq!((alone.trip, evidence.reverse.alone), (Time::from_millis(40), None));
    let repair = alone.repairs[0];
    assert_eq!((repair.after, repair.bytes), (Time::from_millis(30), 2900));
}

#[test]
fn acknowledgements_alone_tell_the_rate_of_the_data() {
    let mut packets = vec![syn_ack(0)];
    packets.extend(fifty(|at, n| ack(at, n + 1)));
    let alone = evidence(&packets).forward.alone.unwrap();
    assert_eq!(alone.trip, Time::from_millis(40));
    assert!((alone.rate_bps / 800e3 - 1.0).abs() < 1e-6, "{}", alone.rate_bps);
}

#[test]
fn of_both_directions_nothing_is_alone() {
    let mut packets = vec![syn(0), syn_ack(20_000)];
    packets.extend(fifty(data));
    assert_eq!(evidence(&packets).forward.alone, None);
    let without_syn = fifty(data);
    assert_eq!(evidence(&without_syn).forward.alone, None, "no round trip is known");
}
