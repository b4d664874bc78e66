use super::measurements::Reading;
use super::*;

const THRESHOLD: u64 = 20_000;

fn recipe() -> Recipe {
    Recipe {
        objective: Objective::Logarithmic,
        strategy: Strategy::Both,
        modes: 3,
        detached_below: THRESHOLD,
        bandwidth: [1e10, 2e10],
        as_smpi: false,
    }
}

/// Evenly spread in -0.5..0.5.
fn jitter(i: u32) -> f64 {
    f64::from(i.wrapping_mul(2_654_435_761) >> 8) / f64::from(1 << 24) - 0.5
}

/// Measurements of a machine that is known: send 1 us and 0.1 ns a byte, receive 2 us, a jump of isend at 5000 B, 3 us and
/// 5 GB/s on the network, where every eighth ping-pong of a large message takes 40 us more.
fn table() -> String {
    let mut text = String::from("operation,size,seconds\n");
    let sizes = (0..60).map(|i| 1.25f64.powi(i).round() as u32 + i as u32);
    for size in sizes {
        let bytes = f64::from(size);
        for call in 0..16 {
            let noise = |scale: f64| scale * jitter(size.wrapping_mul(16) + call);
            let isend = if size <= 5000 { 1e-6 } else { 4e-6 };
            let small = u64::from(size) < THRESHOLD;
            let (send, receive) = if small { (1e-6 + 1e-10 * bytes, 2e-6) } else { (0.0, 0.0) };
            let slow = if !small && call % 8 == 0 { 40e-6 } else { 0.0 };
            let ping_pong = 2.0 * (send + 3e-6 + bytes / 5e9 + receive) + slow + noise(1e-8);
            for (operation, seconds) in [
                ("isend", isend + noise(1e-8)),
                ("ping-pong", ping_pong),
                ("send", send + noise(1e-8)),
                ("recv", receive + noise(1e-8)),
            ] {
                text += &format!("{operation},{size},{:e}\n", f64::max(seconds, 0.0));
            }
        }
    }
    text + "Iprobe,,2e-7\nIprobe,,4e-7\nTest,,8e-7\n"
}

fn measured(text: &str, reading: &Reading) -> Result<Measurements, NetworkError> {
    Measurements::read(text, reading)
}

#[test]
fn a_machine_that_is_known_is_found() {
    let table = table();
    let found = fit(&measured(&table, &Reading::default()).unwrap(), &recipe()).unwrap();
    let near = |value: Option<f64>, expected: f64, part: f64| {
        let value = value.unwrap();
        assert!((value / expected - 1.0).abs() < part, "{value:e} instead of {expected:e}\n{found:?}");
    };
    let Protocol { send, isend, receive, latency, bandwidth_factor, .. } = &found.between;
    near(send.at(1000), 1.1e-6, 0.01);
    near(send.at(15_000), 2.5e-6, 0.01);
    assert_eq!((send.at(THRESHOLD), receive.at(THRESHOLD)), (Some(0.0), Some(0.0)));
    near(receive.at(10), 2e-6, 0.01);
    near(isend.at(4500), 1e-6, 0.01);
    near(isend.at(6500), 4e-6, 0.01);
    near(latency.at(100), 3e-6, 0.02);
    near(bandwidth_factor.at(500_000), 0.5, 0.02);
    // 40 us in every eighth ping-pong: 5 us, of which a message has half.
    near(latency.at(100_000), 5.5e-6, 0.1);
    let modes = &latency.piece(100_000).unwrap().modes;
    let slow = modes.iter().max_by(|a, b| a.mean.total_cmp(&b.mean)).unwrap();
    assert!((slow.share - 1.0 / 16.0).abs() < 0.01 && (slow.mean - 43e-6).abs() < 2e-6, "{modes:?}");
    near(found.probe, 3e-7, 1e-9);
    near(found.test, 8e-7, 1e-9);
    assert_eq!(found.inside, Protocol::default());
    let how_well = found.fit.as_ref().unwrap();
    assert!(how_well.warnings.is_empty(), "{:?}", how_well.warnings);
    assert!(how_well.ranges.iter().all(|range| range.relative_error < 0.1), "{how_well:?}");
    // Nothing is drawn.
    assert_eq!(fit(&measured(&table, &Reading::default()).unwrap(), &recipe()).unwrap(), found);
}

