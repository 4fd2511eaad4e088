//! Bulk data between this host and the far end.

use std::iter::Peekable;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use maxseg_wire::responder::{Begun, Message, SenderSample, Towards, TransferRequest};

use super::FarEndError;
use super::connection::{answer_to, next_answer};
use super::responder::{Pings, ResponderClient};
use crate::transfer::{
    Frames, MARGIN, RateLimit, Sampler, SocketOptions, Zeros, congestion_name, discard, granted,
    send,
};

/// A transfer to be made. `None` leaves it to the kernels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BulkPlan {
    /// Where the data goes.
    pub towards: Towards,
    /// Connections at once.
    pub connections: u16,
    /// For how long.
    pub time: Duration,
    /// The window that each receiver advertises at most, in bytes.
    pub window: Option<u32>,
    /// `TCP_MAXSEG` of this host's sockets, which bounds the segments of both directions.
    pub mss: Option<u32>,
    /// The senders' `SO_SNDBUF`.
    pub send_buffer: Option<u32>,
    /// The senders' congestion control, where they may use it.
    pub congestion: Option<String>,
    /// Pings beside the bulk data, at this interval.
    pub pings: Option<Duration>,
}

/// What a transfer showed.
#[derive(Debug, Clone, PartialEq)]
pub struct BulkResult {
    /// Each connection.
    pub series: Vec<BulkSeries>,
    /// What was granted to the first connection.
    pub granted: Granted,
    /// Pings meanwhile.
    pub pings: Pings,
    /// Whether the samples are the sockets' own, with what the kernel says of their limits; otherwise they hold bytes, round
    /// trips and retransmissions alone.
    pub has_sockets: bool,
    /// Whether the packets are of IPv6.
    pub is_v6: bool,
    /// When it began: the times of samples are since then. `None` where that is not known.
    pub began: Option<SystemTime>,
}

/// One connection of a transfer: samples of its sending socket, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BulkSeries {
    /// The samples.
    pub samples: Vec<SenderSample>,
}

impl BulkSeries {
    /// Samples with times since their sender began, which was `after` the transfer began; those of its time.
    fn since_transfer(mut samples: Vec<SenderSample>, after: Duration, time: Duration) -> Self {
        for sample in &mut samples {
            sample.at += after;
        }
        samples.retain(|sample| sample.at <= time + Duration::from_millis(50));
        Self { samples }
    }
}

/// What kernels granted. Buffers are as the kernel accounts them: twice what is asked for. `None` where it is unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Granted {
    /// The sender's `SO_SNDBUF` when the transfer began.
    pub send_buffer: Option<u32>,
    /// The receiver's `SO_RCVBUF` when the transfer began.
    pub receive_buffer: Option<u32>,
    /// The receiver's `TCP_WINDOW_CLAMP`.
    pub window_clamp: Option<u32>,
    /// The sender's congestion control.
    pub congestion: Option<String>,
}

