//! What could be changed on a path, by rule: segment sizes, windows, congestion controls.

use crate::advise::{Change, changed, covering};
use crate::framing::IpVersion;
use crate::mss::linux::MAXSEG;
use crate::path::HopSpec;
use crate::scenario::{Flow, FlowKind, MssDecision, Scenario};
use crate::settings::{CongestionName, WindowScale, WindowSize};
use crate::units::{Bytes, Mss, Mtu};

/// The dimensions of the search; the first option of each is to leave it as it is.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Axes {
    /// Segment sizes.
    pub(super) sizes: Vec<Size>,
    /// Congestion controls of the sender.
    pub(super) congestion: Vec<Option<CongestionName>>,
    /// Changes at every place.
    pub(super) given: Vec<Change>,
}

/// A segment size with the windows that are tried with it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Size {
    /// What makes it; none for the size in use.
    pub(super) change: Option<Change>,
    /// Changes of windows and buffers, the smallest window first; among them that of no change.
    pub(super) windows: Vec<Vec<Change>>,
}

/// A place among the options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) size: usize,
    pub(super) window: usize,
    pub(super) congestion: usize,
}

/// Windows to try, in shares of the bandwidth-delay product.
const SHARES: [f64; 13] = [0.5, 0.65, 0.8, 0.9, 1.0, 1.15, 1.35, 1.7, 2.2, 3.0, 4.5, 7.0, 11.0];

/// Windows below so many segments are whole numbers of them.
const FEW_SEGMENTS: u64 = 64;
/// Others are whole numbers of pages.
const PAGE: u64 = 4096;

/// Linux halves the segment size where the peer's window holds fewer than two, and windows below four segments end in
/// timeouts.
const LEAST_SEGMENTS_OF_LINUX: u64 = 4;

/// Sizes to try where packets may be damaged or the link is slow, in bytes; 536 is every host's (RFC 9293 §3.7.1).
const SMALLER: [u64; 4] = [1000, 536, 268, 128];

/// A full packet that takes longer on a link delays everything behind it.
const SLOW_PACKET_S: f64 = 0.01;

/// Radio frames: so many sizes that fill them are tried, and each of the smallest.
const ALIGNED: u64 = 8;
const FEWEST_FRAMES: u64 = 6;

/// What an axis is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subject {
    Size,
    Window,
    Congestion,
}

#[expect(clippy::wildcard_enum_match_arm, reason = "no axis is about any other")]
const fn subject_of(change: Change) -> Option<Subject> {
    match change {
        Change::SegmentSize(_) | Change::Mtu(_) | Change::Clamp(_) => Some(Subject::Size),
        Change::Window(_) | Change::ReceiveBuffer(_) | Change::SendBuffer(_) => {
            Some(Subject::Window)
        }
        Change::Congestion(_) => Some(Subject::Congestion),
        _ => None,
    }
}

impl Axes {
    /// What could be changed for `flow` beside the changes that are `given`: nothing of their kinds.
    pub(super) fn of(scenario: &Scenario, flow: &Flow, given: &[Change]) -> Self {
        let scenario = &changed(scenario, given);
        let has = |about: Subject| given.iter().any(|change| subject_of(*change) == Some(about));
        let sizes = if has(Subject::Size) { vec![None] } else { sizes(scenario, flow) };
        let windows = |size: Option<Change>| {
            if has(Subject::Window) { vec![Vec::new()] } else { windows(scenario, flow, size) }
        };
        let sizes =
            sizes.into_iter().map(|change| Size { change, windows: windows(change) }).collect();
        let congestion =
            if has(Subject::Congestion) { vec![None] } else { controls(scenario, flow) };
        Self { sizes, congestion, given: given.to_vec() }
    }

