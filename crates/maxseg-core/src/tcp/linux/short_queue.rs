//! A queue that is nearly always empty, or holds one.

use std::collections::VecDeque;

/// A FIFO queue whose first element lies apart: most are taken before the next comes, and so go through no ring.
#[derive(Debug)]
pub(super) struct ShortQueue<T> {
    first: Option<T>,
    /// Empty where there is no first.
    others: VecDeque<T>,
}

impl<T> Default for ShortQueue<T> {
    fn default() -> Self {
        Self { first: None, others: VecDeque::new() }
    }
}

impl<T> ShortQueue<T> {
    #[inline]
    pub(super) fn push(&mut self, element: T) {
        if self.first.is_none() {
            self.first = Some(element);
        } else {
            self.others.push_back(element);
        }
    }

    #[inline]
    pub(super) fn first(&self) -> Option<&T> {
        self.first.as_ref()
    }

    #[inline]
    pub(super) fn last_mut(&mut self) -> Option<&mut T> {
        self.others.back_mut().or(self.first.as_mut())
    }

    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<T> {
        let first = self.first.take()?;
        if !self.others.is_empty() {
            self.first = self.others.pop_front();
        }
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_first_goes_first() {
        let mut queue = ShortQueue::default();
        assert_eq!(queue.pop(), None);
        (1..=3).for_each(|element| queue.push(element));
        assert_eq!(queue.first(), Some(&1));
        assert_eq!(queue.last_mut(), Some(&mut 3));
        assert_eq!((queue.pop(), queue.pop()), (Some(1), Some(2)));
        assert_eq!(queue.first(), Some(&3));
        assert_eq!(queue.last_mut(), Some(&mut 3));
        queue.push(4);
        assert_eq!((queue.pop(), queue.pop(), queue.pop()), (Some(3), Some(4), None));
    }
}
