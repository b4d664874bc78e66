//! `<config>`: what SMPI and the network model are told, with what SimGrid assumes where nothing is said.
//!
//! Defaults: `sg_config.cpp`, `smpi_config.cpp`, `smpi_request.cpp` and `network_smpi.cpp` of SimGrid 3.32.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use super::Release;
use super::description::Setting;
use super::units::{self, Kind};
use crate::diagnostic::{Diagnostic, Diagnostics, Source};
use crate::machine::{FactorMeaning, FlowSharing};
use crate::protocol::{MpiParameters, Piece, Piecewise, PollGrowth, Protocol};
use crate::topology::Link;

/// `smpi/bw-factor` and `smpi/lat-factor` where a file has none.
const BANDWIDTH_FACTOR: &str = "65472:0.940694;15424:0.697866;9376:0.58729;5776:1.08739;3484:0.77493;1426:0.608902;\
                                732:0.341987;257:0.338112;0:0.812084";
const LATENCY_FACTOR: &str = "65472:11.6436;15424:3.48845;9376:2.59299;5776:2.18796;3484:1.88101;1426:1.61075;\
                              732:1.9503;257:1.95341;0:2.01467";
/// Bytes that SimGrid sends with each message since 3.26, and looks factors up with.
const ENVELOPE: u64 = 16;
/// Share of a flow that its acknowledgements take on the way back (`network_cm02.cpp`).
const CROSS_TRAFFIC: f64 = 0.05;

/// What the settings come to.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub mpi: MpiParameters,
    pub sharing: FlowSharing,
    /// Inside the hosts of routed zones that have no route to themselves.
    pub loopback: Link,
}

/// Interprets all settings; what cannot be converted is added to `notes`.
pub(super) fn interpret(
    settings: &[Setting],
    release: Release,
    source: &Arc<Source>,
    notes: &mut Diagnostics,
) -> Result<Settings, Diagnostic> {
    let mut book = Book { source, notes, entries: BTreeMap::new() };
    for setting in settings {
        book.enter(setting);
    }
    let settings = book.settings(release)?;
    book.name_the_rest();
    Ok(settings)
}

/// Settings by key; those that were used are taken out.
struct Book<'a> {
    source: &'a Arc<Source>,
    notes: &'a mut Diagnostics,
    entries: BTreeMap<String, &'a Setting>,
}

impl<'a> Book<'a> {
    fn enter(&mut self, setting: &'a Setting) {
        // Older spellings: `async_small_thres`, `network/weight_S`.
        let mut key = setting.key.replace('_', "-");
        if key.ends_with("-thres") {
            key.push('h');
        }
        if let Entry::Vacant(entry) = self.entries.entry(key) {
            entry.insert(setting);
        } else {
            let message = format!("`{}` is set twice; SimGrid takes the first", setting.key);
            self.note(setting, message, "remove one of them");
        }
    }

    fn note(&mut self, setting: &Setting, message: impl Into<String>, remedy: impl Into<String>) {
        self.notes.push(Diagnostic::warning(message, remedy).at(self.source, setting.span.clone()));
    }

    fn error(&self, setting: &Setting, remedy: &str) -> Diagnostic {
        let message = format!("`{}` is not a value of {}", setting.value, setting.key);
        Diagnostic::error(message, remedy).at(self.source, setting.span.clone())
    }

