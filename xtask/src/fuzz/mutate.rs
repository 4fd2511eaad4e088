//! Inputs made of a corpus by small damage: the same ones for the same seed, everywhere.

use maxseg_core::rng::{Rng, Stream};

/// Longest input; enough for every header, and for a few records of every kind.
const MOST: usize = 1 << 14;
/// Numbers at which lengths and counts go wrong.
const INTERESTING: [u32; 16] = [
    0,
    1,
    4,
    7,
    8,
    12,
    20,
    40,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0xffff,
    0x00ff_ffff,
    0x7fff_ffff,
    0xffff_ffff,
];

/// Makes inputs without end.
pub struct Mutator<'a> {
    rng: Rng,
    corpus: &'a [Vec<u8>],
}

impl<'a> Mutator<'a> {
    /// The inputs that this `seed` makes of a corpus for the target of this name.
    pub fn new(seed: u64, target: &str, corpus: &'a [Vec<u8>]) -> Self {
        Self { rng: Stream::named(seed, &format!("fuzz.{target}")).reader(), corpus }
    }

    /// One of the corpus, with one to eight mutations.
    pub fn next_input(&mut self) -> Vec<u8> {
        let mut input = self.of_corpus().to_vec();
        for _ in 0..=self.below(8) {
            self.mutate(&mut input);
        }
        input.truncate(MOST);
        input
    }

    fn mutate(&mut self, input: &mut Vec<u8>) {
        match self.below(8) {
            0 => self.flip_bit(input),
            1 => self.set_byte(input),
            2 | 3 => self.set_number(input),
            4 => self.add_to_byte(input),
            5 => self.copy_within(input),
            6 => self.splice(input),
            _ => self.cut(input),
        }
    }

    fn flip_bit(&mut self, input: &mut [u8]) {
        let bit = 1 << self.below(8);
        if let Some(byte) = self.byte(input) {
            *byte ^= bit;
        }
    }

    fn set_byte(&mut self, input: &mut [u8]) {
        let [value, ..] = self.rng.next_u64().to_le_bytes();
        if let Some(byte) = self.byte(input) {
            *byte = value;
        }
    }

    fn add_to_byte(&mut self, input: &mut [u8]) {
        let step = [1, 0xff, 4, 0xfc][self.below(4)];
        if let Some(byte) = self.byte(input) {
            *byte = byte.wrapping_add(step);
        }
    }

    /// An interesting number of one, two or four bytes, in either order.
    fn set_number(&mut self, input: &mut [u8]) {
        let number = INTERESTING[self.below(INTERESTING.len())];
        let width = [1, 2, 4][self.below(3)];
        let bytes = if self.below(2) == 0 {
            number.to_le_bytes()
        } else {
            number.rotate_left(8 * (4 - width)).to_be_bytes()
        };
        let begin = self.below(input.len().max(1));
        for (place, byte) in input.iter_mut().skip(begin).zip(bytes).take(width as usize) {
            *place = byte;
        }
    }

    /// A part stands twice: headers repeat themselves.
    fn copy_within(&mut self, input: &mut Vec<u8>) {
        let (begin, end) = self.range(input.len());
        let part = input[begin..end].to_vec();
        let at = self.below(input.len() + 1);
        input.splice(at..at, part);
    }

    /// From some place on, another of the corpus goes on.
    fn splice(&mut self, input: &mut Vec<u8>) {
        let other = self.of_corpus();
        let (begin, end) = self.range(other.len());
        let keep = self.below(input.len() + 1);
        input.truncate(keep);
        input.extend_from_slice(&other[begin..end]);
    }

    fn cut(&mut self, input: &mut Vec<u8>) {
        if self.below(2) == 0 {
            let keep = self.below(input.len() + 1);
            input.truncate(keep);
        } else {
            let (begin, end) = self.range(input.len());
            input.drain(begin..end);
        }
    }

    fn of_corpus(&mut self) -> &'a [u8] {
        let corpus = self.corpus;
        let which = self.below(corpus.len().max(1));
        corpus.get(which).map_or(&[], Vec::as_slice)
    }

    fn byte<'b>(&mut self, input: &'b mut [u8]) -> Option<&'b mut u8> {
        let at = self.below(input.len().max(1));
        input.get_mut(at)
    }

    /// A part of so many bytes: at most 64 of them.
    fn range(&mut self, len: usize) -> (usize, usize) {
        let begin = self.below(len + 1);
        let end = begin + self.below((len - begin).min(64) + 1);
        (begin, end)
    }

    /// A number below `n`, which is above 0.
    fn below(&mut self, n: usize) -> usize {
        let n = n as u64;
        usize::try_from(self.rng.next_u64() % n).unwrap_or(0)
    }
}

/// A name for an input: FNV-1a.
pub(super) fn digest(input: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    input.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_makes_the_same_inputs() {
        let corpus = [b"one input".to_vec(), b"and another".to_vec()];
        let inputs = |seed| {
            let mut mutator = Mutator::new(seed, "test", &corpus);
            (0..1000).map(|_| mutator.next_input()).collect::<Vec<_>>()
        };
        assert_eq!(inputs(1), inputs(1));
        assert_ne!(inputs(1), inputs(2));
        let distinct: std::collections::BTreeSet<_> = inputs(1).into_iter().collect();
        // Of so few bytes some mutations make the same, and a cut leaves nothing now and then.
        assert!(distinct.len() > 500, "{} distinct inputs", distinct.len());
    }

    #[test]
    fn an_empty_corpus_is_no_obstacle() {
        let mut mutator = Mutator::new(1, "test", &[]);
        assert!((0..1000).all(|_| mutator.next_input().is_empty()));
    }
}
