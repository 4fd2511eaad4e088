//! What the colours of the page mean: the same in every graph, on light ground and on dark (`page/page.css`).

use maxseg_core::outcome::LimitedBy;

/// What was sent: payload of the direction that carried the data.
pub(super) const SENT: &str = "--sent";
/// What was acknowledged, and the link that carries it.
pub(super) const ACKED: &str = "--acked";
/// Windows and buffers of the hosts.
pub(super) const WINDOW: &str = "--window";
/// What was lost or sent again.
pub(super) const AGAIN: &str = "--again";
/// A sender that waits for its timer.
pub(super) const STALLED: &str = "--stalled";
/// What a finding is about.
pub(super) const NOTED: &str = "--noted";
/// The congestion window.
pub(super) const CWND: &str = "--cwnd";
/// Nothing to send.
pub(super) const IDLE: &str = "--idle";
/// Nothing known.
const UNKNOWN: &str = "--unknown";
/// Payload of the other direction.
pub(super) const BACK: &str = "--back";

/// The colour of a limit: that of what it is about.
pub(super) const fn limit_color(limit: LimitedBy) -> &'static str {
    match limit {
        LimitedBy::ReceiveWindow | LimitedBy::SendBuffer => WINDOW,
        LimitedBy::Bandwidth => ACKED,
        LimitedBy::Congestion | LimitedBy::PathMtu => AGAIN,
        LimitedBy::Rto => STALLED,
        LimitedBy::StartUp => CWND,
        LimitedBy::Host | LimitedBy::Paced => SENT,
        LimitedBy::Application => IDLE,
        LimitedBy::Unknown => UNKNOWN,
    }
}
