use maxseg_workbench::connections::Listing;

use super::*;

/// A connection without `tcp_info`, as the kernel lists it.
fn bare(state: u8) -> Connection {
    let mut message = vec![2, state, 0, 0];
    message.extend([0, 80, 156, 64]); // ports 80 and 40000
    message.extend([127, 0, 0, 1].into_iter().chain([0; 12]));
    message.extend([127, 0, 0, 1].into_iter().chain([0; 12]));
    message.extend([0; 32]);
    let length = u32::try_from(16 + message.len()).unwrap();
    let head = [&length.to_ne_bytes()[..], &20_u16.to_ne_bytes(), &[0; 10]].concat();
    let bytes = [head, message].concat();
    Listing::from_dump(&bytes).unwrap().into_snapshot().connections.remove(0)
}

#[test]
fn a_handshake_that_waits_has_its_state_for_a_limit() {
    const ESTABLISHED: u8 = 1;
    const SYN_RECEIVED: u8 = 3;
    let shown = Shown {
        columns: Vec::new(),
        sort: None,
        listening: false,
        of_process: false,
        is_here: true,
    };
    let last_word = |state| {
        let connections = vec![bare(state)];
        let snapshot = Snapshot { connections, ..Snapshot::default() };
        let text = text(&snapshot, &shown, Printer::silent());
        text.lines().nth(2).unwrap().split_whitespace().last().unwrap().to_owned()
    };
    assert_eq!(last_word(SYN_RECEIVED), "syn-received");
    assert_eq!(last_word(ESTABLISHED), "-", "nothing is known of it");
}

#[test]
fn a_link_local_end_is_shown_with_its_interface() {
    let of = |address: &str, interface, netns: Option<&str>, is_here| {
        let end = address.parse().unwrap();
        let netns = netns.map(Into::into);
        shown_end(end, &Connection { interface, netns, ..bare(1) }, is_here)
    };
    let end = |address: &str, interface, netns| of(address, interface, netns, true);
    assert_eq!(of("[fe80::1]:80", 1, None, false), "[fe80::1%1]:80", "another host's");
    assert_eq!(end("[fe80::1]:80", 1, None), "[fe80::1%lo]:80");
    assert_eq!(end("[fe80::1]:80", 1, Some("blue")), "[fe80::1%1]:80");
    assert_eq!(end("[fe80::1]:80", u32::MAX, None), "[fe80::1%4294967295]:80", "it has gone");
    assert_eq!(end("[fe80::1]:80", 0, None), "[fe80::1]:80");
    assert_eq!(end("[2001:db8::1]:80", 1, None), "[2001:db8::1]:80");
    assert_eq!(end("127.0.0.1:80", 1, None), "127.0.0.1:80");
}

#[test]
fn root_is_not_told_to_become_root() {
    let snapshot = Snapshot {
        hidden_processes: 1,
        denied_namespaces: 2,
        processes_in_hidden_namespaces: 3,
        ..Snapshot::default()
    };
    let viewers = [Viewer::User, Viewer::Root, Viewer::Recorder];
    let [of_user, of_root, of_file] = viewers.map(|viewer| hidden_notes(&snapshot, viewer, true));
    assert_eq!(hidden_notes(&snapshot, Viewer::Root, false).len(), 2, "each has its process");
    assert!(of_user.iter().all(|note| note.contains("sudo")), "{of_user:?}");
    let names_limit = |note: &String| note.contains("not visible even to root here (CAP_");
    assert!(of_root.len() == 3 && of_root.iter().all(names_limit), "{of_root:?}");
    assert!(!of_root.concat().contains("sudo"), "{of_root:?}");
    assert!(of_file.iter().all(|note| note.contains("the user who recorded")), "{of_file:?}");
}

#[test]
fn a_process_cannot_write_lines_of_its_own() {
    let name = "nginx\n  10.0.0.1:80".into();
    let connection = Connection { process: Some(Owner { pid: 7, name }), ..bare(1) };
    let snapshot = Snapshot { connections: vec![connection], ..Snapshot::default() };
    for column in ["process.name", "process"] {
        let columns =
            if column == "process" { Vec::new() } else { vec![ColumnName::find(column).unwrap()] };
        let shown =
            Shown { columns, sort: None, listening: false, of_process: false, is_here: true };
        let text = text(&snapshot, &shown, Printer::silent());
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(text.contains("nginx\\n"), "{text}");
    }
}
