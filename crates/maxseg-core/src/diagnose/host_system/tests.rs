use super::*;
use crate::evidence::OptionKind::{
    EndOfList, Mss, NoOperation, Other, SackPermitted, Timestamps, WindowScale,
};

const LINUX: [OptionKind; 5] = [Mss, SackPermitted, Timestamps, NoOperation, WindowScale];
const WINDOWS: [OptionKind; 6] =
    [Mss, NoOperation, WindowScale, NoOperation, NoOperation, SackPermitted];
const MAC: [OptionKind; 8] =
    [Mss, NoOperation, WindowScale, NoOperation, NoOperation, Timestamps, SackPermitted, EndOfList];
const FREE_BSD: [OptionKind; 5] = [Mss, NoOperation, WindowScale, SackPermitted, Timestamps];

fn syn(ttl: u8, window: u16, order: &[OptionKind]) -> SynFacts {
    let order = order.iter().copied().collect();
    SynFacts { ttl, window, mss: Some(1460), order, ..SynFacts::default() }
}

/// The system of a client with this SYN.
fn client(syn: SynFacts) -> HostSystem {
    let stats = DirectionStats { packets: 9, syn: Some(syn), ..DirectionStats::default() };
    HostSystem::of(&stats, None)
}

fn server(answer: SynFacts, asked: SynFacts) -> HostSystem {
    let answer = SynFacts { is_answer: true, ..answer };
    let stats = DirectionStats { packets: 9, syn: Some(answer), ..DirectionStats::default() };
    HostSystem::of(&stats, Some(&asked))
}

#[test]
fn systems_by_their_syn() {
    let cases = [
        (syn(64, 64_240, &LINUX), System::Linux),
        (syn(51, 29_200, &LINUX), System::Linux),
        // tcp_window_scaling=0; those of BSD systems begin with 65 535 bytes.
        (syn(64, 64_240, &[Mss, SackPermitted, Timestamps]), System::Linux),
        (syn(64, 65_535, &[Mss, SackPermitted, Timestamps]), System::Unknown),
        (syn(128, 64_240, &WINDOWS), System::Windows),
        (syn(117, 8192, &WINDOWS), System::Windows),
        (syn(128, 65_535, &[Mss, NoOperation, NoOperation, SackPermitted]), System::Windows),
        (syn(64, 65_535, &MAC), System::MacOs),
        (syn(60, 65_535, &FREE_BSD), System::FreeBsd),
        (syn(255, 8760, &[Mss]), System::Embedded),
        // The order of one system with the hops of another.
        (syn(64, 64_240, &WINDOWS), System::Unknown),
        (syn(128, 64_240, &LINUX), System::Unknown),
        // nmap's scan, and a SYN whose options were padded away.
        (syn(47, 1024, &[Mss]), System::Unknown),
        (syn(64, 64_240, &[Mss, NoOperation, NoOperation, NoOperation]), System::Unknown),
        (syn(20, 64_240, &LINUX), System::Unknown),
    ];
    for (syn, want) in cases {
        let host = client(syn);
        assert_eq!(host.name, want, "{syn:?}: {host:?}");
        assert_eq!(host.confidence > 0.0, want != System::Unknown, "{host:?}");
    }
}

#[test]
fn the_first_window_tells_old_linux_from_new() {
    let of = |window: u16| client(syn(64, window, &LINUX)).evidence;
    assert_eq!(of(64_240), "TTL 64, window 64240, MSS SACK TS NOP WS: Linux 4.20 or later");
    assert!(of(29_200).ends_with("Linux 3.11 to 4.19"));
    assert!(of(14_600).ends_with("Linux 3.0 to 3.10"));
    assert!(of(5840).ends_with("Linux 2.6"));
    assert!(of(65_535).ends_with("NOP WS"), "set by somebody");
}

#[test]
fn what_extensions_append_does_not_matter() {
    let order = [LINUX.as_slice(), &[Other, NoOperation, NoOperation]].concat();
    assert_eq!(client(syn(64, 64_240, &order)).name, System::Linux);
}

#[test]
fn an_answer_is_limited_by_what_was_asked() {
    let asked = syn(64, 64_240, &LINUX);
    let of = |answer| server(answer, asked).name;
    assert_eq!(of(syn(64, 65_160, &LINUX)), System::Linux);
    assert_eq!(of(syn(128, 65_535, &FREE_BSD)), System::Windows);
    assert_eq!(of(syn(64, 4096, &[Mss])), System::Embedded);
    let bare = syn(64, 64_240, &[Mss]);
    assert_eq!(server(syn(64, 4096, &[Mss]), bare).name, System::Unknown, "nothing was offered");
    // Linux and FreeBSD answer a scale alone alike.
    let answer = syn(64, 65_535, &[Mss, NoOperation, WindowScale]);
    assert_eq!(of(answer), System::Unknown);
}

#[test]
fn who_cannot_be_known_is_unknown_with_the_reason() {
    let good = syn(64, 64_240, &LINUX);
    assert_eq!(client(good).name, System::Linux);
    assert!(client(SynFacts { is_cut: true, ..good }).evidence.contains("cut"));
    let elsewhere = client(SynFacts { later_ttl: Some(50), ..good });
    assert_eq!(elsewhere.name, System::Unknown);
    assert!(elsewhere.evidence.contains("middlebox"), "{elsewhere:?}");
    assert_eq!(client(SynFacts { later_ttl: Some(63), ..good }).name, System::Linux);
    let none = HostSystem::of(&DirectionStats::default(), None);
    assert_eq!((none.name, none.confidence > 0.0), (System::Unknown, false));
}
