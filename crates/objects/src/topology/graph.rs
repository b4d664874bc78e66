//! Graphs of processes: known to all, or each process knowing its own edges.

use super::TopologyError;

/// A graph that every process knows (`MPI_Graph_create`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    index: Vec<i32>,
    edges: Vec<i32>,
}

impl Graph {
    /// A graph among `processes`; those whose rank is not below its size have no place in it. `index` says for each node
    /// where its neighbours end in `edges`.
    pub fn new(processes: i32, index: &[i32], edges: &[i32]) -> Result<Graph, TopologyError> {
        let size = i32::try_from(index.len()).unwrap_or(i32::MAX);
        if size > processes {
            return Err(TopologyError::TooLarge { processes });
        }
        let mut before = 0;
        for (node, &end) in index.iter().enumerate() {
            let last = node + 1 == index.len();
            if end < before || end as usize > edges.len() || (last && end as usize != edges.len()) {
                return Err(TopologyError::Index { node, index: end });
            }
            before = end;
        }
        match edges.iter().find(|edge| !(0..size).contains(*edge)) {
            Some(&rank) => Err(TopologyError::Rank { rank, size }),
            None => Ok(Graph { index: index.to_vec(), edges: edges.to_vec() }),
        }
    }

    /// Nodes of the graph.
    pub fn size(&self) -> i32 {
        self.index.len() as i32
    }

    /// Where the neighbours of each node end.
    pub fn index(&self) -> &[i32] {
        &self.index
    }

    /// The neighbours of all nodes.
    pub fn edges(&self) -> &[i32] {
        &self.edges
    }

    /// The neighbours of a rank, in their order.
    pub fn neighbours(&self, rank: i32) -> Result<&[i32], TopologyError> {
        let node = usize::try_from(rank).ok().filter(|&node| node < self.index.len());
        let node = node.ok_or(TopologyError::Rank { rank, size: self.size() })?;
        let begin = if node == 0 { 0 } else { self.index[node - 1] };
        Ok(&self.edges[begin as usize..self.index[node] as usize])
    }

    /// The place of a process (`MPI_Graph_map`): its own rank, if the graph has that many nodes.
    pub fn map(&self, rank: i32) -> Option<i32> {
        (0..self.size()).contains(&rank).then_some(rank)
    }
}

/// The edges of one process in one direction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edges {
    /// The processes at the other ends, in the order of neighbourhood collectives.
    pub ranks: Vec<i32>,
    /// A weight for each; `None` if the graph has no weights.
    pub weights: Option<Vec<i32>>,
}

impl Edges {
    fn check(&self, size: i32) -> Result<(), TopologyError> {
        if let Some(&rank) = self.ranks.iter().find(|rank| !(0..size).contains(*rank)) {
            return Err(TopologyError::Rank { rank, size });
        }
        match &self.weights {
            Some(weights) if weights.len() != self.ranks.len() || weights.iter().any(|&weight| weight < 0) => {
                Err(TopologyError::Weights)
            }
            _ => Ok(()),
        }
    }

    fn push(&mut self, rank: i32, weight: Option<i32>) {
        self.ranks.push(rank);
        if let Some(weight) = weight {
            self.weights.get_or_insert_default().push(weight);
        }
    }
}

/// What one process knows of a distributed graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DistGraph {
    /// Edges that come in.
    pub sources: Edges,
    /// Edges that go out.
    pub destinations: Edges,
}

impl DistGraph {
    /// From the process's own edges (`MPI_Dist_graph_create_adjacent`); their order is kept.
    pub fn adjacent(size: i32, sources: Edges, destinations: Edges) -> Result<DistGraph, TopologyError> {
        sources.check(size)?;
        destinations.check(size)?;
        let edges = !sources.ranks.is_empty() && !destinations.ranks.is_empty();
        if edges && sources.weights.is_some() != destinations.weights.is_some() {
            return Err(TopologyError::Weights);
        }
        Ok(DistGraph { sources, destinations })
    }

