//! Any bytes, and every message there and back.

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::inet_diag::{Memory, Sample};
use crate::tcp_info::TcpInfo;

fn sample(seed: u32) -> SenderSample {
    let bytes: Vec<u8> = (0..TcpInfo::LEN)
        .map(|at| (at.wrapping_mul(seed as usize) % 0x7f).try_into().unwrap())
        .collect();
    let info = TcpInfo::decode(&bytes).unwrap();
    let memory = Some(Memory { send_buffer: 87_040, send_queued: seed, ..Memory::default() });
    let sample = Sample { info, memory, bbr: None, unread_bytes: 0, unacked_bytes: seed };
    SenderSample { at: Duration::from_micros(seed.into()), sample }
}

fn all() -> Vec<Message> {
    let nonce = [7; NONCE];
    let limits = Limits { seconds: 60, bits_per_second: 0, connections: 16 };
    vec![
        Message::Hello { version: VERSION, nonce },
        Message::Challenge { nonce },
        Message::Proof { code: [9; CODE], session: 0 },
        Message::Welcome { session: 5, key: nonce, limits },
        Message::Refused(Refusal::Busy),
        Message::Ping(3),
        Message::Pong(3),
        Message::Transfer(TransferRequest {
            transfer: 1,
            connection: 2,
            connections: 4,
            towards: Towards::Client,
            time: Duration::from_secs(30),
            window: 65_536,
            send_buffer: 0,
            congestion: *b"cubic\0\0\0\0\0\0\0\0\0\0\0",
        }),
        Message::Begun(Begun {
            send_buffer: 1,
            receive_buffer: 2,
            window_clamp: 3,
            congestion: [0; 16],
        }),
        Message::SynQuestion,
        Message::SynSeen(vec![0x45; 60]),
        Message::ReportQuestion(1),
        Message::ReportEnd,
        Message::ProbeBack(vec![1500, 1400]),
        Message::Probed(vec![1400]),
        Message::ArrivalsQuestion,
        Message::Arrivals(vec![(1400, 2), (576, 1)]),
        Message::LearntQuestion,
        Message::Learnt(1400),
        Message::TrainBack(TrainRequest {
            train: 3,
            packet_bytes: 1500,
            count: 64,
            bits_per_second: 0,
        }),
        Message::TrainSent(TrainSent { count: 64, elapsed: Duration::from_micros(700) }),
        Message::TrainQuestion(3),
        Message::TrainPart(vec![TrainArrival { number: 9, at: Duration::from_nanos(5) }]),
        Message::TrainEnd(0),
    ]
}

#[test]
fn every_message_comes_back() {
    for message in all() {
        let frame = encode(&message);
        assert_eq!(decode(&frame), Ok(Some((message, frame.len()))));
        for cut in 0..frame.len() {
            assert_eq!(decode(&frame[..cut]), Ok(None), "{cut} bytes of {frame:?}");
        }
    }
}

#[test]
fn a_sample_comes_back_in_what_is_sent_of_it() {
    let sent = sample(3);
    let message = Message::ReportPart { connection: 1, samples: vec![sent, sample(5)] };
    let frame = encode(&message);
    assert_eq!(frame.len(), HEADER + 2 + 2 * SenderSample::LEN);
    let Ok(Some((Message::ReportPart { samples, .. }, _))) = decode(&frame) else {
        panic!("no part of a report")
    };
    let (ours, theirs) = (sent.sample.info, samples[0].sample.info);
    assert_eq!(ours.bytes_acked, theirs.bytes_acked);
    assert_eq!(
        (ours.rtt, ours.min_rtt, ours.busy_time),
        (theirs.rtt, theirs.min_rtt, theirs.busy_time)
    );
    assert_eq!((ours.snd_cwnd, ours.snd_ssthresh), (theirs.snd_cwnd, theirs.snd_ssthresh));
    assert_eq!(encode(&Message::ReportPart { connection: 1, samples }), frame);
}

#[test]
fn before_the_proof_no_answer_is_longer_than_what_was_sent() {
    let length = |message: &Message| encode(message).len();
    let messages = all();
    assert_eq!(length(&messages[0]), LONGEST_UNPROVEN);
    assert!(length(&messages[1]) + length(&messages[4]) <= length(&messages[0]));
}

#[test]
fn the_longest_part_of_a_train_is_a_message_and_its_datagrams_are_known_by_their_head() {
    let arrival = TrainArrival { number: u32::MAX, at: Duration::from_secs(1 << 30) };
    let part = Message::TrainPart(vec![arrival; MOST_ARRIVALS]);
    let frame = encode(&part);
    assert_eq!(decode(&frame), Ok(Some((part, frame.len()))));
    let (key, head) = ([7; NONCE], TrainHead { train: 4, number: 900 });
    let mut datagram = [0; TrainHead::LEAST];
    head.write(&key, &mut datagram);
    assert_eq!((&datagram[..NONCE], TrainHead::read(&datagram)), (&key[..], Some(head)));
    for cut in 0..TrainHead::LEAST {
        assert_eq!(TrainHead::read(&datagram[..cut]), None, "{cut}");
    }
    assert_eq!(TrainHead::read(&[0; 1000]), None, "a datagram whose size counts");
}

proptest! {
    #[test]
    fn any_bytes_are_judged(bytes: Vec<u8>, kind in 0_u8..80, length in 0_u16..700) {
        let _ = decode(&bytes);
        let mut framed = vec![kind];
        framed.extend(length.to_be_bytes());
        framed.extend(&bytes);
        framed.resize(HEADER + usize::from(length), 0);
        if let Ok(Some((message, taken))) = decode(&framed) {
            prop_assert!(taken <= framed.len());
            let frame = encode(&message);
            prop_assert_eq!(decode(&frame).map(|found| found.map(|(_, length)| length)), Ok(Some(frame.len())));
        }
    }
}
