//! "Did you mean …": the known word nearest to a mistyped one.

/// No word of this program is longer, in bytes: a longer one is no slip of the keyboard, and the distance takes
/// time in proportion to its length.
const LONGEST: usize = 64;

/// The candidate nearest to `word`, if one is near enough to be what was meant.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONGEST {
        return None;
    }
    let distance = |candidate: &str| strsim::damerau_levenshtein(word, candidate);
    let tolerated = (word.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .filter(|candidate| distance(candidate) <= tolerated)
        .min_by_key(|candidate| distance(candidate))
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn suggests_what_is_near_and_nothing_else() {
        let known = ["rate", "delay", "queue", "errors"];
        assert_eq!(closest("ratee", known), Some("rate"));
        assert_eq!(closest("dealy", known), Some("delay"));
        assert_eq!(closest("mms", ["stack", "mss"]), Some("mss"));
        assert_eq!(closest("colour", known), None);
    }
}
