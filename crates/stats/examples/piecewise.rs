//! Fits a table of points: `piecewise FILE OBJECTIVE [STRATEGY [REPEATS]]`, with a point `x,y` on each line.
//!
//! Prints one line for each segment (from, to, intercept, slope, points, objective), then the objective, the criterion and
//! the seconds of a fit. `peers/piecewise.py` compares with the published program by it.

use std::error::Error;
use std::time::Instant;

use hpcast_stats::piecewise::{Objective, Strategy, fit};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |index: usize, otherwise: &'static str| arguments.get(index).map_or(otherwise, String::as_str);
    let text = std::fs::read_to_string(argument(0, "points.csv"))?;
    let points = text.lines().map(point).collect::<Result<Vec<_>, _>>()?;
    let objective = match argument(1, "ordinary") {
        "ordinary" => Objective::Ordinary,
        "weighted" => Objective::Weighted,
        "logarithmic" => Objective::Logarithmic,
        other => return Err(format!("`{other}`: write ordinary, weighted or logarithmic").into()),
    };
    let strategy = match argument(2, "both") {
        "both" => Strategy::Both,
        "top-down" => Strategy::TopDown,
        "bottom-up" => Strategy::BottomUp,
        other => return Err(format!("`{other}`: write both, top-down or bottom-up").into()),
    };
    let repeats: u32 = argument(3, "1").parse()?;
    let start = Instant::now();
    let mut found = fit(&points, objective, strategy)?;
    for _ in 1..repeats {
        found = fit(&points, objective, strategy)?;
    }
    let seconds = start.elapsed().as_secs_f64() / f64::from(repeats);
    for s in &found.segments {
        println!("{:e},{:e},{:e},{:e},{},{:e}", s.from, s.to, s.intercept, s.slope, s.points, s.objective);
    }
    println!("{:e},{:e},{seconds:e}", found.objective, found.bic);
    Ok(())
}

fn point(line: &str) -> Result<(f64, f64), Box<dyn Error>> {
    let (x, y) = line.split_once(',').ok_or_else(|| format!("`{line}`: write x,y"))?;
    Ok((x.trim().parse()?, y.trim().parse()?))
}
