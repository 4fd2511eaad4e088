//! Each part of a link alone, with numbers that can be checked by hand.

use super::super::*;
use super::link_chain::{Numbered, computed, named, staged};
use crate::errors::{Arq, ErrorModel, Per, Schedule};
use crate::path::{CodelSettings, Discipline, LinkSpec, QueueLimit};
use crate::units::{BitsPerSec, Bytes, Mtu, Probability, Time};

fn mbit(rate: u64, delay_ms: u64) -> LinkSpec {
    LinkSpec::plain(BitsPerSec::new(rate * 1_000_000).unwrap(), Time::from_millis(delay_ms))
}

fn p(p: f64) -> Probability {
    Probability::new(p).unwrap()
}

fn losing(per: Per, rate: f64) -> Schedule {
    Schedule::constant(ErrorModel::Uniform { per, rate: p(rate) })
}

#[test]
fn a_packet_too_large_is_cut_or_turned_back() {
    // 1500 bytes at 8 Mbit/s are 1.5 ms; over an MTU of 576 they are 572, 572 and 396 (1540 µs).
    let path = [mbit(8, 10), LinkSpec { mtu: Mtu::new(576).unwrap(), ..mbit(8, 10) }];
    let both = |df: bool| {
        [computed(&path, &[(0, 1500, df, false)], 1), staged(&path, &[(0, 1500, df, false)], 1)]
    };
    for came in both(false) {
        let at = Time::from_nanos(1_500_000 + 10_000_000 + 1_540_000 + 10_000_000);
        assert_eq!(came.arrived, [(at, Numbered(0, false))]);
        assert_eq!(came.counters[1].sent, 3);
    }
    for came in both(true) {
        assert_eq!(came.lost, [(0, Time::from_nanos(11_500_000), true)]);
    }
}

#[test]
fn a_packet_dies_with_any_fragment() {
    let small =
        LinkSpec { mtu: Mtu::new(576).unwrap(), errors: losing(Per::Packet, 0.1), ..mbit(100, 0) };
    let traffic = vec![(10_000_000, 1500, false, false); 20_000];
    let came = computed(&[small], &traffic, 1);
    // Three fragments: 1 − 0.9³ = 27.1%, 4 standard errors of 0.31%.
    let share = came.lost.len() as f64 / traffic.len() as f64;
    assert!((share - 0.271).abs() < 0.0126, "{share}");
}

#[test]
fn repeats_take_airtime_and_delay_and_leave_the_residual() {
    let arq = |retries| Some(Arq { retries, delay: Time::from_millis(20) });
    let base = LinkSpec { frame: Some(100), arq: arq(3), ..mbit(2, 1) };
    for e in [0.05, 0.3] {
        for retries in [0, 1, 3] {
            let link =
                LinkSpec { errors: losing(Per::Frame, e), arq: arq(retries), ..base.clone() };
            let n = 60_000;
            let traffic = vec![(1_000_000_000, 250, false, false); n];
            let came = computed(std::slice::from_ref(&link), &traffic, 3);
            let size = Bytes::new(250);
            let want = link.loss(size, Time::NEVER).get();
            let r = e.powi(i32::try_from(retries).unwrap() + 1);
            assert!((want - (1.0 - (1.0 - r).powi(3))).abs() < 1e-12);
            let spread = (want * (1.0 - want) / n as f64).sqrt();
            let got = came.lost.len() as f64 / n as f64;
            assert!((got - want).abs() < 4.0 * spread + 1e-4, "{e} {retries}: {got} is not {want}");
            // Frames of 100, 100 and 50 bytes, each (1 − r) ÷ (1 − e) times on the wire.
            let (airtime, late) = link.mean_airtime(size, Time::NEVER);
            let tries = (1.0 - r) / (1.0 - e);
            assert!(
                (airtime - 0.001 * tries).abs() < 1e-12
                    && (late - 0.06 * (tries - 1.0)).abs() < 1e-12
            );
            let busy = came.counters[0].busy.as_secs_f64() / n as f64;
            assert!((busy / airtime - 1.0).abs() < 0.01, "{e} {retries}: {busy} is not {airtime}");
            // Of each frame all tries but the first are repeats; their variance is e ÷ (1 − e)² at most.
            let repeats = came.counters[0].repeats as f64 / n as f64;
            let spread = (3.0 * e / (1.0 - e).powi(2) / n as f64).sqrt();
            let want = 3.0 * (tries - 1.0);
            assert!(
                (repeats - want).abs() <= 4.0 * spread,
                "{e} {retries}: {repeats} is not {want}"
            );
        }
    }
}

