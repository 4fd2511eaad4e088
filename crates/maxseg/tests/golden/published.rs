//! Metrics and tables that were published: RFC 6349's, and a modem's measured for Open Transport.

use maxseg_core::framing::Framing;
use maxseg_core::model::rfc6349;
use maxseg_core::units::{BitsPerSec, Bytes, Mtu};

use super::row::{Row, Rule};

pub(crate) const RFC6349: Rule = Rule { file: "rfc6349", check: metrics };
pub(crate) const MODEM: Rule = Rule { file: "seed001_modem_table", check: modem };

const MBPS: &str = "bottleneck_mbps";
const RTT: &str = "rtt_ms_or_baseline";
const WINDOW: &str = "rwnd_kB1000_or_fps_or_avg";
const BDP: &str = "bdp_bits_or_bytes";
const RESULT: &str = "recomputed";

/// The columns' meaning goes by the item; not every item has a use for each.
fn metrics(row: &mut Row) {
    row.ignore("rfc_published");
    row.ignore("agrees");
    let item = row.text("item");
    match item.as_str() {
        "T3.3.1" => {
            let (rate, rtt_ms) = (row.number(MBPS) * 1e6, row.number(RTT));
            unused(row, &[WINDOW]);
            row.expect(BDP, rate * rtt_ms / 1e3);
            row.expect(RESULT, rate * rtt_ms / 1e3 / 8.0 / 1e3);
        }
        "Fig3.3.1" => {
            let max = max_throughput(row);
            let (rtt, window) = (row.number(RTT) / 1e3, row.number(WINDOW) * 1e3);
            unused(row, &[BDP]);
            row.expect(RESULT, rfc6349::throughput_with_window(window, rtt, max) / 1e6);
        }
        "maxTCP" => {
            let max = max_throughput(row);
            unused(row, &[RTT]);
            let whole = frames_per_second(row).floor();
            row.expect(WINDOW, whole);
            unused(row, &[BDP]);
            row.expect(RESULT, max / 1e6);
        }
        "T4.1.2_seconds_100MB" => {
            let max = max_throughput(row);
            unused(row, &[RTT, WINDOW, BDP]);
            row.expect(RESULT, rfc6349::ideal_time(100e6, max));
        }
        "BufferDelay_pct" => {
            let (baseline, average) = (row.number(RTT), row.number(WINDOW));
            unused(row, &[MBPS, BDP]);
            row.expect(RESULT, 100.0 * rfc6349::buffer_delay(baseline, average));
        }
        "TCPeff_pct" => {
            // Here these columns hold what was sent again, and what was sent at all.
            let (resent, sent) = (row.number(WINDOW), row.number(BDP));
            unused(row, &[MBPS, RTT]);
            row.expect(RESULT, 100.0 * rfc6349::efficiency(sent, resent));
        }
        "TTratio" => {
            unused(row, &[MBPS, RTT, WINDOW, BDP]);
            row.expect(RESULT, rfc6349::transfer_time_ratio(12.0, 8.0));
        }
        _ if item.starts_with("fps_") => {
            let fps = frames_per_second(row);
            unused(row, &[RTT, WINDOW, BDP]);
            row.expect(RESULT, fps);
        }
        _ => row.fault(format!("the item {item} is not understood")),
    }
}

fn unused(row: &mut Row, columns: &[&str]) {
    for column in columns {
        row.ignore(column);
    }
}

/// The RFC's PPP links by their rates; the others are Ethernet.
fn link(row: &mut Row) -> (BitsPerSec, Framing) {
    let mbps = row.text(MBPS);
    let number: f64 = mbps.parse().unwrap_or(f64::NAN);
    // A double such as 44.210000000000001 is what the RFC prints as 44.21.
    let rate = format!("{} Mbit/s", (number * 1e6).round() / 1e6).parse().unwrap();
    let is_ppp = [1.536, 44.21].iter().any(|ppp| (number - ppp).abs() < 1e-9);
    (rate, if is_ppp { Framing::Ppp } else { Framing::Ethernet })
}

fn frames_per_second(row: &mut Row) -> f64 {
    let (rate, framing) = link(row);
    rfc6349::frames_per_second(rate, framing, Mtu::ETHERNET)
}

fn max_throughput(row: &mut Row) -> f64 {
    let (rate, framing) = link(row);
    rfc6349::max_throughput(rate, framing, Mtu::ETHERNET, Bytes::new(40))
}

/// How long a window takes at a measured rate, and whether what was published can be that, given that the
/// rate was rounded to a tenth.
fn modem(row: &mut Row) {
    let window = row.count("mss_bytes") * row.count("multiplier");
    let rate = row.number("measured_KiB_per_s");
    row.ignore("measured_ping_s");
    let published = row.number("published_inflight_s");
    let in_flight = |kib_per_s: f64| rfc6349::ideal_time(window as f64, 8.0 * 1024.0 * kib_per_s);
    let (low, high) = (in_flight(rate + 0.05), in_flight(rate - 0.05));
    let to_a_tenth = |seconds: f64| (10.0 * seconds).round() / 10.0;
    let consistent = to_a_tenth(low) <= published && published <= to_a_tenth(high);
    row.expect_count("rwnd_bytes", window);
    row.expect("recomputed_rwnd_over_KiBps_s", in_flight(rate));
    row.expect("lo_given_rounding_s", low);
    row.expect("hi_given_rounding_s", high);
    let word = if consistent { "yes" } else { "no" };
    row.expect_text("published_consistent_with_rounding_interval", word);
}
