//! Several flows on one path, and what else makes a closed form go wrong in silence, against the simulator: goodput, round trips,
//! pings and segment sizes.

use maxseg_core::engine::{Engine, Unwatched};
use maxseg_core::model::Model;
use maxseg_core::scenario::Scenario;
use maxseg_core::sim::Sim;

/// What several flows share, and what a small window, losses and a transfer of its own length make of one: all of an outcome, not
/// its goodput alone.
const SHARED: [Whole; 15] = [
    Whole {
        name: "four bulk flows and a ping",
        text: "hop = [{ rate = \"10 Mbit/s\", delay = \"50 ms\", queue = \"1000 packets\" }]\nreceiver.window = \"64 KiB\"\n\
               flow = [{ kind = \"bulk\" }, { kind = \"bulk\" }, { kind = \"bulk\" }, { kind = \"bulk\" }, { kind = \"ping\" }]",
        stack: "rfc",
        goodput: 1.1,
        delay: 1.3,
    },
    Whole {
        name: "one way back for two",
        text: "[[hop]]\nrate = \"20 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"1000 packets\"\n[hop.reverse]\nrate = \"100 kbit/s\"\n\
               queue = \"1000 packets\"\n[receiver]\nwindow = \"256 KiB\"\n[[flow]]\nkind = \"bulk\"\n[[flow]]\nkind = \"bulk\"",
        stack: "rfc",
        goodput: 1.15,
        delay: 1.5,
    },
    Whole {
        name: "two flows of datagrams",
        text: "hop = [{ rate = \"10 Mbit/s\", delay = \"10 ms\" }]\nuntil.time = \"20 s\"\n\
               flow = [{ kind = \"cbr\", rate = \"8 Mbit/s\", size = 1000 }, { kind = \"cbr\", rate = \"8 Mbit/s\", size = 1000 }]",
        stack: "linux",
        goodput: 1.02,
        delay: 1.1,
    },
    Whole {
        name: "datagrams through one full queue behind another",
        text: "hop = [{ rate = \"2 Mbit/s\", delay = \"1 ms\" }, { rate = \"500 kbit/s\", delay = \"1 ms\", queue = \"20 packets\" }]\n\
               until.time = \"20 s\"\nflow = [{ kind = \"cbr\", rate = \"4 Mbit/s\", size = 1000 }]",
        stack: "linux",
        goodput: 1.02,
        delay: 1.1,
    },
    Whole {
        name: "datagrams that errors thin out before a slow link",
        text: "hop = [{ name = \"a\", rate = \"10 Mbit/s\", delay = \"1 ms\", errors = { model = \"uniform\", rate = 0.5 } }, \
               { name = \"b\", rate = \"1 Mbit/s\", delay = \"1 ms\", queue = \"20 packets\" }]\nuntil.time = \"20 s\"\n\
               flow = [{ kind = \"cbr\", rate = \"1500 kbit/s\", size = 1000 }, { kind = \"cbr\", rate = \"600 kbit/s\", size = 1000 }]",
        stack: "linux",
        goodput: 1.02,
        delay: 1.1,
    },
    Whole {
        name: "a ping beside too many datagrams",
        text: "hop = [{ rate = \"1 Mbit/s\", delay = \"20 ms\" }]\n\
               flow = [{ kind = \"cbr\", rate = \"1200 kbit/s\", size = 1000 }, { kind = \"ping\" }]",
        stack: "linux",
        goodput: 1.02,
        delay: 1.3,
    },
    Whole {
        name: "datagrams that end",
        text: "hop = [{ rate = \"10 Mbit/s\", delay = \"10 ms\", queue = \"1000 packets\" }]\n\
               flow = [{ kind = \"bulk\" }, { kind = \"cbr\", rate = \"9 Mbit/s\", size = 1000, stop = \"1 s\" }]",
        stack: "linux",
        goodput: 1.1,
        delay: 2.0,
    },
    Whole {
        name: "a flow that begins late",
        text: "hop = [{ rate = \"10 Mbit/s\", delay = \"10 ms\", queue = \"1000 packets\" }]\n\
               flow = [{ kind = \"bulk\" }, { kind = \"bulk\", start = \"55 s\" }]",
        stack: "linux",
        goodput: 1.1,
        delay: 2.0,
    },
    Whole {
        name: "datagrams of a slower link before",
        text: "hop = [{ name = \"a\", rate = \"10 Mbit/s\", delay = \"5 ms\" }, { name = \"b\", rate = \"20 Mbit/s\", delay = \"5 ms\", \
               queue = \"1000 packets\" }, { name = \"c\", rate = \"100 Mbit/s\", delay = \"5 ms\" }]\nuntil.time = \"30 s\"\n\
               flow = [{ kind = \"bulk\", hops = [\"b\", \"c\"] }, { kind = \"cbr\", hops = [\"a\", \"b\"], rate = \"8 Mbit/s\", size = 1000 }]",
        stack: "linux",
        goodput: 1.1,
        delay: 2.0,
    },
    Whole {
        name: "four that ask at once",
        text: "hop = [{ rate = \"1 Mbit/s\", delay = \"20 ms\", queue = \"1000 packets\" }]\n\
               flow = [{ kind = \"request\", request = \"200 B\", reply = \"200 KiB\" }, { kind = \"request\", request = \"200 B\", reply = \"200 KiB\" },\
               { kind = \"request\", request = \"200 B\", reply = \"200 KiB\" }, { kind = \"request\", request = \"200 B\", reply = \"200 KiB\" }]",
        stack: "linux",
        goodput: 1.2,
        delay: 1.5,
    },
    Whole {
        name: "a window of little more than a segment",
        text: "hop = [{ rate = \"10 Mbit/s\", delay = \"10 ms\", queue = \"1000 packets\" }]\nreceiver.window = \"1460 B\"\nuntil.time = \"20 s\"",
        stack: "linux",
        goodput: 1.1,
        delay: 1.2,
    },
    Whole {
        name: "a window of two jumbo frames",
        text: "hop = [{ rate = \"100 Mbit/s\", delay = \"1 ms\", mtu = 9000 }]\nreceiver.window = \"16 KiB\"\nuntil.time = \"20 s\"",
        stack: "linux",
        // 16 384 bytes hold two segments and a part of a third, which may go as well.
        goodput: 1.3,
        delay: 1.3,
    },
    Whole {
        name: "losses before a long queue",
        text: "hop = [{ rate = \"2 Mbit/s\", delay = \"1 ms\", queue = \"1000 packets\", errors = { model = \"uniform\", rate = 0.01 } }]\n\
               receiver.window = \"256 KiB\"\nflow = [{ kind = \"bulk\" }, { kind = \"ping\" }]",
        stack: "linux",
        goodput: 1.1,
        delay: 1.5,
    },
    Whole {
        name: "a transfer that ends before the errors do",
        text: "hop = [{ rate = \"100 Mbit/s\", delay = \"25 ms\", queue = \"1000 packets\", errors = [{ at = \"0 s\", model = \"uniform\", rate = 0.03 }, \
               { at = \"60 s\", model = \"none\" }] }]\nuntil.bytes = \"10 MB\"",
        stack: "linux",
        goodput: 1.4,
        delay: 1.3,
    },
    Whole {
        name: "a transfer smaller than the path",
        text: "hop = [{ rate = \"50 Mbit/s\", delay = \"20 ms\", queue = \"500 packets\" }]\nuntil.bytes = \"100 kB\"",
        stack: "linux",
        goodput: 1.1,
        delay: 1.3,
    },
];

