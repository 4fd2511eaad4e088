use std::sync::Arc;

use super::*;
use crate::reading::PacketReader;
use crate::synthetic::Load;

fn connections(capture: &[u8], mut flows: Flows) -> Vec<Evidence> {
    let mut packets = PacketReader::open(capture, None).unwrap();
    packets.for_each(|_, packet| flows.on_packet(packet)).unwrap();
    flows.finish().connections.collect()
}

#[test]
fn what_is_packed_comes_out_as_it_was() {
    for trace in [false, true] {
        let load = Load { connections: 90, rounds: 20, at_once: 30, rounds_a_turn: 3, ends: true };
        let mut capture = Vec::new();
        load.write(&mut capture).unwrap();
        let options = FlowOptions { trace, ..FlowOptions::default() };
        let plain = connections(&capture, Flows::new(options));
        assert_eq!(plain.len(), 90);
        assert!(plain.iter().map(|one| one.id).eq(0..90), "in the order of their first packets");
        for most_awake in [1, 3] {
            let follower = Follower::with_awake(options, Arc::default(), most_awake);
            let flows = Flows::followed_by(Followers::Here(Box::new(follower)));
            assert_eq!(plain, connections(&capture, flows));
        }
    }
}
