//! The numbers are of Linux 6.18 between two network namespaces.

use super::*;
use crate::framing::IpVersion;
use crate::settings::MtuProbing;
use crate::units::Bytes;

#[expect(clippy::unnecessary_wraps, reason = "facts have options")]
const fn some(bytes: u64) -> Option<Bytes> {
    Some(Bytes::new(bytes))
}

fn mss_facts(change: impl FnOnce(&mut MssFacts)) -> MssFacts {
    let mut facts = MssFacts {
        ip: IpVersion::V4,
        timestamps: true,
        is_opening: false,
        mss: Bytes::new(1448),
        path_mtu: Bytes::new(1500),
        advertised: Bytes::new(1448),
        peer_window: some(65_160),
        interface_mtu: some(1500),
        route_mtu: None,
        learnt_mtu: None,
        route_advmss: None,
        mtu_probing: MtuProbing::Never,
        probes_arrived: None,
        base_mss: Bytes::new(1024),
        least_mss: Bytes::new(48),
    };
    change(&mut facts);
    facts
}

fn winner(chain: &Chain) -> Option<Source> {
    chain.winner().map(|link| link.source)
}

#[test]
fn each_mtu_wins_where_it_holds() {
    let interface = why_mss(&mss_facts(|_| {}));
    assert_eq!(winner(&interface.sent), Some(Source::InterfaceMtu));
    assert_eq!(winner(&interface.advertised), Some(Source::InterfaceMtu));
    assert!(interface.decision.is_some());
    let route = |facts: &mut MssFacts| {
        facts.route_mtu = some(1400);
        (facts.path_mtu, facts.mss) = (Bytes::new(1400), Bytes::new(1348));
    };
    assert_eq!(winner(&why_mss(&mss_facts(route)).sent), Some(Source::RouteMtu));
    let learnt = mss_facts(|facts| {
        route(facts);
        facts.learnt_mtu = some(1300);
        (facts.path_mtu, facts.mss) = (Bytes::new(1300), Bytes::new(1248));
    });
    let why = why_mss(&learnt);
    assert_eq!(winner(&why.sent), Some(Source::PathMtu));
    let allowed = why.sent.link(Source::RouteMtu).and_then(|link| link.allows);
    assert_eq!(allowed, some(1348), "the runner-up");
    let forgotten = mss_facts(|facts| {
        (facts.path_mtu, facts.mss) = (Bytes::new(1300), Bytes::new(1248));
    });
    let why = why_mss(&forgotten);
    assert_eq!(winner(&why.sent), Some(Source::PathMtu));
    assert!(why.sent.link(Source::PathMtu).is_some_and(|link| link.note.is_some()));
}

#[test]
fn what_a_socket_hides_is_one_group() {
    let why = why_mss(&mss_facts(|facts| facts.mss = Bytes::new(988)));
    let link = why.sent.winner().unwrap();
    assert_eq!((link.source, link.value, link.is_least), (Source::MssClamp, some(1000), false));
    assert_eq!(link.one_of, [Source::PeerOption, Source::PathClamp, Source::UserMss]);
    assert!(why.decision.is_some());
    let probing = why_mss(&mss_facts(|facts| {
        facts.mss = Bytes::new(988);
        facts.mtu_probing = MtuProbing::InBlackHole;
        facts.peer_window = some(1000);
    }));
    let one_of = &probing.sent.winner().unwrap().one_of;
    assert!(one_of.contains(&Source::MtuProbing) && one_of.contains(&Source::PeerWindow));
    let searched = |base, mtu_probing| {
        let why = why_mss(&mss_facts(|facts| {
            (facts.mss, facts.mtu_probing, facts.base_mss) =
                (Bytes::new(700), mtu_probing, Bytes::new(base));
        }));
        (winner(&why.sent), why.sent.winner().and_then(|link| link.value))
    };
    let [never, hole, always] = [MtuProbing::Never, MtuProbing::InBlackHole, MtuProbing::Always];
    assert_eq!(searched(700, always), (Some(Source::MtuProbing), some(700)));
    assert_eq!(searched(1400, hole), (Some(Source::MtuProbing), some(1400)), "1400 vanished");
    assert_eq!(searched(700, never).0, Some(Source::MssClamp));
    assert_eq!(searched(1024, hole).0, Some(Source::MssClamp));
    let other = why_mss(&mss_facts(|_| {}));
    let clamp = other.sent.link(Source::MssClamp).unwrap();
    assert!(clamp.is_least && clamp.value == some(1460), "no less than that");
}

#[test]
fn half_a_small_window_wins() {
    let why = why_mss(&mss_facts(|facts| {
        (facts.mss, facts.peer_window) = (Bytes::new(730), some(1460));
    }));
    assert_eq!(winner(&why.sent), Some(Source::PeerWindow));
    assert!(why.decision.is_some());
    let tiny = why_mss(&mss_facts(|facts| {
        (facts.timestamps, facts.mss, facts.peer_window) = (false, Bytes::new(48), some(40));
    }));
    let window = tiny.sent.link(Source::PeerWindow).unwrap();
    assert_eq!((winner(&tiny.sent), window.allows), (Some(Source::PeerWindow), some(48)));
    assert!(tiny.decision.is_some());
}

