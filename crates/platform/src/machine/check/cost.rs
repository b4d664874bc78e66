//! The section `[cost]`.

use super::Findings;
use crate::machine::CostTable;

impl Findings {
    pub(super) fn cost(&mut self, cost: &CostTable) {
        let mut prices = vec![("energy-price".to_owned(), cost.energy_price)];
        let mut powers = Vec::new();
        for (key, part) in [("node", &cost.node), ("port", &cost.port)] {
            prices.push((format!("{key}.price"), part.price));
            powers.push((format!("{key}.power"), part.power));
        }
        for (at, switch) in cost.switches.iter().enumerate() {
            prices.push((format!("switches[{at}].price"), Some(switch.price)));
            powers.push((format!("switches[{at}].power"), switch.power));
        }
        for (at, class) in cost.cables.iter().enumerate() {
            prices.push((format!("cables[{at}].price"), Some(class.price)));
            prices.push((format!("cables[{at}].per-metre"), Some(class.per_metre)));
            if let Some(up_to) = class.up_to {
                self.more_than_zero(&format!("cost.cables[{at}].up-to"), up_to.get(), "length");
            }
        }
        for (key, price) in prices {
            self.not_negative(&format!("cost.{key}"), price.unwrap_or(0.0), "price");
        }
        for (key, power) in powers {
            self.not_negative(&format!("cost.{key}"), power.map_or(0.0, |power| power.get()), "power");
        }
        for (kind, length) in &cost.lengths {
            self.not_negative(&format!("cost.lengths.{kind}"), length.get(), "length");
        }
    }
}
