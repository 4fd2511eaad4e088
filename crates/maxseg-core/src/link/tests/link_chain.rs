//! Both forms of a whole direction against each other, and against what must hold of any.

use proptest::prelude::*;

use super::super::*;
use crate::errors::{Arq, Clock, ErrorModel, GilbertElliott, Per, Schedule};
use crate::framing::Framing;
use crate::path::{CodelSettings, Discipline, LinkSpec, PolicerSpec, QueueLimit, RedSettings};
use crate::units::{BitsPerSec, Bytes, Mtu, Probability, Time};

/// A packet: its number, and whether it was marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Numbered(pub(super) usize, pub(super) bool);

impl Markable for Numbered {
    fn mark(&mut self) {
        self.1 = true;
    }
}

/// One packet of a traffic: nanoseconds after the one before, bytes, DF, whether it knows ECN.
pub(super) type Given = (u64, u32, bool, bool);

/// What came of a traffic.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Came {
    /// When each copy arrived, in order.
    pub(super) arrived: Vec<(Time, Numbered)>,
    /// Which packets were lost, when, and whether for their size.
    pub(super) lost: Vec<(usize, Time, bool)>,
    pub(super) counters: Vec<Counters>,
}

pub(super) fn too_big(fate: Fate) -> bool {
    matches!(fate, Fate::TooBig { .. })
}

/// Drives `link_chain` by nothing but the events that it announces.
fn drive(line: &mut LinkChain<Numbered>, traffic: &[Given], hops: u16) -> Came {
    let mut lost = Vec::new();
    let mut arrived = Vec::new();
    // A router tells of what is too large when it comes: in order.
    let mut told_until = Time::ZERO;
    let mut settle = |line: &mut LinkChain<Numbered>, until: Time| {
        while line.next_event() < until {
            let now = line.next_event();
            line.advance(now);
            while let Some((packet, fate)) = line.poll_loss() {
                if too_big(fate) {
                    assert!(told_until <= fate.at(), "{fate:?} is told after {told_until}");
                    told_until = fate.at();
                }
                lost.push((packet.0, fate.at(), too_big(fate)));
            }
        }
    };
    let mut now = Time::ZERO;
    let mut lost_at_once = Vec::new();
    for (number, (gap, ip_len, df, ect)) in traffic.iter().enumerate() {
        now += Time::from_nanos(*gap);
        settle(line, now); // an arrival goes before a departure
        let hop_span = HopSpan { first: 0, last: hops - 1, df: *df, ect: *ect };
        if let SendOutcome::Lost(fate) = line.send(now, Numbered(number, false), *ip_len, hop_span)
        {
            lost_at_once.push((number, fate.at(), too_big(fate)));
        }
    }
    settle(line, Time::NEVER);
    lost.extend(lost_at_once);
    lost.sort_unstable();
    while let Some((at, packet)) = line.pop() {
        arrived.push((at, packet));
    }
    arrived.sort_unstable();
    Came { arrived, lost, counters: line.counters() }
}

pub(super) fn named(specs: &[LinkSpec]) -> Vec<(&LinkSpec, String)> {
    specs.iter().enumerate().map(|(index, spec)| (spec, format!("hop.{index}"))).collect()
}

pub(super) fn computed(specs: &[LinkSpec], traffic: &[Given], seed: u64) -> Came {
    let mut line = LinkChain::new(&named(specs), seed, Time::NEVER, true);
    assert!(line.is_computed());
    let came = drive(&mut line, traffic, u16::try_from(specs.len()).unwrap());
    assert_eq!(line.held(), 0);
    came
}

pub(super) fn staged(specs: &[LinkSpec], traffic: &[Given], seed: u64) -> Came {
    let mut line = LinkChain::staged(&named(specs), seed);
    let came = drive(&mut line, traffic, u16::try_from(specs.len()).unwrap());
    assert_eq!(line.held(), 0);
    came
}

