//! The kernels that HPL calls, and how long each takes on which processor.

use hpcast_models::compute::{Arguments, BoundKernel, ModelFile, Roofline, UnknownArgument, Unlisted, Work};
use hpcast_platform::Machine;
use hpcast_units::{FlopRate, Time};

/// A kernel of HPL: from the BLAS, or one of its own copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the BLAS and of HPL")]
pub enum HplKernel {
    Dgemm,
    Dtrsm,
    Dger,
    Dgemv,
    Dtrsv,
    Idamax,
    Dcopy,
    Dscal,
    Daxpy,
    Dlacpy,
    Dlatcpy,
    DlocswpN,
    DlocswpT,
    Dlaswp00N,
    Dlaswp01N,
    Dlaswp01T,
    Dlaswp02N,
    Dlaswp03N,
    Dlaswp03T,
    Dlaswp04N,
    Dlaswp04T,
    Dlaswp05N,
    Dlaswp05T,
    Dlaswp06N,
    Dlaswp06T,
    Dlaswp10N,
}

use HplKernel::*;

impl HplKernel {
    /// All of them, in their order.
    pub const ALL: [HplKernel; 26] = [
        Dgemm, Dtrsm, Dger, Dgemv, Dtrsv, Idamax, Dcopy, Dscal, Daxpy, Dlacpy, Dlatcpy, DlocswpN, DlocswpT, Dlaswp00N,
        Dlaswp01N, Dlaswp01T, Dlaswp02N, Dlaswp03N, Dlaswp03T, Dlaswp04N, Dlaswp04T, Dlaswp05N, Dlaswp05T, Dlaswp06N,
        Dlaswp06T, Dlaswp10N,
    ];

    /// Its name in model files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Dgemm => "dgemm",
            Dtrsm => "dtrsm",
            Dger => "dger",
            Dgemv => "dgemv",
            Dtrsv => "dtrsv",
            Idamax => "idamax",
            Dcopy => "dcopy",
            Dscal => "dscal",
            Daxpy => "daxpy",
            Dlacpy => "dlacpy",
            Dlatcpy => "dlatcpy",
            DlocswpN => "dlocswpN",
            DlocswpT => "dlocswpT",
            Dlaswp00N => "dlaswp00N",
            Dlaswp01N => "dlaswp01N",
            Dlaswp01T => "dlaswp01T",
            Dlaswp02N => "dlaswp02N",
            Dlaswp03N => "dlaswp03N",
            Dlaswp03T => "dlaswp03T",
            Dlaswp04N => "dlaswp04N",
            Dlaswp04T => "dlaswp04T",
            Dlaswp05N => "dlaswp05N",
            Dlaswp05T => "dlaswp05T",
            Dlaswp06N => "dlaswp06N",
            Dlaswp06T => "dlaswp06T",
            Dlaswp10N => "dlaswp10N",
        }
    }

    /// The names of its arguments in model files.
    pub fn arguments(self) -> &'static [&'static str] {
        match self {
            Dgemm | Dlaswp04N | Dlaswp04T => &["M", "N", "K"],
            Dtrsm => &["M", "N", "S"],
            Dtrsv | Idamax | Dcopy | Dscal | Daxpy | DlocswpN | DlocswpT => &["N"],
            _ => &["M", "N"],
        }
    }

    /// Whether there is nothing to do: a matrix has no rows or no columns, and kernels return at once.
    #[inline]
    fn is_empty(self, Size { m, n, .. }: Size) -> bool {
        match self {
            Dtrsv | Idamax | Dcopy | Dscal | Daxpy | DlocswpN | DlocswpT => n == 0,
            _ => m == 0 || n == 0,
        }
    }

    /// The arguments of a call.
    #[inline]
    fn values(self, Size { m, n, k }: Size) -> Arguments {
        match self {
            Dtrsv | Idamax | Dcopy | Dscal | Daxpy | DlocswpN | DlocswpT => Arguments::new([n as f64]),
            _ => Arguments::new([m as f64, n as f64, k as f64]),
        }
    }

    /// Operations and traffic of one call: what the definition of the kernel needs at least, with 8-byte numbers.
    fn work(self, size: Size) -> Work {
        let Size { m, n, k } = size;
        let (m, n, k) = (m as f64, n as f64, k as f64);
        let (flops, numbers) = match self {
            Dgemm => (2.0 * m * n * k, m * k + k * n + 2.0 * m * n),
            Dtrsm => (m * n * k, 0.5 * k * k + 2.0 * m * n),
            Dger => (2.0 * m * n, 2.0 * m * n + m + n),
            Dgemv => (2.0 * m * n, m * n + m + n),
            Dtrsv => (n * n, 0.5 * n * n),
            Idamax => (n, n),
            Dcopy => (0.0, 2.0 * n),
            Dscal => (n, 2.0 * n),
            Daxpy => (2.0 * n, 3.0 * n),
            // One row in, up to three rows out.
            DlocswpN | DlocswpT => (0.0, 4.0 * n),
            // Exchanges read and write both rows.
            Dlaswp00N | Dlaswp10N => (0.0, 4.0 * m * n),
            _ => (0.0, 2.0 * m * n),
        };
        Work { flops, bytes: 8.0 * numbers }
    }
}

