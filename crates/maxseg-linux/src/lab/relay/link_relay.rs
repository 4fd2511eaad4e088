//! The relay of one direction of a hop.

use std::collections::BTreeSet;
use std::io::{self, IoSlice};
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use maxseg_core::link::{Counters, HopSpan, LinkChain, SendOutcome};
use maxseg_core::path::LinkSpec;
use maxseg_core::units::{Mtu, Time};

use super::buffer::{Pool, SegmentRange};
use super::header_limiter::{HeaderLimiter, HeaderLimits};
use super::lateness::LatenessMeter;
use super::layout::{Layout, too_big_reporter};
use super::meter::Meter;
use super::spacing::Spacing;
use super::split::{Header, payload};
use super::tap::Tap;
use super::wakeup;
use crate::lab::capture::RecordQueue;
use crate::sys::{Clock, Tun, Waker, cpu_of_thread, minimize_timer_slack, wait_for};

/// The configuration of a relay: its link, and the interfaces at both ends.
#[derive(Debug)]
pub(crate) struct RelayConfig {
    /// The link's name, which names its random streams too.
    pub(crate) name: String,
    /// The link.
    pub(crate) spec: LinkSpec,
    /// The link before it, if packets come no closer than that lets them, or together where its ARQ held them.
    pub(crate) upstream: Option<LinkSpec>,
    /// The seed of its random streams.
    pub(crate) seed: u64,
    /// Whether a super-packet meets the link as one packet.
    pub(crate) as_netem: bool,
    /// Addresses whose ICMP messages about packets that are too large are withheld: a black hole.
    pub(crate) icmp_blocked: BTreeSet<IpAddr>,
    /// Bounds of the sending host's TCP headers, for programs that do not set them.
    pub(crate) limits: Option<HeaderLimits>,
    /// The interface from which packets are read.
    pub(crate) from: Tun,
    /// The interface to which they are written.
    pub(crate) to: Tun,
    /// The run's clock.
    pub(crate) clock: Clock,
    /// Woken when `stop` or `commands` has changed.
    pub(crate) waker: Arc<Waker>,
    /// Set when the relay is to end.
    pub(crate) stop: Arc<AtomicBool>,
    /// Commands while it runs.
    pub(crate) commands: Receiver<Command>,
    /// The queue for records of a capture, if there is one.
    pub(crate) capture: Option<Arc<RecordQueue>>,
}

/// A command to a running relay.
#[derive(Debug)]
pub(crate) enum Command {
    /// Change the link.
    Change {
        /// The link from now on.
        spec: Box<LinkSpec>,
        /// As [`RelayConfig::upstream`], from now on.
        upstream: Option<Box<LinkSpec>>,
        /// As [`RelayConfig::icmp_blocked`], from now on.
        icmp_blocked: BTreeSet<IpAddr>,
        /// As [`RelayConfig::limits`], for connections from now on.
        limits: Option<HeaderLimits>,
        /// Gets a message when the link has changed.
        done: Sender<()>,
    },
    /// Report the counters so far.
    Report(Sender<Report>),
}

/// The counters of a relay.
#[derive(Debug, Clone)]
pub(crate) struct Report {
    /// The link's name.
    pub(crate) name: String,
    /// The link's counters up to the report: of packets that went on the wire until then, with the time that those which wait have
    /// waited.
    pub(crate) link: Counters,
    /// Packets that wait for the wire.
    pub(crate) waiting: u64,
    /// Lateness of the packets.
    pub(crate) lateness: LatenessMeter,
    /// Packets and bytes of each flow.
    pub(crate) meter: Meter,
    /// CPU time of its thread.
    pub(crate) cpu: Time,
    /// The time of the report.
    pub(crate) at: Time,
}

/// On links that send a full packet in less than this, packets due within this interval leave together: a wake-up
/// for each would cost more than the packet.
const QUANTUM: Time = Time::from_nanos(60_000);

/// Commands are handled at least once in so many iterations of the loop.
const COMMAND_INTERVAL: u32 = 1024;

const fn half(time: Time) -> Time {
    Time::from_nanos(time.as_nanos() / 2)
}

impl RelayConfig {
    /// Carries packets until `stop` is set.
    ///
    /// # Errors
    /// An interface has been deleted.
    pub(crate) fn run(self) -> io::Result<Report> {
        minimize_timer_slack();
        let mut relay = LinkRelay::new(self);
        relay.run()?;
        Ok(relay.report())
    }
}

struct LinkRelay {
    config: RelayConfig,
    chain: LinkChain<SegmentRange>,
    limiter: HeaderLimiter,
    pool: Rc<Pool>,
    scratch: Box<[u8]>,
    quantum: Time,
    wakeup: Time,
    spacing: Spacing,
    lateness: LatenessMeter,
    meter: Meter,
    tap: Option<Tap>,
    /// The link as it is for the packets that `chain` carries.
    effective: LinkSpec,
    /// How often the link has changed.
    changes: u32,
}

