use hpcast_platform::{diagnostic::Source, import::simgrid::{import, Release}};
fn main(){ for f in std::env::args().skip(1) { let s=match Source::read(std::path::Path::new(&f)) {Ok(s)=>s,Err(e)=>{println!("{}",e.render(false));continue}};
 println!("===== {f}");
 match import(&s, Release::default()) { Err(e)=>println!("{}",e.render(false)), Ok(i)=>{ println!("{}", i.warnings.render(false)); for p in i.machine.check(){println!("CHECK {p:?}")} for (n,t) in i.files("out.toml"){ println!("--- {n} {} bytes", t.len()); println!("{}", &t[..t.len().min(6000)]); } } } } }
