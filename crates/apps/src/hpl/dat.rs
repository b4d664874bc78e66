//! HPL.dat, the file that tells xhpl what to run: lists of values, of which all combinations are run.
//!
//! It is read as xhpl reads it (HPL_pdinfo): line by line, the first words of a line count and the rest is a remark.
//! Where xhpl would go on with something that is not there (an empty line, a word for a number), there is an error.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use hpcast_platform::diagnostic::{Diagnostic, Source};

use super::grid::{Grid, Order};
use super::parameters::{Broadcast, Factorisation, HplParameters, Swap};

/// The way in which rows are exchanged, without its threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwapKind {
    /// Binary exchange.
    BinaryExchange,
    /// Spread and roll.
    Long,
    /// One or the other, by the threshold.
    Mix,
}

impl Order {
    /// All of them, by their number in HPL.dat.
    pub const ALL: [Order; 2] = [Order::RowMajor, Order::ColumnMajor];

    /// Its name as an option.
    pub fn name(self) -> &'static str {
        ["row", "column"][self as usize]
    }
}

impl Factorisation {
    /// All of them, by their number in HPL.dat.
    pub const ALL: [Factorisation; 3] = [Factorisation::Left, Factorisation::Crout, Factorisation::Right];

    /// Its name as an option.
    pub fn name(self) -> &'static str {
        ["left", "crout", "right"][self as usize]
    }
}

impl Broadcast {
    /// All of them, by their number in HPL.dat.
    pub const ALL: [Broadcast; 6] = [
        Broadcast::Ring,
        Broadcast::RingModified,
        Broadcast::TwoRings,
        Broadcast::TwoRingsModified,
        Broadcast::Long,
        Broadcast::LongModified,
    ];

    /// Its name as an option.
    pub fn name(self) -> &'static str {
        ["1ring", "1ringM", "2ring", "2ringM", "long", "longM"][self as usize]
    }
}

impl SwapKind {
    /// All of them, by their number in HPL.dat.
    pub const ALL: [SwapKind; 3] = [SwapKind::BinaryExchange, SwapKind::Long, SwapKind::Mix];

    /// Its name as an option.
    pub fn name(self) -> &'static str {
        ["binary-exchange", "long", "mix"][self as usize]
    }
}

/// What an HPL.dat lists. All combinations are run.
#[derive(Clone, Debug, PartialEq)]
pub struct HplDat {
    /// Orders of the matrix.
    pub n: Vec<u64>,
    /// Columns of a panel.
    pub nb: Vec<u64>,
    /// How ranks are laid out on the grid.
    pub order: Order,
    /// Rows and columns of grids.
    pub grids: Vec<(u32, u32)>,
    /// Residuals up to this pass; there are none in a simulation.
    pub residual: f64,
    /// Factorisations of at most `nbmin` columns.
    pub pfact: Vec<Factorisation>,
    /// Where the recursion stops.
    pub nbmin: Vec<u64>,
    /// Parts into which it cuts a panel.
    pub ndiv: Vec<u64>,
    /// The recursion.
    pub rfact: Vec<Factorisation>,
    /// How panels travel.
    pub broadcast: Vec<Broadcast>,
    /// Panels factored ahead.
    pub depth: Vec<u32>,
    /// How rows are exchanged.
    pub swap: SwapKind,
    /// Columns above which the mixed swap is long.
    pub swap_threshold: u64,
    /// Whether L1 is kept transposed.
    pub l1_transposed: bool,
    /// Whether U is kept transposed.
    pub u_transposed: bool,
    /// Whether the long swap levels out.
    pub equilibration: bool,
    /// Alignment of the matrix in memory, in numbers; a simulation has no use for it.
    pub alignment: u64,
    /// What xhpl takes where the file says something else.
    pub assumed: Vec<String>,
}

