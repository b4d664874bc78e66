//! The notation of fat trees: (h; d1..dh; u1..uh; p1..ph).
//!
//! This is the parallel ports generalised fat tree (PGFT) of Zahavi, "D-Mod-K routing providing non-blocking traffic for
//! shift permutations on real life fat trees" (2010), as SimGrid writes it in `topo_parameters`.

use super::TopologyError;

/// Trees with more levels than this are refused: 8 levels of switches with only 8 ports reach 65,536 nodes.
pub(super) const MAX_LEVELS: usize = 8;

/// How many children, parents and parallel cables the switches of each level have; the lowest level first.
///
/// A *subtree of height l* is a set of `down[0] * ... * down[l-1]` nodes with all that joins them.
/// It has `up[0] * ... * up[l-1]` switches at its top, level l.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FatTreeShape {
    /// `down[i]`: vertices of level i below each switch of level i + 1. Level 0 are the nodes.
    pub down: Vec<u32>,
    /// `up[i]`: switches of level i + 1 above each vertex of level i.
    pub up: Vec<u32>,
    /// `parallel[i]`: cables between a vertex of level i and each switch above it.
    pub parallel: Vec<u32>,
}

impl FatTreeShape {
    /// Whether the three lists fit together, and all can be numbered.
    pub fn check(&self) -> Result<(), TopologyError> {
        let levels = self.down.len();
        for (list, what) in [(&self.up, "numbers of parents (up)"), (&self.parallel, "numbers of parallel cables")] {
            if list.len() != levels {
                return Err(TopologyError::Length { levels, what, count: list.len() });
            }
        }
        if levels == 0 || levels > MAX_LEVELS {
            return Err(TopologyError::Levels { levels, max: MAX_LEVELS });
        }
        if [&self.down, &self.up, &self.parallel].iter().any(|list| list.contains(&0)) {
            return Err(TopologyError::Zero("each number of children, parents and cables of a fat tree"));
        }
        let too_large = || TopologyError::TooLarge(format!("the fat tree {self}"));
        let mut links = 0u32;
        for level in 0..levels {
            let cables = self.product(level, &[self.up[level], self.parallel[level], 2]).ok_or_else(too_large)?;
            links = links.checked_add(cables).ok_or_else(too_large)?;
        }
        self.product(levels, &[]).map(|_| ()).ok_or_else(too_large)
    }

    /// Switches with so many children each, the lowest level first, of which each has as many cables up as down, divided by
    /// the oversubscription of its level; without a list by 1. The highest level has nothing above it.
    pub fn tapered(down: &[u32], oversubscription: Option<&[u32]>) -> Result<FatTreeShape, TopologyError> {
        let levels = down.len();
        let above = levels.saturating_sub(1);
        let all_one = vec![1; above];
        let ratios = oversubscription.unwrap_or(&all_one);
        if ratios.len() != above {
            return Err(TopologyError::Taper {
                problem: format!("{} ratios for {above} levels of switches with others above them", ratios.len()),
            });
        }
        let mut up = vec![1];
        for (level, (&children, &ratio)) in (1..).zip(down.iter().zip(ratios)) {
            if ratio == 0 || !children.is_multiple_of(ratio) {
                let problem = format!("the {children} cables down from level {level} cannot be divided by {ratio}");
                return Err(TopologyError::Taper { problem });
            }
            up.push(children / ratio);
        }
        up.truncate(levels);
        let shape = FatTreeShape { down: down.into(), up, parallel: vec![1; levels] };
        shape.check()?;
        Ok(shape)
    }

    /// Number of vertices of a level (times some factors), if it is less than 2^32.
    fn product(&self, level: usize, factors: &[u32]) -> Option<u32> {
        let all = self.up[..level].iter().chain(&self.down[level..]).chain(factors);
        all.copied().try_fold(1u32, |product, factor| product.checked_mul(factor))
    }

    /// Levels of switches.
    pub fn levels(&self) -> usize {
        self.down.len()
    }

    /// Number of vertices of a level: nodes at 0, switches above.
    pub fn vertices(&self, level: usize) -> u32 {
        self.up[..level].iter().chain(&self.down[level..]).product()
    }

    /// Number of compute nodes.
    pub fn nodes(&self) -> u32 {
        self.vertices(0)
    }

    /// Nodes of a subtree of this height.
    pub fn subtree(&self, height: usize) -> u32 {
        self.down[..height].iter().product()
    }

    /// Switches at the top of a subtree of this height; 1, the node itself, for height 0.
    pub fn tops(&self, height: usize) -> u32 {
        self.up[..height].iter().product()
    }

    /// Cables from a vertex of this level to the next level.
    pub fn ports_up(&self, level: usize) -> u32 {
        if level < self.levels() { self.up[level] * self.parallel[level] } else { 0 }
    }

