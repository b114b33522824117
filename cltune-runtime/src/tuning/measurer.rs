//! A measurer: it prepares a kernel once, and then measures many configurations.

use super::arguments::{Arguments, Damage, FurtherDraws, Setting};
use super::buffers::Round;
use super::build::{BuildTarget, BuiltConfiguration, launch_failed};
use super::compiler::Binary;
use super::computation::ReferenceLaunch;
use super::displace::Displacer;
use super::energy::{Energy, EnergyError, Meter, Metering};
use super::inputs::InputMaker;
use super::options::{MeasureOptions, Step};
use super::outcome::{Measurement, Outcome, StageTime, WrongResult};
use super::part::Part;
use super::prepare_error::PrepareError;
use super::timing::{Repeats, median};
use crate::context::Context;
use crate::device::Device;
use crate::enqueued::Enqueued;
use crate::error::{Error, Result};
use crate::kernel::PreparedCommands;
use crate::queue::Queue;
use cltune_core::device::DeviceType;
use cltune_core::expr::Env;
use cltune_core::measure::{Caches, Measure};
use cltune_core::model::Geometry;
use cltune_core::select::default_codes;
use cltune_formats::declaration::{Declaration, Reference};
use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Instant;

/// A kernel, a problem and a device, ready to measure configurations.
#[derive(Debug)]
pub struct Measurer {
    // Buffers, programs and the queue are released before the context.
    /// Configurations that were loaded and not yet measured, or verified and may be compared.
    loaded: HashMap<Vec<i64>, BuiltConfiguration>,
    pub(super) arguments: Arguments,
    /// What displaces the content of caches before each timed launch, where those are to be cold.
    pub(super) displacer: Option<Displacer>,
    /// What measures energy, where that is asked for.
    pub(super) metering: Option<Metering>,
    /// What makes inputs from others.
    pub(super) inputs: Option<InputMaker>,
    /// The reference, once it has been computed.
    pub(super) reference: Option<ReferenceLaunch>,
    /// Draws of inputs of other kinds.
    pub(super) further: FurtherDraws,
    pub(super) queue: Queue,
    pub(super) context: Context,
    pub(super) declaration: Declaration,
    pub(super) dims: Vec<i64>,
    pub(super) default: Vec<i64>,
    pub(super) options: MeasureOptions,
    /// The number of configurations that were verified; it chooses the draw.
    verified: usize,
    /// The parts of the call that was launched last, of a group of launches.
    stages: RefCell<Vec<StageTime>>,
    /// Memory of the tuner's own that was found changed: nothing can be judged any more.
    pub(super) spoilt: RefCell<Option<WrongResult>>,
}

impl Measurer {
    /// Allocates and fills the arguments, compares the declaration with the kernel's signature,
    /// and computes the reference's results.
    ///
    /// # Errors
    /// [`PrepareError`]: nothing can be measured.
    pub fn new(
        device: &Device,
        declaration: &Declaration,
        dims: &[i64],
        options: &MeasureOptions,
    ) -> Result<Self, PrepareError> {
        Self::within(&Context::new(device)?, declaration, dims, options)
    }

