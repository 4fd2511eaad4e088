//! The responder with a client, and under abuse; over loopback.

use std::collections::VecDeque;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use maxseg_core::path_mtu::ProbeFate;
use maxseg_wire::responder::{
    HEADER, Limits, Message, Refusal, SenderSample, Towards, VERSION, decode, encode,
};

use super::*;
use crate::far_end::{BulkPlan, FarEndError, ResponderClient, TrainPlan};

const TOKEN: &str = "open sesame";

fn options() -> ResponderOptions {
    ResponderOptions {
        listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        token: TOKEN.to_owned(),
        limits: Limits { seconds: 20, bits_per_second: 0, connections: 8 },
        once: false,
    }
}

/// Runs a responder for as long as `test` takes; what it told.
fn with(options: ResponderOptions, test: impl FnOnce(SocketAddr)) -> Vec<ResponderEvent> {
    let responder = Responder::bind(options).unwrap();
    let (stop, events) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    let (told, address) = (|event| events.lock().unwrap().push(event), responder.address());
    std::thread::scope(|scope| {
        let running = scope.spawn(|| responder.run(&stop, &told));
        // A test that fails must not leave the responder running.
        let tested = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| test(address)));
        stop.store(true, Ordering::Relaxed);
        running.join().unwrap().unwrap();
        tested.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
    events.into_inner().unwrap()
}

/// What a connection answers to these bytes, until it is closed.
fn answer_to(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(bytes).unwrap();
    let mut answer = Vec::new();
    // A reset after the answer is an end too.
    let _ = stream.read_to_end(&mut answer);
    answer
}

fn plan(towards: Towards) -> BulkPlan {
    BulkPlan {
        towards,
        connections: 2,
        time: Duration::from_millis(300),
        window: Some(64 << 10),
        mss: Some(1000),
        send_buffer: None,
        congestion: Some("reno".to_owned()),
        pings: Some(Duration::from_millis(20)),
    }
}

#[test]
fn a_client_with_the_token_measures_both_ways() {
    let stop = AtomicBool::new(false);
    let events = with(options(), |address| {
        let mut client = ResponderClient::begin(address, TOKEN, &stop).unwrap();
        let pings = client.pings(Duration::ZERO, |count, _| count == 10).unwrap();
        assert_eq!(pings.trips.len(), 10);
        assert!(pings.kernel_min.is_some());
        let (sent, syn) = client.syn_as_received().unwrap();
        let syn = syn.unwrap();
        assert_eq!((sent, syn.mss), (Some(65_495), Some(65_495)), "{syn:?}");
        assert!(syn.options.iter().any(|option| option.starts_with("MSS=")), "{syn:?}");
        for towards in [Towards::Client, Towards::Responder] {
            let result = client.bulk(&plan(towards)).unwrap();
            assert_eq!(result.series.len(), 2, "{towards:?}");
            assert_eq!(result.granted.congestion.as_deref(), Some("reno"));
            assert!(!result.pings.trips.is_empty());
            for series in &result.series {
                let last = series.samples.last().unwrap().sample.info;
                assert!(last.bytes_acked.unwrap() > 100_000, "{towards:?}: {last:?}");
                assert!(last.snd_mss <= 1000, "{last:?}");
                // The kernel undoes a clamp where a segment of another size arrives, until the receiver sets it again.
                let held = |sample: &&SenderSample| {
                    sample.sample.info.snd_wnd.is_some_and(|window| window <= 64 << 10)
                };
                let (held, all) = (series.samples.iter().filter(held).count(), &series.samples);
                assert!(2 * held > all.len(), "{held} of {}: {last:?}", all.len());
            }
        }
        assert!(client.open_datagrams().unwrap());
        let back = client.probe_back(&[60_000, 80], Duration::from_secs(1)).unwrap().unwrap();
        assert_eq!(back, [(60_000, ProbeFate::Arrived), (80, ProbeFate::Arrived)]);
        let (mut prober, times) = (client.prober().unwrap(), [Duration::from_millis(1); 2]);
        let (forth, _) =
            client.probe_forth(&mut prober, &[70_000, 60_000, 80], times, 65_536).unwrap();
        assert_eq!(forth[0], (70_000, ProbeFate::LocalTooBig { mtu: Some(65_536) }));
        assert_eq!(forth[1..], back, "the responder says so");
        assert_eq!(client.learnt_there().unwrap(), None);
    });
    assert!(matches!(events[0], ResponderEvent::Began(_)), "{events:?}");
}