/// A scenario, and by what factor at most goodput and delays of the model are off, unless it says that it is outside its range.
struct Whole {
    name: &'static str,
    text: &'static str,
    stack: &'static str,
    goodput: f64,
    delay: f64,
}

#[test]
#[expect(clippy::print_stdout, reason = "the table is what a reader of the test run wants")]
fn what_flows_share_agrees_too() {
    for case in SHARED {
        let scenario = Scenario::from_toml_over(case.stack, case.name, case.text).unwrap();
        let model = Model.run(&scenario, &mut Unwatched).unwrap();
        let sim = Sim.run(&scenario, &mut Unwatched).unwrap();
        let caveats = Model.caveats(&scenario);
        let is_outside = caveats.iter().any(|caveat| caveat.code == "outside-range");
        let numbers = [
            ("goodput", case.goodput, model.goodput_bps, sim.goodput_bps),
            ("rtt", case.delay, model.rtt_mean_s, sim.rtt_mean_s),
            ("ping", case.delay, model.ping_mean_s, sim.ping_mean_s),
        ];
        for (what, most, model, sim) in numbers {
            let Some((model, sim)) = model.zip(sim) else { continue };
            let apart = (model / sim).max(sim / model);
            println!(
                "{:42} {what:8} model {model:12.4} sim {sim:12.4} {apart:.2} {is_outside}",
                case.name
            );
            assert!(is_outside || apart < most, "{}: {what} {apart:.2}, {caveats:?}", case.name);
        }
        assert_eq!(model.mss_used_bytes, sim.mss_used_bytes, "{}", case.name);
        if let [hop] = scenario.path.hops.as_slice() {
            let link = hop.forward.rate.get().max(hop.reverse.rate.get()) as f64;
            let all = model.goodput_bps.unwrap();
            assert!(all <= link, "{}: {all} bit/s of a link of {link}", case.name);
        }
    }
}

/// On a slow link what a packet takes counts, and which acknowledgement waits.
#[test]
fn a_transfer_within_the_first_window_takes_what_its_packets_take() {
    for stack in ["linux", "rfc"] {
        for bytes in [1, 1000, 1348, 3000, 4000, 13_000] {
            let text = format!(
                "hop = [{{ rate = \"130 kbit/s\", delay = \"1 ms\", mtu = 1400, framing = \"ethernet\" }}]\nuntil.bytes = \"{bytes} B\""
            );
            let scenario = Scenario::from_toml_over(stack, "test", &text).unwrap();
            let model = Model.run(&scenario, &mut Unwatched).unwrap();
            let sim = Sim.run(&scenario, &mut Unwatched).unwrap();
            let apart = model.elapsed_s.unwrap() / sim.elapsed_s.unwrap();
            assert!((0.97..1.03).contains(&apart), "{stack}, {bytes} bytes: {apart}");
            assert_eq!(model.mss_used_bytes, sim.mss_used_bytes, "{stack}, {bytes} bytes");
        }
    }
}