    /// The same in a context that is there already.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn within(
        context: &Context,
        declaration: &Declaration,
        dims: &[i64],
        options: &MeasureOptions,
    ) -> Result<Self, PrepareError> {
        let measurer = Self::between_pages(context, declaration, dims, options, options.protect)?;
        if measurer.arguments.is_protected_in_vain() {
            drop(measurer);
            return Self::between_pages(context, declaration, dims, options, false);
        }
        Ok(measurer)
    }

    /// The same, with buffers between forbidden pages or without.
    fn between_pages(
        context: &Context,
        declaration: &Declaration,
        dims: &[i64],
        options: &MeasureOptions,
        protect: bool,
    ) -> Result<Self, PrepareError> {
        let limits = &context.device().info().limits;
        let default =
            default_codes(&declaration.model, dims, limits).ok_or(PrepareError::NoConfiguration)?;
        let context = context.clone();
        let queue = Queue::with_profiling(&context)?;
        let arguments = Arguments::new(&Setting {
            context: &context,
            queue: &queue,
            declaration,
            codes: &default,
            dims,
            folder: &options.folder,
            draws: options.draws(declaration),
            seed: options.seed,
            guards: options.guards,
            protect,
            on_step: options.on_step,
            compare_on_device: options.compare_on_device,
        })?;
        let mut measurer = Self {
            arguments,
            displacer: None,
            metering: None,
            inputs: None,
            reference: None,
            further: FurtherDraws::of(declaration, options),
            queue,
            context,
            declaration: declaration.clone(),
            dims: dims.to_vec(),
            default,
            options: options.clone(),
            verified: 0,
            stages: RefCell::default(),
            spoilt: RefCell::default(),
            loaded: HashMap::new(),
        };
        measurer.run_reference()?;
        match measurer.arguments.damage(&measurer.queue, true)? {
            None => {
                // Last: a kernel that cannot be measured at all says so first.
                let is_cold = declaration.measure.caches == Caches::Cold;
                if is_cold {
                    measurer.displacer = Some(Displacer::new(&measurer.queue)?);
                }
                if let Some(period) = options.metering {
                    if is_cold {
                        return Err(EnergyError::ColdCaches.into());
                    }
                    let meter = Meter::of(measurer.context.device())?;
                    measurer.metering = Some(Metering { meter, period });
                }
                Ok(measurer)
            }
            Some(Damage::Beside(wrong) | Damage::Kept(wrong)) => {
                Err(PrepareError::ReferenceWrong(Box::new(wrong)))
            }
        }
    }

    /// The default configuration: the declared one where it is valid here, else the first valid.
    pub fn default_codes(&self) -> &[i64] {
        &self.default
    }

    /// Builds a configuration that will be measured, while nothing is timed. Measuring says what is
    /// wrong with it, if anything. At most 64 are kept.
    pub fn load(&mut self, codes: &[i64], binary: Option<&Binary>) {
        let binary = binary.map(|binary| binary.0.as_slice());
        if self.loaded.len() < MOST_LOADED
            && let Ok(built) = self.target().build(codes, binary)
        {
            self.loaded.insert(codes.to_vec(), built);
        }
    }

    /// Builds, unless it is loaded, runs, verifies and times a configuration, and looks at memory
    /// that it must not touch. `best_us` is the best time so far: configurations clearly slower are
    /// timed once. `binary` is what a [`Compiler`] made of the configuration; where the driver does
    /// not accept it, the source is built.
    ///
    /// [`Compiler`]: super::Compiler
    pub fn measure(
        &mut self,
        codes: &[i64],
        best_us: Option<f64>,
        binary: Option<&Binary>,
    ) -> Outcome {
        if let Err(unjudged) = self.is_able_to_judge() {
            return unjudged;
        }
        let built = match self.take_built(codes, binary) {
            Ok(built) => built,
            Err(outcome) => return outcome,
        };
        let outcome = match self.measure_built(&built, best_us) {
            Ok((samples_us, energy)) => {
                let conversion_us = self.arguments.conversion_us(&built.commands);
                self.with_parts(built.timed(samples_us), conversion_us, energy)
            }
            Err(outcome) => self.of_configuration(codes, outcome),
        };
        // Where it is in sight, it was looked at after the last configuration, too.
        self.judged(outcome, self.arguments.is_kept_in_sight())
    }

    /// An outcome with the parts of the call that was timed last, with the time that converting its
    /// buffers to images took, and with its energy.
    fn with_parts(
        &self,
        outcome: Outcome,
        conversion_us: Option<f64>,
        energy: Option<Energy>,
    ) -> Outcome {
        match outcome {
            Outcome::Ok(measurement) => Outcome::Ok(Measurement {
                stages: self.stages.take(),
                conversion_us,
                energy: energy.map(Box::new),
                ..measurement
            }),
            failed => failed,
        }
    }

    /// The time that the device worked on the group of launches that was launched last, without the
    /// gaps, microseconds; `None` for a single launch.
    pub(super) fn busy_us(&self) -> Option<f64> {
        let stages = self.stages.borrow();
        (!stages.is_empty()).then(|| stages.iter().map(|stage| stage.time_us).sum())
    }

    /// The times of a configuration that is right on the next draw, microseconds, and its energy
    /// where that is measured.
    fn measure_built(
        &mut self,
        built: &BuiltConfiguration,
        best_us: Option<f64>,
    ) -> Result<(Vec<f64>, Option<Energy>), Outcome> {
        let failed = |error: Error| launch_failed(&error);
        let round = self.arguments.round(self.verified);
        if let Some(too_slow) = self.time_part(built, round, best_us).map_err(failed)? {
            return Err(too_slow);
        }
        self.verified += 1;
        self.warm_up(built, round).map_err(failed)?;
        let first_us = self.first_sample(built, round)?;
        let samples_us = self.time(built, round, best_us, first_us)?;
        let time_us = median(&samples_us).unwrap_or(first_us);
        let energy = self.energy(built, round, time_us)?;
        Ok((samples_us, energy))
    }

    /// A configuration that is slower than the best by more than this factor is given up, or timed
    /// once.
    fn hopeless_factor(&self) -> f64 {
        let factor = self.options.hopeless_factor;
        match self.metering {
            None => factor,
            Some(_) => factor * SLOWER_WITH_LESS,
        }
    }

    /// Notes with a wrong result whether the configuration is its own reference.
    pub(super) fn of_configuration(&self, codes: &[i64], outcome: Outcome) -> Outcome {
        match outcome {
            Outcome::WrongResult(wrong) => Outcome::WrongResult(WrongResult {
                with_itself: self.declaration.reference == Reference::Default
                    && *codes == *self.default,
                ..wrong
            }),
            other => other,
        }
    }

    /// A configuration that is taken out of the loaded ones, or built.
    pub(super) fn take_built(
        &mut self,
        codes: &[i64],
        binary: Option<&Binary>,
    ) -> Result<BuiltConfiguration, Outcome> {
        let binary = binary.map(|binary| binary.0.as_slice());
        let loaded = self.loaded.remove(codes).map(Ok);
        let mut built = loaded.unwrap_or_else(|| self.target().build(codes, binary))?;
        if !built.has_checked_layouts {
            self.target()
                .check_layouts(&built.program)
                .map_err(|error| launch_failed(&error))?;
            built.has_checked_layouts = true;
        }
        Ok(built)
    }

    /// Keeps what was built loaded, where not too much is.
    pub(super) fn keep_built(&mut self, codes: &[i64], built: BuiltConfiguration) {
        if self.loaded.len() < MOST_LOADED {
            self.loaded.insert(codes.to_vec(), built);
        }
    }

    /// Says what is done next.
    pub(super) fn step(&self, step: Step) {
        (self.options.on_step)(step);
    }

    pub(super) fn target(&self) -> BuildTarget<'_> {
        BuildTarget {
            context: &self.context,
            declaration: &self.declaration,
            dims: &self.dims,
        }
    }

    pub(super) fn env<'a>(&'a self, codes: &'a [i64]) -> Env<'a> {
        Env {
            params: codes,
            dims: &self.dims,
            device: &self.context.device().info().limits,
        }
    }

    pub(super) fn run_and_verify(
        &self,
        built: &BuiltConfiguration,
        round: Round,
    ) -> Result<Option<WrongResult>> {
        self.arguments.restore(&self.queue, round)?;
        self.launch(&built.commands, round, None)?;
        self.arguments.verify(&self.queue, round)
    }

    /// What is measured of launches: where their energy is not, the best is the fastest.
    pub(crate) fn measure_of(&self) -> Measure {
        let declared = self.declaration.measure;
        let objective = self.metering.as_ref().map(|_| declared.objective);
        Measure {
            objective: objective.unwrap_or_default(),
            ..declared
        }
    }

    /// Gives a configuration up, where a part of its work-groups shows that all of them would take
    /// far longer than the best time. The part is timed twice: a driver may compile during the
    /// first launch, and something else may have used the device.
    ///
    /// With warm caches in any case: what a part pays for cold ones, the whole may pay only once, and
    /// the whole takes no less with cold caches than with warm ones.
    fn time_part(
        &self,
        built: &BuiltConfiguration,
        round: Round,
        best_us: Option<f64>,
    ) -> Result<Option<Outcome>> {
        let info = self.context.device().info();
        let units = usize::try_from(info.limits.compute_units).unwrap_or(1);
        let whole = built.commands.single();
        let Some((part, best_us)) = whole
            .and_then(|whole| Part::of(whole, units))
            .zip(best_us)
            .filter(|(_, best_us)| self.declaration.even_work && *best_us >= WORTH_A_PART_US)
        else {
            return Ok(None);
        };
        self.arguments.restore(&self.queue, round)?;
        let is_cpu = info.device_type == DeviceType::Cpu;
        let mut at_least_us = f64::MAX;
        for _ in 0..2 {
            let part_us = self.launch(&built.commands, round, Some(&part.geometry))?;
            at_least_us = at_least_us.min(part.whole_takes_at_least_us(part_us, is_cpu));
            if at_least_us <= best_us * self.hopeless_factor() {
                return Ok(None);
            }
        }
        Ok(Some(Outcome::TooSlow {
            at_least_us,
            best_us,
        }))
    }

    /// A launch that caches and clocks warm up at, and in which drivers compile. Nobody looks at its
    /// results.
    pub(super) fn warm_up(&self, built: &BuiltConfiguration, round: Round) -> Result<()> {
        self.arguments.restore_inputs(&self.queue, round)?;
        self.launch(&built.commands, round, None).map(drop)
    }

    /// Times more launches than the first, which began with empty outputs. A configuration that
    /// takes less where they are not is found out.
    fn time(
        &self,
        built: &BuiltConfiguration,
        round: Round,
        best_us: Option<f64>,
        first_us: f64,
    ) -> Result<Vec<f64>, Outcome> {
        let repeats = Repeats {
            least: self.options.least_repeats.max(1),
            most: self.options.most_repeats.max(1),
            time: self.options.repeat_time,
            hopeless: self.hopeless_factor(),
            precision: self.options.precision,
        };
        let mut samples = vec![first_us];
        let begin = Instant::now();
        let displacing = || self.displacer.as_ref().map(|_| begin.elapsed());
        while repeats.more(&samples, best_us, displacing()) {
            let sample = self.sample(built, round);
            samples.push(sample.map_err(|error| launch_failed(&error))?);
        }
        self.check_work(built, round, &samples)?;
        Ok(samples)
    }

    /// One timed launch, microseconds. Outputs hold what the launch before left there; where caches
    /// are to be cold, other data have displaced whatever they held.
    pub(super) fn sample(&self, built: &BuiltConfiguration, round: Round) -> Result<f64> {
        self.arguments.restore_read_write(&self.queue, round)?;
        self.queue.finish()?;
        self.place(&built.commands, round)?;
        if let Some(displacer) = &self.displacer {
            self.queue.finish()?;
            displacer.displace(&self.queue)?;
        }
        self.run(&built.commands, round, None)
    }

    /// Launches, waits, and returns the time: the device's, or the host's where the driver does
    /// not profile, or measures nothing.
    /// `part`: another index space for a single launch.
    pub(super) fn launch(
        &self,
        commands: &PreparedCommands,
        round: Round,
        part: Option<&Geometry>,
    ) -> Result<f64> {
        self.place(commands, round)?;
        self.run(commands, round, part)
    }

    /// Makes what a launch needs besides its arguments.
    fn place(&self, commands: &PreparedCommands, round: Round) -> Result<()> {
        self.arguments.make_scratch(&self.queue, commands)?;
        self.arguments.place_images(&self.queue, commands, round)
    }

    /// A launch of which everything is in its place.
    fn run(
        &self,
        commands: &PreparedCommands,
        round: Round,
        part: Option<&Geometry>,
    ) -> Result<f64> {
        let begin = Instant::now();
        let enqueued = self.arguments.enqueue(&self.queue, commands, round, part)?;
        enqueued.last.wait().map_err(Error::call("the kernel"))?;
        let host = begin.elapsed().as_secs_f64() * 1e6;
        self.stages.replace(stage_times(&enqueued));
        self.arguments.fetch_images(&self.queue, commands, round)?;
        Ok(time_us(enqueued.profile().ok(), host))
    }
}

