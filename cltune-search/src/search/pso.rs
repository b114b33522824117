//! Particle swarm optimisation on discrete values.

use super::continuous;
use super::generator::Generator;
use super::kind::StrategyKind;
use super::options::{Options, Requirement, StrategyOption};
use super::repair;
use super::strategy::{Score, Setting, Strategy};
use crate::space::Space;
use std::sync::Arc;

pub(super) const KIND: StrategyKind = StrategyKind {
    name: "pso",
    summary: "particle swarm optimisation as in CLTune",
    options: &[
        StrategyOption {
            key: "s",
            summary: "particles",
            default: Some(3.0),
            range: (1.0, 1000.0),
            whole: true,
        },
        probability("alpha", "probability of any value", 0.4),
        probability("beta", "of the particle's own best value", 0.0),
        probability("gamma", "of the swarm's best value", 0.4),
    ],
    learns: true,
    requirement: Some(Requirement {
        text: "alpha + beta + gamma <= 1",
        // Sums of decimal fractions are not exact: 0.3 + 0.6 + 0.1 is more than 1.
        holds: |options| {
            let keys = ["alpha", "beta", "gamma"];
            keys.map(|key| options.number(key)).iter().sum::<f64>() <= 1.0 + 1e-9
        },
    }),
    new: |setting, options| Box::new(Swarm::new(setting, options)),
};

const fn probability(key: &'static str, summary: &'static str, default: f64) -> StrategyOption {
    StrategyOption {
        key,
        summary,
        default: Some(default),
        range: (0.0, 1.0),
        whole: false,
    }
}

/// How often an invalid step is drawn again before it is repaired.
const MOST_DRAWS: usize = 100;

/// CLTune's variant of accelerated particle swarm optimisation (Nugteren and Codreanu, CLTune,
/// 2015, section III.D, equation 2): in a step of a particle, each parameter takes a random value,
/// that of a best position, or stays. Steps to invalid configurations are drawn again. The paper
/// sets alpha = 0.4, beta = 0, gamma = 0.4, and 3 or 6 particles (section IV). A continuous
/// parameter takes a value [around](continuous::towards) the swarm's best instead of that itself.
pub(super) struct Swarm {
    space: Arc<Space>,
    generator: Generator,
    /// How many particles there are, once each has a first position.
    size: usize,
    /// With which probability a parameter takes any value, the value of the particle's own best
    /// position, and the value of the swarm's.
    alpha: f64,
    beta: f64,
    gamma: f64,
    particles: Vec<Particle>,
    /// The particle that moves next.
    turn: usize,
    best: Option<(Vec<i64>, f64)>,
}

struct Particle {
    /// Where it is, or moves to while it waits for a result.
    position: Vec<i64>,
    best: Option<(Vec<i64>, f64)>,
    waits: bool,
}

impl Swarm {
    fn new(setting: &Setting, options: &Options) -> Self {
        Self {
            space: Arc::clone(&setting.space),
            generator: Generator::new(setting.seed),
            size: options.number("s") as usize,
            alpha: options.number("alpha"),
            beta: options.number("beta"),
            gamma: options.number("gamma"),
            particles: Vec::new(),
            turn: 0,
            best: None,
        }
    }

    /// A step as the paper has it, valid or not.
    fn draw(&mut self, particle: usize) -> Vec<i64> {
        let particle = &self.particles[particle];
        let mut position = particle.position.clone();
        for (parameter, code) in position.iter_mut().enumerate() {
            let at = |best: &Option<(Vec<i64>, f64)>| best.as_ref().map(|best| best.0[parameter]);
            let chance = self.generator.unit();
            let own = at(&particle.best).unwrap_or(*code);
            let new = if chance < self.alpha {
                repair::any_value(&self.space, parameter, &mut self.generator)
            } else if chance < self.alpha + self.beta {
                Some(own)
            } else if chance < self.alpha + self.beta + self.gamma {
                let generator = &mut self.generator;
                at(&self.best)
                    .map(|best| continuous::towards(&self.space, parameter, (own, best), generator))
            } else {
                None
            };
            *code = new.unwrap_or(*code);
        }
        position
    }

    fn step(&mut self, particle: usize) -> Vec<i64> {
        for _ in 0..MOST_DRAWS {
            let position = self.draw(particle);
            if self.space.contains(&position) {
                return position;
            }
        }
        let wish = self.draw(particle);
        let anchor = &self.particles[particle].position;
        repair::towards(&self.space, wish, anchor, &mut self.generator)
    }
}

impl Strategy for Swarm {
    fn propose(&mut self) -> Option<Vec<i64>> {
        if self.particles.len() < self.size {
            let position = self.space.sample(&mut self.generator)?;
            self.particles.push(Particle {
                position: position.clone(),
                best: None,
                waits: true,
            });
            return Some(position);
        }
        let free = (self.turn..self.turn + self.size)
            .map(|turn| turn % self.size)
            .find(|particle| !self.particles[*particle].waits)?;
        self.turn = free + 1;
        let position = self.step(free);
        self.particles[free].position.clone_from(&position);
        self.particles[free].waits = true;
        Some(position)
    }

    fn tell(&mut self, configuration: &[i64], score: Score) {
        let faster = |best: &Option<(Vec<i64>, f64)>, time: f64| {
            best.as_ref().is_none_or(|best| time < best.1)
        };
        let mut particles = self.particles.iter_mut();
        let particle = particles.find(|it| it.waits && it.position == configuration);
        if let Some(particle) = particle {
            particle.waits = false;
            if let Some(time) = score.time()
                && faster(&particle.best, time)
            {
                particle.best = Some((configuration.to_vec(), time));
            }
        }
        if let Some(time) = score.time()
            && faster(&self.best, time)
        {
            self.best = Some((configuration.to_vec(), time));
        }
    }
}
