//! Options of a connection that runs, set on the socket of the process that has it open (`pidfd_getfd(2)`): the process notices
//! nothing, and the connection goes on with the new value.
//!
//! A connection is named by its ends, and known by its cookie, which no other socket of this boot has: a later one between the
//! same ports is not touched.

use std::fmt::Write as _;
use std::io;
use std::net::SocketAddr;

use maxseg_core::tune::{SocketEnds, SocketOption, Value};
use maxseg_wire::inet_diag::{Filter, Socket, StateSet};
use maxseg_wire::tcp_info::State;

pub use super::socket_error::SocketError;
use super::{Reading, TuneError};
use crate::observe::host::sysctl;
use crate::observe::sockets::{Process, Selection, SocketLister, borrowed, pids};
use crate::sys::{BorrowedSocket, Buffer, coarse_tick};

/// Options of `include/uapi/linux/tcp.h` (Linux 6.15).
const TCP_RTO_MAX_MS: libc::c_int = 44;
const TCP_RTO_MIN_US: libc::c_int = 45;
const TCP_DELACK_MAX_US: libc::c_int = 46;

/// The words of values that are no numbers.
const AUTO: &str = "auto";
const UNLIMITED: &str = "unlimited";

/// A connection that runs, by a descriptor of its own.
#[derive(Debug)]
pub struct RunningSocket {
    cookie: u64,
    process: String,
    socket: BorrowedSocket,
}

/// What restores an option: the value, and what it does not say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionReading {
    /// The value.
    pub value: Value,
    /// The cookie, the size of a buffer, and with a receive buffer the window clamp.
    pub image: String,
}

impl RunningSocket {
    /// The connection between these ends, this host's first, in the calling thread's network namespace.
    ///
    /// # Errors
    /// There is none, or this user may not touch it.
    pub fn find(ends: &SocketEnds) -> Result<Self, SocketError> {
        let (cookie, inode) = listed(ends)?.ok_or(SocketError::NoConnection(*ends))?;
        let mut fault = SocketError::NoProcess(*ends);
        // Several may have it: a child that has just been forked has every socket of its parent until it runs another program.
        let mut pids: Vec<u32> = pids().collect();
        pids.sort_unstable();
        for pid in pids {
            match borrowed(pid, inode) {
                // A process may have closed it meanwhile, and opened another under the same number.
                Some(Ok(socket)) if socket.cookie().is_ok_and(|own| own == cookie) => {
                    let process = format!("{} ({pid})", Process::of(pid).name);
                    return Ok(Self { cookie, process, socket });
                }
                Some(Err(error)) => match error.raw_os_error() {
                    Some(libc::EPERM | libc::EACCES) => {
                        fault =
                            SocketError::Denied { pid, name: Process::of(pid).name.to_string() };
                    }
                    Some(libc::ENOSYS) => {
                        return Err(SocketError::NotSupported { option: "pidfd_getfd" });
                    }
                    _ => {}
                },
                Some(Ok(_)) | None => {}
            }
        }
        Err(fault)
    }

    /// The same, where it is still the one that an image is of.
    ///
    /// # Errors
    /// As of [`RunningSocket::find`], and [`SocketError::Another`].
    pub fn find_again(ends: &SocketEnds, image: &str) -> Result<Self, SocketError> {
        let found = Self::find(ends)?;
        match part(image, "cookie") {
            Some(cookie) if cookie != found.cookie => Err(SocketError::Another(*ends)),
            Some(_) | None => Ok(found),
        }
    }

    /// Name and number of the process that has it open.
    pub fn process(&self) -> &str {
        &self.process
    }

    /// Its cookie.
    pub const fn cookie(&self) -> u64 {
        self.cookie
    }

    /// An option, and what restores it.
    ///
    /// # Errors
    /// The kernel does not have it.
    pub fn read(&self, option: SocketOption) -> Result<OptionReading, SocketError> {
        let mut image = format!("cookie={}", self.cookie);
        let value = self.value(option, &mut image).map_err(|_| unsupported(option))?;
        Ok(OptionReading { value: Value::Text(value), image })
    }

    fn value(&self, option: SocketOption, image: &mut String) -> io::Result<String> {
        let socket = &self.socket;
        Ok(match option {
            SocketOption::Congestion => socket.congestion()?,
            SocketOption::WindowClamp => socket.window_clamp()?.to_string(),
            SocketOption::ReceiveBuffer => self.buffer(Buffer::Receive, image)?,
            SocketOption::SendBuffer => self.buffer(Buffer::Send, image)?,
            SocketOption::PacingRate => {
                match socket.long_number(libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE)? {
                    u64::MAX => UNLIMITED.to_owned(),
                    rate => rate.to_string(),
                }
            }
            SocketOption::NotsentLowat => self.unsigned(libc::TCP_NOTSENT_LOWAT)?,
            SocketOption::RtoMin => self.unsigned(TCP_RTO_MIN_US)?,
            SocketOption::RtoMax => self.unsigned(TCP_RTO_MAX_MS)?,
            SocketOption::DelayedAckMax => self.unsigned(TCP_DELACK_MAX_US)?,
        })
    }

