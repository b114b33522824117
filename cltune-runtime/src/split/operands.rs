//! The operands of each chunk: what it gets of each argument, and the places of its results.

use super::chunking::{Across, ChunkPart, ChunkedShare, Chunking};
use super::problem::{Given, Meaning, Problem, Role, SplitArg};
use super::profiles::DeviceProfiles;
use super::resident_inputs::Contents;
use super::work::{Chunk, Download, Operand, ShareWork, Target, Upload};
use crate::error::Result;
use crate::opencl::{Region, Runs};
use cltune_core::model::Access;
use cltune_core::split::{Layout, Part, Share, Span};
use std::num::NonZeroU64;
use std::ops::Range;

/// A part of the problem along the divided dimension: a chunk, or a share that is in chunks
/// along another one.
#[derive(Clone, Copy, Debug)]
struct Unit<'p> {
    share: Share,
    /// Whether it is the first of its share.
    is_first: bool,
    across: Option<&'p Across>,
}

/// The work of each device, in the order of the shares.
pub(super) fn share_work<'r>(
    problem: &Problem<'_>,
    profiles: &DeviceProfiles,
    args: &'r mut [SplitArg<'_>],
    chunked: &[ChunkedShare],
) -> Result<Vec<ShareWork<'r>>> {
    let units: Vec<Unit<'_>> = chunked.iter().flat_map(units).collect();
    let mut operands: Vec<Vec<Operand<'r>>> = Vec::new();
    for (position, (arg, role)) in args.iter_mut().zip(&problem.roles).enumerate() {
        let of_argument: Vec<Operand<'r>> = match *role {
            Role::Scalar(scalar, meaning) => {
                let mut of_pieces = Vec::new();
                for unit in &units {
                    for (meaning, share) in unit.scalars(position, meaning) {
                        let given = arg.bytes();
                        let bytes = problem.scalar(position, given, scalar, meaning, share)?;
                        of_pieces.push(Operand::Scalar(bytes));
                    }
                }
                of_pieces
            }
            Role::Buffer {
                element,
                access,
                layout,
            } => {
                let argument = Argument {
                    position,
                    element,
                    access,
                    layout,
                    version: problem.versions[position],
                };
                let operands = argument.operands(arg, &units);
                operands.ok_or_else(|| problem.undivided(position))?
            }
        };
        operands.resize_with(of_argument.len(), Vec::new);
        for (operands, operand) in operands.iter_mut().zip(of_argument) {
            operands.push(operand);
        }
    }
    let mut operands = operands.into_iter();
    let work = |share: &ChunkedShare| {
        let choice = profiles.choice(share.member);
        let chunks = share.problems(problem).into_iter();
        ShareWork {
            tunable: problem.tunable,
            codes: choice.map_or_else(Vec::new, |choice| choice.codes.clone()),
            is_pipelined: share.is_pipelined,
            chunks: chunks
                .map(|(share, dims)| Chunk {
                    share,
                    dims,
                    operands: operands.next().unwrap_or_default(),
                })
                .collect(),
        }
    };
    Ok(chunked.iter().map(work).collect())
}

fn units(chunked: &ChunkedShare) -> Vec<Unit<'_>> {
    match &chunked.chunking {
        Chunking::Along(chunks) => {
            let unit = |(index, share): (usize, &Share)| Unit {
                share: *share,
                is_first: index == 0,
                across: None,
            };
            chunks.iter().enumerate().map(unit).collect()
        }
        Chunking::Across(share, across) => vec![Unit {
            share: *share,
            is_first: true,
            across: Some(across),
        }],
    }
}

impl Unit<'_> {
    /// The meaning of a scalar to each chunk, with the share that it refers to.
    fn scalars(&self, position: usize, meaning: Meaning) -> Vec<(Meaning, Share)> {
        let Some(across) = self.across else {
            return vec![(meaning, self.share)];
        };
        let of_span = |span: &Span| match across.arguments[position] {
            ChunkPart::Size => {
                let chunk = Share {
                    computed: *span,
                    ..self.share
                };
                (Meaning::Size, chunk)
            }
            ChunkPart::Whole | ChunkPart::Parts(_) => (meaning, self.share),
        };
        across.spans.iter().map(of_span).collect()
    }

    /// The chunks of a buffer along the other dimension.
    fn second(&self, position: usize) -> Option<(&[Span], Option<Layout>)> {
        let across = self.across?;
        let layout = match across.arguments[position] {
            ChunkPart::Parts(layout) => Some(layout),
            ChunkPart::Whole | ChunkPart::Size => None,
        };
        Some((&across.spans, layout))
    }
}

/// A buffer argument.
#[derive(Clone, Copy, Debug)]
struct Argument {
    position: usize,
    /// Bytes of an element.
    element: usize,
    access: Access,
    /// `None`: every device gets all of it.
    layout: Option<Layout>,
    /// The content version of the pinned memory that it is in, where nobody can change that now.
    version: Option<NonZeroU64>,
}