    /// The changes at a place.
    pub(super) fn changes(&self, place: Place) -> Vec<Change> {
        let Place { size, window, congestion } = place;
        let mut changes = self.given.clone();
        changes.extend(self.sizes[size].change);
        changes.extend(&self.sizes[size].windows[window]);
        changes.extend(self.congestion[congestion].map(Change::Congestion));
        changes
    }

    /// The window that is set at a place; `None` where it is left as it is, or to autotuning.
    #[expect(clippy::wildcard_enum_match_arm, reason = "no other change sets it")]
    pub(super) fn window(&self, place: Place) -> Option<Bytes> {
        let changes = &self.sizes[place.size].windows[place.window];
        changes.iter().find_map(|change| match change {
            Change::Window(window) => Some(*window),
            _ => None,
        })
    }

    /// Every place.
    pub(super) fn places(&self) -> impl Iterator<Item = Place> {
        self.sizes.iter().enumerate().flat_map(move |(size, of_size)| {
            (0..of_size.windows.len()).flat_map(move |window| {
                (0..self.congestion.len()).map(move |congestion| Place { size, window, congestion })
            })
        })
    }

    /// The places next to one: a size, a window or a congestion control further.
    pub(super) fn neighbours(&self, place: Place) -> Vec<Place> {
        let Place { size, window, congestion } = place;
        let beside = |index: usize, count: usize| {
            [index.checked_sub(1), Some(index + 1).filter(|next| *next < count)]
                .into_iter()
                .flatten()
        };
        let windows =
            beside(window, self.sizes[size].windows.len()).map(|window| Place { window, ..place });
        let controls = (0..self.congestion.len())
            .filter(|other| *other != congestion)
            .map(|congestion| Place { congestion, ..place });
        let sizes = beside(size, self.sizes.len()).map(|size| Place {
            size,
            window: window.min(self.sizes[size].windows.len() - 1),
            congestion,
        });
        windows.chain(sizes).chain(controls).collect()
    }
}

fn controls(scenario: &Scenario, flow: &Flow) -> Vec<Option<CongestionName>> {
    let mut controls = vec![None];
    if scenario.runs_linux(flow) {
        let now = scenario.endpoints(flow).0.congestion;
        let others = [CongestionName::Cubic, CongestionName::Bbr, CongestionName::Reno];
        controls.extend(others.into_iter().filter(|name| *name != now).map(Some));
    }
    controls
}

/// Segment sizes, the largest first; first of all that in use.
fn sizes(scenario: &Scenario, flow: &Flow) -> Vec<Option<Change>> {
    let decision = scenario.mss(flow);
    let in_use = decision.effective.bytes() + decision.options;
    let allowed = decision.path_allows.bytes();
    let mut changes: Vec<Change> = Vec::new();
    if decision.is_too_large() || decision.is_lowered_by_path() {
        changes.extend(fitting(scenario).map(Change::Mtu));
    } else if in_use < allowed && decision.search.is_none() {
        changes.push(Change::SegmentSize(decision.path_allows));
    }
    for size in smaller(scenario, flow, &decision) {
        if size < allowed && size != in_use {
            changes.extend(Mss::new(size.get()).ok().map(Change::SegmentSize));
        }
    }
    if scenario.ip == IpVersion::V6 {
        // Below it there is no IPv6.
        let least = Bytes::new(u64::from(Mtu::IPV6_MIN)).saturating_sub(scenario.tcp_ip_headers());
        changes.retain(|change| size_of(scenario, *change) >= least);
    }
    if scenario.runs_linux(flow) {
        let is_refused = |change: &Change| matches!(change, Change::SegmentSize(mss) if !MAXSEG.contains(&mss.bytes().get()));
        changes.retain(|change| !is_refused(change));
    }
    changes.sort_by_key(|change| std::cmp::Reverse(size_of(scenario, *change)));
    changes.dedup();
    std::iter::once(None).chain(changes.into_iter().map(Some)).collect()
}

