//! Work beside the ranks: what hardware or a progress thread does at a rank's node while its program goes on, and threads of the
//! program itself.

use std::future::Future;

use hpcast_units::Time;

use crate::rank::Rank;
use crate::request::Request;

/// Ends a request that is nobody's message: whoever holds it says when. One that is not kept leaves its rank waiting.
#[derive(Debug)]
#[must_use = "somebody waits for it"]
pub struct Promise(u32);

impl Rank {
    /// A request of mine that ends when the promise is kept; `purpose` is for the report of a deadlock.
    pub fn promise(&self, purpose: &'static str) -> (Request, Promise) {
        let request = self.state().background_request(self.task(), purpose);
        let promise = Promise(request.number());
        (request, promise)
    }

    /// Keeps a promise at my time.
    pub fn keep(&self, promise: Promise) {
        self.keep_at(promise, self.now());
    }

    /// Keeps a promise at that time, which may be ahead of the simulation.
    pub fn keep_at(&self, promise: Promise, at: Time) {
        self.state().complete(promise.0, at);
    }

    /// Starts work where rank `number` of the world runs, from my time on. It takes no time from what that rank does.
    pub fn start_at<F>(&self, number: u32, work: impl FnOnce(Rank) -> F)
    where
        F: Future<Output = ()> + 'static,
    {
        let sim = self.sim();
        let world = self.world().seen_by(number);
        let rank = self.state().groups.world_rank(world, number);
        let task = sim.new_task(rank);
        let now = self.now();
        self.state().tasks[task as usize].clock = now;
        sim.start_background(task, Box::pin(work(Rank::new(sim.clone(), task, world))));
    }

    /// Starts a thread of my program: it has a clock of its own, which begins where the simulation is.
    pub fn start_thread<F>(&self, work: impl FnOnce(Rank) -> F)
    where
        F: Future<Output = ()> + 'static,
    {
        let sim = self.sim();
        let task = sim.new_task(self.task());
        let mut state = self.state();
        state.tasks[task as usize].clock = state.now;
        drop(state);
        sim.start_background(task, Box::pin(work(Rank::new(sim.clone(), task, self.world()))));
    }

    /// Where the simulation is ahead of me, I have waited meanwhile: for another thread of my program.
    pub fn keep_up(&self) {
        let mut state = self.state();
        let now = state.now;
        state.wait_until(self.task(), now);
    }

    /// My task is resumed, whatever it waits for: to see that the program has ended.
    pub fn wake(&self) {
        self.state().ready.push(self.task());
    }

    /// Lets the simulation come to my clock, for what must happen in the order of time.
    pub async fn take_turn(&self) {
        self.catch_up().await;
    }

    /// Pays for a look at something that others change, and lets the simulation come to my clock.
    pub async fn look(&self) {
        self.test_some(&mut Vec::new()).await;
    }
}
