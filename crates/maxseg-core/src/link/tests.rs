mod arrival_queue;
mod link_chain;
mod parts;
mod respec;

use proptest::prelude::*;

use super::*;
use crate::errors::{ErrorModel, Per, Schedule};
use crate::framing::Framing;
use crate::path::{LinkSpec, QueueLimit};
use crate::units::{BitsPerSec, Bytes, Probability, Time};

fn link(rate: u64, delay: Time, queue: QueueLimit) -> LinkSpec {
    LinkSpec { queue, ..LinkSpec::plain(BitsPerSec::new(rate).unwrap(), delay) }
}

fn damaging(mut spec: LinkSpec, rate: f64) -> LinkSpec {
    let rate = Probability::new(rate).unwrap();
    spec.errors = Schedule::constant(ErrorModel::Uniform { per: Per::Packet, rate });
    spec
}

#[test]
fn a_packet_waits_its_turn_then_takes_rate_and_delay() {
    let spec = link(2_000_000, Time::from_millis(200), QueueLimit::Packets(100));
    let mut hop = Hop::new(&spec, 1, "radio");
    let arrives = |nanos| Fate::Arrives(Time::from_nanos(nanos));
    assert_eq!(hop.admit(Time::ZERO, 576), arrives(202_304_000));
    assert_eq!(hop.admit(Time::ZERO, 576), arrives(204_608_000));
    assert_eq!(hop.admit(Time::from_secs(1), 576), arrives(1_202_304_000));
    assert_eq!(hop.counters().waited, Time::from_nanos(2_304_000));
}

#[test]
fn tail_drop_counts_who_waits_not_who_is_sent() {
    // 49 wait and one is on the wire: the 51st of a burst finds no place. As in ns-2, who leaves at
    // the very instant of an arrival still stands there.
    let spec = link(2_000_000, Time::ZERO, QueueLimit::Packets(49));
    let mut hop = Hop::new(&spec, 1, "radio");
    let refused = |fate| matches!(fate, Fate::Refused(_));
    assert!((0..50).all(|_| !refused(hop.admit(Time::ZERO, 576))));
    assert!(refused(hop.admit(Time::ZERO, 576)));
    let departure = Time::from_nanos(2_304_000);
    assert!(refused(hop.admit(departure, 576)));
    assert!(!refused(hop.admit(departure + Time::from_nanos(1), 576)));
}

#[test]
fn a_byte_limit_counts_the_bytes_that_wait() {
    let spec = link(1_000_000, Time::ZERO, QueueLimit::Bytes(Bytes::new(3000)));
    let mut hop = Hop::new(&spec, 1, "x");
    let fates: Vec<bool> = [1500, 1500, 1000, 500, 40]
        .into_iter()
        .map(|len| matches!(hop.admit(Time::ZERO, len), Fate::Arrives(_)))
        .collect();
    // One on the wire, 3000 bytes wait, and not even a small packet finds room.
    assert_eq!(fates, [true, true, true, true, false]);
}

#[test]
fn the_long_run_rate_is_exact() {
    // 41 bytes at 28.8 kbit/s take 11 388 888.8̅ ns: thirds of a nanosecond must not be lost.
    let spec = link(28_800, Time::ZERO, QueueLimit::Packets(1_000_000));
    let mut hop = Hop::new(&spec, 1, "modem");
    let last = (0..900_000).map(|_| hop.admit(Time::ZERO, 41)).last();
    // 900 000 × 41 × 8 bits ÷ 28 800 bit/s = 10 250 s.
    assert_eq!(last, Some(Fate::Arrives(Time::from_secs(10_250))));
}

#[test]
fn a_damaged_packet_has_used_its_time() {
    let spec = link(2_000_000, Time::from_millis(1), QueueLimit::Packets(10));
    let mut hop = Hop::new(&damaging(spec, 1.0), 1, "radio");
    assert_eq!(hop.admit(Time::ZERO, 250), Fate::Damaged(Time::from_millis(2)));
    assert_eq!(hop.admit(Time::ZERO, 250), Fate::Damaged(Time::from_millis(3)));
}

