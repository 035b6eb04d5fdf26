//! Which slots are free, page by page. It knows slots by their numbers and nothing of their memory.

/// Slots that are counted together: a part of every chunk.
pub(super) const PAGE: u32 = 1024;
/// Pages that may lie idle before the memory of more of them is given back: what a program builds up and drops
/// again and again is not asked of the system each time.
const SPARE: usize = 16;

#[derive(Default)]
struct Page {
    /// How many of its slots threads have, with an item or without.
    lent: u32,
    /// The first slot that nobody had since the memory came from the system.
    fresh: u32,
    /// No generation of its slots was ever above this one.
    generation: u32,
    /// The slots below `fresh` that nobody has.
    free: Vec<u16>,
    /// Whether it is among the open ones.
    open: bool,
    /// Whether its memory was given back.
    vacant: bool,
}

/// A slot that was handed out.
pub(super) struct Taken {
    /// Its number.
    pub(super) slot: u32,
    /// The generation to begin with, if the memory is new: above those of all tenants that the slot ever had.
    pub(super) generation: Option<u32>,
}

/// The pages of an arena.
pub(super) struct Pages {
    pages: Vec<Page>,
    /// Those that may have slots to give, each once.
    open: Vec<u32>,
    /// Those whose memory was given back.
    vacant: Vec<u32>,
    /// How many keep their memory though threads have none of their slots.
    idle: usize,
}

impl Pages {
    pub(super) const fn new() -> Self {
        Pages { pages: Vec::new(), open: Vec::new(), vacant: Vec::new(), idle: 0 }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.pages.len()
    }

    /// Those of whose slots threads have any: where there are none, nobody need look for items.
    pub(super) fn lent(&self) -> impl Iterator<Item = u32> {
        (0..).zip(&self.pages).filter(|(_, page)| page.lent > 0).map(|(number, _)| number)
    }

    /// How many have given their memory back.
    #[cfg(test)]
    pub(super) fn vacant(&self) -> usize {
        self.vacant.len()
    }

    /// Hands out a free slot.
    pub(super) fn take(&mut self) -> Taken {
        loop {
            let number = self.open.last().copied().unwrap_or_else(|| self.open_one());
            let page = &mut self.pages[number as usize];
            let slot = page.free.pop().map(u32::from);
            if page.vacant || (slot.is_none() && page.fresh == PAGE) {
                page.open = false;
                self.open.pop();
                continue;
            }
            self.idle -= usize::from(page.lent == 0);
            page.lent += 1;
            let generation = slot.is_none().then_some(page.generation);
            let slot = slot.unwrap_or_else(|| {
                page.fresh += 1;
                page.fresh - 1
            });
            return Taken { slot: number * PAGE + slot, generation };
        }
    }

    /// Opens a page that has all of its slots.
    fn open_one(&mut self) -> u32 {
        let number = self.vacant.pop().unwrap_or(self.pages.len() as u32);
        if number as usize == self.pages.len() {
            self.pages.push(Page::default());
        }
        let page = &mut self.pages[number as usize];
        (page.open, page.vacant) = (true, false);
        self.open.push(number);
        self.idle += 1;
        number
    }

    /// Takes a slot back whose last tenant had that generation. Answers whether the memory of its page is to
    /// be given back.
    pub(super) fn put(&mut self, slot: u32, generation: u32) -> bool {
        let number = slot / PAGE;
        let page = &mut self.pages[number as usize];
        page.lent -= 1;
        page.generation = page.generation.max(generation);
        page.free.push((slot % PAGE) as u16);
        if !page.open {
            page.open = true;
            self.open.push(number);
        }
        if page.lent > 0 {
            return false;
        }
        if self.idle < SPARE {
            self.idle += 1;
            return false;
        }
        (page.free, page.fresh, page.vacant) = (Vec::new(), 0, true);
        self.vacant.push(number);
        true
    }
}