/// The link as simulated: netem mode enforces no MTU, because super-packets are not split.
fn effective_spec(spec: &LinkSpec, as_netem: bool) -> LinkSpec {
    let mtu = if as_netem { Mtu::LARGEST } else { spec.mtu };
    LinkSpec { mtu, ..spec.clone() }
}

fn quantum(spec: &LinkSpec) -> Time {
    if spec.airtime(spec.mtu.bytes()) < QUANTUM { QUANTUM } else { Time::ZERO }
}

impl LinkRelay {
    fn new(config: RelayConfig) -> Self {
        let pool = Pool::new();
        let spec = effective_spec(&config.spec, config.as_netem);
        let chain = LinkChain::new(&[(&spec, config.name.clone())], config.seed, Time::NEVER, true);
        Self {
            scratch: pool.largest(),
            pool,
            chain,
            limiter: HeaderLimiter::new(config.limits.clone()),
            quantum: quantum(&spec),
            wakeup: wakeup::latency(),
            spacing: Spacing::behind(config.upstream.clone()),
            lateness: LatenessMeter::default(),
            meter: Meter::default(),
            tap: config.capture.clone().map(Tap::new),
            effective: spec,
            changes: 0,
            config,
        }
    }

    fn run(&mut self) -> io::Result<()> {
        let waker = Arc::clone(&self.config.waker);
        let mut iteration = 0_u32;
        while !self.config.stop.load(Ordering::Relaxed) {
            let has_read = self.read_one()?;
            let has_sent = self.deliver(self.config.clock.now())?;
            if !has_read && !has_sent {
                let files = [self.config.from.as_fd(), waker.as_fd()];
                if let Some(tap) = &mut self.tap {
                    tap.rest();
                }
                wait_for(&files, self.idle_timeout())?;
                if let Some(tap) = &self.tap {
                    tap.wake(self.config.clock.now());
                }
            }
            iteration += 1;
            if iteration == COMMAND_INTERVAL || !(has_read || has_sent) {
                iteration = 0;
                self.handle_commands();
            }
        }
        Ok(())
    }

    /// The time until the next packet is due; `None` where none is on the link.
    fn idle_timeout(&self) -> Option<Duration> {
        let next = self.chain.next_arrival().min(self.chain.next_event());
        if next == Time::NEVER {
            return None;
        }
        let then = next.saturating_add(self.coalesce_delay()).since(self.wakeup);
        // Never a busy loop: the shortest wait lasts about as long as it takes to wake.
        Some(self.config.clock.until(then).max(Duration::from_nanos(1)))
    }

    /// How long a due packet waits so that the packets after it leave with it.
    fn coalesce_delay(&self) -> Time {
        if self.chain.arrivals() > 1 { self.quantum } else { Time::ZERO }
    }

    /// Handles the commands that have arrived.
    fn handle_commands(&mut self) {
        self.config.waker.clear();
        while let Ok(command) = self.config.commands.try_recv() {
            // Sending an answer fails when the caller no longer waits: that is no error here.
            match command {
                Command::Change { spec, upstream, icmp_blocked, limits, done } => {
                    // The link's random streams go on where it stays the same.
                    if *spec != self.config.spec {
                        self.change(*spec);
                    }
                    self.spacing.change(upstream.map(|link| *link));
                    self.limiter.change(limits);
                    self.config.icmp_blocked = icmp_blocked;
                    let _ = done.send(());
                }
                Command::Report(to) => {
                    let _ = to.send(self.report());
                }
            }
        }
    }

    fn change(&mut self, spec: LinkSpec) {
        if spec == self.config.spec {
            return;
        }
        let now = self.config.clock.now();
        let effective = effective_spec(&spec, self.config.as_netem);
        self.changes += 1;
        let streams = format!("{}.change.{}", self.config.name, self.changes);
        let meter = &mut self.meter;
        self.chain.respec(now, &effective, (self.config.seed, &streams), |segment, fate| {
            meter.lose(&segment.of.layout, segment.count(), fate);
        });
        self.quantum = quantum(&effective);
        self.effective = effective;
        self.config.spec = spec;
    }

