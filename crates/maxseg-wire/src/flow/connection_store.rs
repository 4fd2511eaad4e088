//! The connections of a capture: those with recent packets in full, the others packed.
//!
//! A connection in use takes some kilobytes. One of which nothing has been seen for a while is packed into a
//! few hundred bytes, all that is known of it, and unpacked when another of its packets comes: nothing is lost,
//! however late. Only its intervals become longer, where there are many for few segments.

use super::connection::Connection;

/// The connections, by their numbers.
#[derive(Debug)]
pub(super) struct ConnectionStore {
    slots: Vec<Slot>,
    /// Which of them are not packed; at most `most_awake`, in no order.
    awake: Vec<u32>,
    most_awake: usize,
    /// Where the next one to pack is looked for.
    hand: usize,
    /// Room to pack in.
    room: Vec<u8>,
}

#[derive(Debug)]
enum Slot {
    Awake(Box<Connection>),
    Packed(Box<[u8]>),
    /// It has been handed over, or could not be unpacked.
    Gone,
}

impl ConnectionStore {
    /// Most connections that are not packed. Each may have up to [`Bins::MOST`](maxseg_core::evidence::Bins)
    /// intervals: 300 kB.
    pub(super) const MOST_AWAKE: usize = 1 << 11;

    /// None yet; at most so many will not be packed, at least one.
    pub(super) const fn new(most_awake: usize) -> Self {
        Self { slots: Vec::new(), awake: Vec::new(), most_awake, hand: 0, room: Vec::new() }
    }

    pub(super) const fn len(&self) -> usize {
        self.slots.len()
    }

    /// Adds one, at the time `now`; its number is the number of those before it.
    pub(super) fn push(&mut self, connection: Connection, now: u64) {
        self.wake(connection.id, now);
        self.slots.push(Slot::Awake(Box::new(connection)));
    }

    /// One of them, unpacked if need be.
    #[inline]
    pub(super) fn get_mut(&mut self, id: u32, now: u64) -> Option<&mut Connection> {
        if matches!(self.slots.get(id as usize)?, Slot::Packed(_)) {
            self.unpack(id, now);
        }
        match self.slots.get_mut(id as usize)? {
            Slot::Awake(connection) => {
                connection.was_used = true;
                Some(connection)
            }
            Slot::Packed(_) | Slot::Gone => None,
        }
    }

    #[cold]
    #[inline(never)]
    fn unpack(&mut self, id: u32, now: u64) {
        self.wake(id, now);
        if let Some(slot) = self.slots.get_mut(id as usize) {
            *slot = std::mem::replace(slot, Slot::Gone).into_awake();
        }
    }

    /// Notes that one is not packed, and packs another for it where there are too many: the next that was not
    /// used since it was last looked at (the "clock" of virtual memory).
    fn wake(&mut self, id: u32, now: u64) {
        if self.awake.len() < self.most_awake {
            self.awake.push(id);
            return;
        }
        loop {
            self.hand = if self.hand + 1 < self.awake.len() { self.hand + 1 } else { 0 };
            let Some(place) = self.awake.get_mut(self.hand) else { return };
            let Some(slot) = self.slots.get_mut(*place as usize) else { return };
            if let Slot::Awake(connection) = slot {
                if std::mem::take(&mut connection.was_used) {
                    continue;
                }
                if let Some(packed) = connection.pack(now, &mut self.room) {
                    *slot = Slot::Packed(packed);
                }
            }
            *place = id;
            return;
        }
    }

    /// All of them, in order, each unpacked when it is asked for.
    pub(super) fn into_connections(self) -> impl Iterator<Item = Connection> {
        self.slots.into_iter().filter_map(|slot| match slot.into_awake() {
            Slot::Awake(connection) => Some(*connection),
            Slot::Packed(_) | Slot::Gone => None,
        })
    }
}

impl Slot {
    fn into_awake(self) -> Self {
        match self {
            Self::Packed(bytes) => Connection::unpack(&bytes)
                .map_or(Self::Gone, |connection| Self::Awake(Box::new(connection))),
            Self::Awake(_) | Self::Gone => self,
        }
    }
}
