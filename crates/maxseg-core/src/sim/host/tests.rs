use proptest::prelude::*;

use super::super::tap::{CapturePoint, Loss, NoObserver, PacketForm, PacketView, Sighting, Tap};
use super::super::{Outcome, Sim, World};
use super::*;
use crate::engine::{Engine, Unwatched};
use crate::outcome::LimitedBy;

const LINK: &str = "[[hop]]\nrate = \"8 Mbit/s\"\ndelay = \"10 ms\"\n";

/// Requests on one connection, and on a new connection each.
const REQUESTS: &str = "[[flow]]\nkind = \"request\"\nrequest = \"2 kB\"\nreply = \"20 kB\"\npause = \"50 ms\"\n\
     connection = \"kept\"\n[[flow]]\nkind = \"request\"\nrequest = \"300 B\"\nreply = \"5 kB\"\nthink = \"5 ms\"\n\
     connection = \"new\"\n";

fn scenario(text: &str) -> Scenario {
    Scenario::from_toml_over("rfc", "test.toml", text)
        .unwrap_or_else(|error| panic!("{error:?}\n{text}"))
}

fn run(text: &str) -> Outcome {
    Sim.run(&scenario(text), &mut Unwatched).unwrap()
}

#[derive(Default)]
struct Seen(Vec<Sighting>);

impl Tap for Seen {
    fn on_packet(&mut self, sighting: &Sighting) {
        self.0.push(*sighting);
    }
}

fn tapped(text: &str) -> Vec<Sighting> {
    let mut seen = Seen::default();
    Sim.run_tapped(&scenario(text), &mut Unwatched, &mut seen).unwrap();
    seen.0
}

/// One segment of 1000 bytes; the sender takes 1 ms per packet, the receiver 3 ms.
const ONE_SEGMENT: &str = "[sender]\nmss = 1000\nwindow_scale = \"off\"\npacket_cost = \"1 ms\"\n\
     [receiver]\nwindow_scale = \"off\"\ndelayed_ack = false\npacket_cost = \"3 ms\"\n[until]\nbytes = \"1000 B\"\n";

#[test]
fn one_segment_takes_its_time_at_every_turn() {
    let ms = 1e-3;
    // 8 Mbit/s: 1 µs per byte.
    let syn = 44e-6 + 10.0 * ms;
    let handshake = 1.0 * ms + syn + 3.0 * ms + 3.0 * ms + syn + 1.0 * ms;
    // The handshake's last packet occupies the receiver until 1 ms after the data arrives.
    let ack_heard = 1.0 * ms + (40e-6 + 10.0 * ms) + 3.0 * ms;
    let data_comes = 2.0 * ms + (1040e-6 + 10.0 * ms);
    assert!(data_comes < ack_heard);
    let answered = ack_heard + 3.0 * ms + 3.0 * ms + (40e-6 + 10.0 * ms) + 1.0 * ms;
    let elapsed = run(&format!("{LINK}{ONE_SEGMENT}")).elapsed_s.unwrap();
    assert!((elapsed - (handshake + answered)).abs() < 1e-12, "{elapsed}");
}

#[test]
fn a_packet_is_seen_when_it_is_on_the_wire_at_the_host() {
    let seen = tapped(&format!("{LINK}{ONE_SEGMENT}"));
    let at = |point, from, place: usize| {
        let here = |s: &&Sighting| s.point == point && s.packet.from == from;
        seen.iter().filter(here).nth(place).unwrap().at.as_nanos()
    };
    let (near, far) = (CapturePoint::Host(End::Sender), CapturePoint::Host(End::Receiver));
    // The SYN is sent after the sender's processing time and arrives after its transmission.
    assert_eq!(at(near, End::Sender, 0), 1_000_000);
    assert_eq!(at(CapturePoint::Hop(0), End::Sender, 0), 1_000_000);
    assert_eq!(at(far, End::Sender, 0), 1_000_000 + 44_000 + 10_000_000);
    // It is delivered and answered.
    assert_eq!(at(far, End::Receiver, 0), 1_000_000 + 44_000 + 10_000_000 + 6_000_000);
}

#[test]
fn a_host_bounds_the_rate_by_its_packets() {
    let fast = "[[hop]]\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n";
    let (one, both) = (["1 ms", "0 s"], ["1 ms", "1 ms"]);
    for (delayed_ack, per_ack) in [("false", 1.0), ("{ timeout = \"200 ms\", every = 2 }", 2.0)] {
        for [sender, receiver] in [one, ["0 s", "1 ms"], both, ["1 ms", "0.3 ms"]] {
            let outcome = run(&format!(
                "{fast}[sender]\nmss = 1000\npacket_cost = \"{sender}\"\n[receiver]\npacket_cost = \"{receiver}\"\n\
                 delayed_ack = {delayed_ack}\n[until]\nbytes = \"4 MB\"\n"
            ));
            // Each segment, and its share of an acknowledgement.
            let limit = 8000.0 / (1e-3 * (1.0 + 1.0 / per_ack));
            let share = outcome.goodput_bps.unwrap() / limit;
            // Handshake and slow start are few of the thousands of packets.
            assert!((0.99..=1.0).contains(&share), "{per_ack} {sender} {receiver}: {share}");
            assert_eq!(outcome.limited_by, Some(LimitedBy::Host), "{outcome:?}");
        }
    }
}