    fn unsigned(&self, option: libc::c_int) -> io::Result<String> {
        Ok(self.socket.number(libc::IPPROTO_TCP, option)?.cast_unsigned().to_string())
    }

    /// The size of a buffer; `auto` where the kernel changes it by itself. The image has the size of the moment, and the window
    /// clamp with that of a receive buffer.
    fn buffer(&self, which: Buffer, image: &mut String) -> io::Result<String> {
        let size = self.socket.buffer(which)?;
        let [send, receive] = self.socket.buffers_set().unwrap_or([true, true]);
        let is_set = if which == Buffer::Send { send } else { receive };
        let name = if is_set { "set" } else { "size" };
        let _ = write!(image, " {name}={size}");
        if which == Buffer::Receive {
            let _ = write!(image, " clamp={}", self.socket.window_clamp()?);
        }
        Ok(if is_set { size.to_string() } else { AUTO.to_owned() })
    }

    /// Sets an option; with the image of an earlier reading it is as it was then.
    ///
    /// # Errors
    /// The kernel does not have the option, or refuses the value.
    pub fn write(
        &self,
        option: SocketOption,
        value: &Value,
        image: Option<&str>,
    ) -> Result<(), SocketError> {
        let name = option.name();
        let text = value.text().unwrap_or_default();
        let refused = |why: io::Error| match why.raw_os_error() {
            Some(libc::ENOPROTOOPT) => SocketError::NotSupported { option: name },
            _ => SocketError::Refused { option: name, value: text.to_owned(), why },
        };
        let not = |or| SocketError::NotAValue { option: name, or, value: value.to_string() };
        let socket = &self.socket;
        let tcp = |which, number: u32| {
            socket.set_number(libc::IPPROTO_TCP, which, number.cast_signed()).map_err(refused)
        };
        let number = || text.parse::<u32>().map_err(|_| not(""));
        match option {
            SocketOption::Congestion => socket.set_congestion(text).map_err(refused),
            SocketOption::WindowClamp => tcp(libc::TCP_WINDOW_CLAMP, number()?),
            SocketOption::NotsentLowat => tcp(libc::TCP_NOTSENT_LOWAT, number()?),
            SocketOption::RtoMin => tcp(TCP_RTO_MIN_US, number()?),
            SocketOption::RtoMax => tcp(TCP_RTO_MAX_MS, number()?),
            SocketOption::DelayedAckMax => tcp(TCP_DELACK_MAX_US, number()?),
            SocketOption::PacingRate => {
                let rate = match text {
                    UNLIMITED => u64::MAX,
                    other => other.parse().map_err(|_| not(" or `unlimited`"))?,
                };
                let (level, which) = (libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE);
                socket.set_long_number(level, which, rate).map_err(refused)
            }
            SocketOption::ReceiveBuffer | SocketOption::SendBuffer => {
                let which =
                    if option == SocketOption::SendBuffer { Buffer::Send } else { Buffer::Receive };
                let before = |name| image.and_then(|image| part(image, name));
                let (size, is_restored) = if text == AUTO {
                    let size = before("size").and_then(|size| i32::try_from(size).ok());
                    (self.grow_again(which, size).map_err(refused)?, size.is_some())
                } else {
                    let size = text.parse().map_err(|_| not(" or `auto`"))?;
                    socket.set_buffer(which, size).map_err(refused)?;
                    (size, before("set") == u64::try_from(size).ok())
                };
                if which == Buffer::Send {
                    return Ok(());
                }
                let clamp = before("clamp").filter(|_| is_restored);
                self.open_window(size, clamp).map_err(refused)
            }
        }
    }

    /// Sets the window clamp to what it was, or raises it with the receive buffer: the kernel takes it from the buffer at the SYN,
    /// and goes on holding the window there when a program sets a larger buffer (`tcp_grow_window`, measured on 6.18).
    fn open_window(&self, buffer: i32, before: Option<u64>) -> io::Result<()> {
        let now = self.socket.window_clamp()?;
        let clamp = match before {
            Some(clamp) => u32::try_from(clamp).unwrap_or(now),
            None => now.max(buffer.unsigned_abs()),
        };
        if clamp == now {
            return Ok(());
        }
        self.socket.set_number(libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP, clamp.cast_signed())
    }

    /// Lets the kernel change the size of a buffer again, from this size on, or from what new connections begin with. The size.
    fn grow_again(&self, which: Buffer, size: Option<i32>) -> io::Result<i32> {
        let name = if which == Buffer::Send { "net.ipv4.tcp_wmem" } else { "net.ipv4.tcp_rmem" };
        let initial = || sysctl(name).ok()?.split_whitespace().nth(1)?.parse().ok();
        let now = self.socket.buffer(which)?;
        let size = size.unwrap_or_else(|| initial().unwrap_or(now).max(now));
        if size != now {
            self.socket.set_buffer(which, size)?;
        }
        self.socket.unlock_buffer(which)?;
        Ok(size)
    }
}

