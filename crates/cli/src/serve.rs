//! `hpcast serve`: studies and runs in the browser.

mod connections;
mod follow;
mod guard;
mod http;
mod pictures;
mod response;
mod selection;
mod shelf;
mod site;

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clap::Args;

use crate::failure::Failure;
use crate::print;
use crate::running::Running;
use guard::Guard;
use shelf::Shelf;
use site::Site;

/// How soon Ctrl-C is noticed.
const PAUSE: Duration = Duration::from_millis(50);

/// Options of `hpcast serve`.
#[derive(Args)]
pub(crate) struct Options {
    /// The folder of a study, a folder with such folders, a store file, or postgres://...
    place: String,
    /// Port; 0 takes any that is free
    #[arg(long, default_value_t = 8420, value_name = "PORT")]
    port: u16,
    /// Address to listen on; any but those of this computer alone asks for a token
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST), value_name = "ADDRESS")]
    listen: IpAddr,
    /// Ask for a token on this computer, too: others may be logged in here
    #[arg(long)]
    token: bool,
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let running = Running::begin("serve".into());
    let shelf = Shelf::new(&options.place)?;
    let listener = listen(SocketAddr::new(options.listen, options.port))?;
    let address = listener.local_addr().map_err(|error| Failure::input(format!("cannot listen: {error}")))?;
    let guard = Guard::new(address.ip().is_loopback() && !options.token, address.port())?;
    print(&format!("http://{}:{}/{}\n", host(address.ip()), address.port(), guard.query()))?;
    let site = Arc::new(Site::new(shelf));
    let answering = site.clone();
    // It ends with the program.
    std::thread::spawn(move || {
        connections::serve(&listener, move |request| match guard.refuses(request) {
            Some(refusal) => refusal,
            None => guard.admits(request, answering.answer(request)),
        });
    });
    while !running.interrupt().load(Ordering::Relaxed) {
        std::thread::sleep(PAUSE);
    }
    site.stop();
    Ok(())
}

/// What is behind a lock is sound also when whoever had it has panicked: values are replaced as a whole.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn listen(address: SocketAddr) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).map_err(|error| {
        let remedy = match error.kind() {
            std::io::ErrorKind::AddrInUse => "choose another port with --port, or any that is free with --port 0",
            std::io::ErrorKind::AddrNotAvailable => "choose an address of this computer with --listen",
            _ => "choose another address with --listen and --port",
        };
        Failure::input(format!("cannot listen on {address}: {error}; {remedy}"))
    })
}

/// What others can call the address.
fn host(address: IpAddr) -> String {
    match address {
        any if any.is_unspecified() => rustix::system::uname().nodename().to_string_lossy().into_owned(),
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    }
}
