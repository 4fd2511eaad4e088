use super::*;

/// A netlink message of a socket without attributes.
fn message(state: u8, ports: [u16; 2], queues: [u32; 2]) -> Vec<u8> {
    let mut payload = vec![2, state, 0, 0];
    payload.extend(ports.iter().flat_map(|port| port.to_be_bytes()));
    payload.extend([127, 0, 0, 1].into_iter().chain([0; 12]));
    payload.extend([127, 0, 0, 1].into_iter().chain([0; 12]));
    payload.extend([0; 16]);
    payload.extend(queues.iter().flat_map(|queue| queue.to_ne_bytes()));
    payload.extend([0; 8]);
    let length = u32::try_from(16 + payload.len()).unwrap();
    let head = [&length.to_ne_bytes()[..], &20_u16.to_ne_bytes(), &[0; 10]].concat();
    [head, payload].concat()
}

#[test]
fn a_file_of_ss_has_connections_and_listeners() {
    let bytes = [message(1, [80, 4000], [5, 6]), message(10, [80, 0], [3, 128])].concat();
    let snapshot = Listing::from_dump(&bytes).unwrap().into_snapshot();
    let [connection] = &snapshot.connections[..] else { panic!("{snapshot:?}") };
    assert_eq!(connection.remote, "127.0.0.1:4000".parse().unwrap());
    assert_eq!((connection.receive_queue_bytes, connection.send_queue_bytes), (5, 6));
    assert!(connection.diagnosis().is_none(), "without tcp_info there is nothing to judge by");
    let [listener] = &snapshot.listeners[..] else { panic!("{snapshot:?}") };
    assert_eq!((listener.queued, listener.limit, listener.is_full()), (3, 128, false));
}

#[test]
fn a_file_of_something_else_is_refused_with_its_offset() {
    let whole = message(1, [80, 4000], [5, 6]);
    let bytes = [&whole[..], b"State  Recv-Q"].concat();
    assert_eq!(Listing::from_dump(&bytes).unwrap_err().0, whole.len());
}

#[test]
fn the_whole_messages_of_a_file_that_was_cut_are_listed() {
    let socket = message(1, [80, 4000], [5, 6]);
    let done = maxseg_wire::inet_diag::done_message(false);
    let whole = [&socket[..], &socket, &done].concat();
    for (length, sockets, is_cut) in [
        (whole.len(), 2, false),
        (2 * socket.len(), 2, true), // between two messages
        (2 * socket.len() + 3, 2, true),
        (whole.len() - 1, 2, true),
        (2 * socket.len() - 1, 1, true),
        (socket.len() + 9, 1, true),
    ] {
        let snapshot = Listing::from_dump(&whole[..length]).unwrap().into_snapshot();
        assert_eq!((snapshot.connections.len(), snapshot.is_cut), (sockets, is_cut), "{length}");
    }
    assert!(Listing::from_dump(&whole[..socket.len() - 1]).is_err(), "nothing of it is whole");
}

/// A socket with its number, as a list has it.
pub(super) fn connection(cookie: u64, state: u8, ports: [u16; 2]) -> Connection {
    let bytes = message(state, ports, [0, 0]);
    let mut listed = Listing::from_dump(&bytes).unwrap().into_snapshot().connections;
    Connection { cookie, ..listed.remove(0) }
}

const ESTABLISHED: u8 = 1;
const TIME_WAIT: u8 = 6;
const CLOSE: u8 = 7;

#[cfg(feature = "lab")]
#[test]
fn a_connection_that_closed_is_in_a_list_once() {
    let owner = Some(Owner { pid: 7, name: "curl".into() });
    let listed = vec![
        Connection { process: owner.clone(), ..connection(1, ESTABLISHED, [40_000, 80]) },
        connection(2, TIME_WAIT, [40_001, 80]), // what is left of another
        connection(3, TIME_WAIT, [40_002, 80]), // nothing is known of what it was
        connection(4, ESTABLISHED, [40_003, 80]), // the next with these ends
    ];
    let mut snapshot = Snapshot { connections: listed, ..Snapshot::default() };
    let closed =
        |cookie, port| Connection { is_closed: true, ..connection(cookie, CLOSE, [port, 80]) };
    snapshot.add_closed(vec![closed(1, 40_000), closed(9, 40_001), closed(8, 40_003)]);
    let left: Vec<_> = snapshot.connections.iter().map(|one| (one.cookie, one.is_closed)).collect();
    assert_eq!(left, [(3, false), (4, false), (1, true), (9, true), (8, true)]);
    assert_eq!(snapshot.connections[2].process, owner, "the list knew it");
}

#[test]
fn what_is_left_of_a_closed_connection_is_no_second_one() {
    let mut history = History::default();
    let mut shown = |at_s: f64, connections: Vec<Connection>| {
        history.add(Snapshot { time_s: Some(at_s), connections, ..Snapshot::default() });
        let mut cookies: Vec<u64> = history.tracks().map(|((_, cookie, _), _)| *cookie).collect();
        cookies.sort_unstable();
        cookies
    };
    assert_eq!(shown(0.0, vec![connection(1, ESTABLISHED, [40_000, 80])]), [1]);
    let left = || vec![connection(2, TIME_WAIT, [40_000, 80])];
    assert_eq!(shown(1.0, left()), [1]);
    assert_eq!(shown(30.0, left()), [1]);
    assert_eq!(shown(59.0, vec![connection(3, TIME_WAIT, [40_001, 80])]), [1, 3]);
    assert_eq!(shown(62.0, Vec::new()), Vec::<u64>::new(), "its time is over: that was no end");
}

/// `ss -e` has ESTAB with sk:282e, then TIME-WAIT with sk:282e (Linux 6.18).
#[test]
fn what_is_left_of_a_connection_does_not_replace_it() {
    let owner = Some(Owner { pid: 7, name: "curl".into() });
    let known =
        || Connection { process: owner.clone(), ..connection(1, ESTABLISHED, [40_000, 80]) };
    let left = || vec![connection(1, TIME_WAIT, [40_000, 80])];
    let mut history = History::default();
    let mut shown = |at_s: f64, connections: Vec<Connection>| {
        history.add(Snapshot { time_s: Some(at_s), connections, ..Snapshot::default() });
        let tracks = history.tracks().map(|(_, track)| &track.connection);
        tracks.map(|one| (one.state_name(), one.process.clone())).collect::<Vec<_>>()
    };
    assert_eq!(shown(0.0, vec![known()]), [("established", owner.clone())]);
    for at_s in [1.0, 2.0, 59.0] {
        assert_eq!(shown(at_s, left()), [("closed", owner.clone())], "{at_s}");
    }
    assert_eq!(shown(63.0, Vec::new()), []);
    // The event of its end comes with the list.
    assert_eq!(shown(70.0, vec![Connection { is_closed: true, ..known() }]).len(), 1);
    assert_eq!(shown(71.0, left()), [("closed", owner.clone())]);
}
