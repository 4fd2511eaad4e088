use proptest::prelude::*;

use super::*;

fn words(bytes: &[u8]) -> String {
    walk(bytes).map(|item| item.to_string()).collect::<Vec<_>>().join(" ")
}

#[test]
fn broken_options_are_told_as_they_stand() {
    let cases: [(&[u8], &str); 14] = [
        (&[2, 4, 5, 180], "MSS=1460"),
        (&[2, 3, 5, 1], "MSS?len3 NOP"),
        (&[2, 4, 5], "BADLEN"),        // beyond the end
        (&[1, 2, 1, 1], "NOP BADLEN"), // a length that does not count itself
        (&[3, 3, 200], "WS=200"),      // not clamped
        (&[3, 2, 1], "WS?len2 NOP"),   // no value
        (&[4, 3, 9], "SACKOK"),        // no stack would take it
        (&[5, 7, 0, 0, 0, 0, 0], "SACKx0"),
        (&[8, 6, 0, 0, 0, 1], "TS?len6"),
        (&[34, 6, 1, 2, 3, 4, 0, 2, 4], "TFO EOL"), // padding is not looked at
        (&[1, 254], "NOP TRUNC"),
        (&[254, 0], "BADLEN"),
        (&[30, 4, 0, 1], "OPT30/4"),
        (&[], ""),
    ];
    for (bytes, want) in cases {
        assert_eq!(words(bytes), want, "{bytes:?}");
    }
}

/// `NOP NOP TS` as the snap length cuts it.
#[test]
fn what_the_capture_left_out_is_not_broken() {
    let whole = [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2];
    let cut = |kept: usize| {
        walk_cut(&whole[..kept], whole.len() - kept)
            .map(|item| item.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(cut(12), ["NOP", "NOP", "TS=1/2"]);
    assert_eq!(cut(11), ["NOP", "NOP", "[1 byte not captured]"]);
    for kept in [2, 3, 4, 9] {
        let last = format!("[{} bytes not captured]", 12 - kept);
        assert_eq!(cut(kept), ["NOP", "NOP", &last], "{kept}");
    }
    assert_eq!(cut(0), ["[12 bytes not captured]"]);
    let broken: Vec<Item<'_>> = walk_cut(&[2, 9], 4).collect();
    assert_eq!(broken, [Item::BadLength], "longer than what was left out, too");
    assert_eq!(walk_cut(&[0], 3).collect::<Vec<_>>(), [Item::EndOfList]);
}

#[test]
fn a_length_that_is_not_the_kinds_own_means_nothing() {
    let cases: [&[u8]; 7] = [
        &[2, 3, 5],
        &[3, 4, 7, 7],
        &[4, 3, 9],
        &[5, 2],
        &[5, 7, 0, 0, 0, 0, 0],
        &[8, 6, 0, 0, 0, 1],
        &[34, 5, 1, 2, 3],
    ];
    for bytes in cases {
        let values: Vec<_> = walk(bytes).values().collect();
        let [TcpOption::Other { kind, data }] = values.as_slice() else { panic!("{values:?}") };
        assert_eq!((*kind, data.len() + 2), (bytes[0], bytes.len()));
    }
}

#[test]
fn more_than_a_header_holds_is_refused_and_leaves_no_trace() {
    let block = SackBlock { left: 1, right: 2 };
    let stamps = TcpOption::Timestamps { value: 1, echo: 2 };
    let sack = |n: usize| TcpOption::Sack(SackBlocks::new(&vec![block; n]).unwrap());
    let mut out = vec![7];
    // RFC 2018 §3: three blocks beside timestamps, four without.
    encode(&[stamps, sack(3)], &mut out).unwrap();
    assert_eq!(out.len(), 1 + 36);
    out.truncate(1);
    let error = encode(&[stamps, sack(4)], &mut out).unwrap_err();
    assert_eq!(error.to_string(), "TCP options: 44 bytes exceed the limit of 40");
    let long = [0; 300];
    assert!(encode(&[TcpOption::Other { kind: 99, data: &long }], &mut out).is_err());
    assert_eq!(out, [7]);
    assert_eq!((SackBlocks::new(&[]), SackBlocks::new(&[block; 5])), (None, None));
}

#[test]
fn a_syn_of_linux() {
    let options = [
        TcpOption::Mss(1460),
        TcpOption::SackPermitted,
        TcpOption::Timestamps { value: 10, echo: 0 },
        TcpOption::NoOperation,
        TcpOption::WindowScale(7),
    ];
    let mut bytes = Vec::new();
    encode(&options, &mut bytes).unwrap();
    assert_eq!(words(&bytes), "MSS=1460 SACKOK TS=10/0 NOP WS=7");
    let mut cut = Vec::new();
    encode(&options[..2], &mut cut).unwrap();
    assert_eq!(words(&cut), "MSS=1460 SACKOK EOL");
}

/// Any option, with data of at most 18 bytes.
fn any_option() -> impl Strategy<Value = (u8, Vec<u8>)> {
    let data = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..18),
        Just(vec![9; 16]), // a digest, two SACK blocks, a cookie
    ];
    (prop_oneof![2..40_u8, any::<u8>().prop_map(|kind| kind.max(2))], data)
}

proptest! {
    #[test]
    fn any_bytes_are_walked(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let items: Vec<_> = walk(&bytes).collect();
        prop_assert!(items.len() <= bytes.len());
        let _ = words(&bytes);
        let _ = walk(&bytes).values().count();
    }

    #[test]
    fn what_is_encoded_is_decoded(raw in proptest::collection::vec(any_option(), 0..8)) {
        let raw: Vec<RawOption<'_>> =
            raw.iter().map(|(kind, data)| RawOption { kind: *kind, data }).collect();
        let options: Vec<TcpOption<'_>> = raw.iter().map(|raw| TcpOption::of(*raw)).collect();
        let length: usize = raw.iter().map(RawOption::length).sum();
        let mut bytes = Vec::new();
        let encoded = encode(&options, &mut bytes);
        prop_assert_eq!(encoded.is_ok(), length <= MOST);
        if encoded.is_ok() {
            prop_assert_eq!(bytes.len(), length.next_multiple_of(4));
            prop_assert_eq!(walk(&bytes).values().collect::<Vec<_>>(), options);
        }
    }
}
