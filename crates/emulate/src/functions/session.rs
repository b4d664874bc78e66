//! Sessions of MPI 4: a way to communicators that does without MPI_COMM_WORLD.

use std::rc::Rc;

use hpcast_objects::{ErrorClass, Group};

use crate::argument::{At, ErrhandlerHandle, GroupAt, InfoAt, InfoHandle, SessionAt, SessionHandle, Text, TextAt};
use crate::call::{Call, Language, mpi};
use crate::fault::{Answer, Concern, Fault};

/// The sets of processes that there are.
const SETS: [&str; 2] = ["mpi://WORLD", "mpi://SELF"];

impl Call<'_> {
    pub(super) fn require_session(&self, session: SessionHandle) -> Answer {
        match self.me.objects.sessions.get(session.number) {
            Some(_) => Ok(()),
            None => Err(Fault::new(ErrorClass::Session, "no such session")),
        }
    }

    fn process_set(&self, session: SessionHandle, name: &str) -> Result<Group, Fault> {
        self.require_session(session)?;
        match SETS.iter().position(|set| set.eq_ignore_ascii_case(name)) {
            Some(0) => Ok(Group::world(self.me.world.size)),
            Some(_) => Ok(Group::of([self.me.number()])),
            None => {
                let fault = Fault::new(ErrorClass::Arg, format!("no set of processes is called {name}"));
                Err(fault.of(Concern::Session(session.number)))
            }
        }
    }
}

mpi! {
    fn MPI_Session_init(call, info: InfoHandle, errhandler: ErrhandlerHandle, session: SessionAt) {
        let _ = info;
        session.set(call, call.me.objects.sessions.insert(call.handler(errhandler)?));
        Ok(())
    }
    fn MPI_Session_finalize(call, session: SessionAt) {
        call.require_session(SessionHandle::of(session.get(call)))?;
        call.me.objects.sessions.remove(session.get(call));
        session.set(call, 0);
        Ok(())
    }
    fn MPI_Session_get_num_psets(call, session: SessionHandle, _info: InfoHandle, npset_names: At<i32>) {
        call.require_session(session)?;
        npset_names.set(SETS.len() as i32);
        Ok(())
    }
    /// `pset_len` counts the zero of C; where it is 0, only the length is asked for.
    fn MPI_Session_get_nth_pset(
        call, session: SessionHandle, _info: InfoHandle, n: i32, pset_len: At<i32>, pset_name: TextAt,
    ) {
        call.require_session(session)?;
        let Some(name) = usize::try_from(n).ok().and_then(|n| SETS.get(n)) else {
            let fault = Fault::new(ErrorClass::Arg, format!("there are {} sets of processes", SETS.len()));
            return Err(fault.of(Concern::Session(session.number)));
        };
        let zero = i32::from(call.language == Language::C);
        if pset_len.get() > 0 {
            pset_name.set(name, (pset_len.get() - zero) as usize);
        }
        pset_len.set(name.len() as i32 + zero);
        Ok(())
    }
    fn MPI_Session_get_info(call, session: SessionHandle, info_used: InfoAt) {
        call.require_session(session)?;
        let mut used = call.new_info();
        // Any level of threads holds; the key and the name are short.
        let _ = used.set(b"thread_level", b"MPI_THREAD_MULTIPLE");
        info_used.set(call, call.add_info(used));
        Ok(())
    }
    fn MPI_Session_get_pset_info(call, session: SessionHandle, pset_name: Text, info: InfoAt) {
        let group = call.process_set(session, &pset_name.0)?;
        let mut found = call.new_info();
        // The key and the number are short.
        let _ = found.set(b"mpi_size", group.size().to_string().as_bytes());
        info.set(call, call.add_info(found));
        Ok(())
    }
    fn MPI_Group_from_session_pset(call, session: SessionHandle, pset_name: Text, newgroup: GroupAt) {
        let group = call.process_set(session, &pset_name.0)?;
        newgroup.set(call, call.me.objects.groups.insert(Rc::new(group)));
        Ok(())
    }
}
