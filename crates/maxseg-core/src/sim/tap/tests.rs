use super::super::{Sim, World};
use super::*;
use crate::engine::{Engine, Unwatched};
use crate::framing::IpVersion;
use crate::link::FragmentRange;
use crate::outcome::Outcome;
use crate::units::Mtu;

#[derive(Default)]
struct Seen(Vec<Sighting>);

impl Tap for Seen {
    fn on_packet(&mut self, sighting: &Sighting) {
        self.0.push(*sighting);
    }
}

fn scenario(text: &str) -> Scenario {
    Scenario::from_toml("test.toml", text).unwrap_or_else(|error| panic!("{error:?}\n{text}"))
}

fn tapped(scenario: &Scenario) -> (Outcome, Vec<Sighting>) {
    let mut seen = Seen::default();
    let outcome = Sim.run_tapped(scenario, &mut Unwatched, &mut seen).unwrap();
    (outcome, seen.0)
}

fn hop(name: &str, more: &str) -> String {
    format!("[[hop]]\nname = \"{name}\"\nrate = \"4 Mbit/s\"\ndelay = \"10 ms\"\n{more}\n")
}

const FLOWS: &str = "[[flow]]\nkind = \"bulk\"\n[[flow]]\nkind = \"cbr\"\nrate = \"300 kbit/s\"\nsize = 1300\n\
                     [[flow]]\nkind = \"ping\"\ninterval = \"100 ms\"\nfrom = \"receiver\"\n[until]\ntime = \"8 s\"\n";

fn at(seen: &[Sighting], point: CapturePoint) -> Vec<&Sighting> {
    seen.iter().filter(|sighting| sighting.point == point).collect()
}

/// All that was seen until shortly before the end, in an order that does not hang on who was told first:
/// of what is on a link at the end, a staged path does not know what becomes of it.
fn comparable(scenario: &Scenario, seen: &[Sighting]) -> Vec<String> {
    let end = scenario.until.time.since(Time::from_millis(500));
    let mut seen: Vec<String> = seen
        .iter()
        .filter(|sighting| sighting.at < end)
        .map(|sighting| format!("{:012} {sighting:?}", sighting.at.as_nanos()))
        .collect();
    seen.sort_unstable();
    seen
}

#[test]
fn staged_paths_show_what_computed_ones_do() {
    let cases = [
        ("plain", "queue = \"8 packets\"", ""),
        ("errors", "errors = { model = \"uniform\", rate = 0.02 }", ""),
        ("copies", "duplicate = 0.05", ""),
        ("fragments", "mtu = 576", "[sender]\ndf = false\n[receiver]\ndf = false\n"),
        ("copies of fragments", "mtu = 576\nduplicate = 0.05", "[sender]\ndf = false\n"),
        ("turned back", "mtu = 1400", ""),
        ("red", "queue = { limit = \"40 packets\", discipline = \"red\" }", ""),
    ];
    for (name, keys, settings) in cases {
        let text = format!("{}{}{settings}{FLOWS}", hop("lan", ""), hop("narrow", keys));
        let scenario = scenario(&text);
        let (_, computed) = tapped(&scenario);
        let mut staged = Seen::default();
        let mut world = World::staged(&scenario, TapObserver::new(&scenario, &mut staged));
        world.run(&mut Unwatched).unwrap();
        assert!(computed.is_sorted_by_key(|sighting| sighting.at), "{name}");
        assert!(staged.0.is_sorted_by_key(|sighting| sighting.at), "{name}");
        assert!(computed.len() > 5000, "{name}: {}", computed.len());
        let [staged, computed] = [staged.0, computed].map(|seen| comparable(&scenario, &seen));
        for (a, b) in staged.iter().zip(&computed) {
            assert_eq!(a, b, "{name}");
        }
        assert_eq!(staged.len(), computed.len(), "{name}");
    }
}

#[test]
fn a_tap_changes_nothing_on_staged_paths() {
    let codel = "queue = { limit = \"60 packets\", discipline = \"codel\" }";
    let cut = "mtu = 576\nduplicate = 0.02\njitter = \"1 ms\"";
    let df = "[sender]\ndf = false\n[receiver]\ndf = false\n";
    for text in [
        format!("{}{}{FLOWS}", hop("lan", codel), hop("narrow", "")),
        format!("{}{}{df}{FLOWS}", hop("lan", codel), hop("narrow", cut)),
    ] {
        let scenario = scenario(&text);
        let (outcome, seen) = tapped(&scenario);
        assert_eq!(outcome, Sim.run(&scenario, &mut Unwatched).unwrap());
        assert!(seen.is_sorted_by_key(|sighting| sighting.at));
        let dropped = seen.iter().filter(|sighting| sighting.lost == Some(Loss::Dropped)).count();
        assert!(dropped > 3, "CoDel drops {dropped}");
    }
}

