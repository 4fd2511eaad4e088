//! A change in words: where it is made, what was there before, and why.

use super::ends::{Ends, HostEnd};
use super::limit::{limit, policed};
use crate::advise::Change;
use crate::advise::data_flow::{data_flow, data_rate};
use crate::advise::mss_caps::mss_caps;
use crate::diagnose::counted;
use crate::outcome::Outcome;
use crate::scenario::Scenario;
use crate::settings::{InitialWindow, Settings, WindowScale, WindowSize};
use crate::units::{Bytes, approx};
use crate::window::FIELD;

/// The host on which a change is made; `None` for one of the path.
pub(super) const fn host_of(change: Change, ends: &Ends) -> Option<&HostEnd> {
    match change {
        Change::Window(_)
        | Change::ReceiveBuffer(_)
        | Change::FirstReceiveBuffer(_)
        | Change::ReadsAtOnce => Some(&ends.receiver),
        Change::SendBuffer(_)
        | Change::SegmentSize(_)
        | Change::Mtu(_)
        | Change::Congestion(_)
        | Change::InitialWindow(_)
        | Change::RtoMin(_)
        | Change::RtoInitial(_)
        | Change::Pacing(_)
        | Change::MtuProbing
        | Change::NoSlowStartAfterIdle
        | Change::ReorderingTolerance => Some(&ends.sender),
        Change::Clamp(_)
        | Change::IcmpSent
        | Change::Queue(_)
        | Change::FairQueue
        | Change::Codel
        | Change::NoErrors => None,
    }
}

/// Where a change is made: the host, or `gateway` or `path`.
pub(super) fn place_of(change: Change, ends: &Ends) -> String {
    host_of(change, ends).map_or_else(|| scope(change).to_owned(), HostEnd::to_string)
}

/// `host`, `route`, `gateway` or `path`.
pub(super) const fn scope(change: Change) -> &'static str {
    match change {
        Change::SegmentSize(_)
        | Change::Mtu(_)
        | Change::Congestion(_)
        | Change::InitialWindow(_)
        | Change::RtoMin(_) => "route",
        Change::Window(_)
        | Change::ReceiveBuffer(_)
        | Change::FirstReceiveBuffer(_)
        | Change::SendBuffer(_)
        | Change::RtoInitial(_)
        | Change::Pacing(_)
        | Change::MtuProbing
        | Change::NoSlowStartAfterIdle
        | Change::ReorderingTolerance
        | Change::ReadsAtOnce => "host",
        Change::Clamp(_) => "gateway",
        Change::IcmpSent
        | Change::Queue(_)
        | Change::FairQueue
        | Change::Codel
        | Change::NoErrors => "path",
    }
}

/// Whether a size or a window becomes larger.
#[expect(clippy::wildcard_enum_match_arm, reason = "all others have one direction")]
pub(super) fn raises(change: Change, scenario: &Scenario) -> bool {
    let Some(flow) = data_flow(scenario) else { return true };
    let decision = scenario.mss(&flow);
    match change {
        Change::Window(window) => {
            let (_, receiving) = scenario.agreed_settings(&flow);
            window > receiving.offered_window(decision.effective.bytes())
        }
        Change::SegmentSize(mss) => mss.bytes() > decision.effective.bytes() + decision.options,
        _ => true,
    }
}

/// The value before the change.
pub(super) fn current(change: Change, scenario: &Scenario) -> String {
    let (sending, receiving) = hosts_in_use(scenario);
    match change {
        Change::Window(_) => window(&receiving),
        Change::ReceiveBuffer(_) => match (receiving.window, &receiving.linux) {
            (WindowSize::Auto { .. }, Some(rules)) => {
                format!("{}, autotuned", Bytes::new(rules.tcp_rmem[2]))
            }
            _ => format!("a window of {}", window(&receiving)),
        },
        Change::FirstReceiveBuffer(_) => receiving.linux.map_or_else(
            || "unknown".to_owned(),
            |rules| Bytes::new(rules.tcp_rmem[1]).to_string(),
        ),
        Change::SendBuffer(_) => sending
            .send_buffer_as_asked()
            .map_or_else(|| "no limit".to_owned(), |buffer| buffer.to_string()),
        Change::SegmentSize(_) | Change::Clamp(_) => {
            data_flow(scenario).map_or_else(String::new, |flow| {
                let decision = scenario.mss(&flow);
                (decision.effective.bytes() + decision.options).to_string()
            })
        }
        Change::Mtu(_) => scenario
            .path
            .hops
            .first()
            .map_or_else(String::new, |hop| format!("{} bytes", hop.forward.mtu.get())),
        Change::Congestion(_) => sending.congestion.word().to_owned(),
        Change::InitialWindow(_) => match sending.initial_window {
            InitialWindow::Segments(1) => "1 segment".to_owned(),
            InitialWindow::Segments(segments) => format!("{segments} segments"),
            InitialWindow::Rfc6928 => "10 segments (RFC 6928)".to_owned(),
        },
        Change::RtoMin(_) => sending.rto.min.to_string(),
        Change::RtoInitial(_) => sending.rto.initial.to_string(),
        Change::Pacing(_) => "no limit".to_owned(),
        Change::MtuProbing => "off".to_owned(),
        Change::NoSlowStartAfterIdle => "on".to_owned(),
        Change::ReorderingTolerance
        | Change::ReadsAtOnce
        | Change::IcmpSent
        | Change::Queue(_)
        | Change::FairQueue
        | Change::Codel
        | Change::NoErrors => "as it is".to_owned(),
    }
}

