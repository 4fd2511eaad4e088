use maxseg_core::errors::{Arq, Clock, ErrorModel, GilbertElliott, Per, Schedule};
use maxseg_core::framing::{Framing, IpVersion, Tunnel, TunnelKind};
use maxseg_core::path::{
    CodelSettings, Discipline, IcmpPolicy, LinkSpec, PolicerSpec, QueueLimit, RedSettings,
};
use maxseg_core::units::{BitsPerSec, Bytes, Mtu, Probability, Time};

use super::{Devices, Plan, PlanOptions, Shortfall, source_offloads};

mod accepted;
mod properties;

fn rate(text: &str) -> BitsPerSec {
    text.parse().unwrap()
}

fn share(p: f64) -> Probability {
    Probability::new(p).unwrap()
}

fn uniform(per: Per, rate: f64) -> Schedule {
    Schedule::constant(ErrorModel::Uniform { per, rate: share(rate) })
}

fn bursts(clock: Clock, rate: f64) -> Schedule {
    let chain = GilbertElliott { clock, rate: share(rate), good: share(0.0), bad: share(1.0) };
    Schedule::constant(ErrorModel::GilbertElliott(chain))
}

/// 10 Mbit/s, 20 ms, 100 packets.
fn plain() -> LinkSpec {
    LinkSpec::plain(rate("10 Mbit/s"), Time::from_millis(20))
}

fn apart() -> Devices {
    Devices::TwoInterfaces { wire: "w0".to_owned(), pipe: "p0".to_owned() }
}

fn together() -> Devices {
    Devices::OneInterface { device: "w0".to_owned() }
}

fn lines(plan: &Plan) -> Vec<String> {
    plan.add().iter().map(ToString::to_string).collect()
}

fn seeded() -> PlanOptions {
    PlanOptions { seed: Some(7), ..PlanOptions::default() }
}

/// A link, where it goes, and the commands that are wanted.
struct Golden {
    what: &'static str,
    link: LinkSpec,
    place: Devices,
    options: PlanOptions,
    want: &'static [&'static str],
}