impl Argument {
    /// An operand for each chunk of each unit; `None` where results have no place of their own.
    fn operands<'r>(
        self,
        arg: &'r mut SplitArg<'_>,
        units: &[Unit<'_>],
    ) -> Option<Vec<Operand<'r>>> {
        match (&mut arg.0, self.access) {
            (Given::Scalar(_), _) => None,
            (Given::Written(bytes), Access::Write) => self.outputs(bytes, units),
            (Given::Written(bytes), _) => self.inputs(bytes, units),
            (Given::Read(bytes), _) => self.inputs(bytes, units),
        }
    }

    /// An argument that is read: by all devices at the same time, so results wait until they have
    /// ended.
    fn inputs<'r>(self, bytes: &'r [u8], units: &[Unit<'_>]) -> Option<Vec<Operand<'r>>> {
        let mut operands = Vec::new();
        for unit in units {
            let part = match self.layout {
                Some(layout) => layout.part(unit.share.computed),
                None => Part::all(bytes.len() / self.element),
            };
            match unit.second(self.position) {
                Some((spans, second)) => {
                    operands.extend(self.inputs_across(bytes, part, spans, second)?);
                }
                None if self.layout.is_none() && !unit.is_first => {
                    operands.push(Operand::OfFirst { len: part.len() });
                }
                None => {
                    let download = match self.access {
                        Access::Read => None,
                        Access::ReadWrite | Access::Write => Some(self.deferred(unit.share)?),
                    };
                    operands.push(self.input(bytes, part, download));
                }
            }
        }
        Some(operands)
    }

    /// The chunks of a share's part of it.
    fn inputs_across<'r>(
        self,
        bytes: &'r [u8],
        part: Part,
        spans: &[Span],
        second: Option<Layout>,
    ) -> Option<Vec<Operand<'r>>> {
        let chunk = |(index, span): (usize, &Span)| match second {
            Some(second) => {
                let part = part.inner(second.part(*span))?;
                Some(self.input(bytes, part, None))
            }
            None if index == 0 => Some(self.input(bytes, part, None)),
            None => Some(Operand::OfFirst { len: part.len() }),
        };
        spans.iter().enumerate().map(chunk).collect()
    }

    fn input<'r>(
        self,
        source: &'r [u8],
        part: Part,
        download: Option<Download<'r>>,
    ) -> Operand<'r> {
        let runs = runs(part, self.element);
        let contents = self.version.filter(|_| !runs.is_empty());
        Operand::Buffer {
            len: part.len(),
            bytes: part.len() * self.element,
            contents: contents.map(|version| Contents::new(version, source, runs)),
            uploads: vec![Upload {
                source,
                runs,
                at: 0,
            }],
            download,
        }
    }

    /// Results that wait; `None` where they have no place of their own.
    fn deferred<'r>(self, share: Share) -> Option<Download<'r>> {
        let own = self.layout?.own_part(share.owned);
        let target = Target::Deferred {
            rows: own.rows,
            width: own.width * self.element,
        };
        Some(self.download(self.layout?, share, target))
    }

    /// An argument that is only written: results go right to their places.
    fn outputs<'r>(self, bytes: &'r mut [u8], units: &[Unit<'_>]) -> Option<Vec<Operand<'r>>> {
        let layout = self.layout?;
        let places: Vec<Part> = units
            .iter()
            .map(|unit| layout.own_part(unit.share.owned))
            .collect();
        let first = places.first()?;
        let columns = self.columns(&places);
        let regions = Region::columns(bytes, first.rows, first.pitch * self.element, &columns)?;
        let mut operands = Vec::new();
        for (unit, region) in units.iter().zip(regions) {
            let Some((spans, second)) = unit.second(self.position) else {
                operands.push(self.output(layout, unit.share, region));
                continue;
            };
            let second = second?;
            let regions = self.regions_across(region, spans, second)?;
            // A chunk owns all that it computes, so it is packed as it is in its buffer.
            operands.extend(regions.into_iter().map(|region| {
                let Runs { width, rows, .. } = region.runs();
                Operand::Buffer {
                    len: width * rows / self.element,
                    bytes: width * rows,
                    uploads: Vec::new(),
                    contents: None,
                    download: Some(Download {
                        first: 0,
                        pitch: width,
                        target: Target::Place(region),
                    }),
                }
            }));
        }
        Some(operands)
    }

    /// The chunks of where a share's results go.
    fn regions_across<'r>(
        self,
        region: Region<'r>,
        spans: &[Span],
        second: Layout,
    ) -> Option<Vec<Region<'r>>> {
        let places: Vec<Part> = spans.iter().map(|span| second.own_part(*span)).collect();
        let first = places.first()?;
        let ranges = self.columns(&places);
        if region.runs().rows == 1 {
            region.columns_of_run(first.rows, first.pitch * self.element, &ranges)
        } else {
            region.runs_of_runs(&ranges)
        }
    }

    fn columns(self, places: &[Part]) -> Vec<Range<usize>> {
        let bytes =
            |place: &Part| place.first * self.element..(place.first + place.width) * self.element;
        places.iter().map(bytes).collect()
    }

    fn output(self, layout: Layout, share: Share, region: Region<'_>) -> Operand<'_> {
        let part = layout.part(share.computed);
        Operand::Buffer {
            len: part.len(),
            bytes: part.len() * self.element,
            uploads: Vec::new(),
            contents: None,
            download: Some(self.download(layout, share, Target::Place(region))),
        }
    }

    /// The part of its results that a share owns, in its buffer.
    fn download(self, layout: Layout, share: Share, target: Target<'_>) -> Download<'_> {
        let skipped = Span {
            start: share.owned.start - share.computed.start,
            len: share.owned.len,
        };
        Download {
            first: layout.own_part(skipped).first * self.element,
            pitch: layout.part(share.computed).width * self.element,
            target,
        }
    }
}

fn runs(part: Part, element: usize) -> Runs {
    Runs {
        first: part.first * element,
        width: part.width * element,
        rows: part.rows,
        pitch: part.pitch * element,
    }
}