    fn settings(&mut self, release: Release) -> Result<Settings, Diagnostic> {
        let between = Protocol {
            send: self.overhead("smpi/os")?,
            isend: self.overhead("smpi/ois")?,
            receive: self.overhead("smpi/or")?,
            latency_factor: self.factor("smpi/lat-factor")?.unwrap_or_else(|| default_factor(LATENCY_FACTOR)),
            bandwidth_factor: self.factor("smpi/bw-factor")?.unwrap_or_else(|| default_factor(BANDWIDTH_FACTOR)),
            ..Protocol::default()
        };
        // Only the patched SimGrid of Cornebize's thesis knows factors of the loopback.
        let latency = self.factor("smpi/loopback-lat-factor")?;
        let bandwidth = self.factor("smpi/loopback-bw-factor")?;
        let inside = Protocol {
            latency_factor: latency.unwrap_or_else(|| between.latency_factor.clone()),
            bandwidth_factor: bandwidth.unwrap_or_else(|| between.bandwidth_factor.clone()),
            ..between.clone()
        };
        let thresholds = ["smpi/async-small-thresh", "smpi/send-is-detached-thresh"];
        let at_fault = thresholds.iter().find_map(|key| self.entries.get(*key).copied());
        let eager_below = self.whole(thresholds[0])?.unwrap_or(0);
        let detached_below = self.whole(thresholds[1])?.unwrap_or(65_536);
        if eager_below > detached_below {
            let message = "messages would be eager beyond the size at which they stop to be detached";
            let remedy = "smpi/async-small-thresh must not exceed smpi/send-is-detached-thresh (65536 if not given)";
            let error = Diagnostic::error(message, remedy);
            return Err(at_fault.map_or(error.clone(), |setting| error.at(self.source, setting.span.clone())));
        }
        let growth = self.flag("smpi/grow-injected-times")?.unwrap_or(true);
        let mpi = MpiParameters {
            eager_below,
            detached_below,
            envelope: if release == Release::V3_32 { ENVELOPE } else { 0 },
            between,
            inside,
            probe: self.number("smpi/iprobe", Kind::Time)?.unwrap_or(1e-4),
            test: self.number("smpi/test", Kind::Time)?.unwrap_or(1e-4),
            poll_growth: if growth { PollGrowth::Global } else { PollGrowth::Off },
            reduce_per_byte: 0.0,
        };
        let cross_traffic = self.flag("network/crosstraffic")?.unwrap_or(true);
        let sharing = FlowSharing {
            cross_traffic: if cross_traffic { CROSS_TRAFFIC } else { 0.0 },
            weight_s: Some(self.number("network/weight-S", Kind::Time)?.unwrap_or(8775.0)),
            window: Some(self.number("network/TCP-gamma", Kind::Time)?.unwrap_or(4_194_304.0)).filter(|w| *w > 0.0),
            factor: if release == Release::V3_32 { FactorMeaning::Share } else { FactorMeaning::Bound },
        };
        let loopback = Link {
            bandwidth: self.number("network/loopback-bw", Kind::Bandwidth)?.unwrap_or(10e9),
            latency: self.number("network/loopback-lat", Kind::Time)?.unwrap_or(0.0),
        };
        Ok(Settings { mpi, sharing, loopback })
    }

    fn number(&mut self, key: &str, kind: Kind) -> Result<Option<f64>, Diagnostic> {
        let Some(setting) = self.entries.remove(key) else { return Ok(None) };
        units::parse(&setting.value, kind).map(Some).map_err(|_| self.error(setting, "write a number of zero or more"))
    }

    fn whole(&mut self, key: &str) -> Result<Option<u64>, Diagnostic> {
        let Some(setting) = self.entries.remove(key) else { return Ok(None) };
        setting.value.trim().parse().map(Some).map_err(|_| self.error(setting, "write a whole number of bytes"))
    }

    fn flag(&mut self, key: &str) -> Result<Option<bool>, Diagnostic> {
        let Some(setting) = self.entries.remove(key) else { return Ok(None) };
        match setting.value.to_ascii_lowercase().as_str() {
            "yes" | "on" | "true" | "1" => Ok(Some(true)),
            "no" | "off" | "false" | "0" => Ok(Some(false)),
            _ => Err(self.error(setting, "write yes or no")),
        }
    }

    /// Seconds by size; sizes up to the first threshold use the first piece.
    fn overhead(&mut self, key: &str) -> Result<Piecewise, Diagnostic> {
        let Some(setting) = self.entries.remove(key) else { return Ok(Piecewise::default()) };
        self.pieces(setting).map(Piecewise::new)
    }

    /// A factor by size; it is 1 up to the first threshold, and there is no slope.
    fn factor(&mut self, key: &str) -> Result<Option<Piecewise>, Diagnostic> {
        let Some(setting) = self.entries.remove(key) else { return Ok(None) };
        let pieces = self.pieces(setting)?;
        if key.ends_with("bw-factor") && pieces.iter().any(|piece| piece.base <= 0.0) {
            return Err(self.error(setting, "a factor of bandwidth is greater than zero"));
        }
        Ok(Some(factor(pieces)))
    }