    /// Reads one super-packet from the kernel and puts its packets on the link. Gives whether there was one.
    fn read_one(&mut self) -> io::Result<bool> {
        let Some(len) = self.config.from.read(&mut self.scratch)? else { return Ok(false) };
        let now = self.config.clock.now();
        let Some(mut layout) = Layout::of(&self.scratch[..len]) else { return Ok(true) };
        self.meter.find_flow(&self.scratch[..len], &mut layout);
        if !self.config.icmp_blocked.is_empty()
            && too_big_reporter(&self.scratch[..len], &layout)
                .is_some_and(|from| self.config.icmp_blocked.contains(&from))
        {
            self.meter.withhold();
            return Ok(true);
        }
        self.limiter.apply(&mut self.scratch[..len], &layout);
        self.meter.take(&self.scratch[..len], &layout, &self.config.spec);
        let packet = Rc::new(self.pool.keep(&mut self.scratch, len, layout));
        if self.config.as_netem {
            self.send(
                now,
                SegmentRange { of: packet, first: 0, last: layout.count - 1, marked: false },
            );
        } else {
            for index in 0..layout.count {
                let of = Rc::clone(&packet);
                self.send(now, SegmentRange { of, first: index, last: index, marked: false });
            }
        }
        Ok(true)
    }

    fn send(&mut self, now: Time, segment: SegmentRange) {
        let layout = segment.of.layout;
        let shape = if segment.first == segment.last {
            layout.shape_of(segment.first)
        } else {
            layout.shape_of_all(&self.config.spec, &self.effective)
        };
        let hop_span = HopSpan { first: 0, last: 0, df: true, ect: layout.ect };
        let seen = self.tap.is_some().then(|| segment.clone());
        let count = segment.count();
        let came = self.spacing.came(now, shape, &self.effective);
        let sent = self.chain.send(came, segment, shape, hop_span);
        match sent {
            SendOutcome::InFlight | SendOutcome::Undecided => {}
            SendOutcome::Lost(fate) => self.meter.lose(&layout, count, fate),
        }
        if let (Some(tap), Some(segment)) = (&mut self.tap, seen) {
            tap.entered(now, segment, sent);
        }
    }

    /// Writes the packets that are due to the receiving interface. Gives whether there were any.
    fn deliver(&mut self, now: Time) -> io::Result<bool> {
        if self.chain.next_event() <= now {
            self.chain.advance(now);
            while let Some((segment, fate)) = self.chain.poll_loss() {
                self.meter.lose(&segment.of.layout, segment.count(), fate);
                if let Some(tap) = &mut self.tap {
                    tap.lost(&segment, fate);
                }
            }
        }
        // A packet due within half a wake-up latency would leave later after a wait than now.
        let in_time = now.saturating_add(half(self.wakeup));
        if self.chain.next_arrival().saturating_add(self.coalesce_delay()) > in_time {
            return Ok(false);
        }
        let due = now.saturating_add(half(self.wakeup.max(self.quantum)));
        let mut any = false;
        while self.chain.next_arrival() <= due {
            let Some((at, segment)) = self.chain.pop() else { break };
            any = true;
            self.lateness.record(at, now);
            let last = self.extend(&segment, now, due);
            if let Some(tap) = &mut self.tap {
                tap.left(now, &segment, last);
            }
            self.write(&segment, last)?;
        }
        Ok(any)
    }

    /// Joins the packets that follow `first` in the same super-packet and are due too. Gives the index of the last.
    fn extend(&mut self, first: &SegmentRange, now: Time, due: Time) -> u16 {
        let mut last = first.last;
        while !first.marked
            && self.chain.next_arrival() <= due
            && self.chain.first().is_some_and(|next| {
                Rc::ptr_eq(&next.of, &first.of) && next.first == last + 1 && !next.marked
            })
        {
            if let Some((at, next)) = self.chain.pop() {
                self.lateness.record(at, now);
                last = next.last;
            }
        }
        last
    }

    fn write(&mut self, segment: &SegmentRange, last: u16) -> io::Result<()> {
        let (packet, layout) = (&segment.of, &segment.of.layout);
        let bytes = packet.bytes();
        let is_whole = segment.first == 0 && last + 1 == layout.count && !segment.marked;
        self.meter.deliver(layout, segment.first, last);
        let written = if is_whole {
            self.config.to.write(&[IoSlice::new(bytes)])
        } else {
            let header = Header::new(bytes, layout, segment.first, last, segment.marked);
            let payload = &bytes[payload(layout, segment.first, last)];
            self.config.to.write(&[IoSlice::new(header.bytes()), IoSlice::new(payload)])
        };
        match written {
            // ENOMEM: no memory now. EIO: the receiving interface is down. EINVAL: the kernel rejects the
            // packet.
            Err(error)
                if matches!(
                    error.raw_os_error(),
                    Some(libc::ENOMEM | libc::EIO | libc::EINVAL)
                ) =>
            {
                self.meter.kernel_drop();
                Ok(())
            }
            other => other,
        }
    }

    fn report(&self) -> Report {
        let at = self.config.clock.now();
        let (link, waiting) = self.chain.counters_at(at).first().copied().unwrap_or_default();
        Report {
            name: self.config.name.clone(),
            link,
            waiting,
            lateness: self.lateness.clone(),
            meter: self.meter.clone(),
            cpu: cpu_of_thread(),
            at,
        }
    }
}
