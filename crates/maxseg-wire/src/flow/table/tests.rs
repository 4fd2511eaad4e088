use std::sync::Arc;

use super::*;
use crate::reading::PacketReader;
use crate::synthetic::{DialogueLoad, Load, LossyLoad};

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

/// Deferred segments come to the same as those that are followed at once.
#[test]
fn deferred_segments_come_to_the_same() {
    let mut captures = [const { Vec::new() }; 3];
    let [bulk, talk, lossy] = &mut captures;
    let load = Load { connections: 90, rounds: 20, at_once: 30, rounds_a_turn: 3, ends: true };
    load.write(bulk).unwrap();
    DialogueLoad { connections: 90, turns: 150 }.write(talk).unwrap();
    LossyLoad { connections: 20, segments: 800, one_in: 50 }.write(lossy).unwrap();
    for capture in &captures {
        let options = FlowOptions::default();
        let following = |defers_from| {
            let mut follower = Follower::new(options);
            follower.defers_from = defers_from;
            connections(capture, Flows::followed_by(Followers::Here(Box::new(follower))))
        };
        assert_eq!(following(usize::MAX), following(0));
    }
}