#[test]
fn waiting_beyond_the_end_of_a_run_does_not_count() {
    let spec = link(8_000, Time::ZERO, QueueLimit::Packets(10));
    let mut hop = Hop::new(&spec, 1, "slow").until(Time::from_secs(2));
    // A second each: the third would wait two seconds, the fourth three, of which the run sees two.
    for _ in 0..4 {
        hop.admit(Time::ZERO, 1000);
    }
    assert_eq!(hop.counters().waited, Time::from_secs(1 + 2 + 2));
}

#[test]
fn a_backlog_is_what_a_packet_meets_when_it_gets_there() {
    let near = link(1_000_000, Time::from_millis(200), QueueLimit::Packets(10));
    let far = link(500_000, Time::from_millis(200), QueueLimit::Packets(10));
    let mut route = Route::new(&[(&near, "a".into()), (&far, "b".into())], 1, Time::NEVER);
    route.admit(Time::ZERO, 125); // on the wires from 0 to 1 ms and from 201 to 203 ms
    assert_eq!(route.backlog(Time::ZERO), Time::from_millis(2));
    assert_eq!(route.backlog(Time::from_millis(2)), Time::from_millis(1));
    assert_eq!(route.backlog(Time::from_millis(3)), Time::ZERO);
}

#[test]
fn a_route_hands_a_packet_from_hop_to_hop() {
    let wired = link(10_000_000, Time::from_millis(20), QueueLimit::Packets(49));
    let radio = link(2_000_000, Time::from_millis(200), QueueLimit::Packets(49));
    let mut route =
        Route::new(&[(&wired, "wired".into()), (&radio, "radio".into())], 1, Time::NEVER);
    let nanos = 460_800 + 20_000_000 + 2_304_000 + 200_000_000;
    assert_eq!(route.admit(Time::ZERO, 576), Fate::Arrives(Time::from_nanos(nanos)));
}

/// Arrivals as (nanoseconds after the one before, bytes), bursts and ties included.
fn traffic() -> impl Strategy<Value = Vec<(u64, u32)>> {
    let gap = prop_oneof![Just(0), 0..5_000_000_u64, Just(2_304_000), Just(160_000)];
    proptest::collection::vec((gap, prop_oneof![Just(576), Just(40), 40..1500_u32]), 1..300)
}

fn some_link() -> impl Strategy<Value = LinkSpec> {
    let queue = prop_oneof![
        (0..60_u32).prop_map(QueueLimit::Packets),
        (0..60_000_u64).prop_map(|n| QueueLimit::Bytes(Bytes::new(n))),
    ];
    let rate = prop_oneof![Just(2_000_000), 9_600..1_000_000_000_u64];
    let framing = prop_oneof![Just(Framing::Ip), Just(Framing::Ethernet), Just(Framing::Serial)];
    (rate, 0..300_u64, queue, framing, prop_oneof![Just(0.0), 0.0..0.3_f64]).prop_map(
        |(rate, delay, queue, framing, errors)| {
            let mut spec = damaging(link(rate, Time::from_millis(delay), queue), errors);
            spec.framing = framing;
            spec
        },
    )
}

/// The fates of a traffic by the computing form, with arrival times absolute.
fn computed(spec: &LinkSpec, traffic: &[(u64, u32)], seed: u64) -> Vec<Fate> {
    let mut hop = Hop::new(spec, seed, "x");
    let mut now = Time::ZERO;
    let admit = |(gap, len): &(u64, u32)| {
        now += Time::from_nanos(*gap);
        hop.admit(now, *len)
    };
    traffic.iter().map(admit).collect()
}

