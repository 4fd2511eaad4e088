//! The names that Python of a script finds: the variables of `tcp_info`.

use maxseg_core::tcp::linux::Socket;
use maxseg_core::units::Time;

use super::code::Names;

/// `TCP_INFINITE_SSTHRESH`.
const INFINITE: u64 = 0x7fff_ffff;

/// What never changes.
pub(super) fn constants() -> Names {
    let states = ["Open", "Disorder", "CWR", "Recovery", "Loss"];
    states.iter().zip(0..).map(|(name, state)| (format!("TCP_CA_{name}"), state)).collect()
}

/// What a socket tells of itself now.
pub(super) fn names(socket: &Socket, now: Time, names: &mut Names) {
    let info = socket.info_at(now);
    let all = [
        ("ca_state", u64::from(info.ca_state)),
        ("snd_cwnd", info.cwnd),
        ("snd_ssthresh", info.ssthresh.unwrap_or(INFINITE)),
        ("rtt", info.srtt),
        ("min_rtt", info.min_rtt),
        ("unacked", info.unacked),
        ("sacked", info.sacked),
        ("lost", info.lost),
        ("retrans", info.retrans),
        ("reordering", info.reordering),
        ("reord_seen", info.reord_seen),
        ("snd_mss", info.snd_mss),
        ("advmss", info.advmss),
        ("probes", socket.window_probes()),
        ("backoff", u64::from(info.backoff)),
        ("last_data_recv", info.last_data_recv / 1000),
        ("busy_time", info.busy_time),
        ("rwnd_limited", info.rwnd_limited),
        ("sndbuf_limited", info.sndbuf_limited),
    ];
    for (name, value) in all {
        names.insert(format!("tcpi_{name}"), i64::try_from(value).unwrap_or(i64::MAX));
    }
}
