//! Congestion controls and memory of the lab's sockets. TCP windows do not depend on `rmem_max`: the lab's hosts
//! have their own `tcp_rmem` and `tcp_wmem`.

use maxseg_core::units::approx;
use maxseg_core::window::MEMORY_PER_PAYLOAD;
use serde_json::json;

use super::host::Host;
use super::{Check, State, sysctl};
use crate::lab::flows::RECEIVE_BUFFER;
use crate::sys::NamespaceAccess;
use crate::sys::probe::{ProbeStep, page_bytes, run_probe};

/// The congestion controls that scenarios use most; `bbr` for links with loss.
const WANTED: [&str; 3] = ["reno", "cubic", "bbr"];

/// The congestion controls that the lab's sockets can use.
pub(super) fn congestion(way: Option<NamespaceAccess>, host: &Host) -> Check {
    let names = |setting| words_of(sysctl(setting).as_deref());
    let available = names("net.ipv4.tcp_available_congestion_control");
    let allowed = names("net.ipv4.tcp_allowed_congestion_control");
    // Modules that are not loaded are not tried, which would load them.
    let settable = |name: &&String| {
        let step = ProbeStep::Congestion((*name).into());
        let steps = way.map_or(vec![step.clone()], |way| way.and(&[step]));
        run_probe(&steps).is_ok()
    };
    let usable = available.iter().filter(settable).cloned().collect();
    judged(&Controls { available, allowed, usable }, host)
}

struct Controls {
    /// Loaded in the kernel.
    available: Vec<String>,
    /// Allowed without privilege.
    allowed: Vec<String>,
    /// Accepted by a socket.
    usable: Vec<String>,
}

fn judged(controls: &Controls, host: &Host) -> Check {
    let Controls { available, allowed, usable } = controls;
    let check = Check::new(
        "congestion",
        "the congestion controls that a scenario can name",
        if usable.is_empty() { "none".to_owned() } else { usable.join(", ") },
    )
    .value("available", json!(available))
    .value("allowed", json!(allowed))
    .value("usable", json!(usable));
    let lacking: Vec<&str> =
        WANTED.into_iter().filter(|name| !usable.iter().any(|usable| usable == name)).collect();
    if lacking.is_empty() {
        return check;
    }
    let unloaded = lacking.iter().filter(|name| !available.iter().any(|have| have == *name));
    let mut mend: Vec<String> =
        unloaded.filter_map(|name| host.modprobe(&format!("tcp_{name}"))).collect();
    if lacking.iter().any(|name| available.iter().any(|have| have == name)) {
        let wanted: Vec<&str> =
            allowed.iter().map(String::as_str).chain(lacking.iter().copied()).collect();
        let list = wanted.join(" ");
        mend.push(format!("sudo sysctl -w net.ipv4.tcp_allowed_congestion_control='{list}'"));
    }
    let found = format!("{}; not {}", check.found, lacking.join(", "));
    Check { found, ..check }.state(State::Limited).mend(mend)
}

/// A window for 10 Gbit/s over 20 ms, in bytes.
const WINDOW: u64 = 25_000_000;
/// Its receive buffer: 64 MiB.
const BUFFER: u64 = (MEMORY_PER_PAYLOAD * WINDOW).next_power_of_two();

/// The UDP receive buffer of cbr flows; TCP's buffers are not set by socket option.
pub(super) fn buffers() -> Check {
    buffers_of(sysctl("net.core.rmem_max").and_then(|limit| limit.parse().ok()))
}

fn buffers_of(receive: Option<u64>) -> Check {
    let wanted = u64::try_from(RECEIVE_BUFFER).unwrap_or(u64::MAX);
    let check = Check::new(
        "buffers",
        "cbr flows: receive buffer while the receiving thread waits for a core",
        format!("UDP receive buffer up to {}", size(receive)),
    )
    .value("rmem_max_bytes", receive);
    if receive.is_none_or(|limit| limit >= wanted) {
        return check;
    }
    check.state(State::Limited).mend([format!("sudo sysctl -w net.core.rmem_max={wanted}")])
}

