//! The lab's flows: what a scenario asks of them is done, or is said not to be.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "tests")]
#![expect(clippy::print_stdout, reason = "what is skipped is said")]

mod rights;

use std::sync::{Mutex, MutexGuard, PoisonError};

use maxseg_core::engine::{Engine, Unwatched};
use maxseg_core::outcome::Outcome;
use maxseg_core::scenario::Scenario;
use maxseg_core::sim::Sim;
use maxseg_linux::lab::Lab;

use rights::has_rights;

/// One at a time: they share the machine's cores.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn scenario(text: &str) -> Scenario {
    Scenario::from_toml_over("rfc", "test", text).unwrap()
}

fn lab(text: &str) -> Outcome {
    Lab::default().run(&scenario(text), &mut Unwatched).unwrap()
}

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
    let _alone = alone();
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
        let of = |outcome: &Outcome| {
            (outcome.payload_bytes, outcome.segment_loss, outcome.data_packets)
        };
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
    let _alone = alone();
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
