//! The kernel's counters as text, one file per network namespace: `/proc/net/netstat`, `/proc/net/snmp`
//! (`net/ipv4/proc.c`) and `/proc/net/dev` (`net/core/net-procfs.c`).
//!
//! Which counters there are depends on the kernel: a name that a caller asks for and a kernel does not
//! have is `None`, never zero.

use std::collections::BTreeMap;

/// The counters of `netstat` or `snmp`: by group (`TcpExt`) and name (`TCPTimeouts`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counters {
    by_name: BTreeMap<(String, String), i64>,
}

impl Counters {
    /// The pairs of lines in `text`: `Group: names…`, then `Group: values…`. What is no such pair, and
    /// what is no number, is passed over. Both files' texts may stand one after the other.
    pub fn parse(text: &str) -> Self {
        let mut by_name = BTreeMap::new();
        let mut lines = text.lines().filter_map(|line| line.split_once(':')).peekable();
        while let Some((group, names)) = lines.next() {
            let Some((_, values)) = lines.next_if(|(next, _)| *next == group) else { continue };
            for (name, value) in names.split_whitespace().zip(values.split_whitespace()) {
                if let Ok(value) = value.parse() {
                    by_name.insert((group.to_owned(), name.to_owned()), value);
                }
            }
        }
        Self { by_name }
    }

    /// A counter's value; -1 stands for no limit (`Tcp` `MaxConn`).
    pub fn get(&self, group: &str, name: &str) -> Option<i64> {
        self.by_name.get(&(group.to_owned(), name.to_owned())).copied()
    }

    /// Every counter: group, name, value, sorted.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str, i64)> {
        self.by_name.iter().map(|((group, name), value)| (group.as_str(), name.as_str(), *value))
    }

    /// By how much each counter has grown since `before`, as far as both have it.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let grown = |(key, now): (&(String, String), &i64)| {
            Some((key.clone(), now.wrapping_sub(*before.by_name.get(key)?)))
        };
        Self { by_name: self.by_name.iter().filter_map(grown).collect() }
    }
}

/// What the kernel counts of all listening sockets of a network namespace together, since that began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListenCounters {
    /// SYNs and handshakes that were dropped (`ListenDrops`), mostly because an accept queue was full.
    pub dropped: u64,
    /// Acknowledgements without data that `TCP_DEFER_ACCEPT` ignores on purpose (`TCPDeferAcceptDrop`).
    pub deferred: u64,
}

impl ListenCounters {
    /// Those among the counters of `netstat`; `None` where the kernel has not both.
    pub fn of(counters: &Counters) -> Option<Self> {
        let counter = |name| u64::try_from(counters.get("TcpExt", name)?).ok();
        Some(Self { dropped: counter("ListenDrops")?, deferred: counter("TCPDeferAcceptDrop")? })
    }
}

/// One direction of an interface.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DirectionCounters {
    /// Bytes, link-layer headers included.
    pub bytes: u64,
    /// Packets as the kernel hands them over: a super-packet of segmentation offload is one.
    pub packets: u64,
    /// Packets with errors.
    pub errors: u64,
    /// Packets dropped: for want of room, or because nobody wanted them.
    pub dropped: u64,
}

/// A line of `/proc/net/dev`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterfaceCounters {
    /// Its name.
    pub name: String,
    /// What it received. Of a TUN or veth interface: what the other side sent.
    pub received: DirectionCounters,
    /// What it transmitted.
    pub transmitted: DirectionCounters,
}

/// The interfaces of `/proc/net/dev`; lines that are none, as the two at its head, are passed over.
pub fn interfaces(text: &str) -> Vec<InterfaceCounters> {
    text.lines().filter_map(interface).collect()
}