#[test]
fn the_advertised_option_is_of_the_route_or_not_explained() {
    let why = why_mss(&mss_facts(|facts| {
        (facts.route_advmss, facts.advertised) = (some(1000), Bytes::new(988));
    }));
    assert_eq!(winner(&why.advertised), Some(Source::RouteAdvmss));
    let why = why_mss(&mss_facts(|facts| facts.advertised = Bytes::new(988)));
    assert_eq!(winner(&why.advertised), None);
    assert!(why.advertised.unexplained.unwrap().contains("TCP_MAXSEG"));
}

fn window_facts(change: impl FnOnce(&mut WindowFacts)) -> WindowFacts {
    let mut facts = WindowFacts {
        is_opening: false,
        advertised: some(65_536),
        grown: Bytes::new(64_088),
        shift: Some(10),
        advmss: Bytes::new(1448),
        buffer: some(131_072),
        buffer_used: Bytes::ZERO,
        unread: Bytes::ZERO,
        options: Some(WindowOptions { clamp: Bytes::new(64_088), is_buffer_set: false }),
        route_window: None,
        rmem_max: some(4 << 20),
        tcp_rmem_max: some(32 << 20),
    };
    change(&mut facts);
    facts
}

fn holds(change: impl FnOnce(&mut WindowFacts)) -> Option<Source> {
    winner(&why_window(&window_facts(change)))
}

fn clamped(facts: &mut WindowFacts, clamp: u64, grown: u64) {
    facts.options = Some(WindowOptions { clamp: Bytes::new(clamp), is_buffer_set: false });
    facts.grown = Bytes::new(grown);
}

#[test]
fn a_window_is_bounded_by_buffer_clamp_route_scale_growth_and_reader() {
    assert_eq!(holds(|_| {}), Some(Source::Autotuning));
    assert_eq!(holds(|facts| clamped(facts, 6_000, 5_840)), Some(Source::WindowClamp));
    let route = |facts: &mut WindowFacts| {
        clamped(facts, 8_760, 8_760);
        (facts.route_window, facts.shift) = (some(8_760), Some(0));
    };
    assert_eq!(holds(route), Some(Source::RouteWindow));
    let hidden = |facts: &mut WindowFacts| {
        route(facts);
        facts.options = None;
    };
    assert_eq!(holds(hidden), Some(Source::RouteWindow));
    let grown = |facts: &mut WindowFacts| {
        clamped(facts, 235_241, 108_706);
        (facts.buffer, facts.shift) = (some(281_410), Some(0));
    };
    assert_eq!(holds(grown), Some(Source::WindowScale), "the shift stays");
    assert_eq!(why_window(&window_facts(grown)).effective, Bytes::new(65_535));
    let growing = |facts: &mut WindowFacts| {
        clamped(facts, 9_838_595, 96_368);
        facts.buffer = some(10_998_605);
    };
    assert_eq!(holds(growing), Some(Source::Growth));
    let unread = |facts: &mut WindowFacts| {
        (facts.unread, facts.buffer_used) = (Bytes::new(40_000), Bytes::new(100_000));
    };
    assert_eq!(holds(unread), Some(Source::UnreadData));
    let hidden = |facts: &mut WindowFacts| facts.options = None;
    assert_eq!(holds(hidden), None, "nothing is guessed");
}

#[test]
fn a_buffer_that_the_program_set_wins_up_to_the_limit() {
    let set = |facts: &mut WindowFacts, buffer: u64, clamp: u64| {
        facts.options = Some(WindowOptions { clamp: Bytes::new(clamp), is_buffer_set: true });
        (facts.buffer, facts.grown, facts.shift) = (some(buffer), Bytes::new(clamp), Some(7));
    };
    assert_eq!(holds(|facts| set(facts, 16_384, 6_744)), Some(Source::SocketBuffer));
    assert_eq!(holds(|facts| set(facts, 8 << 20, 4_192_856)), Some(Source::RmemMax));
}

#[test]
fn a_large_buffer_behind_a_small_route_window_is_told() {
    let fault = |facts: &mut WindowFacts, clamp: u64, grown: u64| {
        facts.options = Some(WindowOptions { clamp: Bytes::new(clamp), is_buffer_set: true });
        (facts.buffer, facts.grown) = (some(8 << 20), Bytes::new(grown));
        (facts.route_window, facts.shift) = (some(8_760), Some(0));
    };
    for (clamp, grown) in [(8_760, 8_760), (7_012_352, 408_760)] {
        let facts = window_facts(|facts| fault(facts, clamp, grown));
        assert!(is_held_by_route(&facts, &why_window(&facts)), "{clamp}");
        assert_eq!(lasting_clamp(&facts), some(65_535));
    }
    let plain = window_facts(|facts| facts.route_window = some(8_760));
    assert!(!is_held_by_route(&plain, &why_window(&plain)), "a route that came later");
}

