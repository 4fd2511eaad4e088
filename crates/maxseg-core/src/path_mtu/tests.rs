//! Random paths against the search: right or unknown, never wrong.

mod large_losses;

use super::*;
use crate::framing::IpVersion;

/// Numbers from a seed (splitmix64).
#[derive(Debug)]
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: u32) -> u32 {
        u32::try_from(self.next() % u64::from(end)).unwrap()
    }

    fn chance(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// What a router does about packets that are too big.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Manner {
    Tells,
    /// Before RFC 1191.
    TellsNoMtu,
    Silent,
    /// It states less than IPv4 or IPv6 allow.
    Tells64,
}

/// A path whose destination answers what arrives.
#[derive(Debug)]
struct Path {
    /// The MTU of each link, and what the router before it does.
    links: Vec<(u32, Manner)>,
    /// The chance that a packet, or its answer, is lost.
    loss: f64,
    /// Somebody says that every packet above this size is too big, and all pass.
    forged: Option<u32>,
    /// Answers that the destination may still give, and what a round adds.
    answers: Option<(f64, f64)>,
    numbers: Numbers,
    packets: u32,
    bytes: u32,
}

impl Path {
    fn drawn(seed: u64, ip: IpVersion) -> (Self, u32) {
        let mut numbers = Numbers(seed);
        let most = [1500, 1500, 9000][numbers.below(3) as usize];
        let least = if ip == IpVersion::V4 { 552 } else { 1280 };
        let mut mtu =
            || if numbers.below(3) == 0 { least + numbers.below(most - least + 1) } else { most };
        let sizes: Vec<u32> = (0..5).map(|_| mtu()).collect();
        let manners =
            [Manner::Tells, Manner::Tells, Manner::TellsNoMtu, Manner::Silent, Manner::Tells64];
        let links = sizes
            .into_iter()
            .map(|size| {
                let manner = manners[numbers.below(5) as usize];
                let is_v6 = ip == IpVersion::V6 && manner == Manner::TellsNoMtu;
                (size, if is_v6 { Manner::Tells } else { manner })
            })
            .collect();
        let loss = [0.0, 0.01, 0.05, 0.1][numbers.below(4) as usize];
        let forged = (numbers.below(8) == 0).then(|| least + numbers.below(most - least));
        let answers = (numbers.below(3) == 0).then_some((6.0, 1.0));
        (Self { links, loss, forged, answers, numbers, packets: 0, bytes: 0 }, most)
    }

    fn truth(&self, most: u32) -> u32 {
        self.links.iter().map(|(mtu, _)| *mtu).min().unwrap().min(most)
    }

    /// The size at which a host that follows messages hears none.
    fn vanishes(&self, most: u32) -> Option<u32> {
        let mut size = most;
        loop {
            let (mtu, manner) = *self.links.iter().find(|(mtu, _)| *mtu < size)?;
            size = match manner {
                Manner::Tells => mtu,
                Manner::TellsNoMtu => u32::from(
                    crate::framing::next_plateau(crate::units::Bytes::new(size.into())).get(),
                ),
                Manner::Silent => return Some(size),
                Manner::Tells64 => 64,
            };
        }
    }

    fn send(&mut self, size: u32) -> ProbeFate {
        self.packets += 1;
        self.bytes += size;
        let is_lost = self.numbers.chance() < self.loss;
        let refusal = |mtu| ProbeFate::TooBig(Refusal { router: None, mtu, hop: None });
        if is_lost {
            return ProbeFate::NoAnswer;
        }
        for (mtu, manner) in &self.links {
            if size > *mtu {
                return match manner {
                    Manner::Tells => refusal(*mtu),
                    Manner::TellsNoMtu => refusal(0),
                    Manner::Tells64 => refusal(64),
                    Manner::Silent => ProbeFate::NoAnswer,
                };
            }
        }
        if let Some((left, _)) = &mut self.answers {
            if *left < 1.0 {
                return self.forged.filter(|mtu| size > *mtu).map_or(ProbeFate::NoAnswer, refusal);
            }
            *left -= 1.0;
        }
        ProbeFate::Arrived
    }