/// Packets of few sizes, in bursts and ties; some with DF, some that know ECN.
pub(super) fn traffic() -> impl Strategy<Value = Vec<Given>> {
    let gap = prop_oneof![Just(0), 0..5_000_000_u64, Just(2_304_000), Just(160_000)];
    let size = prop_oneof![Just(576), Just(40), 40..1500_u32, Just(1500), 1..100_u32];
    let bits = (proptest::bool::weighted(0.3), proptest::bool::weighted(0.5));
    proptest::collection::vec((gap, size, bits).prop_map(|(g, s, (d, e))| (g, s, d, e)), 1..150)
}

fn chance(most: f64) -> impl Strategy<Value = Probability> + Clone {
    prop_oneof![Just(0.0), 0.0..most].prop_map(|p| Probability::new(p).unwrap())
}

fn some_errors() -> impl Strategy<Value = ErrorModel> + Clone {
    let per = || prop_oneof![Just(Per::Frame), Just(Per::Packet), Just(Per::Byte)];
    let chain = |clock, rate| {
        let (good, bad) = (Probability::NEVER, Probability::ALWAYS);
        ErrorModel::GilbertElliott(GilbertElliott { clock, rate, good, bad })
    };
    prop_oneof![
        Just(ErrorModel::None),
        (per(), chance(0.2)).prop_map(|(per, rate)| ErrorModel::Uniform { per, rate }),
        (1.5..6.0_f64, chance(0.2)).prop_map(move |(burst, rate)| {
            chain(Clock::Units { per: Per::Frame, burst }, rate)
        }),
        (1..20_u64, chance(0.2)).prop_map(move |(ms, rate)| {
            chain(Clock::Time { burst: Time::from_millis(ms) }, rate)
        }),
    ]
}

fn some_queue() -> impl Strategy<Value = (QueueLimit, Discipline)> + Clone {
    let limit = prop_oneof![
        (0..40_u32).prop_map(QueueLimit::Packets),
        (0..40_000_u64).prop_map(|n| QueueLimit::Bytes(Bytes::new(n))),
    ];
    let red = RedSettings {
        weight: Probability::new(0.2).unwrap(),
        max_p: Probability::new(0.3).unwrap(),
        ..RedSettings::default()
    };
    let bytes = |n| QueueLimit::Bytes(Bytes::new(n));
    let by_bytes = RedSettings { min: bytes(1_000), max: bytes(9_000), ..red };
    let discipline = prop_oneof![
        3 => Just(Discipline::TailDrop),
        1 => Just(Discipline::Red(red)),
        1 => Just(Discipline::Red(by_bytes)),
    ];
    (limit, discipline)
}

/// A link of any kind but those that decide late or let packets overtake.
pub(super) fn some_link() -> impl Strategy<Value = LinkSpec> + Clone {
    let rate = prop_oneof![Just(2_000_000), 96_000..1_000_000_000_u64];
    let framing = prop_oneof![Just(Framing::Ip), Just(Framing::Serial), Just(Framing::Ethernet)];
    let basics = (rate, 0..300_u64, some_queue(), some_errors(), framing);
    let arq = prop::option::of((0..4_u32, 0..30_u64));
    let bucket = prop_oneof![3 => Just(0), 1 => 0..20_000_u64];
    let policer = prop::option::weighted(0.3, (100_000..10_000_000_u64, 1_538..20_000_u64));
    let frame = prop::option::of((8..700_u32, any::<bool>()));
    let mtu = prop_oneof![3 => Just(1500), 1 => 68..1500_u64];
    let rest = (arq, bucket, policer, frame, mtu, chance(0.2), any::<bool>());
    (basics, rest).prop_map(|((rate, delay, (queue, discipline), errors, framing), rest)| {
        let (arq, bucket, policer, frame, mtu, duplicate, ecn) = rest;
        LinkSpec {
            framing,
            queue,
            discipline,
            ecn,
            errors: Schedule::constant(errors),
            arq: arq.map(|(retries, ms)| Arq { retries, delay: Time::from_millis(ms) }),
            burst: Bytes::new(bucket),
            policer: policer.map(|(rate, burst)| PolicerSpec {
                rate: BitsPerSec::new(rate).unwrap(),
                burst: Bytes::new(burst),
            }),
            frame: frame.map(|(bytes, _)| bytes),
            pad: frame.is_some_and(|(_, pad)| pad),
            mtu: Mtu::new(mtu).unwrap(),
            duplicate,
            ..LinkSpec::plain(BitsPerSec::new(rate).unwrap(), Time::from_millis(delay))
        }
    })
}

