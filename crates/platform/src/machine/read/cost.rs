//! The section `[cost]`.

use std::collections::BTreeMap;

use crate::fields::{Reader, Section};
use crate::machine::{CableClass, CostTable, Part, SwitchPrice};

/// The price table, if there is one.
pub(super) fn read_cost(reader: &mut Reader, cost: &mut Section<'_>) -> Option<CostTable> {
    if !cost.exists() {
        return None;
    }
    let currency = cost.text(reader, "currency").map(String::from);
    let switches = cost.sections(reader, "switches", "{ kind = \"leaf\", price = 10000, power = \"300 W\" }");
    let cables = cost.sections(reader, "cables", "{ class = \"copper\", up-to = \"3 m\", price = 60, per-metre = 20 }");
    let mut lengths_section = cost.section(reader, "lengths");
    let mut lengths = BTreeMap::new();
    for kind in lengths_section.keys() {
        if let Some(length) = lengths_section.quantity(reader, kind) {
            lengths.insert(kind.to_owned(), length);
        }
    }
    Some(CostTable {
        currency: cost.needed(reader, "currency", currency, "currency = \"EUR\""),
        node: read_part(reader, cost, "node"),
        port: read_part(reader, cost, "port"),
        switches: switches.into_iter().flatten().map(|mut section| read_switch(reader, &mut section)).collect(),
        cables: cables.into_iter().flatten().map(|mut section| read_class(reader, &mut section)).collect(),
        lengths,
        energy_price: cost.number(reader, "energy-price"),
    })
}

fn read_part(reader: &mut Reader, cost: &mut Section<'_>, key: &'static str) -> Part {
    let mut section = cost.section(reader, key);
    let part = Part { price: section.number(reader, "price"), power: section.quantity(reader, "power") };
    section.finish(reader);
    part
}

fn read_switch(reader: &mut Reader, section: &mut Section<'_>) -> SwitchPrice {
    let price = section.number(reader, "price");
    let switch = SwitchPrice {
        kind: section.text(reader, "kind").map(String::from),
        ports: section.whole(reader, "ports"),
        price: section.needed(reader, "price", price, "price = 10000"),
        power: section.quantity(reader, "power"),
    };
    section.finish(reader);
    switch
}

fn read_class(reader: &mut Reader, section: &mut Section<'_>) -> CableClass {
    let class = section.text(reader, "class").map(String::from);
    let price = section.number(reader, "price");
    let class = CableClass {
        class: section.needed(reader, "class", class, "class = \"copper\""),
        up_to: section.quantity(reader, "up-to"),
        price: section.needed(reader, "price", price, "price = 60"),
        per_metre: section.number(reader, "per-metre").unwrap_or(0.0),
    };
    section.finish(reader);
    class
}
