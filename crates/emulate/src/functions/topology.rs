//! Process topologies: grids and graphs of ranks.

use std::rc::Rc;

use hpcast_mpi::Collective;
use hpcast_mpi::collectives::{Buffer as Amount, Operator};
use hpcast_objects::topology::{Edges, dims_create, dims_create_by_factors};
use hpcast_objects::{Cartesian, DistGraph, ErrorClass, Graph, TopologyError};

use crate::abi::Library;
use crate::argument::{At, CommAt, CommHandle, InfoHandle, Weights};
use crate::boards::Board;
use crate::call::{Call, mpi};
use crate::communicator::{Communicator, Topology};
use crate::fault::{Answer, Fault};
use crate::functions::communicator::not_negative;

fn no_topology(what: &str) -> Fault {
    Fault::new(ErrorClass::Topology, format!("the communicator has no {what}"))
}

impl Call<'_> {
    /// The grid of a communicator.
    fn grid(&self, comm: CommHandle) -> Result<(Rc<Communicator>, Rc<Cartesian>), Fault> {
        let object = self.me.comm(comm.number)?;
        let Some(Topology::Cartesian(grid)) = object.topology.clone() else {
            return Err(no_topology("grid").of_comm(comm.number));
        };
        Ok((object, grid))
    }

    /// The graph of a communicator that all its ranks know.
    fn graph(&self, comm: CommHandle) -> Result<Rc<Graph>, Fault> {
        match self.me.comm(comm.number)?.topology.clone() {
            Some(Topology::Graph(graph)) => Ok(graph),
            _ => Err(no_topology("graph").of_comm(comm.number)),
        }
    }

    /// What a rank knows of a distributed graph.
    fn dist_graph(&self, comm: CommHandle) -> Result<Rc<DistGraph>, Fault> {
        match self.me.comm(comm.number)?.topology.clone() {
            Some(Topology::DistGraph(graph)) => Ok(graph),
            _ => Err(no_topology("distributed graph").of_comm(comm.number)),
        }
    }

    /// A communicator of those ranks of an old one that have a place in a topology: the first ones, in their order.
    fn with_topology(&self, old: &Communicator, has_place: bool, topology: Topology, at: CommAt) -> Answer {
        let mut new = self.split(old, has_place.then_some(0), i64::from(old.rank()))?;
        if let Some(new) = &mut new {
            new.topology = Some(topology);
        }
        self.set_comm(at, new);
        Ok(())
    }

    /// A communicator of the same ranks with the edges that this one knows.
    fn with_edges(&self, old: &Communicator, graph: Rc<DistGraph>, at: CommAt) -> Answer {
        let mut new = self.duplicate(old)?;
        new.topology = Some(Topology::DistGraph(graph));
        self.set_comm(at, Some(new));
        Ok(())
    }
}

/// Edges that ranks have brought, in the order of ranks: a word that says whether they have weights, then source,
/// destination and weight of each. What is said by those without edges counts only where nobody has any.
fn collect(board: &Board, size: u32) -> Result<Vec<Rc<DistGraph>>, TopologyError> {
    let words: Vec<_> = (0..size).filter_map(|rank| board.deposit(rank)).map(|deposit| deposit.words.clone()).collect();
    let has_edges = words.iter().any(|words| words.len() > 1);
    let weighted = words.iter().any(|words| words[0] != 0 && (words.len() > 1 || !has_edges));
    let all = || words.iter().flat_map(|words| words[1..].as_chunks::<3>().0);
    let edges: Vec<(i32, i32)> = all().map(|&[source, destination, _]| (source as i32, destination as i32)).collect();
    let weights: Vec<i32> = all().map(|&[.., weight]| weight as i32).collect();
    let graphs = DistGraph::collect(size as i32, &edges, weighted.then_some(&weights[..]))?;
    Ok(graphs.into_iter().map(Rc::new).collect())
}

fn truths(flags: At<i32>, count: usize) -> Vec<bool> {
    flags.list(count).into_iter().map(|flag| flag != 0).collect()
}

