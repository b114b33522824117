//! The default: the strategy that suits the space and the budget.

use super::bayes::Bayes;
use super::full::Full;
use super::kind::StrategyKind;
use super::strategy::{Setting, Strategy};

pub(super) const KIND: StrategyKind = StrategyKind {
    name: "auto",
    summary: "full where the budget covers the whole space, else bayes",
    options: &[],
    learns: true,
    requirement: None,
    new: |setting, _| choose(setting),
};

fn choose(setting: &Setting) -> Box<dyn Strategy> {
    let covers = |budget| setting.space.count() <= u128::from(budget);
    let continuous = setting.space.continuous().next().is_some();
    if !continuous && setting.budget.is_some_and(covers) {
        Box::new(Full::new(setting))
    } else {
        Box::new(Bayes::new(setting))
    }
}
