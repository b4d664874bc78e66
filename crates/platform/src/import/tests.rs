use super::*;

#[test]
fn formats_are_told_by_their_content() {
    let of = |text: &str| Format::of(&Source::new("f", text)).map_err(|error| error.message);
    assert_eq!(of("\n <?xml version='1.0'?>"), Ok(Format::SimGrid));
    assert_eq!(of("# leaf switches\n switchname=s0 Nodes=a"), Ok(Format::Slurm));
    assert_eq!(of("BlockSizes=4"), Ok(Format::Slurm));
    assert_eq!(of("#\n# Topology file: generated on Monday\n"), Ok(Format::Ibnetdiscover));
    assert_eq!(of("vendid=0x2c9\nSwitch\t36 \"S-1\""), Ok(Format::Ibnetdiscover));
    for text in ["", "not xml at all", "nodes = 3"] {
        assert!(of(text).unwrap_err().contains("no description of a machine"), "{text}");
    }
}
