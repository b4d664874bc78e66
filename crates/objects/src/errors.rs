//! The error classes of MPI, without the numbers that an ABI gives them.

macro_rules! classes {
    ($($variant:ident $name:literal $text:literal;)*) => {
        /// An error class of MPI.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum ErrorClass {
            $(#[doc = concat!("`", $name, "`: ", $text)] $variant,)*
        }

        impl ErrorClass {
            /// All classes.
            pub const ALL: &[ErrorClass] = &[$(ErrorClass::$variant),*];

            /// The name in the standard, such as `MPI_ERR_COUNT`.
            pub const fn name(self) -> &'static str {
                match self { $(ErrorClass::$variant => $name),* }
            }

            /// What it means, in words.
            pub const fn text(self) -> &'static str {
                match self { $(ErrorClass::$variant => $text),* }
            }
        }
    };
}

classes! {
    Success "MPI_SUCCESS" "no error";
    Buffer "MPI_ERR_BUFFER" "invalid buffer";
    Count "MPI_ERR_COUNT" "invalid count";
    Type "MPI_ERR_TYPE" "invalid datatype";
    Tag "MPI_ERR_TAG" "invalid tag";
    Comm "MPI_ERR_COMM" "invalid communicator";
    Rank "MPI_ERR_RANK" "invalid rank";
    Request "MPI_ERR_REQUEST" "invalid request";
    Root "MPI_ERR_ROOT" "invalid root";
    Group "MPI_ERR_GROUP" "invalid group";
    Op "MPI_ERR_OP" "invalid reduction operation";
    Topology "MPI_ERR_TOPOLOGY" "invalid topology";
    Dims "MPI_ERR_DIMS" "invalid dimensions";
    Arg "MPI_ERR_ARG" "invalid argument";
    Unknown "MPI_ERR_UNKNOWN" "unknown error";
    Truncate "MPI_ERR_TRUNCATE" "message truncated on receive";
    Other "MPI_ERR_OTHER" "known error not in this list";
    Intern "MPI_ERR_INTERN" "internal error";
    InStatus "MPI_ERR_IN_STATUS" "error code is in status";
    Pending "MPI_ERR_PENDING" "request not yet complete";
    Access "MPI_ERR_ACCESS" "permission denied";
    Amode "MPI_ERR_AMODE" "invalid mode for opening a file";
    Assert "MPI_ERR_ASSERT" "invalid assertion";
    BadFile "MPI_ERR_BAD_FILE" "invalid file name";
    Base "MPI_ERR_BASE" "invalid base";
    Conversion "MPI_ERR_CONVERSION" "data conversion failed";
    Disp "MPI_ERR_DISP" "invalid displacement";
    DupDatarep "MPI_ERR_DUP_DATAREP" "data representation is already defined";
    FileExists "MPI_ERR_FILE_EXISTS" "file exists";
    FileInUse "MPI_ERR_FILE_IN_USE" "file is open in another process";
    File "MPI_ERR_FILE" "invalid file handle";
    InfoKey "MPI_ERR_INFO_KEY" "info key too long or empty";
    InfoNokey "MPI_ERR_INFO_NOKEY" "no such info key";
    InfoValue "MPI_ERR_INFO_VALUE" "info value too long";
    Info "MPI_ERR_INFO" "invalid info";
    Io "MPI_ERR_IO" "input or output failed";
    Keyval "MPI_ERR_KEYVAL" "invalid key of an attribute";
    Locktype "MPI_ERR_LOCKTYPE" "invalid lock type";
    Name "MPI_ERR_NAME" "service name not published";
    NoMem "MPI_ERR_NO_MEM" "out of memory";
    NotSame "MPI_ERR_NOT_SAME" "collective argument differs between processes";
    NoSpace "MPI_ERR_NO_SPACE" "not enough space";
    NoSuchFile "MPI_ERR_NO_SUCH_FILE" "no such file";
    Port "MPI_ERR_PORT" "invalid port";
    ProcAborted "MPI_ERR_PROC_ABORTED" "a peer process has aborted";
    Quota "MPI_ERR_QUOTA" "quota exceeded";
    ReadOnly "MPI_ERR_READ_ONLY" "read-only file or file system";
    RmaAttach "MPI_ERR_RMA_ATTACH" "memory cannot be attached";
    RmaConflict "MPI_ERR_RMA_CONFLICT" "conflicting accesses to a window";
    RmaFlavor "MPI_ERR_RMA_FLAVOR" "window is of the wrong flavor";
    RmaRange "MPI_ERR_RMA_RANGE" "target memory is outside the window";
    RmaShared "MPI_ERR_RMA_SHARED" "memory cannot be shared";
    RmaSync "MPI_ERR_RMA_SYNC" "wrong synchronization of one-sided calls";
    Service "MPI_ERR_SERVICE" "invalid service name";
    Session "MPI_ERR_SESSION" "invalid session";
    Size "MPI_ERR_SIZE" "invalid size";
    Spawn "MPI_ERR_SPAWN" "processes could not be spawned";
    UnsupportedDatarep "MPI_ERR_UNSUPPORTED_DATAREP" "unsupported data representation";
    UnsupportedOperation "MPI_ERR_UNSUPPORTED_OPERATION" "unsupported operation";
    ValueTooLarge "MPI_ERR_VALUE_TOO_LARGE" "value too large to store";
    Win "MPI_ERR_WIN" "invalid window";
    Errhandler "MPI_ERR_ERRHANDLER" "invalid error handler";
    ToolMemory "MPI_T_ERR_MEMORY" "out of memory";
    ToolNotInitialized "MPI_T_ERR_NOT_INITIALIZED" "tool interface not initialized";
    ToolCannotInit "MPI_T_ERR_CANNOT_INIT" "tool interface cannot be initialized";
    ToolInvalid "MPI_T_ERR_INVALID" "invalid use of the tool interface";
    ToolInvalidIndex "MPI_T_ERR_INVALID_INDEX" "invalid index";
    ToolInvalidHandle "MPI_T_ERR_INVALID_HANDLE" "invalid handle";
    ToolInvalidName "MPI_T_ERR_INVALID_NAME" "no variable of this name";
}

impl std::fmt::Display for ErrorClass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.name(), self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ_and_texts_are_there() {
        let mut names: Vec<_> = ErrorClass::ALL.iter().map(|class| class.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ErrorClass::ALL.len());
        assert_eq!(ErrorClass::Truncate.to_string(), "MPI_ERR_TRUNCATE: message truncated on receive");
    }
}