/// The most values that xhpl takes in a list (HPL_MAX_PARAM).
const MOST_VALUES: u64 = 20;
/// Characters of a line that xhpl reads at a time (HPL_LINE_MAX).
const LONGEST_LINE: usize = 253;
/// xhpl keeps numbers in 32 bits with a sign.
const LARGEST: u64 = i32::MAX as u64;

impl HplDat {
    /// One run.
    pub fn of(parameters: &HplParameters) -> HplDat {
        let (swap, swap_threshold) = match parameters.swap {
            Swap::BinaryExchange => (SwapKind::BinaryExchange, 64),
            Swap::Long => (SwapKind::Long, 64),
            Swap::Mix { threshold } => (SwapKind::Mix, threshold),
        };
        HplDat {
            n: vec![parameters.n],
            nb: vec![parameters.nb],
            order: parameters.grid.order,
            grids: vec![(parameters.grid.rows, parameters.grid.columns)],
            residual: 16.0,
            pfact: vec![parameters.pfact],
            nbmin: vec![parameters.nbmin],
            ndiv: vec![parameters.ndiv],
            rfact: vec![parameters.rfact],
            broadcast: vec![parameters.broadcast],
            depth: vec![parameters.depth],
            swap,
            swap_threshold,
            l1_transposed: parameters.l1_transposed,
            u_transposed: parameters.u_transposed,
            equilibration: parameters.equilibration,
            alignment: 8,
            assumed: Vec::new(),
        }
    }

    /// Reads the text of an HPL.dat.
    pub fn parse(source: &Arc<Source>) -> Result<HplDat, Diagnostic> {
        let mut lines = Lines { source, next: 0, number: 0, assumed: Vec::new() };
        for what in ["the first title line", "the second title line"] {
            lines.line(what)?;
        }
        lines.first("the name of the output file")?;
        lines.number("the number of the output device")?;
        let n = lines.list("N", 1..=LARGEST)?;
        let nb = lines.list("NB", 1..=LARGEST)?;
        // Whatever is not 1 is row-major.
        let order = Order::ALL[usize::from(lines.number("PMAP")?.value == 1)];
        let grids = lines.count("process grids")?;
        let rows = lines.values("P", grids, 1..=LARGEST)?;
        let columns = lines.values("Q", grids, 1..=LARGEST)?;
        let residual = lines.real("the threshold of the residual")?;
        let pfact = lines.choices("PFACT", &Factorisation::ALL, Factorisation::Right)?;
        let nbmin = lines.list("NBMIN", 1..=LARGEST)?;
        let ndiv = lines.list("NDIV", 2..=LARGEST)?;
        let rfact = lines.choices("RFACT", &Factorisation::ALL, Factorisation::Right)?;
        let broadcast = lines.choices("BCAST", &Broadcast::ALL, Broadcast::RingModified)?;
        let depth = lines.list("DEPTH", 0..=LARGEST)?;
        let swap = lines.number("SWAP")?;
        let swap = lines.choice("SWAP", swap.value, &SwapKind::ALL, SwapKind::Long);
        let swap_threshold = lines.number("the swapping threshold")?.value.max(0) as u64;
        let l1 = lines.number("the form of L1")?;
        let u = lines.number("the form of U")?;
        let equilibration = lines.number("equilibration")?;
        let alignment = lines.number("the memory alignment")?;
        Ok(HplDat {
            n,
            nb,
            order,
            grids: rows.into_iter().zip(columns).map(|(rows, columns)| (rows as u32, columns as u32)).collect(),
            residual,
            pfact,
            nbmin,
            ndiv,
            rfact,
            broadcast,
            depth: depth.into_iter().map(|depth| depth as u32).collect(),
            swap,
            swap_threshold,
            // What is neither 0 nor 1 counts as 0 here, and as 1 for the equilibration.
            l1_transposed: l1.value != 1,
            u_transposed: u.value != 1,
            equilibration: equilibration.value != 0,
            alignment: if alignment.value > 0 { alignment.value as u64 } else { 4 },
            assumed: lines.assumed,
        })
    }

