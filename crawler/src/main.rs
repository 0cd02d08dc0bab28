//! comity
fn main() {}
