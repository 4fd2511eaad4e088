//! The vectors of segment sizes through the stacks: what the packets of a simulated run carry.

use std::process::Command;

use serde_json::Value;

use super::row::Row;

/// How the rows of one file are run.
pub(crate) struct WireRule {
    /// The file's name without its ending.
    pub(crate) file: &'static str,
    /// Runs a row and compares its packets; the reason where no scenario can be such a host.
    pub(crate) check: fn(&mut Row) -> Result<(), &'static str>,
}

pub(crate) const RULES: [WireRule; 3] = [
    WireRule { file: "freebsd_tcp_mss", check: freebsd },
    WireRule { file: "linux_mss_cache", check: linux },
    WireRule { file: "mss_decision_rfc9293", check: rfc9293 },
];

/// What the packets of a run show.
struct Wire {
    /// The MSS option of the data's sender.
    option: u64,
    /// The largest payload that arrives.
    payload: u64,
    /// The most that is in flight.
    in_flight: u64,
    /// The largest window that the receiver offers.
    window: u64,
}

/// Runs a scenario in the simulator and reads its packets.
fn wire(scenario: &str) -> Wire {
    let folder = tempfile::tempdir().unwrap();
    let [file, capture] = ["run.toml", "run.pcapng"].map(|name| folder.path().join(name));
    std::fs::write(&file, scenario).unwrap();
    let maxseg = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_maxseg")).args(arguments).output().unwrap();
        let talk = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {talk}\n{scenario}");
        output.stdout
    };
    let [file, capture] = [&file, &capture].map(|path| path.to_str().unwrap());
    maxseg(&["run", file, "--engine", "sim", "--pcap", capture, "--json"]);
    let connection = |interface: &str| -> Value {
        let text = maxseg(&["explain", capture, "--interface", interface, "--json"]);
        let document: Value = serde_json::from_slice(&text).unwrap();
        document["connections"][0].clone()
    };
    let (near, far) = (connection("sender"), connection("receiver"));
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    Wire {
        option: number(&near["forward"]["mss_option_bytes"]),
        payload: number(&far["forward"]["largest_segment_bytes"]),
        in_flight: number(&near["forward"]["in_flight_max_bytes"]),
        window: number(&near["reverse"]["window_max_bytes"]),
    }
}

/// A path on which nothing but the hosts is a limit.
fn path(mtus: &[u64]) -> String {
    mtus.iter()
        .map(|mtu| {
            format!(
                "[[hop]]\nrate = \"10 Gbit/s\"\ndelay = \"20 ms\"\nmtu = {mtu}\nqueue = \"10000 packets\"\n"
            )
        })
        .collect()
}