    /// How many combinations there are.
    pub fn combinations(&self) -> u128 {
        let numbers = [&self.n, &self.nb, &self.nbmin, &self.ndiv].map(Vec::len);
        let others = [self.pfact.len(), self.rfact.len(), self.broadcast.len(), self.depth.len(), self.grids.len()];
        numbers.into_iter().chain(others).map(|length| length as u128).product()
    }

    /// All combinations, in the order in which xhpl runs them (HPL_pddriver).
    pub fn runs(&self) -> Vec<HplParameters> {
        let swap = match self.swap {
            SwapKind::BinaryExchange => Swap::BinaryExchange,
            SwapKind::Long => Swap::Long,
            SwapKind::Mix => Swap::Mix { threshold: self.swap_threshold },
        };
        let mut runs = Vec::new();
        for &(rows, columns) in &self.grids {
            let common = HplParameters {
                grid: Grid { rows, columns, order: self.order },
                swap,
                l1_transposed: self.l1_transposed,
                u_transposed: self.u_transposed,
                equilibration: self.equilibration,
                ..HplParameters::new(1, 1, rows, columns)
            };
            let mut combinations = vec![common];
            each(&mut combinations, &self.n, |run, n| run.n = n);
            each(&mut combinations, &self.nb, |run, nb| run.nb = nb);
            each(&mut combinations, &self.depth, |run, depth| run.depth = depth);
            each(&mut combinations, &self.broadcast, |run, broadcast| run.broadcast = broadcast);
            each(&mut combinations, &self.rfact, |run, rfact| run.rfact = rfact);
            each(&mut combinations, &self.pfact, |run, pfact| run.pfact = pfact);
            each(&mut combinations, &self.nbmin, |run, nbmin| run.nbmin = nbmin);
            each(&mut combinations, &self.ndiv, |run, ndiv| run.ndiv = ndiv);
            runs.append(&mut combinations);
        }
        runs
    }
}

/// Each combination so far with each of the values.
fn each<T: Copy>(runs: &mut Vec<HplParameters>, values: &[T], set: impl Fn(&mut HplParameters, T)) {
    let with = |run: &HplParameters, value: T| {
        let mut run = *run;
        set(&mut run, value);
        run
    };
    *runs =
        runs.iter().flat_map(|run| values.iter().map(move |value| (run, *value))).map(|(r, v)| with(r, v)).collect();
}

