//! The right to capture packets, which `maxseg capture` needs and the lab does not.

use super::namespaces::{this_program, words};
use super::{Check, State};
use crate::sys::probe::{ProbeError, ProbeStep, run_probe};

/// Whether this program may open a packet socket.
pub(super) fn check() -> Check {
    of(run_probe(&[ProbeStep::PacketSocket]))
}

fn of(tried: Result<(), ProbeError>) -> Check {
    let purpose = "`maxseg capture`; not used by the lab";
    let check = Check::new("packets", purpose, "this user may capture packets");
    match tried {
        Ok(()) => check,
        Err(refusal) => {
            let found = format!("this user may not capture packets ({})", words(&refusal.error));
            Check { found, ..check }
                .state(State::Missing)
                .mend([format!("sudo setcap cap_net_raw=ep {}", this_program())])
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn a_right_that_is_missing_can_be_given() {
        assert_eq!(of(Ok(())).state, State::Ok);
        let error = io::Error::from_raw_os_error(libc::EPERM);
        let check = of(Err(ProbeError { step: ProbeStep::PacketSocket, error }));
        assert_eq!((check.state, check.required), (State::Missing, false));
        assert!(check.mend[0].contains("cap_net_raw"), "{check:?}");
    }
}
