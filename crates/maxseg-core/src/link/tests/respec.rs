//! A link that becomes another one while it carries packets.

use proptest::prelude::*;

use super::super::*;
use super::link_chain::{Came, Given, Numbered, any_link, some_link, too_big, traffic};
use crate::path::{CodelSettings, Discipline, LinkSpec, QueueLimit};
use crate::units::{BitsPerSec, Bytes, Mtu, Probability, Time};

/// The link becomes another one after so many packets.
type Changes = Vec<(usize, LinkSpec)>;

/// What comes of `traffic` over `link_chain`, which changes on the way.
fn drive(mut line: LinkChain<Numbered>, traffic: &[Given], changes: &[(usize, LinkSpec)]) -> Came {
    let mut lost = Vec::new();
    let settle = |line: &mut LinkChain<Numbered>, until: Time| {
        let mut lost = Vec::new();
        while line.next_event() < until {
            line.advance(line.next_event());
            while let Some((packet, fate)) = line.poll_loss() {
                lost.push((packet.0, fate.at(), too_big(fate)));
            }
        }
        lost
    };
    let mut now = Time::ZERO;
    for (number, (gap, ip_len, df, ect)) in traffic.iter().enumerate() {
        now += Time::from_nanos(*gap);
        lost.extend(settle(&mut line, now));
        for (nth, (_, spec)) in changes.iter().enumerate().filter(|(_, (at, _))| *at == number) {
            let name = format!("hop.0.change.{nth}");
            line.respec(now, spec, (1, &name), |packet, fate| {
                lost.push((packet.0, fate.at(), too_big(fate)));
            });
        }
        let hop_span = HopSpan { first: 0, last: 0, df: *df, ect: *ect };
        if let SendOutcome::Lost(fate) = line.send(now, Numbered(number, false), *ip_len, hop_span)
        {
            lost.push((number, fate.at(), too_big(fate)));
        }
    }
    lost.extend(settle(&mut line, Time::NEVER));
    lost.sort_unstable();
    let mut arrived = Vec::new();
    while let Some(arrival) = line.pop() {
        assert!(arrived.last().is_none_or(|(before, _)| *before <= arrival.0), "in time");
        arrived.push(arrival);
    }
    arrived.sort_unstable();
    Came { arrived, lost, counters: line.counters() }
}

fn computed(spec: &LinkSpec, seed: u64) -> LinkChain<Numbered> {
    LinkChain::new(&[(spec, "hop.0".to_owned())], seed, Time::NEVER, true)
}

fn staged(spec: &LinkSpec, seed: u64) -> LinkChain<Numbered> {
    LinkChain::staged(&[(spec, "hop.0".to_owned())], seed)
}

fn some_changes(
    link: impl Strategy<Value = LinkSpec> + Clone,
) -> impl Strategy<Value = (LinkSpec, Changes)> {
    (link.clone(), proptest::collection::vec((0..150_usize, link), 0..4))
}

proptest! {
    #[test]
    fn a_change_to_the_same_changes_nothing(
        link in any_link(), traffic in traffic(), at in 0..150_usize, seed: u64
    ) {
        let change = [(at, link.clone())];
        for line in [computed, staged] {
            let calm = drive(line(&link, seed), &traffic, &[]);
            prop_assert_eq!(calm, drive(line(&link, seed), &traffic, &change));
        }
    }

    #[test]
    fn nothing_is_lost_or_made_by_a_change(
        (link, changes) in some_changes(any_link()), traffic in traffic(), seed: u64
    ) {
        let links = || std::iter::once(&link).chain(changes.iter().map(|(_, link)| link));
        let doubles = links().any(|link| link.duplicate > Probability::NEVER);
        let is_whole = links().all(|link| link.mtu == Mtu::ETHERNET);
        for line in [computed, staged] {
            let came = drive(line(&link, seed), &traffic, &changes);
            for number in 0..traffic.len() {
                let copies = came.arrived.iter().filter(|(_, packet)| packet.0 == number).count();
                let losses = came.lost.iter().filter(|(lost, ..)| *lost == number).count();
                prop_assert_eq!(losses, usize::from(copies == 0), "packet {}", number);
                prop_assert!(copies <= 1 || doubles, "packet {} came {} times", number, copies);
            }
            let done = &came.counters[0];
            let dropped = done.refused + done.policed + done.early;
            if is_whole {
                prop_assert_eq!(done.sent + dropped, traffic.len() as u64 + done.doubled);
            }
        }
    }

    /// Of a waiting room in bytes too: a byte takes more than a nanosecond on these links.
    #[test]
    fn both_forms_change_alike(
        (link, changes) in some_changes(some_link()), traffic in traffic(), seed: u64
    ) {
        let of = |line: LinkChain<Numbered>| drive(line, &traffic, &changes);
        prop_assert_eq!(of(computed(&link, seed)), of(staged(&link, seed)));
    }

    #[test]
    fn what_came_before_a_change_keeps_its_times(
        link in any_link(), other in any_link(), traffic in traffic(), at in 0..150_usize, seed: u64
    ) {
        let before = &traffic[..at.min(traffic.len())];
        for line in [computed, staged] {
            let promised = drive(line(&link, seed), before, &[]);
            let mut kept = drive(line(&link, seed), &traffic, &[(at, other.clone())]);
            kept.arrived.retain(|(_, packet)| packet.0 < before.len());
            kept.lost.retain(|(number, ..)| *number < before.len());
            prop_assert_eq!((promised.arrived, promised.lost), (kept.arrived, kept.lost));
        }
    }

    #[test]
    fn a_slower_link_lets_nobody_overtake(
        link in some_link(), slower in 2..50_u64, traffic in traffic(), at in 0..150_usize, seed: u64
    ) {
        let link = LinkSpec { arq: None, ..link };
        let rate = BitsPerSec::new(link.rate.get() / slower).unwrap();
        let came = drive(computed(&link, seed), &traffic, &[(at, LinkSpec { rate, ..link })]);
        prop_assert!(came.arrived.is_sorted_by_key(|(_, packet)| packet.0), "{:?}", came.arrived);
    }
}

