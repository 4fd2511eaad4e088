//! Files of a ring that their names show to be missing.
//!
//! Where no connection goes on over a seam, nothing in the packets tells that a file is missing between two others. The
//! programs that write rings count the files:
//!
//! ```text
//! dumpcap -b        slow_00007_20261201093000.pcapng
//! maxseg, tcpdump   slow_07.pcapng, slow.pcap7
//! ```

/// What a name says of its place: what it has in common with others of the ring, and its number.
fn place(name: &str) -> Option<(&str, u64)> {
    let name = name.rsplit('/').next()?;
    // tcpdump -C: the number ends the name.
    let stem = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    if stem.len() < name.len() && stem.ends_with("cap") {
        return Some((stem, name[stem.len()..].parse().ok()?));
    }
    // The number stands between `_` and the time, or what ends the name.
    let stem = name.split('.').next()?;
    let (before, last) = stem.rsplit_once('_')?;
    let (before, number) =
        if is_number(last, DATE_AND_TIME) { before.rsplit_once('_')? } else { (before, last) };
    COUNTED.iter().any(|digits| is_number(number, *digits)).then_some(())?;
    Some((before, number.parse().ok()?))
}

/// Digits of a file's number: four are a time of day or a year. And of the date and time behind it, as dumpcap writes them.
const COUNTED: [usize; 4] = [1, 2, 3, 5];
const DATE_AND_TIME: usize = 14;

fn is_number(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|letter| letter.is_ascii_digit())
}

/// Between which files others are missing by their names, as pairs of the names; `names` in the order of their packets. `given` are all
/// that were given, those without a packet among them.
pub(super) fn missing<'a>(names: &[&'a str], given: &[String]) -> Vec<(&'a str, &'a str)> {
    let is_given =
        |ring: &str, number: u64| given.iter().any(|name| place(name) == Some((ring, number)));
    let pairs = names.windows(2).filter_map(|pair| {
        let [one, next] = pair else { return None };
        let ((ring, number), (other, then)) = (place(one)?, place(next)?);
        let is_missing = ring == other && number + 1 < then && !is_given(ring, number + 1);
        is_missing.then_some((*one, *next))
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found<const N: usize>(names: [&str; N], without_packets: &[&str]) -> usize {
        let given = names.iter().chain(without_packets).map(|name| (*name).to_owned());
        missing(&names, &given.collect::<Vec<_>>()).len()
    }

    #[test]
    fn a_number_that_is_left_out_is_a_file_that_is_missing() {
        let dumpcap = ["r/a_00001_20261201093000.pcapng", "r/a_00003_20261201093200.pcapng"];
        assert_eq!(found(dumpcap, &[]), 1);
        assert_eq!(found(dumpcap, &["a_00002_20261201093100.pcapng"]), 0, "it has no packet");
        assert_eq!(found(["a_00001.pcap.gz", "a_00002.pcap.gz", "a_00004.pcap.gz"], &[]), 1);
        assert_eq!(found(["a_09.pcapng", "a_12.pcapng"], &[]), 1);
        assert_eq!(found(["a.pcap", "a.pcap1", "a.pcap2", "a.pcap5"], &[]), 1);
        assert_eq!(
            found(["a.pcap8", "a.pcap9", "a.pcap0", "a.pcap1"], &[]),
            0,
            "a ring goes round"
        );
        assert_eq!(found(["a_00001.pcap", "b_00003.pcap"], &[]), 0, "two rings");
        assert_eq!(found(["a_1200.pcap", "a_1300.pcap"], &[]), 0, "times of day");
    }
}
