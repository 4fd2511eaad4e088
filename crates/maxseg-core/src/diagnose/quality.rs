//! Whether the capture is fit to judge a connection by, and which verdicts it leaves open. Faults of the capture are
//! looked for before anything is said of the connection, as tcpanaly does (Paxson, SIGCOMM 1997).

mod acknowledgements;
mod copies;
mod unseen;
mod wanted;

use schemars::JsonSchema;
use serde::Serialize;

use super::finding::{counted, counted_times};
use super::intervals::{OFTEN_OUT_OF_DATA, share_out_of_data};
use super::loss_cause::loses_much;
use super::one_way;
use super::overtaken::has_no_order;
use super::pace::Pace;
use crate::evidence::{DirectionStats, Ending, Evidence};
use crate::outcome::LimitedBy;
use crate::units::{Time, approx};
pub(super) use wanted::wanted_capture;

/// Whether the capture is fit to judge a connection by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Quality {
    /// Whether a verdict can be had; where not, the reasons tell why.
    pub fit: bool,
    /// What is peculiar about the capture, also where that was put right.
    pub reasons: Vec<Reason>,
    /// The capture that would do; null where this one does.
    pub wanted: Option<String>,
}

/// One thing that is peculiar about a capture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Reason {
    /// What it is.
    pub code: ReasonCode,
    /// What was seen, as a sentence without a full stop.
    pub text: String,
}

/// What is peculiar about a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReasonCode {
    /// Packets were captured more than once: at several points, or at one by a mirror port.
    CapturedTwice,
    /// The packets are in another connection of the capture as well, with addresses that a hop translated.
    Translated,
    /// The packets of two captures with a path between are in one file.
    Merged,
    /// Each direction was captured at an interface of its own.
    SplitDirections,
    /// Packets were stored out of order, or acknowledgements before their data.
    Unordered,
    /// The clock was set during the capture.
    ClockJump,
    /// The clock is coarse.
    ClockCoarse,
    /// Payload was acknowledged that was never captured.
    CaptureLoss,
    /// Files of a ring are missing: the connection went on meanwhile.
    MissingFiles,
    /// Segments were sent beyond every window that was captured, or long after the last acknowledgement.
    LostAcknowledgements,
    /// Packets without payload are missing, as with a filter that keeps payload.
    PayloadOnly,
    /// The capture begins in the middle of the connection.
    MidStream,
    /// One direction is missing.
    OneWay,
    /// Headers were cut off.
    CutHeaders,
    /// Packets were captured before segmentation or after receive offload.
    Offload,
}

/// A larger share of payload that was not captured leaves open what is not plain.
const MUCH_UNSEEN: f64 = 0.05;
/// So much of it, in segments that were sent again, leaves open whether losses are what limits: what the capture lost among them looks the
/// same, and hides what the sender waited for.
const AS_LOST: f64 = 0.5;
/// From this share on nothing can be said at all.
const MOST_UNSEEN: f64 = 0.5;
/// The least round trip is known when it is so many ticks of a coarse clock.
const TICKS: f64 = 10.0;
/// Rates and queues are known when the round trip is so many.
const MANY_TICKS: f64 = 100.0;
/// A pause from which on it is no round trip, in seconds: hosts waited so long for an answer to a SYN (RFC 1122
/// §4.2.3.1).
const LONG_PAUSE_S: f64 = 3.0;

impl Quality {
    /// Looks at the capture of a connection of which this was the verdict without a look at it: it stands where the
    /// capture is [`fit`](Self::fit).
    pub(super) fn of(evidence: &Evidence, verdict: LimitedBy) -> Self {
        let reasons = Self::reasons(evidence);
        let data = evidence.stats(evidence.data_direction());
        let open = reasons.iter().find(|reason| leaves_open(reason.code, evidence, data, verdict));
        let wanted = open.map(|reason| wanted_capture(reason.code).to_owned());
        Self { fit: wanted.is_none(), reasons, wanted }
    }

