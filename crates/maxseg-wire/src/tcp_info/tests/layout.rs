//! The places of the fields, against libc's own declaration of the structure.

use super::*;

/// Every field with its own number where libc's structure has it, and the field that must show it.
macro_rules! numbered {
    ($($theirs:ident $width:ident $ours:ident $read:ident,)*) => {{
        let mut bytes = vec![0; size_of::<libc::tcp_info>()];
        let mut number = 0;
        $(
            number += 1;
            let value = $width::try_from(number).unwrap().to_ne_bytes();
            let at = std::mem::offset_of!(libc::tcp_info, $theirs);
            bytes[at..at + value.len()].copy_from_slice(&value);
        )*
        let info = TcpInfo::decode(&bytes).unwrap();
        let mut number = 0_u64;
        $(
            number += 1;
            let shown = Shown::from(info.$ours);
            assert_eq!(shown, Shown::$read(number), "{}", stringify!($ours));
        )*
        bytes
    }};
}

#[derive(Debug, PartialEq)]
enum Shown {
    Count(Option<u64>),
    Time(Option<Duration>),
}

impl Shown {
    fn count(number: u64) -> Self {
        Self::Count(Some(number))
    }

    fn micros(number: u64) -> Self {
        Self::Time(Some(Duration::from_micros(number)))
    }

    fn millis(number: u64) -> Self {
        Self::Time(Some(Duration::from_millis(number)))
    }
}

macro_rules! shown {
    ($($ty:ty),*) => { $(
        impl From<$ty> for Shown {
            fn from(value: $ty) -> Self {
                Self::Count(Some(value.into()))
            }
        }

        impl From<Option<$ty>> for Shown {
            fn from(value: Option<$ty>) -> Self {
                Self::Count(value.map(Into::into))
            }
        }
    )* };
}
shown!(u8, u16, u32, u64);

impl From<Duration> for Shown {
    fn from(value: Duration) -> Self {
        Self::Time(Some(value))
    }
}

impl From<Option<Duration>> for Shown {
    fn from(value: Option<Duration>) -> Self {
        Self::Time(value)
    }
}

/// The whole structure, each field numbered from 1 in its order, found where libc says that it is.
fn numbered() -> Vec<u8> {
    numbered! {
        tcpi_state u8 state count,
        tcpi_ca_state u8 ca_state count,
        tcpi_retransmits u8 retransmits count,
        tcpi_probes u8 probes count,
        tcpi_backoff u8 backoff count,
        tcpi_rto u32 rto micros,
        tcpi_ato u32 ato micros,
        tcpi_snd_mss u32 snd_mss count,
        tcpi_rcv_mss u32 rcv_mss count,
        tcpi_unacked u32 unacked count,
        tcpi_sacked u32 sacked count,
        tcpi_lost u32 lost count,
        tcpi_retrans u32 retrans count,
        tcpi_fackets u32 fackets count,
        tcpi_last_data_sent u32 last_data_sent millis,
        tcpi_last_ack_sent u32 last_ack_sent millis,
        tcpi_last_data_recv u32 last_data_recv millis,
        tcpi_last_ack_recv u32 last_ack_recv millis,
        tcpi_pmtu u32 pmtu count,
        tcpi_rcv_ssthresh u32 rcv_ssthresh count,
        tcpi_rtt u32 rtt micros,
        tcpi_rttvar u32 rttvar micros,
        tcpi_snd_ssthresh u32 snd_ssthresh count,
        tcpi_snd_cwnd u32 snd_cwnd count,
        tcpi_advmss u32 advmss count,
        tcpi_reordering u32 reordering count,
        tcpi_rcv_rtt u32 rcv_rtt micros,
        tcpi_rcv_space u32 rcv_space count,
        tcpi_total_retrans u32 total_retrans count,
        tcpi_pacing_rate u64 pacing_rate count,
        tcpi_max_pacing_rate u64 max_pacing_rate count,
        tcpi_bytes_acked u64 bytes_acked count,
        tcpi_bytes_received u64 bytes_received count,
        tcpi_segs_out u32 segs_out count,
        tcpi_segs_in u32 segs_in count,
        tcpi_notsent_bytes u32 notsent_bytes count,
        tcpi_min_rtt u32 min_rtt micros,
        tcpi_data_segs_in u32 data_segs_in count,
        tcpi_data_segs_out u32 data_segs_out count,
        tcpi_delivery_rate u64 delivery_rate count,
        tcpi_busy_time u64 busy_time micros,
        tcpi_rwnd_limited u64 rwnd_limited micros,
        tcpi_sndbuf_limited u64 sndbuf_limited micros,
        tcpi_delivered u32 delivered count,
        tcpi_delivered_ce u32 delivered_ce count,
        tcpi_bytes_sent u64 bytes_sent count,
        tcpi_bytes_retrans u64 bytes_retrans count,
        tcpi_dsack_dups u32 dsack_dups count,
        tcpi_reord_seen u32 reord_seen count,
        tcpi_rcv_ooopack u32 rcv_ooopack count,
        tcpi_snd_wnd u32 snd_wnd count,
        tcpi_rcv_wnd u32 rcv_wnd count,
        tcpi_rehash u32 rehash count,
        tcpi_total_rto u16 total_rto count,
        tcpi_total_rto_recoveries u16 total_rto_recoveries count,
        tcpi_total_rto_time u32 total_rto_time millis,
        tcpi_received_ce u32 received_ce count,
        tcpi_delivered_e1_bytes u32 delivered_e1_bytes count,
        tcpi_delivered_e0_bytes u32 delivered_e0_bytes count,
        tcpi_delivered_ce_bytes u32 delivered_ce_bytes count,
        tcpi_received_e1_bytes u32 received_e1_bytes count,
        tcpi_received_e0_bytes u32 received_e0_bytes count,
        tcpi_received_ce_bytes u32 received_ce_bytes count,
    }
}

#[test]
fn every_field_is_where_libc_has_it() {
    let bytes = numbered();
    assert_eq!(bytes.len(), TcpInfo::LEN);
    let last_of_the_first = std::mem::offset_of!(libc::tcp_info, tcpi_total_retrans);
    assert_eq!(last_of_the_first + size_of::<u32>(), TcpInfo::LEAST);
}

#[test]
fn a_shorter_payload_lacks_only_what_it_lacks() {
    let whole = numbered();
    for length in 0..whole.len() {
        let cut = TcpInfo::decode(&whole[..length]);
        if length < TcpInfo::LEAST {
            let short =
                DecodeError::Short { layer: Layer::TcpInfo, have: length, need: TcpInfo::LEAST };
            assert_eq!(cut, Err(short));
            continue;
        }
        let cut = cut.unwrap();
        let fits = |offset: usize, width: usize| offset + width <= length;
        assert_eq!(
            cut.pacing_rate.is_some(),
            fits(std::mem::offset_of!(libc::tcp_info, tcpi_pacing_rate), 8)
        );
        assert_eq!(
            cut.segs_in.is_some(),
            fits(std::mem::offset_of!(libc::tcp_info, tcpi_segs_in), 4)
        );
        assert_eq!(
            cut.busy_time.is_some(),
            fits(std::mem::offset_of!(libc::tcp_info, tcpi_busy_time), 8)
        );
        // After a number that is there in part nothing is read, even if it would fit.
        assert_eq!(
            cut.rcv_wnd.is_some(),
            fits(std::mem::offset_of!(libc::tcp_info, tcpi_rcv_wnd), 4)
        );
        assert_eq!(
            cut.total_rto.is_some(),
            fits(std::mem::offset_of!(libc::tcp_info, tcpi_total_rto), 2)
        );
    }
}
