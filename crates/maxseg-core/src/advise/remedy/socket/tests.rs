//! The sentence and the commands of running connections.

use super::*;
use crate::diagnose::diagnose_socket;
use crate::evidence::{Bin, RateQuartiles, RateSpread, SocketState};
use crate::units::Time;

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
    let mut evidence =
        SocketEvidence { bin, received_bytes: 0, is_since_start: false, spread: None, state };
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
    let window = Chain { effective: Bytes::new(8760), links: Vec::new(), unexplained: None };
    socket_verdict(&SocketCase {
        evidence,
        diagnosis: &diagnose_socket(evidence),
        local: ends[0].parse().unwrap(),
        remote: ends[1].parse().unwrap(),
        pid: Some(7),
        netns: None,
        window: &window,
        is_send_buffer_set: None,
        is_receive_buffer_set,
        is_held_by_route: held,
    })
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
        evidence.spread = Some(RateSpread { rtt_median, rates: Some(rates) });
    });
    let signs = ": it delivers 7.90 Mbit/s to 8.20 Mbit/s for most of the time, while the congestion window is 12 to 18 segments.";
    assert!(steady.ends_with(signs), "{steady}");
}

#[test]
fn sentences_say_what_was_seen() {
    let said =
        |change: &dyn Fn(&mut SocketEvidence)| verdict(&evidence(change), false, V4).sentence;
    let earlier = |e: &mut SocketEvidence| e.state.ever_retransmitted = 5;
    assert!(
        said(&earlier).ends_with("none in this time, but 5 segments of it were sent again before.")
    );
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