    /// What is peculiar about the capture of a connection.
    pub(super) fn reasons(evidence: &Evidence) -> Vec<Reason> {
        let rules: [fn(&Evidence) -> Option<Reason>; 15] = [
            merged,
            one_way,
            mid_stream,
            cut_headers,
            unseen::missing_files,
            unseen::capture_loss,
            acknowledgements::lost,
            acknowledgements::filtered,
            clock_coarse,
            clock_jump,
            copies::twice,
            copies::translated,
            split_directions,
            unordered,
            offload,
        ];
        rules.iter().filter_map(|rule| rule(evidence)).collect()
    }

    /// What is peculiar of this kind, if anything is.
    pub fn reason(&self, code: ReasonCode) -> Option<&Reason> {
        self.reasons.iter().find(|reason| reason.code == code)
    }

    /// What about the capture leaves the limit open, as a clause; `None` where it is fit.
    pub fn fault(&self) -> Option<String> {
        let wanted = self.wanted.as_deref()?;
        let reason = self.reasons.iter().find(|reason| wanted_capture(reason.code) == wanted)?;
        let mut text = reason.text.clone();
        if let Some(first) = text.get_mut(..1) {
            first.make_ascii_lowercase();
        }
        Some(text)
    }

    /// Why the limit is unknown, and the capture that would show it, as a clause; `None` where the capture is fit.
    pub(super) fn unknown_because(&self) -> Option<String> {
        let fault = self.fault()?;
        self.wanted.as_deref().map(|wanted| format!("{fault}; it takes {wanted}"))
    }
}

/// Whether a fault of the capture leaves open what limited the connection.
fn leaves_open(
    code: ReasonCode,
    evidence: &Evidence,
    data: &DirectionStats,
    verdict: LimitedBy,
) -> bool {
    match code {
        ReasonCode::Merged => true,
        ReasonCode::OneWay => one_way::limit(evidence, evidence.data_direction()) != Some(verdict),
        ReasonCode::CaptureLoss => {
            let unseen = unseen::share(evidence);
            let is_much = unseen > MUCH_UNSEEN
                || verdict == LimitedBy::Congestion && unseen > AS_LOST * data.lost_share();
            unseen > MOST_UNSEEN || is_much && !is_plain(data, verdict)
        }
        ReasonCode::MissingFiles => unseen::share_of_its_time(data) > MOST_UNSEEN,
        ReasonCode::LostAcknowledgements | ReasonCode::PayloadOnly => !is_plain(data, verdict),
        // What one direction shows without the other, it shows without the handshake.
        ReasonCode::MidStream | ReasonCode::CutHeaders if evidence.marks.one_way => false,
        // Losses show whatever the window is; one may be the end of an earlier recovery.
        ReasonCode::MidStream if verdict == LimitedBy::Congestion && is_timed_and_loses(data) => {
            false
        }
        ReasonCode::MidStream | ReasonCode::CutHeaders => {
            let acks = evidence.stats(evidence.data_direction().other());
            !is_plain(data, verdict)
                && !stands_without_handshake(data, acks, verdict)
                && leaves_open(ReasonCode::OneWay, evidence, data, verdict)
        }
        ReasonCode::ClockCoarse => !is_fine_enough(evidence, data, verdict),
        ReasonCode::ClockJump => has_no_order(evidence) && !is_plain(data, verdict),
        ReasonCode::CapturedTwice
        | ReasonCode::Translated
        | ReasonCode::SplitDirections
        | ReasonCode::Unordered
        | ReasonCode::Offload => false,
    }
}

fn is_timed_and_loses(data: &DirectionStats) -> bool {
    data.path_rtt_min_s.is_some() && data.needed_retransmissions() >= 2
}

/// Whether a verdict is so plain that neither windows nor round trips matter.
fn is_plain(data: &DirectionStats, verdict: LimitedBy) -> bool {
    match verdict {
        LimitedBy::Rto | LimitedBy::PathMtu => true,
        LimitedBy::Application => pauses(data),
        LimitedBy::Congestion => loses_much(data),
        LimitedBy::ReceiveWindow
        | LimitedBy::SendBuffer
        | LimitedBy::Bandwidth
        | LimitedBy::Paced
        | LimitedBy::StartUp
        | LimitedBy::Host
        | LimitedBy::Unknown => false,
    }
}

