use proptest::prelude::*;

use super::*;

/// Other C libraries declare an older structure.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod layout;

#[test]
fn what_shares_a_byte_and_what_is_not_measured() {
    let mut bytes = [0_u8; TcpInfo::LEN];
    bytes[0] = 1;
    bytes[1] = 3;
    bytes[5] = 0b0000_1101;
    (bytes[6], bytes[7]) =
        if cfg!(target_endian = "little") { (0xa7, 0b0000_0101) } else { (0x7a, 0b1100_0000) };
    bytes[76..80].copy_from_slice(&0x7fff_ffff_u32.to_ne_bytes());
    bytes[148..152].fill(0xff);
    let info = TcpInfo::decode(&bytes).unwrap();
    assert_eq!(
        (info.state(), info.ca_state()),
        (Some(State::Established), Some(CaState::Recovery))
    );
    assert_eq!(info.window_scales, WindowScales { send: 7, receive: 10 });
    assert_eq!(
        info.flags,
        TcpInfoFlags { delivery_rate_app_limited: true, fastopen_client_fail: 2 }
    );
    let options = info.options;
    assert!(options.timestamps() && !options.sack() && options.window_scaling() && options.ecn());
    assert_eq!((info.snd_ssthresh, info.min_rtt), (None, None));
    assert_eq!((info.delivery_rate, info.delivery_bps()), (Some(0), None), "no sample yet");
    (bytes[0], bytes[1]) = (99, 99);
    let info = TcpInfo::decode(&bytes).unwrap();
    assert_eq!((info.state(), info.ca_state()), (None, None));
}

proptest! {
    #[test]
    fn any_bytes_decode_or_are_too_short(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        prop_assert_eq!(TcpInfo::decode(&bytes).is_ok(), bytes.len() >= TcpInfo::LEAST);
    }

    #[test]
    fn what_a_newer_kernel_appends_changes_nothing(
        bytes in proptest::collection::vec(any::<u8>(), TcpInfo::LEN..=TcpInfo::LEN),
        more in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let longer = [&bytes[..], &more[..]].concat();
        prop_assert_eq!(TcpInfo::decode(&longer), TcpInfo::decode(&bytes));
    }

    /// A cut never changes a field: it is as it was, or it is not there.
    #[test]
    fn a_cut_never_changes_what_is_left(
        bytes in proptest::collection::vec(any::<u8>(), TcpInfo::LEN..=TcpInfo::LEN),
        length in TcpInfo::LEAST..TcpInfo::LEN,
    ) {
        let whole = TcpInfo::decode(&bytes).unwrap();
        let cut = TcpInfo::decode(&bytes[..length]).unwrap();
        prop_assert_eq!((cut.rtt, cut.total_retrans), (whole.rtt, whole.total_retrans));
        prop_assert!(cut.delivery_rate.is_none() || cut.delivery_rate == whole.delivery_rate);
        prop_assert!(cut.min_rtt.is_none() || cut.min_rtt == whole.min_rtt);
        prop_assert!(cut.snd_wnd.is_none() || cut.snd_wnd == whole.snd_wnd);
    }
}
