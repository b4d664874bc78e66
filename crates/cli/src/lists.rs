//! `hpcast programs` and `hpcast collectives`: what there is to choose from.

use hpcast_apps::Program;
use hpcast_mpi::collectives::Selection;

use crate::failure::Failure;
use crate::print;

pub(crate) fn programs() -> Result<(), Failure> {
    for program in Program::all() {
        print(&format!("{:<22}{}\n", program.to_string(), program.description()))?;
    }
    Ok(())
}

pub(crate) fn collectives() -> Result<(), Failure> {
    for (operation, algorithms) in Selection::catalogue() {
        print(&format!("{operation}\n    {}\n", algorithms.join(", ")))?;
    }
    Ok(())
}
