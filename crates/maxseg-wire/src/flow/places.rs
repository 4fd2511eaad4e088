//! Where the present connection between two ends is.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::key::{FlowKey, V4Key};
use super::part::Place;

/// The places of connections by both ends. Those of IPv4 have keys of their own: a third of the memory.
#[derive(Debug, Default)]
pub(super) struct Places {
    v4: HashMap<V4Key, Place, RandomState>,
    others: HashMap<FlowKey, Place, RandomState>,
}

impl Places {
    pub(super) fn get(&self, key: &FlowKey) -> Option<Place> {
        match key.v4() {
            Some(v4) => self.v4.get(&v4),
            None => self.others.get(key),
        }
        .copied()
    }

    pub(super) fn insert(&mut self, key: FlowKey, place: Place) {
        match key.v4() {
            Some(v4) => self.v4.insert(v4, place),
            None => self.others.insert(key, place),
        };
    }

    pub(super) fn remove(&mut self, key: &FlowKey) {
        match key.v4() {
            Some(v4) => self.v4.remove(&v4),
            None => self.others.remove(key),
        };
    }
}

const _: () = assert!(size_of::<(V4Key, Place)>() == 16, "a million of them take 32 MB");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_has_its_place_whatever_its_family() {
        let ends = ["10.0.0.1:80", "10.0.0.2:80", "[2001:db8::a00:1]:80", "[::ffff:10.0.0.1]:80"];
        let [a, b, c, mapped] = ends.map(|end| end.parse().unwrap());
        let of = |there, back| FlowKey::of(there, back).0;
        let mut places = Places::default();
        let keys = [of(a, b), of(c, b), of(c, c)];
        for (number, key) in keys.into_iter().enumerate() {
            places.insert(key, Place::new(1, number).unwrap());
        }
        for (number, key) in keys.iter().enumerate() {
            assert_eq!(places.get(key).map(Place::number), Some(number));
        }
        assert_eq!(places.get(&of(b, mapped)), places.get(&of(a, b)), "the same however written");
        for key in &keys {
            places.remove(key);
            assert_eq!(places.get(key), None);
        }
    }
}
