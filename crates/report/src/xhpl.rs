//! The output of xhpl itself (HPL 2.0, without residual checks), so that programs that read it can read ours.

use hpcast_apps::hpl::{Broadcast, Factorisation, HplDat, HplParameters, Order, SwapKind};

use crate::hpl::HplRun;

const DOUBLE: &str = "================================================================================";
const SINGLE: &str = "--------------------------------------------------------------------------------";
/// A list goes on in a new line after so many values.
const NEW_LINES: [usize; 2] = [8, 16];

/// What xhpl prints before it runs anything.
pub fn opening(dat: &HplDat) -> String {
    let columns = "T/V                N    NB     P     Q               Time                 Gflops";
    format!("{}{}{DOUBLE}\n{columns}\n{SINGLE}\n", header(), echo(dat))
}

fn header() -> String {
    format!(
        "{DOUBLE}\n\
         HPLinpack 2.0  --  High-Performance Linpack benchmark  --   September 10, 2008\n\
         Written by A. Petitet and R. Clint Whaley,  Innovative Computing Laboratory, UTK\n\
         Modified by Piotr Luszczek, Innovative Computing Laboratory, UTK\n\
         Modified by Julien Langou, University of Colorado Denver\n\
         Simulated by hpcast: times are forecasts, no system was solved\n\
         {DOUBLE}\n\n\
         An explanation of the input/output parameters follows:\n\
         T/V    : Wall time / encoded variant.\n\
         N      : The order of the coefficient matrix A.\n\
         NB     : The partitioning blocking factor.\n\
         P      : The number of process rows.\n\
         Q      : The number of process columns.\n\
         Time   : Time in seconds to solve the linear system.\n\
         Gflops : Rate of execution for solving the linear system.\n\n\
         The following parameter values will be used:\n\n"
    )
}

/// The parameters as xhpl repeats them.
fn echo(dat: &HplDat) -> String {
    let numbers = |values: &[u64]| list(values.iter());
    let factorisations = |values: &[Factorisation]| {
        list(values.iter().map(|value| match value {
            Factorisation::Left => "Left",
            Factorisation::Crout => "Crout",
            Factorisation::Right => "Right",
        }))
    };
    let broadcasts = list(dat.broadcast.iter().map(|value| match value {
        Broadcast::Ring => "1ring",
        Broadcast::RingModified => "1ringM",
        Broadcast::TwoRings => "2ring",
        Broadcast::TwoRingsModified => "2ringM",
        Broadcast::Long => "Blong",
        Broadcast::LongModified => "BlongM",
    }));
    let order = match dat.order {
        Order::RowMajor => " Row-major process mapping",
        Order::ColumnMajor => " Column-major process mapping",
    };
    let swap = match dat.swap {
        SwapKind::BinaryExchange => " Binary-exchange".into(),
        SwapKind::Long => " Spread-roll (long)".into(),
        SwapKind::Mix => format!(" Mix (threshold = {})", dat.swap_threshold),
    };
    let form = |transposed| if transposed { " transposed form" } else { " no-transposed form" };
    let rows: [(&str, String); 16] = [
        ("N", numbers(&dat.n)),
        ("NB", numbers(&dat.nb)),
        ("PMAP", order.into()),
        ("P", list(dat.grids.iter().map(|(rows, _)| rows))),
        ("Q", list(dat.grids.iter().map(|(_, columns)| columns))),
        ("PFACT", factorisations(&dat.pfact)),
        ("NBMIN", numbers(&dat.nbmin)),
        ("NDIV", numbers(&dat.ndiv)),
        ("RFACT", factorisations(&dat.rfact)),
        ("BCAST", broadcasts),
        ("DEPTH", list(dat.depth.iter())),
        ("SWAP", swap),
        ("L1", form(dat.l1_transposed).into()),
        ("U", form(dat.u_transposed).into()),
        ("EQUIL", if dat.equilibration { " yes" } else { " no" }.into()),
        ("ALIGN", format!(" {} double precision words", dat.alignment)),
    ];
    rows.iter().map(|(name, values)| format!("{name:<7}:{values}\n")).collect::<String>() + "\n"
}