/// The parts of a call, in the order in which they first occur.
fn stage_times(enqueued: &Enqueued) -> Vec<StageTime> {
    let mut times: Vec<StageTime> = Vec::new();
    for (stage, event) in &enqueued.parts {
        let Ok((start, end)) = event.profile() else {
            return Vec::new();
        };
        let time_us = end.saturating_sub(start) as f64 / 1e3;
        match times.iter_mut().find(|time| time.stage == **stage) {
            Some(time) => {
                time.launches += 1;
                time.time_us += time_us;
            }
            None => times.push(StageTime {
                stage: stage.to_string(),
                launches: 1,
                time_us,
            }),
        }
    }
    times
}

/// A configuration may be slower than the fastest by this factor more, and take less energy: a
/// device's power differs between configurations by no more than between an idle and a busy one.
const SLOWER_WITH_LESS: f64 = 4.0;

/// Programs take memory.
const MOST_LOADED: usize = 64;

/// Where the best takes less, what a launch costs besides its work (up to 0.1 ms) would count too
/// much, and slow configurations do not cost much.
const WORTH_A_PART_US: f64 = 1000.0;

/// No launch is shorter, nanoseconds. rusticl (Mesa 22.3) on llvmpipe says 1 of every one.
const SHORTEST_NS: u64 = 100;

/// The time of a launch from the device's clock, nanoseconds, where that has measured it, else the
/// host's.
fn time_us(profile: Option<(u64, u64)>, host_us: f64) -> f64 {
    profile
        .map(|(start, end)| end.saturating_sub(start))
        .filter(|ns| *ns >= SHORTEST_NS)
        .map_or(host_us, |ns| ns as f64 / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_launch_can_take_is_not_believed() {
        assert_eq!(time_us(Some((1_000, 9_500)), 20.0), 8.5);
        assert_eq!(time_us(Some((1_000, 1_001)), 20.0), 20.0);
        assert_eq!(time_us(Some((9_500, 1_000)), 20.0), 20.0);
        assert_eq!(time_us(None, 20.0), 20.0);
    }
}
