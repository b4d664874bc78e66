//! Days for a kernel whose processors are known better: a polynomial of each processor, and the days of simpler daily fits.

use std::collections::HashMap;

use hpcast_models::compute::population::{Days, Group, Population, PopulationError};
use hpcast_models::compute::{Kernel, Row, Term};
use hpcast_stats::{Matrix, MultivariateNormal};

use super::pairs;

/// Why days do not fit a kernel.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AdoptError {
    /// A term that the kernel does not have.
    #[error("the kernel has no term `{0}`, whose coefficient differs from day to day")]
    Term(Term),
    /// Several lines.
    #[error("the kernel is in pieces, and the daily fits are not")]
    Pieces,
    /// Other processors.
    #[error("the kernel lists none of the processors of the daily fits")]
    Processors,
    /// Nothing that can be drawn from.
    #[error(transparent)]
    Population(#[from] PopulationError),
}

impl AdoptError {
    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            AdoptError::Term(_) => "fit the kernel with that term, or leave the column out by --column",
            AdoptError::Pieces => "fit the kernel in one piece",
            AdoptError::Processors => "use the same numbers of nodes and sockets, or leave out --add-to",
            AdoptError::Population(error) => error.remedy(),
        }
    }
}

/// The kernel with the groups and days of daily fits. Its coefficients stay; those that no daily fit has are the same on all
/// days. How processors of a group differ is seen from its own rows.
pub fn adopt(kernel: &Kernel, daily: &Kernel) -> Result<Kernel, AdoptError> {
    let Some(population) = &daily.population else { return Ok(kernel.clone()) };
    if kernel.split.is_some() {
        return Err(AdoptError::Pieces);
    }
    let group_of: HashMap<(u32, u32), u32> =
        daily.rows.iter().filter_map(|row| Some((row.processor?, row.group))).collect();
    let mut adopted = kernel.clone();
    let terms = kernel.terms.len();
    for row in &mut adopted.rows {
        row.group = row.processor.and_then(|processor| group_of.get(&processor)).copied().unwrap_or(0);
        row.deviation.resize(terms, 0.0);
    }
    let known = |row: &&Row| row.processor.is_some_and(|processor| group_of.contains_key(&processor));
    let rows: Vec<&Row> = adopted.rows.iter().filter(known).collect();
    if rows.is_empty() {
        return Err(AdoptError::Processors);
    }
    let places = places(&kernel.terms, &daily.terms, population.groups()[0].processors.mean().len())?;
    let mut groups = Vec::new();
    for (number, group) in population.groups().iter().enumerate() {
        let members: Vec<Vec<f64>> = rows
            .iter()
            .filter(|row| row.group as usize == number)
            .map(|row| [row.seconds.as_slice(), &row.deviation].concat())
            .collect();
        let processors = match &members[..] {
            // No processor of this group is in the file: nothing is known but what daily fits say.
            [] => MultivariateNormal::constant(spread(group.processors.mean(), &places, 2 * terms)),
            [only] => MultivariateNormal::constant(only.clone()),
            several => MultivariateNormal::of_samples(several).map_err(PopulationError::from)?,
        };
        let [machine, node, processor] = group.days.covariances().map(|part| widen(part, &places, 2 * terms));
        let days = Days::new(machine, node, processor).map_err(PopulationError::from)?;
        groups.push(Group { share: group.share, processors, days });
    }
    adopted.population = Some(Population::new(&kernel.terms, groups, population.grouped())?);
    Ok(adopted)
}

/// Where the coefficients of the daily fits are among those of the kernel.
fn places(terms: &[Term], daily: &[Term], coefficients: usize) -> Result<Vec<usize>, AdoptError> {
    let place = |number: usize| {
        let term = &daily[number % daily.len()];
        let place = terms.iter().position(|other| other == term).ok_or_else(|| AdoptError::Term(term.clone()))?;
        Ok(if number < daily.len() { place } else { terms.len() + place })
    };
    (0..coefficients).map(place).collect()
}

fn spread(values: &[f64], places: &[usize], count: usize) -> Vec<f64> {
    let mut all = vec![0.0; count];
    values.iter().zip(places).for_each(|(value, place)| all[*place] = *value);
    all
}

fn widen(matrix: &Matrix, places: &[usize], count: usize) -> Matrix {
    let mut wide = Matrix::zeros(count, count);
    pairs(matrix.rows()).for_each(|(i, j)| wide[(places[i], places[j])] = matrix[(i, j)]);
    wide
}
