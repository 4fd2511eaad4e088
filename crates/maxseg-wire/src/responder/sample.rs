//! A sample of a sender's socket, for the host at the other end.

use std::time::Duration;

use super::cursor::Cursor;
use crate::inet_diag::{Memory, Sample};
use crate::tcp_info::{NegotiatedOptions, TcpInfo, TcpInfoFlags, WindowScales};

/// What the kernel said of a sender's socket at one time of its transfer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SenderSample {
    /// Since the transfer began at this socket.
    pub at: Duration,
    /// The socket.
    pub sample: Sample,
}

/// Numbers of a sample on the wire, 64 bits each; all ones for one that the kernel does not give.
const NUMBERS: usize = 41;

impl SenderSample {
    /// Bytes of a sample on the wire.
    pub const LEN: usize = NUMBERS * 8;

    /// Appends the sample.
    pub(super) fn put(&self, bytes: &mut Vec<u8>) {
        let mut numbers = Writer(bytes);
        let (info, sample) = (&self.sample.info, &self.sample);
        let long = |n: u32| Some(u64::from(n));
        let later = |n: Option<u32>| n.map(u64::from);
        numbers.put(Some(micros(self.at)));
        for byte in [info.state, info.ca_state, info.retransmits, info.probes, info.backoff] {
            numbers.put(Some(byte.into()));
        }
        numbers.put(Some(info.options.0.into()));
        numbers.put(Some(info.window_scales.send.into()));
        numbers.put(Some(info.window_scales.receive.into()));
        numbers.put(Some(info.flags.delivery_rate_app_limited.into()));
        for time in [info.rto, info.rtt, info.rttvar] {
            numbers.put(Some(micros(time)));
        }
        let counts = [
            info.snd_mss,
            info.unacked,
            info.sacked,
            info.lost,
            info.retrans,
            info.pmtu,
            info.snd_cwnd,
            info.advmss,
            info.total_retrans,
        ];
        for count in counts {
            numbers.put(long(count));
        }
        numbers.put(later(info.snd_ssthresh));
        for rate in [info.max_pacing_rate, info.bytes_acked, info.bytes_sent, info.bytes_retrans] {
            numbers.put(rate);
        }
        numbers.put(info.delivery_rate);
        for time in [info.min_rtt, info.busy_time, info.rwnd_limited, info.sndbuf_limited] {
            numbers.put(time.map(micros));
        }
        let counts = [info.notsent_bytes, info.data_segs_out, info.snd_wnd, info.dsack_dups];
        for count in counts {
            numbers.put(later(count));
        }
        numbers.put(info.total_rto.map(u64::from));
        numbers.put(long(sample.unacked_bytes));
        numbers.put(later(sample.memory.map(|memory| memory.send_buffer)));
        numbers.put(later(sample.memory.map(|memory| memory.send_queued)));
        numbers.put(later(info.reord_seen));
    }

    /// Reads a sample.
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Option<Self> {
        // Fields that are not sent, such as those of a receiver, are zero.
        let mut info = TcpInfo::decode(&[0; TcpInfo::LEAST]).ok()?;
        let mut numbers = Reader(cursor);
        let at = numbers.time()?;
        info.state = numbers.small()?;
        info.ca_state = numbers.small()?;
        info.retransmits = numbers.small()?;
        info.probes = numbers.small()?;
        info.backoff = numbers.small()?;
        info.options = NegotiatedOptions(numbers.small()?);
        info.window_scales = WindowScales { send: numbers.small()?, receive: numbers.small()? };
        let delivery_rate_app_limited = numbers.small()? != 0;
        info.flags = TcpInfoFlags { delivery_rate_app_limited, ..TcpInfoFlags::default() };
        info.rto = numbers.time()?;
        info.rtt = numbers.time()?;
        info.rttvar = numbers.time()?;
        let counts = [
            &mut info.snd_mss,
            &mut info.unacked,
            &mut info.sacked,
            &mut info.lost,
            &mut info.retrans,
            &mut info.pmtu,
            &mut info.snd_cwnd,
            &mut info.advmss,
            &mut info.total_retrans,
        ];
        for count in counts {
            *count = numbers.count()?;
        }
        info.snd_ssthresh = numbers.later()?;
        info.max_pacing_rate = numbers.number()?;
        info.bytes_acked = numbers.number()?;
        info.bytes_sent = numbers.number()?;
        info.bytes_retrans = numbers.number()?;
        info.delivery_rate = numbers.number()?;
        info.min_rtt = numbers.later_time()?;
        info.busy_time = numbers.later_time()?;
        info.rwnd_limited = numbers.later_time()?;
        info.sndbuf_limited = numbers.later_time()?;
        info.notsent_bytes = numbers.later()?;
        info.data_segs_out = numbers.later()?;
        info.snd_wnd = numbers.later()?;
        info.dsack_dups = numbers.later()?;
        info.total_rto = numbers.later()?.and_then(|count| u16::try_from(count).ok());
        let unacked_bytes = numbers.count()?;
        let (limit, queued) = (numbers.later()?, numbers.later()?);
        let memory = limit.zip(queued).map(|(send_buffer, send_queued)| Memory {
            send_buffer,
            send_queued,
            ..Memory::default()
        });
        info.reord_seen = numbers.later()?;
        let sample = Sample { info, memory, bbr: None, unread_bytes: 0, unacked_bytes };
        Some(Self { at, sample })
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX - 1)
}

struct Writer<'a>(&'a mut Vec<u8>);

impl Writer<'_> {
    fn put(&mut self, number: Option<u64>) {
        self.0.extend(number.unwrap_or(u64::MAX).to_be_bytes());
    }
}

struct Reader<'a, 'b>(&'a mut Cursor<'b>);

#[expect(
    clippy::option_option,
    reason = "the outer: not there; the inner: the kernel does not give it"
)]
impl Reader<'_, '_> {
    fn number(&mut self) -> Option<Option<u64>> {
        self.0.u64().map(|number| (number != u64::MAX).then_some(number))
    }

    fn later(&mut self) -> Option<Option<u32>> {
        let number = self.number()?;
        number.map(u32::try_from).transpose().ok()
    }

    fn later_time(&mut self) -> Option<Option<Duration>> {
        self.number().map(|time| time.map(Duration::from_micros))
    }

    fn time(&mut self) -> Option<Duration> {
        self.number()?.map(Duration::from_micros)
    }

    fn count(&mut self) -> Option<u32> {
        u32::try_from(self.number()??).ok()
    }

    fn small(&mut self) -> Option<u8> {
        u8::try_from(self.number()??).ok()
    }
}
