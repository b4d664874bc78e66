//! The network part of a model file: the keys of `[mpi]` in machine files, and how well they fit.

use std::fmt::Write;

use hpcast_platform::Protocol;
use hpcast_platform::fields::{Problem, Reader, Section};
use hpcast_units::{Bytes, Seconds};

use super::write::{list, number, quoted};
use crate::network::{NetworkFit, NetworkModel, RangeFit};

pub(super) fn read(reader: &mut Reader, network: &mut Section<'_>) -> NetworkModel {
    let eager: Option<Bytes> = network.quantity(reader, "eager-below");
    let detached: Option<Bytes> = network.quantity(reader, "detached-below");
    let probe: Option<Seconds> = network.quantity(reader, "probe");
    let test: Option<Seconds> = network.quantity(reader, "test");
    let mut protocol = |key: &'static str| {
        let mut section = network.section(reader, key);
        let protocol = Protocol::read(reader, &mut section);
        section.finish(reader);
        protocol.check(&format!("network.{key}")).iter().for_each(|problem| reader.report(problem));
        protocol
    };
    let (between, inside) = (protocol("between"), protocol("inside"));
    if let (Some(eager), Some(detached)) = (eager, detached)
        && detached < eager
    {
        let message = "eager messages are detached too, but this threshold is below `eager-below`";
        reader.fail("network.detached-below", message, "write a size of at least `eager-below`");
    }
    for (key, time) in [("network.probe", probe), ("network.test", test)] {
        if time.is_some_and(|time| time.get() < 0.0) {
            let (message, remedy) = ("the duration is negative".into(), "write a duration of zero or more".into());
            reader.report(&Problem { key: key.into(), message, remedy });
        }
    }
    let mut fit = network.section(reader, "fit");
    let fit = fit.exists().then(|| how_well(reader, &mut fit));
    network.finish(reader);
    let model = NetworkModel {
        eager_below: eager.map(Bytes::get),
        detached_below: detached.map(Bytes::get),
        probe: probe.map(Seconds::get),
        test: test.map(Seconds::get),
        between,
        inside,
        fit,
    };
    for (number, range) in model.fit.iter().flat_map(|fit| &fit.ranges).enumerate() {
        if let Err(error) = model.check_errors(range) {
            reader.fail(&format!("network.fit.ranges[{number}].covariance"), error.to_string(), error.remedy());
        }
    }
    model
}

fn how_well(reader: &mut Reader, section: &mut Section<'_>) -> NetworkFit {
    let example = "{ function = \"between.send\", above = \"0 B\", points = 100, ... }";
    let mut ranges = Vec::new();
    for mut range in section.sections(reader, "ranges", example).unwrap_or_default() {
        let above: Option<Bytes> = range.quantity(reader, "above");
        ranges.push(RangeFit {
            function: range.text(reader, "function").unwrap_or_default().to_owned(),
            above: above.unwrap_or_default().get(),
            points: range.whole(reader, "points").unwrap_or(0),
            sizes: range.whole(reader, "sizes").unwrap_or(0),
            r_squared: range.number(reader, "r-squared").unwrap_or(0.0),
            relative_error: range.number(reader, "relative-error").unwrap_or(0.0),
            covariance: covariance(reader, &mut range),
        });
        range.finish(reader);
    }
    let warnings = section.texts(reader, "warnings", "[]").unwrap_or_default();
    let warnings = warnings.into_iter().map(String::from).collect();
    section.finish(reader);
    NetworkFit { ranges, warnings }
}

fn covariance(reader: &mut Reader, range: &mut Section<'_>) -> Option<[f64; 3]> {
    let numbers = range.numbers(reader, "covariance", "[1e-14, 0, 1e-24]")?;
    let found = numbers.len();
    let triangle = numbers.try_into().ok();
    if triangle.is_none() {
        let message = format!("{found} numbers for the covariances of 2 figures");
        reader.fail(&range.key("covariance"), message, "write three: the lower triangle, row by row");
    }
    triangle
}

pub(super) fn write(network: &NetworkModel) -> String {
    let mut text = String::from("\n[network]\n");
    for (key, size) in [("eager-below", network.eager_below), ("detached-below", network.detached_below)] {
        text.extend(size.map(|size| format!("{key} = \"{}\"\n", Bytes::new(size))));
    }
    for (key, seconds) in [("probe", network.probe), ("test", network.test)] {
        text.extend(seconds.map(|seconds| format!("{key} = \"{}\"\n", Seconds::new(seconds))));
    }
    for (key, protocol) in [("between", &network.between), ("inside", &network.inside)] {
        if *protocol != Protocol::default() {
            let _ = write!(text, "\n[network.{key}]\n{}", protocol.to_toml());
        }
    }
    if let Some(NetworkFit { ranges, warnings }) = &network.fit {
        text += "\n[network.fit]\n";
        if !ranges.is_empty() {
            text += "ranges = [\n";
            ranges.iter().for_each(|range| text += &write_range(range));
            text += "]\n";
        }
        let warnings: Vec<String> = warnings.iter().map(|warning| quoted(warning)).collect();
        let _ = writeln!(text, "warnings = [{}]", warnings.join(", "));
    }
    text
}

fn write_range(range: &RangeFit) -> String {
    let RangeFit { function, above, points, sizes, r_squared, relative_error, covariance } = range;
    let covariance = covariance.map_or_else(String::new, |triangle| format!(", covariance = {}", list(&triangle)));
    format!(
        "  {{ function = {}, above = \"{}\", points = {points}, sizes = {sizes}, r-squared = {}, relative-error = {}\
         {covariance} }},\n",
        quoted(function),
        Bytes::new(*above),
        number(*r_squared),
        number(*relative_error),
    )
}