impl ResponderClient<'_> {
    /// Makes a transfer; the far end's samples come with the result.
    ///
    /// # Errors
    /// The far end refuses, or no longer answers.
    pub fn bulk(&mut self, plan: &BulkPlan) -> Result<BulkResult, FarEndError> {
        let [result] = self.bulk_at_once([plan])?;
        Ok(result)
    }

    /// Makes transfers at the same time, for as long as the first of them; it has the pings.
    ///
    /// # Errors
    /// The far end refuses, or no longer answers.
    pub fn bulk_at_once<const N: usize>(
        &mut self,
        plans: [&BulkPlan; N],
    ) -> Result<[BulkResult; N], FarEndError> {
        self.transfer = self.transfer.wrapping_add(1);
        // All are connected before the first one begins.
        let opened = self.connect_all(&plans)?;
        let first = plans.first();
        let time = first.map_or(Duration::ZERO, |plan| plan.time);
        let (began, began_at) = (Instant::now(), SystemTime::now());
        let pings = first.and_then(|plan| plan.pings);
        let (ends, pings) = self.carry_out(opened, pings, began, time);
        if self.stop.load(Ordering::Relaxed) {
            return Err(FarEndError::Stopped);
        }
        let (ends, pings) = (all_or_first_error(ends)?, pings?);
        let has_theirs = plans.iter().any(|plan| plan.towards == Towards::Client);
        let theirs = if has_theirs { self.report()? } else { Vec::new() };
        let is_v6 = self.ip().to_canonical().is_ipv6();
        let mut samples = Samples { ends: ends.into_iter().peekable(), theirs, next: 0 };
        Ok(plans.map(|plan| {
            let (granted, series) = samples.of(plan, time);
            let (pings, began) = (pings.clone(), Some(began_at));
            BulkResult { series, granted, pings, has_sockets: true, is_v6, began }
        }))
    }

    /// The connections of all plans, in order.
    fn connect_all<'a>(
        &self,
        plans: &[&'a BulkPlan],
    ) -> Result<Vec<(&'a BulkPlan, Frames)>, FarEndError> {
        let is_stopped = || self.stop.load(Ordering::Relaxed);
        let each = plans.iter().flat_map(|plan| (0..plan.connections).map(move |_| *plan));
        each.map(|plan| {
            let (frames, _) =
                self.account.connect(&plan.options(), self.welcomed.session, &is_stopped)?;
            Ok((plan, frames))
        })
        .collect()
    }

    /// Sends and receives on connections, a thread each, and pings meanwhile, until the time is over or one of them fails.
    fn carry_out(
        &mut self,
        opened: Vec<(&BulkPlan, Frames)>,
        pings: Option<Duration>,
        began: Instant,
        time: Duration,
    ) -> (Vec<Result<End, FarEndError>>, Result<Pings, FarEndError>) {
        let (stop, transfer) = (self.stop, self.transfer);
        // The responder reads no faster than that, and its kernel would take more meanwhile, the more the connections.
        let rate = &RateLimit::of(self.limits(), began);
        let all = u16::try_from(opened.len()).unwrap_or(u16::MAX);
        let has_failed = &AtomicBool::new(false);
        let is_over = &|| {
            began.elapsed() >= time
                || stop.load(Ordering::Relaxed)
                || has_failed.load(Ordering::Relaxed)
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..)
                .zip(opened)
                .map(|(connection, (plan, frames))| {
                    let request = plan.request(transfer, connection, all);
                    scope.spawn(move || {
                        let end = one(plan, frames, (request, rate.as_ref()), began, is_over);
                        has_failed.fetch_or(end.is_err(), Ordering::Relaxed);
                        end
                    })
                })
                .collect();
            let pings = match pings {
                Some(interval) => self.pings(interval, |_, _| is_over()),
                None => Ok(Pings::default()),
            };
            let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            (threads.into_iter().map(join).collect(), pings)
        })
    }
}

/// The samples of a transfer, from which each plan takes its own in order.
struct Samples<I: Iterator<Item = End>> {
    ends: Peekable<I>,
    /// Those of the far end's senders, by the number of the connection.
    theirs: Vec<(u16, Vec<SenderSample>)>,
    /// The first connection of the next plan.
    next: u16,
}

impl<I: Iterator<Item = End>> Samples<I> {
    /// What was granted to the first connection of a plan, and the samples of its senders.
    fn of(&mut self, plan: &BulkPlan, time: Duration) -> (Granted, Vec<BulkSeries>) {
        let connections = self.next..self.next + plan.connections;
        self.next = connections.end;
        let is_own = |end: &End| connections.contains(&end.connection);
        let own: Vec<End> = std::iter::from_fn(|| self.ends.next_if(is_own)).collect();
        let granted = own.first().map(|end| end.granted.clone()).unwrap_or_default();
        let series = match plan.towards {
            Towards::Responder => own
                .into_iter()
                .map(|end| BulkSeries::since_transfer(end.samples, Duration::ZERO, time))
                .collect(),
            Towards::Client => self
                .theirs
                .extract_if(.., |(connection, _)| connections.contains(connection))
                .map(|(connection, samples)| {
                    let end = own.iter().find(|end| end.connection == connection);
                    let after = end.map_or(Duration::ZERO, |end| end.answered_after);
                    BulkSeries::since_transfer(samples, after, time)
                })
                .collect(),
        };
        (granted, series)
    }
}

/// All ends, or the first error. A connection that stopped before it began has transferred nothing: the time was over, or another one
/// had failed.
fn all_or_first_error(ends: Vec<Result<End, FarEndError>>) -> Result<Vec<End>, FarEndError> {
    ends.into_iter().filter(|end| !matches!(end, Err(FarEndError::Stopped))).collect()
}