proptest! {
    #[test]
    fn both_forms_give_the_same_fate_and_times(spec in some_link(), traffic in traffic(), seed: u64) {
        let want = computed(&spec, &traffic, seed);
        let mut staged = Staged::new(&spec, seed, "x");
        let mut got = vec![None; traffic.len()];
        let mut collect = |delivery: DecidedPacket<usize>| got[delivery.packet] = Some(delivery.fate);
        let mut now = Time::ZERO;
        let mut refused = Vec::new();
        for (index, (gap, len)) in traffic.iter().enumerate() {
            now += Time::from_nanos(*gap);
            if staged.offer(now, index, *len, false) == Offer::Refused(index) {
                refused.push((index, now));
            }
            // Late and seldom polling must change nothing.
            if index % 7 == 0 {
                let before = Time::from_nanos(now.as_nanos().saturating_sub(1));
                while let Some(delivery) = staged.poll(before) { collect(delivery); }
            }
        }
        while let Some(delivery) = staged.poll(now) { collect(delivery); }
        // From here on only by the events that it announces: there are no others.
        while staged.next_event() < Time::NEVER {
            let next = staged.next_event();
            prop_assert!(next > now);
            now = next;
            while let Some(delivery) = staged.poll(now) { collect(delivery); }
        }
        for (index, at) in refused { got[index] = Some(Fate::Refused(at)); }
        prop_assert_eq!(staged.held(), 0);
        let got: Vec<Fate> = got.into_iter().map(|fate| fate.expect("no packet is lost")).collect();
        prop_assert_eq!(got, want);
    }

    #[test]
    fn what_was_taken_is_held_until_it_is_polled(spec in some_link(), traffic in traffic()) {
        let mut staged = Staged::new(&spec, 1, "x");
        let (mut now, mut taken, mut polled) = (Time::ZERO, 0, 0);
        for (index, (gap, len)) in traffic.iter().enumerate() {
            now += Time::from_nanos(*gap);
            taken += usize::from(staged.offer(now, index, *len, false) == Offer::Taken);
            polled += usize::from(index % 3 == 0 && staged.poll(now).is_some());
            prop_assert_eq!(staged.held(), taken - polled);
        }
    }

    #[test]
    fn packets_are_neither_made_nor_lost_and_keep_their_order(
        spec in some_link(), traffic in traffic(), seed: u64
    ) {
        let mut hop = Hop::new(&spec, seed, "x");
        let (mut now, mut last) = (Time::ZERO, Time::ZERO);
        let (mut arrived, mut damaged, mut refused) = (0, 0, 0);
        for (gap, len) in &traffic {
            now += Time::from_nanos(*gap);
            match hop.admit(now, *len) {
                Fate::Arrives(at) => { arrived += 1; prop_assert!(at >= last); last = at; }
                Fate::Damaged(at) => { damaged += 1; prop_assert!(at >= last); last = at; }
                Fate::Refused(at) => { refused += 1; prop_assert_eq!(at, now); }
                fate @ (Fate::Marked(_) | Fate::TooBig { .. }) => prop_assert!(false, "{fate:?} on a plain link"),
            }
        }
        let counters = hop.counters();
        prop_assert_eq!(counters.sent, arrived + damaged);
        prop_assert_eq!(counters.damaged, damaged);
        prop_assert_eq!(counters.refused, refused);
        prop_assert_eq!(arrived + damaged + refused, traffic.len() as u64);
    }

    #[test]
    fn a_link_never_beats_its_rate(spec in some_link(), traffic in traffic()) {
        let fates = computed(&spec, &traffic, 1);
        let bits = |len: u32| spec.wire_bits(len);
        let sent: Vec<(u64, u64)> = fates.iter().zip(&traffic).filter_map(|(fate, (_, len))| {
            match fate {
                Fate::Arrives(at) | Fate::Damaged(at) => Some((at.as_nanos(), bits(*len))),
                Fate::Marked(_) | Fate::Refused(_) | Fate::TooBig { .. } => None,
            }
        }).collect();
        // Between any two departures no more bits pass than the rate allows, to a nanosecond.
        for first in 0..sent.len() {
            let mut passed = 0_u128;
            for last in first + 1..sent.len() {
                passed += u128::from(sent[last].1);
                let span = u128::from(sent[last].0 - sent[first].0 + 1);
                prop_assert!(passed * 1_000_000_000 <= span * u128::from(spec.rate.get()));
            }
        }
    }

    #[test]
    fn same_seed_same_fate(spec in some_link(), traffic in traffic(), seed: u64) {
        prop_assert_eq!(computed(&spec, &traffic, seed), computed(&spec, &traffic, seed));
    }
}
