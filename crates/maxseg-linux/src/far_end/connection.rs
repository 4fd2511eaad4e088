//! A connection to a responder, up to its welcome.

use std::net::SocketAddr;
use std::time::Duration;

use maxseg_wire::responder::{Limits, Message, NONCE, VERSION};
use socket2::{Domain, Protocol, Socket, Type};

use super::FarEndError;
use crate::sys::TcpSocket;
use crate::transfer::{Frames, SocketOptions, proof, random};

/// So long a connection, or an answer, may take.
pub(super) const LONGEST: Duration = Duration::from_secs(10);

/// Where a responder is, and what it wants to be shown.
#[derive(Debug, Clone)]
pub(super) struct Account {
    pub(super) address: SocketAddr,
    pub(super) token: String,
}

/// What a welcome says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Welcomed {
    pub(super) session: u64,
    pub(super) key: [u8; NONCE],
    pub(super) limits: Limits,
}

impl Account {
    /// Connects and proves the token; `session` is 0 to begin one.
    pub(super) fn connect(
        &self,
        options: &SocketOptions,
        session: u64,
        is_over: &dyn Fn() -> bool,
    ) -> Result<(Frames, Welcomed), FarEndError> {
        let address = self.address;
        let domain = Domain::for_address(address);
        let socket = Socket::new(domain, Type::STREAM, Some(Protocol::TCP))?;
        options.apply(&socket)?;
        socket
            .connect_timeout(&address.into(), LONGEST)
            .map_err(|error| FarEndError::Unreachable { address, error })?;
        let mut frames = Frames::new(TcpSocket(socket))?;
        let nonce = random()?;
        frames.send(&Message::Hello { version: VERSION, nonce })?;
        let Message::Challenge { nonce: theirs } = self.answer(&mut frames, is_over)? else {
            return Err(FarEndError::NoResponder(address));
        };
        let code = proof(&self.token, [&nonce, &theirs]);
        frames.send(&Message::Proof { code, session })?;
        let Message::Welcome { session, key, limits } = self.answer(&mut frames, is_over)? else {
            return Err(FarEndError::NoResponder(address));
        };
        Ok((frames, Welcomed { session, key, limits }))
    }

    fn answer(
        &self,
        frames: &mut Frames,
        is_over: &dyn Fn() -> bool,
    ) -> Result<Message, FarEndError> {
        use crate::transfer::ReadError;
        match answer(frames, is_over) {
            // Another program answers something else, or hangs up.
            Err(Failed::Read(ReadError::NoMessage(_) | ReadError::Closed | ReadError::TooLate)) => {
                Err(FarEndError::NoResponder(self.address))
            }
            Err(Failed::Read(error)) => Err(error.into()),
            Err(Failed::Refused(why)) => Err(FarEndError::Refused(why)),
            Ok(message) => Ok(message),
        }
    }
}

enum Failed {
    Read(crate::transfer::ReadError),
    Refused(maxseg_wire::responder::Refusal),
}

fn answer(frames: &mut Frames, is_over: &dyn Fn() -> bool) -> Result<Message, Failed> {
    match frames.next(LONGEST, is_over) {
        Ok(Message::Refused(why)) => Err(Failed::Refused(why)),
        Ok(message) => Ok(message),
        Err(error) => Err(Failed::Read(error)),
    }
}

/// The answer to a question, once a session is under way.
pub(super) fn answer_to(
    frames: &mut Frames,
    question: &Message,
    is_over: &dyn Fn() -> bool,
) -> Result<Message, FarEndError> {
    frames.send(question)?;
    next_answer(frames, is_over)
}

/// The next message.
pub(super) fn next_answer(
    frames: &mut Frames,
    is_over: &dyn Fn() -> bool,
) -> Result<Message, FarEndError> {
    answer(frames, is_over).map_err(|failed| match failed {
        Failed::Read(error) => error.into(),
        Failed::Refused(why) => FarEndError::Refused(why),
    })
}
