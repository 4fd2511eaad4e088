use super::*;
use crate::connections::Connection;

#[test]
fn columns_are_found_with_and_without_their_unit() {
    let key = |name: &str| ColumnName::find(name).map(|column| column.key().to_owned());
    assert_eq!(key("rtt_s").as_deref(), Ok("rtt_s"));
    assert_eq!(key("rtt").as_deref(), Ok("rtt_s"));
    assert_eq!(key("mss").as_deref(), Ok("mss_bytes"));
    assert_eq!(key("process.name").as_deref(), Ok("process.name"));
    assert_eq!(key("limits"), Err(UnknownColumn("limits".to_owned())), "a list is no column");
    assert_eq!(without_unit(ColumnName::find("rtt").unwrap().key()), "rtt");
}

#[test]
fn an_empty_list_has_a_header_and_a_document() {
    let mut out = Vec::new();
    let none: &[Connection] = &[];
    write_csv(&mut out, &none, &[], None).unwrap();
    let header = String::from_utf8(out).unwrap();
    assert!(
        header.starts_with("netns,local,remote,state,process.pid,process.name,mss_bytes,"),
        "{header}"
    );
    let mut out = Vec::new();
    ConnectionsDocument::new(&Snapshot::default(), &none, None).write(&mut out).unwrap();
    let document: Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(document["schema_version"], 1);
    assert_eq!(document["connections"].as_array().map(Vec::len), Some(0));
}

#[test]
fn a_row_has_the_columns_that_were_asked_for() {
    let one = vec![columns::empty_connection()];
    let columns = ["state", "local"].map(|name| ColumnName::find(name).unwrap());
    let mut out = Vec::new();
    write_csv(&mut out, &one, &columns, None).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "state,local\nunknown,0.0.0.0:0\n");
}

#[test]
fn lists_of_one_table_have_one_header_and_their_times() {
    let one = vec![columns::empty_connection()];
    let columns = ["state", "local"].map(|name| ColumnName::find(name).unwrap());
    let mut out = Vec::new();
    for (time_s, is_first) in [(1.5, true), (2.5, false)] {
        write_csv(&mut out, &one, &columns, Some(ListTime { time_s, is_first })).unwrap();
    }
    let want = "time_s,state,local\n1.5,unknown,0.0.0.0:0\n2.5,unknown,0.0.0.0:0\n";
    assert_eq!(String::from_utf8(out).unwrap(), want);
}

#[test]
fn listening_sockets_have_every_key_of_json_as_a_column() {
    let listener = Listener {
        netns: None,
        local: "[::]:80".parse().unwrap(),
        inode: 0,
        message: None,
        process: Some(crate::connections::Owner { pid: 7, name: "a,b".into() }),
        queued: 3,
        limit: 128,
        overflows: None,
    };
    let mut out = Vec::new();
    write_listeners_csv(&mut out, std::slice::from_ref(&listener), None).unwrap();
    let want =
        "netns,local,process.pid,process.name,queued,limit,overflows\n,[::]:80,7,\"a,b\",3,128,\n";
    assert_eq!(String::from_utf8(out).unwrap(), want);
    let json = serde_json::to_value(ListenerEntry::of(&listener)).unwrap();
    let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
    assert!(keys.iter().all(|key| OF_LISTENERS.iter().any(|of| of.split('.').next() == Some(key))));
}

#[test]
fn the_document_is_as_serde_json_writes_it() {
    let mut snapshot = Snapshot { time_s: Some(1.5), ..Snapshot::default() };
    let ends = ["0.0.0.0:0", "10.2.30.4:65535", "255.255.255.255:1009", "[2001:db8::1]:80"];
    for end in ends {
        let mut connection = columns::empty_connection();
        (connection.local, connection.remote) = (end.parse().unwrap(), "[::1]:8".parse().unwrap());
        let name = "a \"quoted\"\n\u{1b}name".into();
        connection.process = Some(crate::connections::Owner { pid: 7, name });
        snapshot.connections.push(connection);
    }
    let document = ConnectionsDocument::new(&snapshot, &snapshot.connections, Some("al\"pha"));
    let mut out = Vec::new();
    document.write(&mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), serde_json::to_string(&document).unwrap() + "\n");
    let read: Value = serde_json::to_value(&document).unwrap();
    let locals = read["connections"].as_array().unwrap().iter();
    assert_eq!(locals.map(|row| row["local"].as_str().unwrap()).collect::<Vec<_>>(), ends);
}
