//! System calls, as far as they are a socket's affair.

use maxseg_core::tcp::linux::Socket;
use maxseg_core::units::{Mss, Time};

use super::host::{UnderTest, Wait, Waiting};
use super::script::Call;
use super::verdict::{NotRun, Stop};

impl UnderTest {
    /// Makes a call. `absolute` tells that its end is counted from the script's begin.
    pub(super) fn call(&mut self, call: &Call, from: Time, absolute: bool) -> Result<(), Stop> {
        if let Some(until) = call.until {
            let for_what = if call.name == "connect" { Wait::Connection } else { Wait::Room };
            let begin = if absolute { Time::ZERO } else { from };
            // The range is its end's; the call itself is made at the beginning.
            let from = if for_what == Wait::Connection { Time::ZERO } else { from };
            let until = begin.saturating_add(until);
            self.waiting = Some(Waiting { for_what, from, until, returned: None });
        }
        match call.name.as_str() {
            "socket" | "bind" | "fcntl" => Ok(()),
            "listen" => {
                self.socket = Some(Socket::listen(self.settings.host, self.now));
                Ok(())
            }
            "connect" => {
                self.socket = Some(Socket::connect(self.settings.host, self.now));
                Ok(())
            }
            "accept" => {
                let is_open = self.socket.as_ref().is_some_and(Socket::is_established);
                is_open.then_some(()).ok_or_else(|| Stop::Differs("no connection to accept".into()))
            }
            "setsockopt" => self.set_option(call),
            "getsockopt" => self.get_option(call),
            "write" | "send" | "sendmsg" => self.write(call),
            "read" | "recv" => self.read(call),
            "close" => {
                let now = self.now;
                self.socket_mut()?.close(now);
                Ok(())
            }
            "shutdown" => self.shut_down(call),
            name => Err(NotRun::Rule(format!("{name}()")).into()),
        }
    }

    fn write(&mut self, call: &Call) -> Result<(), Stop> {
        let has_timed_out = self.socket_mut()?.has_timed_out();
        let is_to_time_out = call.error.as_deref() == Some("ETIMEDOUT");
        if has_timed_out != is_to_time_out {
            let what = if has_timed_out { "has timed out" } else { "has not timed out" };
            return Err(Stop::Differs(format!("the connection {what}")));
        }
        // What else a call that fails returns is the system's affair.
        let Ok(bytes) = u64::try_from(call.result) else { return Ok(()) };
        let route = self.settings.take_route_mtu();
        if let (Some(mtu), Some(socket)) = (route, &mut self.socket) {
            socket.on_route_mtu(mtu);
        }
        // A buffer that takes a part of it is not modelled: all that the call returns is written.
        let asked = call.number(2).filter(|_| call.name != "sendmsg");
        if let Some(asked) = asked.filter(|asked| bytes > *asked) {
            return Err(Stop::Differs(format!("{bytes} bytes are written of {asked}")));
        }
        let flags = call.arguments.last().map_or("", String::as_str);
        let now = self.now;
        let socket = self.socket_mut()?;
        if flags.contains("MSG_MORE") {
            socket.write_more(now, bytes);
        } else {
            socket.write(now, bytes);
        }
        Ok(())
    }

    /// Reading is not shut down: what comes is acknowledged all the same.
    fn shut_down(&mut self, call: &Call) -> Result<(), Stop> {
        let now = self.now;
        if call.argument(1) != "SHUT_RD" {
            self.socket_mut()?.shut_down(now);
        }
        Ok(())
    }

    fn read(&mut self, call: &Call) -> Result<(), Stop> {
        let most = call.number(2).unwrap_or(u64::MAX);
        let now = self.now;
        let got = self.socket_mut()?.read(now, most);
        if u64::try_from(call.result).is_ok_and(|wanted| wanted == got) {
            return Ok(());
        }
        Err(Stop::Differs(format!("{got} bytes were read, and were to be {}", call.result)))
    }

    fn set_option(&mut self, call: &Call) -> Result<(), Stop> {
        let now = self.now;
        let option = call.argument(2);
        let Some(value) = call.number(3) else {
            return if option == "IP_MTU_DISCOVER" { Ok(()) } else { Err(unknown(option)) };
        };
        match option {
            "SO_REUSEADDR" | "IP_TOS" => {}
            "SO_SNDBUF" => {
                self.socket_mut()?.set_send_buffer(value);
            }
            "TCP_NODELAY" => {
                self.settings.host.nodelay = value != 0;
                if let Some(socket) = &mut self.socket {
                    socket.set_nodelay(now, value != 0);
                }
            }
            "TCP_USER_TIMEOUT" => self.socket_mut()?.set_user_timeout(Time::from_millis(value)),
            "TCP_CORK" => self.socket_mut()?.set_cork(now, value != 0),
            "TCP_MAXSEG" if !self.is_open() => {
                self.settings.host.maxseg = Mss::new(value).ok();
                if self.socket.is_some() {
                    self.socket = Some(Socket::listen(self.settings.host, now));
                }
            }
            _ => return Err(unknown(option)),
        }
        Ok(())
    }

    fn is_open(&self) -> bool {
        self.socket.as_ref().is_some_and(Socket::is_established)
    }

    fn get_option(&mut self, call: &Call) -> Result<(), Stop> {
        let option = call.argument(2);
        let value = match option {
            "SO_ERROR" => 0,
            "TCP_MAXSEG" if self.is_open() => self.socket_mut()?.info().snd_mss,
            "TCP_MAXSEG" => self.settings.host.maxseg.map_or(536, |mss| mss.bytes().get()),
            "SO_SNDBUF" => self.socket_mut()?.send_buffer(),
            _ => return Err(unknown(option)),
        };
        if call.number(3) == Some(value) {
            return Ok(());
        }
        Err(Stop::Differs(format!("{option} is {value}, and was to be {}", call.argument(3))))
    }

    /// Commands may change what a socket has at once.
    pub(super) fn apply_settings(&mut self) {
        let refuses = self.settings.refuses;
        if let Some(socket) = &mut self.socket {
            socket.set_refused(refuses);
        }
    }
}

fn unknown(option: &str) -> Stop {
    NotRun::Rule(option.to_owned()).into()
}