#[expect(clippy::unnecessary_wraps, reason = "as of the other rules")]
fn freebsd(row: &mut Row) -> Result<(), &'static str> {
    let mtu = row.count("mtu_bytes");
    let offer = row.count("peer_offer_bytes");
    let size = row.count("setsockopt_hiwat_bytes");
    let pipe = row.count("route_pipe_bytes_0_if_none");
    let sb_max = row.count("sb_max_bytes");
    for (name, release, limit, options) in [
        ("v22", "2.2", sb_max, 0),
        ("v22_patched", "2.2-patched", sb_max, 0),
        // The modern limit is 2 MiB, and its segment is told before options are subtracted.
        ("modern", "modern", 2 << 20, 12),
    ] {
        let pipes = match pipe {
            0 => String::new(),
            pipe => format!("sendpipe = \"{pipe} B\"\nrecvpipe = \"{pipe} B\"\n"),
        };
        let host = |end: &str| {
            format!(
                "[{end}]\nstack = \"freebsd-2.2.5\"\nwindow = \"{size} B\"\nsend_buffer = \"{size} B\"\n\
                 [{end}.freebsd]\nrelease = \"{release}\"\nsb_max = \"{limit} B\"\n{pipes}"
            )
        };
        let peer = |end: &str| {
            format!(
                "[{end}]\nstack = \"rfc\"\nmss = {offer}\ntimestamps = true\nwindow = \"4 MiB\"\n"
            )
        };
        let run = |sender: String, receiver: String| {
            wire(&format!("{}{sender}{receiver}[until]\nbytes = \"2 MB\"\n", path(&[mtu])))
        };
        let sends = run(host("sender"), peer("receiver"));
        let receives = run(peer("sender"), host("receiver"));
        // The patch changes buffers alone.
        let maxseg =
            row.count(if name == "modern" { "modern_maxseg_bytes" } else { "v22_maxseg_bytes" });
        row.same(&format!("{name}: payload on the wire"), sends.payload, maxseg - options);
        let send = row.count(&format!("{name}_snd_hiwat_bytes"));
        // Whole segments, and the last of the transfer.
        let whole = send - send % (maxseg - options);
        if !(whole..=send).contains(&sends.in_flight) {
            row.fault(format!(
                "{name}: {} bytes in flight, with a buffer of {send}",
                sends.in_flight
            ));
        }
        let receive = row.count(&format!("{name}_rcv_hiwat_bytes"));
        // As the shift of the window field leaves it (RFC 7323 §2.3).
        let shift = (0..14).find(|shift| 65_535 << shift >= receive).unwrap_or(14);
        row.same(&format!("{name}: window"), receives.window, receive >> shift << shift);
    }
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "as of the other rules")]
fn linux(row: &mut Row) -> Result<(), &'static str> {
    let mtu = row.count("dev_mtu_bytes");
    let peer = row.maybe::<u64>("peer_mss_option_bytes");
    let maxseg = row.count("TCP_MAXSEG_bytes");
    let route = (row.count("route_mtu_bytes"), row.count("route_advmss_bytes"));
    let stamped = row.count("timestamps") == 1;
    let window = row.count("peer_max_window_bytes");
    let advertised = row.count("advertised_mss_option_bytes");
    let effective = row.count("mss_cache_bytes");
    row.ignore("observed_kernel_6.18_bytes");
    let set = |key: &str, bytes: u64| match bytes {
        0 => String::new(),
        bytes => format!("{key} = {bytes}\n"),
    };
    let peer = match peer {
        // `TCP_MIN_MSS`: a host of this stack offers as much, so something on the way writes what is less.
        Some(mss) if mss < 88 => format!("mss_option = {mss}"),
        Some(mss) => format!("mss = {mss}"),
        None => "mss_option = false".to_owned(),
    };
    let offers = match window {
        // Windows are whole segments, but for the field of a SYN that would say more.
        65_535 => {
            "window_scale = \"off\"\nlinux = { tcp_rmem = [4096, 262144, 6291456] }".to_owned()
        }
        bytes => format!("window = \"{bytes} B\""),
    };
    let seen = wire(&format!(
        "{}[sender]\ntimestamps = {stamped}\n{}[sender.linux]\n{}{}[receiver]\n{peer}\n{offers}\n\
         [until]\nbytes = \"200 kB\"\n",
        path(&[mtu]),
        set("mss", maxseg),
        set("route_mtu", route.0),
        set("route_advmss", route.1),
    ));
    row.same("MSS option", seen.option, advertised);
    row.same("window", seen.window, window);
    row.same("payload on the wire", seen.payload, effective);
    Ok(())
}

fn rfc9293(row: &mut Row) -> Result<(), &'static str> {
    let ip = row.count("ip_version");
    let mtu = row.count("local_mtu_bytes");
    let peer = row.maybe::<u64>("peer_mss_option_bytes_blank_if_absent");
    let path_mtu = row.maybe::<u64>("pmtu_bytes_blank_if_unknown");
    let ip_options = row.count("ip_option_bytes");
    let tcp_options = row.count("tcp_option_bytes");
    let user = row.maybe::<u64>("user_mss_bytes");
    let advertised = row.count("advertised_mss_bytes");
    let effective = row.count("effective_send_mss_data_bytes");
    for derived in ["send_mss_bytes", "MMS_S_bytes", "resulting_ip_packet_bytes"] {
        row.ignore(derived);
    }
    if ip_options > 0 {
        return Err("a scenario's packets have no IP options");
    }
    if ![0, 12].contains(&tcp_options) {
        return Err("of TCP's options only timestamps are in every segment");
    }
    if ip == 6 && path_mtu.is_some_and(|mtu| mtu < 1280) {
        return Err("no link of IPv6 is below 1280 bytes");
    }
    // An option above what the peer's link carries is allowed to any host; its link is then as large.
    let far = path_mtu.unwrap_or(mtu.max(peer.unwrap_or(0) + 60)).min(65_535);
    let peer = peer.map_or("mss_option = false".to_owned(), |mss| format!("mss = {mss}"));
    let own = user.map_or_else(String::new, |mss| format!("mss = {mss}\n"));
    let stamped = tcp_options == 12;
    let seen = wire(&format!(
        "ip = {ip}\n{}[sender]\nstack = \"rfc\"\ntimestamps = {stamped}\n{own}[receiver]\nstack = \"rfc\"\n\
         timestamps = {stamped}\n{peer}\n[until]\nbytes = \"1 MB\"\n",
        path(&[mtu, far])
    ));
    row.same("MSS option", seen.option, advertised);
    row.same("payload on the wire", seen.payload, effective);
    Ok(())
}
