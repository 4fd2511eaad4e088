use super::*;

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
    write_csv(&mut out, &[]).unwrap();
    let header = String::from_utf8(out).unwrap();
    assert!(
        header.starts_with("netns,local,remote,state,process.pid,process.name,mss_bytes,"),
        "{header}"
    );
    let mut out = Vec::new();
    ConnectionsDocument::new(&Snapshot::default(), None).write(&mut out).unwrap();
    let document: Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(document["schema_version"], 1);
    assert_eq!(document["connections"].as_array().map(Vec::len), Some(0));
}