#[test]
fn noise_is_left_out_where_nobody_wants_it_or_calls_were_not_repeated() {
    let quiet = Recipe { modes: 0, ..recipe() };
    assert!(!fit(&measured(&table(), &Reading::default()).unwrap(), &quiet).unwrap().is_noisy());
    let once: String = (1..50).map(|i| format!("{},{:e}\n", 100 * i, 1e-6 + 1e-9 * f64::from(i))).collect();
    let reading = Reading { operation: Some("isend".into()), place: Some(Place::Inside), ..Reading::default() };
    let found = fit(&measured(&format!("bytes,mean\n{once}"), &reading).unwrap(), &recipe()).unwrap();
    assert!(!found.is_noisy() && found.between == Protocol::default());
    assert!((found.inside.isend.at(1000).unwrap() / 1.01e-6 - 1.0).abs() < 1e-3);
}

#[test]
fn parts_that_take_longer_than_the_whole_are_shortened() {
    // Sends that return 1 ms after the message has come.
    let slow: String = table()
        .lines()
        .map(|line| match line.strip_prefix("send,") {
            Some(rest) => format!("send,{},1e-3\n", rest.split(',').next().unwrap()),
            None => format!("{line}\n"),
        })
        .collect();
    let measured = measured(&slow, &Reading::default()).unwrap();
    let found = fit(&measured, &recipe()).unwrap();
    let warnings = found.fit.unwrap().warnings;
    assert!(warnings.iter().any(|warning| warning.contains("both are shortened")), "{warnings:?}");
    let one_way = |protocol: &Protocol, size: u64| {
        let at = |function: &hpcast_platform::Piecewise| function.at(size).unwrap();
        at(&protocol.send)
            + at(&protocol.receive)
            + at(&protocol.latency)
            + size as f64 / (1e10 * at(&protocol.bandwidth_factor))
    };
    for size in [10, 300, 5000, 15_000] {
        let real = 1e-6 + 1e-10 * size as f64 + 3e-6 + size as f64 / 5e9 + 2e-6;
        let ours = one_way(&found.between, size);
        assert!((ours / real - 1.0).abs() < 0.02, "{size}: {ours:e} {real:e}");
    }
    let smpi = fit(&measured, &Recipe { as_smpi: true, ..recipe() }).unwrap();
    assert!(one_way(&smpi.between, 300) > 1e-3);
    let warnings = smpi.fit.unwrap().warnings;
    assert!(warnings.iter().any(|warning| warning.contains("simulated ping-pong is slower")), "{warnings:?}");
}

#[test]
fn tables_of_others_are_read_as_they_are() {
    let reading = |only: &str| Reading { only: vec![("cluster".into(), only.into())], ..Reading::default() };
    let points = "experiment,cluster,msg_size,duration\nisend,dahu,3,1e-6\nisend,gros,3,1e-6\npingpong,dahu,3,2e-6\n";
    let found = measured(points, &reading("dahu")).unwrap();
    assert_eq!(found.of(Place::Between, Operation::Isend), [(3.0, 1e-6)]);
    assert_eq!(found.of(Place::Between, Operation::PingPong), [(3.0, 2e-6)]);
    let raw =
        "dataset,seq,size,duration\npingpong_remote,0,8,1e-6\npingpong_loopback,1,8,2e-6\nringrong_remote,0,8,3e-6\n";
    let ring = Reading { operations: vec![("ringrong_remote".into(), "transfer".into())], ..Reading::default() };
    let found = measured(raw, &ring).unwrap();
    assert_eq!(found.of(Place::Inside, Operation::PingPong), [(8.0, 2e-6)]);
    assert_eq!(found.of(Place::Between, Operation::Transfer), [(8.0, 3e-6)]);
    assert_eq!(found.rows(), 3);
    let aggregated = "platform,operation,size,n,mean,median\nx,recv,8,5,1e-6,2e-6\n";
    let median = Reading { columns: vec![("seconds".into(), "median".into())], ..Reading::default() };
    assert_eq!(measured(aggregated, &median).unwrap().of(Place::Between, Operation::Receive), [(8.0, 2e-6)]);
    let places = "where,operation,size,seconds\ninside,send,8,1e-6\nremote,send,9,1e-6\n";
    assert_eq!(measured(places, &Reading::default()).unwrap().of(Place::Inside, Operation::Send), [(8.0, 1e-6)]);
}

