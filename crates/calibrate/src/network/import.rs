//! Published network models as the network part of a model file: SMPI's piecewise parameters as a table, and the mixtures of
//! T. Cornebize's thesis (figure 6.2, lines b and f) as JSON.

use hpcast_models::network::NetworkModel;
use hpcast_platform::protocol::{Mode, Piece};
use hpcast_platform::{Piecewise, Protocol};
use serde_json::Value;

use super::NetworkError;
use crate::table::{TableError, TextRow, TextTable};

/// Reads one set of a table with the columns `platform_id`, `property`, `size_greater_than`, `value1`, `value2`.
pub fn smpi_table(text: &str, set: &str) -> Result<NetworkModel, NetworkError> {
    let table = TextTable::read(text)?;
    let (id, property) = (table.place("platform_id")?, table.place("property")?);
    let rows: Vec<&TextRow> = table.rows.iter().filter(|row| row.cells[id] == set).collect();
    if rows.is_empty() {
        let mut sets: Vec<String> = table.rows.iter().map(|row| row.cells[id].clone()).collect();
        sets.dedup();
        return Err(NetworkError::NoSet { wanted: set.into(), sets });
    }
    let function = |name: &str| -> Result<Piecewise, NetworkError> {
        let mut pieces = Vec::new();
        for row in rows.iter().filter(|row| row.cells[property] == name) {
            let above = table.number(row, "size_greater_than")?;
            let second = table.place("value2")?;
            let per_byte = if row.cells[second].is_empty() { 0.0 } else { table.number(row, "value2")? };
            let piece = Piece { above: above as u64, base: table.number(row, "value1")?, per_byte, modes: Vec::new() };
            let is_known = pieces.iter().any(|known: &Piece| known.above == piece.above);
            if above < 0.0 || is_known {
                let problem = "this size is there twice, or negative".into();
                return Err(TableError::Malformed { line: row.line, problem }.into());
            }
            pieces.push(piece);
        }
        Ok(Piecewise::new(pieces))
    };
    let between = Protocol {
        send: function("smpi/os")?,
        isend: function("smpi/ois")?,
        receive: function("smpi/or")?,
        latency_factor: function("smpi/lat-factor")?,
        bandwidth_factor: function("smpi/bw-factor")?,
        ..Protocol::default()
    };
    let or_as_between =
        |own: Piecewise, between: &Piecewise| if own.pieces().is_empty() { between.clone() } else { own };
    let inside = Protocol {
        latency_factor: or_as_between(function("smpi/loopback-lat-factor")?, &between.latency_factor),
        bandwidth_factor: or_as_between(function("smpi/loopback-bw-factor")?, &between.bandwidth_factor),
        ..between.clone()
    };
    checked(NetworkModel { between, inside, ..NetworkModel::default() })
}

/// Reads mixtures: a list `models` of ranges of sizes, each with `function`, `size_min`, `size_max`, `slope_s_per_byte` and
/// `modes` (`probability`, `mean_s`, `std_s`). They hold between nodes as well as inside.
pub fn mixtures(text: &str) -> Result<NetworkModel, NetworkError> {
    let wrong = |what: String| NetworkError::Malformed(what);
    let document: Value = serde_json::from_str(text).map_err(|error| wrong(format!("this is not JSON: {error}")))?;
    let models = document["models"].as_array().ok_or_else(|| wrong("there is no list `models`".into()))?;
    let mut functions: [Vec<Piece>; 4] = Default::default();
    for (number, model) in models.iter().enumerate() {
        let missing = |key: &str| wrong(format!("models[{number}]: `{key}` is missing, or no number"));
        let number_of = |value: &Value, key: &str| value[key].as_f64().ok_or_else(|| missing(key));
        let name = model["function"].as_str().unwrap_or_default();
        let place = ["osend", "oisend", "orecv", "latency"].iter().position(|known| name.starts_with(known));
        let place = place.ok_or_else(|| wrong(format!("models[{number}]: `{name}` is no function that is known")))?;
        let start = number_of(model, "size_min")?;
        let list = model["modes"].as_array().ok_or_else(|| missing("modes"))?;
        let mode = |mode: &Value| {
            let share = number_of(mode, "probability")?;
            Ok(Mode { share, mean: number_of(mode, "mean_s")?, deviation: number_of(mode, "std_s")? })
        };
        let modes = list.iter().map(mode).collect::<Result<Vec<Mode>, NetworkError>>()?;
        // A range begins with its first size; pieces begin above one.
        let above = |size: f64| (size as u64).saturating_sub(1);
        let pieces = &mut functions[place];
        if let Some(end) = model["size_max"].as_f64() {
            // Until another range begins, nothing is charged.
            pieces.retain(|piece| piece.above != above(end) || !piece.modes.is_empty());
            if !pieces.iter().any(|piece| piece.above == above(end)) {
                pieces.push(Piece { above: above(end), ..Piece::default() });
            }
        }
        pieces.retain(|piece| piece.above != above(start) || !piece.modes.is_empty());
        pieces.push(Piece::noisy(above(start), number_of(model, "slope_s_per_byte")?, modes));
    }
    let [send, isend, receive, latency] = functions.map(Piecewise::new);
    let between = Protocol { send, isend, receive, latency, ..Protocol::default() };
    checked(NetworkModel { inside: between.clone(), between, ..NetworkModel::default() })
}

/// What was read makes sense.
fn checked(model: NetworkModel) -> Result<NetworkModel, NetworkError> {
    let problem = model.between.check("between").into_iter().chain(model.inside.check("inside")).next();
    match problem {
        Some(problem) => Err(NetworkError::Malformed(format!("{}: {}", problem.key, problem.message))),
        None => Ok(model),
    }
}
