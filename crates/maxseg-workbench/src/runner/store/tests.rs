//! What a folder of results holds after crashes, failures and repetitions.

use maxseg_core::outcome::{LabProof, LimitShare, LimitedBy, Outcome};
use maxseg_core::units::Bytes;

use super::*;

fn row(seed: u64) -> Row {
    Row {
        engine: EngineName::Sim,
        point: serde_json::Map::new(),
        hash: "abc".to_owned(),
        seed: Some(seed),
        outcome: Outcome { goodput_bps: Some(0.1 + seed as f64), ..Outcome::default() },
        caveats: Vec::new(),
    }
}

#[test]
fn rows_survive_and_a_torn_last_line_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), None).unwrap();
    store.add(&row(1), &[]).unwrap();
    store.add(&row(2), &[]).unwrap();
    drop(store);
    let file = folder.path().join(ROWS);
    let mut bytes = fs::read(&file).unwrap();
    // Torn within a character of two bytes.
    bytes.extend("{\"engine\":\"sim\",\"point\":{\"name\":\"\u{fc}".as_bytes());
    bytes.pop();
    fs::write(&file, &bytes).unwrap();
    let mut store = Store::open(folder.path(), None).unwrap();
    assert_eq!(store.finished(&row(2).key()), Some(&row(2)));
    assert_eq!(store.known.len(), 2);
    store.add(&row(3), &[]).unwrap();
    drop(store);
    assert_eq!(Store::open(folder.path(), None).unwrap().known.len(), 3);
}

#[test]
fn rows_with_the_word_opportunity_are_those_of_start_up() {
    let folder = tempfile::tempdir().unwrap();
    let mut early = row(1);
    early.outcome.limited_by = Some(LimitedBy::StartUp);
    early.outcome.limits = vec![LimitShare { kind: LimitedBy::StartUp, share: 1.0 }];
    Store::open(folder.path(), None).unwrap().add(&early, &[]).unwrap();
    let file = folder.path().join(ROWS);
    let now = fs::read_to_string(&file).unwrap();
    assert_eq!(now.matches("\"start-up\"").count(), 2, "{now}");
    fs::write(&file, now.replace("start-up", "opportunity")).unwrap();
    let store = Store::open(folder.path(), None).unwrap();
    assert_eq!(store.finished(&early.key()), Some(&early));
}

#[test]
fn a_line_that_is_no_row_is_named() {
    let folder = tempfile::tempdir().unwrap();
    Store::open(folder.path(), None).unwrap().add(&row(1), &[]).unwrap();
    let file = folder.path().join(ROWS);
    let whole = fs::read(&file).unwrap();
    for wrong in [b"{}\n".as_slice(), b"\n", b"\xff\xfe\n"] {
        fs::write(&file, [whole.as_slice(), wrong].concat()).unwrap();
        let failure = Store::open(folder.path(), None).unwrap_err().told();
        assert!(failure.contains("rows.jsonl:2 is not a row"), "{failure}");
    }
}

#[test]
fn one_writer_at_a_time_and_no_foreign_folder() {
    let folder = tempfile::tempdir().unwrap();
    let _store = Store::open(folder.path(), None).unwrap();
    let failure = Store::open(folder.path(), None).unwrap_err().told();
    assert!(failure.contains("another maxseg is writing"), "{failure}");
    let foreign = tempfile::tempdir().unwrap();
    fs::write(foreign.path().join("thesis.tex"), "").unwrap();
    let failure = Store::open(foreign.path(), None).unwrap_err().told();
    assert!(failure.contains("it holds thesis.tex"), "{failure}");
}

#[test]
fn a_run_that_proves_nothing_is_kept_until_a_better_one_comes() {
    let folder = tempfile::tempdir().unwrap();
    let lab = |doubts: &[&str]| {
        let invalid_because = doubts.iter().map(|doubt| (*doubt).to_owned()).collect();
        let proof = LabProof { invalid_because, ..LabProof::default() };
        let outcome = Outcome { lab: Some(Box::new(proof)), ..Outcome::default() };
        Row { engine: EngineName::Lab, outcome, ..row(1) }
    };
    let (bad, good) = (lab(&["the machine was busy"]), lab(&[]));
    let keep = |row: &Row| Store::open(folder.path(), None).unwrap().add(row, &[]).unwrap();
    let known = || {
        let store = Store::open(folder.path(), None).unwrap();
        (store.finished(&bad.key()).cloned(), store.lacks(&bad.key()))
    };
    keep(&bad);
    assert_eq!(known(), (Some(bad.clone()), true));
    keep(&good);
    assert_eq!(known(), (Some(good.clone()), false));
    keep(&bad);
    assert_eq!(known(), (Some(good.clone()), false), "a valid one is not replaced");
}

const EVERY: Time = Time::from_millis(100);

fn sample(n: u64) -> Sample {
    Sample {
        at: Time::from_millis(100 * n),
        flow: 0,
        cwnd: Bytes::new(n),
        window: Bytes::new(n),
        in_flight: Bytes::ZERO,
        srtt: None,
        rto: Time::from_millis(1000),
        queue: Time::ZERO,
        acknowledged: Bytes::ZERO,
    }
}