/// Links that tc can do, or nearly: the exact commands. The ones that a link has in both places are
/// shown apart.
#[expect(clippy::too_many_lines, reason = "a table")]
fn golden() -> Vec<Golden> {
    let row = |what, link, want| Golden { what, link, place: apart(), options: seeded(), want };
    vec![
        row(
            "a plain link: netem's rate, whose limit counts the packet on the wire as well",
            plain(),
            &[
                "tc qdisc add dev w0 root handle 1: stab overhead -14 netem limit 101 rate 10000000bit",
                "tc qdisc add dev p0 root handle 1: netem limit 1000000000 delay 20000us",
            ],
        ),
        row(
            "no delay, no errors: nothing behind the wire",
            LinkSpec { delay: Time::ZERO, ..plain() },
            &[
                "tc qdisc add dev w0 root handle 1: stab overhead -14 netem limit 101 rate 10000000bit",
            ],
        ),
        row(
            "losses, jitter, overtaking",
            LinkSpec {
                errors: uniform(Per::Packet, 0.0125),
                jitter: Time::from_nanos(1_500),
                reorder: share(0.01),
                ..plain()
            },
            &[
                "tc qdisc add dev w0 root handle 1: stab overhead -14 netem limit 101 rate 10000000bit",
                "tc qdisc add dev p0 root handle 1: netem limit 1000000000 delay 20000us 1500ns loss 1.25% \
                 reorder 1% seed 7",
            ],
        ),
        row(
            // 10% of packets in runs of 4: r = 1/4, p = 0.1 · 0.25 / 0.9.
            "bursts: transitions from the share of bad packets and the mean run",
            LinkSpec {
                errors: bursts(Clock::Units { per: Per::Packet, burst: 4.0 }, 0.1),
                delay: Time::ZERO,
                ..plain()
            },
            &[
                "tc qdisc add dev w0 root handle 1: stab overhead -14 netem limit 101 rate 10000000bit",
                "tc qdisc add dev p0 root handle 1: netem limit 1000000000 loss gemodel 2.77777777778% 25% \
                 100% 0% seed 7",
            ],
        ),
        row(
            "Ethernet: preamble, gap and FCS more than the device counts, and 84 bytes at least",
            LinkSpec { framing: Framing::Ethernet, delay: Time::ZERO, ..plain() },
            &[
                "tc qdisc add dev w0 root handle 1: stab overhead 24 mpu 84 mtu 1538 tsize 1539 netem limit 101 \
               rate 10000000bit",
            ],
        ),
        row(
            // 9600 bit/s with 10 bits a byte are 960 bytes a second.
            "a serial line",
            LinkSpec {
                framing: Framing::Serial,
                rate: rate("9.6 kbit/s"),
                delay: Time::ZERO,
                ..plain()
            },
            &["tc qdisc add dev w0 root handle 1: stab overhead -6 netem limit 101 rate 7680bit"],
        ),
        row(
            "ATM",
            LinkSpec { framing: Framing::AtmAal5Llc, delay: Time::ZERO, ..plain() },
            &[
                "tc qdisc add dev w0 root handle 1: stab overhead 2 linklayer atm mtu 1516 tsize 1517 netem limit \
               101 rate 10000000bit",
            ],
        ),
        row(
            "frames of 128 bytes, the last one sent full",
            LinkSpec { frame: Some(128), pad: true, delay: Time::ZERO, ..plain() },
            &[
                "tc qdisc add dev w0 root handle 1: stab overhead -14 netem limit 101 rate 10000000bit 0 128 0",
            ],
        ),
        row(
            "a queue in bytes is tbf's: with room for the packet on the wire; 1 ms are 1250 bytes",
            LinkSpec { queue: QueueLimit::Bytes(Bytes::new(65_536)), ..plain() },
            &[
                "tc qdisc add dev w0 root handle 1: stab overhead -14 tbf rate 10000000bit burst 1500 limit 67036",
                "tc qdisc add dev p0 root handle 1: netem limit 1000000000 delay 20000us",
            ],
        ),
        row(
            "a bucket is tbf's: who waits for tokens waits",
            LinkSpec { burst: Bytes::new(15_000), delay: Time::ZERO, ..plain() },
            &[
                "tc qdisc add dev w0 root handle 1: stab overhead -14 tbf rate 10000000bit burst 15000 limit 1500",
                "tc qdisc add dev w0 parent 1:1 handle 2: pfifo limit 100",
            ],
        ),
        row(
            "CoDel at 1 Gbit/s: a bucket of 1 ms",
            LinkSpec {
                rate: rate("1 Gbit/s"),
                discipline: Discipline::Codel(CodelSettings::default()),
                delay: Time::ZERO,
                ecn: true,
                ..plain()
            },
            &[
                "tc qdisc add dev w0 root handle 1: stab overhead -14 tbf rate 1000000000bit burst 125000 limit 1500",
                "tc qdisc add dev w0 parent 1:1 handle 2: codel limit 101 target 5000us interval 100000us ecn",
            ],
        ),
        row(
            "RED: 5 and 15 full packets; a burst of 48 is the least of which tc makes a weight of 1/512",
            LinkSpec {
                discipline: Discipline::Red(RedSettings::default()),
                delay: Time::ZERO,
                ecn: true,
                ..plain()
            },
            &[
                "tc qdisc add dev w0 root handle 1: stab overhead -14 tbf rate 10000000bit burst 1500 limit 1500",
                "tc qdisc add dev w0 parent 1:1 handle 2: red limit 151500 min 7500 max 22500 avpkt 1500 burst 48 \
                 probability 0.02 bandwidth 10000000bit ecn harddrop",
            ],
        ),
        Golden {
            what: "as netem: a bucket for whole super-packets, and no table that counts one header for all",
            link: LinkSpec { queue: QueueLimit::Bytes(Bytes::new(65_536)), ..plain() },
            place: apart(),
            options: PlanOptions { as_netem: true, ..seeded() },
            want: &[
                "tc qdisc add dev w0 root handle 1: tbf rate 10000000bit burst 131072 limit 196608",
                "tc qdisc add dev p0 root handle 1: netem limit 1000000000 delay 20000us",
            ],
        },
        Golden {
            what: "on one interface: netem first",
            link: LinkSpec { errors: uniform(Per::Packet, 0.01), ..plain() },
            place: together(),
            options: PlanOptions::default(),
            want: &[
                "tc qdisc add dev w0 root handle 1: stab overhead -14 netem limit 1000000000 delay 20000us loss 1%",
                "tc qdisc add dev w0 parent 1:1 handle 2: netem limit 101 rate 10000000bit",
            ],
        },
        Golden {
            what: "on one interface with copies: no second netem",
            link: LinkSpec { duplicate: share(0.01), ..plain() },
            place: together(),
            options: seeded(),
            want: &[
                "tc qdisc add dev w0 root handle 1: stab overhead -14 netem limit 1000000000 delay 20000us \
                 duplicate 1% seed 7",
                "tc qdisc add dev w0 parent 1:1 handle 2: tbf rate 10000000bit burst 1500 limit 1500",
                "tc qdisc add dev w0 parent 2:1 handle 3: pfifo limit 101",
            ],
        },
        Golden {
            what: "on a TUN device, whose packets have no Ethernet header",
            link: LinkSpec { delay: Time::ZERO, ..plain() },
            place: apart(),
            options: PlanOptions { device_header: 0, ..seeded() },
            want: &["tc qdisc add dev w0 root handle 1: netem limit 101 rate 10000000bit"],
        },
    ]
}

#[test]
fn links_become_these_commands() {
    for row in golden() {
        let plan = Plan::of(&row.link, &row.place, &row.options);
        assert_eq!(lines(&plan), row.want, "{}", row.what);
        let left_out: Vec<_> = plan.shortfalls.iter().filter(|s| s.leaves_out()).collect();
        assert!(left_out.is_empty(), "{}: {left_out:?}", row.what);
    }
}

