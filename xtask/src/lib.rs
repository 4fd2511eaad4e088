//! Development commands of maxseg, and what its tests against peers share with them.

pub mod ns2;