fn series(folder: &Path) -> Vec<String> {
    let text = fs::read_to_string(folder.join(SERIES)).unwrap();
    text.lines().skip(1).map(|line| line.split(',').take(5).collect::<Vec<_>>().join(",")).collect()
}

#[test]
fn a_row_without_its_series_is_missing_and_gets_it_without_being_doubled() {
    let folder = tempfile::tempdir().unwrap();
    let key = row(1).key();
    Store::open(folder.path(), None).unwrap().add(&row(1), &[]).unwrap();
    let rows = fs::read(folder.path().join(ROWS)).unwrap();
    let mut store = Store::open(folder.path(), Some(EVERY)).unwrap();
    assert_eq!(store.finished(&key), None);
    store.add(&row(1), &[sample(0), sample(1)]).unwrap();
    drop(store);
    assert_eq!(fs::read(folder.path().join(ROWS)).unwrap(), rows);
    let store = Store::open(folder.path(), Some(EVERY)).unwrap();
    assert_eq!(store.finished(&key), Some(&row(1)));
    assert_eq!(series(folder.path()), ["abc,sim,1,0,0", "abc,sim,1,0,0.1"]);
}

#[test]
fn no_crash_doubles_or_tears_a_series() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), Some(EVERY)).unwrap();
    for seed in [1, 2] {
        store.add(&row(seed), &[sample(0), sample(1)]).unwrap();
    }
    drop(store);
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    let (rows, lines, index) = (read(ROWS), read(SERIES), read(INDEX));
    let first = |bytes: &[u8]| bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    // Where a crash can come: anywhere in the second row's lines, with none of its index or row; in
    // its index; after that and before its row.
    let second = String::from_utf8_lossy(&lines).find("abc,sim,2").unwrap();
    let crashes = (second..=lines.len())
        .map(|end| (end, first(&index)))
        .chain([(lines.len(), index.len() - 3), (lines.len(), index.len())]);
    for (lines_end, index_end) in crashes {
        fs::write(folder.path().join(ROWS), &rows[..first(&rows)]).unwrap();
        fs::write(folder.path().join(SERIES), &lines[..lines_end]).unwrap();
        fs::write(folder.path().join(INDEX), &index[..index_end]).unwrap();
        let mut store = Store::open(folder.path(), Some(EVERY)).unwrap();
        assert!(store.finished(&row(1).key()).is_some() && store.finished(&row(2).key()).is_none());
        assert_eq!(series(folder.path()).len(), 2, "the first row's alone");
        store.add(&row(2), &[sample(0), sample(1)]).unwrap();
        drop(store);
        assert_eq!(read(SERIES), lines, "after a crash at {lines_end}, {index_end}");
        assert_eq!((read(ROWS), read(INDEX)), (rows.clone(), index.clone()));
    }
}

#[test]
fn one_folder_has_one_interval() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), Some(EVERY)).unwrap();
    store.add(&row(1), &[sample(0)]).unwrap();
    drop(store);
    let failure = Store::open(folder.path(), Some(Time::from_millis(7))).unwrap_err().told();
    assert!(failure.contains("holds samples every 100 ms, not every 7 ms"), "{failure}");
    Store::open(folder.path(), None).unwrap();
}

#[test]
fn rows_of_other_scenarios_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), None).unwrap();
    store.add(&row(1), &[]).unwrap();
    store.add(&Row { hash: "other".to_owned(), ..row(1) }, &[]).unwrap();
    drop(store);
    let store = Store::open(folder.path(), None).unwrap();
    assert_eq!(store.others(&["abc", "new"].into()), 1);
}

#[test]
fn a_row_that_is_added_twice_is_kept_once_with_its_series() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), Some(EVERY)).unwrap();
    for _ in 0..2 {
        store.add(&row(1), &[sample(0), sample(1)]).unwrap();
    }
    assert!(!store.lacks(&row(1).key()));
    drop(store);
    let rows = fs::read_to_string(folder.path().join(ROWS)).unwrap();
    assert_eq!(rows.lines().count(), 1);
    assert_eq!(series(folder.path()), ["abc,sim,1,0,0", "abc,sim,1,0,0.1"]);
}

#[test]
fn a_summary_of_another_version_and_a_damaged_one_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.json");
    Store::open(folder.path(), None).unwrap().add(&row(1), &[]).unwrap();
    let cases = [
        ("{\"schema_version\": 99}", "has schema_version 99, and this maxseg writes 1"),
        ("{\"schema_version\": 1", "is damaged"),
        ("", "is damaged"),
        ("[]", "is damaged"),
    ];
    for (content, words) in cases {
        fs::write(&file, content).unwrap();
        let failure = Store::open(folder.path(), None).unwrap_err().told();
        assert!(failure.contains(words) && failure.contains("\nhint: "), "{failure}");
        assert_eq!(fs::read_to_string(&file).unwrap(), content);
    }
    fs::write(&file, "{\"schema_version\": 1}").unwrap();
    Store::open(folder.path(), None).unwrap();
}

#[test]
fn a_folder_with_what_a_kill_left_is_still_ours() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(".rows.parquet.Xy12ab.tmp"), "PAR1").unwrap();
    Store::open(folder.path(), None).unwrap();
}
