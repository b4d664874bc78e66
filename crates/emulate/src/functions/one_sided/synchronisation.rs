//! When operations are done, and who may reach whom: fences, posts and starts, locks, flushes.

use std::collections::BTreeSet;
use std::rc::Rc;

use hpcast_mpi::{Collective, Request};
use hpcast_objects::{ErrorClass, Group};

use crate::argument::{At, GroupHandle, WinHandle};
use crate::call::{Call, mpi};
use crate::fault::Fault;
use crate::fiber::block_on;
use crate::windows::{Outstanding, Side, Window};

use super::{misplaced, of};

impl Call<'_> {
    fn wait_each(&self, requests: Vec<Request>) {
        if !requests.is_empty() {
            block_on(self.me.rank.wait_all(requests));
        }
    }

    /// Waits until operations are done at their targets; says which targets were written to.
    pub(super) fn wait_for_operations(&self, window: &Window, of: impl Fn(u32) -> bool) -> BTreeSet<u32> {
        let all = window.outstanding.take();
        let (some, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|outstanding| of(outstanding.target));
        *window.outstanding.borrow_mut() = others;
        let mut written = BTreeSet::new();
        let mut requests = Vec::new();
        for Outstanding { target, sent, done, answers } in some {
            requests.extend(sent);
            requests.push(done);
            if !answers && target != window.comm.rank() {
                written.insert(target);
            }
        }
        self.wait_each(requests);
        written
    }

    /// Operations are done at their targets, and the origin knows: a word from each target that was written to.
    fn flush_window(&self, window: &Window, of: impl Fn(u32) -> bool) {
        let origin = window.comm.rank();
        let words = self.wait_for_operations(window, of).into_iter().map(|target| {
            let (request, promise) = self.me.rank.promise("flush of a window");
            window.shared.answer(&self.me.rank, target, origin, 0, move |here| here.keep(promise));
            request
        });
        self.wait_each(words.collect());
    }

    /// Waits until the origin's memory is free.
    fn flush_local(&self, window: &Window, of: impl Fn(u32) -> bool) {
        let mut requests = Vec::new();
        let all = window.outstanding.take();
        let mut left = Vec::with_capacity(all.len());
        for mut outstanding in all {
            if of(outstanding.target) {
                requests.extend(outstanding.sent.take());
                if outstanding.answers {
                    requests.push(outstanding.done);
                    continue;
                }
            }
            left.push(outstanding);
        }
        *window.outstanding.borrow_mut() = left;
        self.wait_each(requests);
    }

    /// Tells a target something: an empty message after the operations on it.
    fn tell_target(
        &self,
        window: &Window,
        target: u32,
        effect: impl FnOnce(&hpcast_mpi::Rank) + 'static,
    ) -> Option<Request> {
        let origin = window.comm.rank();
        if origin == target {
            block_on(self.me.rank.take_turn());
        }
        window.shared.ask(&self.me.rank, origin, target, 0, Box::new(effect))
    }

    /// Asks a target for its lock and waits for it.
    pub(super) fn take_lock(&self, window: &Window, target: u32, alone: bool) {
        let origin = window.comm.rank();
        let (granted, promise) = self.me.rank.promise("lock of a window");
        let shared = window.shared.clone();
        let sent = self.tell_target(window, target, move |there| shared.lock(there, target, origin, alone, promise));
        self.wait_each(sent.into_iter().chain([granted]).collect());
    }

    /// Gives locks back: after the operations, with a word from each target that it is so.
    fn give_locks(&self, window: &Window, targets: &BTreeSet<u32>) {
        let origin = window.comm.rank();
        let mut requests = Vec::new();
        for &target in targets {
            let (heard, promise) = self.me.rank.promise("unlock of a window");
            let shared = window.shared.clone();
            let sent = self.tell_target(window, target, move |there| {
                shared.unlock(there, target);
                shared.answer(there, target, origin, 0, move |here| here.keep(promise));
            });
            requests.extend(sent);
            requests.push(heard);
        }
        self.wait_for_operations(window, |target| targets.contains(&target));
        self.wait_each(requests);
    }

    /// Waits until my side of the window is so.
    fn wait_on_side(&self, window: &Window, purpose: &'static str, is: impl Fn(&Side) -> bool) {
        let me = &self.me.rank;
        while let Some(request) = window.shared.wait_for(me, window.comm.rank(), purpose, &is) {
            block_on(me.wait(request));
        }
    }

    /// The ranks of a group in a window.
    fn ranks_in(&self, window: &Window, group: GroupHandle) -> Result<BTreeSet<u32>, Fault> {
        let group: Rc<Group> = self.me.group(group.number)?;
        let rank = |process| {
            window
                .group
                .rank_of(process)
                .ok_or_else(|| Fault::new(ErrorClass::Group, "not all are ranks of the window"))
        };
        group.iter().map(rank).collect()
    }

    fn has_mode(&self, assert: i32, name: &str) -> bool {
        assert & self.abi.constant(name) != 0
    }

    /// An exposure epoch is over: all origins have completed.
    fn end_exposure(&self, window: &Window, origins: u32) {
        window.shared.sides.borrow_mut()[window.comm.rank() as usize].completes -= origins;
        window.epoch.borrow_mut().posted = None;
    }
}