/// Memory of all sockets: above the second value of `tcp_mem` the kernel shrinks windows.
pub(super) fn memory() -> Check {
    memory_of(sysctl("net.ipv4.tcp_mem").as_deref(), page_bytes())
}

fn memory_of(tcp_mem: Option<&str>, page_bytes: u64) -> Check {
    let now: Vec<Option<u64>> = words_of(tcp_mem).iter().map(|pages| pages.parse().ok()).collect();
    let now = |index: usize| now.get(index).copied().flatten();
    let pages = now(1);
    let pressure = pages.map(|pages| pages.saturating_mul(page_bytes));
    let check = Check::new(
        "tcp-memory",
        "memory of all connections before the kernel shrinks their windows (tcp_mem)",
        format!("{} before the kernel shrinks windows", size(pressure)),
    )
    .value("pressure_bytes", pressure);
    // One flow with the largest buffers at both ends.
    let enough = 2 * BUFFER;
    if pressure.is_none_or(|pressure| pressure >= enough) {
        return check;
    }
    let [low, middle, high] =
        [enough * 3 / 4, enough, enough * 3 / 2].map(|bytes| bytes / page_bytes.max(1));
    // What is larger already stays: the last is a hard limit.
    let low = low.max(now(0).unwrap_or(0));
    let middle = middle.max(low);
    let high = high.max(middle).max(now(2).unwrap_or(0));
    let command = format!("sudo sysctl -w net.ipv4.tcp_mem='{low} {middle} {high}'");
    check.state(State::Limited).mend([command])
}

fn words_of(text: Option<&str>) -> Vec<String> {
    text.unwrap_or_default().split_whitespace().map(str::to_owned).collect()
}

/// The size in the largest binary unit of which it has at least one, with three digits.
fn size(bytes: Option<u64>) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let Some(bytes) = bytes else { return "an unknown size".to_owned() };
    match UNITS.into_iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => format!("{} {name}", approx::digits(bytes as f64 / unit as f64)),
        None => format!("{bytes} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_congestion_control_is_loaded_or_allowed_or_neither() {
        let list = |text| words_of(Some(text));
        let all = Controls {
            available: list("reno cubic bbr"),
            allowed: list("reno"),
            usable: list("reno cubic bbr"),
        };
        let host = Host::of(true, None);
        assert_eq!((judged(&all, &host).state, judged(&all, &host).mend), (State::Ok, vec![]));
        let some =
            Controls { available: list("reno cubic"), allowed: list("reno"), usable: list("reno") };
        let check = judged(&some, &host);
        assert_eq!(check.found, "reno; not cubic, bbr");
        let commands = [
            "sudo modprobe tcp_bbr",
            "sudo sysctl -w net.ipv4.tcp_allowed_congestion_control='reno cubic bbr'",
        ];
        assert_eq!(
            (check.state, &check.mend[..]),
            (State::Limited, &commands.map(str::to_owned)[..])
        );
    }

    #[test]
    fn small_buffers_are_named() {
        let check = buffers_of(Some(212_992));
        assert_eq!(check.found, "UDP receive buffer up to 208 KiB");
        assert_eq!(check.mend, ["sudo sysctl -w net.core.rmem_max=4194304"]);
        assert_eq!(buffers_of(Some(4 << 20)).state, State::Ok);
        assert_eq!(buffers_of(None).state, State::Ok);
    }

    #[test]
    fn memory_is_counted_in_pages() {
        let plenty = memory_of(Some("287898\t383867\t575796"), 4096);
        assert_eq!(
            (plenty.state, plenty.found.as_str()),
            (State::Ok, "1.46 GiB before the kernel shrinks windows")
        );
        let little = memory_of(Some("3000 4000 6000"), 4096);
        assert_eq!(little.mend, ["sudo sysctl -w net.ipv4.tcp_mem='24576 32768 49152'"]);
        let wide = memory_of(Some("20000 30000 1000000"), 4096);
        assert_eq!(wide.mend, ["sudo sysctl -w net.ipv4.tcp_mem='24576 32768 1000000'"]);
        for odd in [None, Some(""), Some("1 x 3")] {
            assert_eq!(memory_of(odd, 4096).state, State::Ok);
        }
    }
}
