# make run    real forecasts: of a collective operation at once, of Frontera's HPL run a minute or two later
# make test   everything that must hold: format, lints, docs, tests
# make test-slow  the tests that take minutes, and property tests with many new cases
# make bench  how fast the parts are
# make peers  the same work in SimGrid/SMPI and here, side by side
# make peers-hpl  the part of it that is HPL: the real one in SimGrid/SMPI and here, and our skeleton
# make fidelity  the real HPL and ours, message by message and kernel by kernel
# make real-hpl  the real HPL and ours on the same simulated machine, their times compared
# make conformance  small MPI programs under Open MPI, MPICH and hpcast, their outputs compared
# make programs  real programs from Debian, natively and under hpcast, their results compared
# make top500  ranked runs of the TOP500, forecast beside what they reached
# make study-topology, study-pruning, study-fat-tree-pingpong, study-three-topologies  published studies of networks, repeated
# make validate  published simulations and measured runs, and our forecasts of them (QUICK=1: a few of them)

CARGO ?= cargo
HPCAST := target/release/hpcast

.PHONY: run test test-slow bench peers peers-hpl fidelity real-hpl conformance programs validate top500 golden fuzz setup \
    study-topology study-pruning study-fat-tree-pingpong study-three-topologies

run: setup
	$(CARGO) build --release --quiet --bin hpcast
	@mkdir -p target/forecast
	$(HPCAST) run allreduce -n 4096 --ranks-per-node 1 -m machines/frontera.toml --mpi mpich --size 8B..1MiB \
	    --json target/forecast/allreduce.json --plot target/forecast/allreduce.svg
	$(HPCAST) machine draw machines/frontera.toml -o target/forecast/frontera.svg
	$(HPCAST) hpl -m machines/frontera.toml --n 9282848 --nb 384 --grid 88x91 --bcast 2ringM --swap binary-exchange \
	    --samples 5 --json target/forecast/hpl.json --plot target/forecast/hpl.svg --links target/forecast/links.svg
	@echo
	@echo "Pictures in target/forecast: allreduce.svg (time over size), frontera.svg (the machine), hpl.svg (HPL from its"
	@echo "first panel to its last), links.svg (load of the network)"

test: setup
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --quiet -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --quiet
	PROPTEST_RNG_SEED=1 $(CARGO) test --workspace --quiet

# Property tests draw new cases here, and the same ones in `test`.
test-slow: setup
	$(CARGO) test --workspace --release --quiet -- --ignored
	PROPTEST_CASES=4000 $(CARGO) test --workspace --release --quiet

bench: setup
	$(CARGO) bench --workspace

peers: setup
	$(CARGO) build --release --quiet --bin hpcast
	peers/run.sh
	peers/hpl.sh

peers-hpl: setup
	$(CARGO) build --release --quiet --bin hpcast
	peers/hpl.sh

# Records what the real HPL does and compares; fidelity/README.md says how.
fidelity: setup
	$(CARGO) build --release --quiet --bin hpcast
	fidelity/run.sh
	fidelity/check.sh

# Runs the real HPL on the simulated machine beside ours.
real-hpl: setup
	$(CARGO) build --release --quiet --bin hpcast
	fidelity/times.sh

# Runs what is installed; conformance/README.md says how.
conformance: setup
	$(CARGO) build --release --quiet --bin hpcast
	conformance/run.sh

# Fetches what it runs; programs/README.md says how.
programs: setup
	$(CARGO) build --release --quiet --bin hpcast
	programs/run.sh

# Compares with what has been published; validation/README.md says how.
validate: setup
	$(CARGO) build --release --quiet --bin hpcast
	$(HPCAST) validate $(if $(QUICK),--quick) -o target/validation

# Tables and plots in target/studies; docs/network-studies.md says what to expect. The first two need the published data.
study-topology: setup
	$(CARGO) build --release --quiet --bin hpcast
	$(HPCAST) validate $(if $(QUICK),--quick) studies/topology/topology-study.toml studies/topology/topology-crossbar.toml -o target/studies/topology

study-pruning: setup
	$(CARGO) build --release --quiet --bin hpcast
	$(HPCAST) validate $(if $(QUICK),--quick) msc-topology -o target/studies/pruning

study-fat-tree-pingpong study-three-topologies: study-%: setup
	$(CARGO) build --release --quiet --bin hpcast
	HPCAST=$(HPCAST) studies/$*/run.sh target/studies/$*

# About an hour of CPU.
top500: setup
	$(CARGO) build --release --quiet --bin hpcast
	$(HPCAST) validate top500 sensitivity -o target/top500

# The reference values of tests/simgrid, made anew by the real SimGrid.
golden: setup
	tests/simgrid/regenerate.sh

# Coverage-guided fuzzing of the readers of foreign input, a minute each; needs a nightly toolchain or RUSTC_BOOTSTRAP.
fuzz:
	fuzz/run.sh

# A C linker is all that the build needs beside Rust.
setup:
	@scripts/setup.sh
