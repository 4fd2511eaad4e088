//! What a sweep shows, in a sentence: what stands on top of its page.

use std::collections::{BTreeMap, BTreeSet};

use maxseg_core::advise::ENOUGH_SEEDS;
use maxseg_core::compare::{Difference, Side};
use maxseg_core::engine::EngineName;
use maxseg_core::outcome::Outcome;
use maxseg_core::results::{Group, Row};
use maxseg_core::stats::Summary;

use super::Swept;
use super::axes::{distinct, identity, keys, value_used};
use super::figures::leading;
use super::marks::goodput_title;
use super::words;

/// Conditions that a sentence can name.
const MOST_CONDITIONS: usize = 6;
/// Choices as good as the best one that it can name.
const MOST_OTHERS: usize = 3;

/// The sentence; empty where no run that counts has a goodput.
pub(super) fn conclusion(groups: &[Group<'_>], swept: Swept<'_>) -> String {
    let counts = |group: &&Group<'_>| {
        !group.has_invalid() && !group.is_doubtful() && group.goodput().is_some()
    };
    let engines: BTreeSet<EngineName> = groups.iter().filter(counts).map(|g| g.engine).collect();
    let Some(engine) = leading(&engines) else { return String::new() };
    let known: Vec<&Group<'_>> =
        groups.iter().filter(counts).filter(|group| group.engine == engine).collect();
    let varied: Vec<&str> =
        keys(groups).into_iter().filter(|key| distinct(groups, key).len() > 1).collect();
    let (settings, conditions): (Vec<&str>, Vec<&str>) =
        varied.iter().partition(|key| words::is_setting(key));
    let of_engine: Vec<&Group<'_>> = groups.iter().filter(|group| group.engine == engine).collect();
    let left_out = of_engine.len() - known.len();
    let is_chance = swept.has_chance(engine) && known.iter().any(|group| group.rows.len() < 2);
    let parts = [
        Some(format!("by {engine}")),
        (left_out > 0).then(|| format!("{} not counted", words::counted(left_out as u64, "point"))),
        is_chance.then(|| "one seed: how much of it is chance is unknown".to_owned()),
    ];
    let of = parts.into_iter().flatten().collect::<Vec<_>>().join("; ");
    match (known.as_slice(), settings.as_slice()) {
        ([only], _) if varied.is_empty() => of_one(only),
        // A missing run may be better.
        _ if !swept.is_complete => String::new(),
        (_, []) => range(&known, &varied),
        (_, settings) => {
            best_of(&of_engine, counts, (settings, &conditions), (&of, &Chance::new(swept)))
        }
    }
}

/// `Goodput is 1.54 Mbit/s by sim; limited by congestion.`
fn of_one(group: &Group<'_>) -> String {
    let Some(goodput) = group.goodput() else { return String::new() };
    let title = words::capital(&goodput_title([group]));
    format!("{title} is {} by {}{}{}.", within(goodput), group.engine, limit(group), ping(group))
}

/// From the least to the most, where there are conditions only.
fn range(known: &[&Group<'_>], keys: &[&str]) -> String {
    let by_goodput = |a: &&&Group<'_>, b: &&&Group<'_>| mean(a).total_cmp(&mean(b));
    let ends = (known.iter().min_by(by_goodput), known.iter().max_by(by_goodput));
    let (Some(least), Some(most)) = ends else { return String::new() };
    let at = |group: &Group<'_>| {
        format!("{} at {}{}", words::rate(mean(group)), values(group, keys), limit(group))
    };
    format!(
        "{} by {} goes from {} to {} ({}).",
        words::capital(&goodput_title(known.iter().copied())),
        most.engine,
        at(least),
        at(most),
        titles(keys)
    )
}

