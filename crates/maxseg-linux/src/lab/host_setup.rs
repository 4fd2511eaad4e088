//! A host's settings as Linux has them: sysctls of its namespace and metrics of its routes. They apply to every program
//! in the host, iperf3 or a shell included.

use maxseg_core::settings::{InitialWindow, Settings, WindowScale, WindowSize};
use maxseg_core::units::Bytes;
use netlink_packet_route::route::RouteMetric;

/// Sysctls and route metrics of a host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct HostSetup {
    /// Keys under /proc/sys/net, with their values.
    pub(crate) sysctls: Vec<(&'static str, String)>,
    /// The same for keys that older kernels do not have.
    pub(crate) newer_sysctls: Vec<(&'static str, String)>,
    /// Metrics of every route to the other host.
    pub(crate) metrics: Vec<RouteMetric>,
}

/// `RTAX_RTO_MIN` (linux/rtnetlink.h): the kernel uses it only where the metric is locked.
const LOCK_RTO_MIN: u32 = 1 << 13;
/// Room for a window in the receiver's memory: a packet takes several times its payload there.
const MEMORY_PER_WINDOW: u64 = 16;
const LEAST_MEMORY: u64 = 4 << 20;
/// `tcp_rmem` and `tcp_wmem` are `int`s.
const MOST_MEMORY: u64 = 1 << 30;

impl HostSetup {
    /// For `settings`, segments of `mss` from the peer, and an interface that has room for `fits`.
    pub(crate) fn of(settings: &Settings, mss: Bytes, fits: Bytes) -> Self {
        let flag = |on: bool| u32::from(on).to_string();
        let window = offered(settings, mss);
        let read = (window.get() * MEMORY_PER_WINDOW).clamp(LEAST_MEMORY, MOST_MEMORY);
        let written = settings.send_buffer.map_or(MOST_MEMORY / 4, |buffer| {
            // SO_SNDBUF counts the kernel's overhead: it doubles what it is asked for (socket(7)).
            (2 * buffer.get()).clamp(4096, MOST_MEMORY)
        });
        let sysctls = vec![
            ("ipv4/tcp_sack", flag(settings.sack)),
            ("ipv4/tcp_timestamps", flag(settings.timestamps)),
            ("ipv4/tcp_window_scaling", flag(settings.window_scale != WindowScale::Off)),
            ("ipv4/tcp_ecn", flag(settings.ecn)),
            ("ipv4/tcp_mtu_probing", flag(settings.mtu_probing)),
            ("ipv4/ip_no_pmtu_disc", flag(!settings.df)),
            ("ipv4/tcp_rmem", format!("4096 {read} {read}")),
            ("ipv4/tcp_wmem", format!("4096 {} {written}", written.min(1 << 20))),
            // The window is what was asked for, not what the kernel finds best.
            ("ipv4/tcp_moderate_rcvbuf", "0".to_owned()),
        ];
        let rto_max = settings.rto.max.as_nanos() / 1_000_000;
        let newer_sysctls = vec![("ipv4/tcp_rto_max_ms", rto_max.clamp(1000, 120_000).to_string())];
        Self { sysctls, newer_sysctls, metrics: metrics(settings, window, fits) }
    }
}

/// The largest window that a host should advertise to a peer that sends segments of `mss`.
pub(crate) fn offered(settings: &Settings, mss: Bytes) -> Bytes {
    let window = settings.window.bytes(mss);
    if settings.window_scale == WindowScale::Off { window.min(Bytes::new(65_535)) } else { window }
}

/// The window that the routes clamp to. A program that knows nothing of clamps gets the largest that its shift
/// carries: of a power of two, one byte less has the smaller shift, and so carries no more than was asked for.
fn route_window(window: Bytes) -> u64 {
    let bytes = window.get();
    if bytes.is_power_of_two() { bytes - 1 } else { bytes }
}

fn metrics(settings: &Settings, window: Bytes, fits: Bytes) -> Vec<RouteMetric> {
    let number = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    let rto_min = settings.rto.min.as_nanos() / 1_000_000;
    let mut metrics = vec![
        RouteMetric::Lock(LOCK_RTO_MIN),
        RouteMetric::RtoMin(number(rto_min.max(1))),
        RouteMetric::Window(number(route_window(window))),
    ];
    if let Some(mss) = settings.mss {
        // The kernel takes the metric as it is, be it larger than the interface's MTU.
        metrics.push(RouteMetric::Advmss(number(mss.bytes().min(fits).get())));
    }
    if let InitialWindow::Segments(segments) = settings.initial_window {
        metrics.push(RouteMetric::InitCwnd(segments));
    }
    if settings.delayed_ack.is_none() {
        metrics.push(RouteMetric::QuickAck(1));
    }
    metrics
}

/// Keys of a host's settings that this kernel's TCP decides for itself, as far as they ask for something.
pub(crate) fn left_to_the_kernel(settings: &Settings) -> Vec<&'static str> {
    let known = [
        ("recovery", true),
        ("rto.initial", true),
        ("initial_ssthresh", true),
        ("limited_transmit", true),
        ("delayed_ack", settings.delayed_ack.is_some()),
        ("window_scale", matches!(settings.window_scale, WindowScale::Shift(_))),
        ("packet_cost", settings.packet_cost.is_some()),
        ("ns2", settings.ns2.is_some()),
        ("handshake_ack", !settings.handshake_ack),
        ("recovery_burst", settings.recovery_burst.is_some()),
    ];
    known.into_iter().filter(|(_, asks)| *asks).map(|(key, _)| key).collect()
}

/// Whether the window holds no more than one full segment: Linux's receiver opens it only by whole
/// segments, and its sender waits for a second one.
pub(crate) fn is_one_segment(settings: &Settings, mss: Bytes) -> bool {
    match settings.window {
        WindowSize::Segments(n) => n < 2,
        WindowSize::Bytes(bytes) => bytes < Bytes::new(2 * mss.get()),
    }
}
