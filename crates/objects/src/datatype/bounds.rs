//! Size, bounds and alignment of a type map (the standard, section 4.1.6 and 4.1.7).

use super::DatatypeError;
use super::basic::Basic;

/// What can be said of a type map without looking at its entries again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub size: i64,
    pub elements: i64,
    pub alignment: i64,
    pub lb: i64,
    pub ub: i64,
    /// The bounds were set by `MPI_LB`, `MPI_UB` or resizing: where there are such marks, only they count.
    pub lb_marked: bool,
    pub ub_marked: bool,
    /// Where the data begin and end.
    pub data: Option<(i64, i64)>,
    /// No entries at all, not even marks.
    pub empty: bool,
}

impl Bounds {
    pub const EMPTY: Bounds = Bounds {
        size: 0,
        elements: 0,
        alignment: 1,
        lb: 0,
        ub: 0,
        lb_marked: false,
        ub_marked: false,
        data: None,
        empty: true,
    };

    pub fn of(basic: Basic) -> Bounds {
        Bounds {
            size: basic.size(),
            elements: basic.elements(),
            alignment: basic.alignment(),
            lb: 0,
            ub: basic.extent(),
            lb_marked: basic == Basic::Lb,
            ub_marked: basic == Basic::Ub,
            data: (basic.size() > 0).then(|| (0, basic.end())),
            empty: false,
        }
    }

    pub fn extent(&self) -> i64 {
        self.ub.wrapping_sub(self.lb)
    }

    pub fn shifted(mut self, by: i64) -> Option<Bounds> {
        if self.empty {
            return Some(self);
        }
        self.lb = self.lb.checked_add(by)?;
        self.ub = self.ub.checked_add(by)?;
        if let Some((begin, end)) = &mut self.data {
            *begin = begin.checked_add(by)?;
            *end = end.checked_add(by)?;
        }
        Some(self)
    }

    pub fn repeated(self, count: i64, stride: i64) -> Option<Bounds> {
        if count == 0 || self.empty {
            return Some(Bounds::EMPTY);
        }
        let far = stride.checked_mul(count - 1)?;
        let (low, high) = (far.min(0), far.max(0));
        let data = match self.data {
            Some((begin, end)) => Some((begin.checked_add(low)?, end.checked_add(high)?)),
            None => None,
        };
        Some(Bounds {
            size: self.size.checked_mul(count)?,
            elements: self.elements.checked_mul(count)?,
            lb: self.lb.checked_add(low)?,
            ub: self.ub.checked_add(high)?,
            data,
            ..self
        })
    }

    pub fn joined(self, other: Bounds) -> Option<Bounds> {
        if self.empty || other.empty {
            return Some(if self.empty { other } else { self });
        }
        let data = match (self.data, other.data) {
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
            (one, other) => one.or(other),
        };
        Some(Bounds {
            size: self.size.checked_add(other.size)?,
            elements: self.elements.checked_add(other.elements)?,
            alignment: self.alignment.max(other.alignment),
            lb: marked_or(self.lb, self.lb_marked, other.lb, other.lb_marked, i64::min),
            ub: marked_or(self.ub, self.ub_marked, other.ub, other.ub_marked, i64::max),
            lb_marked: self.lb_marked || other.lb_marked,
            ub_marked: self.ub_marked || other.ub_marked,
            data,
            empty: false,
        })
    }

    /// With the standard's epsilon: the extent is a multiple of the alignment, unless the upper bound was set.
    pub fn padded(mut self) -> Result<Bounds, DatatypeError> {
        let extent = self.ub.checked_sub(self.lb).ok_or(DatatypeError::Overflow)?;
        if !self.ub_marked {
            let missing = (-extent).rem_euclid(self.alignment);
            self.ub = self.ub.checked_add(missing).ok_or(DatatypeError::Overflow)?;
        }
        Ok(self)
    }

    pub fn resized(mut self, lb: i64, extent: i64) -> Result<Bounds, DatatypeError> {
        self.lb = lb;
        self.ub = lb.checked_add(extent).ok_or(DatatypeError::Overflow)?;
        (self.lb_marked, self.ub_marked, self.empty) = (true, true, false);
        Ok(self)
    }
}

fn marked_or(one: i64, one_marked: bool, other: i64, other_marked: bool, choose: fn(i64, i64) -> i64) -> i64 {
    match (one_marked, other_marked) {
        (true, false) => one,
        (false, true) => other,
        _ => choose(one, other),
    }
}