/// Up to three of them, the last perhaps with jitter and overtaking.
fn some_path() -> impl Strategy<Value = Vec<LinkSpec>> {
    let jitter = (prop_oneof![Just(0.0), 0.0..1.0_f64], chance(0.2));
    (proptest::collection::vec(some_link(), 1..4), jitter).prop_map(
        |(mut links, (share, reorder))| {
            let last = links.last_mut().unwrap();
            last.jitter = Time::from_secs_f64(share * last.delay.as_secs_f64());
            last.reorder = reorder;
            links
        },
    )
}

/// The same with `CoDel`, and overtaking anywhere.
fn any_path() -> impl Strategy<Value = Vec<LinkSpec>> {
    proptest::collection::vec(any_link(), 1..4)
}

/// A link of any kind.
pub(super) fn any_link() -> impl Strategy<Value = LinkSpec> + Clone {
    let codel = CodelSettings { target: Time::from_millis(2), interval: Time::from_millis(20) };
    let extra = (any::<bool>(), prop_oneof![Just(0.0), 0.0..1.0_f64], chance(0.2));
    (some_link(), extra).prop_map(move |(mut link, (late, share, reorder))| {
        if late {
            link.discipline = Discipline::Codel(codel);
        }
        link.jitter = Time::from_secs_f64(share * link.delay.as_secs_f64());
        link.reorder = reorder;
        link
    })
}