/// Reads an option; with the image of an earlier reading, that of the very connection that was read then.
pub(super) fn read(
    ends: &SocketEnds,
    option: SocketOption,
    image: Option<&str>,
) -> Result<Reading, TuneError> {
    match found(ends, image) {
        // It was there when the image was made, and is closed: nothing is left to restore.
        Err(SocketError::NoConnection(_) | SocketError::Another(_)) if image.is_some() => {
            Ok(Reading::plain(Value::Absent))
        }
        found => {
            let OptionReading { value, image } = found?.read(option)?;
            Ok(Reading { value, image: Some(image) })
        }
    }
}

/// Sets an option of the connection that an image is of.
pub(super) fn write(
    ends: &SocketEnds,
    option: SocketOption,
    value: &Value,
    image: Option<&str>,
) -> Result<(), TuneError> {
    Ok(found(ends, image)?.write(option, value, image)?)
}

/// The connection between these ends: with an image the very one that it is of.
fn found(ends: &SocketEnds, image: Option<&str>) -> Result<RunningSocket, SocketError> {
    match image {
        Some(image) => RunningSocket::find_again(ends, image),
        None => RunningSocket::find(ends),
    }
}

fn unsupported(option: SocketOption) -> SocketError {
    SocketError::NotSupported { option: option.name() }
}

/// A number of an image.
fn part(image: &str, name: &str) -> Option<u64> {
    let mut parts = image.split_whitespace().filter_map(|part| part.split_once('='));
    parts.find(|(key, _)| *key == name)?.1.parse().ok()
}

/// An image with this window clamp in the place of its own.
pub(super) fn with_clamp(image: &str, clamp: u64) -> String {
    let parts = image.split_whitespace();
    let kept: Vec<String> =
        parts
            .map(|part| {
                if part.starts_with("clamp=") { format!("clamp={clamp}") } else { part.to_owned() }
            })
            .collect();
    kept.join(" ")
}

/// Cookie and inode of the connection between these ends.
fn listed(ends: &SocketEnds) -> Result<Option<(u64, u32)>, SocketError> {
    let port = Filter::port(ends.local.port());
    let states = StateSet::ALL.without(State::Listen).without(State::TimeWait);
    let selection = Selection { states, filter: Some(port) };
    let asked = [ends.local, ends.remote].map(canonical);
    let zone = [ends.local, ends.remote].into_iter().find_map(zone_of);
    let mut found = None;
    let take = |socket: &Socket<'_>| {
        // A socket of link-local ends is bound to their interface.
        let is_of_zone = zone.is_none_or(|zone| zone == socket.interface);
        if is_of_zone && [socket.local, socket.remote].map(canonical) == asked {
            // A socket without an inode is closed by its program, and nobody can set anything on it.
            found = (socket.inode != 0).then_some((socket.cookie, socket.inode));
        }
    };
    SocketLister::list_here(&selection, take).map_err(SocketError::NoList)?;
    Ok(found)
}

/// The interface of an address that has one (RFC 4007 §11).
fn zone_of(end: SocketAddr) -> Option<u32> {
    let SocketAddr::V6(end) = end else { return None };
    Some(end.scope_id()).filter(|zone| *zone != 0)
}

/// An IPv4 address in the form of IPv6 is one of IPv4.
pub(super) fn canonical(end: SocketAddr) -> SocketAddr {
    SocketAddr::new(end.ip().to_canonical(), end.port())
}

/// A value as the kernel will show it: times are rounded up to its tick.
pub fn as_shown(option: SocketOption, value: &Value) -> Value {
    let unit_ns = match option {
        SocketOption::RtoMin | SocketOption::DelayedAckMax => 1000,
        SocketOption::RtoMax => 1_000_000,
        SocketOption::Congestion
        | SocketOption::WindowClamp
        | SocketOption::ReceiveBuffer
        | SocketOption::SendBuffer
        | SocketOption::PacingRate
        | SocketOption::NotsentLowat => return halved_and_doubled(option, value),
    };
    let tick = coarse_tick().map(|tick| tick.as_nanos() / unit_ns).filter(|tick| *tick > 0);
    match (value.number(), tick) {
        (Some(number), Some(tick)) => Value::Text(number.next_multiple_of(tick).to_string()),
        _ => value.clone(),
    }
}

/// A buffer's size is twice what setsockopt takes: an odd one is shown as the even one below.
fn halved_and_doubled(option: SocketOption, value: &Value) -> Value {
    let is_buffer = matches!(option, SocketOption::ReceiveBuffer | SocketOption::SendBuffer);
    match value.number().filter(|number| is_buffer && number % 2 == 1) {
        Some(number) => Value::Text((number - 1).to_string()),
        None => value.clone(),
    }
}
