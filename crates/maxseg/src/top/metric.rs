//! The columns of the list: one of them is chosen, highlighted, and sorted by.

use std::time::Duration;

use maxseg_core::units::approx;
use maxseg_wire::tcp_info::TcpInfo;
use maxseg_workbench::connections::Connection;
use maxseg_workbench::report::connections::without_unit;
use maxseg_workbench::report::words;

/// A number of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Metric {
    /// Both ways.
    Payload,
    Received,
    Sent,
    Retransmitted,
    Rtt,
    MinRtt,
    Rto,
    Mss,
    Pmtu,
    Cwnd,
    Window,
    ReceiveWindow,
    InFlight,
    Delivery,
    Pacing,
}

impl Metric {
    /// All of them; those on the left are shown first where there is no room for all.
    pub(crate) const ALL: [Self; 15] = [
        Self::Payload,
        Self::Received,
        Self::Sent,
        Self::Retransmitted,
        Self::Rtt,
        Self::Mss,
        Self::Cwnd,
        Self::Window,
        Self::InFlight,
        Self::Rto,
        Self::Pmtu,
        Self::MinRtt,
        Self::ReceiveWindow,
        Self::Delivery,
        Self::Pacing,
    ];

    /// The heading.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Payload => "payload",
            Self::Received => "received",
            Self::Sent => "sent",
            Self::Retransmitted => "retrans",
            Self::Rtt => "RTT",
            Self::MinRtt => "min RTT",
            Self::Rto => "RTO",
            Self::Mss => "MSS",
            Self::Pmtu => "PMTU",
            Self::Cwnd => "cwnd",
            Self::Window => "snd wnd",
            Self::ReceiveWindow => "rcv wnd",
            Self::InFlight => "in flight",
            Self::Delivery => "delivery",
            Self::Pacing => "pacing",
        }
    }

    /// The key of JSON, without its unit or with it: how the command line names a column.
    pub(crate) fn of_key(key: &str) -> Option<Self> {
        let is_it = |metric: &Self| key == metric.key() || key == without_unit(metric.key());
        Self::ALL.into_iter().find(is_it)
    }

    /// The key of JSON, which has no payload of both ways.
    pub(crate) const fn key(self) -> &'static str {
        match self {
            Self::Payload => "payload_bps",
            Self::Received => "received_bps",
            Self::Sent => "sent_bps",
            Self::Retransmitted => "retransmitted_segments",
            Self::Rtt => "rtt_s",
            Self::MinRtt => "min_rtt_s",
            Self::Rto => "rto_s",
            Self::Mss => "mss_bytes",
            Self::Pmtu => "pmtu_bytes",
            Self::Cwnd => "cwnd_segments",
            Self::Window => "snd_wnd_bytes",
            Self::ReceiveWindow => "rcv_wnd_bytes",
            Self::InFlight => "in_flight_bytes",
            Self::Delivery => "delivery_rate_bps",
            Self::Pacing => "pacing_rate_bps",
        }
    }

    /// Its value; `None` where the kernel does not tell.
    pub(crate) fn of(self, connection: &Connection) -> Option<f64> {
        let info = &connection.sample.as_ref()?.info;
        let of_info = |value: fn(&TcpInfo) -> Option<f64>| value(info);
        match self {
            Self::Payload => Some(connection.received_bps()? + connection.sent_bps()?),
            Self::Received => connection.received_bps(),
            Self::Sent => connection.sent_bps(),
            Self::Retransmitted => Some(f64::from(info.total_retrans)),
            Self::Rtt => seconds(info.rtt),
            Self::MinRtt => info.min_rtt.and_then(seconds),
            Self::Rto => seconds(info.rto),
            Self::Mss => Some(f64::from(info.snd_mss)),
            Self::Pmtu => Some(f64::from(info.pmtu)),
            Self::Cwnd => Some(f64::from(info.snd_cwnd)),
            Self::Window => of_info(|info| info.snd_wnd.map(f64::from)),
            Self::ReceiveWindow => of_info(|info| info.rcv_wnd.map(f64::from)),
            Self::InFlight => connection.in_flight_bytes().map(f64::from),
            Self::Delivery => info.delivery_bps(),
            Self::Pacing => info.pacing_bps(),
        }
    }

    /// A value with its unit.
    pub(crate) fn shown(self, value: Option<f64>) -> String {
        let Some(value) = value else { return "-".to_owned() };
        match self {
            Self::Payload | Self::Received | Self::Sent | Self::Delivery | Self::Pacing => {
                if value > 0.0 { approx::rate(value) } else { "0".to_owned() }
            }
            Self::Rtt | Self::MinRtt | Self::Rto => approx::time(value),
            Self::Window | Self::ReceiveWindow | Self::InFlight => words::size(whole(value)),
            Self::Retransmitted | Self::Mss | Self::Pmtu | Self::Cwnd => format!("{value}"),
        }
    }

    /// The one to its right, or to its left; behind the last one comes the first.
    pub(crate) fn beside(self, to_the_right: bool) -> Self {
        let count = Self::ALL.len();
        let at = Self::ALL.iter().position(|metric| *metric == self).unwrap_or(0);
        Self::ALL[(if to_the_right { at + 1 } else { at + count - 1 }) % count]
    }
}

/// Bytes without a fraction.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast of floating point saturates, and counts of bytes are not negative"
)]
pub(super) fn whole(bytes: f64) -> u64 {
    bytes.round() as u64
}

/// A time of zero is none: there was no sample.
fn seconds(span: Duration) -> Option<f64> {
    (!span.is_zero()).then_some(span.as_secs_f64())
}