mpi! {
    fn MPI_Win_fence(call, assert: i32, win: WinHandle) {
        let window = call.me.window(win.number)?;
        call.wait_for_operations(&window, |_| true);
        block_on(call.me.rank.collective(window.comm, &Collective::Barrier));
        window.epoch.borrow_mut().fenced = !call.has_mode(assert, "MPI_MODE_NOSUCCEED");
        Ok(())
    }
    fn MPI_Win_post(call, group: GroupHandle, assert: i32, win: WinHandle) {
        let window = call.me.window(win.number)?;
        let origins = call.ranks_in(&window, group).map_err(of(win))?;
        if window.epoch.borrow().posted.is_some() {
            return Err(of(win)(misplaced("the window is posted already")));
        }
        window.epoch.borrow_mut().posted = Some(origins.len() as u32);
        if call.has_mode(assert, "MPI_MODE_NOCHECK") {
            return Ok(());
        }
        let me = window.comm.rank();
        let mut sent = Vec::new();
        for origin in origins {
            let shared = window.shared.clone();
            let told = call.tell_target(&window, origin, move |there| {
                shared.change(there, origin, |side| *side.posts.entry(me).or_default() += 1);
            });
            sent.extend(told);
        }
        call.wait_each(sent);
        Ok(())
    }
    fn MPI_Win_start(call, group: GroupHandle, assert: i32, win: WinHandle) {
        let window = call.me.window(win.number)?;
        let targets = call.ranks_in(&window, group).map_err(of(win))?;
        if window.epoch.borrow().started.is_some() {
            return Err(of(win)(misplaced("the window is started already")));
        }
        call.wait_for_operations(&window, |_| true);
        if !call.has_mode(assert, "MPI_MODE_NOCHECK") {
            for target in &targets {
                let is_posted = |side: &Side| side.posts.get(target).is_some_and(|&posts| posts > 0);
                call.wait_on_side(&window, "MPI_Win_start", is_posted);
                let mut sides = window.shared.sides.borrow_mut();
                let posts = &mut sides[window.comm.rank() as usize].posts;
                if let Some(count) = posts.get_mut(target) {
                    *count -= 1;
                    if *count == 0 {
                        posts.remove(target);
                    }
                }
            }
        }
        window.epoch.borrow_mut().started = Some(targets);
        Ok(())
    }
    fn MPI_Win_complete(call, win: WinHandle) {
        let window = call.me.window(win.number)?;
        let Some(targets) = window.epoch.borrow_mut().started.take() else {
            return Err(of(win)(misplaced("MPI_Win_complete without MPI_Win_start")));
        };
        let mut sent = Vec::new();
        for target in targets {
            let shared = window.shared.clone();
            let told = call.tell_target(&window, target, move |there| shared.change(there, target, |side| side.completes += 1));
            sent.extend(told);
        }
        call.flush_local(&window, |_| true);
        call.wait_each(sent);
        Ok(())
    }
    fn MPI_Win_wait(call, win: WinHandle) {
        let window = call.me.window(win.number)?;
        let Some(origins) = window.epoch.borrow().posted else {
            return Err(of(win)(misplaced("MPI_Win_wait without MPI_Win_post")));
        };
        call.wait_on_side(&window, "MPI_Win_wait", |side| side.completes >= origins);
        call.end_exposure(&window, origins);
        Ok(())
    }
    fn MPI_Win_test(call, win: WinHandle, flag: At<i32>) {
        let window = call.me.window(win.number)?;
        let Some(origins) = window.epoch.borrow().posted else {
            return Err(of(win)(misplaced("MPI_Win_test without MPI_Win_post")));
        };
        call.me.ask_again();
        block_on(call.me.rank.look());
        let is_done = window.shared.sides.borrow()[window.comm.rank() as usize].completes >= origins;
        if is_done {
            call.end_exposure(&window, origins);
        }
        flag.set(i32::from(is_done));
        Ok(())
    }
    fn MPI_Win_lock(call, lock_type: i32, rank: i32, assert: i32, win: WinHandle) {
        let window = call.me.window(win.number)?;
        let alone = lock_type == call.abi.constant("MPI_LOCK_EXCLUSIVE");
        if !alone && lock_type != call.abi.constant("MPI_LOCK_SHARED") {
            return Err(of(win)(Fault::new(ErrorClass::Locktype, format!("{lock_type} is no type of lock"))));
        }
        if rank == call.abi.proc_null {
            return Ok(());
        }
        let target = call.window_rank(&window, rank).map_err(of(win))?;
        let is_real = !call.has_mode(assert, "MPI_MODE_NOCHECK");
        if window.epoch.borrow().all.is_some() || window.epoch.borrow().locks.contains_key(&target) {
            return Err(of(win)(misplaced("the target is locked by this rank already")));
        }
        if is_real {
            call.take_lock(&window, target, alone);
        }
        window.epoch.borrow_mut().locks.insert(target, is_real);
        Ok(())
    }
    fn MPI_Win_unlock(call, rank: i32, win: WinHandle) {
        let window = call.me.window(win.number)?;
        if rank == call.abi.proc_null {
            return Ok(());
        }
        let target = call.window_rank(&window, rank).map_err(of(win))?;
        let lock = window.epoch.borrow_mut().locks.remove(&target);
        match lock {
            Some(true) => call.give_locks(&window, &BTreeSet::from([target])),
            Some(false) => call.flush_window(&window, |rank| rank == target),
            None => return Err(of(win)(misplaced("MPI_Win_unlock without MPI_Win_lock"))),
        }
        Ok(())
    }
    fn MPI_Win_lock_all(call, assert: i32, win: WinHandle) {
        let window = call.me.window(win.number)?;
        let mut epoch = window.epoch.borrow_mut();
        if epoch.all.is_some() || !epoch.locks.is_empty() {
            return Err(of(win)(misplaced("the window is locked by this rank already")));
        }
        epoch.all = Some(!call.has_mode(assert, "MPI_MODE_NOCHECK"));
        Ok(())
    }
    fn MPI_Win_unlock_all(call, win: WinHandle) {
        let window = call.me.window(win.number)?;
        let (all, asked) = {
            let mut epoch = window.epoch.borrow_mut();
            (epoch.all.take(), std::mem::take(&mut epoch.asked))
        };
        if all.is_none() {
            return Err(of(win)(misplaced("MPI_Win_unlock_all without MPI_Win_lock_all")));
        }
        call.give_locks(&window, &asked);
        call.flush_window(&window, |_| true);
        Ok(())
    }
    fn MPI_Win_flush(call, rank: i32, win: WinHandle) {
        let window = call.me.window(win.number)?;
        let target = call.window_rank(&window, rank).map_err(of(win))?;
        call.flush_window(&window, |rank| rank == target);
        Ok(())
    }
    fn MPI_Win_flush_all(call, win: WinHandle) {
        let window = call.me.window(win.number)?;
        call.flush_window(&window, |_| true);
        Ok(())
    }
    fn MPI_Win_flush_local(call, rank: i32, win: WinHandle) {
        let window = call.me.window(win.number)?;
        let target = call.window_rank(&window, rank).map_err(of(win))?;
        call.flush_local(&window, |rank| rank == target);
        Ok(())
    }
    fn MPI_Win_flush_local_all(call, win: WinHandle) {
        let window = call.me.window(win.number)?;
        call.flush_local(&window, |_| true);
        Ok(())
    }
    /// Whoever polls its memory sees what others have written by now.
    fn MPI_Win_sync(call, win: WinHandle) {
        call.me.window(win.number)?;
        call.me.ask_again();
        block_on(call.me.rank.look());
        Ok(())
    }
}