    /// `threshold:base:slope;...`
    fn pieces(&mut self, setting: &Setting) -> Result<Vec<Piece>, Diagnostic> {
        const REMEDY: &str = "write `threshold:value` or `threshold:value:slope`, separated by semicolons";
        let mut pieces: Vec<Piece> = Vec::new();
        for text in setting.value.split(';').filter(|text| !text.trim().is_empty()) {
            let mut words = text.split(':');
            let above =
                self.threshold(setting, words.next().unwrap_or("")).ok_or_else(|| self.error(setting, REMEDY))?;
            let mut values = words.map(|word| units::parse(word, Kind::Time));
            let mut next = || values.next().transpose().map_err(|_| self.error(setting, REMEDY));
            let base = next()?.ok_or_else(|| self.error(setting, REMEDY))?;
            let per_byte = next()?.unwrap_or(0.0);
            if pieces.iter().any(|piece| piece.above == above) {
                return Err(self.error(setting, "each threshold may be given once"));
            }
            pieces.push(Piece { above, base, per_byte, ..Piece::default() });
        }
        match pieces.is_empty() {
            true => Err(self.error(setting, REMEDY)),
            false => Ok(pieces),
        }
    }

    /// A size in bytes. SimGrid reads `4e+05` as 4, which nobody means.
    fn threshold(&mut self, setting: &Setting, word: &str) -> Option<u64> {
        let word = word.trim();
        if let Ok(size) = word.parse() {
            return Some(size);
        }
        let size = word.parse::<f64>().ok().filter(|size| (0.0..1e18).contains(size) && size.fract() == 0.0)? as u64;
        let message = format!("the threshold `{word}` of {} is taken as {size} bytes", setting.key);
        let digits: String = word.chars().take_while(char::is_ascii_digit).collect();
        self.note(setting, message, format!("SimGrid itself reads it as {digits}: write whole numbers"));
        Some(size)
    }

    /// Settings that nothing in a machine file corresponds to.
    fn name_the_rest(&mut self) {
        for (key, setting) in std::mem::take(&mut self.entries) {
            let reason = match key.as_str() {
                "network/model" if setting.value == "SMPI" => continue,
                "maxmin/concurrency-limit" if setting.value == "-1" => continue,
                "network/model" => "hpcast follows the model SMPI",
                "network/optim"
                | "network/maxmin-selective-update"
                | "maxmin/concurrency-limit"
                | "surf/precision"
                | "maxmin/precision" => "it concerns how SimGrid computes, not what",
                "network/latency-factor" | "network/bandwidth-factor" => "it has no effect on the model SMPI",
                "smpi/IB-penalty-factors" => "it belongs to another network model",
                "smpi/wtime" => "MPI_Wtime costs no time in hpcast",
                "smpi/init" => "MPI_Init costs no time in hpcast",
                "smpi/iprobe-cpu-usage" => "probes use no energy in hpcast",
                "smpi/finalization-barrier" => "programs of hpcast end when their last rank does",
                "smpi/host-speed"
                | "smpi/running-power"
                | "smpi/simulate-computation"
                | "smpi/cpu-threshold"
                | "smpi/comp-adjustment-file" => "hpcast does not time computation on this computer",
                "smpi/coll-selector"
                | "smpi/gather"
                | "smpi/allgather"
                | "smpi/barrier"
                | "smpi/reduce-scatter"
                | "smpi/scatter"
                | "smpi/allgatherv"
                | "smpi/allreduce"
                | "smpi/alltoall"
                | "smpi/alltoallv"
                | "smpi/bcast"
                | "smpi/reduce" => "choose algorithms of collectives when you run a program (--coll)",
                _ if key.starts_with("contexts/")
                    || key.starts_with("tracing")
                    || key.starts_with("smpi/display")
                    || key.starts_with("smpi/shared-malloc")
                    || key.starts_with("smpi/privatiz")
                    || key.starts_with("model-check")
                    || key == "smpi/keep-temps" =>
                {
                    "it concerns how SimGrid runs, not what it simulates"
                }
                _ => "hpcast does not know it",
            };
            let message = format!("the setting `{}` = `{}` is not converted", setting.key, setting.value);
            self.note(setting, message, reason);
        }
    }
}

fn factor(mut pieces: Vec<Piece>) -> Piecewise {
    pieces.iter_mut().for_each(|piece| piece.per_byte = 0.0);
    if pieces.iter().all(|piece| piece.above > 0) {
        pieces.push(Piece { base: 1.0, ..Piece::default() });
    }
    Piecewise::new(pieces)
}

fn default_factor(text: &str) -> Piecewise {
    let number = |word: Option<&str>| word.and_then(|word| word.parse::<f64>().ok()).unwrap_or(1.0);
    let piece = |text: &str| {
        let mut words = text.split(':');
        Piece { above: number(words.next()) as u64, base: number(words.next()), ..Piece::default() }
    };
    factor(text.split(';').map(piece).collect())
}
