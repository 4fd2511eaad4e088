//! What a sweep shows that has losses both per packet and as netem takes them.

use maxseg_core::engine::EngineName;
use maxseg_core::results::Group;

/// The key that says what is lost at once.
const KEY: &str = "lab.as_netem";

/// Why the two differ.
pub const WHY: [&str; 3] = [
    "With segmentation offload a host hands down super-packets of up to 64 KiB, and netem draws once for each of \
     them: about as many packets are lost as on a wire, but many at once, so that TCP, which reduces its window \
     once for all losses of a round trip, does so far less often.",
    "A super-packet holds as many bytes whatever the MTU, so the bytes between two losses hardly depend on the MTU \
     there; on a wire they grow with it, six times from 1500 to 9000, and that is what a large MTU gains under \
     loss.",
    "A wire damages each packet by itself: rows with `lab.as_netem` false are what it would do, and netem shows the \
     same once offload is off at the source of the packets (not on the interface that loses them).",
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
