//! The default: the strategy that suits the space and the budget.

use super::full::Full;
use super::random::Random;
use super::registry::Entry;
use super::strategy::{Setting, Strategy};

pub(super) const ENTRY: Entry = Entry {
    name: "auto",
    summary: "full where the budget covers the whole space, else random",
    new: choose,
};

fn choose(setting: &Setting) -> Box<dyn Strategy> {
    let covered = setting
        .budget
        .is_some_and(|budget| setting.space.count() <= u128::from(budget));
    if covered {
        Box::new(Full::new(setting))
    } else {
        // Also without a budget: what ends such a search (a time, a person) may end it early, and
        // a random sample of the space says more then than its first corner.
        Box::new(Random::new(setting))
    }
}