/// `1460 × 6 segments is fastest: 22.2 kbit/s; limited by bandwidth (segment size in bytes × receive window, by sim).`
///
/// Of all groups of an engine those under a condition count where each of them does, and there are two: one that is left out may be
/// the fastest, and of one there is no choice.
fn best_of(
    all: &[&Group<'_>],
    counts: impl Fn(&&Group<'_>) -> bool,
    (settings, conditions): (&[&str], &[&str]),
    (of, chance): (&str, &Chance),
) -> String {
    let all_places = by_condition(all, conditions);
    let is_choice = |groups: &&Vec<&Group<'_>>| groups.len() > 1 && groups.iter().all(&counts);
    let places: Vec<Vec<&Group<'_>>> = all_places.iter().filter(is_choice).cloned().collect();
    let best: Vec<&Group<'_>> =
        places.iter().filter_map(|groups| fastest(groups, chance)).collect();
    let of = format!("{}, {of}", titles(settings));
    let is_everywhere = places.len() == all_places.len();
    match (best.as_slice(), places.as_slice()) {
        ([], _) => format!("Which choice has the highest goodput is unknown ({of})."),
        ([best], [groups]) if is_everywhere => {
            format!("{} ({of}).", of_best(best, groups, settings, chance))
        }
        (best, places) => match as_fast_everywhere(best, places, settings, chance) {
            Some(one) if is_everywhere => {
                format!("{one} under all {} conditions ({of}).", best.len())
            }
            Some(_) | None => format!("{} ({of}).", under_conditions(best, settings, conditions)),
        },
    }
}

/// The groups under each condition, in the order of the sweep.
fn by_condition<'g, 'a>(known: &[&'g Group<'a>], conditions: &[&str]) -> Vec<Vec<&'g Group<'a>>> {
    let mut places: Vec<Vec<&Group<'_>>> = Vec::new();
    let mut known_places: BTreeMap<String, usize> = BTreeMap::new();
    for &group in known {
        let condition = identity(group.point, conditions.iter().copied());
        let place = *known_places.entry(condition).or_insert(places.len());
        if place == places.len() {
            places.push(Vec::new());
        }
        places[place].push(group);
    }
    places
}

/// A choice that under each condition is the best one, or cannot be told from it, and which of both.
fn as_fast_everywhere(
    best: &[&Group<'_>],
    places: &[Vec<&Group<'_>>],
    settings: &[&str],
    chance: &Chance,
) -> Option<String> {
    let everywhere = |is_it: &dyn Fn(&Group<'_>, &Group<'_>) -> bool| {
        let choices = best.iter().zip(places).map(|(best, groups)| {
            let as_fast = groups.iter().filter(|group| is_it(best, group));
            as_fast.map(|group| values(group, settings)).collect::<BTreeSet<String>>()
        });
        let everywhere = choices.reduce(|everywhere, here| &everywhere & &here)?;
        best.iter().map(|group| values(group, settings)).find(|choice| everywhere.contains(choice))
    };
    if let Some(one) = everywhere(&is_equal) {
        return Some(format!("{one} is as fast as any"));
    }
    let one = everywhere(&|best, other| chance.allows(best, other))?;
    Some(format!("{one} is the fastest, or cannot be told from it by {} seeds,", seeds(best[0])))
}

/// The fastest of these; of those that cannot be told from it, the one with the shortest round trips under load, where these were
/// measured.
fn fastest<'g, 'a>(groups: &[&'g Group<'a>], chance: &Chance) -> Option<&'g Group<'a>> {
    let best = highest(groups)?;
    let ping = |group: &Group<'_>| Some(group.summary(|outcome| outcome.ping_mean_s)?.mean);
    let as_fast = groups.iter().copied().filter(|group| chance.allows(best, group));
    as_fast
        .filter(|group| ping(group).is_some())
        .min_by(|a, b| ping(a).unwrap_or_default().total_cmp(&ping(b).unwrap_or_default()))
        .or(Some(best))
}

/// The one with the highest mean.
fn highest<'g, 'a>(groups: &[&'g Group<'a>]) -> Option<&'g Group<'a>> {
    groups.iter().copied().reduce(|best, next| if mean(next) > mean(best) { next } else { best })
}

/// The best of these, which are as fast, and which its seeds cannot tell from it.
fn of_best(best: &Group<'_>, groups: &[&Group<'_>], settings: &[&str], chance: &Chance) -> String {
    let own = values(best, settings);
    let highest = highest(groups).unwrap_or(best);
    let others = |is_it: &dyn Fn(&Group<'_>) -> bool| -> Vec<String> {
        let others = groups.iter().filter(|other| is_it(other));
        others.map(|other| values(other, settings)).filter(|other| *other != own).collect()
    };
    let equal = others(&|other| is_equal(highest, other));
    let untold = others(&|other| chance.hides(highest, other));
    let named = |others: &[String]| {
        let few: Vec<&str> = others.iter().map(String::as_str).collect();
        let is_few = few.len() <= MOST_OTHERS;
        if is_few { words::listed(&few) } else { format!("{} others", few.len()) }
    };
    let equal = (!equal.is_empty()).then(|| format!("as fast: {}", named(&equal)));
    let noise = (!untold.is_empty())
        .then(|| format!("{} seeds cannot tell it from {}", seeds(highest), named(&untold)));
    let is = if noise.is_none() {
        "is fastest"
    } else if is_equal(highest, best) {
        "has the highest goodput"
    } else {
        "has the shortest ping of the fastest"
    };
    let notes: Vec<String> = equal.into_iter().chain(noise).collect();
    let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
    let goodput = best.goodput().map_or_else(String::new, within);
    format!("{own} {is}{notes}: {goodput}{}{}", limit(best), ping(best))
}

/// `The highest goodput has 1460 at 0% and 1%, 728 at 3%`
fn under_conditions(best: &[&Group<'_>], settings: &[&str], conditions: &[&str]) -> String {
    let count = best.len();
    if count > MOST_CONDITIONS {
        let chosen: BTreeSet<String> = best.iter().map(|group| values(group, settings)).collect();
        return format!(
            "Which choice has the highest goodput depends on {}: {} of them have under {count} conditions",
            titles(conditions),
            chosen.len()
        );
    }
    let mut parts: Vec<(String, Vec<String>)> = Vec::new();
    for group in best {
        let (setting, condition) = (values(group, settings), values(group, conditions));
        match parts.last_mut().filter(|(last, _)| *last == setting) {
            Some((_, places)) => places.push(condition),
            None => parts.push((setting, vec![condition])),
        }
    }
    let part = |(setting, places): &(String, Vec<String>)| {
        let places: Vec<&str> = places.iter().map(String::as_str).collect();
        format!("{setting} at {}", words::listed(&places))
    };
    let parts: Vec<String> = parts.iter().map(part).collect();
    format!("The highest goodput by {} has {}", titles(conditions), parts.join(", "))
}

fn mean(group: &Group<'_>) -> f64 {
    group.goodput().map_or(0.0, |goodput| goodput.mean)
}

/// Whether what is written of two goodputs is equal.
fn is_equal(a: &Group<'_>, b: &Group<'_>) -> bool {
    words::rate(mean(a)) == words::rate(mean(b))
}

/// What tells two goodputs from chance.
struct Chance {
    /// Whether anything is random, by experiment.
    at: BTreeMap<String, bool>,
    /// The same of an experiment that is none of the sweep's points.
    elsewhere: bool,
}

impl Chance {
    fn new(swept: Swept<'_>) -> Self {
        Self { at: swept.randomness(), elsewhere: swept.is_random }
    }

    fn is_random(&self, group: &Group<'_>) -> bool {
        let is_random = |row: &&Row| self.at.get(&row.hash).copied().unwrap_or(self.elsewhere);
        group.rows.iter().any(is_random)
    }

    /// Whether a goodput is above another by more than chance; `None` where the runs cannot tell.
    fn is_above(&self, best: &Group<'_>, other: &Group<'_>) -> Option<bool> {
        let [best, other] =
            [best, other].map(|group| Side { rows: &group.rows, is_random: self.is_random(group) });
        Difference::of([other, best], Outcome::headline_goodput_bps).is_higher()
    }

    /// Whether several seeds cannot tell a goodput from the best. That one cannot tell anything is said elsewhere.
    fn hides(&self, best: &Group<'_>, other: &Group<'_>) -> bool {
        let has_several = seeds(best).min(seeds(other)) > 1;
        has_several && !is_equal(best, other) && self.is_above(best, other) != Some(true)
    }

    /// Whether a goodput is as high as the best, or enough seeds show no difference.
    fn allows(&self, best: &Group<'_>, other: &Group<'_>) -> bool {
        let has_enough = seeds(best).min(seeds(other)) >= ENOUGH_SEEDS;
        is_equal(best, other) || (has_enough && self.is_above(best, other) == Some(false))
    }
}

fn seeds(group: &Group<'_>) -> usize {
    group.rows.len()
}

/// A goodput with its interval.
fn within(goodput: Summary) -> String {
    let mean = words::rate(goodput.mean);
    match goodput.ci95() {
        Some(half) if half > 0.0 => format!("{mean} ± {}", words::rate(half)),
        Some(_) | None => mean,
    }
}

/// What limited the flow that is asked about.
fn limit(group: &Group<'_>) -> String {
    group.limited_by().map_or_else(String::new, |limit| format!("; limited by {}", limit.word()))
}

/// The mean round trip under load, where it was measured.
fn ping(group: &Group<'_>) -> String {
    let ping = group.summary(|outcome| outcome.ping_mean_s);
    ping.map_or_else(String::new, |ping| format!("; mean ping {}", words::time(ping.mean)))
}

/// The values of some keys: `1460 × 6 segments`.
fn values(group: &Group<'_>, keys: &[&str]) -> String {
    let value = |key: &&str| Some(value_used([group], key, group.point.get(*key)?));
    keys.iter().filter_map(value).collect::<Vec<_>>().join(" × ")
}

/// What these keys are.
fn titles(keys: &[&str]) -> String {
    let title = |key: &&str| words::title(key).replace(" (bytes)", " in bytes");
    keys.iter().map(title).collect::<Vec<_>>().join(" × ")
}

#[cfg(test)]
mod tests;
