use std::sync::Arc;

use maxseg_core::scenario::{End, Scenario};
use maxseg_core::units::Time;
use maxseg_wire::pcapng::{Block, Direction, Packet, Reader, Statistics};

use super::record_queue::{LinkEnd, Loss, PacketRecord, RecordQueue, SNAP_LEN};
use super::writer::{Merger, Source};
use super::{Recording, interfaces, refusal_comment};
use crate::sys::Clock;

const TWO_HOPS: &str = r#"
hop = [{ rate = "1 Gbit/s", delay = "1 ms" }, { name = "radio", rate = "1 Mbit/s", delay = "9 ms" }]
flow = [{ kind = "bulk" }]
"#;

fn scenario() -> Scenario {
    Scenario::from_toml("test.toml", TWO_HOPS).unwrap()
}

fn record(nanos: u64, place: LinkEnd, loss: Option<Loss>) -> PacketRecord {
    let bytes = [0x45; SNAP_LEN];
    PacketRecord { at: Time::from_nanos(nanos), place, loss, kept: 40, original_len: 1500, bytes }
}

/// A capture written from the two queues of one hop.
fn merged(queues: &[Arc<RecordQueue>; 2], work: impl FnOnce(&mut Merger<'_>)) -> Vec<u8> {
    let mut out = Vec::new();
    let source = |way: usize, interfaces| Source {
        queue: Arc::clone(&queues[way]),
        interfaces,
        refused: refusal_comment(&scenario().path.hops[0].forward),
    };
    let sources = vec![source(0, [0, 1]), source(1, [1, 0])];
    let names = ["sender", "receiver"].map(|name| (name.to_owned(), String::new()));
    let clock = Clock::start();
    let mut merger = Merger::begin(&mut out, &scenario(), clock, &names, sources).unwrap();
    work(&mut merger);
    let is_over = std::sync::atomic::AtomicBool::new(true);
    merger.run(&is_over).unwrap();
    out
}

fn packets(file: &[u8]) -> Vec<Packet<'_>> {
    let blocks = Reader::new(file).map(Result::unwrap);
    blocks
        .filter_map(|block| if let Block::Packet(packet) = block { Some(packet) } else { None })
        .collect()
}

#[test]
fn interfaces_are_called_by_host_and_hop() {
    let names: Vec<String> =
        interfaces(&scenario().path.hops).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["sender", "r1.hop.0", "r1.radio", "receiver"]);
}

#[test]
fn several_threads_packets_come_in_order_of_time() {
    let boxes: [Arc<RecordQueue>; 2] = [Arc::default(), Arc::default()];
    let mut first: Vec<PacketRecord> =
        [10, 30, 50].map(|at| record(at, LinkEnd::Entering, None)).into();
    first.insert(2, record(30, LinkEnd::Leaving, Some(Loss::Damaged)));
    let mut second = vec![
        record(20, LinkEnd::Entering, Some(Loss::Refused)),
        record(40, LinkEnd::Leaving, None),
    ];
    boxes[0].post(&mut first);
    boxes[1].post(&mut second);
    assert!(first.is_empty() && second.is_empty(), "all are taken");
    let file = merged(&boxes, |_| ());
    let packets = packets(&file);
    let zero = packets[0].at_nanos - 10;
    let seen: Vec<(u64, u32, Option<&str>)> = packets
        .iter()
        .map(|packet| (packet.at_nanos - zero, packet.interface, packet.comment.as_deref()))
        .collect();
    let refused = Some("refused by the full queue of this link");
    let want = [
        (10, 0, None),
        (20, 1, refused),
        (30, 0, None),
        (30, 1, Some("damaged on this link")),
        (40, 0, None),
        (50, 0, None),
    ];
    assert_eq!(seen, want);
    let directions: Vec<_> = packets.iter().map(|packet| packet.direction).collect();
    assert_eq!(directions[3..5], [Some(Direction::Inbound); 2]);
    assert!(packets.iter().all(|packet| packet.data.len() == 40 && packet.original_len == 1500));
}

#[test]
fn nothing_is_written_before_what_may_come_earlier() {
    let boxes: [Arc<RecordQueue>; 2] = [Arc::default(), Arc::default()];
    let held = |merger: &Merger<'_>| merger.held();
    merged(&boxes, |merger| {
        boxes[0].post(&mut vec![
            record(5, LinkEnd::Entering, None),
            record(9, LinkEnd::Entering, None),
        ]);
        boxes[0].idle();
        merger.flush().unwrap();
        assert_eq!(held(merger), 2, "nothing is known of the other");
        boxes[1].complete_until(Time::from_nanos(9));
        merger.flush().unwrap();
        assert_eq!(held(merger), 1, "at 9 it may still say something");
        boxes[1].idle();
        merger.flush().unwrap();
        assert_eq!(held(merger), 0, "both wait: what they say next is later than now");
        boxes[1].awake(Time::ZERO);
        boxes[0].post(&mut vec![record(12, LinkEnd::Entering, None)]);
        merger.flush().unwrap();
        assert_eq!(held(merger), 1, "one has woken at 0");
    });
}

#[test]
fn what_a_relay_still_holds_is_not_forgotten_when_it_wakes() {
    let queue = RecordQueue::default();
    queue.complete_until(Time::from_nanos(7));
    queue.awake(Time::from_nanos(100));
    assert_eq!(queue.complete_until_now(Time::from_nanos(200)), Time::from_nanos(7));
}

#[test]
fn what_finds_no_room_is_counted() {
    let boxes: [Arc<RecordQueue>; 2] = [Arc::default(), Arc::default()];
    let too_many = (1 << 18) + 5;
    let mut batch = vec![record(1, LinkEnd::Entering, None); too_many];
    batch.push(record(1, LinkEnd::Leaving, None));
    boxes[0].post(&mut batch);
    assert!(batch.is_empty());
    let file = merged(&boxes, |_| ());
    let blocks: Vec<Block<'_>> = Reader::new(&file).map(Result::unwrap).collect();
    let statistics = |block: &Block<'_>| match block {
        Block::Statistics(Statistics { received, dropped, .. }) => Some((*received, *dropped)),
        Block::Section(_)
        | Block::Interface(_)
        | Block::Packet(_)
        | Block::SimplePacket(_)
        | Block::Other(_) => None,
    };
    let counted: Vec<_> = blocks.iter().filter_map(statistics).collect();
    assert_eq!(counted, [(Some(too_many as u64), Some(5)), (Some(1), Some(1))]);
    assert_eq!(packets(&file).len(), 1 << 18);
}

/// A disk with room for the beginning alone.
struct Full(usize);

impl std::io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_noticed_while_the_run_lasts() {
    let (scenario, clock, mut disk) = (scenario(), Clock::start(), Full(4096));
    std::thread::scope(|scope| {
        let mut recording = Recording::start(scope, &scenario, clock, &mut disk).unwrap();
        recording.check().unwrap();
        for (hop, to) in [(0, End::Sender), (1, End::Receiver), (1, End::Sender)] {
            recording.record_queue(hop, to).idle();
        }
        let queue = recording.record_queue(0, End::Receiver);
        queue.idle();
        // Nobody ends the recording: the error comes of itself, when the writer's buffer is full.
        let error = loop {
            let mut records = vec![record(1, LinkEnd::Entering, None); 1000];
            queue.post(&mut records);
            if let Err(error) = recording.check() {
                break error;
            }
            std::thread::yield_now();
        };
        assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
    });
}