#[test]
fn what_cannot_be_read_or_fitted_is_said() {
    let message = |text: &str| measured(text, &Reading::default()).unwrap_err().to_string();
    assert_eq!(message("size,seconds\n1,2\n"), "there is no column `operation`; the columns are size, seconds");
    assert_eq!(message("operation,size\nsend,2\n"), "there is no column `seconds`; the columns are operation, size");
    assert_eq!(message("operation,seconds\nsend,2\n"), "there is no column `size`; the columns are operation, seconds");
    assert_eq!(message("operation,size,seconds\nWtime,1,2\n"), "line 2: `Wtime` is an operation that is not known");
    assert_eq!(
        message("operation,size,seconds,where\nsend,1,2,there\n"),
        "line 2: `there` is a place that is not known"
    );
    assert_eq!(message("operation,size,seconds\nsend,1,NaN\n"), "line 2: `NaN` in column `seconds` is no number");
    assert_eq!(message("operation,size,seconds\nsend,1,-2\n"), "line 2: `-2` in column `seconds` is negative");
    assert_eq!(message("operation,size,seconds\nsend,-1,2\n"), "line 2: `-1` in column `size` is negative");
    for size in ["2.5", "1e18"] {
        let expected = format!("line 2: `{size}` in column `size` is no number of bytes of a message");
        assert_eq!(message(&format!("operation,size,seconds\nsend,{size},2\n")), expected);
    }
    assert_eq!(message("operation,size,seconds\n"), "the table has no such rows");
    let unfit = |text: &str| {
        let error = fit(&measured(text, &Reading::default()).unwrap(), &recipe()).unwrap_err();
        assert!(!error.remedy().is_empty());
        error.to_string()
    };
    assert!(unfit("operation,size,seconds\nisend,1,2\nisend,2,2\n").starts_with("between.isend: "));
    assert!(unfit("operation,size,seconds\nping-pong_inside,1,2\n").starts_with("inside.transfer: "));
    let zeros = "operation,size,seconds\nisend,1,0\nisend,2,0\nisend,3,0\nisend,4,0\n";
    assert!(unfit(zeros).starts_with("between.isend: "), "{}", unfit(zeros));
    assert!(unfit("operation,size,seconds\nsend,30000,0\n").starts_with("nothing was measured"));
}

const SMPI: &str = "platform_id,property,size_greater_than,value1,value2
a,smpi/os,0,1e-6,2e-10
a,smpi/os,100,0,0
a,smpi/bw-factor,0,0.9,
a,smpi/lat-factor,0,1.5,
a,smpi/loopback-lat-factor,0,0.5,
b,smpi/os,0,1,2
";

#[test]
fn published_parameters_become_a_model() {
    let model = import::smpi_table(SMPI, "a").unwrap();
    assert_eq!((model.between.send.at(100), model.between.send.at(101)), (Some(1e-6 + 2e-8), Some(0.0)));
    assert_eq!((model.between.latency_factor.at(1), model.inside.latency_factor.at(1)), (Some(1.5), Some(0.5)));
    assert_eq!((model.inside.bandwidth_factor.at(1), model.inside.isend.at(1)), (Some(0.9), None));
    let message = |text: &str, set: &str| import::smpi_table(text, set).unwrap_err().to_string();
    assert_eq!(message(SMPI, "c"), "there is no set `c`; the file has a, b");
    assert_eq!(message(&SMPI.replace("1e-6", "x"), "a"), "line 2: `x` in column `value1` is no number");
    assert!(message(&SMPI.replace("os,100", "os,0"), "a").contains("line 3: this size is there twice"));
    assert!(message(&SMPI.replace("0.9", "-0.9"), "a").contains("between.bandwidth-factor[0]"));
}

const MIXTURES: &str = r#"{ "models": [
  { "function": "osend", "size_min": 0, "size_max": 100, "slope_s_per_byte": 1e-10,
    "modes": [{ "mean_s": 1e-5, "std_s": 1e-6, "probability": 0.1 }, { "mean_s": 1e-6, "std_s": 1e-7, "probability": 0.9 }] },
  { "function": "osend", "size_min": 100, "size_max": 64000, "slope_s_per_byte": 0,
    "modes": [{ "mean_s": 3e-6, "std_s": 0, "probability": 1 }] },
  { "function": "latency_for_size>=64000", "size_min": 64000, "size_max": null, "slope_s_per_byte": 0.0,
    "modes": [{ "mean_s": 2e-5, "std_s": 2e-6, "probability": 1.0 }] } ] }"#;

