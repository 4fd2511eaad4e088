//! The lab itself.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use maxseg_core::engine::EngineError;
use maxseg_core::similar::closest;

use super::lab::PersistentLab;
use super::protocol::{Answer, Request};
use super::{change, status};
use crate::sys::{ControlSocket, Waker, user_namespace, wait_for};

/// Whoever comes says at once what it wants: others wait.
const PATIENCE: Duration = Duration::from_secs(5);

impl PersistentLab {
    /// Answers whoever comes until one asks for the end, or `stop` rings. Where a link fails it tells
    /// `failed`, and stays: everyone who comes then is told too.
    ///
    /// # Errors
    /// The kernel refuses to wait; or a link has failed.
    pub fn serve(mut self, stop: &Waker, failed: impl Fn(&EngineError)) -> Result<(), EngineError> {
        let lost = |error: io::Error| EngineError::Unable { what: error.to_string(), hint: None };
        loop {
            let thread_exit = self.relays.thread_exit();
            wait_for(&[self.listener.as_fd(), stop.as_fd(), thread_exit.as_fd()], None)
                .map_err(lost)?;
            if stop.was_woken() {
                break;
            }
            if thread_exit.was_woken()
                && let Err(error) = self.check()
            {
                failed(&error);
            }
            // Who has gone again, or cannot be let in, is nobody to answer.
            let Ok(Some(control)) = self.listener.accept(PATIENCE) else { continue };
            if let Ok(Ending::Asked) = self.answer(&control) {
                self.relays.stop()?;
                // Until the end of this process: that is what whoever asked waits for.
                std::mem::forget(control);
                return Ok(());
            }
        }
        self.relays.stop()?;
        Ok(())
    }

    fn answer(&mut self, control: &ControlSocket) -> io::Result<Ending> {
        let refuse = |what: &str| Answer::Refused { what: what.to_owned(), hint: None };
        // Before a word is heard: a stranger must not keep others waiting.
        if !may_ask(control.peer()?) {
            say(control, &refuse("this lab is another user's"))?;
            return Ok(Ending::No);
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
                say(control, &Answer::Down)?;
                return Ok(Ending::Asked);
            }
        };
        say(control, &answer)?;
        Ok(Ending::No)
    }

    fn let_in(&self, control: &ControlSocket, index: usize) -> io::Result<Ending> {
        if let Err(error) = self.check() {
            say(control, &error.into())?;
            return Ok(Ending::No);
        }
        let mut environment: BTreeMap<String, String> =
            status::environment(&self.scenario, &self.network, index).collect();
        environment.insert("MAXSEG_LAB".to_owned(), self.name.clone());
        let user = user_namespace()?;
        let mut files = vec![self.network.hosts[index].namespace.as_fd()];
        files.extend(user.as_ref().map(AsFd::as_fd));
        let line = serde_json::to_string(&Answer::Enter { environment })?;
        control.send_line(&line, &files)?;
        Ok(Ending::No)
    }

    fn index_of(&self, name: &str) -> Result<usize, EngineError> {
        let names = || self.network.hosts.iter().map(|host| host.name.as_str());
        names().position(|host| host == name).ok_or_else(|| {
            let all: Vec<&str> = names().collect();
            let all = all.join(", ");
            let hint = match closest(name, names()) {
                Some(similar) => format!("did you mean `{similar}`? There are: {all}"),
                None => format!("there are: {all}"),
            };
            let what = format!("no host of the lab `{}` is called `{name}`", self.name);
            EngineError::Unable { what, hint: Some(hint) }
        })
    }
}

/// Whether the lab is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    No,
    Asked,
}

/// This user, and root; as far as this process's user namespace knows root, who is nobody in that of an
/// ordinary user.
fn may_ask(peer: u32) -> bool {
    peer == nix::unistd::geteuid().as_raw() || peer == 0
}

fn say(control: &ControlSocket, answer: &Answer) -> io::Result<()> {
    control.send_line(&serde_json::to_string(answer)?, &[])
}
