//! Which numbers were seen.

/// Which numbers were seen, of numbers that are given out in order: a bit each.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    words: Vec<u64>,
}

/// A number so far beyond all others is none that was given out, and is not noted.
const FARTHEST: usize = 1 << 24;

impl Seen {
    /// Notes a number; gives whether it is new.
    pub fn insert(&mut self, number: u64) -> bool {
        let bit = 1 << (number % 64);
        let Ok(word) = usize::try_from(number / 64) else { return true };
        if word >= self.words.len() {
            if word - self.words.len() > FARTHEST {
                return true;
            }
            self.words.resize(word + 1, 0);
        }
        let is_new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_new_once_in_whatever_order() {
        let mut seen = Seen::default();
        let new = [5, 0, 64, 5, 63, 64, 1_000, 0].map(|number| seen.insert(number));
        assert_eq!(new, [true, true, true, false, true, false, true, false]);
        assert!(seen.insert(u64::MAX) && seen.words.len() < 20);
    }
}