/// `name: bytes packets errs drop fifo frame compressed multicast bytes packets errs drop …`; on old
/// kernels the first number may touch the colon, and an alias has a colon in its name.
fn interface(line: &str) -> Option<InterfaceCounters> {
    let (name, numbers) = line.rsplit_once(':')?;
    let numbers: Vec<u64> =
        numbers.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
    let direction = |first: usize| {
        let [bytes, packets, errors, dropped] = *numbers.get(first..)?.first_chunk()?;
        Some(DirectionCounters { bytes, packets, errors, dropped })
    };
    let name = name.trim().to_owned();
    Some(InterfaceCounters { name, received: direction(0)?, transmitted: direction(8)? })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Verbatim from Linux 6.18, the longer lines cut short alike.
    const SNMP: &str = "\
Icmp: InMsgs InErrors InCsumErrors InDestUnreachs
Icmp: 3 0 0 3
IcmpMsg: InType3 OutType3
IcmpMsg: 3 3
Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens AttemptFails EstabResets CurrEstab InSegs OutSegs RetransSegs InErrs OutRsts InCsumErrors
Tcp: 1 200 120000 -1 73 7 12 22 0 13668 7786 0 0 45 0
";
    const NETSTAT: &str = "\
TcpExt: SyncookiesSent SyncookiesRecv SyncookiesFailed EmbryonicRsts PruneCalled RcvPruned OfoPruned OutOfWindowIcmps LockDroppedIcmps ArpFilter TW
TcpExt: 0 0 0 0 0 0 0 0 0 0 34
IpExt: InNoRoutes InTruncatedPkts InMcastPkts OutMcastPkts InBcastPkts OutBcastPkts InOctets OutOctets
IpExt: 0 0 0 0 0 0 430982208 657663
";
    const DEV: &str = "\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:   10803     111    0    0    0     0          0         0    10803     111    0    0    0     0       0          0
  eth0: 431172829   14284    1    2    0     0          0         0   767086    8395    3    4    0     0       0          0
";

    #[test]
    fn counters_by_group_and_name() {
        let counters = Counters::parse(&format!("{SNMP}{NETSTAT}"));
        let wanted = [
            ("Tcp", "OutSegs", Some(7786)),
            ("Tcp", "MaxConn", Some(-1)),
            ("TcpExt", "TW", Some(34)),
            ("IpExt", "InOctets", Some(430_982_208)),
            ("IcmpMsg", "OutType3", Some(3)),
            ("TcpExt", "TCPTimeouts", None), // not in this text: unknown, not zero
        ];
        for (group, name, value) in wanted {
            assert_eq!(counters.get(group, name), value, "{group} {name}");
        }
        assert_eq!(counters.iter().count(), 4 + 2 + 15 + 11 + 8);
        let later = Counters::parse(&SNMP.replace("7786", "7800"));
        assert_eq!(later.since(&counters).get("Tcp", "OutSegs"), Some(14));
        assert_eq!(later.since(&counters).get("TcpExt", "TW"), None);
    }

    #[test]
    fn half_a_table_is_passed_over() {
        let text = "Tcp: InSegs\nUdp: InDatagrams NoPorts Odd\nUdp: 5 six\nIp: Forwarding\n";
        let counters = Counters::parse(text);
        assert_eq!(counters.iter().collect::<Vec<_>>(), [("Udp", "InDatagrams", 5)]);
    }

    #[test]
    fn interfaces_of_a_table() {
        let found = interfaces(DEV);
        assert_eq!(found.len(), 2);
        assert_eq!(found[1].name, "eth0");
        let received =
            DirectionCounters { bytes: 431_172_829, packets: 14_284, errors: 1, dropped: 2 };
        let transmitted =
            DirectionCounters { bytes: 767_086, packets: 8395, errors: 3, dropped: 4 };
        assert_eq!((found[1].received, found[1].transmitted), (received, transmitted));
        let touching = "eth0:1:7 2 0 0 0 0 0 0 9 3 0 0 0 0 0 0";
        assert_eq!(interfaces(touching)[0].name, "eth0:1");
        assert_eq!(interfaces("eth0: 1 2 3\nlo: 1 2 3 4 5 6 7 8 9 x 1 2"), []);
    }

    proptest! {
        #[test]
        fn any_text_parses(text: String, tables in "([A-Za-z]{1,3}: ([a-z0-9-]{0,9} ?){0,9}\n){0,9}") {
            for text in [text, tables] {
                let counters = Counters::parse(&text);
                prop_assert!(counters.since(&counters).iter().all(|(_, _, grown)| grown == 0));
                let _ = interfaces(&text);
            }
        }

        #[test]
        fn a_table_gives_back_what_was_written(values in proptest::collection::vec(any::<i64>(), 1..40)) {
            let names: String = (0..values.len()).map(|n| format!(" C{n}")).collect();
            let numbers: String = values.iter().map(|value| format!(" {value}")).collect();
            let counters = Counters::parse(&format!("TcpExt:{names}\nTcpExt:{numbers}\n"));
            for (n, value) in values.iter().enumerate() {
                prop_assert_eq!(counters.get("TcpExt", &format!("C{n}")), Some(*value));
            }
        }
    }
}