/// Whether a verdict needs neither the window scale nor the round trip that the handshake shows.
fn stands_without_handshake(
    data: &DirectionStats,
    acks: &DirectionStats,
    verdict: LimitedBy,
) -> bool {
    let window_is_known = window_is_known(data);
    let is_timed = data.path_rtt_min_s.is_some();
    match verdict {
        LimitedBy::Rto | LimitedBy::PathMtu => true,
        // A window of 0 is shut, whatever its scale. The least scale that holds what a program writes at once makes that a full window.
        LimitedBy::ReceiveWindow => {
            window_is_known && share_out_of_data(data) < OFTEN_OUT_OF_DATA || acks.zero_windows > 0
        }
        LimitedBy::Host => window_is_known,
        LimitedBy::Application => is_timed && window_is_known || answers(data, acks),
        LimitedBy::Bandwidth if Pace::of(data, acks).fills_link => is_timed,
        LimitedBy::SendBuffer if Pace::of(data, acks).waits_for_room => is_timed,
        LimitedBy::Congestion | LimitedBy::Bandwidth | LimitedBy::SendBuffer | LimitedBy::Paced => {
            is_timed && window_is_known
        }
        LimitedBy::StartUp | LimitedBy::Unknown => false,
    }
}

/// Whether the window was known nearly always when something was sent: a SYN's is, whatever the scale.
fn window_is_known(data: &DirectionStats) -> bool {
    let sends = data.bins.as_slice().iter().filter(|bin| bin.segments > 0 && bin.sent_bytes > 0);
    let (all, known) = sends.fold((0, 0), |(all, known), bin| {
        (all + 1, known + u64::from(bin.window_left_min.is_some()))
    });
    all > 0 && known * 10 >= all * 9
}

/// Whether pauses much longer than round trips take most of the time.
fn pauses(data: &DirectionStats) -> bool {
    let bins = data.bins.as_slice();
    let all: f64 = bins.iter().map(|bin| bin.duration.as_secs_f64()).sum();
    let idle = bins.iter().map(|bin| bin.idle.saturating_add(bin.app_limited).as_secs_f64());
    idle.filter(|seconds| *seconds > LONG_PAUSE_S).sum::<f64>() > 0.5 * all
}

/// Whether the sender answers requests, and was out of data for most of the time.
fn answers(data: &DirectionStats, acks: &DirectionStats) -> bool {
    acks.data_packets >= 3 && share_out_of_data(data) > 0.5
}

/// Whether the round trips are long enough for the clock, or the verdict is of pauses that are.
fn is_fine_enough(evidence: &Evidence, data: &DirectionStats, verdict: LimitedBy) -> bool {
    let Some(tick) = evidence.capture.clock_resolution.map(Time::as_secs_f64) else { return true };
    let rtt = data.path_rtt_min_s.or(evidence.handshake.rtt().map(Time::as_secs_f64));
    match verdict {
        _ if is_plain(data, verdict) => true,
        // Trains of packets are shorter than the clock's ticks.
        LimitedBy::Bandwidth | LimitedBy::Congestion | LimitedBy::SendBuffer | LimitedBy::Paced => {
            rtt.is_some_and(|rtt| rtt >= MANY_TICKS * tick)
        }
        LimitedBy::Rto
        | LimitedBy::PathMtu
        | LimitedBy::Application
        | LimitedBy::ReceiveWindow
        | LimitedBy::StartUp
        | LimitedBy::Unknown
        | LimitedBy::Host => rtt.is_some_and(|rtt| rtt >= TICKS * tick),
    }
}

const fn reason(code: ReasonCode, text: String) -> Reason {
    Reason { code, text }
}

