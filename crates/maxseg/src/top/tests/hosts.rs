//! Connections made up for screens.

use std::time::Duration;

use maxseg_wire::inet_diag::{Memory, Sample};
use maxseg_wire::tcp_info::{State, TcpInfo};
use maxseg_workbench::connections::{Connection, Listener, Owner, Snapshot, SocketOptions};

use super::super::app::{App, Source};

/// 2026-11-23 10:00:00 UTC.
const BEGIN_S: f64 = 1_795_428_000.0;

fn info(second: u64, bytes_a_second: u64, change: impl FnOnce(&mut TcpInfo)) -> TcpInfo {
    let mut info = TcpInfo::decode(&[0; TcpInfo::LEN]).unwrap();
    (info.snd_mss, info.rcv_mss, info.advmss, info.pmtu) = (1448, 1448, 1448, 1500);
    (info.rtt, info.rto) = (Duration::from_millis(21), Duration::from_millis(221));
    info.min_rtt = Some(Duration::from_millis(20));
    info.snd_cwnd = 10 + u32::try_from(second).unwrap();
    info.snd_wnd = Some(65_536);
    info.rcv_wnd = Some(65_536);
    info.notsent_bytes = Some(0);
    info.bytes_acked = Some(second * bytes_a_second);
    info.bytes_sent = info.bytes_acked;
    info.bytes_received = Some(0);
    info.bytes_retrans = Some(0);
    info.busy_time = Some(Duration::from_secs(second));
    info.rwnd_limited = Some(Duration::ZERO);
    info.sndbuf_limited = Some(Duration::ZERO);
    info.max_pacing_rate = None;
    change(&mut info);
    info
}

fn sample(info: &TcpInfo) -> Sample {
    let memory = Some(Memory { send_buffer: 87_040, receive_buffer: 131_072, ..Memory::default() });
    Sample { info: *info, memory, bbr: None, unread_bytes: 0, unacked_bytes: 0 }
}

pub(super) fn connection(cookie: u64, process: &str, ports: [u16; 2]) -> Connection {
    Connection {
        netns: None,
        cookie,
        local: ([192, 0, 2, 1], ports[0]).into(),
        remote: ([198, 51, 100, 7], ports[1]).into(),
        state: Some(State::Established),
        timer: None,
        receive_queue_bytes: 0,
        send_queue_bytes: 0,
        uid: 0,
        inode: 1,
        process: Some(Owner { pid: 100 + u32::try_from(cookie).unwrap(), name: process.into() }),
        congestion: Some("cubic".into()),
        upper_layer: None,
        sample: None,
        interface: 0,
        mark: None,
        options: SocketOptions::default(),
        since_last: None,
        over_time: None,
        is_closed: false,
        message: None,
    }
}

fn between(mut connection: Connection, before: Option<&TcpInfo>, now: &TcpInfo) -> Connection {
    let earlier = before.map(sample);
    let now = sample(now);
    let since = earlier.as_ref().map(|earlier| (earlier, Duration::from_secs(1)));
    connection.since_last = since.map(|since| Box::new(now.evidence(Some(since))));
    connection.sample = Some(now.into());
    connection
}

/// The host in its second so and so: a download that the peer's window limits, one with losses, one that idles, and a service
/// whose accept queue is full.
pub(super) fn at_second(second: u64) -> Snapshot {
    let limited_by_window = |second: u64| {
        info(second, 4_000_000, |info| {
            info.rwnd_limited = Some(Duration::from_secs(second));
        })
    };
    let lossy = |second: u64| {
        info(second, 900_000, |info| {
            info.total_retrans = u32::try_from(second * 40).unwrap();
            info.bytes_retrans = Some(second * 40 * 1448);
            info.data_segs_out = Some(u32::try_from(second * 640).unwrap());
        })
    };
    let idle = |_: u64| info(0, 0, |_| {});
    let before = second.checked_sub(1);
    let mut connections = vec![
        between(
            connection(1, "nginx", [443, 40_001]),
            before.map(limited_by_window).as_ref(),
            &limited_by_window(second),
        ),
        between(connection(2, "rsync", [873, 40_002]), before.map(lossy).as_ref(), &lossy(second)),
        between(connection(3, "sshd", [22, 40_003]), before.map(idle).as_ref(), &idle(second)),
    ];
    connections[2].local = "[2001:db8::1]:22".parse().unwrap();
    connections[2].remote = "[2001:db8::77]:40003".parse().unwrap();
    Snapshot {
        time_s: Some(BEGIN_S + second as f64),
        interval: before.map(|_| Duration::from_secs(1)),
        connections,
        listeners: vec![listener(443, 0), listener(8080, 129)],
        ..Snapshot::default()
    }
}

fn listener(port: u16, queued: u32) -> Listener {
    Listener {
        netns: None,
        local: ([0, 0, 0, 0], port).into(),
        inode: 2,
        process: Some(Owner { pid: 99, name: "service".into() }),
        queued,
        limit: 128,
        overflows: Some(queued.saturating_sub(120)),
        message: None,
    }
}

/// The screen after so many looks.
pub(super) fn app_after(looks: u64, source: Source) -> App {
    let mut app = App::new("alpha".to_owned(), source, None);
    for second in 0..looks {
        app.take(at_second(second));
    }
    app
}
