//! What must hold for whatever readers of foreign input are fed: each module has a function `check` that panics if it does not,
//! and tells whether the input was one that could be read.
//!
//! The fuzz targets (`fuzz/`) look for inputs guided by coverage, where the tools for that are installed; `tests/mutated.rs` damages files
//! at random.

pub mod calls_csv;
pub mod daily_csv;
pub mod elf_program;
pub mod elf_start;
pub mod functions_toml;
pub mod hpl_dat;
pub mod http_request;
pub mod ibnetdiscover;
mod imported;
pub mod machine_toml;
pub mod messages_csv;
pub mod model_csv;
pub mod model_toml;
pub mod network_import;
pub mod platform_xml;
pub mod rank_file;
pub mod script;
pub mod study_toml;
pub mod topology_conf;
pub mod traffic_csv;
pub mod validation_part;
pub mod verified_lines;
