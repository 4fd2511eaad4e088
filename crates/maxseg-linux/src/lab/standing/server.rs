//! The lab itself.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use maxseg_core::engine::EngineError;
use maxseg_core::scenario::{Draft, LabBackend, Scenario, ScenarioError};
use maxseg_core::similar::closest;

use super::protocol::{Answer, Request};
use super::{LabStatus, address, change, status};
use crate::lab::failure::LabError;
use crate::lab::feasible;
use crate::lab::flows::congestion_of;
use crate::lab::network::{Network, set};
use crate::lab::relays::Relays;
use crate::lab::topology::settings_at;
use crate::sys::{Bell, Clock, Control, Listener, user_namespace, wait_for};

/// A lab that stays as long as this value.
#[derive(Debug)]
pub struct Standing {
    pub(super) name: String,
    pub(super) draft: Draft,
    pub(super) scenario: Scenario,
    pub(super) network: Network,
    pub(super) relays: Relays,
    pub(super) notes: Vec<String>,
    listener: Listener,
    clock: Clock,
    drops_before: u64,
}

/// Whoever comes says at once what it wants: others wait.
const PATIENCE: Duration = Duration::from_secs(5);

impl Standing {
    /// Makes the hosts and links of a scenario, in this process.
    ///
    /// # Errors
    /// There is a lab of this name, the scenario is wrong, or this machine or this user may not.
    pub fn up(name: &str, draft: Draft) -> Result<Self, EngineError> {
        let listener = Listener::new(&address(name)?).map_err(|error| taken(name, &error))?;
        let scenario = draft.scenario().map_err(wrong)?;
        if scenario.lab.backend == LabBackend::Netem {
            return Err(EngineError::Unable {
                what: "a lab that stays has links of this program, not netem's".to_owned(),
                hint: Some("leave `lab.backend` out".to_owned()),
            });
        }
        feasible::mtus(&scenario)?;
        let network = Network::build(&scenario)?;
        let clock = Clock::start();
        let relays = Relays::start(&scenario, network.cables(), clock, |_, _| None)?;
        let notes = set_congestion(&network, &scenario);
        let drops_before = network.drops()?;
        let name = name.to_owned();
        Ok(Self { name, draft, scenario, network, relays, notes, listener, clock, drops_before })
    }

    /// How it is.
    ///
    /// # Errors
    /// A link's thread has ended.
    pub fn status(&self) -> Result<LabStatus, EngineError> {
        self.check()?;
        let reports = self.relays.reports()?;
        let of_relay: u64 = reports.iter().flatten().map(|report| report.meter.kernel_drops).sum();
        let kernel_drops = self.network.drops()?.saturating_sub(self.drops_before) + of_relay;
        Ok(LabStatus {
            name: self.name.clone(),
            scenario: self.scenario.name.clone(),
            process: std::process::id(),
            up_s: self.clock.now().as_secs_f64(),
            hosts: status::hosts(&self.scenario, &self.network),
            links: status::links(&self.scenario, &reports),
            lateness: status::lateness(&reports),
            kernel_drops,
            relay_cpu_s: reports.iter().flatten().map(|report| report.cpu.as_secs_f64()).sum(),
            notes: self.notes.clone(),
        })
    }

    /// Whether its links carry packets.
    pub(super) fn check(&self) -> Result<(), EngineError> {
        self.relays.check().map_err(|error| EngineError::Unable {
            what: format!("a link of the lab `{}` has failed: {error}", self.name),
            hint: Some("take the lab down, and up again".to_owned()),
        })
    }

    /// Answers whoever comes until one asks for the end, or `stop` rings. Where a link fails it tells
    /// `failed`, and stays: everyone who comes then is told too.
    ///
    /// # Errors
    /// The kernel refuses to wait; or a link has failed.
    pub fn serve(mut self, stop: &Bell, failed: impl Fn(&EngineError)) -> Result<(), EngineError> {
        let lost = |error: io::Error| EngineError::Unable { what: error.to_string(), hint: None };
        loop {
            let alarm = self.relays.alarm();
            wait_for(&[self.listener.as_fd(), stop.as_fd(), alarm.as_fd()], None).map_err(lost)?;
            if stop.has_rung() {
                break;
            }
            if alarm.has_rung()
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

    fn answer(&mut self, control: &Control) -> io::Result<Ending> {
        let refuse = |what: &str| Answer::Refused { what: what.to_owned(), hint: None };
        // Before a word is heard: a stranger must not keep others waiting.
        if !may_ask(control.peer()?) {
            say(control, &refuse("this lab is another user's"))?;
            return Ok(Ending::No);
        }
        let (line, _) = control.hear()?;
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

    fn let_in(&self, control: &Control, index: usize) -> io::Result<Ending> {
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
        control.say(&line, &files)?;
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

fn say(control: &Control, answer: &Answer) -> io::Result<()> {
    control.say(&serde_json::to_string(answer)?, &[])
}

fn taken(name: &str, error: &io::Error) -> EngineError {
    if error.kind() != io::ErrorKind::AddrInUse {
        return EngineError::Unable { what: format!("the lab `{name}`: {error}"), hint: None };
    }
    EngineError::Unable {
        what: format!("a lab called `{name}` is up already"),
        hint: Some(format!(
            "`maxseg lab down --name {name}` ends it; --name gives this one another name"
        )),
    }
}

/// A scenario's fault in the words of the lab.
pub(super) fn wrong(error: ScenarioError) -> EngineError {
    let what =
        if error.key.is_empty() { error.what } else { format!("{}: {}", error.key, error.what) };
    EngineError::Unable { what, hint: error.hint }
}

/// What connections begin with in each host, as far as the kernel lets a namespace have it. Gives what it did
/// not.
pub(super) fn set_congestion(network: &Network, scenario: &Scenario) -> Vec<String> {
    let mut notes = Vec::new();
    for (index, host) in network.hosts.iter().enumerate() {
        let Some((_, settings)) = settings_at(scenario, index) else { continue };
        let name = congestion_of(settings);
        let done: Result<(), LabError> = host.inside(|| set("ipv4/tcp_congestion_control", name));
        if done.is_err() {
            notes.push(format!(
                "{}: this kernel lets no namespace begin connections with {name}; programs may choose it per socket",
                host.name
            ));
        }
    }
    notes
}
