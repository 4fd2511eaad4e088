//! The sender's socket of a simulated run, sampled as the lab's is.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use maxseg_core::engine::{Continue, Watch};
use maxseg_core::evidence::SocketInfo;
use maxseg_core::units::Time;
use maxseg_wire::inet_diag::{Bbr, Memory, Sample};
use maxseg_wire::tcp_info::{NegotiatedOptions, State, TcpInfo};

use super::watch::EVERY;

/// Samples of the first flow's sender, each with its time in seconds.
#[derive(Debug, Default)]
pub(super) struct SocketWatch {
    samples: Vec<(f64, SocketInfo)>,
}

impl Watch for SocketWatch {
    fn on_progress(&mut self, _: Time, _: Time) -> Continue {
        Continue::Go
    }

    fn sample_every(&self) -> Option<Time> {
        Some(Time::from(EVERY))
    }

    fn on_socket(&mut self, at: Time, flow: usize, info: &SocketInfo) {
        // Before the handshake's end there is no round trip, and the lab's watcher sees no such socket.
        if flow == 0 && info.srtt > 0 {
            self.samples.push((at.as_secs_f64(), *info));
        }
    }
}

impl SocketWatch {
    /// Keeps the samples in a file.
    pub(super) fn write(&self, file: &Path) -> Result<()> {
        let text = serde_json::to_string(&self.samples)?;
        fs::write(file, text).with_context(|| file.display().to_string())
    }
}

/// What a file keeps, as samples of a kernel's socket; `None` where there is no file.
///
/// # Errors
/// It is no such file: one of an earlier program may lack a field.
pub(super) fn read(file: &Path) -> Result<Option<Vec<(f64, Sample)>>> {
    if !file.exists() {
        return Ok(None);
    }
    let name = || file.display().to_string();
    let text = fs::read_to_string(file).with_context(name)?;
    let samples: Vec<(f64, SocketInfo)> = serde_json::from_str(&text).with_context(name)?;
    samples.iter().map(|(at, info)| Ok((*at, sample(info)?))).collect::<Result<_>>().map(Some)
}

/// The same in the kernel's types.
fn sample(socket: &SocketInfo) -> Result<Sample> {
    let micros = std::time::Duration::from_micros;
    let count = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
    let mut info = TcpInfo::decode(&[0; TcpInfo::LEN])?;
    info.state = State::Established as u8;
    info.ca_state = socket.ca_state;
    info.options = NegotiatedOptions(u8::from(socket.timestamps) | u8::from(socket.sack) << 1);
    info.retransmits = u8::try_from(socket.retransmits).unwrap_or(u8::MAX);
    info.backoff = u8::try_from(socket.backoff).unwrap_or(u8::MAX);
    info.flags.delivery_rate_app_limited = socket.is_app_limited;
    info.rto = micros(socket.rto);
    info.snd_mss = count(socket.snd_mss);
    info.unacked = count(socket.unacked);
    info.sacked = count(socket.sacked);
    info.lost = count(socket.lost);
    info.retrans = count(socket.retrans);
    info.last_data_sent = micros(socket.last_data_sent);
    info.last_data_recv = micros(socket.last_data_recv);
    info.rtt = micros(socket.srtt);
    info.rttvar = micros(socket.rttvar);
    info.snd_ssthresh = socket.ssthresh.map(count);
    info.snd_cwnd = count(socket.cwnd);
    info.advmss = count(socket.advmss);
    info.reordering = count(socket.reordering);
    info.total_retrans = count(socket.total_retrans);
    info.pacing_rate = Some(socket.pacing_rate);
    info.max_pacing_rate = Some(u64::MAX);
    info.bytes_acked = Some(socket.bytes_acked);
    info.notsent_bytes = Some(count(socket.notsent));
    info.min_rtt = (socket.min_rtt > 0).then(|| micros(socket.min_rtt));
    info.data_segs_out = Some(count(socket.data_segs_out));
    info.delivery_rate = Some(socket.delivery_rate);
    info.busy_time = Some(micros(socket.busy_time));
    info.rwnd_limited = Some(micros(socket.rwnd_limited));
    info.sndbuf_limited = Some(micros(socket.sndbuf_limited));
    info.delivered = Some(count(socket.delivered));
    info.bytes_sent = Some(socket.bytes_sent);
    info.bytes_retrans = Some(socket.bytes_retrans);
    info.reord_seen = Some(count(socket.reord_seen));
    info.snd_wnd = Some(count(socket.snd_wnd));
    let memory = Memory {
        send_buffer: count(socket.sndbuf),
        send_queued: count(socket.wmem_queued),
        ..Memory::default()
    };
    let bbr = socket.bbr_pacing_gain.map(|pacing_gain| Bbr {
        bandwidth: 0,
        min_rtt: micros(socket.min_rtt),
        pacing_gain,
        cwnd_gain: 0.0,
    });
    let written = socket.bytes_sent - socket.bytes_retrans + socket.notsent;
    Ok(Sample {
        info,
        memory: Some(memory),
        bbr,
        unread_bytes: 0,
        unacked_bytes: count(written.saturating_sub(socket.bytes_acked.saturating_sub(1))),
    })
}