/// The sizes of one call; for dtrsm k is the order of the triangular matrix, and a vector has n numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Rows.
    pub m: u64,
    /// Columns.
    pub n: u64,
    /// Third size.
    pub k: u64,
}

impl Size {
    /// Three sizes.
    #[inline]
    pub fn mnk(m: u64, n: u64, k: u64) -> Size {
        Size { m, n, k }
    }

    /// Two sizes.
    #[inline]
    pub fn mn(m: u64, n: u64) -> Size {
        Size { m, n, k: 0 }
    }

    /// One size.
    #[inline]
    pub fn n(n: u64) -> Size {
        Size { m: 0, n, k: 0 }
    }
}

/// How one kernel is modelled.
#[derive(Clone, Debug)]
enum Choice {
    Free,
    Roofline,
    Fitted(BoundKernel),
}

/// What a call costs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Charge {
    pub length: Time,
    /// Such calls were not measured: the model is used beyond what it was made of.
    pub is_beyond: bool,
}

/// Why kernels cannot be modelled.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelsError {
    /// A roofline is needed.
    #[error("nothing says how fast a node computes")]
    NoSpeed,
    /// A model does not fit its kernel.
    #[error("{kernel}: {problem}")]
    Argument {
        /// Its name.
        kernel: &'static str,
        /// What is wrong.
        problem: UnknownArgument,
    },
}

/// How long each kernel takes, for all ranks of a run.
#[derive(Clone, Debug)]
pub struct HplModels {
    choices: Vec<Choice>,
    roofline: Roofline,
    first_node: u32,
    /// What was assumed, for the report.
    pub assumed: Vec<String>,
}

/// Where the efficiency of a matrix product is not known: what good libraries reach on current processors.
const EFFICIENCY: f64 = 0.9;
/// Bytes per second of memory for each flop per second, where the machine file does not say: a low estimate of what
/// machines of the 2010s have.
const BYTES_PER_FLOP: f64 = 0.05;

impl HplModels {
    /// From a model file, if there is one, and the machine file for what it does not list.
    pub fn new(file: Option<&ModelFile>, machine: &Machine, ranks_per_node: u32) -> Result<HplModels, ModelsError> {
        let unlisted = file.map_or(Unlisted::Roofline, |file| file.unlisted);
        let mut unfitted = Vec::new();
        let mut choose = |kernel: HplKernel| {
            let listed = file.and_then(|file| file.kernels.get(kernel.name()));
            Ok(match (listed, unlisted) {
                (Some(model), _) if model.is_free() => Choice::Free,
                (Some(model), _) => Choice::Fitted(
                    BoundKernel::new(model, kernel.arguments())
                        .map_err(|problem| ModelsError::Argument { kernel: kernel.name(), problem })?,
                ),
                (None, Unlisted::Free) => Choice::Free,
                (None, Unlisted::Roofline) => {
                    unfitted.push(kernel.name());
                    Choice::Roofline
                }
            })
        };
        let choices = HplKernel::ALL.into_iter().map(&mut choose).collect::<Result<Vec<Choice>, ModelsError>>()?;
        let mut models = HplModels {
            choices,
            roofline: Roofline { flops: f64::INFINITY, bandwidth: f64::INFINITY },
            first_node: file.map_or(0, |file| file.first_node),
            assumed: Vec::new(),
        };
        if !unfitted.is_empty() {
            models.use_roofline(machine, ranks_per_node).ok_or(ModelsError::NoSpeed)?;
            let which = if unfitted.len() == HplKernel::ALL.len() { "all kernels".into() } else { unfitted.join(", ") };
            models.assumed.push(format!("no fitted model for {which}: roofline of the machine file"));
        }
        Ok(models)
    }

    fn use_roofline(&mut self, machine: &Machine, ranks_per_node: u32) -> Option<()> {
        let (roofline, assumed) = roofline(machine, ranks_per_node)?;
        self.roofline = roofline;
        self.assumed.extend(assumed);
        Some(())
    }

    /// The same where a kernel takes no time.
    pub(super) fn with_free(mut self, kernel: HplKernel) -> HplModels {
        self.choices[kernel as usize] = Choice::Free;
        self
    }

