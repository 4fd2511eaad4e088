//! Which segment size a connection uses, and why.

use super::host_rules::segment;
use super::{Flow, FlowKind, Scenario};
use crate::framing::{Headers, TCP_TIMESTAMPS};
use crate::mss::black_hole::{MtuSearch, Passes, Search};
use crate::mss::linux::{PathMtu, bound_to_half_window, learn};
use crate::mss::{black_hole, rfc};
use crate::path::{IcmpPolicy, LinkSpec};
use crate::settings::{MtuProbing, Settings, WindowScale, WindowSize};
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
    /// The search of a sender of Linux that probes for larger sizes; `effective` is what it ends at.
    pub search: Option<MssSearch>,
}

/// Sizes of a sender that looks for the path MTU by probes, from the start (`tcp_mtu_probing = 2`) or once full segments were lost again and
/// again (1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MssSearch {
    /// Whether it probes from the start.
    pub is_from_start: bool,
    /// Payload of the first segments where it probes from the start, and else of those that pass first.
    pub first: Mss,
    /// Bytes that have to wait to be sent, and that the peer has to offer, before the first probe goes.
    pub needed: Bytes,
    /// Why no probe goes; `None` where one may.
    pub held: Option<NoProbe>,
}

/// Why no probe for a larger size goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoProbe {
    /// The peer never offers so large a window.
    Window,
    /// The flow never has so much to send at a time.
    Data,
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
        let initial = segment_with(None);
        let allowed = path_allows.bytes().saturating_sub(options);
        let probes = self.forbids_fragments(flow.from);
        let Found { size: unbound, timeouts, search } = match sender.mtu_probing {
            MtuProbing::Always if self.runs_linux(flow) => {
                let allowed = if probes { allowed } else { Bytes::new(u64::MAX) };
                let rules = sender.linux.map(|rules| rules.mtu_search()).unwrap_or_default();
                let search = Search::from_the_start(rules, clamp);
                let first = Mss::new(search.low()).map_or(initial, |low| low.min(initial));
                let found = black_hole::found(search, first.min(told), allowed);
                let (low, timeouts) = found.unwrap_or((first.min(told), 0));
                let probes = self.probes(flow, rules, (low, initial, told), allowed);
                let size = if found.is_some() { probes.ends_at } else { low };
                Found { size, timeouts, search: Some(probes.search(true, first)) }
            }
            MtuProbing::InBlackHole | MtuProbing::Always if probes => {
                let rules = self.runs_linux(flow).then_some(sender.linux).flatten();
                let rules = rules.map(|rules| rules.mtu_search()).unwrap_or_default();
                let found = black_hole::found(Search::new(rules, clamp), told, allowed);
                let (size, timeouts) = found.unwrap_or((told, 0));
                if timeouts > 0 && self.runs_linux(flow) {
                    let probes = self.probes(flow, rules, (size, initial, told), allowed);
                    Found {
                        size: probes.ends_at,
                        timeouts,
                        search: Some(probes.search(false, size)),
                    }
                } else {
                    Found { size, timeouts, search: None }
                }
            }
            MtuProbing::Never | MtuProbing::InBlackHole | MtuProbing::Always => {
                Found { size: told, timeouts: 0, search: None }
            }
        };
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
            search,
        }
    }

    /// The size at which the probes of Linux end that begin with `low`, which passes, where its own link leaves `initial` of a segment, routers
    /// that tell of their MTUs `told`, and the path lets `allowed` pass: where flow and receiver have enough for a probe.
    fn probes(
        &self,
        flow: &Flow,
        rules: MtuSearch,
        (low, initial, told): (Mss, Mss, Mss),
        allowed: Bytes,
    ) -> Probes {
        let needed = Bytes::new(MtuSearch::needed(low.bytes().get(), initial.bytes().get()));
        let held = if self.most_offered(flow, initial).is_some_and(|offered| offered < needed) {
            Some(NoProbe::Window)
        } else {
            self.most_written(flow).filter(|written| *written < needed).map(|_| NoProbe::Data)
        };
        let ends_at = if held.is_some() {
            low
        } else {
            let [from, to, told_bytes] = [low, initial, told].map(|size| size.bytes().get());
            let passes = Passes { told: told_bytes, silent: allowed.get() };
            Mss::new(rules.grown(from, to, passes)).map_or(low, |grown| grown.min(told))
        };
        Probes { ends_at, needed, held }
    }

    /// The most that a flow has to send at a time; `None` for as much as it can carry.
    fn most_written(&self, flow: &Flow) -> Option<Bytes> {
        match &flow.kind {
            FlowKind::Request(plan) => Some(plan.request.max(plan.reply)),
            FlowKind::Bulk | FlowKind::Cbr { .. } | FlowKind::Ping { .. } => self.until.bytes,
        }
    }

    /// The widest window that the receiver of `flow` offers; `None` where the kernel finds it itself.
    fn most_offered(&self, flow: &Flow, initial: Mss) -> Option<Bytes> {
        let (sender, receiver) = self.endpoints(flow);
        if matches!(receiver.window, WindowSize::Auto { .. }) {
            return None;
        }
        let unscaled = [sender, receiver].iter().any(|host| host.window_scale == WindowScale::Off);
        let field = if unscaled { Bytes::new(FIELD) } else { Bytes::new(u64::MAX) };
        Some(receiver.window.bytes(initial.bytes()).min(field))
    }

    /// What of `mss` a sender's rule about the receiver's window leaves.
    fn within_window(&self, flow: &Flow, (initial, mss): (Mss, Mss), options: Bytes) -> Mss {
        // A window that the kernel finds itself begins at several segments, and grows.
        let offered = self.runs_linux(flow).then(|| self.most_offered(flow, initial)).flatten();
        let Some(window) = offered else { return mss };
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

/// The size that a sender finds, after so many timeouts in a row.
struct Found {
    size: Mss,
    timeouts: u32,
    search: Option<MssSearch>,
}

/// What the probes of Linux find.
struct Probes {
    ends_at: Mss,
    needed: Bytes,
    held: Option<NoProbe>,
}

impl Probes {
    const fn search(&self, is_from_start: bool, first: Mss) -> MssSearch {
        MssSearch { is_from_start, first, needed: self.needed, held: self.held }
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
