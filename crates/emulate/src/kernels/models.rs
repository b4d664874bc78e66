//! How long a call takes: by the model file, or by the roofline of the machine.

use hpcast_models::compute::{Arguments, BoundKernel, KernelWork, ModelFile, Product, Roofline, Unlisted, Work};

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
    Roofline { flops: Vec<(Product, f64)>, bytes: Vec<(Product, f64)>, roofline: Roofline },
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
        let (work, flops, bytes) =
            work(kernel).ok_or_else(|| unknown("no model, and its work is not known".to_owned()))?;
        let bind = |terms: &[(hpcast_models::compute::Term, f64)], factor: f64| {
            terms
                .iter()
                .map(|(term, times)| Ok((term.bind(arguments)?, times * factor)))
                .collect::<Result<Vec<_>, String>>()
        };
        Ok(Bound::Roofline {
            flops: bind(&work.flops, flops).map_err(unknown)?,
            bytes: bind(&work.bytes, bytes).map_err(unknown)?,
            roofline,
        })
    }
}

/// What a kernel does, and how many times more operations and bytes than in double precision.
fn work(kernel: &str) -> Option<(KernelWork, f64, f64)> {
    if let Some(work) = KernelWork::of(kernel) {
        return Some((work, 1.0, 1.0));
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
        let sum = |parts: &[(Product, f64)]| parts.iter().map(|(product, factor)| factor * product.of(arguments)).sum();
        match self {
            Bound::Free => 0.0,
            Bound::Fitted(kernel, first_node) => {
                let (node, socket) = me.world.processor(me.number());
                kernel.duration(kernel.processor(node + first_node, socket), arguments, word)
            }
            Bound::Roofline { flops, bytes, roofline } => {
                roofline.duration(Work { flops: sum(flops), bytes: sum(bytes) })
            }
        }
    }
}
