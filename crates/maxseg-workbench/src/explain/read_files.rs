//! Reads several captures: files that follow each other, or two of the same connections.

use std::collections::HashSet;
use std::path::Path;

use maxseg_wire::capture_file::OpenError;
use maxseg_wire::joined::JoinError;
use maxseg_wire::reading::{self, Beginning, ReadOptions, ReadingError};

use super::capture::LARGE;
use super::inputs::Inputs;
use super::{Capture, read_file, read_pair};
use crate::environment::cores;
use crate::error::Error;

/// Reads the captures in several files, given in any order; `-` is standard input. Three and more are those of one capture that follow
/// each other, as a ring or a rotation leaves them. Two are that as well where the times of one follow those of the other and each has
/// packets of its own, or where all packets of the time that both have are the same; else they are of the same connections at two places, whose packets are matched.
///
/// Of files that follow each other one is open at a time. Those without a packet are left out.
///
/// # Errors
/// A file cannot be opened or is no capture; two of them hold the same time and not the same packets; two share no connection; or there is
/// no such interface.
pub fn read_files(
    files: &[String],
    options: &ReadOptions<'_>,
    jobs: Option<usize>,
) -> Result<Capture<'static>, Error> {
    let mut inputs = Inputs::of(files)?;
    let begins = files.iter().enumerate().map(|(place, name)| {
        inputs.open(place).map_err(OpenError::Io).and_then(Beginning::of).map_err(reading(name))
    });
    let begins = begins.collect::<Result<Vec<_>, _>>()?;
    let has_packets = |place: &usize| begins[*place] != Beginning::NoPacket;
    let mut order: Vec<usize> = (0..files.len()).filter(has_packets).collect();
    order.sort_by_key(|place| begins[*place]);
    let Some(&first) = order.first() else {
        // What is wrong with one without packets is told where it is read alone.
        return read_file(Path::new(&files[0]), options, Some(1));
    };
    if let ([one, other], [_, second]) = (files, order.as_slice()) {
        let earlier = inputs.open(first).map_err(OpenError::Io);
        let do_follow = earlier.and_then(|input| begins[*second].follows(input));
        let do_follow = do_follow.map_err(reading(&files[first]))?;
        // One of two that began and ended at other times, and hold the same packets meanwhile.
        let is_other = begins[first] != begins[*second];
        match read_pair([one, other], &mut inputs, do_follow, options) {
            Err(Error::Join { source: JoinError::NothingShared, .. }) if do_follow => {}
            Err(Error::Join { source: JoinError::SameCapture, .. }) if is_other => {}
            joined => return joined,
        }
    }
    read_series(files, &order, &mut inputs, options, jobs)
}

/// Reads files in this order as one capture.
fn read_series(
    files: &[String],
    order: &[usize],
    inputs: &mut Inputs<'_>,
    options: &ReadOptions<'_>,
    jobs: Option<usize>,
) -> Result<Capture<'static>, Error> {
    let names: Vec<String> = order.iter().map(|place| files[*place].clone()).collect();
    let jobs = if inputs.size() >= LARGE { jobs.unwrap_or_else(cores) } else { 1 };
    let mut open = |place: usize| inputs.open(order[place]);
    let mut read = |threads| reading::read_series(&names, &mut open, options, threads);
    let name = series_name(&names);
    let fail = |source| Error::Reading { name: names[0].clone(), source };
    let mut capture = match read(jobs - 1).map_err(fail)? {
        Some(reading) => Capture::new(&name, reading),
        // More connections than are followed: one thread knows which came first.
        None => match read(0).map_err(fail)? {
            Some(reading) => Capture::new(&name, reading),
            None => return read_file(Path::new(&names[0]), options, Some(1)),
        },
    };
    let has_packets: HashSet<usize> = order.iter().copied().collect();
    let others = (0..files.len()).filter(|place| !has_packets.contains(place));
    capture.without_packets = others.map(|place| files[place].clone()).collect();
    Ok(capture)
}

/// What several files are called together.
fn series_name(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first, last] => format!("{first} and {last}"),
        [first, .., last] => format!("{first} to {last} ({} files)", names.len()),
    }
}

fn reading(name: &str) -> impl FnOnce(OpenError) -> Error {
    let name = name.to_owned();
    move |error| match error.of_system() {
        Ok(error) => Error::file("read", Path::new(&name), error),
        Err(error) => Error::Reading { name, source: ReadingError::Open(error) },
    }
}
