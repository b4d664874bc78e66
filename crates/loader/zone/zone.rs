//! The zone for the thread-local data of loaded programs (src/tls.rs): linked last, so that it lies directly below the thread
//! pointer. An object file by itself, made by build.rs.
#![no_std]

core::arch::global_asm!(
    ".section .tbss.hpcast_tls_zone, \"awT\", @nobits",
    ".balign 4096",
    "hpcast_tls_zone:",
    ".zero 65536",
    // Where it is relative to the thread pointer, and its size.
    ".section .data.rel.ro.hpcast_tls_zone, \"aw\", @progbits",
    ".balign 8",
    ".globl hpcast_tls_zone_place",
    ".hidden hpcast_tls_zone_place",
    "hpcast_tls_zone_place:",
    ".quad hpcast_tls_zone@tpoff",
    ".quad 65536",
    ".text",
);
