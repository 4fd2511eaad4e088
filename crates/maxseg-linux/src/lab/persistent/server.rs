//! The control server of a persistent lab.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::time::Duration;

use super::lab::PersistentLab;
use super::protocol::{Answer, Request};
use super::{change, left, status};
use crate::lab::error::LabError;
use crate::sys::{ControlSocket, Waker, user_namespace, wait_for};

/// A client has this long to send its request: clients are served one after the other.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// After a failed `accept` the listener is left alone this long. It stays readable, so waiting for it would return
/// at once.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);

impl PersistentLab {
    /// Serves clients until one sends `down` or `stop` wakes. When a relay thread ends, `failed` is called and
    /// serving goes on: later requests get the same error.
    ///
    /// # Errors
    /// A descriptor is invalid, or a relay thread has failed.
    pub fn serve(mut self, stop: &Waker, failed: impl Fn(&LabError)) -> Result<(), LabError> {
        let mut retry = None;
        loop {
            let thread_exit = self.relays.thread_exit();
            let mut sources = vec![stop.as_fd(), thread_exit.as_fd()];
            if retry.is_none() {
                sources.push(self.listener.as_fd());
            }
            wait_for(&sources, retry).map_err(|error| self.connection(error))?;
            if stop.was_woken() {
                break;
            }
            if thread_exit.was_woken()
                && let Err(error) = self.check()
            {
                failed(&error);
            }
            let accepted = self.listener.accept(REQUEST_TIMEOUT);
            retry = accepted.is_err().then_some(ACCEPT_RETRY);
            let Ok(Some(control)) = accepted else { continue };
            // An error of one client ends its connection only.
            if let Ok(ControlFlow::Break(())) = self.answer(&control) {
                self.relays.stop()?;
                // Left open until this process ends: its end is what the client of `down` waits for.
                std::mem::forget(control);
                return Ok(());
            }
        }
        self.relays.stop()?;
        Ok(())
    }

    fn connection(&self, error: io::Error) -> LabError {
        LabError::Connection { name: self.name.clone(), error }
    }

    fn answer(&mut self, control: &ControlSocket) -> io::Result<ControlFlow<()>> {
        let refuse = |what: &str| Answer::Refused { what: what.to_owned(), hint: None };
        // Before reading: another user's client could delay the others by the whole timeout.
        if !may_ask(control.peer()?) {
            say(control, &refuse("this lab is another user's"))?;
            return Ok(ControlFlow::Continue(()));
        }
        let (line, _) = control.receive_line()?;
        let answer = match serde_json::from_str::<Request>(&line) {
            Err(_) => refuse("this lab is of another version of maxseg"),
            Ok(Request::Status) => {
                self.status().map_or_else(Answer::from, |status| Answer::Status(Box::new(status)))
            }
            Ok(Request::Set(assignments)) => {
                change::set(self, &assignments).map_or_else(Answer::from, Answer::Set)
            }
            Ok(Request::Enter(host)) => match self.index_of(&host) {
                Err(error) => error.into(),
                Ok(index) => return self.let_in(control, index),
            },
            Ok(Request::Down) => {
                let left = left::processes(&self.network);
                let answer = if left.is_empty() { Answer::Down } else { Answer::DownLeaving(left) };
                say(control, &answer)?;
                return Ok(ControlFlow::Break(()));
            }
        };
        say(control, &answer)?;
        Ok(ControlFlow::Continue(()))
    }

    fn let_in(&self, control: &ControlSocket, index: usize) -> io::Result<ControlFlow<()>> {
        if let Err(error) = self.check() {
            say(control, &error.into())?;
            return Ok(ControlFlow::Continue(()));
        }
        let mut environment: BTreeMap<String, String> =
            status::environment(&self.scenario, &self.network, index).collect();
        environment.insert("MAXSEG_LAB".to_owned(), self.name.clone());
        let user = user_namespace()?;
        let mut files = vec![self.network.hosts[index].namespace.as_fd()];
        files.extend(user.as_ref().map(AsFd::as_fd));
        let names = status::names(&self.scenario, &self.network, index).collect();
        let line = serde_json::to_string(&Answer::Enter { environment, names })?;
        control.send_line(&line, &files)?;
        Ok(ControlFlow::Continue(()))
    }

    fn index_of(&self, name: &str) -> Result<usize, LabError> {
        let hosts = &self.network.hosts;
        hosts.iter().position(|host| host.name == name).ok_or_else(|| LabError::NoHost {
            lab: self.name.clone(),
            host: name.to_owned(),
            hosts: hosts.iter().map(|host| host.name.clone()).collect(),
        })
    }
}

/// Whether a client's user may control the lab: the lab's own, and root. In the user namespace of an ordinary user
/// root has no mapping, and is refused.
fn may_ask(peer: u32) -> bool {
    peer == nix::unistd::geteuid().as_raw() || peer == 0
}

fn say(control: &ControlSocket, answer: &Answer) -> io::Result<()> {
    control.send_line(&serde_json::to_string(answer)?, &[])
}
