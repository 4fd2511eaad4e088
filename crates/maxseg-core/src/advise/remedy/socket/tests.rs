//! The sentence and the commands of running connections.

use super::*;
use crate::diagnose::diagnose_socket;
use crate::evidence::{Bin, BufferFill, Closing, RateQuartiles, RateSpread, SocketState};
use crate::units::Time;
use crate::why::Link;

fn evidence(change: impl FnOnce(&mut SocketEvidence)) -> SocketEvidence {
    let bin = Bin {
        duration: Time::from_secs(1),
        acked_bytes: 1_000_000,
        sent_bytes: 1_000_000,
        segments: 700,
        ..Bin::default()
    };
    let state = SocketState {
        mss_bytes: 1448,
        cwnd_segments: 10,
        window_bytes: Some(65_536),
        rtt: Time::from_millis(20),
        min_rtt: Some(Time::from_millis(20)),
        ..SocketState::default()
    };
    let mut evidence = SocketEvidence { bin, state, ..SocketEvidence::default() };
    change(&mut evidence);
    evidence
}

fn verdict(evidence: &SocketEvidence, held: bool, ends: [&str; 2]) -> SocketVerdict {
    verdict_with(evidence, held, ends, None)
}

fn verdict_with(
    evidence: &SocketEvidence,
    held: bool,
    ends: [&str; 2],
    is_receive_buffer_set: Option<bool>,
) -> SocketVerdict {
    verdict_of(evidence, |case| {
        case.local = ends[0].parse().unwrap();
        case.remote = ends[1].parse().unwrap();
        case.is_receive_buffer_set = is_receive_buffer_set;
        case.is_held_by_route = held;
    })
}

