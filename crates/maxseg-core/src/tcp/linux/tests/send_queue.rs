//! What a sender does with packets that are sent and not acknowledged.

use super::{MSS, Pair, Time, host};

/// Segments of a packet of two in the middle of what is in flight, once SACK tells of its second, where so much is queued.
fn segments_behind_sack_of_a_half(queued: Option<u64>) -> u64 {
    let mut pair = Pair::new(host(), 400 * MSS, &[]).run(Time::from_millis(100));
    let sender = &mut pair.sender;
    sender.writer.queued = queued.unwrap_or(sender.writer.queued);
    let index = sender.rtx_queue.len() / 2;
    let middle = sender.rtx_queue[index];
    assert_eq!(middle.segments, 2);
    let mut ack = pair.acks.last().unwrap().packet;
    ack.ack = sender.snd_una;
    ack.sack.push((middle.seq + MSS, middle.end_seq));
    sender.on_packet(Time::from_millis(101), &ack);
    sender.rtx_queue[index].segments
}

/// A write may overshoot the send buffer by a whole packet, so that many times a small buffer may be in flight. Then a packet in the middle is not
/// cut (`tcp_fragment`, which counts it as `TCPWqueueTooBig`).
#[test]
fn with_many_times_the_send_buffer_in_flight_no_packet_in_the_middle_is_cut() {
    assert_eq!(segments_behind_sack_of_a_half(None), 1);
    assert_eq!(segments_behind_sack_of_a_half(Some(100_000_000)), 2);
}
