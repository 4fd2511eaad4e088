//! Watching: what has expired is undone, and what was made from a route that has moved is withdrawn.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use maxseg_core::tune::{Entry, Prefix, Step, Target, UndoReason, Value};
use netlink_sys::Socket;
use netlink_sys::protocols::NETLINK_ROUTE;
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv};

use super::here::moment;
use super::nowhere::Nowhere;
use super::route::{Image, all_routes, nowhere_without, parent, way};
use super::undo::recover_but;
use super::{Journal, TuneError, UndoOutcome, Undone, undo};
use crate::netlink::raw::RawRoute;
use crate::sys::{Waker, wait_for};

/// Follows the journal and the routes of this network namespace.
#[derive(Debug)]
pub struct Watcher {
    folder: PathBuf,
    events: Socket,
    left: BTreeMap<u64, Left>,
    /// What was undone, in a folder that cannot be written.
    unnoted: BTreeSet<u64>,
    made: MadeRoutes,
}

/// Which of the routes that were made must go.
#[derive(Debug, Default)]
struct MadeRoutes {
    /// What the last look at all routes has shown; `None` before the first one.
    seen: Option<Seen>,
    /// Whether something has happened to routes or interfaces since.
    is_stale: bool,
}

/// What the routes were at one moment.
#[derive(Debug)]
struct Seen {
    /// When they were looked at.
    at: Instant,
    /// The entries that have made a route, with why it must go.
    moved: BTreeMap<u64, Option<String>>,
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
/// How long routes of which nothing was heard are not looked at: a table of hundreds of thousands takes a core a second. The kernel tells of
/// every change; this is for one of which it does not, such as that of a next-hop object.
const UNHEARD: Duration = Duration::from_secs(10);
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
            made: MadeRoutes::default(),
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
        let moved = self.made.moved(&live);
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
    pub fn wait(&mut self, stop: &Waker) -> Result<(), TuneError> {
        let sources = [stop.as_fd(), self.as_fd()];
        wait_for(&sources, Some(LOOK)).map_err(TuneError::Watch)?;
        let mut buffer = [0_u8; 8 << 10];
        loop {
            match recv(self.events.as_raw_fd(), &mut buffer, MsgFlags::MSG_DONTWAIT) {
                // That something has happened is all that counts, and `ENOBUFS` says so as well.
                Ok(_) | Err(Errno::ENOBUFS) => self.made.is_stale = true,
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => return Ok(()),
                Err(error) => return Err(TuneError::Watch(error.into())),
            }
        }
    }
}

impl MadeRoutes {
    /// The entries whose routes must go, and why: by the routes as they are, or were when something was last heard of them.
    fn moved(&mut self, live: &[Entry]) -> Vec<(Entry, String)> {
        let now = Instant::now();
        let made: Vec<(&Entry, bool)> = live
            .iter()
            .filter_map(|entry| Some((entry, made_route(&entry.step)?.0.is_v6())))
            .collect();
        let is_known = |seen: &Seen| {
            let age = now.duration_since(seen.at);
            // Routes that change all the time are looked at now and then.
            let is_fresh = age < if self.is_stale { LOOK } else { UNHEARD };
            is_fresh && made.iter().all(|(entry, _)| seen.moved.contains_key(&entry.id))
        };
        if !self.seen.as_ref().is_some_and(is_known) {
            // What happens while they are looked at is heard later.
            self.is_stale = false;
            let mut moved = BTreeMap::new();
            for is_v6 in [false, true] {
                let mut of = made.iter().filter(|(_, of)| *of == is_v6).peekable();
                let Some(routes) = of.peek().and_then(|_| all_routes(is_v6).ok()) else { continue };
                moved.extend(of.map(|(entry, _)| (entry.id, moved_by(&entry.step, &routes))));
            }
            self.seen = Some(Seen { at: Instant::now(), moved });
        }
        let seen = self.seen.as_ref();
        let why = |entry: &Entry| seen?.moved.get(&entry.id)?.clone();
        made.into_iter().filter_map(|(entry, _)| Some((entry.clone(), why(entry)?))).collect()
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
    let (prefix, _) = made_route(step)?;
    moved_by(step, &all_routes(prefix.is_v6()).ok()?)
}

/// The destinations of the route that a step has made, and what that was made from.
fn made_route(step: &Step) -> Option<(Prefix, &str)> {
    let Target::Route { prefix, .. } = &step.target else { return None };
    (step.before == Value::Absent).then_some((*prefix, step.image.as_deref()?))
}

/// The same by these routes, all of its IP version.
fn moved_by(step: &Step, routes: &[RawRoute]) -> Option<String> {
    let (prefix, image) = made_route(step)?;
    if let Some(Nowhere::Held(kind, by)) = nowhere_without(routes, prefix) {
        return Some(format!(
            "`{kind} {by}` is to keep these packets from leaving, and it lets them out"
        ));
    }
    let was = Image::parse(image).filter(|image| image.added)?.raw()?;
    match parent(routes, prefix) {
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

#[cfg(test)]
mod tests {
    use maxseg_core::tune::{Author, Place, Progress};

    use super::*;

    fn made(id: u64) -> Entry {
        let (target, after) = ("route.10.1.0.0/16.mtu".parse().unwrap(), Value::of("1400"));
        let image = Some("{}".to_owned());
        Entry {
            id,
            plan: 1,
            step: Step { target, before: Value::Absent, after, image },
            place: Place { boot: String::new(), namespace: 0, cookie: None },
            by: Author { user: String::new(), pid: 0 },
            set_at_s: 0.0,
            why: None,
            ends: None,
            reverts_if_worse: false,
            allows_router: false,
            guard: None,
            progress: Progress::Set,
            plan_is_complete: true,
            undone: None,
        }
    }

    #[test]
    fn routes_of_which_nothing_is_heard_are_not_looked_at_again() {
        let mut routes = MadeRoutes::default();
        let looked = |routes: &mut MadeRoutes, live: &[Entry]| {
            routes.moved(live);
            routes.seen.as_ref().map(|seen| seen.at)
        };
        let first = looked(&mut routes, &[made(1)]);
        assert_eq!(looked(&mut routes, &[made(1)]), first);
        let with_another = looked(&mut routes, &[made(1), made(2)]);
        assert_ne!(with_another, first, "one more was made");
        // As if the last look were long ago.
        let long_ago = |routes: &mut MadeRoutes, age: Duration| {
            let seen = routes.seen.as_mut().unwrap();
            seen.at = seen.at.checked_sub(age).unwrap();
            seen.at
        };
        let before = long_ago(&mut routes, LOOK);
        assert_eq!(looked(&mut routes, &[made(1)]), Some(before));
        routes.is_stale = true;
        assert_ne!(looked(&mut routes, &[made(1)]), Some(before), "something was heard");
        let before = long_ago(&mut routes, UNHEARD);
        assert_ne!(looked(&mut routes, &[made(1)]), Some(before));
    }
}