fn verdict_of(
    evidence: &SocketEvidence,
    change: impl FnOnce(&mut SocketCase<'_>),
) -> SocketVerdict {
    verdict_where(evidence, Source::SocketBuffer, change)
}

/// The verdict where this bound of the window holds.
fn verdict_where(
    evidence: &SocketEvidence,
    source: Source,
    change: impl FnOnce(&mut SocketCase<'_>),
) -> SocketVerdict {
    let buffer = Link {
        source,
        value: None,
        allows: None,
        is_least: false,
        wins: true,
        one_of: Vec::new(),
        note: None,
    };
    let window = Chain { effective: Bytes::new(8760), links: vec![buffer], unexplained: None };
    let diagnosis = diagnose_socket(evidence);
    let mut case = SocketCase {
        evidence,
        diagnosis: &diagnosis,
        local: V4[0].parse().unwrap(),
        remote: V4[1].parse().unwrap(),
        pid: Some(7),
        is_unaccepted: false,
        netns: None,
        window: &window,
        is_send_buffer_set: None,
        is_receive_buffer_set: None,
        is_held_by_route: false,
    };
    change(&mut case);
    socket_verdict(&case)
}

const V4: [&str; 2] = ["10.0.0.1:40000", "10.0.0.2:443"];

#[test]
fn a_receive_window_is_examined_at_the_peer() {
    let evidence = evidence(|evidence| evidence.bin.rwnd_limited = Time::from_millis(900));
    let of = |ends| verdict(&evidence, false, ends);
    let found = of(V4);
    assert_eq!(
        found.sentence,
        "The receive window of 10.0.0.2 limits this connection for 90% of the last 1.00 s: it is 64.0 KiB now."
    );
    let remedy = found.remedy.unwrap();
    assert_eq!(remedy.commands[0].line, "maxseg explain 10.0.0.2:443-10.0.0.1:40000");
    assert_eq!(remedy.commands[0].on, "10.0.0.2");
    let six = of(["[2001:db8::1]:40000", "[2001:db8::2]:443"]).remedy.unwrap();
    assert_eq!(six.commands[0].line, "maxseg explain '[2001:db8::2]:443-[2001:db8::1]:40000'");
    let mapped = of(["[::ffff:10.0.0.1]:40000", "[::ffff:10.0.0.2]:443"]).remedy.unwrap();
    assert_eq!(mapped.commands[0].line, "maxseg explain 10.0.0.2:443-10.0.0.1:40000");
}

/// A window of 16 segments beside two CUBIC transfers through 30 Mbit/s (Linux 6.18).
#[test]
fn a_window_in_the_queue_of_others_is_not_left_without_help() {
    let evidence = evidence(|evidence| {
        evidence.bin.acked_bytes = 390_000;
        evidence.bin.in_flight_max = 23_168;
        evidence.bin.rwnd_limited = Time::from_millis(998);
        evidence.state.window_bytes = Some(23_168);
        (evidence.state.rtt, evidence.state.min_rtt) =
            (Time::from_millis(59), Some(Time::from_millis(8)));
        evidence.beside_bps = 25e6;
    });
    let found = verdict(&evidence, false, V4);
    assert!(found.sentence.starts_with("The receive window of 10.0.0.2 limits"), "{found:?}");
    let remedy = found.remedy.unwrap();
    assert!(remedy.note.iter().any(|note| note.contains("takes its share")), "{remedy:?}");
}

/// A firewall of this host that drops what it sends, as the socket shows it: no window of the peer is to be changed.
#[test]
fn a_host_that_cannot_send_is_examined_itself() {
    let evidence = evidence(|evidence| {
        (evidence.bin.acked_bytes, evidence.bin.sent_bytes) = (0, 0);
        evidence.state.window_probes = 4;
        evidence.state.unsent_bytes = Some(1_000);
        evidence.state.window_bytes = Some(70_656);
    });
    let found = verdict(&evidence, false, V4);
    assert_eq!(
        found.sentence,
        "This host cannot send to 10.0.0.2: the kernel has made 4 attempts in vain, though the receive window there has room for \
         69.0 KiB."
    );
    let remedy = found.remedy.unwrap();
    assert_eq!(remedy.commands[0].line, "ip route get 10.0.0.2");
    assert!(remedy.commands.iter().all(|command| command.on == "this host"), "{remedy:?}");
}

/// What is not read fills a buffer of three segments at once, however fast the program reads.
#[test]
fn a_small_buffer_that_the_program_has_set_is_named_before_the_program() {
    let mut receiving = evidence(|evidence| {
        (evidence.bin.acked_bytes, evidence.bin.sent_bytes) = (0, 0);
        evidence.received_bytes = 1_000_000;
        evidence.state.unread_bytes = 2896;
        evidence.state.receive_buffer = Some(BufferFill { used: 4000, limit: 4608 });
    });
    let set = verdict_with(&receiving, false, V4, Some(true));
    assert!(set.sentence.contains("has set it (SO_RCVBUF)"), "{set:?}");
    let line = "maxseg tune apply --connection 10.0.0.1:40000-10.0.0.2:443 --set rcvbuf=auto";
    assert_eq!(set.remedy.unwrap().commands[0].line, line);
    let autotuned = verdict_with(&receiving, false, V4, Some(false));
    assert!(autotuned.sentence.starts_with("The process here"), "{autotuned:?}");
    receiving.state.unread_bytes = 0;
    let unknown = verdict_with(&receiving, false, V4, Some(true)).remedy.unwrap();
    assert_eq!(unknown.commands[1].line, line);
    assert!(unknown.commands[1].only_where.as_ref().unwrap().contains("SO_RCVBUF"));
}

/// By `tune`, which keeps every attribute of the route: `ip route replace` drops those that it does not name.
#[test]
fn the_mtu_of_a_black_hole_is_set_by_both_routes() {
    let lost = evidence(|evidence| {
        evidence.state.timeouts_in_a_row = 3;
        (evidence.state.unacked_segments, evidence.state.sacked_segments) = (4, 1);
        evidence.bin.in_flight_max = 3 * 1448 + 500;
    });
    let note = verdict(&lost, false, V4).remedy.unwrap().note.unwrap();
    for line in
        ["`maxseg tune apply --set route.10.0.0.2/32.mtu=N` here", "route.10.0.0.1/32.mtu=N"]
    {
        assert!(note.contains(line), "{note}");
    }
    let there = verdict_of(&lost, |case| case.netns = Some("pid:7")).remedy.unwrap().note.unwrap();
    assert!(there.contains("`nsenter -t 7 -n sh -c 'maxseg tune apply"), "{there}");
}

#[test]
fn a_command_enters_the_namespace_of_its_connection() {
    assert_eq!(within("pid:7", "sysctl x"), "nsenter -t 7 -n sh -c 'sysctl x'");
    let line = within("web", "ip route | sed 's/ window//'");
    assert_eq!(line, r"ip netns exec 'web' sh -c 'ip route | sed '\''s/ window//'\'''");
}

#[test]
fn a_send_buffer_is_raised_and_an_application_examined() {
    let buffer = evidence(|evidence| {
        evidence.bin.sndbuf_limited = Time::from_millis(1000);
        evidence.state.send_buffer = Some(BufferFill { used: 80_000, limit: 87_040 });
    });
    let found = verdict(&buffer, false, V4);
    assert!(found.sentence.starts_with("The send buffer of this host"), "{found:?}");
    assert!(found.remedy.unwrap().change.contains("512 KiB"));
    let idle = evidence(|evidence| evidence.bin.idle = Time::from_millis(1000));
    let found = verdict(&idle, false, V4);
    assert!(found.sentence.contains("no data to send for 100%"), "{found:?}");
    assert_eq!(found.remedy.unwrap().commands[0].line, "top -b -H -n 1 -p 7");
}

#[test]
fn a_route_that_holds_the_window_is_told_where_data_arrives() {
    let arrives = evidence(|evidence| {
        (evidence.received_bytes, evidence.bin.acked_bytes) = (1_000_000, 0);
        evidence.bin.sent_bytes = 0;
    });
    let found = verdict(&arrives, true, V4);
    assert!(found.sentence.starts_with("The route's `window` keeps"), "{found:?}");
    let remedy = found.remedy.unwrap();
    assert!(remedy.commands.iter().any(|command| command.line.contains("; s/ window ")));
    let found = verdict(&arrives, false, V4);
    assert!(found.sentence.starts_with("The limit of this connection is unknown: the peer"));
    assert!(found.remedy.unwrap().change.starts_with("look at the sender"));
}

#[test]
fn a_full_link_is_shown_by_its_queue_or_by_its_rate() {
    let sentence = |change: &dyn Fn(&mut SocketEvidence)| {
        let evidence = evidence(|evidence| {
            evidence.bin.losses = 3;
            change(evidence);
        });
        verdict(&evidence, false, V4).sentence
    };
    let queued = sentence(&|evidence| evidence.state.rtt = Time::from_millis(60));
    assert!(
        queued.ends_with(": the round trip is 60.0 ms, and 20.0 ms without a queue."),
        "{queued}"
    );
    let steady = sentence(&|evidence| {
        let rates = RateQuartiles { delivery_bps: [7.9e6, 8.2e6], cwnd_segments: [12.0, 18.0] };
        let rtt_median = Time::from_millis(23);
        evidence.spread =
            Some(RateSpread { rtt_median, rates: Some(rates), ..RateSpread::default() });
    });
    let signs = ": it delivers 7.90 Mbit/s to 8.20 Mbit/s for most of the time, while the congestion window is 12 to 18 segments.";
    assert!(steady.ends_with(signs), "{steady}");
}

#[test]
fn sentences_say_what_was_seen() {
    let said =
        |change: &dyn Fn(&mut SocketEvidence)| verdict(&evidence(change), false, V4).sentence;
    let now = |e: &mut SocketEvidence| e.bin.losses = 1;
    assert!(said(&now).ends_with(": 1 of 700 segments was sent again."));
    let once = |e: &mut SocketEvidence| e.state.cwnd_before_segments = None;
    assert!(said(&once).ends_with("is 10 segments, and no loss has ended it yet."));
    let grown = |e: &mut SocketEvidence| e.state.cwnd_before_segments = Some(5);
    assert!(said(&grown).ends_with("is 10 segments, and it grows."));
    for (timeouts, end) in
        [(1, "1 timeout without an answer."), (3, "3 timeouts in a row without an answer.")]
    {
        let silent = |e: &mut SocketEvidence| e.state.timeouts_in_a_row = timeouts;
        assert!(said(&silent).ends_with(end), "{}", said(&silent));
    }
}

/// A second in which nothing moves.
fn still(change: impl FnOnce(&mut SocketEvidence)) -> SocketEvidence {
    evidence(|still| {
        still.bin =
            Bin { duration: Time::from_secs(1), idle: Time::from_secs(1), ..Bin::default() };
        still.state.unsent_bytes = Some(0);
        change(still);
    })
}

#[test]
fn whoever_does_not_read_is_named() {
    let unread = still(|unread| {
        unread.state.unread_bytes = 128_504;
        unread.state.receive_buffer = Some(BufferFill { used: 129_336, limit: 131_072 });
        unread.state.advertised_window_bytes = Some(0);
    });
    let read = verdict_of(&unread, |_| ());
    assert_eq!(
        read.sentence,
        "This connection is limited by process 7, which does not read: 128504 bytes wait in a receive buffer that is 99% full, and \
         nothing has arrived for 1.00 s."
    );
    assert!(read.remedy.unwrap().change.starts_with("examine process 7: it does not read"));
    let nobody = verdict_of(&unread, |case| {
        case.pid = None;
        case.is_unaccepted = true;
    });
    assert!(nobody.sentence.starts_with("Nobody has accepted this connection"), "{nobody:?}");
    assert_eq!(nobody.remedy.unwrap().commands[0].line, "ss -ltnp 'sport = :40000'");
}

#[test]
fn a_state_without_a_limit_is_told_instead_of_one() {
    let closed = still(|closed| closed.state.closing = Some(Closing::CloseWait));
    let found = verdict_of(&closed, |_| ());
    assert_eq!(
        found.sentence,
        "This connection is not established any more: the peer has closed it, and process 7 has not (CLOSE-WAIT)."
    );
    assert!(found.remedy.unwrap().change.starts_with("let process 7 close it"));
    let waits = still(|waits| waits.state.closing = Some(Closing::FinWait2));
    let found = verdict_of(&waits, |case| case.pid = None);
    assert!(found.sentence.contains("this host has closed it, and the peer has not"), "{found:?}");
    assert_eq!(found.remedy, None);
    let opening = still(|opening| {
        opening.state.is_opening = true;
        opening.state.timeouts_in_a_row = 2;
    });
    let found = verdict_of(&opening, |_| ());
    let says = "This connection is not established: the handshake is not complete: its segment was sent again 2 times without an answer.";
    assert_eq!(found.sentence, says);
    let remedy = found.remedy.unwrap();
    assert_eq!(remedy.commands[0].line, "maxseg path 10.0.0.2:443");
}

/// `tcp_rmem` of 4096 60000 120000 over 40 ms: the window of 73 600 bytes is full in each round trip.
#[test]
fn a_window_that_tcp_rmem_holds_is_told_where_it_is_held() {
    let held = evidence(|held| {
        held.bin = Bin { duration: Time::from_secs(1), ..Bin::default() };
        held.received_bytes = 1_740_000;
        held.state.advertised_window_bytes = Some(73_600);
        held.state.receive_buffer_is_set = Some(false);
        held.state.receive_window_grows = Some(false);
        held.state.receive_rtt = Some(Time::from_millis(40));
        held.state.min_rtt = Some(Time::from_millis(40));
    });
    let found = verdict_where(&held, Source::TcpRmem, |_| ());
    assert!(found.sentence.starts_with("The receive window of this host, 8760 bytes, limits"));
    let remedy = found.remedy.unwrap();
    assert!(remedy.change.contains("the third number of tcp_rmem"), "{remedy:?}");
    assert!(remedy.commands[1].line.contains("sysctl -w net.ipv4.tcp_rmem"), "{remedy:?}");
    let by_scale = verdict_where(&held, Source::WindowScale, |_| ()).remedy.unwrap();
    assert!(by_scale.change.starts_with("widen the receive window"), "{by_scale:?}");
}

/// `SO_RCVBUF` of 8192 over 40 ms.
#[test]
fn a_window_that_so_rcvbuf_keeps_small_is_freed() {
    let small = evidence(|small| {
        small.bin = Bin { duration: Time::from_secs(1), ..Bin::default() };
        small.received_bytes = 205_000;
        small.state.advertised_window_bytes = Some(8_688);
        small.state.receive_buffer_is_set = Some(true);
        small.state.receive_buffer = Some(BufferFill { used: 4000, limit: 16_384 });
        small.state.receive_rtt = Some(Time::from_millis(40));
        small.state.min_rtt = Some(Time::from_millis(40));
    });
    let found = verdict_of(&small, |_| ());
    assert_eq!(
        found.sentence,
        "SO_RCVBUF keeps the receive window of this host at 8760 bytes, which limits this connection for 100% of the last 1.00 s: \
         the peer fills it in each round trip of 40.0 ms."
    );
    assert!(found.remedy.as_ref().unwrap().commands[0].line.ends_with("--set rcvbuf=auto"));
    // Between two looks the window may have grown to less than the buffer gives.
    let growing = |case: &mut SocketCase<'_>| case.is_receive_buffer_set = Some(true);
    assert_eq!(verdict_where(&small, Source::Growth, growing).sentence, found.sentence);
    let clamped = verdict_where(&small, Source::WindowClamp, |_| ());
    assert!(!clamped.sentence.contains("SO_RCVBUF"), "{clamped:?}");
    let by_route = verdict_of(&small, |case| case.is_held_by_route = true);
    assert!(by_route.sentence.starts_with("The route's `window` keeps"), "{by_route:?}");
}

#[test]
fn a_send_buffer_that_was_seen_full_is_never_called_no_setting() {
    let seen = |change: &dyn Fn(&mut SocketEvidence)| {
        let evidence = evidence(|evidence| {
            evidence.state.rtt = Time::from_millis(45);
            evidence.state.send_buffer_grows = Some(false);
            let spread = RateSpread { rtt_median: Time::from_millis(45), ..RateSpread::default() };
            evidence.spread = Some(RateSpread { send_buffer_share: 0.5, ..spread });
            change(evidence);
        });
        let found = verdict_of(&evidence, |case| case.is_send_buffer_set = Some(true));
        (diagnose_socket(&evidence).limited_by, found.remedy.unwrap())
    };
    let path = |e: &mut SocketEvidence, bps| {
        e.spread = e.spread.map(|spread| RateSpread { path_bps: Some(bps), ..spread });
    };
    let line = "maxseg tune apply --connection 10.0.0.1:40000-10.0.0.2:443 --set sndbuf=auto";
    let (limit, remedy) = seen(&|e| path(e, 16e6));
    assert_eq!((limit, remedy.commands[1].line.as_str()), (LimitedBy::SendBuffer, line));
    let (limit, remedy) = seen(&|e| path(e, 8.5e6));
    assert_eq!((limit, remedy.commands[1].line.as_str()), (LimitedBy::Bandwidth, line));
    assert!(remedy.commands[1].only_where.is_some() && !remedy.change.contains("no TCP setting"));
    let (limit, remedy) = seen(&|e| {
        path(e, 16e6);
        e.bin.losses = 7;
        e.spread = e.spread.map(|spread| RateSpread { send_buffer_share: 0.4, ..spread });
    });
    assert_eq!((limit, remedy.commands[1].line.as_str()), (LimitedBy::Unknown, line));
}
