//! A sequence in whose middle elements are inserted one behind the other.

use std::collections::VecDeque;

/// A gap buffer: what is below the last insertion lies in one ring, what is above it in another, so an insertion moves the elements
/// between the last and itself. Retransmissions close gaps from the oldest on: those of one round trip together move each packet
/// once, where in a single ring each of them moves up to half of the packets.
#[derive(Debug)]
pub(super) struct GapBuffer<T> {
    below: VecDeque<T>,
    above: VecDeque<T>,
}

impl<T> Default for GapBuffer<T> {
    fn default() -> Self {
        Self { below: VecDeque::new(), above: VecDeque::new() }
    }
}

impl<T> GapBuffer<T> {
    pub(super) fn is_empty(&self) -> bool {
        self.below.is_empty() && self.above.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.below.len() + self.above.len()
    }

    pub(super) fn front(&self) -> Option<&T> {
        self.below.front().or_else(|| self.above.front())
    }

    pub(super) fn back(&self) -> Option<&T> {
        self.above.back().or_else(|| self.below.back())
    }

    pub(super) fn get(&self, index: usize) -> Option<&T> {
        match index.checked_sub(self.below.len()) {
            None => self.below.get(index),
            Some(index) => self.above.get(index),
        }
    }

    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        match index.checked_sub(self.below.len()) {
            None => self.below.get_mut(index),
            Some(index) => self.above.get_mut(index),
        }
    }

    /// As [`VecDeque::partition_point`].
    pub(super) fn partition_point(&self, mut is_before: impl FnMut(&T) -> bool) -> usize {
        if self.above.front().is_some_and(&mut is_before) {
            self.below.len() + self.above.partition_point(is_before)
        } else {
            self.below.partition_point(is_before)
        }
    }

    pub(super) fn push_back(&mut self, element: T) {
        self.above.push_back(element);
    }

    pub(super) fn pop_front(&mut self) -> Option<T> {
        self.below.pop_front().or_else(|| self.above.pop_front())
    }

    pub(super) fn pop_back(&mut self) -> Option<T> {
        self.above.pop_back().or_else(|| self.below.pop_back())
    }

    /// # Panics
    /// Beyond the end.
    pub(super) fn insert(&mut self, index: usize, element: T) {
        self.move_gap(index);
        self.below.push_back(element);
    }

    /// None where there is no such element.
    pub(super) fn remove(&mut self, index: usize) -> Option<T> {
        if index >= self.len() {
            return None;
        }
        self.move_gap(index);
        self.above.pop_front()
    }

    fn move_gap(&mut self, index: usize) {
        assert!(index <= self.len(), "index {index} of {}", self.len());
        if let Some(more) = index.checked_sub(self.below.len()) {
            self.below.extend(self.above.drain(..more));
        } else {
            self.below.drain(index..).rev().for_each(|element| self.above.push_front(element));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Clone, Copy)]
    enum Act {
        PushBack,
        PopFront,
        PopBack,
        Insert(usize),
        Remove(usize),
    }

    fn act() -> impl Strategy<Value = Act> {
        prop_oneof![
            3 => Just(Act::PushBack),
            1 => Just(Act::PopFront),
            1 => Just(Act::PopBack),
            3 => (0..100_usize).prop_map(Act::Insert),
            1 => (0..100_usize).prop_map(Act::Remove),
        ]
    }

    proptest! {
        #[test]
        fn it_is_one_sequence(acts in prop::collection::vec(act(), 0..200)) {
            let (mut buffer, mut plain) = (GapBuffer::default(), VecDeque::new());
            for (number, &act) in acts.iter().enumerate() {
                match act {
                    Act::PushBack => {
                        buffer.push_back(number);
                        plain.push_back(number);
                    }
                    Act::PopFront => prop_assert_eq!(buffer.pop_front(), plain.pop_front()),
                    Act::PopBack => prop_assert_eq!(buffer.pop_back(), plain.pop_back()),
                    Act::Insert(at) => {
                        let at = at % (plain.len() + 1);
                        buffer.insert(at, number);
                        plain.insert(at, number);
                    }
                    Act::Remove(at) => prop_assert_eq!(buffer.remove(at), plain.remove(at)),
                }
                prop_assert_eq!((buffer.len(), buffer.is_empty()), (plain.len(), plain.is_empty()));
                prop_assert_eq!((buffer.front(), buffer.back()), (plain.front(), plain.back()));
                for index in 0..=plain.len() {
                    prop_assert_eq!(buffer.get(index), plain.get(index));
                    prop_assert_eq!(buffer.get_mut(index), plain.get_mut(index));
                }
            }
        }

        #[test]
        fn a_place_is_found_on_both_sides_of_the_gap(
            elements in prop::collection::btree_set(0..1000_u32, 0..50),
            gap in 0..50_usize,
            least in 0..1000_u32,
        ) {
            let plain = VecDeque::from_iter(elements);
            let mut buffer = GapBuffer { below: VecDeque::new(), above: plain.clone() };
            buffer.move_gap(gap.min(plain.len()));
            let is_before = |element: &u32| *element < least;
            prop_assert_eq!(buffer.partition_point(is_before), plain.partition_point(is_before));
        }
    }
}
