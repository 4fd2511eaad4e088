//! Sends trains of datagrams.

use std::io::{self, ErrorKind};
use std::time::{Duration, Instant};

use maxseg_wire::responder::{NONCE, TrainHead, TrainRequest, TrainSent};

/// So long before a datagram is due a program that sleeps is waked, to be there in time.
const AWAKE: Duration = Duration::from_micros(200);

/// After so many datagrams that are all too large, none is sent: a router's message about one counts for the next alone.
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
        wait_until(began + gap.saturating_mul(number));
        if is_over(began.elapsed()) {
            break;
        }
        TrainHead { train: request.train, number }.write(key, &mut datagram);
        let at = began.elapsed();
        let is_too_large = |error: &io::Error| error.raw_os_error() == Some(libc::EMSGSIZE);
        match put(&datagram) {
            Err(error) if !has_passed && is_too_large(&error) && number >= REFUSED => {
                return Err(error);
            }
            // A queue of this host that is full, or a message about an earlier datagram, which may be forged: this one is lost.
            Err(_) => {}
            Ok(_) => has_passed = true,
        }
        sent = TrainSent { count: number + 1, elapsed: at };
    }
    Ok(sent)
}

/// Sleeps for most of the time, and waits awake for the rest.
fn wait_until(due: Instant) {
    loop {
        let left = due.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        if left > AWAKE {
            std::thread::sleep(left.saturating_sub(AWAKE));
        } else {
            std::hint::spin_loop();
        }
    }
}

/// Whether nothing can be sent now, and may be soon.
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
