//! The lab's flows: what a scenario asks of them is done, or is said not to be.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "tests")]
#![expect(clippy::print_stdout, reason = "what is skipped is said")]

mod rights;
mod runs;

use maxseg_core::engine::{Engine, Unwatched};
use maxseg_core::outcome::{LimitedBy, Outcome};
use maxseg_core::sim::Sim;
use maxseg_linux::lab::Lab;

use rights::has_rights;
use runs::{alone, lab, quiet, scenario};

fn simulated(text: &str) -> Outcome {
    Sim.run(&scenario(text), &mut Unwatched).unwrap()
}

fn caveats(text: &str) -> String {
    let caveats = Lab::default().caveats(&scenario(text));
    caveats.iter().map(|caveat| format!("{}: {}\n", caveat.code, caveat.text)).collect()
}

const HOP: &str = "[[hop]]\nrate = \"100 Mbit/s\"\ndelay = \"1 ms\"\n";

fn two_hops(ip: u8, mtus: [u32; 2], flow: &str) -> String {
    let [first, second] = mtus.map(|mtu| format!("{HOP}mtu = {mtu}\n"));
    format!("ip = {ip}\n{first}{second}[[flow]]\n{flow}\n[until]\ntime = \"1 s\"\n")
}

#[test]
fn datagrams_above_the_path_mtu_are_lost_as_in_the_simulator() {
    if !has_rights() {
        return;
    }
    let _quiet = quiet();
    let cbr = "kind = \"cbr\"\nsize = 1400\nrate = \"1 Mbit/s\"\nstop = \"500 ms\"";
    let back = format!("{cbr}\nfrom = \"receiver\"");
    for (ip, mtus, flow) in [
        (4, [1500, 1280], cbr),
        (4, [1280, 1500], cbr),
        (4, [1280, 1500], &back),
        (6, [1500, 1280], cbr),
    ] {
        let text = two_hops(ip, mtus, flow);
        let (real, simulated) = (lab(&text), simulated(&text));
        let of =
            |outcome: &Outcome| (outcome.payload_bytes, outcome.segment_loss, outcome.data_packets);
        assert_eq!(of(&simulated).1, Some(1.0), "IPv{ip} {mtus:?}");
        assert_eq!(of(&real), of(&simulated), "IPv{ip} {mtus:?}");
    }
    // Where hops may fragment, all of it arrives.
    let text = format!("{}[sender]\ndf = false\n", two_hops(4, [1500, 1280], cbr));
    let (real, simulated) = (lab(&text), simulated(&text));
    assert_eq!((real.segment_loss, simulated.segment_loss), (Some(0.0), Some(0.0)));
    assert_eq!(real.payload_bytes, simulated.payload_bytes);
}

#[test]
fn echo_requests_above_the_path_mtu_get_no_answer() {
    if !has_rights() {
        return;
    }
    let _quiet = quiet();
    let ping = |size| format!("kind = \"ping\"\nsize = {size}\ninterval = \"50 ms\"");
    for ip in [4, 6] {
        let pings = |size| lab(&two_hops(ip, [1500, 1280], &ping(size)));
        assert_eq!(pings(1400).ping_mean_s, None, "IPv{ip}");
        assert!(pings(1000).ping_mean_s.is_some(), "IPv{ip}");
    }
}

#[test]
fn settings_without_effect_in_the_lab_are_told() {
    let cbr = "[[flow]]\nkind = \"cbr\"\nsize = 1000\nrate = \"1 Mbit/s\"\n";
    let plain = format!("{HOP}{cbr}");
    assert_eq!(caveats(&plain), "");
    let told = caveats(&format!("{plain}header = 40\n"));
    assert!(told.contains("lab-header: `header` of a flow of kind `cbr` is 40"), "{told}");
    assert_eq!(caveats(&format!("{plain}header = 28\n")), "");
    let ping = format!("{HOP}[[flow]]\nkind = \"ping\"\nheader = 40\n");
    assert!(caveats(&ping).contains("of kind `ping` is 40"), "{}", caveats(&ping));
    let told = caveats(&format!("{plain}[sender]\npacket_cost = \"1 ms\"\n"));
    assert_eq!(told, "kernel: keys without effect on this kernel: packet_cost\n");

    let reads = format!("{HOP}[receiver]\nread_rate = \"1 Mbit/s\"\n");
    assert!(!caveats(&reads).contains("beyond-the-lab"));
    let told = caveats(&format!("{reads}[lab]\ntraffic = \"iperf3\"\n"));
    assert!(told.contains("`read_rate`: iperf3 reads as fast as data comes"), "{told}");
}

