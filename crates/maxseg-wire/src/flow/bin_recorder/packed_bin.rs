//! An interval in one line of the processor's caches: of nearly all every number is short, and half of them are 0.

use std::num::NonZeroU32;

use maxseg_core::evidence::{Bin, later_stands};
use maxseg_core::units::Time;

/// An interval without its end, which is where the next one begins.
#[derive(Debug)]
pub(super) enum PackedBin {
    Short(ShortBin),
    /// What is too long for that, or has what few have.
    Whole(Box<Bin>),
}

const _: () = assert!(size_of::<PackedBin>() == 64, "a line of the caches");

/// Times are in nanoseconds; [`NONE`] is none.
#[derive(Debug)]
pub(super) struct ShortBin {
    at: Time,
    idle: Time,
    app_limited: u32,
    clock_time: u32,
    sent_bytes: u32,
    clocked_bytes: u32,
    acked_bytes: u32,
    in_flight_max: u32,
    window_left_min: u32,
    window_max: u32,
    rtt_count: u32,
    rtt_sum: u32,
    rtt_min: u32,
    /// One more than there are.
    segments: NonZeroU32,
}

const NONE: u32 = u32::MAX;

impl PackedBin {
    pub(super) fn of(bin: &Bin) -> Self {
        ShortBin::of(bin).map_or_else(|| Self::Whole(Box::new(*bin)), Self::Short)
    }

    /// When it begins.
    pub(super) const fn at(&self) -> Time {
        match self {
            Self::Short(short) => short.at,
            Self::Whole(bin) => bin.at,
        }
    }

    /// It and what follows at once and ends at `end`, as one interval.
    pub(super) fn joined(&self, next: &Self, end: Time) -> Self {
        if let (Self::Short(short), Self::Short(next)) = (self, next)
            && let Some(joined) = short.joined(next, end)
        {
            return Self::Short(joined);
        }
        let mut bin = self.unpacked(next.at());
        bin.join(&next.unpacked(end));
        Self::of(&bin)
    }

    /// The interval, which ends at `end`.
    pub(super) fn unpacked(&self, end: Time) -> Bin {
        match self {
            Self::Short(short) => short.unpacked(end),
            Self::Whole(bin) => **bin,
        }
    }
}

impl ShortBin {
    fn of(bin: &Bin) -> Option<Self> {
        let Bin {
            at,
            duration: _,
            sent_bytes,
            resent_bytes,
            acked_bytes,
            segments,
            losses,
            in_flight_max,
            window_left_min,
            window_max,
            idle,
            idle_after_full,
            app_limited,
            sndbuf_limited,
            clocked_bytes,
            clock_time,
            rwnd_limited,
            zero_window,
            rto_wait,
            rtt_count,
            rtt_sum,
            rtt_min,
        } = *bin;
        let [app_limited, clock_time, rtt_sum] =
            [app_limited, clock_time, rtt_sum].map(Time::as_nanos);
        let (left, least) = (window_left_min.unwrap_or(0), rtt_min.map_or(0, Time::as_nanos));
        let rare = resent_bytes | u64::from(losses);
        let rare = [idle_after_full, sndbuf_limited, rwnd_limited, zero_window, rto_wait]
            .iter()
            .fold(rare, |rare, time| rare | time.as_nanos());
        // One look at all of them: none is longer than their bits together.
        let numbers = [
            app_limited,
            clock_time,
            sent_bytes,
            clocked_bytes,
            acked_bytes,
            in_flight_max,
            left,
            window_max,
            rtt_sum,
            least,
        ];
        let longest = numbers.iter().fold(0, |bits, number| bits | number);
        if rare > 0 || longest > u32::MAX.into() || [left, least].contains(&NONE.into()) {
            return None;
        }
        Some(Self {
            at,
            idle,
            app_limited: low_bits(app_limited),
            clock_time: low_bits(clock_time),
            sent_bytes: low_bits(sent_bytes),
            clocked_bytes: low_bits(clocked_bytes),
            acked_bytes: low_bits(acked_bytes),
            in_flight_max: low_bits(in_flight_max),
            window_left_min: if window_left_min.is_some() { low_bits(left) } else { NONE },
            window_max: low_bits(window_max),
            rtt_count,
            rtt_sum: low_bits(rtt_sum),
            rtt_min: if rtt_min.is_some() { low_bits(least) } else { NONE },
            segments: NonZeroU32::MIN.checked_add(segments)?,
        })
    }