#[test]
fn a_train_goes_each_way_within_the_limits_and_not_before_the_flow_is_open() {
    let stop = AtomicBool::new(false);
    let limits = Limits { bits_per_second: 50_000_000, ..options().limits };
    with(ResponderOptions { limits, ..options() }, |address| {
        let mut client = ResponderClient::begin(address, TOKEN, &stop).unwrap();
        assert!(client.open_datagrams().unwrap());
        for towards in [Towards::Responder, Towards::Client] {
            for bits_per_second in [None, Some(10_000_000), Some(1 << 40)] {
                let plan = TrainPlan { towards, packet_bytes: 1000, count: 100, bits_per_second };
                let train = client.train(&plan).unwrap();
                assert_eq!(train.sent, 100, "{plan:?}");
                // Loopback loses nothing while its reader keeps up; the reader of a busy host may not.
                let arrived = train.arrivals.len() + train.dropped_by_host as usize;
                assert!(arrived > 0 && train.arrivals.len() <= 100, "{plan:?}: {train:?}");
                assert!(train.arrivals.is_sorted_by(|a, b| a.at_s <= b.at_s), "{plan:?}");
                // None is sent before it is due.
                let most = if bits_per_second == Some(10_000_000) { 10e6 } else { 50e6 };
                assert!(train.sent_bps() <= 1.001 * most, "{plan:?}: {}", train.sent_bps());
            }
        }
        let large = TrainPlan {
            towards: Towards::Client,
            packet_bytes: 9000,
            count: u32::MAX,
            bits_per_second: None,
        };
        assert!(client.train(&large).unwrap().sent <= (32 << 20) / 9000, "bytes are bounded");
    });
}

#[test]
fn one_session_at_a_time_and_an_end_after_one_where_asked() {
    let stop = AtomicBool::new(false);
    let (begun, once) = (AtomicBool::new(false), ResponderOptions { once: true, ..options() });
    let responder = Responder::bind(once).unwrap();
    let address = responder.address();
    std::thread::scope(|scope| {
        let told = |event| {
            if matches!(event, ResponderEvent::Began(_)) {
                begun.store(true, Ordering::Relaxed);
            }
        };
        let running = scope.spawn(move || responder.run(&AtomicBool::new(false), &told));
        let first = ResponderClient::begin(address, TOKEN, &stop).unwrap();
        let second = ResponderClient::begin(address, TOKEN, &stop);
        assert!(matches!(second, Err(FarEndError::Refused(Refusal::Busy))), "{second:?}");
        drop(first);
        running.join().unwrap().unwrap();
    });
}

#[test]
fn both_ways_at_once_each_connection_has_its_own_samples() {
    let stop = AtomicBool::new(false);
    with(options(), |address| {
        let mut client = ResponderClient::begin(address, TOKEN, &stop).unwrap();
        let [up, down] = [Towards::Responder, Towards::Client].map(plan);
        let [up, down] = client.bulk_at_once([&up, &down]).unwrap();
        for result in [&up, &down] {
            assert_eq!(result.series.len(), 2);
            for series in &result.series {
                let acked = series.samples.last().unwrap().sample.info.bytes_acked;
                assert!(acked.unwrap() > 100_000, "{acked:?}");
            }
        }
    });
}

#[test]
fn another_token_is_refused() {
    let stop = AtomicBool::new(false);
    let events = with(options(), |address| {
        let client = ResponderClient::begin(address, "open barley", &stop);
        assert!(matches!(client, Err(FarEndError::Refused(Refusal::Token))), "{client:?}");
    });
    let localhost = Ipv4Addr::LOCALHOST.into();
    assert_eq!(events, [ResponderEvent::Refused(localhost, Refusal::Token)]);
}

#[test]
fn what_is_no_message_is_refused_in_fewer_bytes_than_arrived() {
    with(options(), |address| {
        let hello = encode(&Message::Hello { version: VERSION, nonce: [1; 16] });
        let other = encode(&Message::Hello { version: 99, nonce: [1; 16] });
        let early = encode(&Message::Ping(1));
        let cases: [(&[u8], Refusal); 6] = [
            (b"GET / HTTP/1.1\r\nHost: example\r\n\r\n", Refusal::Garbage),
            (&[0xff; 2000], Refusal::Garbage),
            (&[1; 64], Refusal::Garbage),
            (&early, Refusal::Garbage),
            (&other, Refusal::Version),
            (&[&hello[..], &hello].concat(), Refusal::Garbage),
        ];
        for (bytes, why) in cases {
            let answer = answer_to(address, bytes);
            assert!(answer.len() <= bytes.len(), "{} bytes for {}", answer.len(), bytes.len());
            let refusal = encode(&Message::Refused(why));
            // Where the kernel resets the connection because of what was not read, the answer may be lost.
            assert!(answer.is_empty() || answer.ends_with(&refusal), "{answer:?} for {why:?}");
        }
        // A refusal is longer than these, and is left out.
        assert!(answer_to(address, &[0xff]).is_empty());
    });
}

#[test]
fn datagrams_without_the_key_have_no_answer() {
    let stop = AtomicBool::new(false);
    with(options(), |address| {
        let mut client = ResponderClient::begin(address, TOKEN, &stop).unwrap();
        let other = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        other.set_nonblocking(true).unwrap();
        other.send_to(&[0; 1000], address).unwrap();
        other.send_to(&[], address).unwrap();
        // Answers of the control connection come after the datagrams have been read or left.
        assert_eq!(client.arrived(1028).unwrap(), 0);
        assert!(other.recv(&mut [0; 1]).is_err());
    });
}

