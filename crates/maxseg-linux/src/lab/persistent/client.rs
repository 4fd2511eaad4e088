//! A client of a persistent lab.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::os::fd::OwnedFd;

use super::protocol::{Answer, Request};
use super::{Changed, LabStatus, LeftProcess, address};
use crate::lab::error::LabError;
use crate::sys::{ControlSocket, NetNs, add_to_private_hosts, enter_user_namespace, user_id};

/// A running lab of this user.
#[derive(Debug)]
pub struct Client {
    name: String,
    control: ControlSocket,
}

/// What a process needs to enter a host.
#[derive(Debug)]
pub struct HostEntry {
    /// Variables for a program in the host: `MAXSEG_LAB`, `MAXSEG_HOST`, and every host's address.
    pub environment: BTreeMap<String, String>,
    /// Every host's name, with its address nearest to this host.
    pub names: BTreeMap<String, IpAddr>,
    network: NetNs,
    user: Option<OwnedFd>,
}

impl Client {
    /// The running lab called `name`.
    ///
    /// # Errors
    /// No lab of this name is up.
    pub fn connect(name: &str) -> Result<Self, LabError> {
        let control =
            ControlSocket::connect(&address(name)?).map_err(|error| not_up(name, error))?;
        let owner = control.peer().map_err(|error| connection(name, error))?;
        if owner != user_id() {
            return Err(LabError::OtherUser { name: name.to_owned(), owner });
        }
        Ok(Self { name: name.to_owned(), control })
    }

    /// Whether a lab called `name` is up.
    pub fn is_there(name: &str) -> bool {
        Self::connect(name).is_ok()
    }

    /// Its status.
    ///
    /// # Errors
    /// The lab does not answer.
    pub fn status(&self) -> Result<LabStatus, LabError> {
        match self.ask(&Request::Status)? {
            (Answer::Status(status), _) => Ok(*status),
            (other, _) => Err(self.unexpected(&other)),
        }
    }

    /// Sets keys of its scenario.
    ///
    /// # Errors
    /// A key cannot be set; no key is set then.
    pub fn set(&self, assignments: &[String]) -> Result<Vec<Changed>, LabError> {
        match self.ask(&Request::Set(assignments.to_vec()))? {
            (Answer::Set(changed), _) => Ok(changed),
            (other, _) => Err(self.unexpected(&other)),
        }
    }

    /// How to enter one of its hosts.
    ///
    /// # Errors
    /// The lab has no such host.
    pub fn host(&self, host: &str) -> Result<HostEntry, LabError> {
        match self.ask(&Request::Enter(host.to_owned()))? {
            (Answer::Enter { environment, names }, files) => {
                let mut files = files.into_iter();
                let network = files.next().map(NetNs::from_fd).ok_or_else(|| {
                    connection(
                        &self.name,
                        io::Error::other("its answer has no namespace descriptor"),
                    )
                })?;
                Ok(HostEntry { environment, names, network, user: files.next() })
            }
            (other, _) => Err(self.unexpected(&other)),
        }
    }

    /// Shuts the lab down, and waits until its process has ended. Gives the other programs in its hosts, which run on
    /// without a network.
    ///
    /// # Errors
    /// The lab does not answer.
    pub fn down(&self) -> Result<Vec<LeftProcess>, LabError> {
        let mut left = match self.ask(&Request::Down)? {
            (Answer::Down, _) => Vec::new(),
            (Answer::DownLeaving(left), _) => left,
            (other, _) => return Err(self.unexpected(&other)),
        };
        // Its end of the socket closes with the process.
        let _ = self.control.receive_line();
        left.retain(|left| left.process != std::process::id());
        Ok(left)
    }

    fn ask(&self, request: &Request) -> Result<(Answer, Vec<OwnedFd>), LabError> {
        if let Some(process) = self.control.stopped_peer() {
            return Err(LabError::Stopped { name: self.name.clone(), process });
        }
        let told = |error: io::Error| connection(&self.name, error);
        let line = serde_json::to_string(request).map_err(|error| told(error.into()))?;
        self.control.send_line(&line, &[]).map_err(told)?;
        let (line, files) = self.control.receive_line().map_err(told)?;
        match serde_json::from_str(&line).map_err(|error| told(error.into()))? {
            Answer::Refused { what, hint } => Err(LabError::Refused { what, hint }),
            answer @ (Answer::Status(_)
            | Answer::Enter { .. }
            | Answer::Set(_)
            | Answer::Down
            | Answer::DownLeaving(_)) => Ok((answer, files)),
        }
    }

    fn unexpected(&self, answer: &Answer) -> LabError {
        connection(&self.name, io::Error::other(format!("unexpected answer {answer:?}")))
    }
}

impl HostEntry {
    /// Moves this process into the host's network namespace, for good.
    ///
    /// # Errors
    /// There is more than one thread, or the kernel forbids it.
    pub fn enter(&self) -> io::Result<()> {
        if let Some(user) = &self.user {
            enter_user_namespace(user)?;
        }
        self.network.enter()
    }

    /// Lets this process and the programs it starts resolve the names of the lab's hosts, by a private `/etc/hosts`. To
    /// be called after [`HostEntry::enter`].
    ///
    /// # Errors
    /// Mounts are forbidden here, or there is no `/etc/hosts`. The variables still have every address.
    pub fn resolve_names(&self) -> io::Result<()> {
        let line = |(name, address): (&String, &IpAddr)| format!("{address} {name}\n");
        add_to_private_hosts(&self.names.iter().map(line).collect::<String>())
    }
}

fn not_up(name: &str, error: io::Error) -> LabError {
    if error.kind() == io::ErrorKind::ConnectionRefused {
        return LabError::NotUp(name.to_owned());
    }
    connection(name, error)
}

fn connection(name: &str, error: io::Error) -> LabError {
    LabError::Connection { name: name.to_owned(), error }
}