#[test]
fn a_repeat_holds_up_those_behind_but_not_the_wire() {
    let errors = losing(Per::Packet, 0.5);
    let arq = Some(Arq { retries: 20, delay: Time::from_millis(50) });
    let link = LinkSpec { errors, arq, ..mbit(8, 10) };
    let came = computed(&[link], &vec![(1_000_000, 100, false, false); 1000], 1);
    assert_eq!(came.arrived.len(), 1000);
    assert!(came.arrived.windows(2).all(|pair| pair[0].1 < pair[1].1 && pair[0].0 <= pair[1].0));
    // Twice 0.1 ms in each ms: the link is far from full, although every second packet waits 50 ms.
    let last = came.arrived.last().unwrap().0;
    assert!(last < Time::from_millis(1000 + 20 * 51), "{last}");
    assert!(came.counters[0].busy < Time::from_millis(220));
}

#[test]
fn jitter_and_overtaking_are_as_in_netem() {
    let link = LinkSpec { jitter: Time::from_millis(10), ..mbit(1000, 30) };
    let traffic = vec![(1_000_000, 125, false, false); 20_000]; // a microsecond each, a millisecond apart
    let came = computed(&[link], &traffic, 1);
    let delays: Vec<f64> = came
        .arrived
        .iter()
        .map(|(at, packet)| at.as_secs_f64() * 1e3 - (packet.0 as f64 + 1.0) - 0.001)
        .collect();
    let mean = delays.iter().sum::<f64>() / delays.len() as f64;
    assert!(delays.iter().all(|ms| (19.999..=30.0 + 10.001).contains(ms)));
    assert!((mean - 30.0).abs() < 0.16, "{mean}"); // standard error 0.041 ms
    assert!(!came.arrived.is_sorted_by_key(|(_, packet)| packet.0));

    let link = LinkSpec { reorder: p(0.25), ..mbit(1000, 30) };
    let came = computed(&[link], &traffic, 1);
    let early = came
        .arrived
        .iter()
        .filter(|(at, packet)| *at == Time::from_nanos((packet.0 as u64 + 1) * 1_000_000 + 1_000));
    let share = early.count() as f64 / traffic.len() as f64;
    assert!((share - 0.25).abs() < 0.0123, "{share}"); // 4 standard errors
}

/// Jitter is uniform over the 2·j + 1 nanoseconds from −j to +j: three values for 1 ns.
#[test]
fn jitter_reaches_both_of_its_ends() {
    let link = LinkSpec { jitter: Time::from_nanos(1), ..mbit(1000, 30) };
    let came = computed(&[link], &vec![(1_000_000, 125, false, false); 9000], 1);
    let mut counts = [0.0; 3];
    for (at, packet) in &came.arrived {
        let undisturbed = (packet.0 as u64 + 1) * 1_000_000 + 1_000 + 30_000_000;
        counts[usize::try_from(at.as_nanos() + 1 - undisturbed).unwrap()] += 1.0;
    }
    // 4 standard errors of a third of 9000.
    assert!(counts.iter().all(|count: &f64| (count - 3000.0).abs() < 179.0), "{counts:?}");
}

#[test]
fn copies_come_right_behind_and_take_their_own_time() {
    let link = LinkSpec { duplicate: p(1.0), ..mbit(8, 10) };
    for came in [
        computed(std::slice::from_ref(&link), &[(0, 1000, false, false)], 1),
        staged(&[link], &[(0, 1000, false, false)], 1),
    ] {
        let at = |ms| (Time::from_millis(ms), Numbered(0, false));
        assert_eq!(came.arrived, [at(11), at(12)]);
        assert_eq!(came.counters[0].doubled, 1);
    }
}

#[test]
fn a_bucket_lets_a_burst_pass_at_once() {
    // 3000 bytes at once; then a millisecond for each 1000.
    let link = LinkSpec { burst: Bytes::new(3000), queue: QueueLimit::Packets(2), ..mbit(8, 0) };
    for came in [
        computed(std::slice::from_ref(&link), &[(0, 1000, false, false); 7], 1),
        staged(&[link], &[(0, 1000, false, false); 7], 1),
    ] {
        let times: Vec<u64> =
            came.arrived.iter().map(|(at, _)| at.as_nanos() / 1_000_000).collect();
        assert_eq!(times, [0, 0, 0, 1, 2, 3]); // one has no token yet, two wait, the seventh is refused
        assert_eq!(came.lost, [(6, Time::ZERO, false)]);
    }
}