fn write(at: At<i32>, room: i32, values: impl IntoIterator<Item = i32>) {
    values.into_iter().take(room.max(0) as usize).enumerate().for_each(|(place, value)| at.set_at(place, value));
}

mpi! {
    fn MPI_Topo_test(call, comm: CommHandle, status: At<i32>) {
        status.set(match &call.me.comm(comm.number)?.topology {
            None => call.abi.undefined,
            Some(Topology::Cartesian(_)) => call.abi.constant("MPI_CART"),
            Some(Topology::Graph(_)) => call.abi.constant("MPI_GRAPH"),
            Some(Topology::DistGraph(_)) => call.abi.constant("MPI_DIST_GRAPH"),
        });
        Ok(())
    }
    fn MPI_Dims_create(call, nnodes: i32, ndims: i32, dims: At<i32>) {
        let mut lengths = dims.list(not_negative(ndims)?);
        match call.abi.library {
            Library::OpenMpi => dims_create_by_factors(nnodes, &mut lengths)?,
            Library::Mpich | Library::Standard => dims_create(nnodes, &mut lengths)?,
        }
        write(dims, ndims, lengths);
        Ok(())
    }
    fn MPI_Cart_create(
        call, comm_old: CommHandle, ndims: i32, dims: At<i32>, periods: At<i32>, reorder: i32, comm_cart: CommAt,
    ) {
        let _ = reorder;
        let old = call.me.comm(comm_old.number)?;
        let of_comm = |fault: Fault| fault.of_comm(comm_old.number);
        old.require_intra().map_err(of_comm)?;
        let count = not_negative(ndims).map_err(of_comm)?;
        let grid = Cartesian::new(old.size() as i32, &dims.list(count), &truths(periods, count));
        let grid = grid.map_err(|error| of_comm(error.into()))?;
        let has_place = grid.map(old.rank() as i32).is_some();
        call.with_topology(&old, has_place, Topology::Cartesian(Rc::new(grid)), comm_cart)
    }
    fn MPI_Cart_sub(call, comm: CommHandle, remain_dims: At<i32>, newcomm: CommAt) {
        let (old, grid) = call.grid(comm)?;
        let remain = truths(remain_dims, grid.lengths().len());
        let (color, key) = grid.sub_place(old.rank() as i32, &remain)?;
        let part = Rc::new(grid.sub(&remain)?);
        let mut new = call.split(&old, Some(i64::from(color)), i64::from(key))?;
        if let Some(new) = &mut new {
            new.topology = Some(Topology::Cartesian(part));
        }
        call.set_comm(newcomm, new);
        Ok(())
    }
    fn MPI_Cartdim_get(call, comm: CommHandle, ndims: At<i32>) {
        ndims.set(call.grid(comm)?.1.lengths().len() as i32);
        Ok(())
    }
    fn MPI_Cart_get(
        call, comm: CommHandle, maxdims: i32, dims: At<i32>, periods: At<i32>, coords: At<i32>,
    ) {
        let (object, grid) = call.grid(comm)?;
        write(dims, maxdims, grid.lengths().iter().copied());
        write(periods, maxdims, grid.periodic().iter().map(|&periodic| i32::from(periodic)));
        write(coords, maxdims, grid.coords(object.rank() as i32)?);
        Ok(())
    }
    fn MPI_Cart_rank(call, comm: CommHandle, coords: At<i32>, rank: At<i32>) {
        let (_, grid) = call.grid(comm)?;
        let found = grid.rank(&coords.list(grid.lengths().len()));
        rank.set(found.map_err(|error| Fault::from(error).of_comm(comm.number))?);
        Ok(())
    }
    fn MPI_Cart_coords(call, comm: CommHandle, rank: i32, maxdims: i32, coords: At<i32>) {
        let found = call.grid(comm)?.1.coords(rank);
        write(coords, maxdims, found.map_err(|error| Fault::from(error).of_comm(comm.number))?);
        Ok(())
    }
    fn MPI_Cart_shift(
        call, comm: CommHandle, direction: i32, disp: i32, rank_source: At<i32>, rank_dest: At<i32>,
    ) {
        let (object, grid) = call.grid(comm)?;
        let found = grid.shift(object.rank() as i32, direction, disp);
        let (source, destination) = found.map_err(|error| Fault::from(error).of_comm(comm.number))?;
        rank_source.set(source.unwrap_or(call.abi.proc_null));
        rank_dest.set(destination.unwrap_or(call.abi.proc_null));
        Ok(())
    }
    fn MPI_Cart_map(call, comm: CommHandle, ndims: i32, dims: At<i32>, periods: At<i32>, newrank: At<i32>) {
        let object = call.me.comm(comm.number)?;
        let count = not_negative(ndims)?;
        let grid = Cartesian::new(object.size() as i32, &dims.list(count), &truths(periods, count));
        let grid = grid.map_err(|error| Fault::from(error).of_comm(comm.number))?;
        newrank.set(grid.map(object.rank() as i32).unwrap_or(call.abi.undefined));
        Ok(())
    }
    fn MPI_Graph_create(
        call, comm_old: CommHandle, nnodes: i32, index: At<i32>, edges: At<i32>, reorder: i32, comm_graph: CommAt,
    ) {
        let _ = reorder;
        let old = call.me.comm(comm_old.number)?;
        let graph = given_graph(&old, nnodes, index, edges).map_err(|fault| fault.of_comm(comm_old.number))?;
        let has_place = graph.map(old.rank() as i32).is_some();
        call.with_topology(&old, has_place, Topology::Graph(Rc::new(graph)), comm_graph)
    }
    fn MPI_Graphdims_get(call, comm: CommHandle, nnodes: At<i32>, nedges: At<i32>) {
        let graph = call.graph(comm)?;
        nnodes.set(graph.size());
        nedges.set(graph.edges().len() as i32);
        Ok(())
    }
    fn MPI_Graph_get(call, comm: CommHandle, maxindex: i32, maxedges: i32, index: At<i32>, edges: At<i32>) {
        let graph = call.graph(comm)?;
        write(index, maxindex, graph.index().iter().copied());
        write(edges, maxedges, graph.edges().iter().copied());
        Ok(())
    }
    fn MPI_Graph_neighbors_count(call, comm: CommHandle, rank: i32, nneighbors: At<i32>) {
        let graph = call.graph(comm)?;
        let found = graph.neighbours(rank).map_err(|error| Fault::from(error).of_comm(comm.number))?;
        nneighbors.set(found.len() as i32);
        Ok(())
    }
    fn MPI_Graph_neighbors(call, comm: CommHandle, rank: i32, maxneighbors: i32, neighbors: At<i32>) {
        let graph = call.graph(comm)?;
        let found = graph.neighbours(rank).map_err(|error| Fault::from(error).of_comm(comm.number))?;
        write(neighbors, maxneighbors, found.iter().copied());
        Ok(())
    }
    fn MPI_Graph_map(call, comm: CommHandle, nnodes: i32, index: At<i32>, edges: At<i32>, newrank: At<i32>) {
        let object = call.me.comm(comm.number)?;
        let graph = given_graph(&object, nnodes, index, edges).map_err(|fault| fault.of_comm(comm.number))?;
        newrank.set(graph.map(object.rank() as i32).unwrap_or(call.abi.undefined));
        Ok(())
    }
    fn MPI_Dist_graph_create_adjacent(
        call, comm_old: CommHandle, indegree: i32, sources: At<i32>, sourceweights: Weights, outdegree: i32,
        destinations: At<i32>, destweights: Weights, info: InfoHandle, reorder: i32, comm_dist_graph: CommAt,
    ) {
        let _ = (info, reorder);
        let old = call.me.comm(comm_old.number)?;
        let of_comm = |fault: Fault| fault.of_comm(comm_old.number);
        old.require_intra().map_err(of_comm)?;
        let edges = |degree: i32, ranks: At<i32>, weights: Weights| {
            let count = not_negative(degree).map_err(of_comm)?;
            Ok::<Edges, Fault>(Edges { ranks: ranks.list(count), weights: weights.list(count) })
        };
        let (from, to) = (edges(indegree, sources, sourceweights)?, edges(outdegree, destinations, destweights)?);
        let graph = DistGraph::adjacent(old.size() as i32, from, to).map_err(|error| of_comm(error.into()))?;
        call.with_edges(&old, Rc::new(graph), comm_dist_graph)
    }
    fn MPI_Dist_graph_create(
        call, comm_old: CommHandle, n: i32, sources: At<i32>, degrees: At<i32>, destinations: At<i32>,
        weights: Weights, info: InfoHandle, reorder: i32, comm_dist_graph: CommAt,
    ) {
        let _ = (info, reorder);
        let old = call.me.comm(comm_old.number)?;
        let of_comm = |fault: Fault| fault.of_comm(comm_old.number);
        old.require_intra().map_err(of_comm)?;
        let nodes = not_negative(n).map_err(of_comm)?;
        let degrees: Result<Vec<usize>, Fault> = degrees.list(nodes).into_iter().map(not_negative).collect();
        let degrees = degrees.map_err(of_comm)?;
        let count = degrees.iter().sum();
        let weights = weights.list(count);
        let from = degrees.iter().enumerate().flat_map(|(node, &degree)| vec![sources.get_at(node); degree]);
        let mut words = vec![i64::from(weights.is_some())];
        for ((edge, source), destination) in from.enumerate().zip(destinations.list(count)) {
            let weight = weights.as_ref().map_or(0, |weights| weights[edge]);
            words.extend([source, destination, weight].map(i64::from));
        }
        // Each learns how many edges it has, in and out; MPICH does it so.
        let timing = Collective::ReduceScatterBlock(Amount::new(2, 4), Operator::BuiltIn);
        let graphs = call.agree_by(&old, &timing, words, |board| collect(board, old.size()))?;
        let graphs = graphs.as_ref().as_ref().map_err(|error| of_comm((*error).into()))?;
        call.with_edges(&old, graphs[old.rank() as usize].clone(), comm_dist_graph)
    }
    fn MPI_Dist_graph_neighbors_count(
        call, comm: CommHandle, indegree: At<i32>, outdegree: At<i32>, weighted: At<i32>,
    ) {
        let graph = call.dist_graph(comm)?;
        indegree.set(graph.sources.ranks.len() as i32);
        outdegree.set(graph.destinations.ranks.len() as i32);
        weighted.set(i32::from(graph.sources.weights.is_some() || graph.destinations.weights.is_some()));
        Ok(())
    }
    fn MPI_Dist_graph_neighbors(
        call, comm: CommHandle, maxindegree: i32, sources: At<i32>, sourceweights: Weights, maxoutdegree: i32,
        destinations: At<i32>, destweights: Weights,
    ) {
        let graph = call.dist_graph(comm)?;
        for (edges, room, ranks, weights) in [
            (&graph.sources, maxindegree, sources, sourceweights),
            (&graph.destinations, maxoutdegree, destinations, destweights),
        ] {
            let room = (room.max(0) as usize).min(edges.ranks.len());
            write(ranks, room as i32, edges.ranks.iter().copied());
            if let Some(known) = &edges.weights {
                weights.set(&known[..room]);
            }
        }
        Ok(())
    }
}

/// The graph that a program describes.
fn given_graph(comm: &Communicator, nodes: i32, index: At<i32>, edges: At<i32>) -> Result<Graph, Fault> {
    comm.require_intra()?;
    let index = index.list(not_negative(nodes)?);
    let count = index.last().copied().unwrap_or(0).max(0) as usize;
    Ok(Graph::new(comm.size() as i32, &index, &edges.list(count))?)
}