/// A loss of these packets towards the receiver, and no timer that makes up for it within the run.
fn losing(numbers: &str, flow: &str) -> String {
    let linux =
        "stack = \"linux\"\nlinux = { tcp_early_retrans = false }\nrto = { min = \"60 s\" }\n";
    format!(
        "[[hop]]\nrate = \"100 Mbit/s\"\ndelay = \"5 ms\"\n\
         errors = {{ model = \"list\", lost = [{numbers}] }}\n\
         [sender]\n{linux}[receiver]\n{linux}[[flow]]\nkind = \"request\"\n{flow}\n\
         [until]\ntime = \"8 s\"\n"
    )
}

#[test]
fn a_request_on_a_new_connection_does_not_wait_for_the_fin_of_the_last() {
    if !has_rights() {
        return;
    }
    let _quiet = quiet();
    // SYN, ACK and request arrive; the acknowledgement of the reply and the FIN, or both in one, do not.
    let flow = "request = \"100 B\"\nreply = \"100 B\"\ncount = 3\nconnection = \"new\"";
    let outcome = lab(&losing("3, 4", flow));
    assert_eq!((outcome.requests, outcome.payload_bytes), (Some(3), Some(300)));
}

#[test]
fn what_clients_send_again_counts_as_in_the_simulator() {
    if !has_rights() {
        return;
    }
    let _quiet = quiet();
    for connection in ["kept", "new"] {
        let flow = format!(
            "request = \"100 B\"\nreply = \"100 B\"\ncount = 1\nconnection = \"{connection}\""
        );
        // The request, behind SYN and ACK.
        let text = losing("2", &flow).replace("60 s", "300 ms");
        let of =
            |outcome: &Outcome| (outcome.requests, outcome.retransmitted_packets, outcome.timeouts);
        let real = lab(&text);
        assert_eq!(of(&real), of(&simulated(&text)), "{connection}");
        assert_eq!(of(&real), (Some(1), Some(1), Some(1)), "{connection}");
    }
}

#[test]
fn the_loss_of_echoes_and_of_fragments_is_that_of_the_simulator() {
    if !has_rights() {
        return;
    }
    let _quiet = quiet();
    let lossy = "[[hop]]\nrate = \"100 Mbit/s\"\ndelay = \"1 ms\"\n\
                 errors = { model = \"list\", lost = [1, 2, 5] }\n";
    let ping = format!(
        "{lossy}[[flow]]\nkind = \"ping\"\ninterval = \"100 ms\"\n[until]\ntime = \"995 ms\"\n"
    );
    let (real, simulated_ping) = (lab(&ping), simulated(&ping));
    assert_eq!(real.segment_loss, Some(0.3));
    assert_eq!(real.segment_loss, simulated_ping.segment_loss);

    // Five datagrams in two fragments each: fragments 1, 2 and 5 are lost, and with them three datagrams.
    let cbr = "[[flow]]\nkind = \"cbr\"\nsize = 1400\nrate = \"112 kbit/s\"\nstop = \"490 ms\"\n\
               [sender]\ndf = false\n[until]\ntime = \"1 s\"\n";
    let text = format!("{HOP}{lossy}mtu = 1000\n{cbr}");
    let (real, simulated_cbr) = (lab(&text), simulated(&text));
    assert_eq!(real.payload_bytes, Some(2 * 1400));
    assert_eq!((real.data_packets, real.segment_loss), (Some(5), Some(0.6)));
    assert_eq!(real.segment_loss, simulated_cbr.segment_loss);
}