#[test]
fn codel_keeps_a_standing_queue_short_and_marks_where_it_may() {
    // 12 Mbit/s into 10: the queue grows without end unless somebody keeps it short.
    let codel = Discipline::Codel(CodelSettings::default());
    let queue = QueueLimit::Packets(1000);
    let link = LinkSpec { discipline: codel, queue, ecn: true, ..mbit(10, 0) };
    let waits = |ect: bool| {
        let came =
            staged(std::slice::from_ref(&link), &vec![(1_000_000, 1500, false, ect); 20_000], 1);
        let counters = came.counters[0];
        (counters.waited.as_secs_f64() / counters.sent as f64, came)
    };
    let (wait, came) = waits(false);
    let counters = came.counters[0];
    assert!(counters.early > 0 && counters.refused == 0 && counters.marked == 0, "{counters:?}");
    let tail_drop = LinkSpec { discipline: Discipline::TailDrop, ..link.clone() };
    let fixed = staged(&[tail_drop], &vec![(1_000_000, 1500, false, false); 20_000], 1).counters[0];
    assert!(wait * 2.0 < fixed.waited.as_secs_f64() / fixed.sent as f64, "{wait} {fixed:?}");
    let (_, came) = waits(true);
    assert!(came.counters[0].early == 0 && came.counters[0].marked > 100);
    assert!(
        came.arrived.iter().filter(|(_, packet)| packet.1).count() as u64
            == came.counters[0].marked
    );
}

#[test]
fn packets_may_join_and_leave_in_mid_path() {
    let path = [mbit(8, 10), mbit(8, 10), mbit(8, 10)];
    let mut line = LinkChain::new(&named(&path), 1, Time::NEVER, false);
    assert!(!line.is_computed());
    let hop_span = |first, last| HopSpan { first, last, df: true, ect: false };
    let _ = line.send(Time::ZERO, Numbered(0, false), 1000, hop_span(0, 2));
    let _ = line.send(Time::ZERO, Numbered(1, false), 1000, hop_span(1, 1));
    // It comes to the second hop just before the first packet does, which waits behind it.
    while line.next_event() < Time::from_millis(10) {
        line.advance(line.next_event());
    }
    let _ = line.send(Time::from_millis(10), Numbered(2, false), 1500, hop_span(1, 1));
    while line.next_event() < Time::NEVER {
        line.advance(line.next_event());
    }
    let arrived: Vec<_> =
        std::iter::from_fn(|| line.pop()).map(|(at, packet)| (packet.0, at)).collect();
    let micros = |n: u64| Time::from_nanos(n * 1000);
    // 0: 1 ms + 10, there at 11; 2 is on the wire from 10 to 11.5; so 0 leaves at 12.5.
    assert_eq!(
        arrived,
        [(1, micros(11_000)), (2, micros(21_500)), (0, micros(12_500 + 10_000 + 11_000))]
    );
}

#[test]
fn a_backlog_is_the_longest_wait_on_the_way() {
    // Three packets of 1000 bytes at 8 Mbit/s: the first is on the wire for 1 ms, two wait behind it.
    let path = [mbit(8, 0), mbit(16, 0)];
    for computed in [true, false] {
        let mut chain = LinkChain::new(&named(&path), 1, Time::NEVER, computed);
        assert_eq!(chain.is_computed(), computed);
        assert_eq!(chain.backlog(Time::ZERO), Time::ZERO);
        for number in 0..3 {
            let hop_span = HopSpan { first: 0, last: 1, df: true, ect: false };
            let _ = chain.send(Time::ZERO, Numbered(number, false), 1000, hop_span);
        }
        assert_eq!(chain.backlog(Time::ZERO), Time::from_millis(3), "computed: {computed}");
    }
}

#[test]
fn departures_beyond_any_run_are_held_at_the_latest_time() {
    // Each packet takes six days at 1 bit/s: the 50 000 of them 830 years, and nanoseconds count 584.
    let mtu = Mtu::new(65_535).unwrap();
    let queue = QueueLimit::Packets(100_000);
    let plain = LinkSpec {
        mtu,
        queue,
        ..LinkSpec::plain(BitsPerSec::new(1).unwrap(), Time::from_secs(86_400))
    };
    let burst = LinkSpec { burst: Bytes::new(70_000), ..plain.clone() };
    for spec in [plain, burst] {
        let mut hop = Hop::new(&spec, 1, "slow");
        let mut latest = Time::ZERO;
        for _ in 0..50_000 {
            let Fate::Arrives(at) = hop.admit(Time::ZERO, Bytes::new(65_535)) else {
                panic!("the queue has room");
            };
            assert!(at >= latest, "{at} after {latest}");
            latest = at;
        }
        assert!(latest < Time::NEVER);
        assert!(hop.busy_until(Time::ZERO) <= latest);
    }
}
