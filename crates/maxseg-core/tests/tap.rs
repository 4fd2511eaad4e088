//! A tapped run: nothing else happens in it, and what is seen is what happened.
#![expect(clippy::unwrap_used, reason = "helpers of tests, which may panic")]

use std::collections::BTreeMap;

use maxseg_core::engine::{Engine, Unwatched};
use maxseg_core::outcome::Outcome;
use maxseg_core::scenario::{End, Scenario};
use maxseg_core::settings::builtin_stacks;
use maxseg_core::sim::{CapturePoint, Content, Loss, Sighting, Sim, Tap, TcpView};
use maxseg_core::units::Time;

/// Two lossy hops and every kind of flow in both directions.
const BUSY: &str = include_str!("../../../testdata/scenarios/busy.toml");

#[derive(Default)]
struct Seen(Vec<Sighting>);

impl Tap for Seen {
    fn on_packet(&mut self, sighting: &Sighting) {
        self.0.push(*sighting);
    }
}

fn tapped(text: &str) -> (Scenario, Outcome, Vec<Sighting>) {
    let scenario = Scenario::from_toml("test", text).unwrap();
    let mut seen = Seen::default();
    let outcome = Sim.run_tapped(&scenario, &mut Unwatched, &mut seen).unwrap();
    (scenario, outcome, seen.0)
}

fn at(seen: &[Sighting], point: CapturePoint) -> impl Iterator<Item = &Sighting> {
    seen.iter().filter(move |sighting| sighting.point == point)
}

const fn tcp(sighting: &Sighting) -> Option<&TcpView> {
    match &sighting.packet.content {
        Content::Tcp(tcp) => Some(tcp),
        Content::Datagram | Content::EchoRequest { .. } | Content::EchoReply { .. } => None,
    }
}

#[test]
fn a_tap_changes_nothing() {
    for stack in builtin_stacks() {
        let text =
            format!("{BUSY}\n[sender]\nstack = \"{0}\"\n[receiver]\nstack = \"{0}\"\n", stack.name);
        let (scenario, tapped, _) = tapped(&text);
        let untapped = Sim.run(&scenario, &mut Unwatched).unwrap();
        assert_eq!(tapped, untapped, "{}", stack.name);
    }
}

#[test]
fn sightings_are_in_order_of_time_and_count_what_the_outcome_counts() {
    let (_, outcome, seen) = tapped(BUSY);
    assert!(seen.is_sorted_by_key(|sighting| sighting.at));
    for (index, flow) in outcome.flows.iter().enumerate() {
        let sent_here = |from: End| {
            at(&seen, CapturePoint::Host(from))
                .filter(|s| s.packet.flow == index && s.packet.from == from)
                .collect::<Vec<_>>()
        };
        let sent = [sent_here(End::Sender), sent_here(End::Receiver)].concat();
        assert_eq!(Some(sent.len() as u64), flow.packets, "flow {index}");
        let segments = || sent.iter().filter_map(|sighting| tcp(sighting));
        let with_payload = segments().filter(|tcp| tcp.payload > 0).count() as u64;
        let repeated = segments().filter(|tcp| tcp.payload > 0 && tcp.repeated).count() as u64;
        if flow.retransmitted_packets.is_some() {
            assert_eq!(Some(with_payload), flow.data_packets, "flow {index}");
            assert_eq!(Some(repeated), flow.retransmitted_packets, "flow {index}");
            assert!(repeated > 0, "the links lose nothing");
        }
    }
}

#[test]
fn a_packet_passes_the_points_of_its_way_in_order_until_it_is_lost() {
    let (scenario, _, seen) = tapped(BUSY);
    let mut ways: BTreeMap<(bool, u64), Vec<&Sighting>> = BTreeMap::new();
    for sighting in &seen {
        let packet = &sighting.packet;
        ways.entry((packet.from == End::Sender, packet.number)).or_default().push(sighting);
    }
    let (mut whole, mut damaged, mut refused) = (0, 0, 0);
    for ((forward, _), way) in &ways {
        let (near, far) =
            if *forward { (End::Sender, End::Receiver) } else { (End::Receiver, End::Sender) };
        let hops = if *forward { [0, 1] } else { [1, 0] };
        let points = [
            CapturePoint::Host(near),
            CapturePoint::Hop(hops[0]),
            CapturePoint::Hop(hops[1]),
            CapturePoint::Host(far),
        ];
        let passed: Vec<_> = way.iter().map(|sighting| sighting.point).collect();
        assert_eq!(passed, points[..passed.len()]);
        assert!(way.iter().all(|sighting| sighting.packet == way[0].packet));
        let last = way.last().unwrap();
        assert!(way[..way.len() - 1].iter().all(|sighting| sighting.lost.is_none()));
        let is_damaged = last.lost == Some(Loss::Damaged);
        whole += usize::from(passed.len() == 4);
        damaged += usize::from(is_damaged);
        refused += usize::from(!is_damaged && passed.len() < 3);
        // Whole on the last link and not arrived: the run ended meanwhile.
        let under_way = !is_damaged && passed.len() == 3;
        assert!(!under_way || last.at.saturating_add(Time::from_secs(1)) > scenario.until.time);
    }
    assert!(whole > 1000 && damaged > 20 && refused > 20, "{whole} {damaged} {refused}");
}

