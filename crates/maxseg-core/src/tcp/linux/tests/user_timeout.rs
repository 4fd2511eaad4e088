//! The kernel's rules for `TCP_USER_TIMEOUT`, and what becomes of a socket that is closed.

use super::{Flags, Host, MSS, Pair, Socket, Time, host};

/// A transfer of which nothing but the handshake arrives.
fn into_nothing(timeout: Time, until: Time) -> Pair {
    let mut pair = Pair::new(host(), 10 * MSS, &[]);
    pair.passes = 0;
    pair.sender.set_user_timeout(timeout);
    pair.run(until)
}

/// When the first segment went again, in milliseconds: the last one probes the tail before that, and does not count.
fn first_retransmission() -> u64 {
    into_nothing(Time::ZERO, Time::from_secs(30)).times_of(1)[1]
}

/// `retransmits_timed_out` counts from the first retransmission, and `tcp_clamp_rto_to_user_timeout` has the timer expire then.
#[test]
fn what_nothing_acknowledges_ends_the_connection_when_the_time_is_over() {
    let timeout = Time::from_secs(5);
    let over = Time::from_millis(first_retransmission()).saturating_add(timeout);
    let before = into_nothing(timeout, Time::from_nanos(over.as_nanos() - 4_000_000));
    assert!(!before.sender.has_timed_out() && before.sender.is_established());
    let due = before.sender.next_timer();
    assert!((over..=over.saturating_add(Time::from_millis(300))).contains(&due), "{due}");
    let after = into_nothing(timeout, due);
    assert!(after.sender.has_timed_out() && !after.sender.is_established());
    assert_eq!(after.sender.next_timer(), Time::NEVER);
    assert!(!after.sent.iter().any(|sent| sent.packet.flags.has(Flags::RST)), "nobody is told");
}

#[test]
fn without_it_a_connection_lasts() {
    let pair = into_nothing(Time::ZERO, Time::from_secs(200));
    assert!(pair.sender.is_established() && !pair.sender.has_timed_out());
}

/// Established, with nothing on its way.
fn idle(host: Host) -> Pair {
    Pair::new(host, 0, &[]).run(Time::from_secs(1))
}

/// What the link refuses is tried every half second, without back-off (`TCP_RESOURCE_PROBE_INTERVAL` in `tcp_send_probe0`), and not for longer
/// than the program says (`tcp_probe_timer`, `tcp_clamp_probe0_to_user_timeout`).
#[test]
fn what_the_link_refuses_is_tried_every_half_second() {
    let Pair { mut sender, now, .. } = idle(Host { hz: 1000, ..host() });
    sender.set_user_timeout(Time::from_millis(1800));
    sender.set_refused(true);
    sender.write(now, 100);
    let mut tries = Vec::new();
    while sender.is_established() {
        let at = sender.next_timer();
        sender.on_timer(at);
        assert!(sender.poll_transmit().is_none());
        tries.push((at.as_nanos() / 1_000_000, sender.window_probes(), sender.info().backoff));
    }
    assert!(sender.has_timed_out());
    let first = tries[0].0;
    let after: Vec<u64> = tries.iter().map(|(at, ..)| at - first).collect();
    // Long timers of the wheel are late by up to 8 jiffies each.
    for (index, wanted) in [0, 500, 1000, 1500, 1800].into_iter().enumerate() {
        assert!((wanted..=wanted + 40).contains(&after[index]), "{after:?}");
    }
    let told: Vec<_> = tries.iter().map(|(_, probes, backoff)| (*probes, *backoff)).collect();
    assert_eq!(told[..4], [(1, 0), (2, 0), (3, 0), (4, 0)], "{told:?}");
}

/// A window that stays closed ends it as well, though each probe is answered (`tcp_probe_timer`; `icsk_probes_tstamp` is kept).
#[test]
fn a_window_that_stays_closed_ends_it_though_probes_are_answered() {
    let closed = |timeout: Time, until: Time| {
        let mut pair =
            Pair::new(Host { rcvbuf: Some(4096), ..host() }, 0, &[]).run(Time::from_secs(1));
        pair.sender.set_user_timeout(timeout);
        pair.sender.write(pair.now, 100 * MSS);
        pair.transmit();
        pair.reads = false;
        pair.run(until)
    };
    let patient = closed(Time::ZERO, Time::from_secs(60));
    assert!(patient.sender.is_established());
    assert_eq!(patient.sender.window_probes(), 0, "each is answered");
    let hasty = closed(Time::from_secs(10), Time::from_secs(60));
    assert!(hasty.sender.has_timed_out());
}

/// Data for a socket that its program has closed: the connection is reset (`TCPAbortOnData` in `tcp_rcv_state_process`).
#[test]
fn data_for_a_closed_socket_reset_the_connection() {
    for is_acknowledged in [false, true] {
        let mut pair = idle(host());
        pair.receiver.close(pair.now);
        if is_acknowledged {
            pair.transmit();
            pair = pair.run(Time::from_secs(2));
        }
        pair.sender.write(pair.now, 10);
        let data =
            std::iter::from_fn(|| pair.sender.poll_transmit()).find(|it| it.len > 0).unwrap();
        pair.receiver.on_packet(pair.now, &data);
        let sent: Vec<_> = std::iter::from_fn(|| pair.receiver.poll_transmit()).collect();
        assert!(sent.last().is_some_and(|last| last.flags.has(Flags::RST)), "{sent:?}");
        assert!(!pair.receiver.is_established());
    }
}

/// One that has shut down its own direction alone still reads.
#[test]
fn data_for_a_socket_that_sends_no_more_are_taken() {
    let mut pair = idle(host());
    pair.receiver.shut_down(pair.now);
    pair.transmit();
    pair = pair.run(Time::from_secs(2));
    pair.sender.write(pair.now, 10);
    pair.transmit();
    let pair = pair.run(Time::from_secs(3));
    assert_eq!(Socket::received(&pair.receiver), 10);
}
