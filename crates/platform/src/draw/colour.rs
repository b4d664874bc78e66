//! Colours, and the scale from idle to full.

/// Text.
pub const INK: &str = "#1f2933";
/// Less important text.
pub const MUTED: &str = "#66788a";
/// Switches.
pub const SWITCH: &str = "#243b53";
/// Nodes.
pub const NODE: &str = "#3e7cb1";
/// Nodes where colour means load of cables.
pub const NODE_PLAIN: &str = "#8b9bab";
/// Cables whose load is not shown.
pub const CABLE: &str = "#829ab1";
/// Cables that have failed.
pub const FAILED: &str = "#d64545";
/// What is not drawn one by one.
pub const MORE: &str = "#9fb3c8";

/// Idle to full, in sRGB. Lightness falls all the way, so that the order is seen without hues, too.
const STOPS: [[u8; 3]; 5] = [[217, 226, 236], [247, 201, 72], [240, 134, 58], [203, 52, 61], [97, 17, 62]];

/// The colour of a load between 0 and 1; what is outside takes the nearest.
pub fn of_load(load: f64) -> String {
    let load = if load.is_nan() { 0.0 } else { load.clamp(0.0, 1.0) };
    let at = load * (STOPS.len() - 1) as f64;
    let lower = (at as usize).min(STOPS.len() - 2);
    let (from, to) = (oklab(STOPS[lower]), oklab(STOPS[lower + 1]));
    let share = at - lower as f64;
    let mixed = [0, 1, 2].map(|axis| from[axis] + share * (to[axis] - from[axis]));
    let [r, g, b] = srgb(mixed);
    format!("#{r:02x}{g:02x}{b:02x}")
}

// Mixing in Oklab keeps steps even for the eye: Björn Ottosson, "A perceptual color space for image processing" (2020).

fn oklab(rgb: [u8; 3]) -> [f64; 3] {
    let [r, g, b] = rgb.map(|byte| {
        let value = byte as f64 / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    });
    let l = (0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b).cbrt();
    let m = (0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b).cbrt();
    let s = (0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b).cbrt();
    [
        0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
        1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
        0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s,
    ]
}

fn srgb([lightness, a, b]: [f64; 3]) -> [u8; 3] {
    let l = (lightness + 0.3963377774 * a + 0.2158037573 * b).powi(3);
    let m = (lightness - 0.1055613458 * a - 0.0638541728 * b).powi(3);
    let s = (lightness - 0.0894841775 * a - 1.2914855480 * b).powi(3);
    let linear = [
        4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
        -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
        -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s,
    ];
    linear.map(|value| {
        let value = value.clamp(0.0, 1.0);
        let value = if value <= 0.0031308 { value * 12.92 } else { 1.055 * value.powf(1.0 / 2.4) - 0.055 };
        (value * 255.0).round() as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_are_the_ends() {
        assert_eq!(of_load(0.0), "#d9e2ec");
        assert_eq!(of_load(-1.0), of_load(0.0));
        assert_eq!(of_load(2.0), "#61113e");
        assert_eq!(of_load(f64::NAN), of_load(0.0));
    }

    #[test]
    fn darker_is_fuller() {
        let lightness = |step: u32| {
            let colour = of_load(step as f64 / 100.0);
            let byte = |at: usize| u8::from_str_radix(&colour[at..at + 2], 16).unwrap();
            oklab([byte(1), byte(3), byte(5)])[0]
        };
        assert!((1..=100).all(|step| lightness(step) < lightness(step - 1) + 0.004), "rounded to whole bytes");
        assert!((10..=100).all(|step| lightness(step) < lightness(step - 10)));
    }
}
