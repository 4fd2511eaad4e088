//! Sends trains of datagrams.

use std::io::{self, ErrorKind};
use std::time::{Duration, Instant};

use maxseg_wire::responder::{NONCE, TrainHead, TrainRequest, TrainSent};

use crate::sys::{send_past_errors, sleeps};

/// So long before a datagram is due a program that sleeps is waked, to be there in time.
const AWAKE: Duration = Duration::from_micros(200);

/// After so many datagrams that are all too large, none is sent.
const REFUSED: u32 = 4;

/// Sends a train by `put`, which takes a datagram's payload, of so many bytes. Datagrams that are due are sent one behind the other; none
/// is sent before it is due. Ends where `is_over`.
///
/// # Errors
/// The first datagrams are all larger than the interface carries.
pub(crate) fn send_train(
    request: &TrainRequest,
    key: &[u8; NONCE],
    payload: usize,
    is_over: impl Fn(Duration) -> bool,
    mut put: impl FnMut(&[u8]) -> io::Result<usize>,
) -> io::Result<TrainSent> {
    let mut datagram = vec![0; payload.max(TrainHead::LEAST)];
    let gap = match request.bits_per_second {
        0 => Duration::ZERO,
        rate => Duration::from_secs_f64(8.0 * f64::from(request.packet_bytes) / rate as f64),
    };
    let began = Instant::now();
    let mut has_passed = false;
    let mut sent = TrainSent { count: 0, elapsed: Duration::ZERO };
    for number in 0..request.count {
        let due = gap.saturating_mul(number);
        // What is due after the end is not waited for.
        if is_over(due) || !waits_until(began + due, || is_over(began.elapsed())) {
            break;
        }
        TrainHead { train: request.train, number }.write(key, &mut datagram);
        let at = began.elapsed();
        match send_past_errors(|| put(&datagram)) {
            Err(error) if !has_passed && is_too_large(&error) && number >= REFUSED => {
                return Err(error);
            }
            // A queue of this host that is full, or messages about earlier datagrams, which may be forged: this one is lost.
            Err(_) => {}
            Ok(_) => has_passed = true,
        }
        sent = TrainSent { count: number + 1, elapsed: at };
    }
    Ok(sent)
}

fn is_too_large(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::EMSGSIZE)
}

/// Sleeps for most of the time, and waits awake for the rest; false where it `is_over` before.
fn waits_until(due: Instant, is_over: impl Fn() -> bool) -> bool {
    loop {
        let left = due.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return !is_over();
        }
        if left > AWAKE {
            if !sleeps(left.saturating_sub(AWAKE), &is_over) {
                return false;
            }
        } else {
            std::hint::spin_loop();
        }
    }
}

/// Whether nothing can be sent now, and may be soon.
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::TRIES;

    /// What a train of ten datagrams does with a socket that has this error for those calls, and how many it took.
    fn train(error: i32, refuses: impl Fn(u32) -> bool) -> (io::Result<TrainSent>, u32) {
        let request = TrainRequest { train: 1, packet_bytes: 1500, count: 10, bits_per_second: 0 };
        let (mut calls, mut taken) = (0, 0);
        let sent = send_train(
            &request,
            &[0; NONCE],
            1472,
            |_| false,
            |datagram| {
                calls += 1;
                if refuses(calls) {
                    return Err(io::Error::from_raw_os_error(error));
                }
                taken += 1;
                Ok(datagram.len())
            },
        );
        (sent, taken)
    }

    /// A train of a bit a second, which ends so long after it began, or when that many calls have asked.
    fn slow_train(longest: Duration, most_asked: u32) -> u32 {
        let request = TrainRequest { train: 1, packet_bytes: 1500, count: 9, bits_per_second: 1 };
        let asked = std::cell::Cell::new(0);
        let is_over = |elapsed| {
            asked.set(asked.get() + 1);
            elapsed > longest || asked.get() > most_asked
        };
        send_train(&request, &[0; NONCE], 1472, is_over, |datagram| Ok(datagram.len()))
            .unwrap()
            .count
    }

    #[test]
    fn a_slow_train_ends_between_two_datagrams() {
        // The second one is due after 12,000 s.
        assert_eq!(slow_train(Duration::from_secs(100), u32::MAX), 1, "it is not waited for");
        assert_eq!(slow_train(Duration::MAX, 5), 1, "an interrupt is seen while it is");
    }

    #[test]
    fn messages_about_earlier_datagrams_lose_none() {
        for error in [libc::EMSGSIZE, libc::ECONNREFUSED, libc::EHOSTUNREACH] {
            let (sent, taken) = train(error, |call| !call.is_multiple_of(TRIES));
            assert_eq!((sent.unwrap().count, taken), (10, 10), "error {error}");
        }
    }

    #[test]
    fn a_queue_that_is_full_loses_what_comes() {
        let (sent, taken) = train(libc::ENOBUFS, |call| call.is_multiple_of(2));
        assert_eq!((sent.unwrap().count, taken), (10, 5));
    }

    #[test]
    fn a_size_that_the_interface_does_not_carry_is_an_error() {
        let (sent, taken) = train(libc::EMSGSIZE, |_| true);
        assert_eq!(sent.unwrap_err().raw_os_error(), Some(libc::EMSGSIZE));
        assert_eq!(taken, 0);
    }
}
