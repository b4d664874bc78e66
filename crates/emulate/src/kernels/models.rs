//! How long a call takes: by the model file, or by the roofline of the machine.

use hpcast_models::compute::{Arguments, BoundKernel, KernelWork, ModelFile, Product, Roofline, Term, Unlisted, Work};

use super::FunctionError;
use crate::process::Process;

/// How fast one rank computes where no model says otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MachineSpeed {
    /// Floating-point operations and bytes per second.
    pub roofline: Roofline,
}

/// The models of a run.
pub struct KernelModels {
    file: ModelFile,
    speed: Option<MachineSpeed>,
    is_noisy: bool,
}

/// A model that is ready for the calls of one function.
pub(super) enum Bound {
    Free,
    Fitted(Box<BoundKernel>, u32),
    Roofline(BoundWork, Roofline),
    /// There is none, and this is why.
    Unknown(String),
}

/// What a kernel does, as its arguments say.
pub(super) struct BoundWork {
    flops: Vec<(Product, f64)>,
    bytes: Vec<(Product, f64)>,
}

impl BoundWork {
    /// None if nobody knows what the kernel does.
    pub fn new(kernel: &str, arguments: &[&str]) -> Option<Result<BoundWork, String>> {
        let (work, flops, bytes) = work(kernel)?;
        let bind = |terms: &[(Term, f64)], factor: f64| {
            terms
                .iter()
                .map(|(term, times)| Ok((term.bind(arguments)?, times * factor)))
                .collect::<Result<Vec<_>, String>>()
        };
        let bound = || Ok(BoundWork { flops: bind(&work.flops, flops)?, bytes: bind(&work.bytes, bytes)? });
        Some(bound())
    }

    fn of(&self, arguments: &Arguments) -> Work {
        let sum = |parts: &[(Product, f64)]| parts.iter().map(|(product, factor)| factor * product.of(arguments)).sum();
        Work { flops: sum(&self.flops), bytes: sum(&self.bytes) }
    }

    /// How much work a call is: operations, or bytes where there are none.
    pub fn amount(&self, arguments: &Arguments) -> f64 {
        let work = self.of(arguments);
        if self.flops.is_empty() { work.bytes } else { work.flops }
    }
}

impl KernelModels {
    /// From a model file, and the speed of the machine for what it does not list.
    pub fn new(file: ModelFile, speed: Option<MachineSpeed>) -> KernelModels {
        KernelModels { file, speed, is_noisy: true }
    }

    /// The same, but all calls with the same arguments take the same time.
    pub fn without_noise(self) -> KernelModels {
        KernelModels { is_noisy: false, ..self }
    }

    pub(super) fn bind(&self, kernel: &str, arguments: &[&str]) -> Result<Bound, FunctionError> {
        let unknown = |problem: String| FunctionError::Model { kernel: kernel.to_owned(), problem };
        if let Some(model) = self.file.kernels.get(kernel) {
            if model.is_free() {
                return Ok(Bound::Free);
            }
            let mut bound = BoundKernel::new(model, arguments).map_err(|problem| unknown(problem.to_string()))?;
            if !self.is_noisy {
                bound.remove_noise();
            }
            return Ok(Bound::Fitted(Box::new(bound), self.file.first_node));
        }
        if self.file.unlisted == Unlisted::Free {
            return Ok(Bound::Free);
        }
        let Some(MachineSpeed { roofline }) = self.speed else {
            return Err(unknown("no model, and the machine file does not say how fast a node computes".to_owned()));
        };
        match BoundWork::new(kernel, arguments) {
            Some(work) => Ok(Bound::Roofline(work.map_err(unknown)?, roofline)),
            None => Err(unknown("no model, and its work is not known".to_owned())),
        }
    }
}

/// What a kernel does, and how many times more operations and bytes than in double precision.
fn work(kernel: &str) -> Option<(KernelWork, f64, f64)> {
    if let Some(work) = KernelWork::of(kernel) {
        return Some((work, 1.0, 1.0));
    }
    if let Some((letter, "amax")) = kernel.strip_prefix('i').and_then(|rest| rest.split_at_checked(1)) {
        let (_, flops, bytes) = work(&format!("{letter}copy"))?;
        return Some((KernelWork::of("idamax")?, flops, bytes));
    }
    let (first, rest) = kernel.split_at_checked(1)?;
    let (flops, bytes) = match first {
        "s" => (1.0, 0.5),
        "c" => (4.0, 1.0),
        "z" => (4.0, 2.0),
        _ => return None,
    };
    Some((KernelWork::of(&format!("d{rest}"))?, flops, bytes))
}

impl Bound {
    pub fn seconds(&self, me: &Process, arguments: &Arguments, word: impl FnOnce() -> u64) -> f64 {
        match self {
            Bound::Free | Bound::Unknown(_) => 0.0,
            Bound::Fitted(kernel, first_node) => {
                let (node, socket) = me.world.processor(me.number());
                kernel.duration(kernel.processor(node + first_node, socket), arguments, word)
            }
            Bound::Roofline(work, roofline) => roofline.duration(work.of(arguments)),
        }
    }
}