/// The file itself; reading it gives back the same.
impl fmt::Display for HplDat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn words(values: impl IntoIterator<Item = impl fmt::Display>) -> String {
            values.into_iter().map(|value| value.to_string()).collect::<Vec<_>>().join(" ")
        }
        fn list(f: &mut fmt::Formatter<'_>, count: usize, values: String, number: &str, what: &str) -> fmt::Result {
            writeln!(f, "{count:<12} {number}\n{values:<12} {what}")
        }
        let numbers = |values: &[Factorisation]| words(values.iter().map(|value| *value as usize));
        let mut one = |value: &dyn fmt::Display, what: &str| writeln!(f, "{:<12} {what}", value.to_string());
        one(&"HPLinpack benchmark input file", "")?;
        one(&"Written by hpcast", "")?;
        one(&"HPL.out", "output file name (if any)")?;
        one(&6, "device out (6=stdout,7=stderr,file)")?;
        list(f, self.n.len(), words(&self.n), "# of problems sizes (N)", "Ns")?;
        list(f, self.nb.len(), words(&self.nb), "# of NBs", "NBs")?;
        writeln!(f, "{:<12} PMAP process mapping (0=Row-,1=Column-major)", self.order as usize)?;
        let rows = words(self.grids.iter().map(|grid| grid.0));
        list(f, self.grids.len(), rows, "# of process grids (P x Q)", "Ps")?;
        writeln!(f, "{:<12} Qs", words(self.grids.iter().map(|grid| grid.1)))?;
        writeln!(f, "{:<12} threshold", format!("{:?}", self.residual))?;
        list(f, self.pfact.len(), numbers(&self.pfact), "# of panel fact", "PFACTs (0=left, 1=Crout, 2=Right)")?;
        list(f, self.nbmin.len(), words(&self.nbmin), "# of recursive stopping criterium", "NBMINs (>= 1)")?;
        list(f, self.ndiv.len(), words(&self.ndiv), "# of panels in recursion", "NDIVs")?;
        list(
            f,
            self.rfact.len(),
            numbers(&self.rfact),
            "# of recursive panel fact.",
            "RFACTs (0=left, 1=Crout, 2=Right)",
        )?;
        let broadcasts = words(self.broadcast.iter().map(|value| *value as usize));
        let what = "BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)";
        list(f, self.broadcast.len(), broadcasts, "# of broadcast", what)?;
        list(f, self.depth.len(), words(&self.depth), "# of lookahead depth", "DEPTHs (>=0)")?;
        let mut one = |value: u64, what: &str| writeln!(f, "{value:<12} {what}");
        one(self.swap as u64, "SWAP (0=bin-exch,1=long,2=mix)")?;
        one(self.swap_threshold, "swapping threshold")?;
        one(u64::from(!self.l1_transposed), "L1 in (0=transposed,1=no-transposed) form")?;
        one(u64::from(!self.u_transposed), "U  in (0=transposed,1=no-transposed) form")?;
        one(u64::from(self.equilibration), "Equilibration (0=no,1=yes)")?;
        one(self.alignment, "memory alignment in double (> 0)")
    }
}

/// A word of a line and where it is.
#[derive(Clone)]
struct Word<'s> {
    text: &'s str,
    bytes: Range<usize>,
}

/// A number and where it is.
struct Number {
    value: i64,
    bytes: Range<usize>,
}

/// The lines of the file, one after the other.
struct Lines<'s> {
    source: &'s Arc<Source>,
    /// Where the next line begins.
    next: usize,
    /// Lines read.
    number: usize,
    assumed: Vec<String>,
}

impl<'s> Lines<'s> {
    fn fail(&self, bytes: Range<usize>, message: String, remedy: &str) -> Diagnostic {
        Diagnostic::error(message, remedy).at(self.source, bytes)
    }

    /// The next line, and where it begins.
    fn line(&mut self, what: &str) -> Result<(usize, &'s str), Diagnostic> {
        let start = self.next;
        let rest = &self.source.text[start..];
        if rest.is_empty() {
            let message = format!("the file ends after {} lines, before {what}", self.number);
            let end = self.source.text.trim_end().len();
            let from = self.source.text[..end].rfind('\n').map_or(0, |newline| newline + 1);
            return Err(self.fail(from..end, message, "add the lines that are missing: an HPL.dat has 31"));
        }
        let line = rest.split_inclusive('\n').next().unwrap_or(rest);
        self.next += line.len();
        self.number += 1;
        if line.trim_end_matches('\n').len() > LONGEST_LINE {
            let message =
                format!("xhpl reads {LONGEST_LINE} characters of a line and takes the rest for the next line");
            return Err(self.fail(start..start + line.trim_end().len(), message, "shorten the line"));
        }
        Ok((start, line))
    }

