//! What can be wrong with a graph file, where, and what to write instead.

use hpcast_units::UnitError;

/// A mistake in a graph file, and where it is; lines and columns count from 1.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("line {line}, column {column}: {problem}")]
pub struct GraphError {
    /// Line of the file.
    pub line: u32,
    /// Column of the line, in characters.
    pub column: u32,
    /// What is wrong.
    pub problem: GraphProblem,
}

/// What is wrong with a graph file, and what to write instead.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphProblem {
    /// A line that begins with something else.
    #[error("`{0}` begins no line of a graph file: lines begin with `node`, `switch`, `link` or `route`")]
    UnknownLine(String),
    /// Something is missing.
    #[error("{missing} expected: write for instance `{example}`")]
    Missing {
        /// What.
        missing: &'static str,
        /// A line that has it.
        example: &'static str,
    },
    /// Something after the end.
    #[error("`{0}` is too much here: remove it")]
    TooMuch(String),
    /// A bandwidth or latency that is none.
    #[error(transparent)]
    Quantity(#[from] UnitError),
    /// A bandwidth of zero.
    #[error("a link needs a bandwidth greater than 0")]
    NoBandwidth,
    /// A negative latency.
    #[error("a latency cannot be negative: write `0 s` if there is none")]
    NegativeLatency,
    /// A range of names that cannot be read.
    #[error("`{0}` is not a range of names: write for instance `n[0-15]` or `n[1,2,8-11]`")]
    Range(String),
    /// A range with too many names.
    #[error("`{0}` stands for more than {1} names: split it")]
    LongRange(String, usize),
    /// Lists of names that do not fit together.
    #[error("{0} names here, {1} there: a range of names is joined with one name, or with a range of as many names")]
    UnequalRanges(usize, usize),
    /// A name twice.
    #[error("`{0}` is declared twice: choose another name")]
    Twice(String),
    /// A name that is no node and no switch.
    #[error("`{0}` is neither a node nor a switch: declare it above, `node {0}` or `switch {0}`")]
    UnknownVertex(String),
    /// A name that is not a node.
    #[error("`{0}` is not a node: routes lead from node to node")]
    NotANode(String),
    /// A name that is no link.
    #[error("`{0}` is not the name of a link: declare it above, `link {0} : FROM -- TO BANDWIDTH LATENCY`")]
    UnknownLink(String),
    /// A link from a vertex to itself.
    #[error(
        "the link joins `{0}` with itself: to use it in routes only, give it a name and no ends, \
         `link NAME : BANDWIDTH LATENCY`"
    )]
    Loop(String),
    /// A link that no message can cross.
    #[error("link `{0}` has no ends and no route that uses it: give it ends, or remove it")]
    Unused(String),
    /// A one-way link declared as shared.
    #[error("a one-way link has nothing to share: write `--` instead of `->`, or remove `shared`")]
    OneWayShared,
    /// A route whose links do not meet.
    #[error("the route is at `{at}` here, where link `{link}` does not start: check the order of the links")]
    Broken {
        /// Where the route has come.
        at: String,
        /// The link that should go on from there.
        link: String,
    },
    /// A route that ends elsewhere.
    #[error("the route ends at `{at}`, not at `{goal}`: check its last links")]
    Astray {
        /// Where it ends.
        at: String,
        /// Where it should end.
        goal: String,
    },
    /// A cable after a link without ends.
    #[error(
        "in which direction does the route cross cable `{0}`, after a link without ends? \
         Declare the cable as two one-way links (`->`)"
    )]
    Direction(String),
    /// A route twice.
    #[error("there is a route from `{0}` to `{1}` already: remove one of them")]
    SecondRoute(String, String),
    /// No way between two nodes.
    #[error("there is no way from node `{0}` to node `{1}`: add links, or a line `route {0} {1} : LINK ...`")]
    NoWay(String, String),
    /// No nodes at all.
    #[error("the graph has no nodes: declare some, `node NAME ...`")]
    NoNodes,
    /// More than can be numbered.
    #[error("the graph has more than 4,294,967,295 links")]
    TooLarge,
}
