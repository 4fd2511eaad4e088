//! The connections of a [part](super::part): those with recent packets in full, the others packed.
//!
//! A connection in use takes some kilobytes. One of which nothing has been seen for a while is packed into a
//! few hundred bytes, all that is known of it, and unpacked when another of its packets comes: nothing is lost,
//! however late. Only its intervals become longer, where there are many for few segments.

use super::connection::Connection;
use super::part::PARTS;
use super::squeezed::Room;

/// The connections, by their numbers.
#[derive(Debug)]
pub(super) struct ConnectionStore {
    slots: Vec<Slot>,
    /// When each began: the count of its first packet among all of the capture.
    begun: Vec<u64>,
    /// Which of them are not packed; at most `most_awake`, in no order.
    awake: Vec<u32>,
    most_awake: usize,
    /// Of `most_awake`.
    least_awake: usize,
    /// Packets of connections, and how many of them were of one that was unpacked for them, since memory was last looked at.
    uses: u32,
    returned: u32,
    /// Whether the last packet's connection was.
    has_returned: bool,
    /// Where the next one to pack is looked for.
    hand: usize,
    /// Room to pack in.
    room: Room,
}

#[derive(Debug)]
enum Slot {
    Awake(Box<Connection>),
    Packed(Box<[u8]>),
    /// It has been handed over, or could not be unpacked.
    Gone,
}

impl ConnectionStore {
    /// Most connections that are not packed, whatever memory they take. Each may have up to
    /// [`Bins::MOST`](maxseg_core::evidence::Bins) intervals: 130 kB, where nearly all are short.
    pub(super) const MOST_AWAKE: usize = (1 << 11) / PARTS;

    /// None yet; at most so many will not be packed whatever memory they take, at least one.
    pub(super) fn new(least_awake: usize) -> Self {
        Self {
            slots: Vec::new(),
            begun: Vec::new(),
            awake: Vec::new(),
            most_awake: least_awake,
            least_awake,
            uses: 0,
            returned: 0,
            has_returned: false,
            hand: 0,
            room: Room::default(),
        }
    }

    pub(super) const fn len(&self) -> usize {
        self.slots.len()
    }

    /// How many are not packed.
    pub(super) const fn awake(&self) -> usize {
        self.awake.len()
    }

    /// The last use of a connection was for so many packets more.
    pub(super) const fn add_uses(&mut self, more: u32) {
        self.uses = self.uses.saturating_add(more);
        if self.has_returned {
            self.returned = self.returned.saturating_add(more);
        }
    }

    /// Whether so many connections, of which no segment was followed yet, are half of those that stay unpacked. More would have each
    /// other packed before their segments are followed, for which each is unpacked again.
    pub(super) const fn is_half_new(&self, new: usize) -> bool {
        new >= self.most_awake.div_ceil(2)
    }

    /// Adds one, which begins with the packet of this count, at the time `now`; its number is the number of those before it.
    pub(super) fn push(&mut self, connection: Connection, count: u64, now: u64) {
        self.wake(self.slots.len(), now);
        self.begun.push(count);
        self.slots.push(Slot::Awake(Box::new(connection)));
    }

    /// When each began.
    pub(super) fn begun(&self) -> &[u64] {
        &self.begun
    }

    /// One of them, unpacked if need be.
    #[inline]
    pub(super) fn get_mut(&mut self, number: usize, now: u64) -> Option<&mut Connection> {
        self.uses += 1;
        if self.uses >= LOOK_EVERY {
            self.look_at_memory(now);
        }
        self.has_returned = matches!(self.slots.get(number)?, Slot::Packed(_));
        if self.has_returned {
            self.unpack(number, now);
        }
        match self.slots.get_mut(number)? {
            Slot::Awake(connection) => {
                connection.was_used = true;
                Some(connection)
            }
            Slot::Packed(_) | Slot::Gone => None,
        }
    }

