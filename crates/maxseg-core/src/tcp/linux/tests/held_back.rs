//! What a receiver holds back of its acknowledgements, what it tells once, and what a sender takes from them.

use super::super::clock::Clock;
use super::{MSS, Pair, Time, host};

/// The first of ten segments is lost: three duplicates go at once, the others are held back.
fn with_a_gap() -> Pair {
    let lost = 2; // behind SYN and handshake
    Pair::new(host(), 10 * MSS, &[lost]).run(Time::from_millis(60))
}

/// Its timer is one that a softirq runs, which other timers do not raise, however near it is (`HRTIMER_MODE_SOFT`).
#[test]
fn duplicates_that_are_held_back_go_when_their_timer_is_due_at_the_latest() {
    let mut pair = with_a_gap();
    let (delay, slack) = (1_000_000, 100_000); // `tcp_comp_sack_delay_ns`, `tcp_comp_sack_slack_ns`
    let due = Time::from_nanos(60_000_000 + delay + slack);
    assert_eq!(pair.receiver.next_timer(), due);
    pair.receiver.on_timer(Time::from_nanos(60_000_000 + delay));
    assert!(pair.receiver.poll_transmit().is_none());
    pair.receiver.on_timer(due);
    assert!(pair.receiver.poll_transmit().is_some());
}

/// `tcp_options_write` tells of it with one packet.
#[test]
fn a_duplicate_is_told_once() {
    let mut pair = Pair::new(host(), 10 * MSS, &[]).run(Time::from_secs(1));
    let segment = pair.sent.iter().find(|sent| sent.packet.len > 0).unwrap().packet;
    let mut answer = |packet| {
        pair.receiver.on_packet(Time::from_secs(2), packet);
        pair.receiver.poll_transmit().unwrap().sack.as_slice().to_vec()
    };
    assert_eq!(answer(&segment), [(segment.seq, segment.end())]);
    let mut probe = segment;
    (probe.seq, probe.len, probe.push) = (segment.seq - 1, 0, false);
    assert_eq!(answer(&probe), []);
}

/// What is sent again while a pace holds others back has the stamp of its turn, which an acknowledgement may come before.
#[test]
fn an_echo_of_a_later_stamp_is_no_round_trip() {
    let mut sender = Pair::new(host(), 10 * MSS, &[]).run(Time::from_secs(1)).sender;
    let now = Clock::millis_of(sender.clock.nanos);
    for (stamp, expected) in [(now + 1, None), (now, Some(1_000)), (now - 8, Some(8_000))] {
        sender.rcv_tsecr = stamp;
        assert_eq!(sender.round_trip_of_stamps(1), expected);
    }
}
