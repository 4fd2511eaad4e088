//! Segment sizes as standards and stacks decide them.

use maxseg_core::framing::IpVersion;
use maxseg_core::mss::{Derivation, freebsd, linux, rfc};
use maxseg_core::units::{Bytes, Mss, Mtu};

use super::row::{Row, Rule};

pub(crate) const RFC: Rule = Rule { file: "mss_decision_rfc9293", check: rfc9293 };
pub(crate) const LINUX: Rule = Rule { file: "linux_mss_cache", check: linux };
pub(crate) const FREEBSD: Rule = Rule { file: "freebsd_tcp_mss", check: freebsd };

fn expect(row: &mut Row, column: &str, ours: &Derivation) {
    row.expect_count(column, ours.value().get());
}

fn rfc9293(row: &mut Row) {
    let decision = rfc::decide(&rfc::Inputs {
        ip: row.ip_version("ip_version"),
        local_mtu: row.mtu("local_mtu_bytes"),
        peer_option: row.maybe("peer_mss_option_bytes_blank_if_absent"),
        path_mtu: row.maybe("pmtu_bytes_blank_if_unknown").map(|n| Mtu::new(n).unwrap()),
        user_mss: row.maybe("user_mss_bytes").map(|n| Mss::new(n).unwrap()),
        ip_options: row.bytes("ip_option_bytes"),
        tcp_options: row.bytes("tcp_option_bytes"),
    });
    expect(row, "advertised_mss_bytes", &decision.advertised);
    expect(row, "send_mss_bytes", &decision.send_mss);
    row.expect_count("MMS_S_bytes", decision.largest_message.get());
    expect(row, "effective_send_mss_data_bytes", &decision.effective);
    row.expect_count("resulting_ip_packet_bytes", decision.packet.get());
}

fn linux(row: &mut Row) {
    let set = |n: u64| (n > 0).then_some(n);
    let decision = linux::decide(&linux::Inputs {
        ip: IpVersion::V4,
        device_mtu: row.mtu("dev_mtu_bytes"),
        route_mtu: set(row.count("route_mtu_bytes")).map(|n| Mtu::new(n).unwrap()),
        route_advmss: set(row.count("route_advmss_bytes")).map(|n| n.try_into().unwrap()),
        user_mss: set(row.count("TCP_MAXSEG_bytes")).map(|n| Mss::new(n).unwrap()),
        peer_option: row.maybe("peer_mss_option_bytes"),
        timestamps: row.count("timestamps") == 1,
        ip_options: Bytes::ZERO,
        peer_max_window: set(row.count("peer_max_window_bytes")).map(Bytes::new),
    });
    expect(row, "advertised_mss_option_bytes", &decision.advertised);
    expect(row, "mss_cache_bytes", &decision.mss_cache);
    // Measured once by hand on a kernel.
    row.ignore("observed_kernel_6.18_bytes");
}

fn freebsd(row: &mut Row) {
    let pipe = row.count("route_pipe_bytes_0_if_none");
    let buffer = freebsd::Buffer {
        size: row.bytes("setsockopt_hiwat_bytes"),
        is_default: false,
        route_pipe: (pipe > 0).then_some(Bytes::new(pipe)),
    };
    let inputs = freebsd::Inputs {
        mtu: row.mtu("mtu_bytes"),
        peer_option: row.maybe("peer_offer_bytes"),
        timestamps: true,
        send: buffer,
        receive: buffer,
        buffer_limit: row.bytes("sb_max_bytes"),
    };
    let v22 = freebsd::decide(freebsd::Release::V22, &inputs);
    expect(row, "v22_maxseg_bytes", &v22.maxseg);
    expect(row, "v22_snd_hiwat_bytes", &v22.send_buffer);
    expect(row, "v22_rcv_hiwat_bytes", &v22.receive_buffer);
    let patched = freebsd::decide(freebsd::Release::V22Patched, &inputs);
    expect(row, "v22_patched_snd_hiwat_bytes", &patched.send_buffer);
    expect(row, "v22_patched_rcv_hiwat_bytes", &patched.receive_buffer);
    // The modern limit is 2 MiB; the column is the old one.
    let inputs = freebsd::Inputs { buffer_limit: Bytes::new(2 << 20), ..inputs };
    let modern = freebsd::decide(freebsd::Release::Modern, &inputs);
    expect(row, "modern_maxseg_bytes", &modern.maxseg);
    expect(row, "modern_snd_hiwat_bytes", &modern.send_buffer);
    expect(row, "modern_rcv_hiwat_bytes", &modern.receive_buffer);
}