/// Values below each other, with a new line before the ninth and before the seventeenth.
fn list(values: impl Iterator<Item = impl ToString>) -> String {
    let value = |(place, value): (usize, _)| {
        let new_line = if NEW_LINES.contains(&place) { "\n        " } else { "" };
        format!("{new_line}{:>8} ", ToString::to_string(&value))
    };
    values.enumerate().map(value).collect()
}

/// The line of one run: `W%c%1d%c%c%1d%c%1d%12d %5d %5d %5d %18.2f     %18.3e`.
pub fn line(run: &HplRun) -> String {
    let HplParameters { n, nb, grid, .. } = run.parameters;
    let (p, q) = (grid.rows, grid.columns);
    let (variant, rate) = (variant(&run.parameters), exponential(run.gflops));
    format!("{variant}{n:>12} {nb:>5} {p:>5} {q:>5} {:>18.2}     {rate:>18}\n", run.seconds)
}

/// How xhpl abbreviates the parameters of a run: `WR11C2R4`.
pub fn variant(run: &HplParameters) -> String {
    let order = match run.grid.order {
        Order::RowMajor => 'R',
        Order::ColumnMajor => 'C',
    };
    let letter = |factorisation| match factorisation {
        Factorisation::Left => 'L',
        Factorisation::Crout => 'C',
        Factorisation::Right => 'R',
    };
    let (broadcast, rfact, pfact) = (run.broadcast as u8, letter(run.rfact), letter(run.pfact));
    format!("W{order}{}{broadcast}{rfact}{}{pfact}{}", run.depth, run.ndiv, run.nbmin)
}

/// C's `%.3e`: at least two digits of exponent, with a sign.
fn exponential(number: f64) -> String {
    let text = format!("{number:.3e}");
    match text.split_once('e').map(|(digits, exponent)| (digits, exponent.parse::<i32>())) {
        Some((digits, Ok(exponent))) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.abs())
        }
        _ => text,
    }
}

/// What xhpl prints after so many runs.
pub fn closing(runs: usize) -> String {
    format!(
        "{DOUBLE}\n\nFinished {runs:>6} tests with the following results:\n         \
         {runs:>6} tests completed without checking,\n         \
         {:>6} tests skipped because of illegal input values.\n{SINGLE}\n\nEnd of Tests.\n{DOUBLE}\n",
        0
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_are_those_of_c() {
        let printed: Vec<String> = [1234.5678, 0.0, 1.5e-7, 9.9996e99, 1e123].map(exponential).into();
        assert_eq!(printed, ["1.235e+03", "0.000e+00", "1.500e-07", "1.000e+100", "1.000e+123"]);
    }

    #[test]
    fn the_output_of_xhpl() {
        let parameters = HplParameters::new(29_184, 192, 4, 8);
        let mut dat = HplDat::of(&parameters);
        dat.nb = (1..=17).collect();
        let run = HplRun {
            parameters,
            seed: 0,
            redrawn: None,
            seconds: 43.21,
            uncertainty: 0.0,
            bias: 0.0,
            gflops: 383.56,
            nodes: 32,
        };
        let text = opening(&dat) + &line(&run) + &closing(1);
        for part in [
            "\nN      :   29184 \nNB     :       1        2 ",
            "       8 \n               9 ",
            "      16 \n              17 \nPMAP   : Row-major process mapping\nP      :       4 \nQ      :       8 \nPFACT  :   Right \n",
            "BCAST  :  1ringM \nDEPTH  :       1 \nSWAP   : Mix (threshold = 64)\nL1     : transposed form\n",
            "ALIGN  : 8 double precision words\n\n====",
            "\nT/V                N    NB     P     Q               Time                 Gflops\n----",
            "\nWR11C2R4       29184   192     4     8              43.21              3.836e+02\n",
            "\nFinished      1 tests with the following results:\n              1 tests completed without checking,\n",
            "\nEnd of Tests.\n====",
        ] {
            assert!(text.contains(part), "{part}\nis missing in\n{text}");
        }
    }
}
