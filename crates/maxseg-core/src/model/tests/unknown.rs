//! What the formulas do not know is none, never zero.

use super::super::*;
use crate::engine::Unwatched;
use crate::outcome::LimitedBy;
use crate::sim::Sim;

fn run(engine: &mut dyn Engine, text: &str) -> Outcome {
    let scenario =
        Scenario::from_toml("test", text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    engine.run(&scenario, &mut Unwatched).unwrap()
}

fn model(text: &str) -> Outcome {
    run(&mut Model, text)
}

const HOP: &str = "hop = [{ rate = \"10 Mbit/s\", delay = \"10 ms\"";

#[test]
fn what_a_queue_refuses_is_not_known() {
    for (queue, settings, known) in [
        // More than path and queue hold; BBR keeps less in flight.
        ("100 packets", "", None),
        ("100 packets", "sender.congestion = \"reno\"", None),
        ("100 packets", "sender.congestion = \"bbr\"", Some(0.0)),
        ("5 packets", "sender.congestion = \"reno\"", None),
        ("10000 packets", "", Some(0.0)),
        ("100 packets", "receiver.window = \"64 KiB\"", Some(0.0)),
        // Its bursts have no room.
        ("5 packets", "receiver.window = \"20 KiB\"", None),
    ] {
        let text = format!("{HOP}, queue = \"{queue}\" }}]\nuntil.time = \"5 s\"\n{settings}");
        assert_eq!(model(&text).segment_loss, known, "{text}");
    }
    let early = format!(
        "{HOP}, queue = {{ limit = \"1000 packets\", discipline = \"codel\" }} }}]\nreceiver.window = \"64 KiB\""
    );
    assert_eq!(model(&early).segment_loss, None);
}

/// Where errors bound the window, it overflows nothing.
#[test]
fn what_errors_lose_is_known() {
    let text = "hop = [{ rate = \"100 Mbit/s\", delay = \"40 ms\", queue = \"1000 packets\", errors = { model = \"uniform\", rate = 0.01 } }]";
    let loss = model(text).segment_loss;
    assert!(loss.is_some_and(|loss| (loss - 0.01).abs() < 1e-12), "{loss:?}");
}

#[test]
fn packets_of_others_are_refused_beside_a_flow_that_overflows_the_queue() {
    let text = |window: &str| {
        format!(
            "{HOP}, queue = \"100 packets\" }}]\nreceiver.window = \"{window}\"\n\
             flow = [{{ kind = \"bulk\" }}, {{ kind = \"cbr\", rate = \"100 kbit/s\", size = 500 }}, {{ kind = \"ping\" }},\n\
             {{ kind = \"cbr\", rate = \"100 kbit/s\", size = 500, from = \"receiver\" }}]"
        )
    };
    let losses = |window| -> Vec<Option<f64>> {
        model(&text(window)).flows.iter().map(|flow| flow.segment_loss).collect()
    };
    assert_eq!(losses("4 MiB"), [None, None, None, Some(0.0)]);
    assert_eq!(losses("64 KiB"), [Some(0.0); 4]);
}

/// A link on which everything is lost is idle, and nobody learns the peer's segment size.
#[test]
fn nothing_arrives() {
    for stack in ["linux", "rfc"] {
        let text = format!(
            "{HOP}, errors = {{ model = \"uniform\", rate = 1 }} }}]\nuntil.time = \"5 s\"\n\
             sender.stack = \"{stack}\"\nreceiver.stack = \"{stack}\""
        );
        let by_formula = model(&text);
        assert_eq!(by_formula.limited_by, Some(LimitedBy::Rto));
        assert_eq!(by_formula.formula.as_deref(), Some("nothing-arrives"));
        assert_eq!(by_formula.queue_mean_s, Some(0.0));
        let caveats = Model.caveats(&Scenario::from_toml("test", &text).unwrap());
        assert!(caveats.iter().all(|it| it.code != "self-induced-loss"), "{caveats:?}");
        for outcome in [by_formula, run(&mut Sim, &text)] {
            assert_eq!(outcome.payload_bytes, Some(0), "{outcome:?}");
            assert_eq!(outcome.limited_by, Some(LimitedBy::Rto), "{outcome:?}");
            assert_eq!(outcome.mss_used_bytes, None, "{outcome:?}");
            assert_eq!((outcome.rtt_min_s, outcome.rtt_mean_s), (None, None), "{outcome:?}");
        }
        let requests = format!(
            "{text}\nflow = [{{ kind = \"request\", request = \"200 B\", reply = \"2000 B\" }}]"
        );
        for outcome in [model(&requests), run(&mut Sim, &requests)] {
            assert_eq!((outcome.requests, outcome.mss_used_bytes), (Some(0), None), "{outcome:?}");
        }
    }
    // A black hole lets the handshake through.
    let hole = "hop = [{ rate = \"10 Mbit/s\", delay = \"10 ms\" }, { rate = \"10 Mbit/s\", delay = \"10 ms\", mtu = 1000, icmp = \"drop\" }, { rate = \"10 Mbit/s\", delay = \"10 ms\" }]\n\
                until.time = \"5 s\"\nsender.mtu_probing = false";
    for outcome in [model(hole), run(&mut Sim, hole)] {
        assert_eq!(outcome.payload_bytes, Some(0), "{outcome:?}");
        assert_eq!(outcome.limited_by, Some(LimitedBy::Rto), "{outcome:?}");
        assert_eq!(outcome.mss_used_bytes, Some(1448), "{outcome:?}");
    }
}

/// `net.ipv4.tcp_min_snd_mss`: 48 bytes, of which options take 12.
#[test]
fn linux_sends_no_segments_below_its_floor() {
    for (option, stamps, mss) in [(20, true, 36), (1, true, 36), (20, false, 48), (100, true, 88)] {
        let text = format!(
            "{HOP} }}]\nuntil.time = \"2 s\"\nsender.timestamps = {stamps}\nreceiver.mss_option = {option}"
        );
        for outcome in [model(&text), run(&mut Sim, &text)] {
            assert_eq!(outcome.mss_used_bytes, Some(mss), "{text}: {outcome:?}");
        }
    }
    // Others have no floor.
    let text = format!(
        "{HOP} }}]\nuntil.time = \"2 s\"\nsender.stack = \"rfc\"\nreceiver = {{ stack = \"rfc\", mss_option = 20 }}"
    );
    assert_eq!(model(&text).mss_used_bytes, Some(20));
}

/// What bytes or a count of requests end, ends for all: the simulator, 2.06 MB in 1.74 s.
#[test]
fn flows_end_with_those_that_end_the_run() {
    let text = |flows: &str| {
        format!(
            "hop = [{{ rate = \"10 Mbit/s\", delay = \"5 ms\" }}]\nuntil = {{ time = \"10 s\"{flows}"
        )
    };
    let cbr = "{ kind = \"cbr\", rate = \"1 Mbit/s\", size = 1000 }, { kind = \"ping\", start = \"5 s\" }";
    let by_bytes = text(&format!(", bytes = \"2 MB\" }}\nflow = [{{ kind = \"bulk\" }}, {cbr}]"));
    let by_count = text(&format!(
        " }}\nflow = [{{ kind = \"request\", request = \"200 B\", reply = \"20 kB\", count = 30 }}, {cbr}]"
    ));
    for text in [by_bytes, by_count] {
        let (model, sim) = (model(&text), run(&mut Sim, &text));
        let all = |outcome: &Outcome| outcome.payload_bytes.unwrap() as f64;
        assert!((all(&model) / all(&sim) - 1.0).abs() < 0.1, "{} {}", all(&model), all(&sim));
        let end = |outcome: &Outcome| outcome.elapsed_s.unwrap();
        assert!((end(&model) / end(&sim) - 1.0).abs() < 0.15, "{} {}", end(&model), end(&sim));
        assert_eq!(model.flows[2].ping_mean_s, None);
    }
    // A bulk flow without a limit has no end.
    let endless = text(
        " }\nflow = [{ kind = \"bulk\" }, { kind = \"request\", request = \"200 B\", reply = \"20 kB\", count = 3 }]",
    );
    assert_eq!(model(&endless).elapsed_s, Some(10.0));
}

/// One after the other they have no more than the link in all: the simulator, 2.1 Mbit/s each in a run of 3.8 s.
#[test]
fn flows_that_end_at_their_own_time_have_the_mean_of_the_run() {
    let text = format!(
        "{HOP} }}]\nuntil = {{ time = \"10 s\", bytes = \"1 MB\" }}\nflow = [{{ kind = \"bulk\" }}, {{ kind = \"bulk\", start = \"3 s\" }}]"
    );
    let outcome = model(&text);
    let end = outcome.elapsed_s.unwrap();
    assert!((3.8..5.0).contains(&end), "{end}");
    for flow in &outcome.flows {
        assert_eq!((flow.elapsed_s, flow.payload_bytes), (Some(end), Some(1_000_000)));
        assert!((flow.goodput_bps.unwrap() * end / 8e6 - 1.0).abs() < 1e-6, "{flow:?}");
    }
    assert!((outcome.goodput_bps.unwrap() * end / 16e6 - 1.0).abs() < 1e-6, "{outcome:?}");
}

/// A datagram of which a queue refuses a fragment each time does not arrive, nor does such an echo.
#[test]
fn fragments_that_find_no_room_are_lost() {
    let text = |queue: &str, size: u32| {
        format!(
            "hop = [{{ rate = \"300 Mbit/s\", delay = \"1 ms\", mtu = 65535 }}, {{ rate = \"200 Mbit/s\", delay = \"1 ms\", queue = \"{queue}\" }}]\n\
             sender.df = false\nreceiver.df = false\nuntil.time = \"2 s\"\n\
             flow = [{{ kind = \"cbr\", rate = \"2 Mbit/s\", size = {size} }}, {{ kind = \"ping\", size = {size}, start = \"1 ms\" }}]"
        )
    };
    // Five fragments: one is on the wire.
    for (queue, size, lost) in [
        ("3 packets", 7000, 1.0),
        ("4 packets", 7000, 0.0),
        ("4500 B", 7000, 1.0),
        ("100 packets", 65000, 0.0),
    ] {
        let text = text(queue, size);
        let (model, sim) = (model(&text), run(&mut Sim, &text));
        let of = |outcome: &Outcome| outcome.flows[0].segment_loss;
        assert_eq!((of(&model), of(&sim)), (Some(lost), Some(lost)), "{queue} {size}");
        let echoes = |outcome: &Outcome| outcome.flows[1].ping_mean_s.is_some();
        assert_eq!(echoes(&model), lost < 1.0, "{queue} {size}");
    }
}