#[test]
fn a_packet_reaches_the_end_of_a_path_of_seventy_hops() {
    if !has_rights() {
        return;
    }
    let _quiet = quiet();
    let hops = "[[hop]]\nrate = \"1 Gbit/s\"\ndelay = \"0 ms\"\n".repeat(70);
    for ip in [4, 6] {
        let text = format!(
            "ip = {ip}\n{hops}[[flow]]\nkind = \"ping\"\ninterval = \"200 ms\"\n[until]\ntime = \"1 s\"\n"
        );
        assert!(lab(&text).ping_mean_s.is_some(), "IPv{ip}");
    }
}

#[test]
fn several_flows_have_the_limits_of_the_largest_and_no_mean_that_nobody_knows() {
    if !has_rights() {
        return;
    }
    let _alone = alone();
    let two = format!(
        "{HOP}[[flow]]\nkind = \"bulk\"\n[[flow]]\nkind = \"bulk\"\n[until]\ntime = \"1 s\"\n"
    );
    let outcome = lab(&two);
    let largest = outcome.flows.iter().max_by_key(|flow| flow.payload_bytes).unwrap();
    assert!(!largest.limits.is_empty());
    assert_eq!((&outcome.limits, outcome.limited_by), (&largest.limits, largest.limited_by));
    assert!(outcome.in_flight_mean_bytes.unwrap() > 0.0);

    if std::process::Command::new("iperf3").arg("--version").output().is_err() {
        println!("skipped for want of iperf3");
        return;
    }
    let outcome = lab(&format!(
        "{two}[lab]\ntraffic = \"iperf3\"\nwrite_rate = \"2 Mbit/s\"\npacing_rate = \"8 Mbit/s\"\n"
    ));
    assert_eq!(outcome.in_flight_mean_bytes, None);
    // 2 Mbit/s each for a second, be it one of a busy machine; the link carries 12.5 MB.
    let written = outcome.payload_bytes.unwrap();
    assert!((1..1_000_000).contains(&written), "{written}");
}

#[test]
fn queue_limit_and_goodput_of_requests_are_of_the_replies() {
    if !has_rights() {
        return;
    }
    let _alone = alone();
    // One reply, which the end of the run cuts.
    let text = "[[hop]]\nrate = \"3 Mbit/s\"\ndelay = \"5 ms\"\n[receiver]\nwindow = \"64 KiB\"\n[[flow]]\nkind = \"request\"\nfrom = \"receiver\"\n\
                request = \"300 B\"\nreply = \"2 MiB\"\n[until]\ntime = \"2 s\"\n";
    let (real, simulated) = (lab(text), simulated(text));
    assert_eq!((real.requests, real.limited_by), (Some(0), simulated.limited_by));
    let near = |number: fn(&Outcome) -> f64| number(&real) / number(&simulated);
    let ratios = [near(|it| it.queue_mean_s.unwrap()), near(|it| it.payload_bytes.unwrap() as f64)];
    assert!(ratios.iter().all(|ratio| (0.8..1.25).contains(ratio)), "{ratios:?}");
}

#[test]
fn segments_above_the_path_mtu_are_lost_as_in_the_simulator() {
    if !has_rights() {
        return;
    }
    let _quiet = quiet();
    for from in ["sender", "receiver"] {
        let text = format!(
            "{HOP}{HOP}mtu = 1280\nicmp = \"drop\"\n{HOP}[[flow]]\nkind = \"bulk\"\nfrom = \"{from}\"\n[until]\ntime = \"3 s\"\n"
        );
        let (real, simulated) = (lab(&text), simulated(&text));
        let of = |outcome: &Outcome| (outcome.segment_loss, outcome.payload_bytes);
        assert_eq!(of(&real), (Some(1.0), Some(0)), "{from}");
        assert_eq!(of(&real), of(&simulated), "{from}");
        assert_eq!(real.limited_by, Some(LimitedBy::Rto), "{from}");
    }
}

