//! Error classes, codes and texts that the program has added.

/// What MPI_Add_error_class, MPI_Add_error_code and MPI_Add_error_string have added.
#[derive(Default)]
pub struct OwnErrors {
    /// Classes and codes share their numbers: the class of each, and its text.
    pub added: Vec<(i32, String)>,
}
