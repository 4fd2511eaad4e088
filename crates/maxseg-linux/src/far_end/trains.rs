//! Trains of datagrams, each way: how they were sent, and when each datagram arrived by the receiver's clock. What is to be made of it
//! `maxseg_core::rfc6349` decides.

use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use maxseg_core::rfc6349::{Arrival, Train};
use maxseg_wire::responder::{
    Message, NONCE, Towards, TrainArrival, TrainHead, TrainRequest, TrainSent,
};

use super::FarEndError;
use super::connection::next_answer;
use super::responder::ResponderClient;
use crate::sys::{note_arrivals, receive_noted, sleeps};
use crate::transfer::{datagram_headers, send_train};

/// A train to be sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrainPlan {
    /// Where it goes.
    pub towards: Towards,
    /// Bytes of each IP packet.
    pub packet_bytes: u16,
    /// How many.
    pub count: u32,
    /// The rate of IP packets; `None`: one behind the other, as fast as the host sends.
    pub bits_per_second: Option<u64>,
}

/// A train takes no longer, whatever the host.
const LONGEST: Duration = Duration::from_secs(3);
/// Where no datagram of a train arrives for so long, no more do.
const SILENCE: Duration = Duration::from_millis(250);
/// So often that is looked at: a train of the longest time takes no longer behind a queue of its own.
const MOST_QUESTIONS: u32 = 20;
/// What the responder has counted of a train, and how many datagrams its socket has dropped.
type Counted = (Vec<TrainArrival>, u32);
/// More datagrams of a train than any responder sends or counts.
const MOST_ARRIVALS: usize = 65_536;

