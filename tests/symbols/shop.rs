//! total in a document comment
use std::collections::{HashMap, hash_map::Entry};
use crate::store::load;

const LIMIT: usize = 10;
static mut COUNT: u8 = 0;

/* total /* nested */ total */
pub struct Cart<'a> {
    pub size: usize,
    items: HashMap<&'a str, usize>,
}

pub enum Kind { Small, Large(u8), Other { total: u8 } }

pub trait Priced {
    type Rate;
    fn total(&self) -> usize;
}

impl<'a> Priced for Cart<'a> {
    type Rate = u8;
    fn total(&self) -> usize {
        let c = 'x';
        println!("total {}", c);
        load(r#"total "quoted""#) + self.items.len()
    }
}

mod inner {
    pub fn total() -> usize { super::load::<u8>(1) }
}

macro_rules! sum { ($x:expr) => { $x + total() }; }