#[test]
fn flows_share_the_host_where_they_meet_and_no_other() {
    let second = LINK.replace("[[hop]]\n", "[[hop]]\nname = \"second\"\n");
    let first = LINK.replace("[[hop]]\n", "[[hop]]\nname = \"first\"\n");
    let cbr = "kind = \"cbr\"\nrate = \"200 kbit/s\"\nsize = 100\nrate_counts = \"payload\"\n"; // 250 a second
    let rest = "[sender]\npacket_cost = \"2 ms\"\nmss = 1000\n[receiver]\nwindow = \"40 segments\"\ndelayed_ack = false\n[until]\ntime = \"60 s\"\n";
    let limit = 8000.0 / (2.0 * 2e-3);
    for (hops, left) in [("", 0.5), ("hops = [\"second\"]\n", 1.0)] {
        let text = format!("{first}{second}[[flow]]\nkind = \"bulk\"\n[[flow]]\n{cbr}{hops}{rest}");
        let flows = run(&text).flows;
        let share = flows[0].goodput_bps.unwrap() / limit;
        assert!((share / left - 1.0).abs() < 0.01, "{hops}: {share} of the host");
        assert!((flows[1].goodput_bps.unwrap() / 200e3 - 1.0).abs() < 0.01);
    }
}

#[test]
fn news_of_a_small_mtu_is_a_packet_too() {
    let narrow = LINK.replace("[[hop]]\n", "[[hop]]\nname = \"narrow\"\nmtu = 1400\n");
    let far = LINK.replace("[[hop]]\n", "[[hop]]\nname = \"far\"\n");
    let text = format!(
        "{LINK}{narrow}{far}[sender]\ninitial_window = \"1 segments\"\npacket_cost = \"4 ms\"\n[until]\ntime = \"1 s\"\n"
    );
    let seen = tapped(&text);
    let at_sender = |news: bool, large: bool| {
        let here = seen.iter().filter(|s| s.point == CapturePoint::Host(End::Sender));
        let here = here.filter(|s| matches!(s.form, PacketForm::TooBig { .. }) == news);
        here.filter(|s| news || (s.packet.from == End::Sender && s.packet.ip_len > 100))
            .find(|s| news || (s.packet.ip_len > 1400) == large)
            .unwrap()
            .at
    };
    // The ICMP message is delivered, then the first smaller segment is sent.
    assert_eq!(at_sender(false, false), at_sender(true, true) + Time::from_millis(4 + 4));
}

#[test]
fn computed_and_staged_links_give_the_same_run() {
    let text = format!(
        "{LINK}queue = \"6 packets\"\nerrors = {{ model = \"uniform\", rate = 0.01 }}\n[[flow]]\nkind = \"bulk\"\n\
         [[flow]]\nkind = \"bulk\"\nfrom = \"receiver\"\n[[flow]]\nkind = \"ping\"\ninterval = \"100 ms\"\n\
         {REQUESTS}[sender]\npacket_cost = \"0.7 ms\"\n[receiver]\npacket_cost = \"0.3 ms\"\n[until]\ntime = \"30 s\"\n"
    );
    let scenario = scenario(&text);
    let computed = Sim.run(&scenario, &mut Unwatched).unwrap();
    let mut world = World::staged(&scenario, NoObserver);
    world.run(&mut Unwatched).unwrap();
    let staged = world.outcome(&scenario);
    let of = |outcome: &Outcome| {
        (outcome.payload_bytes, outcome.packets, outcome.timeouts, outcome.rtt_mean_s)
    };
    assert_eq!(of(&staged), of(&computed));
    let answered = |outcome: &Outcome| -> Vec<_> {
        let flows = outcome.flows.iter();
        flows.map(|flow| (flow.requests, flow.request_mean_s, flow.payload_bytes)).collect()
    };
    assert_eq!(answered(&staged), answered(&computed));
    assert!(computed.flows[3..].iter().all(|flow| flow.requests > Some(5)), "{computed:?}");
    assert!(computed.retransmitted_packets.unwrap() > 10);
}

#[test]
fn a_tap_changes_nothing_where_hosts_take_time() {
    let text =
        format!("{LINK}[sender]\npacket_cost = \"0.9 ms\"\n[receiver]\npacket_cost = \"0.4 ms\"\n");
    let scenario = scenario(&text);
    let tapped = Sim.run_tapped(&scenario, &mut Unwatched, &mut Seen::default()).unwrap();
    assert_eq!(tapped, Sim.run(&scenario, &mut Unwatched).unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A processing time of 1 ns shifts all events slightly without changing their order.
    #[test]
    fn next_to_no_time_gives_the_order_of_none(
        mbits in 1..50_u32, delay_us in 100..50_000_u32, window in 1..60_u32, mss in 100..1400_u32,
        loss in 0..3_u32, seed: u32,
    ) {
        let order = |cost: &str| {
            // A queue that no window fills: in a full one a nanosecond could decide which packet is dropped.
            let text = format!(
                "seed = {seed}\n[[hop]]\nrate = \"{mbits} Mbit/s\"\ndelay = \"{delay_us} us\"\nqueue = \"1000 packets\"\n\
                 errors = {{ model = \"uniform\", rate = 0.0{loss} }}\n[sender]\nmss = {mss}\n{cost}\n\
                 [receiver]\nwindow = \"{window} segments\"\n{cost}\n[until]\nbytes = \"200 kB\"\n"
            );
            let seen = tapped(&text);
            let points = [CapturePoint::Host(End::Sender), CapturePoint::Hop(0), CapturePoint::Host(End::Receiver)];
            points.map(|point| {
                let here = seen.iter().filter(|sighting| sighting.point == point);
                here.map(|sighting| (sighting.packet, sighting.lost)).collect::<Vec<(PacketView, Option<Loss>)>>()
            })
        };
        prop_assert_eq!(order("packet_cost = \"1 ns\""), order(""));
    }
}
