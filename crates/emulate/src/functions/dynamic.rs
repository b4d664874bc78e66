//! Dynamic processes: the ranks of a run are those that it began with, so what would bring more is refused.

use hpcast_objects::ErrorClass;

use crate::argument::{At, CommAt, CommHandle, InfoArray, InfoHandle, Text, TextAt};
use crate::call::mpi;
use crate::fault::{Answer, Fault};

/// Nothing outside of the run can be reached.
fn alone(what: &str) -> Answer {
    let detail = format!("{what}: the ranks of a simulated run are those that it began with; start all with -n");
    Err(Fault::new(ErrorClass::UnsupportedOperation, detail))
}

fn no_spawning(comm: CommHandle) -> Answer {
    let detail = "no processes can be added to a simulated run; start all with -n";
    Err(Fault::new(ErrorClass::Spawn, detail).of_comm(comm.number))
}

mpi! {
    fn MPI_Comm_get_parent(call, parent: CommAt) {
        parent.set(call, 0);
        Ok(())
    }
    fn MPI_Comm_spawn(
        _call, _command: Text, _argv: At<usize>, _maxprocs: i32, _info: InfoHandle, _root: i32, comm: CommHandle,
        _intercomm: CommAt, _array_of_errcodes: At<i32>,
    ) {
        no_spawning(comm)
    }
    fn MPI_Comm_spawn_multiple(
        _call, _count: i32, _array_of_commands: At<usize>, _array_of_argv: At<usize>, _array_of_maxprocs: At<i32>,
        _array_of_info: InfoArray, _root: i32, comm: CommHandle, _intercomm: CommAt, _array_of_errcodes: At<i32>,
    ) {
        no_spawning(comm)
    }
    fn MPI_Open_port(_call, _info: InfoHandle, _port_name: TextAt) {
        alone("no port can be opened")
    }
    fn MPI_Close_port(_call, _port_name: Text) {
        alone("no port can be opened")
    }
    fn MPI_Comm_accept(_call, _port_name: Text, _info: InfoHandle, _root: i32, comm: CommHandle, _newcomm: CommAt) {
        alone("nobody can connect").map_err(|fault| fault.of_comm(comm.number))
    }
    fn MPI_Comm_connect(_call, _port_name: Text, _info: InfoHandle, _root: i32, comm: CommHandle, _newcomm: CommAt) {
        alone("there is nobody to connect to").map_err(|fault| fault.of_comm(comm.number))
    }
    fn MPI_Comm_join(_call, _fd: i32, _intercomm: CommAt) {
        alone("there is nobody to join")
    }
    fn MPI_Publish_name(_call, _service_name: Text, _info: InfoHandle, _port_name: Text) {
        alone("no port can be published")
    }
    fn MPI_Unpublish_name(_call, _service_name: Text, _info: InfoHandle, _port_name: Text) {
        alone("no port is published")
    }
    fn MPI_Lookup_name(_call, service_name: Text, _info: InfoHandle, _port_name: TextAt) {
        Err(Fault::new(ErrorClass::Name, format!("nobody has published {}", service_name.0)))
    }
}