proptest! {
    #[test]
    fn computed_and_staged_lines_are_the_same(path in some_path(), traffic in traffic(), seed: u64) {
        prop_assert_eq!(computed(&path, &traffic, seed), staged(&path, &traffic, seed));
    }

    #[test]
    fn every_packet_arrives_or_is_lost(path in any_path(), traffic in traffic(), seed: u64) {
        let came = staged(&path, &traffic, seed);
        let doubles = path.iter().any(|link| link.duplicate > Probability::NEVER);
        for number in 0..traffic.len() {
            let copies = came.arrived.iter().filter(|(_, packet)| packet.0 == number).count();
            let losses = came.lost.iter().filter(|(lost, ..)| *lost == number).count();
            prop_assert_eq!(losses, usize::from(copies == 0), "packet {}", number);
            prop_assert!(copies <= 1 || doubles, "packet {} came {} times", number, copies);
        }
        // And at each hop: what came in went on the wire, or was dropped.
        let first = &came.counters[0];
        let dropped = first.refused + first.policed + first.early;
        let too_big = came.lost.iter().filter(|(.., too_big)| *too_big).count() as u64;
        if path.iter().skip(1).all(|link| link.mtu >= path[0].mtu) && path[0].mtu == Mtu::ETHERNET {
            prop_assert_eq!(too_big, 0);
            prop_assert_eq!(first.sent + dropped, traffic.len() as u64 + first.doubled);
        }
    }

    #[test]
    fn order_is_kept_where_nothing_may_overtake(
        path in proptest::collection::vec(some_link(), 1..4), traffic in traffic(), seed: u64
    ) {
        let arrived = computed(&path, &traffic, seed).arrived;
        prop_assert!(arrived.is_sorted_by_key(|(_, packet)| packet.0), "{:?}", arrived);
    }

    #[test]
    fn only_who_knows_ecn_is_marked(path in any_path(), traffic in traffic(), seed: u64) {
        let ecn = path.iter().any(|link| link.ecn);
        for (_, Numbered(number, marked)) in staged(&path, &traffic, seed).arrived {
            prop_assert!(!marked || (ecn && traffic[number].3));
        }
    }

    #[test]
    fn what_passes_a_bucket_is_its_rate_and_its_burst(
        link in some_link(), traffic in traffic(), seed: u64
    ) {
        // What a hop lets out, by the time when it left: no error, repeat or pipe after it.
        let delay = Time::ZERO;
        let errors = Schedule::default();
        let link = LinkSpec { delay, errors, arq: None, duplicate: Probability::NEVER, ..link };
        let traffic: Vec<Given> =
            traffic.into_iter().map(|(gap, len, ..)| (gap, len.min(link.mtu.get().into()), true, false)).collect();
        let came = computed(std::slice::from_ref(&link), &traffic, seed);
        let sent: Vec<(u128, u128)> = came
            .arrived
            .iter()
            .map(|(at, packet)| {
                (u128::from(at.as_nanos()), u128::from(link.wire_bits(traffic[packet.0].1)))
            })
            .collect();
        for first in 0..sent.len() {
            let mut passed = 0;
            for last in first + 1..sent.len() {
                passed += sent[last].1;
                let span = sent[last].0 - sent[first].0 + 2; // times are rounded
                let burst = link.burst.get() * link.framing.bits_per_byte();
                let burst = u128::from(burst) * 1_000_000_000;
                prop_assert!(passed * 1_000_000_000 <= span * u128::from(link.rate.get()) + burst);
            }
        }
        if let Some(policer) = link.policer {
            // It sees packets when they come, not when they leave: only the sum is bounded here.
            let bits = |packet: &Numbered| link.wire_bytes(traffic[packet.0].1).bits();
            let all: u128 = came.arrived.iter().map(|(_, packet)| u128::from(bits(packet))).sum();
            let run: u64 = traffic.iter().map(|(gap, ..)| *gap).sum();
            let tokens = u128::from(policer.rate.get()) * u128::from(run)
                + u128::from(policer.burst.bits()) * 1_000_000_000;
            prop_assert!(all * 1_000_000_000 <= tokens);
        }
    }

    #[test]
    fn a_seed_decides_and_parts_do_not_meddle(path in any_path(), traffic in traffic(), seed: u64) {
        prop_assert_eq!(staged(&path, &traffic, seed), staged(&path, &traffic, seed));
        // Jitter changes times, but not who is lost on that link: each part has its own stream.
        let link = LinkSpec { mtu: Mtu::ETHERNET, ..path[0].clone() };
        let calm = LinkSpec { jitter: Time::ZERO, reorder: Probability::NEVER, ..link.clone() };
        let who = |came: Came| came.lost.iter().map(|(number, ..)| *number).collect::<Vec<_>>();
        let link = std::slice::from_ref(&link);
        let calm = std::slice::from_ref(&calm);
        prop_assert_eq!(who(staged(link, &traffic, seed)), who(staged(calm, &traffic, seed)));
    }
}

/// Ten packets of 10 ms at once: at any time the first have gone on the wire, and the rest have waited so far.
#[test]
fn counters_at_a_time_hold_what_has_happened_until_then() {
    let link = LinkSpec::plain(BitsPerSec::new(1_000_000).unwrap(), Time::ZERO);
    let in_bytes = LinkSpec { queue: QueueLimit::Bytes(Bytes::new(1 << 20)), ..link.clone() };
    let ms = |ms: u64| Time::from_millis(ms);
    let hop_span = HopSpan { first: 0, last: 0, df: true, ect: false };
    for specs in [[link], [in_bytes]] {
        let computed = LinkChain::new(&named(&specs), 1, Time::NEVER, true);
        for mut line in [computed, LinkChain::staged(&named(&specs), 1)] {
            for number in 0..10 {
                let _ = line.send(Time::ZERO, Numbered(number, false), 1250, hop_span);
            }
            for (now, sent, busy, waited) in
                [(0, 1, 0, 0), (5, 1, 5, 45), (25, 3, 25, 10 + 20 + 7 * 25), (200, 10, 100, 450)]
            {
                line.advance(ms(now));
                let (counters, waiting) = line.counters_at(ms(now))[0];
                let found = (counters.sent, counters.busy, counters.waited, waiting);
                assert_eq!(found, (sent, ms(busy), ms(waited), 10 - sent), "{now} ms");
            }
        }
    }
}