    /// Ports that a switch of this level (1 is the lowest) needs, up and down.
    pub fn ports(&self, level: usize) -> u32 {
        self.down[level - 1] * self.parallel[level - 1] + self.ports_up(level)
    }

    /// What people call a vertex of this level: `node`, `leaf`, `core`, `level 2 switch`.
    pub fn vertex_noun(&self, level: usize) -> String {
        match level {
            0 => "node".into(),
            1 => "leaf".into(),
            _ if level == self.levels() => "core".into(),
            _ => format!("level {level} switch"),
        }
    }
}

impl std::fmt::Display for FatTreeShape {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let list = |list: &[u32]| list.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        write!(f, "{};{};{};{}", self.levels(), list(&self.down), list(&self.up), list(&self.parallel))
    }
}

impl std::str::FromStr for FatTreeShape {
    type Err = TopologyError;

    /// Reads `2;16,32;1,16;1,1`; spaces are allowed.
    fn from_str(text: &str) -> Result<FatTreeShape, TopologyError> {
        let number = |word: &str| match word.trim().parse::<u32>() {
            Ok(number) if number > 0 => Ok(number),
            _ => Err(TopologyError::NotANumber(word.trim().into())),
        };
        let list = |part: &str| part.split(',').map(number).collect::<Result<Vec<_>, _>>();

        let parts: Vec<&str> = text.split(';').collect();
        let [levels, down, up, parallel] = parts[..] else {
            return Err(TopologyError::Parts(text.into(), parts.len()));
        };
        let levels = number(levels)? as usize;
        let shape = FatTreeShape { down: list(down)?, up: list(up)?, parallel: list(parallel)? };
        if shape.down.len() != levels {
            let what = "numbers of children (down)";
            return Err(TopologyError::Length { levels, what, count: shape.down.len() });
        }
        shape.check()?;
        Ok(shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        text.parse::<FatTreeShape>().unwrap_err().to_string()
    }

    #[test]
    fn reads_what_it_writes() {
        for text in ["2;16,32;1,16;1,1", "1;4;2;1", "3;4,4,4;1,4,2;1,1,1"] {
            assert_eq!(text.parse::<FatTreeShape>().unwrap().to_string(), text);
        }
        assert_eq!(" 2 ; 2, 2 ; 1, 1 ; 1, 1 ".parse::<FatTreeShape>().unwrap().to_string(), "2;2,2;1,1;1,1");
    }

    #[test]
    fn tapers() {
        let shape =
            |down: &[u32], ratios: Option<&[u32]>| FatTreeShape::tapered(down, ratios).map(|shape| shape.to_string());
        assert_eq!(shape(&[16, 16, 8], None).unwrap(), "3;16,16,8;1,16,16;1,1,1");
        assert_eq!(shape(&[16, 16, 8], Some(&[1, 2])).unwrap(), "3;16,16,8;1,16,8;1,1,1");
        assert_eq!(shape(&[24], Some(&[])).unwrap(), "1;24;1;1");
        let error = |down: &[u32], ratios: &[u32]| shape(down, Some(ratios)).unwrap_err().to_string();
        assert!(error(&[16, 16], &[3]).contains("the 16 cables down from level 1 cannot be divided by 3"));
        assert!(error(&[16, 16], &[0]).contains("divided by 0"));
        assert!(error(&[16, 16], &[1, 2]).contains("2 ratios for 1 levels"));
        assert!(shape(&[], None).is_err() && shape(&[4, 0], None).is_err());
    }

    #[test]
    fn counts_what_stampede_has() {
        let shape: FatTreeShape = "2;20,320;1,8;1,2".parse().unwrap();
        assert_eq!([0, 1, 2].map(|level| shape.vertices(level)), [6400, 320, 8]);
        assert_eq!([1, 2].map(|level| shape.ports(level)), [36, 640]);
    }

    #[test]
    fn names_what_does_not_add_up() {
        assert!(error("2;16,32;1,16").contains("has 3"));
        assert!(error("2;16,32;1,16;1").contains("2 levels, but 1 numbers of parallel cables"));
        assert!(error("3;16,32;1,16;1,1").contains("3 levels, but 2 numbers of children"));
        assert!(error("2;16,x;1,16;1,1").contains("`x` is not a whole number"));
        assert!(error("2;16,0;1,16;1,1").contains("`0` is not a whole number"));
        assert!(error("2;16,-2;1,16;1,1").contains("`-2` is not a whole number"));
        assert!(error("2;65536,65536;1,1;1,1").contains("more than 4,294,967,295 links"));
        assert!(error("9;1,1,1,1,1,1,1,1,1;1,1,1,1,1,1,1,1,1;1,1,1,1,1,1,1,1,1").contains("1 to 8 levels, not 9"));
    }
}
