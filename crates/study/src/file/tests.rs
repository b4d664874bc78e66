use super::*;

const SMALL: &str = r#"
title = "small"
program = "run halo2d -n 16 --size {size}"
machine = "m.toml"
responses = ["seconds"]

[[factor]]
name = "size"
levels = ["1 KiB", "1 MiB"]

[[factor]]
name = "bandwidth"
machine = "network.bandwidth"
times = [0.1, 1, 10]

[[factor]]
name = "network"
[[factor.level]]
name = "flow"
options = ""
[[factor.level]]
name = "packets, slow"
options = "--network packet"
machine = { network = { latency = "5 us" } }
"#;

fn parse(text: &str) -> Result<Study, String> {
    let source = Source::new("study.toml", text);
    Study::parse(&source, Path::new("")).map_err(|diagnostics| diagnostics.render(false))
}

#[test]
fn a_small_study() {
    let study = parse(SMALL).unwrap();
    assert_eq!(study.program.last().unwrap(), "{size}");
    assert_eq!(study.responses[0].better, Better::Lower);
    let levels = |number: usize| match &study.factors[number].values {
        Values::Levels(levels) => levels.clone(),
        Values::Range(_) => panic!("levels"),
    };
    assert_eq!(levels(0)[1].number, Some(1_048_576.0));
    assert_eq!(levels(1)[0].edits, [Edit::Times(Which::Machine, "network.bandwidth".parse().unwrap(), 0.1)]);
    assert_eq!(levels(2)[1].edits.len(), 2);
    assert_eq!((study.repetitions, study.seed, study.design), (1, 0, DesignSpec::Plan(Plan::Full)));
}

#[test]
fn ranges_are_of_one_kind() {
    let text =
        SMALL.replace("levels = [\"1 KiB\", \"1 MiB\"]", "range = [\"1 KiB\", \"1 MiB\"]\nscale = \"logarithmic\"");
    let text = text.split("[[factor]]\nname = \"bandwidth\"").next().unwrap().to_owned()
        + "[design]\nkind = \"random\"\npoints = 3\n";
    let study = parse(&text).unwrap();
    let Values::Range(range) = &study.factors[0].values else { panic!("a range") };
    assert_eq!(range.at(0.5, &Target::Template).text, "32.768 kB");
    assert_eq!(range.at(1.0, &Target::Template).number, Some(1_048_580.0));
    // Whole bytes, wherever.
    let sizes = (0..100).map(|place| range.at(f64::from(place) / 99.0, &Target::Template).number.unwrap());
    assert!(sizes.into_iter().all(|bytes| bytes.fract() == 0.0));
}

#[test]
fn what_is_wrong_is_said() {
    for (from, to, said) in [
        ("{size}", "{sice}", "stands for no factor"),
        ("levels = [\"1 KiB\", \"1 MiB\"]", "levels = []", "is empty"),
        ("levels = [\"1 KiB\", \"1 MiB\"]", "range = [1, \"2 s\"]", "different kinds"),
        ("levels = [\"1 KiB\", \"1 MiB\"]", "range = [1, 2]", "the design needs levels"),
        ("levels = [\"1 KiB\", \"1 MiB\"]", "", "has no levels"),
        ("\"1 KiB\", \"1 MiB\"", "1, 1", "there twice"),
        ("program = \"run halo2d -n 16 --size {size}\"", "program = \"run ring\"", "changes nothing"),
        ("responses = [\"seconds\"]", "", "nothing is looked at"),
        ("name = \"bandwidth\"", "name = \"seconds\"", "two columns would be called"),
        ("name = \"bandwidth\"", "name = \"seed\"", "every study has"),
        ("machine = \"network.bandwidth\"", "machine = \"network..bandwidth\"", "is no key"),
        ("machine = \"network.bandwidth\"", "option = \"--x\"\nmachine = \"a\"", "several things"),
        ("machine = \"network.bandwidth\"", "option = \"nb\"", "write `option = \"--nb\"`"),
        ("levels = [\"1 KiB\", \"1 MiB\"]", "levls = [1]", "did you mean `levels`?"),
        (
            "levels = [\"1 KiB\", \"1 MiB\"]",
            "values = [1]",
            "level, levels, machine, model, name, option, range, scale, times",
        ),
        ("options = \"\"", "", "changes nothing"),
        ("title = \"small\"", "titl = \"small\"", "did you mean `title`?"),
        ("title = \"small\"", "title = \"small\"\nbaseline = { size = \"3 KiB\" }", "choose one of 1 KiB, 1 MiB"),
    ] {
        let wrong = SMALL.replace(from, to);
        assert_ne!(wrong, SMALL, "{from}");
        let error = parse(&wrong).err().unwrap_or_else(|| panic!("`{to}` is fine"));
        assert!(error.contains(said), "{to}: {error}");
    }
}

#[test]
fn no_factor_undoes_another() {
    let with = |more: &str| parse(&format!("{SMALL}\n[[factor]]\nname = \"more\"\n{more}\n"));
    let keys = "machine = [\"network.latency\", \"network.bandwidth\"]";
    let error = with(&format!("{keys}\nlevels = [\"1 GB/s\"]")).err().expect("an error");
    assert!(error.contains("the factors `bandwidth` and `more` both set `network.bandwidth`"), "{error}");
    // Multiples of multiples are multiples.
    assert!(with(&format!("{keys}\ntimes = [1, 2]")).is_ok());
    assert!(with("model = \"network.bandwidth\"\nlevels = [1]").is_ok());
    let option = "option = \"--count\"\nlevels = [1, 2]";
    let twice = format!("{option}\n[[factor]]\nname = \"again\"\n{option}");
    let error = with(&twice).err().expect("an error");
    assert!(error.contains("the factors `more` and `again` both set `--count`"), "{error}");
}
