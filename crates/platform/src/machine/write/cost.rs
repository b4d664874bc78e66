//! The section `[cost]`.

use hpcast_units::{Length, Power};

use super::{Text, number, quoted, text};
use crate::machine::{CostTable, Part};

impl Text {
    pub(super) fn cost(&mut self, cost: &CostTable) {
        self.section("cost");
        self.key("currency", text(&cost.currency), "");
        if let Some(price) = cost.energy_price {
            self.key("energy-price", number(price), "of a kilowatt-hour");
        }
        let parts = [("node", &cost.node, "without its ports"), ("port", &cost.port, "of a node to the network")];
        for (key, part, comment) in parts.into_iter().filter(|(_, part, _)| **part != Part::default()) {
            self.key(key, table(&[part.price.map(price), part.power.map(power)]), comment);
        }
        if !cost.switches.is_empty() {
            self.line("switches = [   # the first that fits");
            for switch in &cost.switches {
                let kind = switch.kind.as_ref().map(|kind| format!("kind = {}", text(kind)));
                let ports = switch.ports.map(|ports| format!("ports = {ports}"));
                let fields = [kind, ports, Some(price(switch.price)), switch.power.map(power)];
                self.line(&format!("  {},", table(&fields)));
            }
            self.line("]");
        }
        if !cost.cables.is_empty() {
            self.line("cables = [   # the first that is long enough");
            for class in &cost.cables {
                let up_to = class.up_to.map(|up_to: Length| format!("up-to = {}", quoted(up_to)));
                let per_metre = format!("per-metre = {}", number(class.per_metre));
                let name = format!("class = {}", text(&class.class));
                self.line(&format!("  {},", table(&[Some(name), up_to, Some(price(class.price)), Some(per_metre)])));
            }
            self.line("]");
        }
        if !cost.lengths.is_empty() {
            self.section("cost.lengths");
            cost.lengths.iter().for_each(|(kind, length)| self.key(&text(kind), quoted(length), ""));
        }
    }
}

fn price(price: f64) -> String {
    format!("price = {}", number(price))
}

fn power(power: Power) -> String {
    format!("power = {}", quoted(power))
}

fn table(fields: &[Option<String>]) -> String {
    let fields: Vec<&str> = fields.iter().flatten().map(String::as_str).collect();
    format!("{{ {} }}", fields.join(", "))
}