    /// The same without noise.
    pub fn without_noise(mut self) -> HplModels {
        for choice in &mut self.choices {
            if let Choice::Fitted(kernel) = choice {
                kernel.remove_noise();
            }
        }
        self
    }

    /// Whether calls differ by chance.
    pub fn is_noisy(&self) -> bool {
        HplKernel::ALL.iter().any(|&kernel| self.is_noisy_kernel(kernel))
    }

    /// Whether calls of this one do.
    #[inline]
    pub(super) fn is_noisy_kernel(&self, kernel: HplKernel) -> bool {
        matches!(&self.choices[kernel as usize], Choice::Fitted(model) if model.is_noisy())
    }

    /// Whether a kernel takes no time.
    #[inline]
    pub(super) fn is_free(&self, kernel: HplKernel) -> bool {
        matches!(self.choices[kernel as usize], Choice::Free)
    }

    /// The rows of a processor, kernel by kernel.
    pub(super) fn rows(&self, node: u32, socket: u32) -> Box<[u32]> {
        let node = node + self.first_node;
        let row = |choice: &Choice| match choice {
            Choice::Fitted(kernel) => kernel.processor(node, socket) as u32,
            _ => 0,
        };
        self.choices.iter().map(row).collect()
    }

    /// How long a matrix product takes on a processor, on average.
    pub fn dgemm_seconds(&self, node: u32, socket: u32, size: Size) -> f64 {
        let kernel = HplKernel::Dgemm;
        match &self.choices[kernel as usize] {
            Choice::Free => 0.0,
            Choice::Roofline => self.roofline.duration(kernel.work(size)),
            Choice::Fitted(model) => {
                model.expectation(model.processor(node + self.first_node, socket), &kernel.values(size))
            }
        }
    }

    /// What one call costs, with the rows of its processor; `random` gives 64 random bits where they are needed.
    #[inline]
    pub(super) fn charge(&self, kernel: HplKernel, rows: &[u32], size: Size, random: impl FnOnce() -> u64) -> Charge {
        if kernel.is_empty(size) {
            return Charge::default();
        }
        let (seconds, is_beyond) = match &self.choices[kernel as usize] {
            Choice::Free => return Charge::default(),
            Choice::Roofline => (self.roofline.duration(kernel.work(size)), false),
            Choice::Fitted(model) => {
                let arguments = kernel.values(size);
                let seconds = model.duration(rows[kernel as usize] as usize, &arguments, random);
                (seconds, !model.was_measured(&arguments))
            }
        };
        Charge { length: Time::from_secs(seconds), is_beyond }
    }
}

/// How fast a rank computes by the machine file, which may not say, and what was assumed.
pub fn roofline(machine: &Machine, ranks_per_node: u32) -> Option<(Roofline, Vec<String>)> {
    let nodes = &machine.nodes;
    let rate = |rate: &FlopRate| rate.get();
    let mut assumed = Vec::new();
    let flops = match (&nodes.sustained_flops, &nodes.flops) {
        (Some(sustained), _) => rate(sustained),
        (None, Some(peak)) => {
            assumed.push(format!(
                "matrix products reach {EFFICIENCY} of the peak: the machine file gives no sustained-flops"
            ));
            EFFICIENCY * rate(peak)
        }
        (None, None) => return None,
    };
    let bandwidth = match &nodes.memory_bandwidth {
        Some(bandwidth) => bandwidth.get(),
        None => {
            assumed.push(format!(
                "memory moves {BYTES_PER_FLOP} B for each flop: the machine file gives no memory-bandwidth"
            ));
            BYTES_PER_FLOP * flops
        }
    };
    let share = f64::from(ranks_per_node);
    Some((Roofline { flops: flops / share, bandwidth: bandwidth / share }, assumed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpcast_models::compute::{KernelWork, Term};

    /// Model files and machine files mean the same by a roofline.
    #[test]
    fn a_roofline_counts_the_same_work_in_model_files() {
        for kernel in HplKernel::ALL {
            let size = Size::mnk(17, 23, 31);
            let work = KernelWork::of(kernel.name()).expect("a kernel that is known");
            let arguments = kernel.values(size);
            let names = kernel.arguments();
            let sum = |parts: &[(Term, f64)]| -> f64 {
                parts.iter().map(|(term, factor)| factor * term.bind(names).expect("arguments").of(&arguments)).sum()
            };
            assert_eq!(Work { flops: sum(&work.flops), bytes: sum(&work.bytes) }, kernel.work(size), "{kernel:?}");
        }
    }

    #[test]
    fn kernels_are_listed_in_their_order() {
        for (place, kernel) in HplKernel::ALL.iter().enumerate() {
            assert_eq!(*kernel as usize, place);
        }
    }
}