/// Packets of 1500 bytes in a steady stream: numbers and arrival times.
fn stream(line: LinkChain<Numbered>, gap: u64, count: usize, changes: &Changes) -> Came {
    drive(line, &vec![(gap, 1500, true, false); count], changes)
}

fn plain(rate: u64) -> LinkSpec {
    LinkSpec::plain(BitsPerSec::new(rate).unwrap(), Time::from_millis(5))
}

#[test]
fn after_a_change_the_link_has_the_new_rate_exactly() {
    // 12 Mbit/s offered; the link takes 8, then 3.
    let (first, then) = (plain(8_000_000), plain(3_000_000));
    for line in [computed, staged] {
        let came = stream(line(&first, 1), 1_000_000, 4000, &vec![(1000, then.clone())]);
        let times: Vec<Time> = came.arrived.iter().map(|(at, _)| *at).collect();
        let gaps: Vec<u64> = times.windows(2).map(|pair| (pair[1] - pair[0]).as_nanos()).collect();
        let turn = gaps.iter().position(|gap| *gap == 4_000_000).unwrap();
        assert!(gaps[..turn].iter().all(|gap| *gap == 1_500_000));
        assert!(gaps[turn..].iter().all(|gap| *gap == 4_000_000));
        // Those in front of it when it changed, and those alone, left at the old rate.
        let (at, _) = came.arrived[turn];
        assert!(at > Time::from_millis(1000) && at < Time::from_millis(1000 + 160), "{at:?}");
    }
}

#[test]
fn a_room_that_shrinks_is_as_full_as_it_was() {
    let first = LinkSpec { queue: QueueLimit::Packets(20), ..plain(1_200_000) };
    let rooms = [QueueLimit::Packets(5), QueueLimit::Bytes(Bytes::new(5 * 1500))];
    for (queue, line) in
        rooms.iter().flat_map(|room| [(room, computed as fn(_, _) -> _), (room, staged)])
    {
        let then = LinkSpec { queue: *queue, ..first.clone() };
        // 30 at once: one is sent, 20 wait, 9 find no room. Then one every 10 ms, as fast as they leave.
        let mut traffic = vec![(0, 1500, true, false); 30];
        traffic.extend(vec![(10_000_000, 1500, true, false); 40]);
        let came = drive(line(&first, 1), &traffic, &[(30, then)]);
        let lost: Vec<usize> = came.lost.iter().map(|(number, ..)| *number).collect();
        // One goes every 10 ms, right after the next has come: that finds 20 waiting, then 19, and at last 4.
        assert_eq!(lost, (21..30).chain(30..30 + 16).collect::<Vec<_>>(), "{queue:?}");
    }
}

#[test]
fn a_shorter_delay_lets_later_packets_overtake() {
    let first = LinkSpec { delay: Time::from_millis(100), ..plain(12_000_000) };
    let then = LinkSpec { delay: Time::from_millis(1), ..first.clone() };
    let came = stream(computed(&first, 1), 10_000_000, 40, &vec![(10, then)]);
    let at = |number: usize| came.arrived.iter().find(|(_, packet)| packet.0 == number).unwrap().0;
    assert!(at(10) < at(5));
    assert_eq!(came.arrived.len(), 40);
    assert_eq!(at(30), Time::from_millis(10 * 31 + 1 + 1));
}

/// `CoDel` decides when a packet leaves, and what a watched link does is told as it happens: neither is computed.
#[test]
fn a_changed_link_is_computed_only_where_it_is_foreseeable_and_not_watched() {
    let plain = plain(8_000_000);
    let discipline = Discipline::Codel(CodelSettings::default());
    let codel = LinkSpec { discipline, ..plain.clone() };
    let is_computed = |mut line: LinkChain<Numbered>, then: &LinkSpec| {
        line.respec(Time::ZERO, then, (1, "hop.0.change.0"), |_, _| ());
        line.is_computed()
    };
    assert!(is_computed(staged(&codel, 1), &plain));
    assert!(!is_computed(computed(&plain, 1), &codel));
    let mut watched = staged(&codel, 1);
    watched.watch();
    assert!(!is_computed(watched, &plain));
}
