//! The network part of a model file: what messages cost, fitted to measurements.

use hpcast_platform::{MpiParameters, Piecewise, Protocol};

/// What a model file says of messages. What it says nothing of stays as the machine has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NetworkModel {
    /// See [`MpiParameters::eager_below`].
    pub eager_below: Option<u64>,
    /// See [`MpiParameters::detached_below`].
    pub detached_below: Option<u64>,
    /// Seconds that one probe takes.
    pub probe: Option<f64>,
    /// Seconds that one test takes.
    pub test: Option<f64>,
    /// Messages between two nodes; functions without pieces are not known.
    pub between: Protocol,
    /// Messages inside a node.
    pub inside: Protocol,
    /// How well it fits what it was fitted to.
    pub fit: Option<NetworkFit>,
}

/// How well a network model fits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NetworkFit {
    /// Range by range.
    pub ranges: Vec<RangeFit>,
    /// What it misses, in sentences.
    pub warnings: Vec<String>,
}

/// How well a function fits in a range of sizes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RangeFit {
    /// Such as `between.send`.
    pub function: String,
    /// The range begins above this size.
    pub above: u64,
    /// Measurements.
    pub points: u64,
    /// Different sizes among them.
    pub sizes: u64,
    /// The part of the variance of the sizes' means that the line explains.
    pub r_squared: f64,
    /// Mean over the sizes, as a part of what was measured.
    pub relative_error: f64,
    /// How sure the two figures of the range are (`errors.rs`): lower triangle of their covariance, if it is known.
    pub covariance: Option<[f64; 3]>,
}

/// Functions that are known now, and of the others those that were known before.
fn update(before: Protocol, now: Protocol) -> Protocol {
    let newer = |before: Piecewise, now: Piecewise| if now.pieces().is_empty() { before } else { now };
    Protocol {
        send: newer(before.send, now.send),
        isend: newer(before.isend, now.isend),
        receive: newer(before.receive, now.receive),
        latency_factor: newer(before.latency_factor, now.latency_factor),
        bandwidth_factor: newer(before.bandwidth_factor, now.bandwidth_factor),
        latency: newer(before.latency, now.latency),
    }
}

impl NetworkModel {
    /// What another model knows wins over what this one knows, function by function.
    #[must_use]
    pub fn updated(self, now: NetworkModel) -> NetworkModel {
        let mut fit = now.fit.clone().unwrap_or_default();
        if let Some(older) = self.fit {
            let is_old = |range: &RangeFit| !now.has(&range.function);
            fit.ranges.extend(older.ranges.into_iter().filter(is_old));
            fit.warnings.extend(older.warnings);
        }
        NetworkModel {
            eager_below: now.eager_below.or(self.eager_below),
            detached_below: now.detached_below.or(self.detached_below),
            probe: now.probe.or(self.probe),
            test: now.test.or(self.test),
            between: update(self.between, now.between),
            inside: update(self.inside, now.inside),
            fit: (fit != NetworkFit::default()).then_some(fit),
        }
    }

    /// Puts it in the place of what a machine says. Gives the keys of a machine file that no longer count.
    pub fn apply(&self, mpi: &mut MpiParameters) -> Vec<String> {
        let mut replaced = Vec::new();
        let mut replace = |key: &str, given: bool| {
            replaced.extend(given.then(|| format!("mpi.{key}")));
            given
        };
        if replace("eager-below", self.eager_below.is_some()) {
            mpi.eager_below = self.eager_below.unwrap_or_default();
            mpi.detached_below = mpi.detached_below.max(mpi.eager_below);
        }
        if replace("detached-below", self.detached_below.is_some()) {
            mpi.detached_below = self.detached_below.unwrap_or_default();
            mpi.eager_below = mpi.eager_below.min(mpi.detached_below);
        }
        for (key, given, value) in [("probe", self.probe, &mut mpi.probe), ("test", self.test, &mut mpi.test)] {
            if replace(key, given.is_some()) {
                *value = given.unwrap_or_default();
            }
        }
        for (section, given, protocol) in
            [("between", &self.between, &mut mpi.between), ("inside", &self.inside, &mut mpi.inside)]
        {
            let is_given = |function: &Piecewise| !function.pieces().is_empty();
            // A latency of the machine would hide factors of the model.
            if is_given(&given.latency_factor) {
                protocol.latency = Piecewise::default();
            }
            for (key, function, own) in [
                ("send", &given.send, &mut protocol.send),
                ("isend", &given.isend, &mut protocol.isend),
                ("receive", &given.receive, &mut protocol.receive),
                ("latency-factor", &given.latency_factor, &mut protocol.latency_factor),
                ("latency", &given.latency, &mut protocol.latency),
                ("bandwidth-factor", &given.bandwidth_factor, &mut protocol.bandwidth_factor),
            ] {
                if replace(&format!("{section}.{key}"), is_given(function)) {
                    *own = function.clone();
                }
            }
        }
        replaced
    }

    /// Whether what messages cost is drawn for each of them.
    pub fn is_noisy(&self) -> bool {
        self.between.is_noisy() || self.inside.is_noisy()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_does_not_say_stays_as_it_is() {
        let machine = Protocol {
            send: Piecewise::constant(1.0),
            latency: Piecewise::constant(2.0),
            bandwidth_factor: Piecewise::constant(0.5),
            ..Protocol::default()
        };
        let before = MpiParameters {
            eager_below: 100,
            detached_below: 100,
            probe: 1e-6,
            between: machine.clone(),
            inside: machine,
            ..MpiParameters::default()
        };
        let model = NetworkModel {
            detached_below: Some(50),
            between: Protocol {
                send: Piecewise::constant(3.0),
                latency_factor: Piecewise::constant(4.0),
                ..Protocol::default()
            },
            ..NetworkModel::default()
        };
        let mut mpi = before.clone();
        assert_eq!(model.apply(&mut mpi), ["mpi.detached-below", "mpi.between.send", "mpi.between.latency-factor"]);
        assert_eq!((mpi.eager_below, mpi.detached_below, mpi.probe), (50, 50, 1e-6));
        assert_eq!((mpi.between.send.at(1), mpi.between.latency_factor.at(1)), (Some(3.0), Some(4.0)));
        assert_eq!((mpi.between.latency.at(1), mpi.between.bandwidth_factor.at(1)), (None, Some(0.5)));
        assert_eq!(mpi.inside, before.inside);
        let mut same = before.clone();
        assert!(NetworkModel::default().apply(&mut same).is_empty() && same == before);
    }
}
