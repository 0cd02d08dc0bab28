//! comity-lab
fn main() {}