    /// The first word of the next line; the rest is a remark.
    fn first(&mut self, what: &str) -> Result<Word<'s>, Diagnostic> {
        let (start, line) = self.line(what)?;
        match words(start, line).next() {
            Some(word) => Ok(word),
            None => Err(self.empty(start, line, what)),
        }
    }

    fn empty(&self, start: usize, line: &str, what: &str) -> Diagnostic {
        let message = format!("line {} is empty where {what} should be", self.number);
        // An empty line at the beginning of the file has no place that could be shown.
        let end = start + line.trim_end_matches(['\n', '\r']).len();
        self.fail(start..end, message, "write it there; no line of an HPL.dat may be left out")
    }

    fn number(&mut self, what: &str) -> Result<Number, Diagnostic> {
        let word = self.first(what)?;
        self.whole(&word, what)
    }

    fn whole(&self, word: &Word<'_>, what: &str) -> Result<Number, Diagnostic> {
        match word.text.parse::<i32>() {
            Ok(value) => Ok(Number { value: value.into(), bytes: word.bytes.clone() }),
            Err(error) => {
                let problem = match error.kind() {
                    std::num::IntErrorKind::PosOverflow | std::num::IntErrorKind::NegOverflow => {
                        format!("`{}` is beyond xhpl's numbers of 32 bits", word.text)
                    }
                    _ => format!("`{}` is no whole number", word.text),
                };
                Err(self.fail(word.bytes.clone(), format!("{what}: {problem}"), "write a whole number, such as 4"))
            }
        }
    }

    fn real(&mut self, what: &str) -> Result<f64, Diagnostic> {
        let word = self.first(what)?;
        match word.text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => {
                let message = format!("{what}: `{}` is no number", word.text);
                Err(self.fail(word.bytes, message, "write a number, such as 16.0"))
            }
        }
    }

    /// How many values the next line has.
    fn count(&mut self, what: &str) -> Result<usize, Diagnostic> {
        let what = format!("the number of {what}");
        let number = self.number(&what)?;
        self.within(&number, &what, 1..=MOST_VALUES).map(|count| count as usize)
    }

    fn within(&self, number: &Number, what: &str, range: std::ops::RangeInclusive<u64>) -> Result<u64, Diagnostic> {
        match u64::try_from(number.value) {
            Ok(value) if range.contains(&value) => Ok(value),
            _ => {
                let (least, most) = (*range.start(), *range.end());
                let remedy = match most {
                    LARGEST => format!("write a number from {least} on"),
                    _ => format!("write a number from {least} to {most}"),
                };
                Err(self.fail(number.bytes.clone(), format!("{what}: {} is out of range", number.value), &remedy))
            }
        }
    }

    /// The words of the next line that xhpl takes for values. It goes on behind a value by as many characters as the
    /// value has and one more, wherever the value was found: what is not separated by single spaces it may read twice.
    fn value_words(&mut self, what: &str, count: usize) -> Result<Vec<Word<'s>>, Diagnostic> {
        let (start, line) = self.line(&format!("the values of {what}"))?;
        if line.trim().is_empty() {
            return Err(self.empty(start, line, &format!("values of {what}")));
        }
        let mut at = 0;
        let mut values = Vec::with_capacity(count);
        let all: Vec<Word<'s>> = words(start, line).collect();
        for place in 0..count {
            let Some(word) = all.get(place) else {
                let message = format!("{what}: {count} values are announced, and the line has {}", all.len());
                let end = start + line.trim_end().len();
                return Err(self.fail(start..end, message, "write as many values as the line above says"));
            };
            let rest = line.get(at..).unwrap_or_default();
            let found = words(start + at, rest).next();
            if found.as_ref().is_none_or(|found| found.bytes != word.bytes) {
                let found = found.map_or("nothing".into(), |found| format!("`{}`", found.text));
                let message = format!("{what}: xhpl would read {found} instead of `{}`", word.text);
                let remedy = "begin the line with the first value and put one space between values";
                return Err(self.fail(word.bytes.clone(), message, remedy));
            }
            at += word.text.len() + 1;
            values.push(word.clone());
        }
        Ok(values)
    }

    fn values(
        &mut self,
        what: &str,
        count: usize,
        range: std::ops::RangeInclusive<u64>,
    ) -> Result<Vec<u64>, Diagnostic> {
        let words = self.value_words(what, count)?;
        words.iter().map(|word| self.within(&self.whole(word, what)?, what, range.clone())).collect()
    }

    /// A line with the number of values and a line with the values.
    fn list(&mut self, what: &str, range: std::ops::RangeInclusive<u64>) -> Result<Vec<u64>, Diagnostic> {
        let count = self.count(&format!("values of {what}"))?;
        self.values(what, count, range)
    }

    /// The same for values that stand for something; xhpl takes `other` for numbers that do not.
    fn choices<T: Copy + fmt::Debug>(&mut self, what: &str, all: &[T], other: T) -> Result<Vec<T>, Diagnostic> {
        let count = self.count(&format!("values of {what}"))?;
        let words = self.value_words(what, count)?;
        let numbers: Vec<Number> = words.iter().map(|word| self.whole(word, what)).collect::<Result<_, _>>()?;
        Ok(numbers.iter().map(|number| self.choice(what, number.value, all, other)).collect())
    }

    fn choice<T: Copy + fmt::Debug>(&mut self, what: &str, number: i64, all: &[T], other: T) -> T {
        match usize::try_from(number).ok().and_then(|number| all.get(number)) {
            Some(choice) => *choice,
            None => {
                let most = all.len() - 1;
                self.assumed
                    .push(format!("{what} {number} in HPL.dat is none of 0 to {most}: {other:?}, as xhpl has it"));
                other
            }
        }
    }
}