    #[cold]
    #[inline(never)]
    fn unpack(&mut self, number: usize, now: u64) {
        self.returned += 1;
        self.wake(number, now);
        if let Some(slot) = self.slots.get_mut(number) {
            *slot = std::mem::replace(slot, Slot::Gone).into_awake();
        }
    }

    /// Notes that one is not packed, and packs another for it where there are too many.
    fn wake(&mut self, number: usize, now: u64) {
        let Ok(number) = u32::try_from(number) else { return };
        if self.awake.len() < self.most_awake {
            self.awake.push(number);
        } else if let Some(place) = self.pack_one(now).and_then(|place| self.awake.get_mut(place)) {
            *place = number;
        }
    }

    /// Packs the next that was not used since it was last looked at (the "clock" of virtual memory). Gives its place
    /// among those that were not packed.
    fn pack_one(&mut self, now: u64) -> Option<usize> {
        loop {
            self.hand = if self.hand + 1 < self.awake.len() { self.hand + 1 } else { 0 };
            let place = *self.awake.get(self.hand)?;
            let slot = self.slots.get_mut(place as usize)?;
            if let Slot::Awake(connection) = slot {
                if std::mem::take(&mut connection.was_used) {
                    continue;
                }
                if let Some(packed) = connection.pack(now, &mut self.room) {
                    *slot = Slot::Packed(packed);
                }
            }
            return Some(self.hand);
        }
    }

    /// Where many are unpacked again and memory allows it, more of them stay unpacked; where they grow, fewer.
    #[cold]
    #[inline(never)]
    fn look_at_memory(&mut self, now: u64) {
        let are_wanted = self.returned > LOOK_EVERY / 16;
        (self.uses, self.returned) = (0, 0);
        if !are_wanted && self.most_awake == self.least_awake {
            return;
        }
        let mut bytes = self.awake_bytes();
        if bytes > MOST_BYTES / 2 {
            self.each_awake(Connection::coarsen);
            bytes = self.awake_bytes();
        }
        if are_wanted && bytes <= MOST_BYTES / 2 {
            self.most_awake = (self.most_awake * 2).min(MOST_SMALL.max(self.least_awake));
        } else if bytes > MOST_BYTES {
            self.most_awake = (self.most_awake / 2).max(self.least_awake);
            while self.awake.len() > self.most_awake
                && let Some(place) = self.pack_one(now)
            {
                self.awake.swap_remove(place);
            }
        }
    }

    /// What those that are not packed take, about.
    fn awake_bytes(&mut self) -> usize {
        let mut bytes = 0;
        self.each_awake(|connection| bytes += connection.bytes());
        bytes
    }

    fn each_awake(&mut self, mut visit: impl FnMut(&mut Connection)) {
        for number in &self.awake {
            if let Some(Slot::Awake(connection)) = self.slots.get_mut(*number as usize) {
                visit(connection);
            }
        }
    }

    /// When each began, and all of them, in order, each unpacked when it is asked for; `None` for one that could not be.
    pub(super) fn into_connections(self) -> (Vec<u64>, impl Iterator<Item = Option<Connection>>) {
        let connections = self.slots.into_iter().map(|slot| match slot.into_awake() {
            Slot::Awake(connection) => Some(*connection),
            Slot::Packed(_) | Slot::Gone => None,
        });
        (self.begun, connections)
    }
}

/// Most connections that are not packed while they take at most so many bytes.
const MOST_SMALL: usize = (1 << 14) / PARTS;
const MOST_BYTES: usize = (256 << 20) / PARTS;
/// Packets after which memory is looked at.
const LOOK_EVERY: u32 = 1 << 14;

impl Slot {
    fn into_awake(self) -> Self {
        match self {
            Self::Packed(bytes) => Connection::unpack(&bytes)
                .map_or(Self::Gone, |connection| Self::Awake(Box::new(connection))),
            Self::Awake(_) | Self::Gone => self,
        }
    }
}
