//! `hpcast model import`: published tables as model files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use hpcast_apps::hpl::HplKernel;
use hpcast_calibrate::import::{ImportError, KernelTable, import_dgemm};
use hpcast_models::compute::{Kernel, ModelFile, Unlisted};
use hpcast_platform::diagnostic::{Diagnostic, Source};
use hpcast_report::check_output;

use super::summary::summary;
use crate::call_table::in_table;
use crate::failure::Failure;
use crate::print;

/// Options of `hpcast model import`.
#[derive(Args)]
pub(crate) struct Import {
    #[command(flatten)]
    tables: Tables,
    /// The model file to write
    #[arg(short, long, value_name = "FILE.toml")]
    output: PathBuf,
}

/// Published tables, and what to take from them.
#[derive(Args)]
pub(crate) struct Tables {
    /// Table of dgemm models, a row a processor or a row a node
    pub dgemm: PathBuf,
    /// Which set of the table: its `model_id` or `cluster_id`
    #[arg(long, value_name = "NAME")]
    set: String,
    /// Table of the other kernels; those that it does not list take no time
    #[arg(long, value_name = "KERNELS.csv")]
    pub kernels: Option<PathBuf>,
    /// What the table calls the machine's first node (default: the smallest number that it has)
    #[arg(long, value_name = "NUMBER")]
    first_node: Option<u32>,
    /// These kernels take no time
    #[arg(long, value_name = "KERNELS", value_delimiter = ',')]
    free: Vec<String>,
    /// No kernel varies from call to call
    #[arg(long)]
    no_noise: bool,
    /// Only these kernels vary from call to call
    #[arg(long, value_name = "KERNELS", value_delimiter = ',', conflicts_with = "no_noise")]
    no_noise_except: Option<Vec<String>>,
}

impl Import {
    pub fn run(&self) -> Result<(), Failure> {
        check_output(&self.output, [self.tables.dgemm.as_path()].into_iter().chain(self.tables.kernels.as_deref()))?;
        let file = self.tables.file()?;
        super::write(&file, &self.output)?;
        print(&format!("written: {}\n\n{}", self.output.display(), summary(&file)))
    }
}

impl Tables {
    /// The models that the tables hold.
    pub fn file(&self) -> Result<ModelFile, Failure> {
        let source = Source::read(&self.dgemm)?;
        let dgemm = import_dgemm(&source.text, &self.set).map_err(|error| unreadable(&source, &error))?;
        let mut file = ModelFile {
            name: format!("{}, set {}", stem(&self.dgemm), self.set),
            source: Some(self.sources()),
            first_node: self.first_node.unwrap_or_else(|| smallest_node(&dgemm)),
            ..ModelFile::default()
        };
        if let Some(path) = &self.kernels {
            let source = Source::read(path)?;
            file.kernels = KernelTable::read(&source.text).map_err(|error| unreadable(&source, &error))?.kernels;
            file.unlisted = Unlisted::Free;
        }
        file.kernels.insert("dgemm".into(), dgemm);
        for name in &self.free {
            check_name(&file, name)?;
            file.kernels.insert(name.clone(), Kernel::free());
        }
        let noisy = match &self.no_noise_except {
            Some(names) => names,
            None if self.no_noise => &Vec::new(),
            None => return Ok(file),
        };
        noisy.iter().try_for_each(|name| check_name(&file, name))?;
        for (name, kernel) in &mut file.kernels {
            if !noisy.contains(name) {
                *kernel = std::mem::take(kernel).without_noise();
            }
        }
        Ok(file)
    }

    fn sources(&self) -> String {
        let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut text = format!("{} (set {})", name(&self.dgemm), self.set);
        if let Some(kernels) = &self.kernels {
            text += &format!(" and {}", name(kernels));
        }
        text
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn smallest_node(kernel: &Kernel) -> u32 {
    kernel.rows.iter().filter_map(|row| row.processor).map(|(node, _)| node).min().unwrap_or(0)
}

fn check_name(file: &ModelFile, name: &str) -> Result<(), Failure> {
    let known = HplKernel::ALL.iter().map(|kernel| kernel.name());
    if file.kernels.contains_key(name) || known.clone().any(|kernel| kernel == name) {
        return Ok(());
    }
    let known: Vec<&str> = known.collect();
    Err(Failure::input(format!("there is no kernel `{name}`; the kernels are {}", known.join(", "))))
}

fn unreadable(source: &Arc<Source>, error: &ImportError) -> Diagnostic {
    in_table(source, error.line(), &error.to_string(), error.remedy())
}
