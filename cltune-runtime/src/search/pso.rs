//! Particle swarm optimisation on discrete values.

use super::generator::Generator;
use super::registry::Entry;
use super::repair;
use super::strategy::{Score, Setting, Strategy};
use cltune_core::space::Space;
use std::sync::Arc;

pub(super) const ENTRY: Entry = Entry {
    name: "pso",
    summary: "particle swarm optimisation as in CLTune, with 3 particles",
    new: |setting| Box::new(Swarm::new(setting)),
};

/// The number of particles; the paper also tries 6.
const PARTICLES: usize = 3;

/// The probability that a parameter takes any value.
const ALPHA: f64 = 0.4;

/// The probability that it takes the value of the particle's own best position.
const BETA: f64 = 0.0;

/// The probability that it takes the value of the swarm's best position.
const GAMMA: f64 = 0.4;

/// How often an invalid step is drawn again before it is repaired.
const MOST_DRAWS: usize = 100;

/// CLTune's variant of accelerated particle swarm optimisation (Nugteren and Codreanu, CLTune,
/// 2015, section III.D, parameters of section IV): in a step of a particle, each parameter takes a
/// random value, that of a best position, or stays. Steps to invalid configurations are drawn
/// again.
pub(super) struct Swarm {
    space: Arc<Space>,
    generator: Generator,
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
    fn new(setting: &Setting) -> Self {
        Self {
            space: Arc::clone(&setting.space),
            generator: Generator::new(setting.seed),
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
            let new = if chance < ALPHA {
                repair::any_value(&self.space, parameter, &mut self.generator)
            } else if chance < ALPHA + BETA {
                at(&particle.best)
            } else if chance < ALPHA + BETA + GAMMA {
                at(&self.best)
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
        if self.particles.len() < PARTICLES {
            let position = self.space.sample(&mut self.generator)?;
            self.particles.push(Particle {
                position: position.clone(),
                best: None,
                waits: true,
            });
            return Some(position);
        }
        let free = (self.turn..self.turn + PARTICLES)
            .map(|turn| turn % PARTICLES)
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
