# The zone for the TLS of loaded programs: linked last, so that it lies directly below the thread pointer (src/tls.rs).
    .section .tbss.hpcast_tls_zone, "awT", @nobits
    .balign 4096
hpcast_tls_zone:
    .zero 65536

# Where it is relative to the thread pointer, and its size.
    .section .data.rel.ro.hpcast_tls_zone, "aw", @progbits
    .balign 8
    .globl hpcast_tls_zone_place
    .hidden hpcast_tls_zone_place
hpcast_tls_zone_place:
    .quad hpcast_tls_zone@tpoff
    .quad 65536

    .section .note.GNU-stack, "", @progbits
