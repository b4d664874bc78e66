module mpi_f08
      use, intrinsic :: iso_c_binding, only: c_ptr, c_int
      use mpi_constants_abi
      use mpi_sizes_abi
      implicit none
      type, bind(c) :: MPI_Status
        integer(c_int) :: MPI_SOURCE, MPI_TAG, MPI_ERROR
        integer(c_int) :: internal(5)
      end type
      type, bind(c) :: MPI_Comm
        integer(c_int) :: MPI_VAL
      end type
      type, bind(c) :: MPI_Group
        integer(c_int) :: MPI_VAL
      end type
      type, bind(c) :: MPI_Datatype
        integer(c_int) :: MPI_VAL
      end type
      type, bind(c) :: MPI_Request
        integer(c_int) :: MPI_VAL
      end type
      type, bind(c) :: MPI_Op
        integer(c_int) :: MPI_VAL
      end type
      type, bind(c) :: MPI_Errhandler
        integer(c_int) :: MPI_VAL
      end type
      type, bind(c) :: MPI_Info
        integer(c_int) :: MPI_VAL
      end type
      type, bind(c) :: MPI_Win
        integer(c_int) :: MPI_VAL
      end type
      type, bind(c) :: MPI_File
        integer(c_int) :: MPI_VAL
      end type
      type, bind(c) :: MPI_Message
        integer(c_int) :: MPI_VAL
      end type
      type, bind(c) :: MPI_Session
        integer(c_int) :: MPI_VAL
      end type
      type(MPI_Status) :: MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE(1)
      integer(c_int) :: MPI_BOTTOM, MPI_IN_PLACE, MPI_ERRCODES_IGNORE(1)
      common /MPIPRIV1/ MPI_BOTTOM, MPI_IN_PLACE, MPI_STATUS_IGNORE
      common /MPIPRIV2/ MPI_STATUSES_IGNORE, MPI_ERRCODES_IGNORE
      save /MPIPRIV1/, /MPIPRIV2/
      private :: c_ptr, c_int
      abstract interface
        subroutine MPI_User_function(invec, inoutvec, len, datatype)
          import
          type(c_ptr), value :: invec, inoutvec
          integer :: len
          type(MPI_Datatype) :: datatype
        end subroutine
        subroutine MPI_Comm_copy_attr_function(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
          import
          type(MPI_Comm) :: oldcomm
          integer :: comm_keyval, ierror
          integer(kind=8) :: extra_state, attribute_val_in, attribute_val_out
          logical :: flag
        end subroutine
        subroutine MPI_Comm_delete_attr_function(comm, comm_keyval, attribute_val, extra_state, ierror)
          import
          type(MPI_Comm) :: comm
          integer :: comm_keyval, ierror
          integer(kind=8) :: attribute_val, extra_state
        end subroutine
        subroutine MPI_Type_copy_attr_function(oldtype, type_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
          import
          type(MPI_Datatype) :: oldtype
          integer :: type_keyval, ierror
          integer(kind=8) :: extra_state, attribute_val_in, attribute_val_out
          logical :: flag
        end subroutine
        subroutine MPI_Type_delete_attr_function(datatype, type_keyval, attribute_val, extra_state, ierror)
          import
          type(MPI_Datatype) :: datatype
          integer :: type_keyval, ierror
          integer(kind=8) :: attribute_val, extra_state
        end subroutine
        subroutine MPI_Win_copy_attr_function(oldwin, win_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
          import
          type(MPI_Win) :: oldwin
          integer :: win_keyval, ierror
          integer(kind=8) :: extra_state, attribute_val_in, attribute_val_out
          logical :: flag
        end subroutine
        subroutine MPI_Win_delete_attr_function(win, win_keyval, attribute_val, extra_state, ierror)
          import
          type(MPI_Win) :: win
          integer :: win_keyval, ierror
          integer(kind=8) :: attribute_val, extra_state
        end subroutine
        subroutine MPI_Comm_errhandler_function(comm, error_code)
          import
          type(MPI_Comm) :: comm
          integer :: error_code
        end subroutine
        subroutine MPI_Win_errhandler_function(win, error_code)
          import
          type(MPI_Win) :: win
          integer :: error_code
        end subroutine
        subroutine MPI_File_errhandler_function(file, error_code)
          import
          type(MPI_File) :: file
          integer :: error_code
        end subroutine
        subroutine MPI_Session_errhandler_function(session, error_code)
          import
          type(MPI_Session) :: session
          integer :: error_code
        end subroutine
        subroutine MPI_Grequest_query_function(extra_state, status, ierror)
          import
          integer(kind=8) :: extra_state
          type(MPI_Status) :: status
          integer :: ierror
        end subroutine
        subroutine MPI_Grequest_free_function(extra_state, ierror)
          integer(kind=8) :: extra_state
          integer :: ierror
        end subroutine
        subroutine MPI_Grequest_cancel_function(extra_state, complete, ierror)
          integer(kind=8) :: extra_state
          logical :: complete
          integer :: ierror
        end subroutine
      end interface
