//! What the whole room promises: two texts never look the same, and nothing of a text is ever left out.

mod inverse;
mod noise;