#[test]
fn before_the_peers_syn_nothing_of_the_peer_bounds_segments() {
    let opening = mss_facts(|facts| {
        facts.is_opening = true;
        (facts.mss, facts.peer_window) = (Bytes::new(524), some(0));
    });
    let why = why_mss(&opening);
    assert_eq!(winner(&why.sent), None);
    assert!(why.sent.unexplained.unwrap().starts_with("no SYN of the peer has come"));
    let clamp = why.sent.links.iter().find(|link| link.source == Source::MssClamp).unwrap();
    assert_eq!((clamp.value, clamp.one_of.len()), (None, 0));
}

#[test]
fn before_the_peers_syn_nothing_is_said_of_its_options() {
    let note = |is_opening| {
        let chain = why_window(&window_facts(|facts| {
            (facts.is_opening, facts.shift) = (is_opening, None);
        }));
        chain.link(Source::WindowScale).unwrap().note.clone().unwrap()
    };
    assert!(note(true).starts_with("no answer to the SYN has come"));
    assert!(note(false).contains("had no window scale option"));
}

/// Linux 6.12 with `tcp_mtu_probing = 2` goes from 1024 to 1236, 1342, 1395, 1421, 1434 and 1441 bytes of the 1448 that an MTU of 1500 leaves.
#[test]
fn what_probes_have_found_is_of_the_search() {
    let note = |mss, mtu_probing| {
        let why = why_mss(&mss_facts(|facts| {
            (facts.mss, facts.mtu_probing) = (Bytes::new(mss), mtu_probing);
            facts.base_mss = Bytes::new(1024);
        }));
        let link = why.sent.winner().unwrap();
        (link.source, link.note.clone().unwrap_or_default())
    };
    for mss in [1236, 1342, 1395, 1421, 1434, 1441] {
        let (source, note) = note(mss, MtuProbing::Always);
        assert!(source == Source::MtuProbing && note.contains("found by probes"), "{mss}: {note}");
        assert_eq!(winner_without_probing(mss), Some(Source::MssClamp));
    }
    let (_, base) = note(1024, MtuProbing::Always);
    assert!(base.contains("tcp_mtu_probing = 2 begins") && base.contains("5332 bytes"), "{base}");
    let (_, vanished) = note(1024, MtuProbing::InBlackHole);
    assert!(vanished.contains("what vanishes halves it"), "{vanished}");
}

/// A hop of 1400 bytes that tells nobody behind an MTU of 1500: `tcp_mtu_probing = 1` ends at 1347 (Linux 6.18, three probes arrived).
#[test]
fn what_probes_find_over_a_silent_hop_is_of_the_search() {
    let why = |mss, probes_arrived| {
        why_mss(&mss_facts(|facts| {
            (facts.mss, facts.mtu_probing) = (Bytes::new(mss), MtuProbing::InBlackHole);
            (facts.base_mss, facts.probes_arrived) = (Bytes::new(1024), probes_arrived);
        }))
    };
    let found = why(1347, Some(3));
    let link = found.sent.winner().unwrap();
    assert_eq!(link.source, Source::MtuProbing);
    let note = link.note.as_deref().unwrap();
    assert!(
        note.contains("vanish and no router tells") && note.contains("mss_clamp of 1359"),
        "{note}"
    );
    assert!(found.sent.link(Source::MssClamp).is_some_and(|link| link.is_least && !link.wins));
    assert_eq!(winner(&why(1347, None).sent), Some(Source::MtuProbing));
    assert_eq!(winner(&why(1347, Some(0)).sent), Some(Source::MssClamp), "no probe has arrived");
    assert_eq!(winner(&why(1348, Some(3)).sent), Some(Source::MssClamp), "no probe has that size");
    // 512 after 1024 vanished too, and from there on again.
    assert_eq!(winner(&why(746, Some(3)).sent), Some(Source::MtuProbing));
}

/// Linux 6.18: the SYN had 1460 of an MTU of 1500, and a router told of 1400 afterwards.
#[test]
fn a_path_mtu_that_was_learnt_after_the_syn_is_not_of_its_option() {
    let why = why_mss(&mss_facts(|facts| {
        (facts.mss, facts.path_mtu, facts.learnt_mtu) =
            (Bytes::new(1348), Bytes::new(1400), some(1400));
    }));
    assert_eq!(winner(&why.advertised), Some(Source::InterfaceMtu));
    assert_eq!(why.advertised.unexplained, None);
    let learnt = why.advertised.link(Source::PathMtu).unwrap();
    assert_eq!(learnt.note.as_deref(), Some("it was learnt after the SYN"));
}

fn winner_without_probing(mss: u64) -> Option<Source> {
    winner(&why_mss(&mss_facts(|facts| facts.mss = Bytes::new(mss))).sent)
}
