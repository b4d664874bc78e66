use proptest::prelude::*;

use super::*;

fn bandwidth(text: &str) -> f64 {
    text.parse::<Bandwidth>().unwrap().get()
}

fn remedy<T: FromStr<Err = UnitError> + fmt::Debug>(text: &str) -> String {
    text.parse::<T>().unwrap_err().remedy()
}

#[test]
fn bits_are_not_bytes_and_gb_is_not_gib() {
    assert_eq!(bandwidth("100 Gbit/s"), 12.5e9);
    assert_eq!(bandwidth("12.5 GB/s"), 12.5e9);
    assert_eq!(bandwidth("1GiB/s"), 1_073_741_824.0);
    assert_eq!("192 GiB".parse(), Ok(Bytes(206_158_430_208)));
    assert_eq!("192 GB".parse(), Ok(Bytes(192_000_000_000)));
    assert_eq!("2.7 GHz".parse(), Ok(Frequency(2.7e9)));
    assert_eq!("1.2 Tflop/s".parse(), Ok(FlopRate(1.2e12)));
}

#[test]
fn durations() {
    for text in ["90 ns", "90ns", "0.09 us", "0.09 µs", "0.09 μs", " 9e-8 s "] {
        assert_eq!(text.parse(), Ok(Seconds(9e-8)), "{text}");
    }
    assert_eq!("1.5 h".parse(), Ok(Seconds(5400.0)));
    assert_eq!("-3 us".parse(), Ok(Seconds(-3e-6)));
    assert_eq!(Seconds(2.5405126421726545e-11).to_string(), "25.405126421726545 ps");
}

#[test]
fn lengths_and_powers() {
    assert_eq!("250 cm".parse(), Ok(Length(2.5)));
    assert_eq!(Length(0.02).to_string(), "20 mm");
    assert_eq!("1.2 kW".parse(), Ok(Power(1200.0)));
    assert_eq!(Power(2.5e6).human(), "2.5 MW");
    assert_eq!(remedy::<Length>("3"), "write `3 m`, not `3`: a bare number has no unit");
    assert!("3 W".parse::<Length>().unwrap_err().message().contains("unit of power"));
}

#[test]
fn a_bare_number_has_no_unit() {
    assert_eq!(remedy::<Bandwidth>("12.5"), "write `12.5 GB/s`, not `12.5`: a bare number has no unit");
    assert_eq!(remedy::<Bytes>("0"), "write `0 B`, not `0`: a bare number has no unit");
}

#[test]
fn ambiguous_units_are_refused() {
    for text in ["100 Gb/s", "100 Gbps", "100 gb/s"] {
        let error = text.parse::<Bandwidth>().unwrap_err();
        assert!(error.message().contains("ambiguous"), "{error}");
        assert_eq!(error.remedy(), "write `100 GB/s` or `100 Gbit/s`");
    }
    assert_eq!(remedy::<Bytes>("64 KB"), "write `64 kB` or `64 KiB`");
    assert_eq!(remedy::<Bandwidth>("64 KB/s"), "write `64 kB/s` or `64 kbit/s`");
}

#[test]
fn misspelt_units_are_corrected() {
    assert_eq!(remedy::<FlopRate>("3 TFLOPS"), "write `3 Tflop/s`");
    assert_eq!(remedy::<FlopRate>("3 Tflops/s"), "write `3 Tflop/s`");
    assert_eq!(remedy::<Frequency>("2.7 Ghz"), "write `2.7 GHz`");
    assert_eq!(remedy::<Seconds>("5 usec"), "write `5 us`");
    assert!(remedy::<Seconds>("5 parsecs").starts_with("the units of duration are as, fs, ps"));
}

#[test]
fn units_of_something_else_are_named() {
    let error = "12.5 GB".parse::<Bandwidth>().unwrap_err();
    assert_eq!(error.message(), "`GB` is a unit of size, not of bandwidth");
    assert!(error.remedy().contains("GB/s"), "{error}");
}

#[test]
fn impossible_values() {
    assert!(matches!("-1 GB/s".parse::<Bandwidth>(), Err(UnitError::Negative { .. })));
    assert!(matches!("-1 B".parse::<Bytes>(), Err(UnitError::Negative { .. })));
    assert!(matches!("1e400 B/s".parse::<Bandwidth>(), Err(UnitError::TooLarge { .. })));
    assert!(matches!("20 EB".parse::<Bytes>(), Err(UnitError::TooLarge { .. })));
    assert!(matches!("0.3 KiB".parse::<Bytes>(), Err(UnitError::NotWhole { nearest: 307, .. })));
    assert!(matches!("fast".parse::<Bandwidth>(), Err(UnitError::NotANumber { .. })));
    assert_eq!(remedy::<Bandwidth>("12,5 GB/s"), "write a decimal point, not a comma: `12.5 GB/s`");
}

#[test]
fn sizes_print_short() {
    for (bytes, text) in [(0, "0 B"), (8133, "8133 B"), (64_000, "64 kB"), (65_536, "64 KiB"), (4_194_304, "4 MiB")] {
        assert_eq!(Bytes(bytes).to_string(), text);
    }
    assert_eq!(Bytes::print_fraction(20537.14), "20.53714 kB");
    assert_eq!(Bytes::parse_fraction("20.53714 kB"), Ok(20537.14));
}

proptest! {
    #[test]
    fn sizes_round_trip(bytes: u64) {
        prop_assert_eq!(Bytes(bytes).to_string().parse(), Ok(Bytes(bytes)));
    }

    #[test]
    fn round_sizes_round_trip(mantissa in 0u64..2000, shift in 0u32..50) {
        let bytes = Bytes(mantissa << shift);
        prop_assert_eq!(bytes.to_string().parse(), Ok(bytes));
    }

    #[test]
    fn real_quantities_round_trip(value in proptest::num::f64::POSITIVE | proptest::num::f64::ZERO) {
        prop_assume!(value.is_finite());
        prop_assert_eq!(Bandwidth(value).to_string().parse(), Ok(Bandwidth(value)));
        prop_assert_eq!(Frequency(value).to_string().parse(), Ok(Frequency(value)));
        prop_assert_eq!(FlopRate(value).to_string().parse(), Ok(FlopRate(value)));
        prop_assert_eq!(Seconds(-value).to_string().parse(), Ok(Seconds(-value)));
        prop_assert_eq!(Bytes::parse_fraction(&Bytes::print_fraction(value)), Ok(value));
    }

    #[test]
    fn any_text_is_read_or_refused_with_a_remedy(text in "\\PC{0,12}") {
        for error in [
            text.parse::<Bandwidth>().err(),
            text.parse::<Bytes>().err(),
            text.parse::<Seconds>().err(),
            text.parse::<crate::Time>().err(),
        ].into_iter().flatten() {
            prop_assert!(!error.remedy().is_empty() && !error.message().is_empty());
        }
    }

    #[test]
    fn number_like_text_is_read_or_refused(text in "[-+]?[0-9_]{0,40}[.,]?[0-9]{0,40}([eE][-+]?[0-9]{1,12})? ?[kKMGT]?i?[bBsh](it)?(/s|ps)?") {
        let _ = text.parse::<Bandwidth>();
        let _ = text.parse::<Bytes>();
        let _ = text.parse::<Seconds>();
        let _ = text.parse::<crate::Time>();
    }
}
