//! Watching: what has expired is undone, and what was made from a route that has moved is withdrawn.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use maxseg_core::tune::{Entry, Step, Target, UndoReason, Value};
use netlink_sys::Socket;
use netlink_sys::protocols::NETLINK_ROUTE;
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv};

use super::here::moment;
use super::nowhere::Nowhere;
use super::route::{Image, main_routes, nowhere_without, parent, way};
use super::undo::recover_but;
use super::{Journal, TuneError, UndoOutcome, Undone, undo};
use crate::sys::{Waker, wait_for};

/// Follows the journal and the routes of this network namespace.
#[derive(Debug)]
pub struct Watcher {
    folder: PathBuf,
    events: Socket,
    left: BTreeMap<u64, Left>,
    /// What was undone, in a folder that cannot be written.
    unnoted: BTreeSet<u64>,
}

/// What could not be undone.
#[derive(Debug)]
struct Left {
    /// Why, as it was told.
    told: String,
    /// How long it is left alone, and until when.
    pause: Duration,
    until: Instant,
}

/// What was done, and why.
#[derive(Debug)]
pub struct WatchEvent {
    /// What was undone.
    pub undone: Undone,
    /// Why, in a line.
    pub why: String,
}

/// `RTNLGRP_LINK`, `RTNLGRP_IPV4_ROUTE`, `RTNLGRP_IPV6_ROUTE` of `linux/rtnetlink.h`.
const GROUPS: [u32; 3] = [1, 7, 11];
/// How often to look at deadlines, and whether an event was missed.
const LOOK: Duration = Duration::from_millis(500);
/// How long what could not be undone is left alone: the first time, and at most after each further attempt took twice as long.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(60)];

impl Watcher {
    /// From now on.
    ///
    /// # Errors
    /// Netlink fails.
    pub fn new(folder: &Path) -> Result<Self, TuneError> {
        let open = || -> io::Result<Socket> {
            let mut socket = Socket::new(NETLINK_ROUTE)?;
            socket.bind_auto()?;
            for group in GROUPS {
                socket.add_membership(group)?;
            }
            Ok(socket)
        };
        let events = open().map_err(TuneError::Watch)?;
        Ok(Self {
            folder: folder.to_owned(),
            events,
            left: BTreeMap::new(),
            unnoted: BTreeSet::new(),
        })
    }

    /// Looks now: undoes what has to be undone. What could not be undone is told once, and tried again after a while.
    ///
    /// # Errors
    /// The journal cannot be read or written.
    pub fn look(&mut self) -> Result<Vec<WatchEvent>, TuneError> {
        let history = Journal::read(&self.folder)?;
        let now = moment()?;
        let at = Instant::now();
        let rests = |id: u64| {
            self.unnoted.contains(&id) || self.left.get(&id).is_some_and(|left| at < left.until)
        };
        let mut live = history.live(&now.place);
        live.retain(|entry| !rests(entry.id));
        let is_due = |entry: &Entry| !entry.plan_is_complete || history.has_expired(entry, &now);
        let moved =
            live.iter().filter_map(|entry| moved(&entry.step).map(|why| (entry.clone(), why)));
        let moved: Vec<(Entry, String)> = moved.collect();
        if moved.is_empty() && !live.iter().any(is_due) {
            return Ok(Vec::new());
        }
        let mut journal = match Journal::open_to_undo(&self.folder) {
            // An apply or an undo is at work; the next look will do.
            Err(TuneError::Busy { .. }) => return Ok(Vec::new()),
            opened => opened?,
        };
        let recovered = recover_but(&mut journal, rests);
        let mut events: Vec<WatchEvent> = recovered
            .into_iter()
            .map(|undone| WatchEvent { why: words(&undone), undone })
            .collect();
        for (entry, why) in moved {
            // Those that depend on the route go with it, the last first.
            let live = journal.history().live(&now.place);
            let of_route = live.iter().filter(|other| {
                other.id == entry.id || other.step.target.shares_a_route_with(&entry.step.target)
            });
            let ids: Vec<u64> = of_route.map(|entry| entry.id).collect();
            let undone = undo(&mut journal, &ids, UndoReason::RouteMoved, false);
            let events_of =
                undone.into_iter().map(|undone| WatchEvent { undone, why: why.clone() });
            events.extend(events_of);
        }
        if journal.is_read_only() {
            let undone = events.iter().filter(|event| event.undone.outcome.is_undone());
            self.unnoted.extend(undone.map(|event| event.undone.entry.id));
        }
        events.retain(|event| self.is_news(event, at));
        Ok(events)
    }

    /// Whether it was not told before; notes what could not be undone.
    fn is_news(&mut self, event: &WatchEvent, at: Instant) -> bool {
        let Undone { entry, outcome, .. } = &event.undone;
        if outcome.is_undone() {
            self.left.remove(&entry.id);
            // Others of its route may be told of several times.
            return !matches!(outcome, UndoOutcome::UndoneBefore);
        }
        let [first, most] = PAUSES;
        let told = format!("{outcome:?}");
        let before = self.left.get(&entry.id);
        let pause = before.map_or(first, |before| most.min(before.pause * 2));
        let is_news = before.is_none_or(|before| before.told != told);
        self.left.insert(entry.id, Left { told, pause, until: at + pause });
        is_news
    }

    /// Waits until something has happened to a route, or it is time to look again.
    ///
    /// # Errors
    /// Netlink fails.
    pub fn wait(&self, stop: &Waker) -> Result<(), TuneError> {
        let sources = [stop.as_fd(), self.as_fd()];
        wait_for(&sources, Some(LOOK)).map_err(TuneError::Watch)?;
        let mut buffer = [0_u8; 8 << 10];
        loop {
            match recv(self.events.as_raw_fd(), &mut buffer, MsgFlags::MSG_DONTWAIT) {
                // That something has happened is all that counts, and `ENOBUFS` says so as well.
                Ok(_) | Err(Errno::ENOBUFS | Errno::EINTR) => {}
                Err(Errno::EAGAIN) => return Ok(()),
                Err(error) => return Err(TuneError::Watch(error.into())),
            }
        }
    }
}

impl AsFd for Watcher {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.events.as_fd()
    }
}

fn words(undone: &Undone) -> String {
    if let Some(on) = undone.for_sake_of {
        return format!("it depends on change {on}, which ended");
    }
    if undone.entry.plan_is_complete { "its time is over" } else { "its plan was cut off" }
        .to_owned()
}

/// Why a route of ours must go, or must not be made: the one that it is made from leads elsewhere, or is gone.
pub(super) fn moved(step: &Step) -> Option<String> {
    let Target::Route { prefix, .. } = &step.target else { return None };
    if step.before != Value::Absent {
        return None;
    }
    if let Some(Nowhere::Held(kind, by)) = nowhere_without(*prefix).ok()? {
        return Some(format!(
            "`{kind} {by}` is to keep these packets from leaving, and it lets them out"
        ));
    }
    let was = Image::parse(step.image.as_deref()?).filter(|image| image.added)?.raw()?;
    let routes = main_routes(prefix.is_v6()).ok()?;
    match parent(&routes, *prefix) {
        None => Some(format!("the route {} is gone", was.destination())),
        Some(now) if now.next_hops() != was.next_hops() => Some(format!(
            "the route {} leads {} now, and led {}",
            now.destination(),
            way(now),
            way(&was)
        )),
        Some(_) => None,
    }
}
