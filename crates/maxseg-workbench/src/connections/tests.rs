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