    fn rest(&mut self) {
        if let Some((left, more)) = &mut self.answers {
            *left = (*left + *more).min(6.0);
        }
    }

    /// Searches as a prober does; what it finds.
    fn search(&mut self, ip: IpVersion, most: u32) -> (Option<Settled>, Search) {
        let mut search = Search::new(ip, 64, most, 8);
        let mut pings = LossEstimate::default();
        (0..20).for_each(|_| pings.count(self.numbers.chance() >= self.loss));
        search.on_loss(pings);
        for _ in 0..60 {
            let sizes = search.next_round();
            if sizes.is_empty() {
                break;
            }
            let fates: Vec<_> = sizes.iter().map(|size| (*size, self.send(*size))).collect();
            search.on_round(&fates);
            self.rest();
        }
        (search.settled(), search)
    }
}

#[test]
fn drawn_paths_are_found_or_left_unknown() {
    let (mut unknown, mut wrong) = (Vec::new(), Vec::new());
    for seed in 0..3000 {
        let ip = if seed % 3 == 0 { IpVersion::V6 } else { IpVersion::V4 };
        let (mut path, most) = Path::drawn(seed, ip);
        let (truth, vanishes) = (path.truth(most), path.vanishes(most));
        let (found, search) = path.search(ip, most);
        let is_forged = path.forged.is_some();
        match found {
            None => unknown.push(seed),
            // A forgery hides that packets vanish: a host that believes it sends none of them.
            Some(found) if found.mtu == truth && (is_forged || found.vanishes == vanishes) => {}
            Some(found) => wrong.push((seed, truth, vanishes, found, search.loss())),
        }
        // 200 kB up to 1500 bytes, 1 MB above.
        let most_bytes = if most <= 1500 { 200_000 } else { 1_000_000 };
        assert!(path.bytes <= most_bytes, "seed {seed}: {} bytes in {}", path.bytes, path.packets);
    }
    // Each may be wrong with a chance of 1e-4, so that of 3000 one is likely to be at most.
    assert!(wrong.len() <= 1, "{wrong:?}");
    // Destinations that answer once a round.
    assert!(unknown.len() <= 60, "{} unknown: {unknown:?}", unknown.len());
}

#[test]
fn a_message_below_what_arrives_is_known_to_be_wrong() {
    let mut search = Search::new(IpVersion::V4, 64, 1500, 3);
    let refusal = Refusal { router: None, mtu: 576, hop: None };
    search.on_round(&[(1500, ProbeFate::TooBig(refusal)), (64, ProbeFate::Arrived)]);
    assert!(search.settled().is_none(), "one message is not enough");
    assert_eq!(search.wrong_refusal(), None);
    let sizes = search.next_round();
    assert!(sizes.contains(&577) && sizes.contains(&576), "{sizes:?}");
    let fates: Vec<_> = sizes.iter().map(|size| (*size, ProbeFate::Arrived)).collect();
    search.on_round(&fates);
    assert_eq!(search.wrong_refusal(), Some((1500, refusal)));
}

#[test]
fn a_message_that_comes_late_counts() {
    let mut search = Search::new(IpVersion::V4, 64, 1500, 3);
    for _ in 0..20 {
        let sizes = search.next_round();
        let fate = |size| if size > 1400 { ProbeFate::NoAnswer } else { ProbeFate::Arrived };
        let fates: Vec<_> = sizes.iter().map(|size| (*size, fate(*size))).collect();
        search.on_round(&fates);
    }
    let settled = search.settled().unwrap();
    assert_eq!((settled.mtu, settled.vanishes), (1400, Some(1500)));
    search.on_refusal(1500, Refusal { router: None, mtu: 1400, hop: None });
    let settled = search.settled().unwrap();
    assert_eq!((settled.mtu, settled.vanishes), (1400, None));
}