#[test]
fn a_flow_that_starts_late_has_the_mean_of_the_run_and_limits_of_its_own_time() {
    if !has_rights() {
        return;
    }
    let _alone = alone();
    let text = "[[hop]]\nrate = \"1 Mbit/s\"\ndelay = \"20 ms\"\n[receiver]\nwindow = \"16 KiB\"\n[[flow]]\nkind = \"bulk\"\n\
                [[flow]]\nkind = \"bulk\"\nstart = \"1500 ms\"\n[until]\ntime = \"3 s\"\n";
    let (real, simulated) = (lab(text), simulated(text));
    for (real, simulated) in real.flows.iter().zip(&simulated.flows) {
        let in_flight = |outcome: &Outcome| outcome.in_flight_mean_bytes.unwrap();
        let ratio = in_flight(real) / in_flight(simulated);
        assert!((0.8..1.25).contains(&ratio), "{ratio}");
        assert_eq!(real.limited_by, Some(LimitedBy::Bandwidth), "{:?}", real.limits);
        assert!(real.limits[0].share > 0.8, "{:?}", real.limits);
    }
    let longest = real.flows.iter().filter_map(|flow| flow.queue_mean_s).reduce(f64::max);
    assert_eq!(real.queue_mean_s, longest);
}

/// A full link is the limit whatever held the sender back, be it the link of its acknowledgements.
#[test]
fn a_full_link_is_the_limit_as_in_the_simulator() {
    if !has_rights() {
        return;
    }
    let _alone = alone();
    let link =
        |rate: &str| format!("rate = \"{rate}\"\ndelay = \"5 ms\"\nqueue = \"500 packets\"\n");
    let until = "[until]\ntime = \"3 s\"\n";
    let buffer =
        format!("[[hop]]\n{}[sender]\nsend_buffer = \"32 KiB\"\n{until}", link("1 Mbit/s"));
    let back = format!("[[hop]]\n{}[hop.reverse]\n{}{until}", link("20 Mbit/s"), link("40 kbit/s"));
    let datagrams = format!(
        "[[hop]]\n{}[[flow]]\nkind = \"cbr\"\nsize = 1000\nrate = \"2 Mbit/s\"\n{until}",
        link("1 Mbit/s")
    );
    for text in [buffer, back, datagrams] {
        let (real, simulated) = (lab(&text), simulated(&text));
        assert_eq!(
            simulated.limited_by,
            Some(LimitedBy::Bandwidth),
            "{text}{:?}",
            simulated.limits
        );
        assert_eq!(real.limited_by, simulated.limited_by, "{text}{:?}", real.limits);
    }
}

/// A bulk flow without a limit runs on when all requests are answered, and one with a limit when a flow of requests has stopped.
#[test]
fn a_run_lasts_as_long_as_in_the_simulator() {
    if !has_rights() {
        return;
    }
    let _quiet = quiet();
    let request = "kind = \"request\"\nrequest = \"200 B\"\nreply = \"2 kB\"";
    let of = |requests: &str, until: &str| {
        format!(
            "{HOP}[[flow]]\nkind = \"bulk\"\n[[flow]]\n{request}\n{requests}\n[until]\n{until}\n"
        )
    };
    let without = of("count = 2", "time = \"1 s\"");
    for outcome in [lab(&without), simulated(&without)] {
        assert!(outcome.elapsed_s.unwrap() >= 1.0, "{:?}", outcome.elapsed_s);
    }
    let limited = of("stop = \"20 ms\"", "time = \"30 s\"\nbytes = \"2 MB\"");
    for outcome in [lab(&limited), simulated(&limited)] {
        assert!(outcome.payload_bytes.unwrap() >= 2_000_000, "{:?}", outcome.payload_bytes);
        assert!(outcome.elapsed_s.unwrap() < 30.0, "{:?}", outcome.elapsed_s);
    }
}

/// The kernel takes no smaller clamp than about 1 KiB.
#[test]
fn a_window_below_the_least_clamp_of_the_kernel_is_held() {
    if !has_rights() {
        return;
    }
    let _quiet = quiet();
    let text = "hop = [{ rate = \"1 Mbit/s\", delay = \"20 ms\", mtu = 296 }]\nsender.timestamps = false\n\
                receiver = { window = \"2 segments\", timestamps = false }\nuntil.time = \"2 s\"\n";
    let flow = &lab(text).lab.unwrap().flows[0];
    assert_eq!(flow.window_advertised, Some(512), "{flow:?}");
}