#[test]
fn what_tc_cannot_do_is_listed() {
    let per_byte = uniform(Per::Byte, 1e-6);
    let in_time = bursts(Clock::Time { burst: Time::from_millis(10) }, 0.1);
    let listed = Schedule::constant(ErrorModel::List { lost: [3].into() });
    let arq = Some(Arq { retries: 3, delay: Time::from_millis(20) });
    let policer = Some(PolicerSpec { rate: rate("1 Mbit/s"), burst: Bytes::new(15_000) });
    let minute = Time::from_secs(60);
    let cases = [
        (LinkSpec { errors: per_byte, ..plain() }, vec![Shortfall::ErrorsPer(Per::Byte)]),
        (
            LinkSpec { frame: Some(128), errors: uniform(Per::Frame, 0.01), ..plain() },
            vec![Shortfall::ErrorsPer(Per::Frame)],
        ),
        (LinkSpec { errors: in_time, ..plain() }, vec![Shortfall::ErrorsInTime]),
        (LinkSpec { errors: listed, ..plain() }, vec![Shortfall::ErrorsListed]),
        (
            LinkSpec { errors: uniform(Per::Packet, 1e-11), ..plain() },
            vec![Shortfall::ErrorsTooRare(share(1e-11))],
        ),
        (LinkSpec { arq, ..plain() }, vec![Shortfall::Arq]),
        (LinkSpec { policer, ..plain() }, vec![Shortfall::Policer]),
        (LinkSpec { icmp: IcmpPolicy::Drop, ..plain() }, vec![Shortfall::BlackHole]),
        (LinkSpec { framing: Framing::SerialVj, ..plain() }, vec![Shortfall::HeaderCompression]),
        (
            LinkSpec { delay: minute, jitter: minute, ..plain() },
            vec![Shortfall::Jitter { asked: minute, most: Time::from_nanos(2_147_483_647) }],
        ),
        (
            // WireGuard pads to 16: tc counts a fixed overhead, that of a full packet.
            LinkSpec {
                tunnel: Some(Tunnel { kind: TunnelKind::Wireguard, outer: IpVersion::V4 }),
                ..plain()
            },
            vec![Shortfall::Framing { off_by: 15 }],
        ),
        (
            LinkSpec { rate: rate("1001 bit/s"), ..plain() },
            vec![Shortfall::Rate { asked: rate("1001 bit/s"), given: rate("1 kbit/s") }],
        ),
        (
            LinkSpec { duplicate: share(0.1), errors: uniform(Per::Packet, 0.1), ..plain() },
            vec![Shortfall::CopiesSurvive, Shortfall::CopiesBehindWire],
        ),
        (
            LinkSpec {
                discipline: Discipline::Codel(CodelSettings::default()),
                queue: QueueLimit::Bytes(Bytes::new(64_000)),
                burst: Bytes::new(15_000),
                ..plain()
            },
            vec![Shortfall::CodelLimit { asked: Bytes::new(64_000), given: 42 }],
        ),
        (
            LinkSpec {
                discipline: Discipline::Red(RedSettings {
                    min: QueueLimit::Bytes(Bytes::new(1 << 30)),
                    max: QueueLimit::Bytes(Bytes::new(1 << 31)),
                    ..RedSettings::default()
                }),
                burst: Bytes::new(15_000),
                ..plain()
            },
            vec![Shortfall::Red],
        ),
    ];
    for (link, want) in cases {
        assert_eq!(Plan::of(&link, &apart(), &seeded()).shortfalls, want, "{link:?}");
    }
}

#[test]
fn a_fixed_tunnel_is_overhead_and_its_frames_are_packets_where_there_are_none() {
    let tunnel = Tunnel { kind: TunnelKind::Ipip, outer: IpVersion::V4 };
    let link = LinkSpec {
        tunnel: Some(tunnel),
        errors: uniform(Per::Frame, 0.01), // no `frame`: a packet is one
        delay: Time::ZERO,
        ..plain()
    };
    let plan = Plan::of(&link, &apart(), &seeded());
    assert_eq!(
        lines(&plan),
        [
            "tc qdisc add dev w0 root handle 1: stab overhead 6 netem limit 101 rate 10000000bit",
            "tc qdisc add dev p0 root handle 1: netem limit 1000000000 loss 1% seed 7",
        ]
    );
    assert_eq!(plan.shortfalls, []);
}

#[test]
fn the_source_sends_packets_of_the_wire_unless_super_packets_are_wanted() {
    let off = source_offloads("h0", false).unwrap();
    assert_eq!(off.to_string(), "ethtool -K h0 tso off gso off gro off");
    assert_eq!(source_offloads("h0", true), None);
}

#[test]
fn jumbo_frames_keep_an_exact_table_and_larger_ones_a_coarser() {
    let ethernet =
        |mtu| LinkSpec { framing: Framing::Ethernet, mtu: Mtu::new(mtu).unwrap(), ..plain() };
    assert_eq!(Plan::of(&ethernet(9000), &apart(), &seeded()).shortfalls, []);
    let coarse = Plan::of(&ethernet(65_535), &apart(), &seeded()).shortfalls;
    assert_eq!(coarse, [Shortfall::Framing { off_by: 7 }]);
}