#[cfg(test)]
impl ResponderClient<'_> {
    /// Asks for a download, and reads nothing of it; waits for the responder to end it.
    pub(crate) fn never_read(&mut self, plan: &BulkPlan) -> Result<(), FarEndError> {
        use crate::transfer::ReadError;
        let account = self.account.clone();
        let session = self.welcomed.session;
        let (mut frames, _) = account.connect(&plan.options(), session, &|| false)?;
        let request = TransferRequest { time: plan.time, ..plan.request(1, 0, 1) };
        frames.send(&Message::Transfer(request))?;
        loop {
            // Zeros are no message; the end is what is waited for.
            match frames.next(super::connection::LONGEST, || false) {
                Err(ReadError::NoMessage(_)) => break,
                Ok(_) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let mut byte = [std::mem::MaybeUninit::uninit(); 1];
        let is_open = || frames.socket.sample().is_ok_and(|sample| sample.info.state == 1);
        while is_open() {
            // Nothing is taken.
            let _ = frames.socket.0.peek(&mut byte);
            std::thread::yield_now();
        }
        Ok(())
    }
}

struct End {
    /// Its number in the transfer.
    connection: u16,
    /// When the far end answered its request, since the transfer began: the middle between request and answer. A sender
    /// there begins with its answer.
    answered_after: Duration,
    granted: Granted,
    /// This host's sender's, with times since the transfer began.
    samples: Vec<SenderSample>,
}

/// One connection, from its request to its end, of a transfer that `began` then; its uploads hold a limit that all share.
fn one(
    plan: &BulkPlan,
    mut frames: Frames,
    (request, rate): (TransferRequest, Option<&RateLimit>),
    began: Instant,
    is_over: &dyn Fn() -> bool,
) -> Result<End, FarEndError> {
    let asked = began.elapsed();
    let answer = answer_to(&mut frames, &Message::Transfer(request), is_over);
    let Message::Begun(theirs) = answer? else {
        // Nothing else answers it.
        return next_answer(&mut frames, is_over).map(|_| End::nothing(request.connection));
    };
    let answered_after = (asked + began.elapsed()) / 2;
    let own = granted(&frames.socket);
    let socket = &frames.socket;
    // What is in flight when the time is over must not outlive the transfer.
    socket.0.set_linger(Some(Duration::ZERO))?;
    let mut samples = Vec::new();
    match plan.towards {
        Towards::Responder => {
            let turns = Sampler::new(began, request.connections.into());
            if let Some(rate) = rate {
                rate.pace(socket)?;
            }
            let keep = |sample| samples.push(sample);
            send(socket, &Zeros::new()?, turns, rate, is_over, keep)?;
        }
        Towards::Client => {
            discard(socket, plan.window, None, is_over, |_| ())?;
        }
    }
    let (sender, receiver) = match plan.towards {
        Towards::Responder => (own, theirs),
        Towards::Client => (theirs, own),
    };
    let connection = request.connection;
    Ok(End { connection, answered_after, granted: Granted::of(&sender, &receiver), samples })
}

impl End {
    fn nothing(connection: u16) -> Self {
        let (answered_after, granted) = (Duration::ZERO, Granted::default());
        Self { connection, answered_after, granted, samples: Vec::new() }
    }
}

impl Granted {
    fn of(sender: &Begun, receiver: &Begun) -> Self {
        let some = |number: u32| (number > 0).then_some(number);
        Self {
            send_buffer: some(sender.send_buffer),
            receive_buffer: some(receiver.receive_buffer),
            window_clamp: some(receiver.window_clamp),
            congestion: congestion_name(&sender.congestion),
        }
    }
}

impl BulkPlan {
    /// Options of this host's sockets.
    fn options(&self) -> SocketOptions {
        let sends = self.towards == Towards::Responder;
        SocketOptions {
            mss: self.mss,
            window: self.window.filter(|_| !sends),
            send_buffer: self.send_buffer.filter(|_| sends),
            congestion: self.congestion.clone().filter(|_| sends),
        }
    }

    /// The request of one of `all` connections.
    fn request(&self, transfer: u32, connection: u16, all: u16) -> TransferRequest {
        let sends = self.towards == Towards::Responder;
        let mut congestion = [0; 16];
        if let Some(name) = &self.congestion {
            for (to, from) in congestion.iter_mut().zip(name.bytes()) {
                *to = from;
            }
        }
        TransferRequest {
            transfer,
            connection,
            connections: all,
            towards: self.towards,
            time: self.time + MARGIN,
            window: self.window.filter(|_| sends).unwrap_or(0),
            send_buffer: self.send_buffer.filter(|_| !sends).unwrap_or(0),
            congestion,
        }
    }
}

#[cfg(test)]
mod tests {
    use maxseg_wire::inet_diag::Sample;
    use maxseg_wire::tcp_info::TcpInfo;

    use super::*;

    #[test]
    fn times_are_since_the_transfer_and_what_comes_after_it_does_not_count() {
        let info = TcpInfo::decode(&[0; TcpInfo::LEAST]).unwrap();
        let sample = Sample { info, memory: None, bbr: None, unread_bytes: 0, unacked_bytes: 0 };
        let millis = Duration::from_millis;
        let samples = [0, 980, 1080].map(|at| SenderSample { at: millis(at), sample });
        let series = BulkSeries::since_transfer(samples.to_vec(), millis(20), millis(1000));
        let times: Vec<Duration> = series.samples.iter().map(|sample| sample.at).collect();
        assert_eq!(times, [millis(20), millis(1000)]);
    }
}