#[expect(clippy::wildcard_enum_match_arm, reason = "every other message is no answer")]
impl ResponderClient<'_> {
    /// Sends a train, or has one sent. The flow of UDP is open (`open_datagrams`).
    ///
    /// # Errors
    /// No answer.
    pub fn train(&mut self, plan: &TrainPlan) -> Result<Train, FarEndError> {
        self.train = self.train.wrapping_add(1);
        let most = self.limits().bits_per_second;
        let asked = plan.bits_per_second.unwrap_or(0);
        let request = TrainRequest {
            train: self.train,
            packet_bytes: plan.packet_bytes,
            count: plan.count,
            // The responder's limit holds both ways.
            bits_per_second: if most > 0 && (asked == 0 || asked > most) { most } else { asked },
        };
        let (sent, arrivals, dropped) = match plan.towards {
            Towards::Responder => self.train_forth(&request)?,
            Towards::Client => self.train_back(&request)?,
        };
        let first = arrivals.first().map_or(Duration::ZERO, |arrival| arrival.at);
        let arrival = |one: &TrainArrival| Arrival {
            number: one.number,
            at_s: one.at.saturating_sub(first).as_secs_f64(),
        };
        Ok(Train {
            packet_bytes: plan.packet_bytes.into(),
            sent: sent.count,
            sent_s: sent.elapsed.as_secs_f64(),
            arrivals: arrivals.iter().map(arrival).collect(),
            dropped_by_host: dropped,
        })
    }

    fn train_forth(
        &mut self,
        request: &TrainRequest,
    ) -> Result<(TrainSent, Vec<TrainArrival>, u32), FarEndError> {
        let (key, header) = (self.datagram_key(), datagram_headers(self.ip()));
        let stop = self.stop;
        let is_over = |elapsed| elapsed > LONGEST || stop.load(Ordering::Relaxed);
        let payload = usize::from(request.packet_bytes).saturating_sub(header);
        let socket = self.datagrams()?;
        let sent = send_train(request, &key, payload, is_over, |datagram| socket.send(datagram))?;
        let rest = |time| {
            sleeps(time, || stop.load(Ordering::Relaxed));
        };
        let last = sent.count.saturating_sub(1);
        let (arrivals, dropped) = whole(last, || self.counted(request.train), rest)?;
        Ok((sent, arrivals, dropped))
    }

    /// The datagrams of a train that have arrived at the responder so far, and how many its socket has dropped.
    fn counted(&mut self, train: u32) -> Result<Counted, FarEndError> {
        let stop = self.stop;
        let is_stopped = || stop.load(Ordering::Relaxed);
        self.control.send(&Message::TrainQuestion(train))?;
        let mut arrivals = Vec::new();
        loop {
            match next_answer(&mut self.control, &is_stopped)? {
                Message::TrainEnd(dropped) => return Ok((arrivals, dropped)),
                Message::TrainPart(part) if arrivals.len() < MOST_ARRIVALS => arrivals.extend(part),
                _ => return Err(self.unexpected()),
            }
        }
    }

    fn train_back(
        &mut self,
        request: &TrainRequest,
    ) -> Result<(TrainSent, Vec<TrainArrival>, u32), FarEndError> {
        let (key, stop) = (self.datagram_key(), self.stop);
        let socket = self.datagrams()?.try_clone()?;
        note_arrivals(&socket)?;
        let is_sent = AtomicBool::new(false);
        let (answer, (arrivals, dropped)) = std::thread::scope(|scope| {
            let reading = scope.spawn(|| received(&socket, &key, request.train, &is_sent));
            // The answer comes behind the train on the same path.
            let is_stopped = || stop.load(Ordering::Relaxed);
            let answer = super::connection::answer_to(
                &mut self.control,
                &Message::TrainBack(*request),
                &is_stopped,
            );
            is_sent.store(true, Ordering::Relaxed);
            (answer, reading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        match answer? {
            Message::TrainSent(sent) => Ok((sent, arrivals, dropped)),
            _ => Err(self.unexpected()),
        }
    }
}

/// What has arrived of a train, once its last datagram has, or nothing more comes: a queue that is fair to flows lets the question pass the
/// train.
fn whole(
    last: u32,
    mut counted: impl FnMut() -> Result<Counted, FarEndError>,
    mut rest: impl FnMut(Duration),
) -> Result<Counted, FarEndError> {
    let mut found = counted()?;
    for _ in 0..MOST_QUESTIONS {
        if found.0.iter().any(|arrival| arrival.number == last) {
            break;
        }
        rest(SILENCE);
        let before = std::mem::replace(&mut found, counted()?).0.len();
        if found.0.len() == before {
            break;
        }
    }
    Ok(found)
}

/// The datagrams of a train that arrive until it was sent and, for as long as the socket waits, none comes any more; and how many the
/// socket dropped.
fn received(
    socket: &UdpSocket,
    key: &[u8; NONCE],
    train: u32,
    is_sent: &AtomicBool,
) -> (Vec<TrainArrival>, u32) {
    let (mut room, mut arrivals, mut drops) = (vec![0; 1 << 16], Vec::new(), None);
    loop {
        let was_sent = is_sent.load(Ordering::Relaxed);
        let Ok(arrived) = receive_noted(socket, &mut room) else {
            if was_sent {
                break;
            }
            continue;
        };
        let datagram = room.get(..arrived.length).unwrap_or_default();
        let head = TrainHead::read(datagram).filter(|head| head.train == train);
        let Some(head) = head.filter(|_| datagram.starts_with(key)) else { continue };
        if arrivals.len() < MOST_ARRIVALS {
            arrivals.push(TrainArrival { number: head.number, at: arrived.at });
        }
        let (first, _) = *drops.get_or_insert((arrived.dropped, 0));
        drops = Some((first, arrived.dropped));
    }
    (arrivals, drops.map_or(0, |(first, last): (u32, u32)| last.saturating_sub(first)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asked again and again while so many have arrived each time; how many are known at the end, and how often it rested.
    fn after(arrived: &[u32]) -> (usize, usize) {
        let (mut asked, mut rests) = (arrived.iter(), 0);
        let counted = || {
            let count = *asked.next().expect("no more questions");
            let arrival = |number| TrainArrival { number, at: Duration::ZERO };
            Ok(((0..count).map(arrival).collect(), 0))
        };
        let (arrivals, _) = whole(99, counted, |_| rests += 1).unwrap();
        (arrivals.len(), rests)
    }

    #[test]
    fn a_train_behind_the_question_is_waited_for() {
        assert_eq!(after(&[100]), (100, 0));
        assert_eq!(after(&[0, 40, 90, 100]), (100, 3));
        assert_eq!(after(&[97, 97]), (97, 1), "the last ones were lost");
        assert_eq!(after(&[0, 0]), (0, 1));
    }
}
