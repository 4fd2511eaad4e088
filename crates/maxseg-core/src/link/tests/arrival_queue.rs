//! A lane against a sorted list.

use std::rc::Rc;

use super::*;

/// What is done to a lane.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// A packet arrives so much later than the last one.
    Push(u64),
    /// A packet arrives then, before or behind others.
    Insert(u64),
    /// A packet arrives with the first, or so much before.
    PushFirst(u64),
    Pop,
    Take,
    PopDue(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..5_u64).prop_map(Step::Push),
        (0..5_u64).prop_map(Step::Push),
        (0..60_u64).prop_map(Step::Insert),
        (0..3_u64).prop_map(Step::PushFirst),
        Just(Step::Pop),
        Just(Step::Take),
        (0..60_u64).prop_map(Step::PopDue),
    ]
}

proptest! {
    /// Packets come off in the order of their times, and of two at one time in the order in which they
    /// were put on their way; and nothing is lost or kept for ever.
    #[test]
    fn a_lane_is_a_sorted_list(steps in prop::collection::vec(step(), 0..200)) {
        let owned = Rc::new(());
        let mut lane: ArrivalQueue<Option<(usize, Rc<()>)>> = ArrivalQueue::default();
        let mut list: Vec<(u64, usize)> = Vec::new();
        for (number, step) in steps.into_iter().enumerate() {
            let packet = || Some((number, Rc::clone(&owned)));
            let number_of = |packet: Option<(usize, Rc<()>)>| packet.map(|(number, _)| number);
            match step {
                Step::Push(later) => {
                    let at = list.last().map_or(0, |(at, _)| *at) + later;
                    lane.push(Time::from_nanos(at), packet());
                    list.push((at, number));
                }
                Step::Insert(at) => {
                    lane.insert(Time::from_nanos(at), packet());
                    list.insert(list.partition_point(|(other, _)| *other <= at), (at, number));
                }
                Step::PushFirst(before) => {
                    let at = list.first().map_or(before, |(at, _)| at.saturating_sub(before));
                    lane.push_first(Time::from_nanos(at), packet());
                    list.insert(0, (at, number));
                }
                Step::Pop => {
                    let first = (!list.is_empty()).then(|| list.remove(0));
                    let got = lane.pop().map(|(at, packet)| (at.as_nanos(), number_of(packet)));
                    prop_assert_eq!(got, first.map(|(at, number)| (at, Some(number))));
                }
                Step::Take => {
                    let first = (!list.is_empty()).then(|| list.remove(0).1);
                    // What it owns is taken out of it.
                    prop_assert_eq!(lane.take().and_then(|packet| number_of(packet.take())), first);
                }
                Step::PopDue(now) => {
                    let is_due = list.first().is_some_and(|(at, _)| *at <= now);
                    let first = is_due.then(|| list.remove(0).1);
                    let got = lane.pop_due(Time::from_nanos(now));
                    prop_assert_eq!(got.and_then(|(_, packet)| number_of(packet)), first);
                }
            }
            let next = list.first().map_or(Time::NEVER, |(at, _)| Time::from_nanos(*at));
            prop_assert_eq!(lane.next_arrival(), next);
            prop_assert_eq!((lane.len(), lane.is_empty()), (list.len(), list.is_empty()));
            let first = lane.first().and_then(Option::as_ref).map(|(number, _)| *number);
            prop_assert_eq!(first, list.first().map(|(_, number)| *number));
            prop_assert_eq!(Rc::strong_count(&owned), 1 + list.len());
        }
        drop(lane);
        prop_assert_eq!(Rc::strong_count(&owned), 1);
    }
}
