//! What holds for every link.

#![expect(clippy::float_cmp, reason = "whole numbers below 2 to the 53, read back")]

use proptest::prelude::*;

use super::*;
use crate::lab::netem::{Kind, Parent};

/// Suffixes of `tc_util.c` and `utils.c` in the base unit, as `tc` scans them: a rate's is bytes per
/// second, a time's nanoseconds.
fn as_tc_reads(text: &str) -> f64 {
    let digits = text.find(|c: char| c.is_ascii_alphabetic() || c == '%').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let scale = match unit {
        "" | "ns" => 1.0,
        "bit" => 1.0 / 8.0,
        "us" => 1_000.0,
        "%" => 0.01,
        other => panic!("tc knows no `{other}` here"),
    };
    number.parse::<f64>().unwrap() * scale
}

fn errors() -> impl Strategy<Value = Schedule> {
    let per = prop_oneof![Just(Per::Packet), Just(Per::Frame), Just(Per::Byte)];
    let units = (per.clone(), 1.0..50.0).prop_map(|(per, burst)| Clock::Units { per, burst });
    let time = (1_000u64..1_000_000_000).prop_map(|n| Clock::Time { burst: Time::from_nanos(n) });
    prop_oneof![
        Just(Schedule::default()),
        (per, 0.0..=1.0).prop_map(|(per, rate)| uniform(per, rate)),
        (prop_oneof![units, time], 0.0..=1.0).prop_map(|(clock, rate)| bursts(clock, rate)),
        Just(Schedule::constant(ErrorModel::List { lost: [0, 5].into() })),
    ]
}

fn queue() -> impl Strategy<Value = QueueLimit> {
    prop_oneof![
        any::<u32>().prop_map(QueueLimit::Packets),
        any::<u64>().prop_map(|bytes| QueueLimit::Bytes(Bytes::new(bytes))),
    ]
}

fn discipline() -> impl Strategy<Value = Discipline> {
    let codel = (any::<u64>(), any::<u64>()).prop_map(|(target, interval)| {
        let (target, interval) = (Time::from_nanos(target), Time::from_nanos(interval));
        Discipline::Codel(CodelSettings { target, interval })
    });
    let red = (queue(), queue(), 0.0..=1.0, 0.0..=1.0).prop_map(|(min, max, max_p, weight)| {
        let (max_p, weight) = (share(max_p), share(weight));
        Discipline::Red(RedSettings { min, max, max_p, weight })
    });
    prop_oneof![Just(Discipline::TailDrop), codel, red]
}

fn framing() -> impl Strategy<Value = Framing> {
    use Framing::{AtmAal5, AtmAal5Llc, Ethernet, EthernetVlan, Ip, Ppp, Pppoe, Serial, SerialVj};
    prop::sample::select(vec![
        Ip,
        Ethernet,
        EthernetVlan,
        Ppp,
        Pppoe,
        Serial,
        SerialVj,
        AtmAal5,
        AtmAal5Llc,
    ])
}

prop_compose! {
    fn links()(
        (rate, delay, jitter) in (1u64..=100_000_000_000_000, any::<u64>(), any::<u64>()),
        (mtu, frame, pad) in (68u64..=65_535, prop::option::of(1u32..10_000), any::<bool>()),
        (queue, discipline, errors, framing) in (queue(), discipline(), errors(), framing()),
        (reorder, duplicate, burst) in (0.0..=1.0, 0.0..=1.0, prop_oneof![Just(0u64), any::<u64>()]),
    ) -> LinkSpec {
        LinkSpec {
            mtu: Mtu::new(mtu).unwrap(),
            frame, pad, queue, discipline, errors, framing,
            jitter: Time::from_nanos(jitter.min(delay)),
            reorder: share(reorder),
            duplicate: share(duplicate),
            burst: Bytes::new(burst),
            ..LinkSpec::plain(BitsPerSec::new(rate).unwrap(), Time::from_nanos(delay))
        }
    }
}

fn after<'a>(words: &'a [String], key: &str) -> Option<&'a str> {
    let at = words.iter().position(|word| word == key)?;
    words.get(at + 1).map(String::as_str)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any link has a plan, and what tc reads in it are the numbers of the plan.
    #[test]
    fn every_number_is_read_back(link in links(), as_netem: bool, one_interface: bool) {
        let place = if one_interface { together() } else { apart() };
        let plan = Plan::of(&link, &place, &PlanOptions { as_netem, ..seeded() });
        for (qdisc, command) in plan.qdiscs.iter().zip(plan.add()) {
            let words = &command.arguments;
            let read = |key: &str| after(words, key).map(as_tc_reads);
            // tc's own are of 32 bits.
            prop_assert!(read("limit").unwrap() <= f64::from(u32::MAX), "{command}");
            match &qdisc.kind {
                Kind::Netem(netem) => {
                    prop_assert_eq!(read("limit"), Some(f64::from(netem.limit)));
                    prop_assert!(netem.limit >= 1);
                    let delay = netem.delay.as_nanos() as f64;
                    prop_assert_eq!(read("delay").unwrap_or(0.0), delay);
                    prop_assert_eq!(read("rate"), netem.rate.map(|rate| rate as f64));
                    prop_assert!(netem.rate.is_none_or(|rate| rate > 0));
                }
                Kind::Tbf { rate, burst, limit } => {
                    prop_assert_eq!(read("rate"), Some(*rate as f64));
                    prop_assert_eq!(read("burst"), Some(f64::from(*burst)));
                    prop_assert_eq!(read("limit"), Some(f64::from(*limit)));
                    // What is larger than the bucket, tbf drops.
                    prop_assert!(*burst >= u32::from(link.mtu.get()));
                    // And what is larger than its room finds none.
                    prop_assert!(*limit >= u32::from(link.mtu.get()) || link.burst > Bytes::ZERO);
                }
                Kind::Red(red) => {
                    prop_assert!(red.min < red.max && red.max > 0);
                    prop_assert_eq!(read("max"), Some(f64::from(red.max)));
                }
                Kind::Pfifo { limit } | Kind::Codel { limit, .. } => {
                    prop_assert_eq!(read("limit"), Some(f64::from(*limit)));
                    prop_assert!(*limit >= 1);
                }
            }
        }
        // On each interface a chain from the root, parents before their children.
        for (index, qdisc) in plan.qdiscs.iter().enumerate() {
            let expected = match qdisc.parent {
                Parent::Root => true,
                Parent::Only(major) => {
                    let above = &plan.qdiscs[index - 1];
                    above.device == qdisc.device && above.handle == major
                }
            };
            prop_assert!(expected, "{:?}", plan.qdiscs);
        }
    }

    /// A rate is cut to whole bytes per second, never raised, and never to nothing.
    #[test]
    fn the_rate_is_the_links_to_a_byte_per_second(link in links()) {
        let plan = Plan::of(&link, &apart(), &seeded());
        let given = match &plan.qdiscs[0].kind {
            Kind::Netem(netem) => netem.rate.unwrap(),
            Kind::Tbf { rate, .. } => *rate,
            Kind::Pfifo { .. } | Kind::Codel { .. } | Kind::Red(_) => panic!("no rate at the root"),
        };
        let asked = link.rate.get() as f64 / link.framing.bits_per_byte() as f64;
        prop_assert!(given == 1 || (0.0..1.0).contains(&(asked - given as f64)), "{asked} {given}");
    }
}
