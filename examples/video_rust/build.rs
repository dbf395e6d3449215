// SPDX-License-Identifier: Apache-2.0
//! Where librknnrt.so and librga.so are: RKNN_LIB_DIR, several folders separated by ':'. Without it the linker's own folders.
fn main() {
    println!("cargo:rerun-if-env-changed=RKNN_LIB_DIR");
    for folder in std::env::var("RKNN_LIB_DIR").unwrap_or_default().split(':').filter(|f| !f.is_empty()) {
        println!("cargo:rustc-link-search=native={}", folder);
        println!("cargo:rustc-link-arg=-Wl,-rpath,{}", folder);
    }
}