#[test]
fn a_handshake_says_what_was_agreed() {
    let text = "[[hop]]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n[sender]\nstack = \"rfc\"\nmss = 1000\n\
                window = \"64 KiB\"\n[receiver]\nstack = \"rfc\"\nwindow = \"4 MiB\"\n[until]\ntime = \"1 s\"\n";
    let (_, _, seen) = tapped(text);
    let sent: Vec<(&Sighting, &TcpView)> = at(&seen, CapturePoint::Host(End::Sender))
        .filter_map(|sighting| Some((sighting, tcp(sighting)?)))
        .take(4)
        .collect();
    let [(syn, a), (syn_ack, b), (_, ack), (_, first)] = sent.as_slice() else {
        panic!("{sent:?}")
    };
    assert_eq!((syn.packet.ip_len, syn_ack.packet.ip_len), (48, 48));
    assert_eq!((a.syn, a.seq, a.ack, a.mss, a.window_scale), (true, 0, None, Some(1000), Some(1)));
    assert_eq!(
        (b.syn, b.seq, b.ack, b.mss, b.window_scale),
        (true, 0, Some(1), Some(1460), Some(7))
    );
    // 64 KiB in units of two bytes; in the SYN, unscaled, no more than the field holds.
    assert_eq!((a.window, ack.window), (65_535, 32_768));
    assert_eq!((ack.syn, ack.seq, ack.ack, ack.mss, ack.payload), (false, 1, Some(1), None, 0));
    assert_eq!((first.seq, first.payload, first.repeated), (1, 1000, false));
    let answer = seen.iter().filter_map(tcp).find(|tcp| tcp.ack > Some(1)).unwrap();
    assert_eq!(answer.window, 32_768, "4 MiB in units of 128 bytes");
}

#[test]
fn linux_s_segments_have_the_window_and_the_flags_of_its_sockets() {
    let text = "[[hop]]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n[sender]\necn = true\n[receiver]\necn = true\n\
                [until]\ntime = \"1 s\"\n";
    let (_, _, seen) = tapped(text);
    // A SYN asks for ECN and a SYN-ACK agrees (RFC 3168 §6.1.1); nothing is marked here.
    for tcp in seen.iter().filter_map(tcp) {
        let has_asked = tcp.syn && tcp.ack.is_none();
        assert_eq!((tcp.echoes_marks, tcp.reduced), (tcp.syn, has_asked), "{tcp:?}");
    }
    let sent = at(&seen, CapturePoint::Host(End::Sender));
    let sent = sent.filter(|sighting| sighting.packet.from == End::Sender).filter_map(tcp);
    let windows: Vec<u16> = sent.map(|tcp| tcp.window).collect();
    // What the sender of data offers stays what it was: 44 segments of 1460 bytes, and then in units of 128 bytes.
    assert_eq!(windows[0], 64_240);
    assert!(windows.len() > 100 && windows[1..].iter().all(|window| *window == 502), "{windows:?}");
}

#[test]
fn echoes_and_their_answers_have_the_same_number() {
    let (_, _, seen) = tapped(BUSY);
    let mut requests = Vec::new();
    let mut replies = Vec::new();
    for sighting in at(&seen, CapturePoint::Host(End::Receiver)) {
        match sighting.packet.content {
            Content::EchoRequest { number } => requests.push(number),
            Content::EchoReply { number } => replies.push(number),
            Content::Tcp(_) | Content::Datagram => {}
        }
    }
    assert!(requests.iter().copied().eq(0..requests.len() as u64) && requests.len() >= 29);
    assert!(replies.is_sorted() && replies.len() > 22, "{replies:?}");
}
