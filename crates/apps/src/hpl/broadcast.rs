//! How a panel travels along the rows of the grid (HPL_bcast).
//!
//! The rings probe for the panel and go on with the update as long as it is not there; the long ones block.

use std::rc::Rc;

use hpcast_mpi::{Next, Round};

use super::account::Phase;
use super::kernels::HplKernel::Dlacpy;
use super::kernels::Size;
use super::panel::Panel;
use super::parameters::Broadcast;
use super::process::{Address, Class, Line, Process, after, distance};
use super::swap_plan::power_below;
use super::update::Pieces;

/// A panel that is on its way while something else is done.
pub(super) struct Travelling<'p> {
    panel: &'p Panel,
    /// Who sends it, where I have to look whether it is there.
    from: Option<Address>,
    is_there: bool,
}

impl Process {
    /// A panel that will be looked for.
    pub fn travelling<'p>(&self, panel: &'p Panel) -> Travelling<'p> {
        Travelling { panel, from: self.ring_source(panel), is_there: false }
    }

    /// Looks once for a panel that is not there yet, and passes it on if it is. To look in vain counts as a part of what is
    /// done meanwhile.
    #[inline]
    pub async fn look_for(&self, travelling: &mut Option<Travelling<'_>>) {
        let Some(Travelling { panel, from, is_there: there @ false }) = travelling else { return };
        if let Some(from) = *from
            && !self.probe(from).await
        {
            return;
        }
        *there = true;
        self.take_and_pass_on(panel, *from).await;
    }

    /// Makes exchanges one after the other, in units of so many numbers, and looks after each of them for a panel that is not
    /// there yet.
    pub async fn follow(&self, list: Rc<[Round]>, unit: u64, travelling: &mut Option<Travelling<'_>>) {
        let mut rounds = self.rounds(list, unit);
        while !rounds.are_over() {
            let sought = sought(travelling);
            if self.follow_until(&mut rounds, sought).await
                && let Some(Travelling { panel, is_there, .. }) = travelling
            {
                *is_there = true;
                self.take_and_pass_on(panel, sought).await;
            }
        }
    }

    /// What I do after a wait if I look for a panel then.
    #[inline]
    pub fn next(&self, travelling: &Option<Travelling<'_>>) -> Next {
        if sought(travelling).is_some() && !self.shares_polling() { Next::Poll } else { Next::Anything }
    }

    /// Works piece by piece, and after each piece looks for a panel that is not there yet, as long as there are pieces.
    pub async fn work_until_there(&self, travelling: &mut Option<Travelling<'_>>, pieces: &mut Pieces<'_>) {
        let Some(Travelling { panel, from: Some(from), is_there: there @ false }) = travelling else { return };
        if self.shares_polling() {
            while !*there && pieces.next() {
                *there = self.probe(*from).await;
            }
        } else {
            // Until the panel is there nobody else sees what I do: so first wait for it, then see how far I have come.
            let since = self.sight(*from).await;
            if let Some((count, length)) = pieces.alike() {
                let done;
                (done, *there) = self.work_and_probe(length, count, since);
                pieces.take(done);
            }
            while !*there && pieces.next() {
                *there = self.probe_sighted(since);
            }
        }
        if *there {
            self.take_and_pass_on(panel, Some(*from)).await;
        }
    }

    /// Waits for a panel that is not there yet.
    pub async fn wait_for(&self, travelling: &mut Option<Travelling<'_>>) {
        if let Some(travelling) = travelling
            && !travelling.is_there
        {
            self.broadcast(travelling.panel).await;
            travelling.is_there = true;
        }
    }

    /// Broadcasts a panel, or receives it and passes it on.
    pub async fn broadcast(&self, panel: &Panel) {
        if self.columns() == 1 {
            return;
        }
        let before = self.enter(Phase::Broadcast);
        let from = self.ring_source(panel);
        if let Some(from) = from {
            self.probe_until_there(from).await;
        }
        self.take_and_pass_on(panel, from).await;
        self.enter(before);
    }

    /// My part of a broadcast, after the panel has come if I had to look for it.
    async fn take_and_pass_on(&self, panel: &Panel, from: Option<Address>) {
        let before = self.enter(Phase::Broadcast);
        match (self.parameters().broadcast, from) {
            (_, Some(from)) => self.pass_on(panel, from).await,
            (Broadcast::Long, _) => {
                self.spread_and_roll(panel, self.columns(), |place| after(panel.column, place, self.columns())).await;
            }
            (Broadcast::LongModified, _) => self.broadcast_long_modified(panel).await,
            _ => self.start_rings(panel).await,
        }
        self.enter(before);
    }

    /// The panel's owner copies it into one piece, where HPL was built to do so (HPL_binit).
    pub fn prepare_broadcast(&self, panel: &Panel) {
        if self.parameters().copy_panels && self.column == panel.column && self.columns() > 1 {
            let top = panel.jb * panel.jb + panel.jb + 1;
            let below = (panel.length - top) / panel.jb.max(1);
            self.kernel(Dlacpy, Size::mn(below, panel.jb));
        }
    }

    fn in_row(&self, panel: &Panel, column: u32) -> Address {
        Address { line: Line::Row, peer: column, class: Class::Fact(panel.number) }
    }

    /// Where the second ring begins.
    fn second_ring(&self, panel: &Panel) -> u32 {
        after(panel.column, self.columns().div_ceil(2), self.columns())
    }

    /// From whom the panel comes in a ring; none for its owner, or where there is no ring.
    fn ring_source(&self, panel: &Panel) -> Option<Address> {
        let (columns, root) = (self.columns(), panel.column);
        let before = after(self.column, columns - 1, columns);
        let second_after_root = columns > 2 && distance(self.column, root, columns) == 2;
        let from_root = match self.parameters().broadcast {
            Broadcast::Long | Broadcast::LongModified => return None,
            _ if self.column == root => return None,
            Broadcast::Ring => false,
            Broadcast::RingModified => second_after_root,
            Broadcast::TwoRings => self.column == self.second_ring(panel),
            Broadcast::TwoRingsModified => second_after_root || self.column == self.second_ring(panel),
        };
        Some(self.in_row(panel, if from_root { root } else { before }))
    }

    /// The owner of the panel sends it to where rings begin.
    async fn start_rings(&self, panel: &Panel) {
        let columns = self.columns();
        let next = after(self.column, 1, columns);
        let second = after(self.column, 2, columns);
        let other = self.second_ring(panel);
        let mut receivers = vec![next];
        if columns > 2 {
            match self.parameters().broadcast {
                Broadcast::RingModified => receivers.push(second),
                Broadcast::TwoRings => receivers.push(other),
                Broadcast::TwoRingsModified if second != other => receivers.extend([second, other]),
                Broadcast::TwoRingsModified => receivers.push(other),
                _ => {}
            }
        }
        for receiver in receivers {
            self.send(self.in_row(panel, receiver), panel.length).await;
        }
    }

    /// Takes a panel that is there, and sends it on along the ring.
    async fn pass_on(&self, panel: &Panel, from: Address) {
        self.receive(from, panel.length).await;
        let (columns, root) = (self.columns(), panel.column);
        let next = after(self.column, 1, columns);
        let first = distance(self.column, root, columns) == 1;
        let forwards = next != root
            && match self.parameters().broadcast {
                Broadcast::RingModified => !first,
                Broadcast::TwoRings => next != self.second_ring(panel),
                Broadcast::TwoRingsModified => !first && next != self.second_ring(panel),
                _ => true,
            };
        if forwards {
            self.send(self.in_row(panel, next), panel.length).await;
        }
    }

    /// The process after the owner gets all of it; the others spread and roll.
    async fn broadcast_long_modified(&self, panel: &Panel) {
        let (columns, root) = (self.columns(), panel.column);
        match distance(self.column, root, columns) {
            0 => self.send_synchronous(self.in_row(panel, after(root, 1, columns)), panel.length).await,
            1 => {
                return self.receive(self.in_row(panel, root), panel.length).await;
            }
            _ => {}
        }
        if columns > 2 {
            let column = |place: u32| if place == 0 { root } else { after(root, place + 1, columns) };
            self.spread_and_roll(panel, columns - 1, column).await;
        }
    }

    /// Spreads pieces of the panel over so many places, each of which is a column of the grid, then lets them go round.
    async fn spread_and_roll(&self, panel: &Panel, places: u32, column: impl Fn(u32) -> u32) {
        let me = (0..places).find(|&place| column(place) == self.column).expect("I take part");
        let at = |place: u32| self.in_row(panel, column(place));
        let total = panel.length;
        let piece = (total / u64::from(places)).max(1);
        let mut bit = power_below(u64::from(places - 1)) as u32;
        while bit > 0 {
            if me.is_multiple_of(bit) {
                let receiver = me / (2 * bit) * (2 * bit) + bit;
                let start = u64::from(receiver) * piece;
                let mut length = total.saturating_sub(start);
                if receiver + bit < places {
                    length = length.min(u64::from(bit) * piece);
                }
                if me & bit != 0 {
                    self.receive(at(me ^ bit), length).await;
                } else if me + bit < places {
                    self.send_synchronous(at(me + bit), length).await;
                }
            }
            bit /= 2;
        }
        let end = |place: u32| if place == places - 1 { total } else { total.min(u64::from(place + 1) * piece) };
        let length = |place: u32| end(place).saturating_sub(u64::from(place) * piece);
        for step in 0..places - 1 {
            let (partner, sent, received) = roll(me, step, places);
            self.exchange_synchronous(at(partner), length(sent), length(received)).await;
        }
    }

    /// A binomial broadcast among the processes of a column beyond a hypercube, from the first of them, as exchanges.
    pub fn broadcast_beyond(&self, root: u32, cube: u32, numbers: u64, list: &mut Vec<Round>) {
        let processes = self.rows();
        let count = processes - cube;
        let me = distance(self.row, root, processes) - cube;
        let at = |place: u32| after(root, place + cube, processes);
        let mut bit = power_below(u64::from(count - 1)) as u32;
        while bit > 0 {
            let takes_part = me & (bit - 1) == 0;
            list.push(match me {
                _ if takes_part && me & bit != 0 => Round { peer: at(me ^ bit), sent: 0, received: numbers },
                _ if takes_part && me + bit < count => Round { peer: at(me + bit), sent: numbers, received: 0 },
                _ => Round { peer: self.row, sent: 0, received: 0 },
            });
            bit /= 2;
        }
    }
}

/// Who sends a panel that is still to be looked for.
#[inline]
fn sought(travelling: &Option<Travelling<'_>>) -> Option<Address> {
    match travelling {
        Some(Travelling { from, is_there: false, .. }) => *from,
        _ => None,
    }
}

/// Who exchanges which pieces in a step of rolling: partner, piece sent, piece received.
pub(super) fn roll(me: u32, step: u32, places: u32) -> (u32, u32, u32) {
    let half = step / 2;
    if (me + step) % 2 == 1 {
        let received = (me + places - (half + 1) % places) % places;
        ((me + places - 1) % places, (me + half) % places, received)
    } else {
        ((me + 1) % places, (me + places - half % places) % places, (me + half + 1) % places)
    }
}