    /// What [`Bin::join`] makes of it and what follows at once and ends at `end`, if that is short as well.
    fn joined(&self, next: &Self, end: Time) -> Option<Self> {
        let next_stands = self.window_left_min == NONE
            || next.window_left_min != NONE && later_stands([self.at, next.at, end]);
        Some(Self {
            at: self.at,
            idle: self.idle.saturating_add(next.idle),
            app_limited: self.app_limited.checked_add(next.app_limited)?,
            clock_time: self.clock_time.checked_add(next.clock_time)?,
            sent_bytes: self.sent_bytes.checked_add(next.sent_bytes)?,
            clocked_bytes: self.clocked_bytes.checked_add(next.clocked_bytes)?,
            acked_bytes: self.acked_bytes.checked_add(next.acked_bytes)?,
            in_flight_max: self.in_flight_max.max(next.in_flight_max),
            window_left_min: if next_stands { next } else { self }.window_left_min,
            window_max: self.window_max.max(next.window_max),
            rtt_count: self.rtt_count.checked_add(next.rtt_count)?,
            rtt_sum: self.rtt_sum.checked_add(next.rtt_sum)?,
            rtt_min: self.rtt_min.min(next.rtt_min),
            segments: self.segments.checked_add(next.segments.get() - 1)?,
        })
    }

    fn unpacked(&self, end: Time) -> Bin {
        let time = |nanos: u32| Time::from_nanos(nanos.into());
        Bin {
            at: self.at,
            duration: end.since(self.at),
            sent_bytes: self.sent_bytes.into(),
            acked_bytes: self.acked_bytes.into(),
            segments: self.segments.get() - 1,
            in_flight_max: self.in_flight_max.into(),
            window_left_min: known(self.window_left_min).map(u64::from),
            window_max: self.window_max.into(),
            idle: self.idle,
            app_limited: time(self.app_limited),
            clocked_bytes: self.clocked_bytes.into(),
            clock_time: time(self.clock_time),
            rtt_count: self.rtt_count,
            rtt_sum: time(self.rtt_sum),
            rtt_min: known(self.rtt_min).map(time),
            ..Bin::default()
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the caller has seen that it is short")]
const fn low_bits(number: u64) -> u32 {
    number as u32
}

fn known(number: u32) -> Option<u32> {
    (number != NONE).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_comes_back_whole_whatever_its_numbers() {
        let [at, end] = [5, 1005].map(Time::from_millis);
        let usual = Bin {
            at,
            duration: Time::from_millis(1000),
            sent_bytes: 1448,
            acked_bytes: 2896,
            segments: 3,
            in_flight_max: 65_535,
            window_max: 1 << 30,
            idle: Time::from_secs(100_000),
            rtt_count: 2,
            rtt_sum: Time::from_millis(90),
            rtt_min: Some(Time::from_millis(40)),
            ..Bin::default()
        };
        let cases = [
            (usual, true),
            (Bin { window_left_min: Some(0), app_limited: Time::from_secs(4), ..usual }, true),
            (Bin { window_left_min: Some(NONE.into()), ..usual }, false),
            (Bin { in_flight_max: 1 << 32, ..usual }, false),
            (Bin { rtt_sum: Time::from_secs(5), ..usual }, false),
            (Bin { losses: 1, ..usual }, false),
            (Bin { rwnd_limited: Time::from_nanos(1), ..usual }, false),
            (Bin { segments: u32::MAX, ..usual }, false),
            (Bin { sent_bytes: 0xfff0_0000, ..usual }, true),
            (Bin { segments: u32::MAX - 2, ..usual }, true),
        ];
        // Joined to some of them, it makes their numbers too long.
        let next = Bin { at: end, duration: Time::from_millis(5), sent_bytes: 1 << 21, ..usual };
        for (bin, is_short) in cases {
            let packed = PackedBin::of(&bin);
            assert_eq!(matches!(packed, PackedBin::Short(_)), is_short, "{bin:?}");
            assert_eq!(packed.unpacked(end), bin);
            assert_eq!(packed.at(), at);
            let mut both = bin;
            both.join(&next);
            let joined = packed.joined(&PackedBin::of(&next), next.end());
            assert_eq!(joined.unpacked(next.end()), both, "{bin:?}");
        }
    }
}