#[test]
fn a_client_that_does_not_read_ends_with_its_time() {
    let stop = AtomicBool::new(false);
    with(options(), |address| {
        let mut client = ResponderClient::begin(address, TOKEN, &stop).unwrap();
        let slow =
            BulkPlan { time: Duration::from_millis(200), pings: None, ..plan(Towards::Client) };
        client.never_read(&slow).unwrap();
        assert!(client.ping().is_ok());
    });
}

#[test]
fn more_than_the_limits_is_refused() {
    let stop = AtomicBool::new(false);
    with(options(), |address| {
        let mut client = ResponderClient::begin(address, TOKEN, &stop).unwrap();
        let many = BulkPlan { connections: 9, ..plan(Towards::Client) };
        assert!(matches!(client.bulk(&many), Err(FarEndError::Refused(Refusal::Limit))));
        let long = BulkPlan { time: Duration::from_secs(60), ..plan(Towards::Client) };
        assert!(matches!(client.bulk(&long), Err(FarEndError::Refused(Refusal::Limit))));
        client.bulk(&plan(Towards::Client)).unwrap();
    });
}

/// The kernel of a receiver that reads at a rate takes more than that until its buffers are full: of each connection some megabytes.
#[test]
fn uploads_hold_the_limit_together_however_many_they_are() {
    let stop = AtomicBool::new(false);
    let limits = Limits { bits_per_second: 8_000_000, ..options().limits };
    with(ResponderOptions { limits, ..options() }, |address| {
        let mut client = ResponderClient::begin(address, TOKEN, &stop).unwrap();
        let upload = BulkPlan { connections: 8, window: None, ..plan(Towards::Responder) };
        let began = Instant::now();
        let result = client.bulk(&upload).unwrap();
        let seconds = began.elapsed().as_secs_f64();
        let acked =
            |series: &crate::far_end::BulkSeries| series.samples.last()?.sample.info.bytes_acked;
        let acked: u64 = result.series.iter().filter_map(acked).sum();
        // What may go at once at first, and requests and acknowledged SYNs.
        let most = 1e6 * seconds + 65_536.0 + 10_000.0;
        assert!(acked > 0 && (acked as f64) < most, "{acked} bytes in {seconds} s");
    });
}

/// A transfer's connections may still be about to leave when those of the next one arrive.
#[test]
fn transfers_of_just_as_many_connections_as_allowed_follow_one_another() {
    let stop = AtomicBool::new(false);
    with(options(), |address| {
        let mut client = ResponderClient::begin(address, TOKEN, &stop).unwrap();
        for towards in [Towards::Client, Towards::Responder, Towards::Client, Towards::Responder] {
            // Long enough for a busy machine to run each of them.
            let (connections, time) = (8, Duration::from_millis(500));
            let result = client.bulk(&BulkPlan { connections, time, ..plan(towards) });
            assert_eq!(result.unwrap().series.len(), 8, "{towards:?}");
        }
    });
}

/// The client asks for a second more than the transfer takes.
#[test]
fn a_transfer_of_just_the_limit_is_taken() {
    let stop = AtomicBool::new(false);
    let limits = Limits { seconds: 1, ..options().limits };
    with(ResponderOptions { limits, ..options() }, |address| {
        let mut client = ResponderClient::begin(address, TOKEN, &stop).unwrap();
        let longest = BulkPlan { time: Duration::from_secs(1), ..plan(Towards::Client) };
        client.bulk(&longest).unwrap();
        let longer = BulkPlan { time: Duration::from_millis(1100), ..plan(Towards::Client) };
        assert!(matches!(client.bulk(&longer), Err(FarEndError::Refused(Refusal::Limit))));
    });
}

#[test]
fn connections_that_say_nothing_do_not_keep_others_out() {
    let stop = AtomicBool::new(false);
    with(options(), |address| {
        // Ten thousand in all; few enough at once for a process that may have 1024 files open.
        let mut silent = VecDeque::new();
        for _ in 0..10_000 {
            silent.push_back(TcpStream::connect(address).unwrap());
            if silent.len() > MOST_UNPROVEN * 3 {
                silent.pop_front();
            }
        }
        let mut client = ResponderClient::begin(address, TOKEN, &stop).unwrap();
        assert!(client.ping().is_ok());
        drop(silent);
    });
}

#[test]
fn a_frame_that_claims_to_be_long_is_not_waited_for() {
    let mut long = vec![1, 0x40, 0];
    long.resize(HEADER + 100, 0);
    assert_eq!(decode(&long), Ok(None), "the decoder would wait");
    with(options(), |address| assert!(answer_to(address, &long).len() <= long.len()));
}
