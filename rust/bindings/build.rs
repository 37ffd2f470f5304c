//! Tells the extension which profile it was built with: benchmarks refuse a debug build.

fn main() {
    let profile = std::env::var("PROFILE").unwrap_or_default();
    println!("cargo:rustc-env=SCREENTEST_PROFILE={profile}");
}
