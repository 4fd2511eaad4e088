//! Links that lose large packets alone.

use super::*;

/// A link that loses most of what is larger than 1000 bytes: no share of it is a smaller MTU.
#[test]
fn losses_of_large_packets_are_no_smaller_mtu() {
    let mut numbers = Numbers(11);
    let (mut wrong, mut unknown) = (Vec::new(), 0);
    for (share, mtu) in [(0.1, 1500), (0.3, 1500), (0.5, 1500), (0.7, 1500)] {
        for seed in 0..300 {
            let sizes_of_a_round = if seed % 2 == 0 { 3 } else { 10 };
            let mut search = Search::new(IpVersion::V4, 64, 1500, sizes_of_a_round);
            search.on_loss(LossEstimate { sent: 20, lost: 0 });
            for _ in 0..60 {
                let sizes = search.next_round();
                let mut fate = |size: &u32| {
                    let is_lost = *size > mtu || *size > 1000 && numbers.chance() < share;
                    (*size, if is_lost { ProbeFate::NoAnswer } else { ProbeFate::Arrived })
                };
                let fates: Vec<_> = sizes.iter().map(&mut fate).collect();
                search.on_round(&fates);
            }
            match search.settled() {
                Some(found) if found.mtu == mtu => {}
                Some(found) => wrong.push((share, seed, found)),
                None => unknown += 1,
            }
        }
    }
    assert!(wrong.len() <= 1, "{wrong:?}");
    assert!(unknown <= 15, "{unknown} unknown");
}
