//! Places for the vertices of a graph: springs along edges, repulsion between all.
//!
//! Fruchterman and Reingold, "Graph drawing by force-directed placement" (1991). The start is a circle and nothing is
//! random, so the same graph gives the same picture.

use std::f64::consts::TAU;

use super::canvas::Point;

/// Steps until all stands still.
const STEPS: usize = 400;
/// Vertices beyond this stay on the circle: all pairs repel, which takes long.
const MOST: usize = 500;

/// Places in a square of about `vertices` units, neighbours about one unit apart. `length` is the wanted length of an
/// edge relative to others.
pub fn layout(vertices: usize, edges: &[(usize, usize)], length: impl Fn(usize, usize) -> f64) -> Vec<Point> {
    let radius = vertices as f64 / TAU;
    let on_circle = |at: usize| {
        let angle = TAU * at as f64 / vertices as f64;
        (radius * angle.cos(), radius * angle.sin())
    };
    // A search by breadth puts neighbours side by side on the circle.
    let mut places = vec![(0.0, 0.0); vertices];
    for (at, vertex) in by_breadth(vertices, edges).into_iter().enumerate() {
        places[vertex] = on_circle(at);
    }
    if vertices > MOST {
        return places;
    }
    for step in 0..STEPS {
        // As it cools, vertices move less at a time.
        let reach = 0.4 * (vertices as f64).sqrt() * (1.0 - step as f64 / STEPS as f64).powi(2) + 0.005;
        let mut forces = vec![(0.0, 0.0); vertices];
        for a in 0..vertices {
            for b in a + 1..vertices {
                push(&places, &mut forces, a, b, |square| 1.0 / square);
            }
        }
        for &(a, b) in edges {
            let wanted = length(a, b);
            push(&places, &mut forces, a, b, |square| -square.sqrt() / wanted);
        }
        for (place, (x, y)) in places.iter_mut().zip(forces) {
            let strength = x.hypot(y).max(f64::MIN_POSITIVE);
            let moved = strength.min(reach) / strength;
            // A little towards the middle keeps parts together that nothing joins.
            *place = (place.0 * 0.999 + x * moved, place.1 * 0.999 + y * moved);
        }
    }
    places
}

/// Drives two vertices apart with a force that is a multiple of their distance; the factor depends on its square.
fn push(places: &[Point], forces: &mut [Point], a: usize, b: usize, factor: impl Fn(f64) -> f64) {
    let (mut dx, mut dy) = (places[a].0 - places[b].0, places[a].1 - places[b].1);
    if dx == 0.0 && dy == 0.0 {
        // At the same place any direction will do.
        (dx, dy) = (0.01, 0.01 * (a as f64 - b as f64));
    }
    let factor = factor((dx * dx + dy * dy).max(1e-4));
    forces[a] = (forces[a].0 + dx * factor, forces[a].1 + dy * factor);
    forces[b] = (forces[b].0 - dx * factor, forces[b].1 - dy * factor);
}

fn by_breadth(vertices: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut neighbours = vec![Vec::new(); vertices];
    for &(a, b) in edges {
        neighbours[a].push(b);
        neighbours[b].push(a);
    }
    let mut met = vec![false; vertices];
    let mut order = Vec::with_capacity(vertices);
    // Depth first: children follow their parent, which keeps a switch's nodes together.
    for start in 0..vertices {
        let mut open = vec![start];
        while let Some(vertex) = open.pop() {
            if !std::mem::replace(&mut met[vertex], true) {
                order.push(vertex);
                open.extend(neighbours[vertex].iter().rev().filter(|&&next| !met[next]));
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_becomes_a_square() {
        let places = layout(4, &[(0, 1), (1, 2), (2, 3), (3, 0)], |_, _| 1.0);
        let distance = |a: usize, b: usize| (places[a].0 - places[b].0).hypot(places[a].1 - places[b].1);
        assert!((distance(0, 1) - distance(1, 2)).abs() < 0.05, "{places:?}");
        assert!((distance(0, 2) - distance(1, 3)).abs() < 0.05, "{places:?}");
        assert!(distance(0, 2) > 1.3 * distance(0, 1));
    }

    #[test]
    fn the_same_twice_and_never_lost() {
        let edges: Vec<(usize, usize)> = (0..30).map(|at| (at, (at * 7 + 3) % 30)).collect();
        let places = layout(31, &edges, |_, _| 1.0);
        assert_eq!(places, layout(31, &edges, |_, _| 1.0));
        assert!(places.iter().all(|place| place.0.is_finite() && place.1.is_finite()));
    }
}
