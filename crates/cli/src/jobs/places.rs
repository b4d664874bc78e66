//! Which nodes jobs get: those that they name first, then the others what is left, in the order of the file.

use hpcast_platform::Machine;
use hpcast_platform::diagnostic::{Diagnostic, Diagnostics};
use hpcast_platform::placement::{Allocation, Placement, Plan, Policy, Site};

use super::file::{Job, JobFile};

/// Where the ranks of each job run.
pub(super) fn place(file: &JobFile, machine: &Machine, seed: u64) -> Result<Vec<Placement>, Diagnostics> {
    let mut hall = Hall { file, site: machine.site(), usual: machine.plan.ranks_per_node, seed, owners: Vec::new() };
    hall.owners = vec![None; machine.nodes.count as usize];
    let mut places: Vec<Option<Placement>> = vec![None; file.jobs.len()];
    let (named, others): (Vec<usize>, Vec<usize>) =
        (0..file.jobs.len()).partition(|number| file.jobs[*number].nodes.is_some());
    let mut problems = Diagnostics::new();
    for number in named.into_iter().chain(others) {
        match hall.admit(number) {
            Ok(placement) => places[number] = Some(placement),
            Err(found) => found.iter().for_each(|problem| problems.push(problem.clone())),
        }
    }
    if problems.has_errors() { Err(problems) } else { Ok(places.into_iter().flatten().collect()) }
}

/// Nodes and whose they are.
struct Hall<'f> {
    file: &'f JobFile,
    site: Site<'f>,
    /// Ranks on a node where the job does not say.
    usual: Option<u32>,
    seed: u64,
    owners: Vec<Option<usize>>,
}

impl Hall<'_> {
    /// Gives a job its nodes.
    fn admit(&mut self, number: usize) -> Result<Placement, Diagnostics> {
        let job = &self.file.jobs[number];
        let (key, allowed) = match (&job.nodes, &job.allocation) {
            (Some(text), _) => ("nodes", self.read(number, "nodes", text)?),
            (None, Some(text)) => ("allocation", self.read(number, "allocation", text)?),
            (None, None) => ("ranks", (0..self.site.nodes).collect()),
        };
        if job.nodes.is_some() {
            self.refuse_taken(job, &allowed)?;
            allowed.iter().for_each(|node| self.owners[*node as usize] = Some(number));
        }
        let is_free = |node: &&u32| self.owners[**node as usize].is_none_or(|owner| owner == number);
        let free: Vec<String> = allowed.iter().filter(is_free).map(|node| self.site.host(*node)).collect();
        if free.is_empty() {
            return Err(self
                .file
                .error(job, key, "all nodes are taken by other jobs", "leave nodes to this job")
                .into());
        }
        let policy = match job.policy.clone().unwrap_or_default() {
            Policy::Random { .. } => Policy::Random { seed: job.seed(self.seed) },
            policy => policy,
        };
        let plan = Plan {
            policy,
            allocation: Some(Allocation::Hosts(free.join(","))),
            ranks_per_node: job.ranks_per_node.or(self.usual),
            oversubscribe: false,
        };
        let placement = plan.place(job.ranks, &self.site).map_err(|error| {
            let Diagnostic { message, remedy, .. } = error.diagnostic();
            self.file.error(job, key, format!("job `{}`: {message}", job.name), remedy)
        })?;
        (0..job.ranks).for_each(|rank| self.owners[placement.node(rank) as usize] = Some(number));
        Ok(placement)
    }

    /// The nodes of a list or a file; or drawn from those that are free.
    fn read(&self, number: usize, key: &str, text: &str) -> Result<Vec<u32>, Diagnostics> {
        let job = &self.file.jobs[number];
        let told = |problem: &Diagnostic| match problem.place {
            Some(_) => problem.clone(),
            None => self.file.error(job, key, &problem.message, &problem.remedy),
        };
        let allocation = Allocation::read(text, self.file.folder(), job.seed(self.seed), &self.site);
        let allocation = allocation.map_err(|problems| {
            let mut all = Diagnostics::new();
            problems.iter().for_each(|problem| all.push(told(problem)));
            all
        })?;
        let nodes = match allocation.seed() {
            None => allocation.nodes(&self.site),
            Some(_) => {
                let free: Vec<u32> =
                    (0..).zip(&self.owners).filter(|(_, owner)| owner.is_none()).map(|(node, _)| node).collect();
                let site = Site::new(free.len() as u32, self.site.cores, self.site.topology);
                allocation.nodes(&site).map(|drawn| drawn.iter().map(|place| free[*place as usize]).collect())
            }
        };
        Ok(nodes.map_err(|error| told(&error.diagnostic()))?)
    }

    fn refuse_taken(&self, job: &Job, nodes: &[u32]) -> Result<(), Diagnostics> {
        let taken = nodes.iter().find_map(|node| self.owners[*node as usize].map(|owner| (*node, owner)));
        let Some((node, owner)) = taken else { return Ok(()) };
        let other = &self.file.jobs[owner].name;
        let message = format!("jobs `{other}` and `{}` both have node {}", job.name, self.site.host(node));
        Err(self.file.error(job, "nodes", message, "give each job nodes of its own").into())
    }
}
