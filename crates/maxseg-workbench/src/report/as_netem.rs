//! What a sweep shows that has losses both per packet and as netem takes them.

use maxseg_core::engine::EngineName;
use maxseg_core::results::Group;

/// The key that says what is lost at once.
const KEY: &str = "lab.as_netem";

/// Why the two differ.
pub const WHY: [&str; 3] = [
    "With segmentation offload (TSO, GSO) a host passes super-packets of up to 64 KiB to netem, and netem draws once \
     for each: about as many packets are lost as on a wire, but in bursts. TCP reduces its window once for all losses \
     of a round trip, so it does that far less often.",
    "The size of a super-packet does not depend on the MTU, nor do the bytes between two losses there; on a wire \
     these grow with the MTU, six times from 1500 to 9000, which is the gain of a large MTU under loss.",
    "A wire damages each packet independently: rows with `lab.as_netem` false show that. netem shows the same with \
     offload off at the source of the packets (not on the interface that loses them).",
];

/// Whether the lab ran both ways.
pub fn shows_both(groups: &[Group<'_>]) -> bool {
    let has = |wanted: bool| {
        groups.iter().any(|group| {
            group.engine == EngineName::Lab
                && group.goodput().is_some()
                && group.point.get(KEY).and_then(serde_json::Value::as_bool) == Some(wanted)
        })
    };
    has(false) && has(true)
}
