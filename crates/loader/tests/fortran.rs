//! Programs in Fortran: common blocks, modules, input and output.

mod common;

use common::{Folder, call, open, ready};

const SOURCE: &str = r#"
module state
  implicit none
  integer :: saved = 3
  real(8), allocatable :: values(:)
end module

integer(4) function add(by) bind(C)
  use iso_c_binding
  use state
  integer(4), value :: by
  integer :: first, second
  common /block/ first, second
  first = first + by
  second = second + 2 * by
  saved = saved + by
  if (.not. allocated(values)) allocate(values(10), source=1.0d0)
  values = values + by
  add = first + 100 * second + 10000 * saved + int(sum(values)) * 1000000
end function

integer(4) function text(value) bind(C)
  use iso_c_binding
  integer(4), value :: value
  character(len=20) :: line
  integer :: back, unit
  write(line, '(I8,A,F6.2)') value, ' ', 2.5
  read(line, *) back
  open(newunit=unit, status='scratch')
  write(unit, *) back, 4
  rewind(unit)
  read(unit, *) back
  close(unit)
  text = back + len_trim(line) * 1000
end function

program main
end program
"#;

#[test]
fn common_blocks_and_units_are_private() {
    let folder = Folder::new("fortran");
    let Some(path) = folder.compile("gfortran", "fortran", SOURCE, &[]) else { return };
    let program = open(&path);
    let copies: Vec<_> = (0..10).map(|_| ready(&program)).collect();
    for copy in &copies {
        assert_eq!(call(copy, "add", 1), 20_040_201);
        assert_eq!(call(copy, "add", 1), 30_050_402);
        assert_eq!(call(copy, "text", 7), 15_007);
    }
    assert!(program.needed().iter().any(|name| name.starts_with("libgfortran")));
}