fn merged(evidence: &Evidence) -> Option<Reason> {
    let text = "The file holds the captures of two places with a path between: its round trips are of neither";
    evidence.capture.is_merged.then(|| reason(ReasonCode::Merged, text.to_owned()))
}

fn split_directions(evidence: &Evidence) -> Option<Reason> {
    if !evidence.capture.is_split {
        return None;
    }
    Some(reason(
        ReasonCode::SplitDirections,
        "Each direction was captured at an interface of its own".to_owned(),
    ))
}

fn unordered(evidence: &Evidence) -> Option<Reason> {
    let (late, early) = (evidence.capture.late_packets, evidence.capture.acks_before_data);
    let late = (late > 0).then(|| format!("{} stored behind later ones", counted(late, "packet")));
    let early = (early > 0)
        .then(|| format!("{} captured before the data", counted(early, "acknowledgement")));
    let faults: Vec<String> = late.into_iter().chain(early).collect();
    let text = match (evidence.capture.later_first, faults.is_empty()) {
        (true, _) => "The file has later packets of these addresses and ports first, as a connection of their own: it is out of order, or \
                      the clock was set back"
            .to_owned(),
        (false, true) => return None,
        (false, false) => format!("Put in order: {}", faults.join(", ")),
    };
    Some(reason(ReasonCode::Unordered, text))
}

fn clock_jump(evidence: &Evidence) -> Option<Reason> {
    let steps = evidence.capture.clock_steps;
    if steps == 0 {
        return None;
    }
    let times = counted_times(steps);
    let text = if has_no_order(evidence) {
        format!("Times step back or far ahead {times}: the packets are not in their order")
    } else {
        format!(
            "The clock was set {times} during the capture: time goes on from the packet before; where the file is out of order \
             instead, reordercap sorts it"
        )
    };
    Some(reason(ReasonCode::ClockJump, text))
}

fn clock_coarse(evidence: &Evidence) -> Option<Reason> {
    let tick = evidence.capture.clock_resolution?.as_secs_f64();
    Some(reason(
        ReasonCode::ClockCoarse,
        format!("All times are multiples of {}", approx::time(tick)),
    ))
}

fn mid_stream(evidence: &Evidence) -> Option<Reason> {
    // What is refused has no SYN-ACK.
    if !evidence.marks.mid_stream || evidence.ending == Ending::Refused {
        return None;
    }
    let missing = match (evidence.handshake.syn, evidence.handshake.syn_ack) {
        (false, true) => "SYN",
        (true, false) => "SYN-ACK",
        _ => "handshake",
    };
    let text = format!("The {missing} is missing, and with it MSS, window scale and round trip");
    Some(reason(ReasonCode::MidStream, text))
}

fn one_way(evidence: &Evidence) -> Option<Reason> {
    // A SYN that nobody answers is no fault of the capture.
    let (there, back) = (&evidence.forward, &evidence.reverse);
    let data_packets = there.data_packets + back.data_packets;
    let answers = data_packets + there.acked_bytes + back.acked_bytes > 0;
    if !evidence.marks.one_way || !answers && !evidence.marks.mid_stream {
        return None;
    }
    // What acknowledges may carry requests.
    let has_data = evidence.stats(evidence.data_direction()).payload_bytes > 0;
    let missing = if has_data { "the acknowledgements are missing" } else { "the data is missing" };
    Some(reason(ReasonCode::OneWay, format!("Only one direction was captured: {missing}")))
}

fn cut_headers(evidence: &Evidence) -> Option<Reason> {
    if !evidence.capture.cut_syn {
        return None;
    }
    let text = "The options of a SYN are cut off: window scale, SACK and timestamps are unknown";
    Some(reason(ReasonCode::CutHeaders, text.to_owned()))
}

fn offload(evidence: &Evidence) -> Option<Reason> {
    let count = evidence.forward.offloaded_packets + evidence.reverse.offloaded_packets;
    if count == 0 {
        return None;
    }
    let packets = counted(count, "packet");
    let text = "larger than a segment: captured before segmentation or after receive offload";
    Some(reason(ReasonCode::Offload, format!("{packets} {text}")))
}