    /// From edges that processes named anywhere in the graph (`MPI_Dist_graph_create`): what each process knows, by rank.
    ///
    /// `edges` are (source, destination) in the order of the processes that named them; `weights` one for each, if the graph
    /// has weights. A process's edges stay in this order.
    pub fn collect(size: i32, edges: &[(i32, i32)], weights: Option<&[i32]>) -> Result<Vec<DistGraph>, TopologyError> {
        if weights.is_some_and(|weights| weights.len() != edges.len() || weights.iter().any(|&weight| weight < 0)) {
            return Err(TopologyError::Weights);
        }
        let empty = Edges { ranks: Vec::new(), weights: weights.map(|_| Vec::new()) };
        let alone = DistGraph { sources: empty.clone(), destinations: empty };
        let mut graphs = vec![alone; usize::try_from(size).unwrap_or(0)];
        for (i, &(source, destination)) in edges.iter().enumerate() {
            let weight = weights.map(|weights| weights[i]);
            for rank in [source, destination] {
                if !(0..size).contains(&rank) {
                    return Err(TopologyError::Rank { rank, size });
                }
            }
            graphs[source as usize].destinations.push(destination, weight);
            graphs[destination as usize].sources.push(source, weight);
        }
        Ok(graphs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the standard (section 7.5.3).
    #[test]
    fn neighbours_of_the_standard_s_example() {
        let graph = Graph::new(4, &[2, 3, 4, 6], &[1, 3, 0, 3, 0, 2]).unwrap();
        let neighbours: Vec<&[i32]> = (0..4).map(|rank| graph.neighbours(rank).unwrap()).collect();
        assert_eq!(neighbours, [&[1, 3][..], &[0], &[3], &[0, 2]]);
        assert_eq!(graph.neighbours(4), Err(TopologyError::Rank { rank: 4, size: 4 }));
        assert_eq!((graph.map(3), graph.map(4)), (Some(3), None));
    }

    #[test]
    fn wrong_graphs_are_refused() {
        assert_eq!(Graph::new(4, &[2, 1], &[0, 1]), Err(TopologyError::Index { node: 1, index: 1 }));
        assert_eq!(Graph::new(4, &[1, 1], &[0, 1]), Err(TopologyError::Index { node: 1, index: 1 }));
        assert_eq!(Graph::new(4, &[1, 2], &[0, 2]), Err(TopologyError::Rank { rank: 2, size: 2 }));
        assert_eq!(Graph::new(1, &[1, 2], &[0, 1]), Err(TopologyError::TooLarge { processes: 1 }));
        assert_eq!(Graph::new(1, &[-1], &[]), Err(TopologyError::Index { node: 0, index: -1 }));
    }

    #[test]
    fn every_process_learns_of_its_edges() {
        let edges = [(0, 1), (2, 1), (1, 0), (0, 1)];
        let graphs = DistGraph::collect(3, &edges, Some(&[5, 6, 7, 8])).unwrap();
        let edges_of =
            |ranks: &[i32], weights: &[i32]| Edges { ranks: ranks.to_vec(), weights: Some(weights.to_vec()) };
        assert_eq!(graphs[1].sources, edges_of(&[0, 2, 0], &[5, 6, 8]));
        assert_eq!(graphs[1].destinations, edges_of(&[0], &[7]));
        assert_eq!(graphs[0].destinations, edges_of(&[1, 1], &[5, 8]));
        assert_eq!(graphs[2].sources, edges_of(&[], &[]));
        assert_eq!(DistGraph::collect(3, &[(0, 3)], None), Err(TopologyError::Rank { rank: 3, size: 3 }));
        assert_eq!(DistGraph::collect(3, &[(0, 1)], Some(&[-1])), Err(TopologyError::Weights));
        let plain = DistGraph::collect(2, &[(0, 1)], None).unwrap();
        assert_eq!(plain[1].sources, Edges { ranks: vec![0], weights: None });
    }

    #[test]
    fn own_edges_are_kept_as_given() {
        let edges = |ranks: &[i32]| Edges { ranks: ranks.to_vec(), weights: None };
        let graph = DistGraph::adjacent(4, edges(&[3, 1]), edges(&[2])).unwrap();
        assert_eq!((graph.sources.ranks, graph.destinations.ranks), (vec![3, 1], vec![2]));
        assert!(DistGraph::adjacent(4, edges(&[4]), edges(&[])).is_err());
        let weighted = Edges { ranks: vec![1], weights: Some(vec![2]) };
        assert_eq!(DistGraph::adjacent(4, weighted, edges(&[1])), Err(TopologyError::Weights));
    }
}