#[test]
fn a_stated_mtu_may_be_impossible() {
    let stated = |mtu, ip, size| Refusal { router: None, mtu, hop: None }.stated_mtu(ip, size);
    assert_eq!(stated(1400, IpVersion::V6, 1500), Some(1400));
    assert_eq!(stated(600, IpVersion::V6, 1500), None, "RFC 8200: every link takes 1280");
    assert_eq!(stated(600, IpVersion::V4, 1500), Some(600));
    assert_eq!(stated(0, IpVersion::V4, 1500), None);
    assert_eq!(stated(1500, IpVersion::V4, 1500), None);
}

#[test]
fn silence_shows_nothing_where_smaller_packets_are_silent_too() {
    let mut search = Search::new(IpVersion::V4, 64, 1500, 3);
    for _ in 0..20 {
        let sizes = search.next_round();
        let fates: Vec<_> = sizes.iter().map(|size| (*size, ProbeFate::NoAnswer)).collect();
        search.on_round(&fates);
    }
    assert!(search.settled().is_none());
    assert_eq!(search.at_least(), 64);
}

#[test]
fn an_interface_that_takes_no_more_ends_the_search() {
    let mut search = Search::new(IpVersion::V6, 80, 1500, 3);
    let sizes = search.next_round();
    let fates: Vec<_> = sizes.iter().map(|size| (*size, ProbeFate::Arrived)).collect();
    search.on_round(&fates);
    let settled = search.settled().unwrap();
    assert_eq!((settled.mtu, settled.vanishes), (1500, None));
    assert!(search.next_round().is_empty() && search.next_probe().is_none());
}

/// A far end says that it did not send a packet, and not what its MTU is.
#[test]
fn a_host_that_does_not_tell_its_mtu_is_searched_for_it() {
    // The far end's rounds have six sizes, and it gives up after 24 of them.
    let (rounds, sizes_of_a_round) = (24, 6);
    for (own, path) in [(1300, 1300), (1300, 1500), (1280, 9000), (1301, 1200), (576, 576)] {
        let mut search = Search::new(IpVersion::V4, 80, 1500, sizes_of_a_round);
        search.on_loss(LossEstimate { sent: 20, lost: 0 });
        let mut count = 0;
        loop {
            let sizes = search.next_round();
            if sizes.is_empty() {
                break;
            }
            count += 1;
            let fate = |size: &u32| match *size {
                size if size > own => (size, ProbeFate::LocalTooBig { mtu: None }),
                size if size > path => (size, ProbeFate::NoAnswer),
                size => (size, ProbeFate::Arrived),
            };
            let fates: Vec<_> = sizes.iter().map(fate).collect();
            search.on_round(&fates);
        }
        let settled = search.settled().unwrap();
        let vanishes = (path < own).then_some(own);
        assert_eq!((settled.mtu, settled.vanishes), (own.min(path), vanishes));
        assert!(count <= rounds / 2, "{count} rounds for {own} and {path}");
    }
}

#[test]
fn one_probe_at_a_time_finds_the_same() {
    for mtu in [64, 65, 552, 1280, 1419, 1420, 1499, 1500] {
        let mut search = Search::new(IpVersion::V4, 64, 1500, 1);
        search.on_loss(LossEstimate { sent: 20, lost: 0 });
        let mut count = 0;
        while let Some(probe) = search.next_probe() {
            let fate = if probe.size <= mtu { ProbeFate::Arrived } else { ProbeFate::NoAnswer };
            search.on_fate(probe.size, fate);
            count += 1;
        }
        assert_eq!(search.settled().unwrap().mtu, mtu);
        let most = 30 + SURE_SILENCES;
        assert!(count <= most, "{count} probes for {mtu}");
    }
}