/// The settings of the host that sends the data and of the one that receives it, as they are in effect.
fn hosts_in_use(scenario: &Scenario) -> (Settings, Settings) {
    match data_flow(scenario) {
        Some(flow) => scenario.agreed_settings(&flow),
        None => (scenario.sender.clone(), scenario.receiver.clone()),
    }
}

fn window(receiving: &Settings) -> String {
    match receiving.window {
        WindowSize::Bytes(bytes) => bytes.to_string(),
        WindowSize::Segments(1) => "1 segment".to_owned(),
        WindowSize::Segments(segments) => format!("{segments} segments"),
        WindowSize::Auto { .. } if receiving.window_scale == WindowScale::Off => {
            format!("{}, as far as it goes without window scaling", Bytes::new(FIELD))
        }
        WindowSize::Auto { most } => format!("autotuned, up to {most}"),
    }
}

/// The value after the change.
pub(super) fn proposed(change: Change) -> String {
    match change {
        Change::Window(bytes)
        | Change::ReceiveBuffer(bytes)
        | Change::FirstReceiveBuffer(bytes)
        | Change::SendBuffer(bytes)
        | Change::Queue(bytes) => bytes.to_string(),
        Change::SegmentSize(mss) | Change::Clamp(mss) => mss.get().to_string(),
        Change::Mtu(mtu) => format!("{} bytes", mtu.get()),
        Change::Congestion(name) => name.word().to_owned(),
        Change::InitialWindow(segments) => format!("{segments} segments"),
        Change::RtoMin(time) | Change::RtoInitial(time) => time.to_string(),
        Change::Pacing(rate) => rate.to_string(),
        Change::MtuProbing | Change::ReorderingTolerance => "on".to_owned(),
        Change::NoSlowStartAfterIdle => "off".to_owned(),
        Change::ReadsAtOnce
        | Change::IcmpSent
        | Change::FairQueue
        | Change::Codel
        | Change::NoErrors => change.describe(),
    }
}

/// The change as a sentence in the imperative, without a full stop.
pub(super) fn sentence(change: Change, ends: &Ends, scenario: &Scenario) -> String {
    let Ends { sender, receiver } = ends;
    let now = current(change, scenario);
    let scaling = if change.needs_scaling(scenario) {
        ", which needs window scaling at both ends (RFC 7323)"
    } else {
        ""
    };
    match change {
        Change::Window(window) if raises(change, scenario) => {
            format!("Let {receiver} offer a receive window of {window} instead of {now}{scaling}")
        }
        Change::Window(window) => {
            format!("Hold the receive window of {receiver} at {window} instead of {now}")
        }
        Change::ReceiveBuffer(bytes) => format!(
            "Let the receive buffer of {receiver} grow to {bytes} instead of {now} (tcp_rmem){scaling}"
        ),
        Change::FirstReceiveBuffer(bytes) => format!(
            "Raise the first receive buffer of {receiver} to {bytes} (the middle number of tcp_rmem)"
        ),
        Change::SendBuffer(bytes) => {
            let is_linux = hosts_in_use(scenario).0.linux.is_some();
            let unit = if is_linux { " (as SO_SNDBUF counts: tcp_wmem is twice that)" } else { "" };
            format!("Let the send buffer of {sender} hold {bytes} instead of {now}{unit}")
        }
        Change::SegmentSize(mss) => {
            format!("Send segments of an MSS of {} instead of {now} from {sender}", mss.get())
        }
        Change::Mtu(mtu) => format!(
            "Send packets of at most {} bytes from {sender} to {receiver}: larger ones do not pass whole",
            mtu.get()
        ),
        Change::Clamp(mss) => format!("Clamp the MSS to {} at the gateway", mss.get()),
        Change::Congestion(name) => format!(
            "Use {} instead of {now} as the congestion control of {sender} on this route",
            name.word().to_uppercase()
        ),
        Change::InitialWindow(segments) => {
            format!("Let {sender} begin with {segments} segments instead of {now}")
        }
        Change::RtoMin(time) => {
            format!("Set the least retransmission timeout of {sender} to {time} instead of {now}")
        }
        Change::RtoInitial(time) => {
            format!("Set the first retransmission timeout of {sender} to {time} instead of {now}")
        }
        Change::Pacing(rate) => format!("Pace {sender} to {rate}"),
        Change::MtuProbing => format!("Enable MTU probing on {sender}"),
        Change::NoSlowStartAfterIdle => {
            "Disable slow start after idle on both hosts (tcp_slow_start_after_idle=0)".to_owned()
        }
        Change::ReorderingTolerance => {
            format!("Let {sender} tell reordering from loss (RACK, tcp_recovery)")
        }
        Change::ReadsAtOnce => format!("Let the program on {receiver} read at once"),
        Change::IcmpSent => "Let every hop send ICMP for packets too large for it".to_owned(),
        Change::Queue(bytes) => format!("Give the queue before the bottleneck room for {bytes}"),
        Change::FairQueue => "Put a fair queue before the bottleneck link".to_owned(),
        Change::Codel => "Use CoDel in every queue of the path".to_owned(),
        Change::NoErrors => "Repair the errors of the path".to_owned(),
    }
}

