//! Which segment size a connection uses, and why.

use super::host_rules::segment;
use super::{Flow, Scenario};
use crate::framing::{Headers, TCP_TIMESTAMPS};
use crate::mss::linux::{PathMtu, bound_to_half_window, learn};
use crate::mss::{black_hole, rfc};
use crate::path::{IcmpPolicy, LinkSpec};
use crate::settings::{Settings, WindowScale, WindowSize};
use crate::units::{Bytes, Mss, Mtu};
use crate::window::FIELD;

/// How the segment size of a flow came about (RFC 9293 §3.7.1, RFC 6691).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MssDecision {
    /// What the sender's settings ask for; `None` where they leave it to the MTU.
    pub asked: Option<Mss>,
    /// The MSS option that comes with the SYN of the data's sender; `None` for none.
    pub offered_by_sender: Option<Mss>,
    /// The option that the data's receiver answers with: the most that it wants to be sent; `None` for none.
    pub offered_by_receiver: Option<Mss>,
    /// The largest segment that passes every hop whole.
    pub path_allows: Mss,
    /// Bytes of options in every segment.
    pub options: Bytes,
    /// What the peer's MSS option and the host's own limit leave for the payload, whatever the MTU.
    pub clamp: Mss,
    /// Payload of a full segment when the connection begins: what options take in its header is not
    /// payload (RFC 6691 §3), and of the path only the first link is known.
    pub initial: Mss,
    /// The same once every hop that tells of packets too large for it has told (RFC 1191). Where DF is
    /// clear none does, and a hop that is silent never does: there a sender that probes finds a size that
    /// passes, in its own time.
    pub effective: Mss,
    /// The same were the receiver's window of any size: what a window in segments is counted in. Linux sends at most half of the
    /// window in a segment ([`bound_to_half_window`](crate::mss::linux::bound_to_half_window)).
    pub unbound: Mss,
    /// Whether it clears DF because a hop takes less than it believes of any: Linux below 552 bytes
    /// ([`learn`](crate::mss::linux::learn)).
    pub clears_df: bool,
    /// After how many timeouts in a row it finds that; 0 where it need not.
    pub timeouts: u32,
}

impl MssDecision {
    /// The smaller of the options, as the most that either end is to be sent.
    pub fn offered(&self) -> Option<Mss> {
        self.offered_by_sender.into_iter().chain(self.offered_by_receiver).min()
    }

    /// Whether a hop on the way, not the two hosts, decided.
    pub fn is_lowered_by_path(&self) -> bool {
        self.unbound < self.initial
    }

    /// Whether the receiver's window decided.
    pub fn is_lowered_by_window(&self) -> bool {
        self.effective < self.unbound
    }

    /// Whether segments are too large for a hop and stay so.
    pub fn is_too_large(&self) -> bool {
        self.effective.bytes() + self.options > self.path_allows.bytes()
    }
}

impl Scenario {
    /// The segment size of `flow`.
    pub fn mss(&self, flow: &Flow) -> MssDecision {
        let (sender, receiver) = self.endpoints(flow);
        let [near, far] = self.hosts(flow);
        let (offered_by_sender, offered_by_receiver) = (near.option(), far.option());
        let links = self.links_from_sender_of(flow);
        let path = links.iter().map(|link| link.mtu).min().unwrap_or(near.mtu);
        let tells = |link: &&&LinkSpec| link.icmp == IcmpPolicy::Send;
        let told = links.iter().filter(tells).map(|link| link.mtu).min();
        let told = told.filter(|_| self.forbids_fragments(flow.from));
        let learned = told.map(|told| {
            if self.runs_linux(flow) {
                learn(self.ip, near.mtu, told)
            } else {
                PathMtu { mtu: told, clears_df: false }
            }
        });
        let options = option_bytes(sender, receiver);
        let segment_with = |path_mtu: Option<Mtu>| {
            if let Some(segment) = near.linux_segment(offered_by_receiver, path_mtu, options) {
                return segment;
            }
            let by_rfc = rfc::decide(&rfc::Inputs {
                ip: self.ip,
                local_mtu: near.mtu,
                peer_option: offered_by_receiver.map(Mss::get),
                path_mtu,
                user_mss: near.own_limit(offered_by_receiver),
                ip_options: Bytes::ZERO,
                tcp_options: options,
            });
            let by_rfc = segment(&by_rfc.effective);
            let known_mtu = path_mtu.unwrap_or(near.mtu);
            near.freebsd_segment(offered_by_receiver, known_mtu, options)
                .map_or(by_rfc, |segment| segment.min(by_rfc))
        };
        let told = segment_with(learned.map(|path| path.mtu));
        let path_allows = self.mss_for(path);
        let clamp = near.clamp(offered_by_receiver, options);
        let probes = sender.mtu_probing && self.forbids_fragments(flow.from);
        let found = probes
            .then(|| black_hole::found(told, clamp, path_allows.bytes().saturating_sub(options)))
            .flatten();
        let (unbound, timeouts) = found.unwrap_or((told, 0));
        let initial = segment_with(None);
        MssDecision {
            asked: sender.mss,
            offered_by_sender,
            offered_by_receiver,
            path_allows,
            options,
            clamp,
            initial,
            effective: self.within_window(flow, (initial, unbound), options),
            unbound,
            clears_df: learned.is_some_and(|path| path.clears_df),
            timeouts,
        }
    }

    /// What of `mss` a sender's rule about the receiver's window leaves.
    fn within_window(&self, flow: &Flow, (initial, mss): (Mss, Mss), options: Bytes) -> Mss {
        let (sender, receiver) = self.endpoints(flow);
        // A window that the kernel finds itself begins at several segments, and grows.
        if !self.runs_linux(flow) || matches!(receiver.window, WindowSize::Auto { .. }) {
            return mss;
        }
        let unscaled = [sender, receiver].iter().any(|host| host.window_scale == WindowScale::Off);
        let field = if unscaled { Bytes::new(FIELD) } else { Bytes::new(u64::MAX) };
        let window = receiver.window.bytes(initial.bytes()).min(field);
        let bytes = in_whole_segments(window, initial.bytes(), |window| {
            bound_to_half_window(mss.bytes(), window, options)
        });
        Mss::new(bytes.get()).map_or(mss, |bound| bound.min(mss))
    }

    /// Bytes of IP and TCP headers of every segment, options left aside.
    pub fn tcp_ip_headers(&self) -> Bytes {
        Headers::plain(self.ip).bytes()
    }

    /// What a host offers whose interface has this MTU.
    fn mss_for(&self, mtu: Mtu) -> Mss {
        segment(&rfc::advertised(self.ip, mtu, None))
    }
}

/// The segment size where a receiver offers whole segments of `window`, first of its own and then of those that come.
fn in_whole_segments(window: Bytes, own: Bytes, bound_to: impl Fn(Bytes) -> Bytes) -> Bytes {
    let whole = |segment: Bytes| {
        if window > segment {
            window.saturating_sub(Bytes::new(window.get() % segment.get()))
        } else {
            window
        }
    };
    let mut offered = whole(own);
    loop {
        let bound = bound_to(offered);
        let next = whole(bound);
        if next <= offered {
            return bound;
        }
        offered = next;
    }
}

/// Bytes of options that every segment carries: timestamps, where both hosts are willing and their
/// headers are real.
fn option_bytes(sender: &Settings, receiver: &Settings) -> Bytes {
    let real = receiver.window_scale != WindowScale::Unlimited;
    let used = real && sender.timestamps && receiver.timestamps;
    if used { TCP_TIMESTAMPS } else { Bytes::ZERO }
}
