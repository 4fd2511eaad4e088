//! FreeBSD's decision, which sizes the socket's buffers as well.

use super::{Cause, Derivation};
use crate::framing::{IpVersion, TCP_HEADER, TCP_TIMESTAMPS, ip_header};
use crate::units::{Bytes, Mtu};

/// Which `tcp_mss` decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Release {
    /// FreeBSD 2.2: a buffer size on the route replaces the socket's, even a larger one that the
    /// application has set (problem report 6032).
    V22,
    /// The same with the patch of that report: the larger of the two.
    V22Patched,
    /// Today's FreeBSD: a route's buffer size counts only where the application has set none, buffers
    /// only grow, segments need not be whole clusters, and options are subtracted when sending.
    Modern,
}

/// A socket's buffer in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buffer {
    /// Its size (`sb_hiwat`).
    pub size: Bytes,
    /// Whether the application has left it at the system's default.
    pub is_default: bool,
    /// What the route sets (`sendpipe`, `recvpipe`), where it does.
    pub route_pipe: Option<Bytes>,
}

/// What the decision depends on; IPv4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inputs {
    /// The MTU of the interface or, where smaller, of the path as known.
    pub mtu: Mtu,
    /// The peer's MSS option as it came. One of 0 counts as none.
    pub peer_option: Option<u16>,
    /// Whether segments carry timestamps: counts in 2.2, where it is subtracted here.
    pub timestamps: bool,
    /// The sending buffer.
    pub send: Buffer,
    /// The receiving buffer.
    pub receive: Buffer,
    /// `kern.ipc.maxsockbuf`, once `sb_max`. That `sbreserve` refuses somewhat less than this, by the
    /// memory around the data, is not applied.
    pub buffer_limit: Bytes,
}

/// What follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// `t_maxseg`: payload of a full segment; in the modern release before options are subtracted.
    pub maxseg: Derivation,
    /// The sending buffer afterwards.
    pub send_buffer: Derivation,
    /// The receiving buffer afterwards.
    pub receive_buffer: Derivation,
}

/// A cluster of the kernel's memory (`MCLBYTES`).
const CLUSTER: Bytes = Bytes::new(2048);
/// Room for data even with all of the options.
const LEAST: Bytes = Bytes::new(64);
/// `net.inet.tcp.minmss`: smaller options count as this.
const MIN_MSS: Bytes = Bytes::new(216);

/// `tcp_mss` of `tcp_input.c`, in that release.
pub fn decide(release: Release, inputs: &Inputs) -> Decision {
    let mut maxseg = release.segment(inputs);
    let send = release.buffer(&inputs.send);
    let sending = if send.value() < maxseg.value() {
        maxseg = maxseg.at_most(send.winner(), send.value());
        as_it_was(&inputs.send)
    } else {
        release.resized(send, &maxseg, &inputs.send, inputs.buffer_limit)
    };
    if release == Release::Modern {
        maxseg = maxseg.at_least(Cause::Floor, LEAST);
    }
    let receive = release.buffer(&inputs.receive);
    let receiving = if receive.value() > maxseg.value() {
        release.resized(receive, &maxseg, &inputs.receive, inputs.buffer_limit)
    } else {
        as_it_was(&inputs.receive)
    };
    Decision { maxseg, send_buffer: sending, receive_buffer: receiving }
}

impl Release {
    /// What one gets that gave no option: `net.inet.tcp.mssdflt`.
    const fn default_mss(self) -> u64 {
        match self {
            Self::V22 | Self::V22Patched => 512,
            Self::Modern => 536,
        }
    }

    /// The segment before the buffers are looked at.
    fn segment(self, inputs: &Inputs) -> Derivation {
        let offer = match inputs.peer_option {
            Some(option) if option > 0 => {
                let offer = Derivation::begin(Cause::PeerOption, Bytes::new(u64::from(option)));
                match self {
                    Self::V22 | Self::V22Patched => offer,
                    Self::Modern => offer.at_least(Cause::Floor, MIN_MSS),
                }
            }
            Some(_) | None => {
                Derivation::begin(Cause::NoPeerOption, Bytes::new(self.default_mss()))
            }
        };
        let segment = Derivation::begin(Cause::InterfaceMtu, inputs.mtu.bytes())
            .less(Cause::IpHeader, ip_header(IpVersion::V4))
            .less(Cause::TcpHeader, TCP_HEADER)
            .at_most(offer.winner(), offer.value());
        if self == Self::Modern {
            return segment;
        }
        let timestamps = if inputs.timestamps { TCP_TIMESTAMPS } else { Bytes::ZERO };
        let segment = segment.at_least(Cause::Floor, LEAST).less(Cause::TcpOptions, timestamps);
        if segment.value() > CLUSTER {
            segment.down_to_multiple_of(Cause::Clusters, CLUSTER)
        } else {
            segment
        }
    }

    /// The size that the socket and the route ask for.
    fn buffer(self, buffer: &Buffer) -> Derivation {
        let own = as_it_was(buffer);
        let Some(pipe) = buffer.route_pipe.filter(|pipe| *pipe > Bytes::ZERO) else {
            return own;
        };
        match self {
            Self::V22 => Derivation::begin(Cause::RoutePipe, pipe),
            Self::V22Patched => own.at_least(Cause::RoutePipe, pipe),
            Self::Modern if buffer.is_default => Derivation::begin(Cause::RoutePipe, pipe),
            Self::Modern => own,
        }
    }

    /// Whole segments up to the limit.
    fn resized(
        self,
        asked: Derivation,
        maxseg: &Derivation,
        buffer: &Buffer,
        limit: Bytes,
    ) -> Derivation {
        let sized = asked
            .up_to_multiple_of(Cause::Segments, maxseg.value())
            .at_most(Cause::BufferLimit, limit);
        match self {
            Self::V22 | Self::V22Patched => sized,
            Self::Modern => sized.at_least(Cause::SocketBuffer, buffer.size),
        }
    }
}

fn as_it_was(buffer: &Buffer) -> Derivation {
    Derivation::begin(Cause::SocketBuffer, buffer.size)
}