#[test]
fn large_packets_vanish_behind_the_last_hop_that_answers_them() {
    let mut numbers = Numbers(7);
    for seed in 0..500 {
        numbers.0 = numbers.0.wrapping_add(seed);
        let (hops, loss) = (2 + u8::try_from(numbers.below(8)).unwrap(), 0.05);
        // So many hops are reached; the destination is not.
        let reached = u8::try_from(numbers.below(u32::from(hops))).unwrap();
        let mute = 1 + u8::try_from(numbers.below(u32::from(hops) * 2)).unwrap();
        let mut reach = Reach::new(hops, LossEstimate { sent: 20, lost: 1 });
        (0..12).for_each(|_| reach.on_answers(hops, false, true));
        for _ in 0..30 {
            let asked = reach.next_hops();
            if asked.is_empty() {
                break;
            }
            for hop in asked {
                let mut answers =
                    |is_reached: bool| is_reached && hop != mute && numbers.chance() >= loss;
                let (large, small) = (answers(hop <= reached), answers(true) || hop == hops);
                reach.on_answers(hop, large, small);
            }
        }
        let (after, before) = reach.place().expect("the destination is silent");
        // A hop that never answers leaves a gap of one.
        let is_next_to_mute = [reached, reached + 1].contains(&mute);
        let is_exact = (after, before) == (reached, reached + 1);
        assert!(
            is_exact || is_next_to_mute && after <= reached && before > reached,
            "{after} {before} {reached} {mute}"
        );
    }
}

#[test]
fn well_known_sizes_have_names() {
    let of = |mtu| well_known_mtu(mtu).join("; ");
    for (mtu, name) in [
        (1420, "WireGuard over 1500 (IPv6 outside)"),
        (1440, "WireGuard over 1500 (IPv4 outside)"),
        (1450, "VXLAN or Geneve over 1500 (IPv4 outside)"),
        (1476, "GRE over 1500"),
        (1480, "IP in IP over 1500"),
        (1480, "6in4 over 1500"),
        (1460, "DS-Lite"),
        (1492, "PPPoE"),
        (1400, "VXLAN or Geneve over 1450"),
    ] {
        assert!(of(mtu).contains(name), "{mtu}: {}", of(mtu));
    }
    assert_eq!(of(1357), "");
}

#[test]
fn a_message_that_states_no_less_than_it_refuses_is_a_dead_end() {
    // What the router states, the path MTU, and where a host that follows messages stays.
    for (stated, mtu, dead_end) in [
        (1408, 1400, Some(1408)),
        (1500, 1400, Some(1500)),
        (9000, 1400, Some(1500)),
        (1400, 1400, None),
    ] {
        for ip in [IpVersion::V4, IpVersion::V6] {
            let mut search = Search::new(ip, 80, 1500, 6);
            search.on_loss(LossEstimate { sent: 20, lost: 0 });
            let refusal = Refusal { router: None, mtu: stated, hop: None };
            let fate = |size: &u32| {
                let fits = *size <= mtu;
                (*size, if fits { ProbeFate::Arrived } else { ProbeFate::TooBig(refusal) })
            };
            loop {
                let sizes = search.next_round();
                if sizes.is_empty() {
                    break;
                }
                let fates: Vec<_> = sizes.iter().map(fate).collect();
                search.on_round(&fates);
            }
            let settled = search.settled().unwrap();
            assert_eq!((settled.mtu, settled.vanishes), (mtu, None), "{stated}");
            assert_eq!(search.dead_end(), dead_end.map(|size| (size, refusal)), "{stated}");
        }
    }
}

#[test]
fn a_chance_of_nothing_has_no_sign() {
    let mut search = Search::new(IpVersion::V4, 60, 1500, 1);
    search.on_fate(1500, ProbeFate::Arrived);
    assert!(search.error() <= 0.0 && search.error().is_sign_positive(), "documents say 0, not -0");
}
