//! The words in which a tunable is described.

use serde::{Deserialize, Serialize};

/// An enumeration whose variants have one word each, in data files, documents and text alike.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$of:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$of])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// Its word.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }
    };
}

words! {
    /// What a tunable acts on.
    Scope {
        /// Every connection of the machine, in all network namespaces.
        Machine = "machine",
        /// Every connection of the network namespace.
        Namespace = "namespace",
        /// Connections to the destinations of a route.
        Route = "route",
        /// Connections over an interface.
        Interface = "interface",
        /// One connection.
        Socket = "socket",
    }
}

words! {
    /// When a tunable acts.
    Acts {
        /// On connections that are open already.
        Live = "live",
        /// A lower value on connections that are open already, a higher one on those that open afterwards.
        LiveDownward = "live-downward",
        /// A higher value on connections that are open already, a lower one for certain on those alone that open afterwards.
        LiveUpward = "live-upward",
        /// On connections that open afterwards.
        NewConnections = "new-connections",
        /// On interfaces that come up afterwards.
        NewInterfaces = "new-interfaces",
        /// Not at all.
        Never = "never",
    }
}

words! {
    /// How it is known when a tunable acts.
    ActsBy {
        /// Measured with a connection; a test repeats it.
        Measured = "measured",
        /// Read in the kernel's source.
        Source = "source",
    }
}

words! {
    /// What a sysctl is in network namespaces other than the first.
    #[derive(Default)]
    ChildNamespace {
        /// It is there, with a value of its own.
        #[default]
        Own = "own",
        /// It shows the machine's value.
        ReadOnly = "read-only",
        /// It is not there.
        Absent = "absent",
    }
}

words! {
    /// The unit of a tunable's numbers.
    Unit {
        /// Bytes.
        Bytes = "bytes",
        /// Bytes per second.
        BytesPerSecond = "bytes-per-second",
        /// Segments.
        Segments = "segments",
        /// Pages of memory, 4096 bytes on most machines.
        Pages = "pages",
        /// Seconds.
        Seconds = "seconds",
        /// Milliseconds.
        Milliseconds = "milliseconds",
        /// Microseconds.
        Microseconds = "microseconds",
        /// Nanoseconds.
        Nanoseconds = "nanoseconds",
        /// Percent.
        Percent = "percent",
        /// A plain number.
        Count = "count",
        /// A power of two.
        Log2 = "log2",
        /// Bits that are added up.
        Bits = "bits",
        /// A number that stands for a choice.
        Choice = "choice",
        /// 0 for off, 1 for on.
        Switch = "switch",
        /// A name.
        Name = "name",
    }
}

impl Unit {
    /// The unit as it follows a number: ` bytes`, ` ms`; empty where a value says all.
    pub const fn after_number(self) -> &'static str {
        match self {
            Self::Bytes => " bytes",
            Self::BytesPerSecond => " bytes/s",
            Self::Segments => " segments",
            Self::Pages => " pages",
            Self::Seconds => " s",
            Self::Milliseconds => " ms",
            Self::Microseconds => " µs",
            Self::Nanoseconds => " ns",
            Self::Percent => "%",
            Self::Count | Self::Log2 | Self::Bits | Self::Choice | Self::Switch | Self::Name => "",
        }
    }
}