/// A number as a file writes it where that is short, as people read it where it has many digits.
fn legible(exact: String, rounded: impl FnOnce() -> String) -> String {
    const MOST_DIGITS: usize = 4;
    let digits = exact.chars().filter(char::is_ascii_digit).count();
    if digits <= MOST_DIGITS { exact } else { rounded() }
}

/// Why this change: what limits the path as it is, and what the path holds.
pub(super) fn reason(change: Change, of: &super::Request<'_>, outcome: Option<&Outcome>) -> String {
    let (scenario, least) = (of.scenario, of.at_least());
    let rtt = scenario.path.propagation_rtt();
    let rate = data_rate(scenario);
    let held = rate.bytes_in(rtt);
    let limit =
        outcome.map_or_else(String::new, |outcome| format!("{}. ", limit(scenario, outcome)));
    let path = format!(
        "The path carries {least}{} with a round trip of {}: it holds {least}{held}{}",
        legible(rate.to_string(), || approx::rate(rate.get() as f64)),
        legible(rtt.to_string(), || approx::time(rtt.as_secs_f64())),
        policed(scenario)
    );
    let ping = outcome.and_then(Outcome::ping_with_waiting_s).map(approx::time);
    let under_load = ping
        .map_or_else(String::new, |ping| format!(", and a ping takes {ping} while data is sent"));
    match change {
        Change::Window(_) if !raises(change, scenario) => {
            format!("{limit}{path}{under_load}: what is in flight beyond that waits in the queue")
        }
        Change::Window(_)
        | Change::ReceiveBuffer(_)
        | Change::FirstReceiveBuffer(_)
        | Change::SendBuffer(_) => {
            format!("{limit}{path}")
        }
        Change::SegmentSize(mss) if raises(change, scenario) => {
            let caps = mss_caps(scenario, mss).into_iter().map(|cap| cap.describe(scenario));
            let caps: Vec<String> = caps.collect();
            let held = if caps.is_empty() { "" } else { "; what holds segments below is " };
            format!("{limit}The path carries larger packets whole{held}{}", caps.join(", and "))
        }
        Change::SegmentSize(_) => format!(
            "{limit}{path}{under_load}; a smaller packet is lost more seldom, or holds the line for a shorter time"
        ),
        Change::Mtu(_) | Change::Clamp(_) | Change::MtuProbing | Change::IcmpSent => {
            format!("{limit}The smallest MTU of the path is {}", scenario.path.smallest_mtu())
        }
        Change::Congestion(_) => format!("{limit}{path}{under_load}"),
        Change::InitialWindow(_) => {
            format!("{limit}{path}; the first round trips carry little of it")
        }
        Change::RtoMin(_) | Change::RtoInitial(_) => {
            let counts = outcome.map_or_else(String::new, |outcome| {
                format!(
                    "{} and {} in a run as it is. ",
                    counted(outcome.timeouts.unwrap_or(0), "timeout"),
                    counted(
                        outcome.spurious_retransmissions.unwrap_or(0),
                        "needless retransmission"
                    )
                )
            });
            let rtt =
                outcome.and_then(|outcome| outcome.rtt_p99_s).map_or_else(String::new, |rtt| {
                    format!("Round trips take up to {}", approx::time(rtt))
                });
            format!("{counts}{rtt}")
        }
        Change::Pacing(_) => format!("{limit}{path}"),
        Change::NoSlowStartAfterIdle => format!(
            "{limit}After a pause of a retransmission timeout Linux begins anew with {} (RFC 5681 §4.1)",
            current(Change::InitialWindow(1), scenario)
        ),
        Change::ReorderingTolerance
        | Change::ReadsAtOnce
        | Change::Queue(_)
        | Change::FairQueue
        | Change::Codel
        | Change::NoErrors => limit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{BitsPerSec, Time};

    #[test]
    fn a_measured_path_is_told_in_three_digits() {
        let rate = |text: &str| {
            let rate: BitsPerSec = text.parse().unwrap();
            legible(rate.to_string(), || approx::rate(rate.get() as f64))
        };
        assert_eq!(rate("50 Mbit/s"), "50 Mbit/s");
        assert_eq!(rate("28.8 kbit/s"), "28.8 kbit/s");
        assert_eq!(rate("80185654 bit/s"), "80.2 Mbit/s");
        let time = Time::from_nanos(2_975_138_744);
        assert_eq!(legible(time.to_string(), || approx::time(time.as_secs_f64())), "2.98 s");
    }
}
