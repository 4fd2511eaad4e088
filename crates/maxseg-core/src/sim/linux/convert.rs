//! Between what a scenario and links know and what Linux's sockets do.

use crate::framing::{Headers, IpVersion};
use crate::settings::{
    CongestionName, InitialWindow, LinuxRules, Settings, SocketMemory, WindowScale,
};
use crate::tcp::linux::{Algorithm, Blocks, Flags, Host, Packet, Stamps, SynOptions};
use crate::tcp::{OptionsPool, SackBlocks, Segment, Timestamps};
use crate::units::{Bytes, Mtu, Time};

/// The host with these settings, whose first link takes packets of `mtu` bytes, and whose peer sends segments of `mss`.
/// What is no sysctl is what the lab's routes and sockets have.
pub(in crate::sim) fn host(settings: &Settings, ip: IpVersion, mtu: Mtu, mss: Bytes) -> Host {
    let base = Host::default();
    let Some(rules) = &settings.linux else { return base };
    let LinuxRules { hystart, .. } = *rules;
    let memory = SocketMemory::of(settings, mss);
    Host {
        congestion: match settings.congestion {
            CongestionName::Reno | CongestionName::Ns2Reno => Algorithm::Reno,
            CongestionName::Cubic => Algorithm::Cubic { hystart },
            CongestionName::Bbr => Algorithm::Bbr,
        },
        tcp_ecn: u8::from(settings.ecn),
        tcp_sack: settings.sack,
        tcp_timestamps: settings.timestamps,
        tcp_recovery: rules.tcp_recovery,
        tcp_early_retrans: rules.tcp_early_retrans,
        tcp_frto: rules.tcp_frto,
        tcp_slow_start_after_idle: rules.tcp_slow_start_after_idle,
        tcp_window_scaling: settings.window_scale != WindowScale::Off,
        tcp_rto_min_us: settings.rto.min.as_nanos() / 1000,
        initcwnd: match settings.initial_window {
            InitialWindow::Segments(segments) => u64::from(segments),
            InitialWindow::Rfc6928 => base.initcwnd,
        },
        tcp_mtu_probing: settings.mtu_probing.sysctl(),
        mtu_search: rules.mtu_search(),
        quickack: settings.delayed_ack.is_none(),
        tcp_moderate_rcvbuf: memory.clamp.is_none(),
        window_clamp: memory.clamp.map(|bytes| u32::try_from(bytes.get()).unwrap_or(u32::MAX)),
        tcp_rmem: memory.tcp_rmem,
        tcp_wmem: memory.tcp_wmem,
        maxseg: settings.mss,
        route_advmss: rules.route_advmss,
        mss_option: settings.mss_option,
        mtu: settings.route_mtu(mtu).bytes().get(),
        headers: Headers::plain(ip).bytes().get(),
        hz: u64::from(rules.hz),
        ..base
    }
}

/// As links and captures know it.
#[inline]
pub(in crate::sim) fn segment_of(packet: &Packet, options_pool: &mut OptionsPool) -> Segment {
    let mut sack = SackBlocks::NONE;
    for &(start, end) in packet.sack.as_slice() {
        sack.push(packet.ack, start, end);
    }
    let timestamps = packet.stamps.map(|Stamps { value, echo }| Timestamps {
        value: Time::from_millis(value),
        echo: Time::from_millis(echo),
    });
    Segment {
        seq: packet.seq,
        ack: packet.ack,
        window: u32::try_from(packet.window).unwrap_or(u32::MAX),
        len: u16::try_from(packet.len).unwrap_or(u16::MAX),
        syn: packet.syn.is_some(),
        repeated: packet.repeated,
        push: packet.push,
        echoes_marks: packet.flags.has(Flags::ECE),
        reduced: packet.flags.has(Flags::CWR),
        options: options_pool.fill(sack, timestamps),
        ..Segment::EMPTY
    }
}

/// As sockets know it; `syn` is what a SYN of its sender says.
#[inline]
pub(in crate::sim) fn packet_of(segment: &Segment, syn: Option<SynOptions>) -> Packet {
    let mut sack = Blocks::default();
    for block in segment.sack().iter(segment.ack) {
        sack.push(block);
    }
    let millis = |time: Time| time.as_nanos() / 1_000_000;
    Packet {
        seq: segment.seq,
        ack: segment.ack,
        len: u64::from(segment.len),
        window: u64::from(segment.window),
        push: segment.push,
        flags: Flags::NONE,
        syn: syn.filter(|_| segment.syn),
        stamps: segment
            .timestamps()
            .map(|stamps| Stamps { value: millis(stamps.value), echo: millis(stamps.echo) }),
        sack,
        repeated: segment.repeated,
        alone: true,
    }
}
