//! What happens at a time, apart from the network.

/// Something that happens at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// The simulation has caught up with a task.
    Resume(u32),
    /// A message reaches a rank that has to look at messages in the order of time.
    Arrive(u32),
    /// A task polls, where the price depends on others.
    Pay(u32),
    /// It sees what there is.
    Look(u32),
}

impl Event {
    /// What stands for it in the agenda.
    #[inline]
    pub fn slot(self) -> u32 {
        match self {
            Event::Resume(task) => task << 2,
            Event::Arrive(message) => message << 2 | 1,
            Event::Pay(task) => task << 2 | 2,
            Event::Look(task) => task << 2 | 3,
        }
    }

    #[inline]
    pub fn of(slot: u32) -> Event {
        let number = slot >> 2;
        match slot & 3 {
            0 => Event::Resume(number),
            1 => Event::Arrive(number),
            2 => Event::Pay(number),
            _ => Event::Look(number),
        }
    }
}