/// The largest packet that passes every hop.
fn fitting(scenario: &Scenario) -> Option<Mtu> {
    Mtu::new(scenario.path.smallest_mtu().bytes().get()).ok()
}

#[expect(clippy::wildcard_enum_match_arm, reason = "no other change is of a size")]
fn size_of(scenario: &Scenario, change: Change) -> Bytes {
    match change {
        Change::SegmentSize(mss) => mss.bytes(),
        Change::Mtu(mtu) => mtu.bytes().saturating_sub(scenario.tcp_ip_headers()),
        _ => Bytes::ZERO,
    }
}

/// Sizes below the largest that could be better: packets of fewer radio frames or fewer bits are damaged more seldom, and those
/// of a slow link delay others less.
fn smaller(scenario: &Scenario, flow: &Flow, decision: &MssDecision) -> Vec<Bytes> {
    let links = || scenario.path.hops.iter().flat_map(HopSpec::links);
    let damages = links().any(|link| link.errors.is_random());
    let of_data = scenario.links_from_sender_of(flow).into_iter();
    let frames =
        of_data.filter_map(|link| Some((link, link.frame?))).min_by_key(|(_, frame)| *frame);
    if let (true, Some((link, frame))) = (damages, frames) {
        let headers = scenario.tcp_ip_headers() + decision.options;
        let around = link.framed(headers).get();
        let frame = u64::from(frame);
        let most = (decision.path_allows.bytes().get() + around).div_ceil(frame);
        let payload =
            |frames: u64| (frames * frame).checked_sub(around).filter(|payload| *payload >= 40);
        let apart = (0..=ALIGNED).map(|step| {
            let share = step as f64 / ALIGNED as f64;
            super::whole(libm::pow(most as f64, 1.0 - share))
        });
        let mut numbers: Vec<u64> = apart.chain(1..=FEWEST_FRAMES.min(most)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let sizes = numbers.into_iter().filter_map(payload);
        return sizes.map(|payload| Bytes::new(payload) + decision.options).collect();
    }
    let packet = scenario.path.smallest_mtu().bytes();
    let slowest = links().map(|link| link.airtime(packet).as_secs_f64()).fold(0.0, f64::max);
    // The least window of such packets is more than the path holds.
    let overfills =
        LEAST_SEGMENTS_OF_LINUX as f64 * slowest > scenario.path.propagation_rtt().as_secs_f64();
    let is_slow = slowest > SLOW_PACKET_S || overfills;
    if damages || is_slow {
        let mut sizes = SMALLER.map(Bytes::new).to_vec();
        if !is_slow {
            sizes.truncate(2);
        }
        return sizes;
    }
    Vec::new()
}

/// Windows and buffers for segments of a size, the smallest first.
fn windows(scenario: &Scenario, flow: &Flow, size: Option<Change>) -> Vec<Vec<Change>> {
    let sized = changed(scenario, size.as_slice());
    let mss = sized.mss(flow).effective.bytes();
    // The rules of a stack may have made a buffer another than what was asked for.
    let (sender, receiver) = sized.agreed_settings(flow);
    let is_linux = receiver.linux.is_some();
    let now = receiver.offered_window(mss);
    let least = if is_linux { LEAST_SEGMENTS_OF_LINUX } else { 1 } * mss.get();
    let mut bytes: Vec<Bytes> = SHARES
        .iter()
        .map(|share| rounded(*share * held(&sized, flow, mss), mss))
        .chain([covering(&sized)])
        .filter(|window| window.get() >= least && window.get() <= crate::window::LARGEST)
        .collect();
    bytes.sort_unstable();
    bytes.dedup();
    let mut windows: Vec<(Bytes, Vec<Change>)> = bytes
        .into_iter()
        .map(|window| {
            let mut changes = vec![Change::Window(window)];
            if sender.send_buffer_as_asked().is_some_and(|buffer| buffer < window) {
                changes.push(Change::SendBuffer(window));
            }
            (window, changes)
        })
        .collect();
    windows.push((now, Vec::new()));
    if let Some(rules) = &receiver.linux {
        let wanted = Bytes::new(2 * covering(&sized).get().min(1 << 29));
        let is_clamped = !matches!(receiver.window, WindowSize::Auto { .. });
        let is_unscaled = receiver.window_scale == WindowScale::Off;
        if rules.tcp_rmem[2] < wanted.get() || is_clamped || is_unscaled {
            let most = wanted.max(Bytes::new(rules.tcp_rmem[2]));
            let mut changes = vec![Change::ReceiveBuffer(wanted)];
            if sender.send_buffer_as_asked().is_some_and(|buffer| buffer < wanted) {
                changes.push(Change::SendBuffer(Bytes::new(wanted.get() / 2)));
            }
            windows.push((Bytes::new(most.get() / 2), changes));
        }
    }
    windows.sort_by_key(|(window, changes)| (*window, changes.len()));
    if let FlowKind::Request(plan) = flow.kind {
        let room = now.min(sender.send_buffer_as_asked().unwrap_or(now));
        keep_useful(&mut windows, plan.request.max(plan.reply), room);
    }
    windows.into_iter().map(|(_, changes)| changes).collect()
}

/// Leaves out the windows that make no difference where nothing larger than `most` is sent at a time: one that holds it all is as good as
/// any larger one, and needless where there is `room` for it already. The smallest come first.
fn keep_useful(windows: &mut Vec<(Bytes, Vec<Change>)>, most: Bytes, room: Bytes) {
    let enough = windows.iter().map(|(window, _)| *window).find(|window| *window >= most);
    let largest = enough.filter(|_| room < most);
    windows.retain(|(window, changes)| {
        changes.is_empty() || *window < most || Some(*window) == largest
    });
}

/// Payload that the path holds: what its slowest link carries within an undisturbed round trip of a full packet.
fn held(scenario: &Scenario, flow: &Flow, mss: Bytes) -> f64 {
    let times = |flow: &Flow, packet: Bytes| -> Vec<f64> {
        let links = scenario.links_from_sender_of(flow);
        links.iter().map(|link| link.airtime(packet).as_secs_f64()).collect()
    };
    let there = times(flow, mss + scenario.tcp_ip_headers());
    let slowest = there.iter().copied().fold(1e-9, f64::max);
    let on_wires: f64 = there.iter().sum();
    let back: f64 = times(&flow.reversed(), scenario.tcp_ip_headers()).iter().sum();
    let round_trip = scenario.path.propagation_rtt().as_secs_f64() + on_wires + back;
    mss.get() as f64 * round_trip / slowest
}

fn rounded(window: f64, mss: Bytes) -> Bytes {
    let mss = mss.get().max(1);
    let unit = if window < (FEW_SEGMENTS * mss) as f64 {
        mss
    } else {
        // Five binary digits: a number that people remember, within a sixteenth.
        (super::whole(window).next_power_of_two() / 32).max(PAGE)
    };
    Bytes::new(super::whole(window).div_ceil(unit).max(1) * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_that_holds_a_whole_reply_is_the_largest_that_is_tried() {
        let bytes = |kib: u64| Bytes::new(kib << 10);
        let all = || {
            [16, 64, 128, 256].map(|kib| (bytes(kib), vec![Change::Window(bytes(kib))])).to_vec()
        };
        let left = |most, room| {
            let mut windows = all();
            windows.push((bytes(3072), Vec::new()));
            keep_useful(&mut windows, bytes(most), bytes(room));
            windows.iter().map(|(window, _)| window.get() >> 10).collect::<Vec<_>>()
        };
        assert_eq!(left(100, 16), [16, 64, 128, 3072]);
        assert_eq!(left(100, 3072), [16, 64, 3072], "there is room for all of it");
        assert_eq!(left(1000, 16), [16, 64, 128, 256, 3072]);
    }
}
