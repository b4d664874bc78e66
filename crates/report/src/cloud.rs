//! Clouds of points: any number of them, in a file of limited size.

use std::collections::BTreeMap;

use crate::svg::{Element, number};

/// Up to so many points each has its place; of more, those that would overlap share a dot, which is darker.
const FEW: usize = 3000;
/// Places of many points are this far apart.
const STEP: f64 = 3.0;
/// Shades of a dot: each stands for twice as many points as the one before.
const SHADES: usize = 7;

/// Dots at these places of the page.
pub(crate) fn cloud(places: &[(f64, f64)], colour: &str) -> Element {
    let (step, palest) = if places.len() <= FEW { (1.0, 0.5) } else { (STEP, 0.25) };
    let mut counts: BTreeMap<(i32, i32), usize> = BTreeMap::new();
    for (x, y) in places {
        *counts.entry(((x / step).round() as i32, (y / step).round() as i32)).or_default() += 1;
    }
    let mut shades = vec![String::new(); SHADES];
    for ((column, row), count) in counts {
        let path = &mut shades[(count.ilog2() as usize).min(SHADES - 1)];
        *path += &format!("M{} {}h0", number(f64::from(column) * step), number(f64::from(row) * step));
    }
    let mut group = Element::new("g").set("stroke", colour).num("stroke-width", 3.4).set("stroke-linecap", "round");
    for (shade, path) in shades.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
        let opacity = palest + (1.0 - palest) * shade as f64 / (SHADES - 1) as f64;
        group.push(Element::new("path").set("d", path).num("stroke-opacity", opacity));
    }
    group
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_points_makes_a_small_file() {
        let few = cloud(&[(1.0, 2.0), (1.2, 2.0), (7.0, 8.0)], "red").document();
        assert!(few.contains("M1 2h0") && few.contains("M7 8h0") && few.matches("<path").count() == 2, "{few}");
        let place = |i: u64| ((i * 7919 % 60_000) as f64 / 100.0, (i * 104_729 % 20_000) as f64 / 100.0);
        let many: Vec<(f64, f64)> = (0..500_000).map(place).collect();
        assert!(cloud(&many, "red").document().len() < 200_000);
    }
}
