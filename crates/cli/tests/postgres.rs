//! Studies that are kept in a real PostgreSQL, made for the test. Skipped where it is not installed.

mod common;
mod served;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::{Folder, SMALL_STUDY, command, is_root, prints, refuses, small_study};

/// A server; it ends with this.
struct Server {
    folder: Folder,
    programs: PathBuf,
    port: u32,
}

/// As the user that PostgreSQL wants to be, which is not root.
fn as_user(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("runuser");
    command.args(["-u", "postgres", "--"]).arg(program);
    command
}

impl Server {
    fn start() -> Option<Server> {
        let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
        let programs =
            versions.map(|version| version.path().join("bin")).find(|folder| folder.join("initdb").is_file());
        let Some(programs) = programs else {
            eprintln!("skipped: PostgreSQL is not installed");
            return None;
        };
        let folder = Folder::new("postgres");
        let _ = Command::new("chmod").args(["777", &folder.path("")]).status();
        let port = 40_000 + std::process::id() % 20_000;
        let server = Server { folder, programs, port };
        let data = server.folder.path("data");
        let made = as_user(&server.programs.join("initdb")).args(["-D", &data, "-A", "trust", "-U", "hpcast"]).output();
        if !made.is_ok_and(|made| made.status.success()) {
            eprintln!("skipped: PostgreSQL cannot make a database here");
            return None;
        }
        let options = format!("-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=");
        let log = server.folder.path("data/log");
        let started = as_user(&server.programs.join("pg_ctl"))
            .args(["-D", &data, "-w", "-o", &options, "-l", &log, "start"])
            .stdout(Stdio::null())
            .status();
        if !started.is_ok_and(|started| started.success()) {
            eprintln!("skipped: PostgreSQL does not start here");
            return None;
        }
        Some(server)
    }

    fn url(&self) -> String {
        format!("postgres://hpcast@127.0.0.1:{}/postgres", self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let data = self.folder.path("data");
        let _ = as_user(&self.programs.join("pg_ctl"))
            .args(["-D", &data, "-m", "immediate", "stop"])
            .stdout(Stdio::null())
            .status();
        let _ = as_user(Path::new("rm")).args(["-rf", &data]).status();
    }
}

#[test]
fn a_team_keeps_its_runs_in_one_place() {
    let Some(server) = Server::start() else { return };
    let (folder, study) = small_study("postgres-study");
    let rows = |place: &str, name: &str| {
        prints(&[
            "runs",
            "export",
            place,
            "--study",
            name,
            "--csv",
            &folder.path("rows.csv"),
            "--parquet",
            &folder.path("x.parquet"),
        ]);
        folder.read("rows.csv")
    };
    prints(&["study", "run", &study, "--out", &folder.path("here")]);
    let here = rows(&folder.path("here"), "study");
    let url = server.url();
    let said = prints(&["study", "run", &study, "--out", &folder.path("there"), "--store", &url]);
    assert!(said.contains("20 of them done now"), "{said}");
    assert_eq!(rows(&url, "study"), here);
    // The folder knows where its results are, and tells nobody the password.
    let with_password = url.replace("hpcast@", "hpcast:secret@");
    prints(&["study", "run", &study, "--out", &folder.path("there"), "--store", &with_password]);
    assert!(!folder.read("there/commands.log").contains("secret"), "{}", folder.read("there/commands.log"));
    let mode = std::fs::metadata(folder.path("there/store.txt")).expect("a file").permissions().mode();
    assert_eq!(mode & 0o077, 0, "{mode:o}");
    assert_eq!(rows(&folder.path("there"), "study"), here);
    // Another study with runs in common.
    let other = folder.write("other.toml", &SMALL_STUDY.replace("\"16 KiB\"]", "\"16 KiB\", \"32 KiB\"]"));
    let said = prints(&["study", "run", &other, "--out", &folder.path("other"), "--store", &url]);
    assert!(said.contains("runs       24 of 24, 4 of them done now, 20 known before"), "{said}");
    refuses(&["runs", "list", &url], &["has 2 studies; choose one with --study: study, other"]);
    let list = prints(&["runs", "list", &url, "--study", "other", "--where", "size>=16 KiB", "--sort", "seconds"]);
    assert_eq!(list.lines().count(), 9, "{list}");
    let show = prints(&["runs", "show", &url, "--study", "other", "0"]);
    assert!(show.contains("hpcast run halo2d"), "{show}");
    let report = prints(&["study", "report", &url, "--study", "other", "--output", &folder.path("report")]);
    assert!(report.contains("The shortest time"), "{report}");
    let pages = served::Server::start(&url, &[]);
    let list = pages.page("/");
    assert!(
        list.contains("20 of 20 runs") && list.contains("24 of 24 runs") && !list.contains("postgres://"),
        "{list}"
    );
    assert!(pages.page("/study/2").contains("24 of 24 runs"));
    assert!(pages.page("/runs?filter=size>8+KiB&sort=seconds").contains("12 runs"));
    assert!(pages.page("/study/2/run/0").contains("hpcast run halo2d"));
}

#[test]
fn a_server_that_is_not_there() {
    let (folder, study) = small_study("no-postgres");
    let url = "postgres://somebody:secret@127.0.0.1:1/nowhere";
    let out = folder.path("out");
    let output = command(&["study", "run", &study, "--out", &out, "--store", url]).output().expect("hpcast");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("postgres://somebody@127.0.0.1:1/nowhere") && !said.contains("secret"), "{said}");
    // The folder is as good as new.
    prints(&["study", "run", &study, "--out", &out]);
}