/// The words of a line that begins at a byte of the text.
fn words(start: usize, line: &str) -> impl Iterator<Item = Word<'_>> {
    line.split_ascii_whitespace().map(move |text| {
        let from = start + (text.as_ptr() as usize - line.as_ptr() as usize);
        Word { text, bytes: from..from + text.len() }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As it comes with HPL, but for the lists.
    const TEXT: &str = include_str!("../../tests/HPL.dat");

    fn parse(text: &str) -> Result<HplDat, Diagnostic> {
        HplDat::parse(&Source::new("HPL.dat", text))
    }

    #[test]
    fn the_file_as_xhpl_reads_it() {
        let dat = parse(TEXT).unwrap();
        assert_eq!(
            (&dat.n[..], &dat.nb[..], &dat.grids[..]),
            (&[1000, 2000][..], &[64, 128, 192][..], &[(2, 2), (1, 4)][..])
        );
        assert_eq!((&dat.pfact[..], &dat.rfact[..]), (&[Factorisation::Right][..], &[Factorisation::Crout][..]));
        assert_eq!(dat.broadcast, [Broadcast::RingModified, Broadcast::LongModified]);
        assert_eq!((dat.swap, dat.swap_threshold, dat.residual, dat.alignment), (SwapKind::Mix, 64, 16.0, 8));
        assert!(dat.l1_transposed && dat.u_transposed && dat.equilibration && dat.assumed.is_empty());
        // More spaces than one are no harm where xhpl still finds what is meant.
        assert_eq!(parse(&TEXT.replace("1000 2000", "1000   2000")).unwrap().n, [1000, 2000]);
    }

    #[test]
    fn what_is_written_is_read_back() {
        let mut dat = parse(TEXT).unwrap();
        assert_eq!(parse(&dat.to_string()).unwrap(), dat);
        dat.order = Order::ColumnMajor;
        dat.swap = SwapKind::BinaryExchange;
        (dat.l1_transposed, dat.equilibration, dat.residual) = (false, false, -0.5);
        dat.depth = vec![0, 1, 2];
        assert_eq!(parse(&dat.to_string()).unwrap(), dat);
        let run = HplParameters::new(10, 2, 3, 4);
        let of_one = HplDat::of(&run);
        assert_eq!((parse(&of_one.to_string()).unwrap(), of_one.runs()), (of_one, vec![run]));
    }

    #[test]
    fn all_combinations_in_the_order_of_xhpl() {
        let dat = parse(TEXT).unwrap();
        let runs = dat.runs();
        assert_eq!((runs.len(), dat.combinations()), (2 * 2 * 3 * 2, 24));
        let place = |run: &HplParameters| (run.grid.rows, run.n, run.nb, run.broadcast as usize);
        let first: Vec<_> = runs[..7].iter().map(place).collect();
        assert_eq!(
            first,
            [
                (2, 1000, 64, 1),
                (2, 1000, 64, 5),
                (2, 1000, 128, 1),
                (2, 1000, 128, 5),
                (2, 1000, 192, 1),
                (2, 1000, 192, 5),
                (2, 2000, 64, 1)
            ]
        );
        assert_eq!(place(&runs[12]), (1, 1000, 64, 1));
        assert_eq!(runs[0].swap, Swap::Mix { threshold: 64 });
    }

    #[test]
    fn numbers_that_stand_for_nothing_are_what_xhpl_takes() {
        let text = TEXT
            .replace("1 5          BCASTs", "7 -1         BCASTs")
            .replace("2 1 0        PFACTs", "3            PFACTs")
            .replace("2            SWAP", "9            SWAP")
            .replace("0            L1", "5            L1")
            .replace("1            Equil", "5            Equil")
            .replace("64           swapping", "-3           swapping")
            .replace("8            mem", "0            mem");
        let dat = parse(&text).unwrap();
        assert_eq!(dat.broadcast, [Broadcast::RingModified; 2]);
        assert_eq!((dat.pfact[0], dat.swap), (Factorisation::Right, SwapKind::Long));
        assert_eq!((dat.l1_transposed, dat.equilibration, dat.swap_threshold, dat.alignment), (true, true, 0, 4));
        assert_eq!(dat.assumed.len(), 4, "{:?}", dat.assumed);
    }

    #[test]
    fn mistakes_have_a_place_and_a_remedy() {
        for (from, to, place, message) in [
            ("2            # of prob", "two          # of prob", (5, 1), "`two` is no whole number"),
            ("2            # of prob", "3            # of prob", (6, 14), "`Ns` is no whole number"),
            ("1000 2000    Ns", "1000", (6, 1), "2 values are announced, and the line has 1"),
            ("64 128 192 ", "64   128 192 ", (8, 10), "xhpl would read `8` instead of `192`"),
            ("64 128 192 ", "  64 128 192 ", (8, 6), "xhpl would read `4` instead of `128`"),
            ("1000 2000", "0 2000", (6, 1), "N: 0 is out of range"),
            ("64 128", "0 128", (8, 1), "NB: 0 is out of range"),
            ("64 128", "64 1e3", (8, 4), "`1e3` is no whole number"),
            ("1000 2000", "1000 3000000000", (6, 6), "32 bits"),
            ("2            NDIVs", "1            NDIVs", (19, 1), "NDIV: 1 is out of range"),
            ("3            # of NBs", "21           # of NBs", (7, 1), "21 is out of range"),
            ("3            # of NBs", "", (7, 1), "line 7 is empty"),
            ("16.0         thr", "much         thr", (13, 1), "`much` is no number"),
            ("1            DEPTHs", "-1           DEPTHs", (25, 1), "DEPTH: -1 is out of range"),
        ] {
            let text = TEXT.replacen(from, to, 1);
            assert_ne!(text, TEXT, "{from}");
            let error = parse(&text).unwrap_err();
            assert_eq!(error.position(), Some(place), "{}", error.render(false));
            assert!(error.message.contains(message) && !error.remedy.is_empty(), "{}", error.render(false));
        }
    }

    #[test]
    fn a_file_that_ends_early_says_what_is_missing() {
        let mut text = TEXT.split_inclusive('\n').take(20).collect::<String>();
        let error = parse(&text).unwrap_err();
        assert!(error.message.contains("ends after 20 lines") && error.message.contains("RFACT"), "{error:?}");
        assert!(parse("").unwrap_err().message.contains("ends after 0 lines"));
        text.insert_str(0, &"x".repeat(300));
        assert!(parse(&text).unwrap_err().message.contains("253"));
    }
}