#[test]
fn fragments_cover_their_packet_and_arrive_as_they_are() {
    let text = format!(
        "{}{}[sender]\ndf = false\n[[flow]]\nkind = \"cbr\"\nrate = \"100 kbit/s\"\nsize = 1300\n[until]\ntime = \"5 s\"\n",
        hop("lan", ""),
        hop("narrow", "mtu = 576")
    );
    let (outcome, seen) = tapped(&scenario(&text));
    let sent = at(&seen, CapturePoint::Host(End::Sender));
    assert_eq!(Some(sent.len() as u64), outcome.data_packets);
    assert!(sent.iter().all(|sighting| sighting.form == PacketForm::Whole));
    for point in [CapturePoint::Hop(1), CapturePoint::Host(End::Receiver)] {
        // 1308 bytes behind the IP header, in pieces of 552 at most.
        let parts: Vec<FragmentRange> = at(&seen, point)
            .iter()
            .filter(|sighting| sighting.packet.number == 0)
            .map(|sighting| match sighting.form {
                PacketForm::Fragment(part) => part,
                PacketForm::Whole | PacketForm::TooBig { .. } => panic!("{sighting:?}"),
            })
            .collect();
        let want = [(0, 552, true), (552, 552, true), (1104, 204, false)];
        assert_eq!(
            parts,
            want.map(|(offset, len, more)| FragmentRange { offset, len, more }),
            "{point:?}"
        );
    }
}

#[test]
fn news_of_a_small_mtu_is_seen_where_it_is_sent_and_where_it_comes() {
    for ip in [IpVersion::V4, IpVersion::V6] {
        let hops =
            [hop("lan", ""), hop("wan", ""), hop("narrow", "mtu = 1300"), hop("far", "")].concat();
        let text = format!("ip = {}\n{hops}[until]\ntime = \"2 s\"\n", ip.number());
        let (_, seen) = tapped(&scenario(&text));
        let news: Vec<&Sighting> = seen
            .iter()
            .filter(|sighting| matches!(sighting.form, PacketForm::TooBig { .. }))
            .collect();
        let of_first: Vec<&&Sighting> = news
            .iter()
            .filter(|sighting| sighting.packet.number == news[0].packet.number)
            .collect();
        let points: Vec<_> = of_first.iter().map(|sighting| sighting.point).collect();
        let want = [
            CapturePoint::Hop(2),
            CapturePoint::Hop(1),
            CapturePoint::Hop(0),
            CapturePoint::Host(End::Sender),
        ];
        assert_eq!(points, want);
        let mtu = Mtu::new(1300).unwrap();
        assert!(
            of_first.iter().all(|sighting| sighting.form == PacketForm::TooBig { hop: 2, mtu })
        );
        assert_eq!(of_first[0].at, of_first[1].at);
        // From then on the sender knows.
        let last = news.iter().filter(|sighting| sighting.point == want[3]).map(|s| s.at).max();
        let too_long = at(&seen, want[3])
            .iter()
            .filter(|s| {
                s.form == PacketForm::Whole
                    && s.packet.from == End::Sender
                    && s.packet.ip_len > 1300
            })
            .map(|s| s.at)
            .max();
        assert!(too_long < last, "{too_long:?} {last:?}");
        let silent = text.replace("mtu = 1300", "mtu = 1300\nicmp = \"drop\"");
        let (_, seen) = tapped(&scenario(&silent));
        assert!(seen.iter().all(|sighting| sighting.form == PacketForm::Whole));
    }
}

#[test]
fn below_the_least_path_mtu_linux_clears_df() {
    let hops = [hop("lan", ""), hop("narrow", "mtu = 400"), hop("far", "")].concat();
    let (_, seen) = tapped(&scenario(&format!("{hops}[until]\ntime = \"2 s\"\n")));
    let sent = at(&seen, CapturePoint::Host(End::Sender)).into_iter();
    let (with_df, without): (Vec<&Sighting>, Vec<&Sighting>) = sent
        .filter(|s| {
            s.form == PacketForm::Whole && s.packet.from == End::Sender && s.packet.ip_len > 400
        })
        .partition(|s| s.packet.dont_fragment);
    // The first window.
    assert!(with_df.len() == 10 && with_df.iter().all(|s| s.packet.ip_len == 1500), "{with_df:?}");
    assert!(
        without.len() > 100 && without.iter().all(|s| s.packet.ip_len <= 552),
        "{}",
        without.len()
    );
}

#[test]
fn a_flow_over_a_part_of_the_path_is_seen_there() {
    let text = format!(
        "{}{}[[flow]]\nkind = \"cbr\"\nrate = \"100 kbit/s\"\nsize = 500\nhops = [\"second\"]\n[until]\ntime = \"3 s\"\n",
        hop("first", ""),
        hop("second", "")
    );
    let (outcome, seen) = tapped(&scenario(&text));
    let count = |point| at(&seen, point).len() as u64;
    assert_eq!(count(CapturePoint::Hop(0)), 0);
    assert_eq!(Some(count(CapturePoint::Hop(1))), outcome.data_packets);
    assert!(outcome.data_packets > Some(70));
}
