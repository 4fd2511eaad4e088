//! The counts under the names by which they are written.

use super::counts::{Counts, Handshake};
use super::flag::Flag;

/// A count, or what else has a name.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// Packets, bytes, bits, or 1 for yes.
    Count(u64),
    /// A time or a moment.
    Seconds(f64),
    /// Times, in the order in which they were measured.
    Times(Vec<f64>),
    /// Numbers of packets of the capture, counted from 1.
    Frames(&'a [u64]),
}

fn seconds(nanos: i64) -> f64 {
    nanos as f64 / 1e9
}

impl Counts {
    /// Every count with its name: of a flag, tshark's (`retransmission`), and the same with `_frames`
    /// for the list. Left out is what the capture does not show (`mss` without a SYN), and lists that
    /// are empty.
    pub fn named(&self) -> Vec<(String, Value<'_>)> {
        let mut named = vec![
            ("packets", Value::Count(self.packets)),
            ("payload_bytes", Value::Count(self.payload_bytes)),
            ("data_packets", Value::Count(self.data_packets)),
            ("max_segment", Value::Count(self.max_segment.into())),
            ("first_time", Value::Seconds(seconds(self.first_at_nanos.cast_signed()))),
            ("last_time", Value::Seconds(seconds(self.last_at_nanos.cast_signed()))),
            ("syn", Value::Count(self.syn)),
            ("fin", Value::Count(self.fin)),
            ("rst", Value::Count(self.rst)),
            ("df_packets", Value::Count(self.df_packets)),
            ("sack_packets", Value::Count(self.sack_packets)),
            ("dsack_packets", Value::Count(self.dsack_packets)),
            ("retransmission_bytes", Value::Count(self.retransmission_bytes)),
            ("rtt_samples", Value::Count(self.rtt.samples)),
        ];
        if let Some(handshake) = &self.handshake {
            named.extend(handshake.named());
        }
        if let Some((least, most)) = self.windows {
            named.push(("min_window", Value::Count(least.into())));
            named.push(("max_window", Value::Count(most.into())));
        }
        if let Some(mean) = self.rtt.mean_s() {
            named.push(("rtt_min", Value::Seconds(seconds(self.rtt.min_nanos))));
            named.push(("rtt_max", Value::Seconds(seconds(self.rtt.max_nanos))));
            named.push(("rtt_avg", Value::Seconds(mean)));
        }
        let in_flight = self.max_in_flight.map(|bytes| Value::Count(bytes.into()));
        named.extend(in_flight.map(|bytes| ("max_in_flight", bytes)));
        if !self.rto_nanos.is_empty() {
            let times = self.rto_nanos.iter().copied().map(seconds).collect();
            named.push(("rto_list", Value::Times(times)));
        }
        let named = named.into_iter().map(|(name, value)| (name.to_owned(), value));
        named.chain(self.flags().flat_map(of_flag)).collect()
    }
}

impl Handshake {
    fn named(&self) -> impl Iterator<Item = (&'static str, Value<'static>)> {
        let always = [
            ("sack_perm", u64::from(self.sack_permitted)),
            ("timestamps", self.timestamps.into()),
            ("syn_window", self.window.into()),
        ];
        let mss = self.mss.map(|mss| ("mss", mss.into()));
        let shift = self.window_scale.map(|shift| ("wscale", shift.into()));
        let all = always.into_iter().chain(mss).chain(shift);
        all.map(|(name, count)| (name, Value::Count(count)))
    }
}

fn of_flag((flag, frames): (Flag, &[u64])) -> impl Iterator<Item = (String, Value<'_>)> {
    let count = (flag.name().to_owned(), Value::Count(frames.len() as u64));
    let list = (format!("{}_frames", flag.name()), Value::Frames(frames));
    let list = Some(list).filter(|_| !frames.is_empty());
    std::iter::once(count).chain(list)
}
