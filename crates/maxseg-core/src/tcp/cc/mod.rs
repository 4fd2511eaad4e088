//! Congestion control: how much may be in flight.

mod ns2;
mod reno;

pub use ns2::Ns2Reno;
pub use reno::Reno;

use super::Config;
use crate::settings::CongestionName;
use crate::units::Bytes;

/// Decides how much may be in flight. Knows nothing of segments on their way, timers or links.
pub trait CongestionControl: std::fmt::Debug + Send {
    /// The handshake is done; with `lost_syn` a SYN was lost on the way.
    fn on_established(&mut self, lost_syn: bool);

    /// New data was acknowledged outside fast recovery.
    fn on_ack(&mut self, ack: AckSample);

    /// A sign of congestion, at most once per window of data.
    fn on_congestion(&mut self, what: Congestion, at: &CongestionSample);

    /// In fast recovery, a further duplicate acknowledgement: a segment has left the network.
    fn on_duplicate_ack(&mut self);

    /// In fast recovery, `acked` bytes were acknowledged but not all that was outstanding.
    fn on_partial_ack(&mut self, acked: Bytes);

    /// Fast recovery ends with this acknowledgement.
    fn on_recovered(&mut self, ack: AckSample);

    /// The last sign of congestion was none: what it cut comes back (RFC 4015 §3.3).
    fn on_spurious_cut(&mut self);

    /// Segments are so large at most from now on.
    fn on_mss(&mut self, mss: Bytes);

    /// Payload bytes allowed in flight.
    fn cwnd(&self) -> Bytes;

    /// Where slow start ends.
    fn ssthresh(&self) -> Bytes;
}

/// An acknowledgement of new data.
#[derive(Debug, Clone, Copy)]
pub struct AckSample {
    /// Bytes that it acknowledged first.
    pub acked: Bytes,
    /// Bytes outstanding before it came.
    pub in_flight: Bytes,
    /// Whether the congestion window was what held the sender back.
    pub was_limited: bool,
}

/// The moment of a sign of congestion.
#[derive(Debug, Clone, Copy)]
pub struct CongestionSample {
    /// Bytes outstanding, without what limited transmit has added.
    pub in_flight: Bytes,
    /// The window that the peer offers.
    pub peer_window: Bytes,
}

/// A sign of congestion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Congestion {
    /// Duplicate acknowledgements: one loss, the rest arrives.
    Loss,
    /// Selective acknowledgements: what is in flight is counted, so nothing is to be inflated.
    LossBySack,
    /// A queue has marked a packet (RFC 3168).
    Mark,
    /// The retransmission timer expired for data that had not been resent by a timeout before.
    Timeout,
    /// It expired again for the same data.
    RepeatedTimeout,
    /// It expired for the SYN.
    LostSyn,
}

/// The algorithm of a sender, without a virtual call in the inner loop.
///
/// The one table of what is simulated: a new algorithm is a variant here, and the compiler asks for it in
/// [`Controller::new`], in the calls below, and wherever a [`CongestionName`] decides anything.
#[derive(Debug)]
#[repr(u8)] // a tag of its own: one hidden in a field's unused values takes longer to tell
pub enum Controller {
    /// RFC 5681 in bytes.
    Reno(Reno),
    /// ns-2's arithmetic.
    Ns2Reno(Ns2Reno),
}

impl Controller {
    /// The algorithm that the sender's settings name.
    pub fn new(config: &Config) -> Self {
        match config.sender.congestion {
            // Engines say so: `engine::not_simulated`.
            CongestionName::Reno | CongestionName::Cubic | CongestionName::Bbr => {
                Self::Reno(Reno::new(config))
            }
            CongestionName::Ns2Reno => Self::Ns2Reno(Ns2Reno::new(config)),
        }
    }
}

/// Calls the method of whichever algorithm it is.
macro_rules! delegate {
    ($self:ident . $method:ident ( $($argument:expr),* )) => {
        match $self {
            Self::Reno(cc) => cc.$method($($argument),*),
            Self::Ns2Reno(cc) => cc.$method($($argument),*),
        }
    };
}

impl CongestionControl for Controller {
    fn on_established(&mut self, lost_syn: bool) {
        delegate!(self.on_established(lost_syn));
    }
    #[inline]
    fn on_ack(&mut self, ack: AckSample) {
        delegate!(self.on_ack(ack));
    }
    fn on_congestion(&mut self, what: Congestion, at: &CongestionSample) {
        delegate!(self.on_congestion(what, at));
    }
    fn on_duplicate_ack(&mut self) {
        delegate!(self.on_duplicate_ack());
    }
    fn on_partial_ack(&mut self, acked: Bytes) {
        delegate!(self.on_partial_ack(acked));
    }
    fn on_recovered(&mut self, ack: AckSample) {
        delegate!(self.on_recovered(ack));
    }
    fn on_spurious_cut(&mut self) {
        delegate!(self.on_spurious_cut());
    }
    fn on_mss(&mut self, mss: Bytes) {
        delegate!(self.on_mss(mss));
    }
    #[inline]
    fn cwnd(&self) -> Bytes {
        delegate!(self.cwnd())
    }
    fn ssthresh(&self) -> Bytes {
        delegate!(self.ssthresh())
    }
}
