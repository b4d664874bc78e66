//! Who sends how much to whom, watched while it happens.

use hpcast_mapping::{Counts, Traffic};
use hpcast_mpi::{Activity, Delivered, Observer};
use hpcast_units::Time;

use crate::run_report::RunReport;

/// Adds up the messages between each pair of ranks. Collectives are the messages that they are made of.
#[derive(Debug, Default)]
pub struct TrafficRecorder {
    /// What was delivered so far.
    pub traffic: Traffic,
}

impl TrafficRecorder {
    /// So many ranks that have sent nothing.
    pub fn new(ranks: u32) -> TrafficRecorder {
        TrafficRecorder { traffic: Traffic::new(ranks) }
    }

    /// As comma-separated values, with a comment that says which run it was.
    pub fn to_csv(&self, report: &RunReport) -> String {
        let RunReport { program, machine, network, ranks, seed, .. } = report;
        let parameter = |(name, value): &(String, serde_json::Value)| match value.as_str() {
            Some(text) => format!(", {name} {text}"),
            None => format!(", {name} {value}"),
        };
        let parameters: String = report.parameters.iter().map(parameter).collect();
        self.traffic.to_csv(&format!(
            "messages and bytes from rank to rank, by hpcast: {program} of {ranks} ranks on {}, network {network}, seed {seed}{parameters}",
            machine.name
        ))
    }
}

impl Observer for TrafficRecorder {
    fn spent(&mut self, _: u32, _: Activity, _: Time, _: Time) {}

    fn delivered(&mut self, message: Delivered) {
        self.traffic.add(message.from, message.to, Counts { messages: 1, bytes: message.bytes });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_report::tests::example;

    #[test]
    fn messages_are_added_up() {
        let mut recorder = TrafficRecorder::new(2);
        for bytes in [8, 16] {
            recorder.delivered(Delivered { from: 1, to: 0, bytes, sent: Time::ZERO, arrived: Time::ZERO });
        }
        let text = recorder.to_csv(&example());
        assert!(text.starts_with("# messages and bytes from rank to rank, by hpcast: allreduce of 4 ranks on Frontera, network flow, seed 1"), "{text}");
        assert!(text.ends_with("# ranks: 2\nfrom,to,messages,bytes\n1,0,2,24\n"), "{text}");
    }
}
