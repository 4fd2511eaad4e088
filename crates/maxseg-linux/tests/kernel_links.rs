//! The lab over the kernel's own links, as far as this kernel has them: tbf alone makes a link without delay and
//! errors. `cargo xtask lab-qemu` does the rest, on a kernel with netem.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "tests")]
#![expect(clippy::print_stdout, reason = "what is skipped is said")]

mod rights;

use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use maxseg_core::engine::{Engine, EngineError, Unwatched};
use maxseg_core::outcome::{LabLink, Outcome};
use maxseg_core::scenario::Scenario;
use maxseg_linux::lab::netem::TcError;
use maxseg_linux::lab::{Lab, LabError};
use maxseg_testkit::is_its_turn;

use rights::has_rights;

/// A link that tbf makes.
const BUCKET: &str = "rate = \"20 Mbit/s\"\ndelay = \"0 ms\"\nqueue = \"20000 B\"\n";
const BACKEND: &str = "[lab]\nbackend = \"netem\"\n";

fn scenario(text: &str) -> Scenario {
    Scenario::from_toml_over("rfc", "test", text).unwrap()
}

/// Over the kernel's links; `None`, aloud, where this user or this kernel cannot have them at all.
fn over_buckets(text: &str) -> Option<Outcome> {
    /// One at a time: they share the machine's cores.
    static ALONE: Mutex<()> = Mutex::new(());
    if !has_rights() {
        return None;
    }
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    match Lab::default().run(&scenario(text), &mut Unwatched) {
        Ok(outcome) => Some(outcome),
        Err(error) if is_missing(&error) => {
            println!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Whether `tc`, or a qdisc of the kernel, is not there.
fn is_missing(error: &EngineError) -> bool {
    let EngineError::Unable { source, .. } = error else { return false };
    matches!(
        source.downcast_ref(),
        Some(
            LabError::NoTc(_)
                | LabError::Tc { error: TcError::UnknownKind, .. }
                | LabError::Netem(_)
        )
    )
}

fn links(outcome: &Outcome) -> &[LabLink] {
    &outcome.lab.as_deref().unwrap().links
}

#[test]
fn a_bucket_keeps_its_rate_and_its_drops_are_counted() {
    if !is_its_turn(0) {
        return;
    }
    for (ip, headers) in [(4, 40), (6, 60)] {
        let text = format!("ip = {ip}\n[[hop]]\n{BUCKET}[until]\nbytes = \"5 MB\"\n{BACKEND}");
        let Some(outcome) = over_buckets(&text) else { return };
        let [there, back] = links(&outcome) else { panic!("two links") };
        assert_eq!(outcome.mss_used_bytes, Some(1500 - headers));

        // Never more than the rate, beyond a bucket of 1 ms in 2 s; less by what it lost while timers were late, by the time until the end of the last byte is seen, and by half where the machine is busy with other tests:
        // nothing tells how late these links are.
        let share = outcome.goodput_bps.unwrap() / (20e6 * (1500 - headers) as f64 / 1500.0);
        assert!((0.5..1.001).contains(&share), "IPv{ip}: {share} of what is possible");

        // A queue of 13 packets and a window of 4 MiB: it overflows, and whatever was refused was sent again.
        assert!(there.refused > 0, "{there:?}");
        assert!(outcome.retransmitted_packets.unwrap() >= there.refused, "{outcome:?}");
        assert_eq!((there.damaged, back.damaged, back.refused), (0, 0, 0));
        // Handshake and all, but no super-packet; a few may come while counters are read.
        let sent = outcome.data_packets.unwrap();
        assert!(there.packets.abs_diff(sent) <= 50, "{there:?}, {sent} sent");
        assert!(there.super_packets.abs_diff(there.packets) <= 50, "{there:?}");
        assert!(there.bytes <= 1500 * there.super_packets, "{there:?}");
        // What nobody saw is unknown.
        assert_eq!(
            (outcome.packets, outcome.segment_loss, outcome.queue_mean_s),
            (None, None, None)
        );
        let proof = outcome.lab.as_deref().unwrap();
        assert_eq!((proof.is_valid(), &proof.lateness, proof.relay_cpu_s), (true, &None, None));
    }
}

#[test]
fn super_packets_stay_whole_as_netem() {
    let wide = BUCKET.replace("20000 B", "400000 B");
    let text = format!("[[hop]]\n{wide}[until]\ntime = \"1 s\"\n{BACKEND}as_netem = true\n");
    let Some(outcome) = over_buckets(&text) else { return };
    let there = &links(&outcome)[0];
    assert!(there.packets > 2 * there.super_packets, "{there:?}");
}

#[test]
fn routers_between_boxes_know_their_mtu() {
    // The hosts have 1500; only the router knows of 1000, and tells.
    // Queues that hold a window: after news of an MTU, a hole is filled only when `rto.min` is over.
    let deep = BUCKET.replace("20000 B", "8 MB");
    let hop = |mtu: u32| format!("[[hop]]\nmtu = {mtu}\n{deep}");
    let text = format!("{}{}{}[until]\ntime = \"1 s\"\n{BACKEND}", hop(1500), hop(1000), hop(1500));
    let Some(outcome) = over_buckets(&text) else { return };
    assert_eq!(outcome.mss_used_bytes, Some(960));
    assert!(outcome.goodput_bps.unwrap() > 10e6, "{outcome:?}");
}

/// 21 hops take 62 of the 64 of a packet's hop limit; one more would take 65.
#[test]
fn the_longest_path_is_passed_and_a_longer_one_refused() {
    let path = |hops: usize| {
        let mut text = String::new();
        for _ in 0..hops {
            write!(text, "[[hop]]\n{BUCKET}").unwrap();
        }
        let flow = "[[flow]]\nkind = \"ping\"\ninterval = \"50 ms\"\n[until]\ntime = \"1 s\"\n";
        text + flow + BACKEND
    };
    let Some(outcome) = over_buckets(&path(21)) else { return };
    assert!(outcome.ping_mean_s.is_some(), "{outcome:?}");
    let longer = scenario(&path(22));
    let refused = Lab::default().run(&longer, &mut Unwatched).unwrap_err();
    assert!(refused.to_string().contains("22 hops, and the lab takes at most 21"), "{refused}");
}

#[test]
fn netem_is_asked_for_before_the_run() {
    let text = format!(
        "[[hop]]\nrate = \"20 Mbit/s\"\ndelay = \"10 ms\"\n[until]\ntime = \"1 s\"\n{BACKEND}"
    );
    match Lab::default().run(&scenario(&text), &mut Unwatched) {
        Ok(outcome) => assert!(outcome.rtt_min_s.unwrap() >= 0.02, "{outcome:?}"),
        Err(EngineError::Unable { source, hint }) => {
            let kind = source.downcast_ref();
            assert!(matches!(kind, Some(LabError::Netem(_) | LabError::Namespace(_))), "{source}");
            assert!(hint.is_some());
            println!("no netem here: {source}");
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn what_the_kernel_leaves_out_gives_no_numbers() {
    let cases = [
        (
            "errors = { model = \"uniform\", per = \"byte\", rate = 1e-6 }",
            "netem-errors",
            "per byte",
        ),
        ("icmp = \"drop\"", "netem-icmp", "withhold"),
        ("reverse = { rate = \"1 Mbit/s\", mtu = 576 }", "netem-burst", "1500 one way and 576"),
    ];
    for (key, code, reason) in cases {
        let scenario = scenario(&format!("[[hop]]\n{BUCKET}{key}\n{BACKEND}"));
        let outcome = Lab::default().run(&scenario, &mut Unwatched).unwrap();
        assert_eq!(outcome, Outcome::default(), "{key}");
        let caveats = Lab::default().caveats(&scenario);
        let of = |code: &str| caveats.iter().find(|caveat| caveat.code == code).unwrap();
        assert!(of("beyond-the-lab").text.contains(reason), "{caveats:?}");
        assert!(of(code).text.contains("hop."), "{caveats:?}");
    }
}