#[test]
fn published_mixtures_become_a_model() {
    let Protocol { send, latency, isend, .. } = import::mixtures(MIXTURES).unwrap().between;
    let aboves = |pieces: &[Piece]| pieces.iter().map(|piece| (piece.above, piece.modes.len())).collect::<Vec<_>>();
    assert_eq!(aboves(send.pieces()), [(0, 2), (99, 1), (63_999, 0)]);
    assert_eq!((send.at(100), send.at(64_000)), (Some(3e-6), Some(0.0)));
    assert!((send.at(0).unwrap() - 1.9e-6).abs() < 1e-15);
    assert_eq!((aboves(latency.pieces()), isend.at(1)), (vec![(63_999, 1)], None));
    let message = |from: &str, to: &str| import::mixtures(&MIXTURES.replacen(from, to, 1)).unwrap_err().to_string();
    assert!(message("{", "").contains("this is not JSON"));
    assert_eq!(message("models", "model"), "there is no list `models`");
    assert_eq!(message("osend", "send"), "models[0]: `send` is no function that is known");
    assert_eq!(message("std_s", "std"), "models[0]: `std_s` is missing, or no number");
    assert!(message("0.9", "0.8").contains("between.send[0].modes: the shares of the modes add up to 0.9"));
}

/// Many fits to the same machine, with errors of 3 %: they scatter around the truth as far as their covariances say.
#[test]
fn fits_scatter_as_far_as_they_say() {
    let normal = |seed: u32, place: u32| {
        let mut z = (u64::from(seed) << 32 | u64::from(place)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        hpcast_stats::normal::draw(((z ^ (z >> 32)) >> 11) as f64 / (1u64 << 53) as f64)
    };
    // Squares and products of errors, and what was expected of them.
    let mut sums = [[(0.0, 0.0); 3]; 2];
    let mut fits = [0; 2];
    for seed in 0..400 {
        let mut text = String::from("operation,size,seconds\n");
        for place in 0..40 {
            let size = THRESHOLD + 3000 * u64::from(place);
            let call = |base: f64, per_byte: f64, number: u32| {
                (base + per_byte * size as f64) * (1.0 + 0.03 * normal(seed, 2 * place + number))
            };
            text += &format!("isend,{size},{:e}\n", call(5e-6, 2e-10, 0));
            // Twice 8 us and 4 GB/s.
            text += &format!("ping-pong,{size},{:e}\n", call(16e-6, 2.0 / 4e9, 1));
        }
        let found = fit(&measured(&text, &Reading::default()).unwrap(), &recipe()).unwrap();
        for (kind, truth) in [("isend", [5e-6, 2e-10]), ("transfer", [8e-6, 1e10 / 4e9])].into_iter().enumerate() {
            let (function, truth) = truth;
            let ranges = &found.fit.as_ref().unwrap().ranges;
            let own: Vec<_> = ranges.iter().filter(|range| range.function.ends_with(&format!(".{function}"))).collect();
            // Now and then chance looks like a breakpoint.
            let [range] = own[..] else { continue };
            let [a, b, c] = range.covariance.unwrap();
            let figures = found.figures(range).unwrap();
            let off = [figures[0] - truth[0], figures[1] - truth[1]];
            fits[kind] += 1;
            let seen = [(off[0] * off[0], a), (off[0] * off[1], b), (off[1] * off[1], c)];
            for (sum, (square, expected)) in sums[kind].iter_mut().zip(seen) {
                *sum = (sum.0 + square, sum.1 + expected);
            }
        }
    }
    for kind in sums {
        // The deviation of a mean of 400 squares is 7 %.
        let ratios = kind.map(|(square, expected)| square / expected);
        assert!(ratios.iter().all(|ratio| (ratio - 1.0).abs() < 0.25), "{ratios:?}");
    }
    assert!(fits.iter().all(|fits| *fits > 350), "{fits:?}");
}
