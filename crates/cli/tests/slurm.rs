//! Studies on a real Slurm: a controller and a node on this computer, made for the test. Skipped where Slurm is not
//! installed, or where its daemons cannot be started (they want to be root).

mod common;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{Folder, command, is_root, prints, refuses, small_study};

/// A cluster of one node; its daemons end with it.
struct Slurm {
    folder: Folder,
    daemons: Vec<Child>,
}

impl Drop for Slurm {
    fn drop(&mut self) {
        for daemon in &mut self.daemons {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

fn is_installed(program: &str) -> bool {
    let folders = ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"];
    folders.iter().any(|folder| Path::new(folder).join(program).is_file())
}

impl Slurm {
    fn start() -> Option<Slurm> {
        if !is_root() || !["slurmctld", "slurmd", "munged", "sbatch"].into_iter().all(is_installed) {
            eprintln!("skipped: Slurm and munge are not installed, or this is not root");
            return None;
        }
        let folder = Folder::new("slurm");
        for name in ["munge", "state", "spool"] {
            std::fs::create_dir_all(folder.path(name)).expect("a folder");
        }
        let host = String::from_utf8(Command::new("hostname").arg("-s").output().ok()?.stdout).ok()?.trim().to_owned();
        let port = 20_000 + std::process::id() % 20_000;
        let place = folder.path("");
        let place = place.trim_end_matches('/');
        folder.write(
            "slurm.conf",
            &format!(
                "ClusterName=test\nSlurmctldHost={host}(127.0.0.1)\nSlurmUser=root\nSlurmdUser=root\nAuthType=auth/munge\n\
                 AuthInfo=socket={place}/munge/socket\nCredType=cred/munge\nStateSaveLocation={place}/state\n\
                 SlurmdSpoolDir={place}/spool\nSlurmctldPidFile={place}/ctld.pid\nSlurmdPidFile={place}/d.pid\n\
                 SlurmctldPort={port}\nSlurmdPort={}\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n\
                 SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nJobAcctGatherType=jobacct_gather/none\n\
                 SwitchType=switch/none\nMpiDefault=none\nReturnToService=2\n\
                 SchedulerParameters=sched_interval=1,batch_sched_delay=0\nNodeName={host} NodeAddr=127.0.0.1 CPUs=2\n\
                 PartitionName=debug Nodes={host} Default=YES State=UP\n",
                port + 1
            ),
        );
        folder.write("munge/key", &"0123456789abcdef".repeat(4));
        let quiet = |command: &mut Command| command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok();
        let _ = Command::new("chmod").args(["600", &folder.path("munge/key")]).status();
        let munge = |name: &str| folder.path(&format!("munge/{name}"));
        let mut daemons = Vec::new();
        daemons.push(quiet(Command::new("munged").args([
            "--foreground",
            "--force",
            &format!("--socket={}", munge("socket")),
            &format!("--key-file={}", munge("key")),
            &format!("--log-file={}", munge("log")),
            &format!("--pid-file={}", munge("pid")),
            &format!("--seed-file={}", munge("seed")),
        ]))?);
        std::thread::sleep(Duration::from_millis(500));
        let conf = folder.path("slurm.conf");
        daemons.push(quiet(Command::new("slurmctld").args(["-D", "-f", &conf, "-L", &folder.path("ctld.log")]))?);
        daemons.push(quiet(Command::new("slurmd").args([
            "-D",
            "-f",
            &conf,
            "-N",
            &host,
            "-L",
            &folder.path("d.log"),
        ]))?);
        let slurm = Slurm { folder, daemons };
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(60) {
            let states = slurm.command("sinfo").args(["-h", "-o", "%T"]).output().ok()?;
            if String::from_utf8_lossy(&states.stdout).trim() == "idle" {
                return Some(slurm);
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        eprintln!("skipped: Slurm does not come up: {}", slurm.folder.read("ctld.log"));
        None
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("SLURM_CONF", self.folder.path("slurm.conf"));
        command
    }

    fn hpcast(&self, arguments: &[&str]) -> Command {
        let mut command = command(arguments);
        command.env("SLURM_CONF", self.folder.path("slurm.conf"));
        command
    }
}

fn rows(folder: &Folder, out: &str) -> String {
    prints(&["runs", "export", &folder.path(out), "--csv", &folder.path("rows.csv")]);
    folder.read("rows.csv")
}

#[test]
fn without_slurm_it_says_so() {
    let (folder, study) = small_study("no-slurm");
    let mut hpcast = command(&["study", "run", &study, "--out", &folder.path("out"), "--on", "slurm"]);
    let output = hpcast.env("PATH", folder.path("nowhere")).output().expect("hpcast");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("Slurm is not here: `sbatch` cannot be run"), "{said}");
    refuses(&["study", "run", &study, "--out", &folder.path("out"), "--on", "moon"], &["invalid value 'moon'"]);
}

/// Programs of these names that do as Slurm's, but for `squeue`, which has no answer at first.
#[test]
fn a_scheduler_that_is_silent_for_a_while_is_waited_for() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, study) = small_study("slurm-silent");
    let program = |name: &str, text: &str| {
        let path = folder.write(name, &format!("#!/bin/sh\n{text}"));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a program");
    };
    program(
        "sbatch",
        "for last; do :; done\n(sleep 3; SLURM_ARRAY_TASK_ID=0 sh \"$last\") >/dev/null 2>&1 &\necho 7\n",
    );
    let asked = folder.path("asked");
    let silent = "echo 'Unable to contact slurm controller' >&2; exit 1";
    program("squeue", &format!("if [ -e {asked} ]; then echo RUNNING; else touch {asked}; {silent}; fi\n"));
    let path = format!("{}:{}", folder.path(""), std::env::var("PATH").expect("a path"));
    let mut hpcast =
        command(&["study", "run", &study, "--out", &folder.path("out"), "--on", "slurm", "--workers", "1"]);
    let output = hpcast.env("PATH", path).output().expect("hpcast");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(std::path::Path::new(&asked).exists(), "nobody has asked");
    prints(&["study", "run", &study, "--out", &folder.path("here")]);
    assert_eq!(rows(&folder, "out"), rows(&folder, "here"));
}

#[test]
fn a_cluster_finds_what_this_computer_finds() {
    let Some(slurm) = Slurm::start() else { return };
    let (folder, study) = small_study("slurm-study");
    prints(&["study", "run", &study, "--out", &folder.path("here")]);
    let here = rows(&folder, "here");

    let run = |out: &str| {
        slurm.hpcast(&["study", "run", &study, "--out", &folder.path(out), "--on", "slurm", "--workers", "4"])
    };
    let output = run("there").output().expect("hpcast");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(rows(&folder, "there"), here);

    // Tasks that are cancelled are sent again.
    let child = run("cancelled").stdout(Stdio::piped()).spawn().expect("hpcast");
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(20) {
        if slurm
            .command("scancel")
            .args(["--verbose", "--name=hpcast-study"])
            .output()
            .is_ok_and(|output| String::from_utf8_lossy(&output.stderr).contains("Terminating job"))
        {
            break;
        }
    }
    assert!(child.wait_with_output().expect("hpcast").status.success());
    assert_eq!(rows(&folder, "cancelled"), here);

    // What is on its way when nobody waits any more is gathered by the next who asks.
    let mut child = run("left").stdout(Stdio::null()).spawn().expect("hpcast");
    let job = Path::new(&folder.path("left")).join("slurm/0001/job");
    while !job.is_file() {
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().expect("hpcast");
    child.wait().expect("hpcast");
    assert!(run("left").output().expect("hpcast").status.success());
    assert_eq!(rows(&folder, "left"), here);
}
