//! What a packet costs on the wire, as the engines meet it.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use maxseg_core::engine::{Engine, Unwatched};
use maxseg_core::model::Model;
use maxseg_core::scenario::Scenario;
use maxseg_core::sim::Sim;

fn goodput(engine: &mut dyn Engine, hop: &str) -> f64 {
    let text = format!(
        "[[hop]]\nrate = \"28.8 kbit/s\"\ndelay = \"90 ms\"\n{hop}\n\
         [receiver]\nwindow = \"3 segments\"\n[until]\ntime = \"300 s\"\n"
    );
    let scenario = Scenario::from_toml_over("rfc", "test", &text).unwrap();
    engine.run(&scenario, &mut Unwatched).unwrap().goodput_bps.unwrap()
}

/// The window fills the link, so goodput is its rate less start and stop bits and headers.
#[test]
fn engines_count_what_is_on_the_wire() {
    let cases = [
        ("framing = \"serial\"", 0.8 * 1460.0 / 1508.0),
        ("framing = \"serial-vj\"", 0.8 * 1460.0 / 1473.0),
        ("framing = \"atm-aal5\"", 1460.0 / (32.0 * 53.0)),
        ("framing = \"ethernet-vlan\"", 1460.0 / 1542.0),
        // 1440 bytes fit inside, and the tunnel's own padding ends at its MTU.
        ("framing = \"ethernet\"\ntunnel = \"wireguard\"", 1400.0 / 1538.0),
    ];
    for (hop, share) in cases {
        let full = 28_800.0 * share;
        assert!((goodput(&mut Model, hop) / full - 1.0).abs() < 1e-9, "{hop}");
        // The handshake, and what is in flight when 300 s are over: a second of each.
        assert!((goodput(&mut Sim, hop) / full - 1.0).abs() < 0.01, "{hop}");
    }
}
