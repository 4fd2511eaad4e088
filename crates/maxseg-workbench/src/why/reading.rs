//! From a socket and its path to the facts that the core judges.

use maxseg_core::framing::IpVersion;
use maxseg_core::mss::black_hole;
use maxseg_core::settings::MtuProbing;
use maxseg_core::units::Bytes;
use maxseg_core::why::{MssFacts, WindowFacts, WindowOptions};
use maxseg_linux::observe::path::PathReading;
use maxseg_wire::inet_diag::Sample;
use maxseg_wire::tcp_info::State;

use crate::connections::Connection;

/// `tcp_min_snd_mss` where it cannot be read.
const LEAST_MSS: u64 = 48;

pub(super) fn mss_facts(connection: &Connection, sample: &Sample, path: &PathReading) -> MssFacts {
    let info = &sample.info;
    let is_v4 = connection.remote.ip().to_canonical().is_ipv4();
    let probing = path.sysctl("net.ipv4.tcp_mtu_probing");
    MssFacts {
        ip: if is_v4 { IpVersion::V4 } else { IpVersion::V6 },
        timestamps: info.options.timestamps(),
        is_opening: connection.state == Some(State::SynSent),
        mss: bytes(info.snd_mss),
        path_mtu: bytes(info.pmtu),
        advertised: bytes(info.advmss),
        peer_window: info.snd_wnd.map(bytes),
        interface_mtu: path.interface.as_ref().ok().and_then(|found| found.mtu).map(bytes),
        route_mtu: metric(path, "mtu"),
        learnt_mtu: path
            .route
            .as_ref()
            .ok()
            .and_then(|route| route.learnt)
            .map(|(mtu, _)| bytes(mtu)),
        route_advmss: metric(path, "advmss"),
        mtu_probing: probing
            .and_then(|probing| probing.parse().ok())
            .map_or(MtuProbing::Never, MtuProbing::of_sysctl),
        probes_arrived: path.probes_arrived,
        base_mss: number(path, "net.ipv4.tcp_base_mss", 0).unwrap_or(Bytes::new(black_hole::BASE)),
        least_mss: number(path, "net.ipv4.tcp_min_snd_mss", 0).unwrap_or(Bytes::new(LEAST_MSS)),
    }
}

pub(super) fn window_facts(
    connection: &Connection,
    sample: &Sample,
    path: &PathReading,
) -> WindowFacts {
    let info = &sample.info;
    let scales = info.options.window_scaling();
    let options = connection.options.window_clamp.zip(connection.options.buffers_set);
    WindowFacts {
        is_opening: connection.state == Some(State::SynSent),
        advertised: info.rcv_wnd.map(bytes),
        grown: bytes(info.rcv_ssthresh),
        shift: scales.then_some(info.window_scales.receive),
        advmss: bytes(info.advmss),
        buffer: sample.memory.map(|memory| bytes(memory.receive_buffer)),
        buffer_used: bytes(sample.memory.map_or(0, |memory| memory.receive_alloc)),
        unread: bytes(sample.unread_bytes),
        options: options.map(|(clamp, [_, is_buffer_set])| WindowOptions {
            clamp: bytes(clamp),
            is_buffer_set,
        }),
        route_window: metric(path, "window"),
        rmem_max: number(path, "net.core.rmem_max", 0),
        tcp_rmem_max: number(path, "net.ipv4.tcp_rmem", 2),
    }
}

fn bytes(count: u32) -> Bytes {
    Bytes::new(count.into())
}

/// A number that the route sets.
fn metric(path: &PathReading, name: &str) -> Option<Bytes> {
    path.route.as_ref().ok()?.metric(name)?.parse().ok().map(Bytes::new)
}

/// The number at a place of a sysctl.
fn number(path: &PathReading, name: &str, at: usize) -> Option<Bytes> {
    path.sysctl(name)?.split(' ').nth(at)?.parse().ok().map(Bytes::new)
}
