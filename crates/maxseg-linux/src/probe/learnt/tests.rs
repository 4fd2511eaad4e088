use std::net::IpAddr;

use super::TeachLog;
use super::file::{Event, Line, Remembered};
use super::forget::{Run, pending};

fn line(at_s: f64, event: Event) -> Line {
    Line { at_s, boot: "b".to_owned(), namespace: 1, cookie: Some(4097), event }
}

const TO: &str = "192.0.2.7";

fn begin(at_s: f64, before: Option<Remembered>) -> Line {
    line(at_s, Event::Begin { destination: TO.parse().unwrap(), before })
}

#[test]
fn a_line_is_read_as_it_was_written() {
    let before = Some(Remembered { mtu_bytes: 1300, until_s: 1000.25 });
    for line in [
        begin(7.5, before),
        line(8.0, Event::End { destination: TO.parse().unwrap(), after: None }),
        line(9.0, Event::Forgotten { destination: "2001:db8::7".parse().unwrap() }),
        line(9.0, Event::SysctlChange { name: "a.b".to_owned(), was: "600".to_owned() }),
        line(9.0, Event::SysctlRestored { name: "a.b".to_owned() }),
    ] {
        let text = serde_json::to_string(&line).unwrap();
        assert_eq!(serde_json::from_str::<Line>(&text).unwrap(), line, "{text}");
    }
}

#[test]
fn what_is_forgotten_is_not_pending() {
    let to: IpAddr = TO.parse().unwrap();
    let end = |at_s| line(at_s, Event::End { destination: to, after: None });
    let forgotten = line(30.0, Event::Forgotten { destination: to });
    let lines = [begin(10.0, None), end(15.0), begin(20.0, None), forgotten, begin(40.0, None)];
    let run = |begun_s, ended_s: Option<f64>| Run {
        begun_s,
        before: None,
        ended_s,
        has_taught: ended_s.map(|_| false),
    };
    assert_eq!(pending(&lines[..2])[&to], [run(10.0, Some(15.0))]);
    assert_eq!(pending(&lines[..3])[&to], [run(10.0, Some(15.0)), run(20.0, None)]);
    assert!(pending(&lines[..4]).is_empty());
    assert_eq!(pending(&lines)[&to], [run(40.0, None)], "cut off, and still to be looked at");
}

#[test]
fn when_an_exception_was_learnt_tells_whose_it_is() {
    let before = Some(Remembered { mtu_bytes: 1300, until_s: 1300.0 });
    // Probes from 1000 to 1010; what is learnt is remembered for 600 s.
    for (before, mtu, until_s, ended_s, is_ours, why) in [
        (None, 1300, 1605.0, Some(1010.0), true, "learnt meanwhile"),
        (None, 1300, 1595.0, Some(1010.0), false, "before they began"),
        (None, 1300, 1700.0, Some(1010.0), false, "after they ended"),
        (None, 1300, 1700.0, None, true, "they were cut off, and may have lasted"),
        (before, 1300, 1300.0, Some(1010.0), false, "it was there"),
        (before, 1300, 1605.0, Some(1010.0), true, "they have renewed it"),
        (before, 1200, 1605.0, Some(1010.0), true, "they have lowered it"),
    ] {
        let run = Run { begun_s: 1000.0, before, ended_s, has_taught: None };
        assert_eq!(run.is_of_time(mtu, until_s, 600.0), is_ours, "{why}");
    }
}

#[test]
fn a_line_that_was_cut_does_not_spoil_the_next() {
    let folder = std::env::temp_dir().join(format!("maxseg-learnt-{}", std::process::id()));
    let to = Event::Forgotten { destination: TO.parse().unwrap() };
    let mut log = TeachLog::open_in(&folder).unwrap();
    log.append(to.clone()).unwrap();
    let path = log.path().to_owned();
    let whole = std::fs::read(&path).unwrap();
    for cut in 0..whole.len() {
        std::fs::write(&path, &whole[..cut]).unwrap();
        let mut log = TeachLog::open_in(&folder).unwrap();
        log.append(to.clone()).unwrap();
        // A line that lacks nothing but its end is whole.
        let want = if cut + 1 == whole.len() { 2 } else { 1 };
        assert_eq!(log.lines().unwrap().len(), want, "cut at {cut}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
#[expect(clippy::print_stderr, reason = "what was not tested is said")]
fn a_log_of_somebody_else_is_none() {
    if !nix::unistd::Uid::effective().is_root() {
        eprintln!("skipped another user's file takes root to make");
        return;
    }
    let folder = std::env::temp_dir().join(format!("maxseg-others-{}", std::process::id()));
    let path = TeachLog::open_in(&folder).unwrap().path().to_owned();
    assert!(TeachLog::open_file(&path).is_ok());
    std::fs::hard_link(&path, folder.join("other name")).unwrap();
    assert!(TeachLog::open_file(&path).is_err(), "it may be a file of another purpose");
    std::fs::remove_file(folder.join("other name")).unwrap();
    std::os::unix::fs::chown(&path, Some(65_534), None).unwrap();
    assert!(TeachLog::open_file(&path).is_err() && TeachLog::open_in(&folder).is_err());
    std::fs::remove_dir_all(folder).unwrap();
}
